#include "canonical/canonical_rule_budgets.hpp"

#include <algorithm>
#include <queue>

#include "canonical/token_transitions.hpp"
#include "composition/class_walk.hpp"

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
  if (const auto known = closed_.find(ConfigurationView{state, false, canonical}); known != closed_.end()) return known->second.tokens;
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
    levels.push_back(is_end || known != closed_.end() ? Level{target, *std::move(after), {}} : level(target, *std::move(after), budget));
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

std::optional<std::pair<StateId, CanonicalState>> CanonicalRuleBudgets::target(Configuration place, const CanonicalState& state, TokenId token,
                                                                               Budget& budget) {
  std::optional<CanonicalState> after = tokenization_.step(state, token);
  if (!after) return std::nullopt;
  const std::optional<StateId> reached = pattern_step(pattern_, place, token, budget);
  if (!reached) return std::nullopt;
  return std::pair(*reached, *std::move(after));
}

CanonicalRuleBudgets::Groups CanonicalRuleBudgets::groups(Configuration place, const Words& allowed, std::size_t& kinds, Budget& budget) {
  Groups groups;
  std::unordered_map<std::uint32_t, std::size_t> number;  // by over-approximated state
  walk_classes(pattern_, pattern_.approximated(place, budget), budget, [&](StateId reached, const TokenClass& token_class) {
    ++kinds;
    const auto [known, is_new] = number.try_emplace(reached.value, groups.size());
    if (is_new) groups.emplace_back();
    for (const std::uint32_t token : token_class.tokens)
      if (has_bit(allowed, token)) groups[known->second].push_back(token);
  });
  for (std::vector<std::uint32_t>& group : groups) std::ranges::sort(group);
  return groups;
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
    open_.push({best_, 0, 0});
    const std::size_t most_states = budgets_.pattern_.automaton().state_count() + kMostStates;
    while (!open_.empty() && best_ > enough_ && pairs_ < most_pairs_ && kinds_ < kMostClasses && budgets_.pattern_.automaton().state_count() < most_states) {
      const std::size_t next = open_.top().node;
      open_.pop();
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
    const TokenCount least = accepts ? 0 : std::max<TokenCount>(node.place.at_start ? 1 : budgets_.pattern_.room(node.place.state).at_least, 1);
    return node.written + least < best_;
  }

  void expand(std::size_t from) {
    const Configuration place = nodes_[from].place;
    const Groups groups = budgets_.groups(place, budgets_.tokenization_.possible(), kinds_, budget_);
    for (const std::vector<std::uint32_t>& group : groups) {
      std::size_t followed = 0;
      for (const std::uint32_t token : group) {
        if (followed == kAlike || best_ <= enough_) break;
        auto reached = budgets_.target(place, nodes_[from].canonical, {token}, budget_);
        if (!reached) continue;
        ++followed;
        add({{reached->first, false}, std::move(reached->second), nodes_[from].written + 1, from, {token}});
      }
    }
  }

  void add(Node node) {
    const auto [known, is_new] = written_.try_emplace(ConfigurationKey{node.place.state, false, node.canonical}, node.written);
    if (!is_new && known->second <= node.written) return;
    known->second = node.written;
    if (best_ != kNoTokens && !may_be_better(node)) return;
    ++pairs_;
    const TokenCount rest = budgets_.known(node.place.state, node.canonical, budget_);
    const TokenCount all = rest == kNoTokens ? kNoTokens : node.written + rest;
    // Where the closing text is not canonical, what is near the end of the pattern comes first.
    const TokenCount near = node.written + budgets_.completions_.texts().tokens(node.place.state, budget_);
    open_.push({all == kNoTokens ? near + kSpare : all, node.written, nodes_.size()});
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
  std::priority_queue<OpenText> open_;
  ConfigurationMap<TokenCount> written_;
  TokenCount best_ = kNoTokens;
  std::size_t best_node_ = 0;
  std::size_t pairs_ = 0, kinds_ = 0;
};

std::optional<std::vector<TokenId>> CanonicalRuleBudgets::shortest(Configuration place, const CanonicalState& state, Budget& budget) {
  std::vector<TokenId> tokens;
  if (!place.at_start && accepts(place.state, state)) return tokens;
  StateId at = place.state;
  CanonicalState canonical = state;
  if (place.at_start || !found_.contains(ConfigurationView{at, false, canonical})) {
    const Search::Found found = Search(*this, budget).run(place, state);
    if (found.tokens == kNoTokens) return std::nullopt;
    for (const Step& step : found.way) {
      // What was found before is kept, unless this is shorter: a caller has that number.
      const bool is_found = (tokens.size() > 0 || !place.at_start) && found_.contains(ConfigurationView{at, false, canonical});
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

TokenCount CanonicalRuleBudgets::searched(StateId state, const CanonicalState& canonical, TokenCount enough, Budget& budget) {
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

std::vector<std::uint32_t> CanonicalRuleBudgets::tokens_within(Configuration place, const CanonicalState& state, TokenCount left,
                                                               const Words& allowed, Budget& budget) {
  std::vector<std::uint32_t> tokens;
  if (left == 0) return tokens;
  std::size_t kinds = 0;
  for (const std::vector<std::uint32_t>& group : groups(place, allowed, kinds, budget)) {
    const std::size_t asked = std::min(group.size(), kAlike);
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
      auto reached = target(place, state, {group[i]}, budget);
      if (!reached) continue;
      const TokenCount needed = known(reached->first, reached->second, budget);
      count(group[i], needed);
      if (needed == kNoTokens) unclosed.emplace_back(group[i], *std::move(reached));
    }
    for (const auto& [token, reached] : unclosed) {
      if (2 * closed >= asked) break;
      count(token, searched(reached.first, reached.second, left - 1, budget));
    }
    if (2 * closed < asked || most + kSpare > left - 1) continue;
    tokens.resize(before);
    tokens.insert(tokens.end(), group.begin(), group.end());
  }
  return tokens;
}

void CanonicalRuleBudgets::clear() {
  release(closed_);
  release(found_);
}

}  // namespace tokamata
