#include "canonical/canonical_budgets.hpp"
#include "common/memoized.hpp"

#include <algorithm>

namespace tokamata {

namespace {
constexpr std::size_t kMostFound = 8;             // for one place
constexpr std::size_t kMostWays = 4 << 20;  // of all places: 64 MB
}  // namespace

// The distance for tokens of any kind.  At the start of a text a token may be all space, which is none there.
TokenCount CanonicalBudgets::at_least(Configuration place, Budget& budget) {
  if (pattern_.automaton().accepting(place.state)) return 0;
  return place.at_start ? 1 : distances_.tokens_needed(place, budget);
}

CanonicalBudgets::WaysPtr CanonicalBudgets::ways(Configuration place, Budget& budget) {
  const std::uint32_t key = 2 * place.state.value + place.at_start;
  if (const auto known = ways_.find(key); known != ways_.end()) return known->second;
  std::vector<Way> found;
  for (const Moves::Run& run : parts_.moves(place, budget).runs())
    for (const std::uint32_t token : run.tokens)
      if (has_bit(tokenization_.possible(), token)) found.push_back({0, run.target, {token}});
  for (const AddedMove& move : added_.of(place, budget))
    for (const std::uint32_t number : *move.numbers) found.push_back({0, move.target, {tokenization_.added()[number]}});
  std::unordered_map<std::uint32_t, TokenCount> by_target;
  for (Way& way : found) {
    way.needed = memoized(by_target, way.target.value, [&] { return at_least({way.target, false}, budget); });
  }
  std::ranges::stable_sort(found, {}, &Way::needed);
  if (ways_kept_ > kMostWays) {  // who uses a list holds it
    release(ways_);
    ways_kept_ = 0;
  }
  ways_kept_ += found.size();
  return ways_.emplace(key, make_counted<counted::vector<Way>>(found.begin(), found.end())).first->second;
}

struct CanonicalBudgets::Level {
  Configuration place;
  CanonicalState state;
  TokenCount left;
  WaysPtr ways = nullptr;
  std::size_t next = 0;  // of the ways
};

// A way that is known and may stand after this last token too.
bool CanonicalBudgets::by_found(const Level& level) const {
  const auto known = found_.find(ConfigurationKey::without_last(level.place, level.state, tokenization_.pieces()));
  if (known == found_.end()) return false;
  return std::ranges::any_of(known->second, [&](const Found& found) {
    return found.needed < level.left && tokenization_.step(level.state, found.token) == found.behind;
  });
}

bool CanonicalBudgets::suffices(Configuration place, const CanonicalState& state, TokenCount tokens, std::vector<TokenId>* route,
                                Budget& budget) {
  std::vector<Level> levels{{place, state, tokens}};
  const auto succeed = [&] {
    for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
      const Way& way = (*levels[i].ways)[levels[i].next - 1];
      if (route) route->push_back(way.token);
      counted::vector<Found>& known = found_[ConfigurationKey::without_last(levels[i].place, levels[i].state, tokenization_.pieces())];
      if (known.size() < kMostFound)
        known.push_back({way.token, levels[i + 1].state, levels[i + 1].left});
    }
    return true;
  };
  while (!levels.empty()) {
    Level& level = levels.back();
    if (!level.ways) {  // it is met for the first time
      budget.step();
      if (pattern_.automaton().accepting(level.place.state) && tokenization_.may_end(level.state)) return succeed();
      const auto failed = at_least_.find(ConfigurationView{level.place.state, level.place.at_start, level.state});
      const bool is_short = failed != at_least_.end() && failed->second > level.left;
      if (level.left == 0 || is_short || at_least(level.place, budget) > level.left) {
        levels.pop_back();
        continue;
      }
      if (!route && by_found(level)) return succeed();
      level.ways = ways(level.place, budget);
    }
    const bool is_done = level.next == level.ways->size() || (*level.ways)[level.next].needed >= level.left;
    if (is_done) {
      TokenCount& known = at_least_[ConfigurationKey{level.place.state, level.place.at_start, std::move(level.state)}];
      known = std::max(known, level.left + 1);
      levels.pop_back();
      continue;
    }
    const Way way = (*level.ways)[level.next++];
    std::optional<CanonicalState> behind = tokenization_.step(level.state, way.token);
    if (behind) levels.push_back({{way.target, false}, *std::move(behind), level.left - 1});
  }
  return false;
}

void CanonicalBudgets::clear() {
  distances_.clear();
  of_rules_.clear();
  release(at_least_);
  release(found_);
  release(ways_);
  ways_kept_ = 0;
}

}  // namespace tokamata
