#include "canonical/canonical_rule_budgets.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <string_view>
#include <unordered_map>

#include "canonical/token_transitions.hpp"
#include "composition/class_walk.hpp"
#include "composition/loops.hpp"
#include "composition/trie_walk.hpp"

namespace tokamata {

// ---- closing texts ------------------------------------------------------------------------------

struct CanonicalRuleBudgets::Level {
  StateId state;
  CanonicalState canonical;
  std::vector<std::pair<TokenId, StateId>> choices;  // the shortest first
};

// The tokens that the closing text of a state begins with.
CanonicalRuleBudgets::Level CanonicalRuleBudgets::level(StateId state, CanonicalState canonical, Budget& budget) {
  Level level{state, std::move(canonical), {}};
  const TokenTrie& trie = pattern_.vocabulary(false).trie();
  NodeId node = TokenTrie::root();
  for (StateId at = state; !pattern_.automaton().accepting(at);) {
    const ClosingTexts::Step& step = completions_.texts().step(at, budget);
    if (step.tokens == kNoTokens) break;
    node = trie.child(node, step.byte);
    if (node == TokenTrie::root()) break;
    at = step.next;
    for (std::uint32_t i = trie.node(node).tokens_begin; i < trie.own_end(node); ++i)
      if (has_bit(tokenization_.possible(), trie.order()[i])) level.choices.push_back({{trie.order()[i]}, at});
  }
  return level;
}

TokenCount CanonicalRuleBudgets::closing(StateId state, const CanonicalState& canonical, Budget& budget) {
  if (accepts(state, canonical)) return 0;
  if (const auto known = closed_.find(ConfigurationView{state, false, canonical}); known != closed_.end())
    return known->second.tokens;
  std::vector<Level> levels{level(state, canonical, budget)};
  std::vector<TokenId> written;
  std::size_t dead_ends = 0;
  TokenCount tokens = kNoTokens;
  while (!levels.empty() && dead_ends < kMostTries) {
    budget.step();
    if (levels.back().choices.empty()) {
      const Level& dead = levels.back();
      closed_.insert_or_assign(ConfigurationKey{dead.state, false, dead.canonical}, Step{{}, {}, {}, kNoTokens});
      ++dead_ends;
      levels.pop_back();
      if (!written.empty()) written.pop_back();
      continue;
    }
    const auto [token, target] = levels.back().choices.back();
    levels.back().choices.pop_back();
    std::optional<CanonicalState> after = tokenization_.step(levels.back().canonical, token);
    if (!after) continue;
    const auto known = closed_.find(ConfigurationView{target, false, *after});
    if (known != closed_.end() && known->second.tokens == kNoTokens) continue;
    written.push_back(token);
    const bool is_end = accepts(target, *after);
    levels.push_back(is_end || known != closed_.end() ? Level{target, *std::move(after), {}}
                                                      : level(target, *std::move(after), budget));
    if (!is_end && known == closed_.end()) continue;
    tokens = is_end ? 0 : known->second.tokens;
    break;
  }
  if (tokens == kNoTokens) {
    closed_.insert_or_assign(ConfigurationKey{state, false, canonical}, Step{{}, {}, {}, kNoTokens});
    return tokens;
  }
  for (std::size_t i = levels.size() - 1; i-- > 0;)
    closed_.insert_or_assign(ConfigurationKey{levels[i].state, false, levels[i].canonical},
                             Step{written[i], levels[i + 1].state, levels[i + 1].canonical, ++tokens});
  return tokens;
}

TokenCount CanonicalRuleBudgets::known(StateId state, const CanonicalState& canonical, Budget& budget) {
  const auto found = found_.find(ConfigurationView{state, false, canonical});
  return found == found_.end() ? closing(state, canonical, budget) : found->second.tokens;
}

// ---- where tokens lead --------------------------------------------------------------------------

std::optional<std::pair<StateId, CanonicalState>> CanonicalRuleBudgets::target(Configuration place,
                                                                               const CanonicalState& state,
                                                                               TokenId token, Budget& budget) {
  std::optional<CanonicalState> after = tokenization_.step(state, token);
  if (!after) return std::nullopt;
  const std::optional<StateId> reached = pattern_step(pattern_, place, token, budget);
  if (!reached) return std::nullopt;
  return std::pair(*reached, *std::move(after));
}

namespace {

// The bytes at the end of a token that begin a code point and do not end it.
std::string_view open_code_point(std::string_view bytes) {
  for (std::size_t length = 1; length <= std::min<std::size_t>(3, bytes.size()); ++length) {
    const auto byte = static_cast<std::uint8_t>(bytes[bytes.size() - length]);
    if (byte < 0x80) return {};
    if (byte < 0xC0) continue;
    const std::size_t whole = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    return length < whole ? bytes.substr(bytes.size() - length) : std::string_view();
  }
  return {};
}

}  // namespace

CanonicalRuleBudgets::Groups CanonicalRuleBudgets::make_groups(Configuration approximation, Budget& budget) {
  constexpr std::uint32_t kFew = 16;  // tokens that are walked instead of looking for a loop
  ByteAutomaton& bytes = pattern_.automaton();
  const Vocabulary& vocabulary = pattern_.vocabulary(approximation.at_start);
  const TokenTrie& trie = vocabulary.trie();
  constexpr std::uint32_t kNoGroup = ~std::uint32_t{0};
  std::vector<std::uint32_t> group_of(vocabulary.token_count(), kNoGroup);
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;  // by state
  std::size_t classes = 0;
  const auto add = [&](StateId reached, std::span<const std::uint32_t> tokens) {
    if (tokens.empty()) return;
    const std::uint32_t number =
        numbers.try_emplace(reached.value, static_cast<std::uint32_t>(numbers.size())).first->second;
    for (const std::uint32_t token : tokens) group_of[token] = number;
  };
  const auto visit_class = [&](StateId reached, const TokenClass& token_class) {
    ++classes;
    add(reached, token_class.tokens);
  };
  const auto grouped = [&] {
    std::vector<std::vector<std::uint32_t>> lists(numbers.size());
    for (std::uint32_t token = 0; token < group_of.size(); ++token)
      if (group_of[token] != kNoGroup) lists[group_of[token]].push_back(token);
    Groups groups{{}, classes};
    for (std::vector<std::uint32_t>& list : lists)
      groups.all.push_back(TokenSet::of(std::move(list), vocabulary.words()));
    return groups;
  };
  if (bytes.byte_classes().size() < kManyByteClasses) {
    walk_class_trie(pattern_.steps(), approximation, budget, visit_class);
    return grouped();
  }
  std::unordered_map<std::uint32_t, ByteSet> loops;  // by state
  const auto returns = [&](StateId state, const ByteSet& leads) {
    for (unsigned byte = leads.next_member(0); byte < 0x80; byte = leads.next_member(byte + 1))
      if (bytes.next(state, static_cast<std::uint8_t>(byte), budget) != state) return false;
    if (leads.next_member(0x80) == 256) return true;
    const auto [known, is_new] = loops.try_emplace(state.value);
    if (is_new)
      for (const Loop& loop : stable_loops(bytes, state, true, budget)) known->second |= loop.bytes;
    return leads.is_subset_of(known->second);
  };
  const auto add_reached = [&](StateId state, std::span<const std::uint32_t> tokens) {
    const StateId target = pattern_.edge(state, budget);
    if (!pattern_.spellable(target, budget)) return;
    ++classes;
    add(target, tokens);
  };
  walk_trie(trie, TokenTrie::root(), bytes, approximation.state, budget, [&](NodeId node, StateId state) {
    const std::uint32_t own_end = trie.own_end(node), end = trie.node(node).tokens_end;
    if (node != TokenTrie::root() && trie.node(node).tokens_begin != own_end) add_reached(state, trie.own(node));
    if (end - own_end < kFew || !returns(state, trie.below(trie.node(node)))) return true;
    for (std::uint32_t i = own_end; i < end; ++i) {
      StateId reached = state;
      for (const char byte : open_code_point(vocabulary.bytes({trie.order()[i]})))
        reached = bytes.next(reached, static_cast<std::uint8_t>(byte), budget);
      if (reached != ByteAutomaton::kDead) add_reached(reached, trie.order().subspan(i, 1));
    }
    return false;
  });
  walk_controls(pattern_.steps(), approximation, budget, visit_class);
  return grouped();
}

CanonicalRuleBudgets::GroupsPtr CanonicalRuleBudgets::groups(Configuration place, Budget& budget) {
  const Configuration approximation = pattern_.approximated(place, budget);
  const std::pair key(approximation.state, approximation.at_start);
  for (const auto& [known, groups] : recent_)
    if (known == key) return groups.shared();
  auto made = std::make_shared<const Groups>(make_groups(approximation, budget));
  recent_.emplace_back(key, Kept<Groups>(made));
  recent_bytes_ += made->memory_bytes();
  while (recent_bytes_ > kMostGroupBytes && recent_.size() > 1) {
    recent_bytes_ -= recent_.front().second->memory_bytes();
    recent_.pop_front();
  }
  return made;
}

// ---- the search ---------------------------------------------------------------------------------

class CanonicalRuleBudgets::Search {
 public:
  // Ends early with `enough` tokens, or after `most_pairs`.
  Search(CanonicalRuleBudgets& budgets, Budget& budget, TokenCount enough = 0, std::size_t most_pairs = kMostPairs)
      : budgets_(budgets), budget_(budget), enough_(enough), most_pairs_(most_pairs) {}

