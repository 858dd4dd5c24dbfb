#include "canonical/edge_automaton.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace tokamata {

EdgeAutomaton::EdgeAutomaton(EdgeTables tables) : tables_(std::move(tables)) {
  check();
  ignores_edges_.assign(count(), false);
  free_.assign(count(), false);
  prefix_.assign(count(), false);
  for (State state = 0; state < count(); ++state) {
    const std::span<const State> edges = after_edge(state);
    ignores_edges_[state] = edges.size() == 1 && edges[0] == state;
    if (is_wide(state) && !ignores_edges_[state])
      throw std::invalid_argument("edge automaton: an edge moves a wide state");
    free_[state] = ignores_edges_[state];
    for (unsigned byte = 0; byte < 256 && free_[state]; ++byte) {
      const std::span<const State> targets = after_byte(state, static_cast<std::uint8_t>(byte));
      free_[state] = std::ranges::find(targets, state) != targets.end();
    }
  }
  std::vector<State> pending(starts().begin(), starts().end());
  while (!pending.empty()) {
    const State state = pending.back();
    pending.pop_back();
    if (!is_wide(state) || is_accepting(state) || prefix_[state]) continue;
    prefix_[state] = true;
    for (unsigned byte = 0; byte < 256; ++byte)
      for (const State target : after_byte(state, static_cast<std::uint8_t>(byte))) pending.push_back(target);
  }
  for (State state = 0; state < count(); ++state)
    for (unsigned byte = 0; byte < 256 && !prefix_[state]; ++byte)
      for (const State target : after_byte(state, static_cast<std::uint8_t>(byte)))
        if (prefix_[target]) throw std::invalid_argument("edge automaton: a path returns to the prefix");
  // From a free state of the prefix no other one is reached, so that a text that stays in it stays there.
  for (State state = 0; state < count(); ++state)
    for (unsigned byte = 0; byte < 256 && free_[state] && prefix_[state]; ++byte)
      for (const State target : after_byte(state, static_cast<std::uint8_t>(byte)))
        if (target != state && prefix_[target]) free_[state] = false;
  find_rests();
}

void EdgeAutomaton::find_rests() {
  std::vector<std::vector<State>> readers(count()), edges_to(count());  // the states before a byte, and before an edge
  for (State state = 0; state < count(); ++state) {
    const std::size_t row = std::size_t{state} * tables_.class_count;
    for (std::uint32_t i = tables_.offsets[row]; i < tables_.offsets[row + tables_.class_count]; ++i)
      if (std::vector<State>& before = readers[tables_.targets[i]]; before.empty() || before.back() != state)
        before.push_back(state);
    for (const State target : after_edge(state)) edges_to[target].push_back(state);
  }
  // Level by level; a state that a byte has led to may take an edge, or none.
  rest_.assign(count(), kNever);
  std::vector<bool> is_read(count(), false);
  std::vector<State> level, read;
  const auto arrive = [&](State state, std::uint32_t bytes) {
    if (rest_[state] != kNever) return;
    rest_[state] = bytes;
    level.push_back(state);
  };
  const auto arrive_read = [&](State state) {
    if (is_read[state]) return;
    is_read[state] = true;
    read.push_back(state);
  };
  for (State state = 0; state < count(); ++state)
    if (is_accepting(state)) arrive(state, 0);
  for (std::uint32_t bytes = 1; !level.empty() || !read.empty(); ++bytes) {
    for (const State state : std::exchange(level, {}))
      for (const State before : edges_to[state]) arrive_read(before);
    for (const State state : std::exchange(read, {}))
      for (const State before : readers[state]) {
        arrive(before, bytes);
        arrive_read(before);
      }
  }
}

bool EdgeAutomaton::accepts_any() const {
  return std::ranges::any_of(starts(), [&](State start) {
    return std::ranges::any_of(after_edge(start), [&](State state) { return rest(state) != kNever; });
  });
}

EdgeAutomaton EdgeAutomaton::of_text(std::string_view text) {
  EdgeTables tables{.classes = {},
                    .class_count = 0,
                    .offsets = {0},
                    .targets = {},
                    .edge_offsets = {0},
                    .edge_targets = {},
                    .accepting = {},
                    .wide = {},
                    .starts = {0}};
  std::array<bool, 256> is_read{};
  for (const char byte : text) is_read[static_cast<std::uint8_t>(byte)] = true;
  for (unsigned byte = 0; byte < 256; ++byte)  // all bytes that the text lacks are one class
    if (is_read[byte]) tables.classes[byte] = static_cast<std::uint8_t>(tables.class_count++);
  const bool lacks_any = tables.class_count < 256;
  for (unsigned byte = 0; byte < 256 && lacks_any; ++byte)
    if (!is_read[byte]) tables.classes[byte] = static_cast<std::uint8_t>(tables.class_count);
  tables.class_count += lacks_any ? 1 : 0;
  for (std::uint32_t state = 0; state <= text.size(); ++state) {
    const bool is_end = state == text.size();
    for (std::uint32_t cls = 0; cls < tables.class_count; ++cls) {
      if (!is_end && tables.classes[static_cast<std::uint8_t>(text[state])] == cls) tables.targets.push_back(state + 1);
      tables.offsets.push_back(static_cast<std::uint32_t>(tables.targets.size()));
    }
    tables.edge_targets.push_back(state);
    tables.edge_offsets.push_back(static_cast<std::uint32_t>(tables.edge_targets.size()));
    tables.accepting.push_back(is_end);
    tables.wide.push_back(0);
  }
  return EdgeAutomaton(std::move(tables));
}

void EdgeAutomaton::check() const {
  const std::size_t states = tables_.accepting.size(), rows = states * tables_.class_count;
  const auto is_table = [&](const std::vector<std::uint32_t>& offsets, const std::vector<std::uint32_t>& targets,
                            std::size_t size) {
    return offsets.size() == size + 1 && offsets.front() == 0 && offsets.back() == targets.size() &&
           std::ranges::is_sorted(offsets) &&
           std::ranges::all_of(targets, [&](std::uint32_t target) { return target < states; });
  };
  const bool has_classes = std::ranges::all_of(tables_.classes, [&](auto cls) { return cls < tables_.class_count; });
  if (!has_classes || tables_.wide.size() != states || !is_table(tables_.offsets, tables_.targets, rows) ||
      !is_table(tables_.edge_offsets, tables_.edge_targets, states) ||
      std::ranges::any_of(tables_.starts, [&](std::uint32_t start) { return start >= states; }))
    throw std::invalid_argument("edge automaton: the tables contradict each other");
}

}  // namespace tokamata
