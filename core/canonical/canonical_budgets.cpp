#include "canonical/canonical_budgets.hpp"
#include "common/memoized.hpp"

#include <algorithm>

namespace tokamata {

namespace {
constexpr std::size_t kMostFound = 8;  // for one place
}  // namespace

// The distance for tokens of any kind.  At the start of a text a token may be all space, which is none there.
TokenCount CanonicalBudgets::at_least(Configuration place, Budget& budget) {
  if (pattern_.automaton().accepting(place.state)) return 0;
  return place.at_start ? 1 : distances_.tokens_needed(place, budget);
}

CanonicalBudgets::TransitionsPtr CanonicalBudgets::transitions(Configuration place, Budget& budget) {
  if (const TransitionsPtr* const known = transitions_.find(place)) return *known;
  std::vector<Transition> found;
  for (const TokenTransitions::Run& run : segments_.transitions(place, budget).runs())
    for (const std::uint32_t token : run.tokens)
      if (has_bit(tokenization_.possible(), token)) found.push_back({0, run.target, {token}});
  for (const AddedTransition& transition : added_.of(place, budget))
    for (const std::uint32_t number : *transition.numbers)
      found.push_back({0, transition.target, {tokenization_.added()[number]}});
  std::unordered_map<std::uint32_t, TokenCount> by_target;
  for (Transition& transition : found) {
    transition.needed =
        memoized(by_target, transition.target.value, [&] { return at_least({transition.target, false}, budget); });
  }
  std::ranges::stable_sort(found, {}, &Transition::needed);
  const std::size_t count = found.size();
  return transitions_.keep(place, make_counted<counted::vector<Transition>>(found.begin(), found.end()), count);
}

struct CanonicalBudgets::Level {
  Configuration place;
  CanonicalState state;
  TokenCount left;
  TransitionsPtr transitions = nullptr;
  std::size_t next = 0;  // of the transitions
};

// A transition that is known and may stand after this last token too.
bool CanonicalBudgets::by_found(const Level& level) const {
  const auto known = found_.find(ConfigurationKey::without_last(level.place, level.state, tokenization_.pieces()));
  if (known == found_.end()) return false;
  return std::ranges::any_of(known->second, [&](const Found& found) {
    return found.needed < level.left && tokenization_.step(level.state, found.token) == found.after;
  });
}

bool CanonicalBudgets::suffices(Configuration place, const CanonicalState& state, TokenCount tokens,
                                std::vector<TokenId>* route, Budget& budget) {
  std::vector<Level> levels{{place, state, tokens}};
  const auto succeed = [&] {
    for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
      const Transition& transition = (*levels[i].transitions)[levels[i].next - 1];
      if (route) route->push_back(transition.token);
      counted::vector<Found>& known =
          found_[ConfigurationKey::without_last(levels[i].place, levels[i].state, tokenization_.pieces())];
      if (known.size() < kMostFound) known.push_back({transition.token, levels[i + 1].state, levels[i + 1].left});
    }
    return true;
  };
  while (!levels.empty()) {
    Level& level = levels.back();
    if (!level.transitions) {  // it is met for the first time
      budget.step();
      if (pattern_.automaton().accepting(level.place.state) && tokenization_.may_end(level.state)) return succeed();
      const auto failed = at_least_.find(ConfigurationView{level.place.state, level.place.at_start, level.state});
      const bool is_short = failed != at_least_.end() && failed->second > level.left;
      if (level.left == 0 || is_short || at_least(level.place, budget) > level.left) {
        levels.pop_back();
        continue;
      }
      if (!route && by_found(level)) return succeed();
      level.transitions = transitions(level.place, budget);
    }
    const bool is_done =
        level.next == level.transitions->size() || (*level.transitions)[level.next].needed >= level.left;
    if (is_done) {
      TokenCount& known = at_least_[ConfigurationKey{level.place.state, level.place.at_start, std::move(level.state)}];
      known = std::max(known, level.left + 1);
      levels.pop_back();
      continue;
    }
    const Transition transition = (*level.transitions)[level.next++];
    std::optional<CanonicalState> after = tokenization_.step(level.state, transition.token);
    if (after) levels.push_back({{transition.target, false}, *std::move(after), level.left - 1});
  }
  return false;
}

void CanonicalBudgets::clear() {
  distances_.clear();
  of_rules_.clear();
  release(at_least_);
  release(found_);
  transitions_.clear();
}

}  // namespace tokamata