  struct Found {
    std::vector<Step> way;  // up to a pair of states whose rest is known
    TokenCount tokens;
  };
  Found run(Configuration place, const CanonicalState& state) {
    nodes_.push_back({place, state, 0, 0, {}});
    best_ = place.at_start ? kNoTokens : budgets_.known(place.state, state, budget_);
    open_.add({best_, 0, 0});
    const std::size_t most_states = budgets_.pattern_.automaton().state_count() + kMostStates;
    while (!open_.empty() && best_ > enough_ && pairs_ < most_pairs_ && kinds_ < kMostClasses &&
           budgets_.pattern_.automaton().state_count() < most_states) {
      const std::size_t next = open_.take().node;
      if (may_be_better(nodes_[next])) expand(next);
    }
    Found found{{}, best_};
    TokenCount rest = best_ == kNoTokens ? 0 : best_ - nodes_[best_node_].written;
    for (std::size_t at = best_node_; at != 0; at = nodes_[at].before)
      found.way.push_back({nodes_[at].token, nodes_[at].place.state, nodes_[at].canonical, ++rest});
    std::ranges::reverse(found.way);
    return found;
  }

 private:
  struct Node {
    Configuration place;
    CanonicalState canonical;
    TokenCount written;
    std::size_t before;
    TokenId token;
  };

