#include "expression/string_automaton.hpp"

#include <algorithm>
#include <numeric>

#include "common/check.hpp"
#include "common/sort_unique.hpp"
#include "expression/utf8.hpp"

namespace tokamata {

bool StringAutomaton::is_in_order() const {
  for (std::uint32_t state = 0; state < state_count(); ++state) {
    const auto leads_on = [&](const Transition& t) { return t.target > state && t.target < state_count(); };
    if (!is_strictly_sorted(transitions(state), &Transition::byte) ||
        !std::ranges::all_of(transitions(state), leads_on))
      return false;
  }
  return accepting_.size() == state_count();
}

std::shared_ptr<const StringAutomaton> StringAutomaton::of_strings(std::vector<std::string_view> strings) {
  sort_unique(strings);

  // Breadth first: a state is a run of sorted strings that share their first `depth` bytes.
  struct Run {
    std::uint32_t begin, end, depth;
  };
  auto result = std::make_shared<StringAutomaton>();
  std::vector<Run> runs{{0, static_cast<std::uint32_t>(strings.size()), 0}};
  for (std::size_t state = 0; state < runs.size(); ++state) {
    auto [begin, end, depth] = runs[state];
    result->offsets_.push_back(static_cast<std::uint32_t>(result->transitions_.size()));
    const bool accepts = begin < end && strings[begin].size() == depth;
    result->accepting_.push_back(accepts);
    if (accepts) ++begin;
    while (begin < end) {
      const char byte = strings[begin][depth];
      // One string is a chain; most states are, and need no search.
      std::uint32_t next = begin + 1;
      if (next < end && strings[next][depth] == byte)
        next = static_cast<std::uint32_t>(std::upper_bound(strings.begin() + next, strings.begin() + end, byte,
                                                           [depth](char wanted, std::string_view text) {
                                                             return static_cast<std::uint8_t>(wanted) <
                                                                    static_cast<std::uint8_t>(text[depth]);
                                                           }) -
                                          strings.begin());
      result->transitions_.push_back({static_cast<std::uint8_t>(byte), static_cast<std::uint32_t>(runs.size())});
      runs.push_back({begin, next, depth + 1});
      begin = next;
    }
  }
  result->offsets_.push_back(static_cast<std::uint32_t>(result->transitions_.size()));
  TOKAMATA_CHECK(result->is_in_order(), "the transitions of a state are in the order of their bytes and lead on");
  return result;
}

std::shared_ptr<const StringAutomaton> StringAutomaton::of_transitions(std::vector<std::uint32_t> offsets,
                                                                       std::vector<Transition> transitions,
                                                                       std::vector<bool> accepting) {
  auto result = std::make_shared<StringAutomaton>();
  result->offsets_ = std::move(offsets);
  result->transitions_ = std::move(transitions);
  result->accepting_ = std::move(accepting);
  TOKAMATA_CHECK(result->is_in_order(), "the transitions of a state are in the order of their bytes and lead on");
  return result;
}

namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

// The suffix automaton while it grows; the transitions of a state are a linked list.
class SuffixBuilder {
 public:
  struct State {
    std::uint32_t length;  // of the longest string that leads here
    std::uint32_t suffix;  // the state of its longest suffix that leads elsewhere
    std::uint32_t first_edge;
    std::uint32_t end;  // where its first occurrence ends
  };
  struct Edge {
    std::uint32_t next;
    std::uint32_t target;
    std::uint8_t byte;
  };

  SuffixBuilder(std::string_view text, Budget& budget) {
    constexpr std::size_t kMostBytes = 2 * (sizeof(State) + 4) + 3 * sizeof(Edge);  // for each byte of the text
    if (text.size() > budget.limits().memory_bytes / kMostBytes)
      throw LimitExceeded("memory_bytes", static_cast<double>(budget.limits().memory_bytes));
    states_.reserve(2 * text.size() + 1);
    edges_.reserve(3 * text.size() + 1);
    states_.push_back({0, kNone, kNone, 0});
    std::uint32_t last = 0;
    for (std::uint32_t i = 0; i < text.size(); ++i) {
      budget.step();
      last = extend(last, static_cast<std::uint8_t>(text[i]), i + 1);
    }
  }

