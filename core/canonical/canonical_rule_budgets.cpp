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
  ConfigurationKey place;
  std::vector<std::pair<TokenId, StateId>> choices;  // the shortest first
};

// The tokens that the closing text of a state begins with.
CanonicalRuleBudgets::Level CanonicalRuleBudgets::level(ConfigurationKey place, Budget& budget) {
  Level level{std::move(place), {}};
  const TokenTrie& trie = pattern_.vocabulary(false).trie();
  NodeId node = TokenTrie::root();
  for (StateId at = level.place.state; !pattern_.automaton().accepting(at);) {
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

TokenCount CanonicalRuleBudgets::closing(const ConfigurationKey& place, Budget& budget) {
  if (accepts(place)) return 0;
  if (const auto known = closed_.find(place); known != closed_.end()) return known->second.tokens;
  std::vector<Level> levels{level(place, budget)};
  std::vector<TokenId> written;
  std::size_t dead_ends = 0;
  TokenCount tokens = kNoTokens;
  while (!levels.empty() && dead_ends < kMostTries) {
    budget.step();
    if (levels.back().choices.empty()) {
      closed_.insert_or_assign(std::move(levels.back().place), Step{{}, {}, kNoTokens});
      ++dead_ends;
      levels.pop_back();
      if (!written.empty()) written.pop_back();
      continue;
    }
    const auto [token, state] = levels.back().choices.back();
    levels.back().choices.pop_back();
    std::optional<CanonicalState> after = tokenization_.step(levels.back().place.canonical, token);
    if (!after) continue;
    ConfigurationKey target{state, false, *std::move(after)};
    const auto known = closed_.find(target);
    if (known != closed_.end() && known->second.tokens == kNoTokens) continue;
    written.push_back(token);
    const bool is_end = accepts(target);
    const bool is_closed = is_end || known != closed_.end();
    levels.push_back(is_closed ? Level{std::move(target), {}} : level(std::move(target), budget));
    if (!is_closed) continue;
    tokens = is_end ? 0 : known->second.tokens;
    break;
  }
  if (tokens == kNoTokens) {
    closed_.insert_or_assign(place, Step{{}, {}, kNoTokens});
    return tokens;
  }
  for (std::size_t i = levels.size() - 1; i-- > 0;)
    closed_.insert_or_assign(levels[i].place, Step{written[i], levels[i + 1].place, ++tokens});
  return tokens;
}

TokenCount CanonicalRuleBudgets::known(const ConfigurationKey& place, Budget& budget) {
  const auto found = found_.find(place);
  return found == found_.end() ? closing(place, budget) : found->second.tokens;
}

// ---- where tokens lead --------------------------------------------------------------------------

std::optional<ConfigurationKey> CanonicalRuleBudgets::target(const ConfigurationKey& place, TokenId token,
                                                             Budget& budget) {
  std::optional<CanonicalState> after = tokenization_.step(place.canonical, token);
  if (!after) return std::nullopt;
  const std::optional<StateId> reached = pattern_step(pattern_, {place.state, place.at_start}, token, budget);
  if (!reached) return std::nullopt;
  return ConfigurationKey{*reached, false, *std::move(after)};
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
    if (end - own_end < kLeastForALoop || !returns(state, trie.below(trie.node(node)))) return true;
    for (std::uint32_t i = own_end; i < end; ++i) {
      budget.step();
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

CanonicalRuleBudgets::GroupsPtr CanonicalRuleBudgets::groups(const ConfigurationKey& place, Budget& budget) {
  const Configuration approximation = pattern_.operands().approximated({place.state, place.at_start}, budget);
  if (const Kept<Groups>* const known = groups_.find(approximation)) return known->shared();
  const auto made = std::make_shared<const Groups>(make_groups(approximation, budget));
  return groups_.keep(approximation, Kept<Groups>(made), made->memory_bytes()).shared();
}

// ---- the search ---------------------------------------------------------------------------------

// Of pairs of states, for the search.
class CanonicalRuleBudgets::Graph {
 public:
  Graph(CanonicalRuleBudgets& budgets, std::size_t most_pairs, Budget& budget)
      : budgets_(budgets),
        budget_(budget),
        most_pairs_(most_pairs),
        most_states_(budgets_.pattern_.automaton().state_count() + kMostStates) {}

  bool has_room() const {
    return pairs_ < most_pairs_ && classes_ < kMostClasses &&
           budgets_.pattern_.automaton().state_count() < most_states_;
  }
  TokenCount known(const ConfigurationKey& place) {
    ++pairs_;
    return budgets_.known(place, budget_);
  }
  TokenCount at_least(const ConfigurationKey& place) const {
    if (place.at_start) return 1;
    return budgets_.accepts(place) ? 0 : std::max<TokenCount>(budgets_.pattern_.room(place.state).at_least, 1);
  }
  // Where the closing text is not canonical, what is near the end of the pattern comes first.
  TokenCount estimate(const ConfigurationKey& place, TokenCount written) {
    return written + budgets_.completions_.texts().tokens(place.state, budget_) + kSpare;
  }

  template <class Offer>
  void expand(const ConfigurationKey& place, Offer&& offer) {
    const GroupsPtr groups = budgets_.groups(place, budget_);
    classes_ += groups->classes;
    bool goes_on = true;
    for (const TokenSet& group : groups->all) {
      std::size_t followed = 0;
      Groups::visit(group, budgets_.tokenization_.possible(), [&](std::uint32_t token) {
        if (followed == kAlike || !goes_on) return false;
        if (std::optional<ConfigurationKey> reached = budgets_.target(place, {token}, budget_)) {
          ++followed;
          goes_on = offer({token}, *std::move(reached));
        }
        return true;
      });
    }
  }

 private:
  CanonicalRuleBudgets& budgets_;
  Budget& budget_;
  std::size_t most_pairs_, most_states_;
  std::size_t pairs_ = 0, classes_ = 0;
};

std::optional<std::vector<TokenId>> CanonicalRuleBudgets::shortest(ConfigurationKey place, Budget& budget) {
  std::vector<TokenId> tokens;
  if (!place.at_start && accepts(place)) return tokens;
  if (!found_.contains(place)) {
    Search search(place, place.at_start ? kNoTokens : known(place, budget));
    Graph graph(*this, kMostPairs, budget);
    Search::Found found = search.run(graph);
    if (found.tokens == kNoTokens) return std::nullopt;
    for (Step& step : found.path) {
      // What was found before is kept, unless this is shorter: a caller has that number.
      if (found_.contains(place) && rest_of(place).size() <= step.tokens) break;
      if (!place.at_start) found_.insert_or_assign(place, step);
      tokens.push_back(step.token);
      place = std::move(step.target);
    }
  }
  std::ranges::copy(rest_of(std::move(place)), std::back_inserter(tokens));
  return tokens;
}

TokenCount CanonicalRuleBudgets::searched(const ConfigurationKey& place, TokenCount enough, Budget& budget) {
  const auto closed = closed_.find(place);
  if (closed != closed_.end() && closed->second.token == kSearched) return kNoTokens;
  Search search(place, known(place, budget), enough);
  Graph graph(*this, kFewPairs, budget);
  const Search::Found found = search.run(graph);
  if (found.tokens == kNoTokens) {
    closed_.insert_or_assign(place, Step{kSearched, {}, kNoTokens});
    return kNoTokens;
  }
  const ConfigurationKey* at = &place;
  for (const Step& step : found.path) {
    if (!found_.try_emplace(*at, step).second) break;  // a caller has that number
    at = &step.target;
  }
  return known(place, budget);
}

std::vector<TokenId> CanonicalRuleBudgets::rest_of(ConfigurationKey place) const {
  std::vector<TokenId> tokens;
  while (!accepts(place)) {
    const auto found = found_.find(place);
    const Step& step = found != found_.end() ? found->second : closed_.find(place)->second;
    tokens.push_back(step.token);
    place = ConfigurationKey(step.target);
  }
  return tokens;
}

// ---- masks --------------------------------------------------------------------------------------

std::vector<std::uint32_t> CanonicalRuleBudgets::tokens_within(const ConfigurationKey& place, TokenCount left,
                                                               const Words& allowed, Budget& budget) {
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
    std::vector<std::pair<std::uint32_t, ConfigurationKey>> unclosed;
    for (std::size_t i = 0; i < asked; ++i) {
      std::optional<ConfigurationKey> reached = target(place, {first[i]}, budget);
      if (!reached) continue;
      const TokenCount needed = known(*reached, budget);
      count(first[i], needed);
      if (needed == kNoTokens) unclosed.emplace_back(first[i], *std::move(reached));
    }
    for (const auto& [token, reached] : unclosed) {
      if (2 * closed >= asked) break;
      count(token, searched(reached, left - 1, budget));
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
  groups_.clear();
}

}  // namespace tokamata
