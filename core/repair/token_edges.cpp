#include "repair/token_edges.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <stdexcept>

namespace tokamata {

namespace {

void check(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

}  // namespace

TokenEdges::TokenEdges(std::span<const std::uint8_t> accepting, std::span<const std::int32_t> class_of_token,
                       std::span<const std::int64_t> offsets, std::span<const std::int32_t> classes,
                       std::span<const std::int32_t> targets, Budget& budget)
    : accepting_(accepting.begin(), accepting.end()), class_of_token_(class_of_token.begin(), class_of_token.end()) {
  check(!accepting.empty() && accepting.size() < kEndless && class_of_token.size() < kEndless, "no states, or too many");
  check(offsets.size() == accepting.size() + 1 && offsets[0] == 0 && std::ranges::is_sorted(offsets) &&
            static_cast<std::size_t>(offsets.back()) == targets.size() && classes.size() == targets.size(),
        "rows that do not cover the transitions");
  take_rows(offsets, classes, targets, budget);
  measure(budget);
}

void TokenEdges::take_rows(std::span<const std::int64_t> offsets, std::span<const std::int32_t> classes,
                           std::span<const std::int32_t> targets, Budget& budget) {
  std::vector<std::uint32_t> least_of_class;
  for (std::uint32_t token = 0; token < class_of_token_.size(); ++token) {
    if (class_of_token_[token] < 0) continue;
    const auto one = static_cast<std::size_t>(class_of_token_[token]);
    check(one < class_of_token_.size(), "a class beyond the number of tokens");
    if (one >= least_of_class.size()) least_of_class.resize(one + 1, kEndless);
    least_of_class[one] = std::min(least_of_class[one], token);
  }
  std::vector<Edge> row;
  for (std::size_t state = 0; state < accepting_.size(); ++state) {
    offsets_.push_back(transitions_.size());
    edge_offsets_.push_back(edges_.size());
    row.clear();
    for (auto at = static_cast<std::size_t>(offsets[state]); at < static_cast<std::size_t>(offsets[state + 1]); ++at) {
      budget.step();
      check(targets[at] >= 0 && static_cast<std::size_t>(targets[at]) < accepting_.size(), "a target that is no state");
      check(classes[at] >= 0 && static_cast<std::size_t>(classes[at]) < least_of_class.size(), "a class without tokens");
      const std::uint32_t token = least_of_class[static_cast<std::size_t>(classes[at])];
      check(token != kEndless, "a class without tokens");
      transitions_.push_back({classes[at], static_cast<std::uint32_t>(targets[at])});
      row.push_back({static_cast<std::uint32_t>(targets[at]), token});
    }
    std::ranges::sort(transitions_.begin() + static_cast<std::ptrdiff_t>(offsets_.back()), transitions_.end(), {}, &Transition::token_class);
    std::ranges::sort(row, [](const Edge& one, const Edge& other) {
      return one.target != other.target ? one.target < other.target : one.token < other.token;
    });
    const auto rest = std::ranges::unique(row, {}, &Edge::target);
    row.erase(rest.begin(), rest.end());
    std::ranges::sort(row, {}, &Edge::token);
    edges_.insert(edges_.end(), row.begin(), row.end());
  }
  offsets_.push_back(transitions_.size());
  edge_offsets_.push_back(edges_.size());
}

// Breadth first from the ends, against the edges; then the longest ways, from the states that lead nowhere: a state is done when
// all that it leads to are.  Those that are never done lead into a circle.
void TokenEdges::measure(Budget& budget) {
  const std::size_t states = accepting_.size();
  std::vector<std::size_t> into_offsets(states + 1, 0);
  for (const Edge& edge : edges_) ++into_offsets[edge.target + 1];
  for (std::size_t state = 0; state < states; ++state) into_offsets[state + 1] += into_offsets[state];
  std::vector<std::uint32_t> sources(edges_.size());
  std::vector<std::size_t> next(into_offsets.begin(), into_offsets.end() - 1);
  for (std::uint32_t state = 0; state < states; ++state)
    for (const Edge& edge : edges(state)) sources[next[edge.target]++] = state;
  const auto into = [&](std::uint32_t state) {
    return std::span<const std::uint32_t>(sources.data() + into_offsets[state], sources.data() + into_offsets[state + 1]);
  };

  least_.assign(states, kEndless);
  std::deque<std::uint32_t> open;
  for (std::uint32_t state = 0; state < states; ++state)
    if (accepting(state)) {
      least_[state] = 0;
      open.push_back(state);
    }
  for (; !open.empty(); open.pop_front())
    for (const std::uint32_t source : into(open.front())) {
      budget.step();
      if (least_[source] != kEndless) continue;
      least_[source] = least_[open.front()] + 1;
      open.push_back(source);
    }
  check(std::ranges::find(least_, kEndless) == least_.end(), "a state that leads to no accepted sequence");

  most_.assign(states, kEndless);
  std::vector<std::size_t> waiting(states);
  std::vector<std::uint32_t> longest(states, 0);
  for (std::uint32_t state = 0; state < states; ++state) {
    waiting[state] = edges(state).size();
    if (waiting[state] == 0) open.push_back(state);
  }
  for (; !open.empty(); open.pop_front()) {
    const std::uint32_t state = open.front();
    most_[state] = longest[state];
    for (const std::uint32_t source : into(state)) {
      budget.step();
      longest[source] = std::max(longest[source], longest[state] + 1);
      if (--waiting[source] == 0) open.push_back(source);
    }
  }
}

std::optional<std::uint32_t> TokenEdges::target(std::uint32_t state, std::uint32_t token) const {
  const std::int32_t wanted = token < class_of_token_.size() ? class_of_token_[token] : -1;
  if (wanted < 0) return std::nullopt;
  const auto begin = transitions_.begin() + static_cast<std::ptrdiff_t>(offsets_[state]);
  const auto end = transitions_.begin() + static_cast<std::ptrdiff_t>(offsets_[state + 1]);
  const auto found = std::ranges::lower_bound(begin, end, wanted, {}, &Transition::token_class);
  if (found == end || found->token_class != wanted) return std::nullopt;
  return found->target;
}

}  // namespace tokamata