  bool may_be_better(const Node& node) const {
    const bool accepts = !node.place.at_start && budgets_.accepts(node.place.state, node.canonical);
    const TokenCount least =
        accepts ? 0
                : std::max<TokenCount>(node.place.at_start ? 1 : budgets_.pattern_.room(node.place.state).at_least, 1);
    return node.written + least < best_;
  }

  void expand(std::size_t from) {
    const Configuration place = nodes_[from].place;
    const GroupsPtr groups = budgets_.groups(place, budget_);
    kinds_ += groups->classes;
    for (const TokenSet& group : groups->all) {
      std::size_t followed = 0;
      Groups::visit(group, budgets_.tokenization_.possible(), [&](std::uint32_t token) {
        if (followed == kAlike || best_ <= enough_) return false;
        auto reached = budgets_.target(place, nodes_[from].canonical, {token}, budget_);
        if (!reached) return true;
        ++followed;
        add({{reached->first, false}, std::move(reached->second), nodes_[from].written + 1, from, {token}});
        return true;
      });
    }
  }

  void add(Node node) {
    if (!lowers(written_, ConfigurationKey{node.place.state, false, node.canonical}, node.written)) return;
    if (best_ != kNoTokens && !may_be_better(node)) return;
    ++pairs_;
    const TokenCount rest = budgets_.known(node.place.state, node.canonical, budget_);
    const TokenCount all = rest == kNoTokens ? kNoTokens : node.written + rest;
    // Where the closing text is not canonical, what is near the end of the pattern comes first.
    const TokenCount near = node.written + budgets_.completions_.texts().tokens(node.place.state, budget_);
    open_.add({all == kNoTokens ? near + kSpare : all, node.written, nodes_.size()});
    nodes_.push_back(std::move(node));
    if (all < best_) {
      best_ = all;
      best_node_ = nodes_.size() - 1;
    }
  }