  const std::vector<State>& states() const { return states_; }
  const std::vector<Edge>& edges() const { return edges_; }

 private:
  std::uint32_t find(std::uint32_t state, std::uint8_t byte) const {
    std::uint32_t edge = states_[state].first_edge;
    while (edge != kNone && edges_[edge].byte != byte) edge = edges_[edge].next;
    return edge;
  }
  void add_edge(std::uint32_t state, std::uint8_t byte, std::uint32_t target) {
    edges_.push_back({states_[state].first_edge, target, byte});
    states_[state].first_edge = static_cast<std::uint32_t>(edges_.size() - 1);
  }

  std::uint32_t extend(std::uint32_t last, std::uint8_t byte, std::uint32_t end) {
    const auto current = static_cast<std::uint32_t>(states_.size());
    states_.push_back({states_[last].length + 1, 0, kNone, end});
    std::uint32_t at = last;
    std::uint32_t edge = kNone;
    while (at != kNone && (edge = find(at, byte)) == kNone) {
      add_edge(at, byte, current);
      at = states_[at].suffix;
    }
    if (at == kNone) return current;
    const std::uint32_t target = edges_[edge].target;
    if (states_[target].length == states_[at].length + 1) {
      states_[current].suffix = target;
      return current;
    }
    const auto copy = static_cast<std::uint32_t>(states_.size());
    states_.push_back({states_[at].length + 1, states_[target].suffix, kNone, states_[target].end});
    for (std::uint32_t old = states_[target].first_edge; old != kNone; old = edges_[old].next)
      add_edge(copy, edges_[old].byte, edges_[old].target);
    while (at != kNone && (edge = find(at, byte)) != kNone && edges_[edge].target == target) {
      edges_[edge].target = copy;
      at = states_[at].suffix;
    }
    states_[target].suffix = copy;
    states_[current].suffix = copy;
    return current;
  }

  std::vector<State> states_;
  std::vector<Edge> edges_;
};

}  // namespace

// Every string from the start begins with a whole code point, so whether it ends with one can be
// seen from what follows any of its occurrences.
std::shared_ptr<const StringAutomaton> StringAutomaton::of_substrings(std::string_view text, Budget& budget) {
  const SuffixBuilder built(text, budget);
  const auto& states = built.states();
  // A transition leads to a longer string: in the order of lengths, targets come after sources.
  std::vector<std::uint32_t> by_length(states.size());
  std::iota(by_length.begin(), by_length.end(), 0u);
  std::ranges::stable_sort(by_length, {}, [&](std::uint32_t state) { return states[state].length; });
  std::vector<std::uint32_t> number(states.size());
  for (std::uint32_t i = 0; i < by_length.size(); ++i) number[by_length[i]] = i;

  auto result = std::make_shared<StringAutomaton>();
  result->transitions_.reserve(built.edges().size());
  result->text_ = text;
  result->ends_.reserve(states.size());
  for (std::uint32_t old : by_length) {
    const auto begin = result->transitions_.size();
    result->offsets_.push_back(static_cast<std::uint32_t>(begin));
    const std::uint32_t end = states[old].end;
    result->ends_.push_back(end);
    result->accepting_.push_back(end == text.size() || !is_continuation(text[end]) || old == 0);
    for (std::uint32_t edge = states[old].first_edge; edge != kNone; edge = built.edges()[edge].next) {
      const auto [next, target, byte] = built.edges()[edge];
      if (old == 0 && is_continuation(static_cast<char>(byte))) continue;
      result->transitions_.push_back({byte, number[target]});
    }
    std::ranges::sort(result->transitions_.begin() + static_cast<std::ptrdiff_t>(begin), result->transitions_.end(), {},
                      &Transition::byte);
  }
  result->offsets_.push_back(static_cast<std::uint32_t>(result->transitions_.size()));
  TOKAMATA_CHECK(result->is_in_order(), "the transitions of a state are in the order of their bytes and lead on");
  return result;
}

}  // namespace tokamata