  CanonicalRuleBudgets& budgets_;
  Budget& budget_;
  TokenCount enough_;
  std::size_t most_pairs_;
  std::vector<Node> nodes_;
  Frontier<OpenText> open_;
  ConfigurationMap<TokenCount> written_;
  TokenCount best_ = kNoTokens;
  std::size_t best_node_ = 0;
  std::size_t pairs_ = 0, kinds_ = 0;
};

std::optional<std::vector<TokenId>> CanonicalRuleBudgets::shortest(Configuration place, const CanonicalState& state,
                                                                   Budget& budget) {
  std::vector<TokenId> tokens;
  if (!place.at_start && accepts(place.state, state)) return tokens;
  StateId at = place.state;
  CanonicalState canonical = state;
  if (place.at_start || !found_.contains(ConfigurationView{at, false, canonical})) {
    const Search::Found found = Search(*this, budget).run(place, state);
    if (found.tokens == kNoTokens) return std::nullopt;
    for (const Step& step : found.way) {
      // What was found before is kept, unless this is shorter: a caller has that number.
      const bool is_found =
          (tokens.size() > 0 || !place.at_start) && found_.contains(ConfigurationView{at, false, canonical});
      if (is_found && rest_of(at, canonical).size() <= step.tokens) break;
      if (tokens.size() > 0 || !place.at_start) found_.insert_or_assign(ConfigurationKey{at, false, canonical}, step);
      tokens.push_back(step.token);
      at = step.target;
      canonical = step.after;
    }
  }
  std::ranges::copy(rest_of(at, canonical), std::back_inserter(tokens));
  return tokens;
}

TokenCount CanonicalRuleBudgets::searched(StateId state, const CanonicalState& canonical, TokenCount enough,
                                          Budget& budget) {
  const auto closed = closed_.find(ConfigurationView{state, false, canonical});
  if (closed != closed_.end() && closed->second.token == kSearched) return kNoTokens;
  const Search::Found found = Search(*this, budget, enough, kFewPairs).run({state, false}, canonical);
  if (found.tokens == kNoTokens) {
    closed_.insert_or_assign(ConfigurationKey{state, false, canonical}, Step{kSearched, {}, {}, kNoTokens});
    return kNoTokens;
  }
  StateId at = state;
  CanonicalState reached = canonical;
  for (const Step& step : found.way) {
    if (!found_.try_emplace(ConfigurationKey{at, false, reached}, step).second) break;  // a caller has that number
    at = step.target;
    reached = step.after;
  }
  return known(state, canonical, budget);
}

std::vector<TokenId> CanonicalRuleBudgets::rest_of(StateId at, CanonicalState canonical) const {
  std::vector<TokenId> tokens;
  while (!accepts(at, canonical)) {
    const ConfigurationView view{at, false, canonical};
    const auto found = found_.find(view);
    const Step& step = found != found_.end() ? found->second : closed_.find(view)->second;
    tokens.push_back(step.token);
    at = step.target;
    CanonicalState after = step.after;
    canonical = std::move(after);
  }
  return tokens;
}

// ---- masks --------------------------------------------------------------------------------------

std::vector<std::uint32_t> CanonicalRuleBudgets::tokens_within(Configuration place, const CanonicalState& state,
                                                               TokenCount left, const Words& allowed, Budget& budget) {
  std::vector<std::uint32_t> tokens;
  if (left == 0) return tokens;
  const GroupsPtr groups = this->groups(place, budget);
  std::vector<std::uint32_t> first;  // of a group's tokens, those that are examined
  for (const TokenSet& group : groups->all) {
    first.clear();
    Groups::visit(group, allowed, [&](std::uint32_t token) {
      first.push_back(token);
      return first.size() < kAlike;
    });
    const std::size_t asked = first.size();
    TokenCount most = 0;
    std::size_t closed = 0;
    const std::size_t before = tokens.size();
    const auto count = [&](std::uint32_t token, TokenCount needed) {
      if (needed == kNoTokens) return;
      ++closed;
      most = std::max(most, needed);
      if (needed <= left - 1) tokens.push_back(token);
    };
    std::vector<std::pair<std::uint32_t, std::pair<StateId, CanonicalState>>> unclosed;
    for (std::size_t i = 0; i < asked; ++i) {
      auto reached = target(place, state, {first[i]}, budget);
      if (!reached) continue;
      const TokenCount needed = known(reached->first, reached->second, budget);
      count(first[i], needed);
      if (needed == kNoTokens) unclosed.emplace_back(first[i], *std::move(reached));
    }
    for (const auto& [token, reached] : unclosed) {
      if (2 * closed >= asked) break;
      count(token, searched(reached.first, reached.second, left - 1, budget));
    }
    if (2 * closed < asked || most + kSpare > left - 1) continue;
    tokens.resize(before);
    Groups::visit(group, allowed, [&](std::uint32_t token) {
      tokens.push_back(token);
      return true;
    });
  }
  return tokens;
}

void CanonicalRuleBudgets::clear() {
  release(closed_);
  release(found_);
  release(recent_);
  recent_bytes_ = 0;
}

}  // namespace tokamata
