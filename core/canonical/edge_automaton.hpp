// An automaton over bytes and the edges between tokens, given as tables.
//
// Problem.  "No token crosses the border of this text" is a statement about token edges.  Its violations are a language
// over bytes and edges, small enough to be written down as a table.
// Example.  Texts with an occurrence of `ab` that no token edge precedes.  State 0 is before it, 1 is a byte that no
// edge may follow, 2 has read `a`, 3 has read `ab` and accepts.
//
//     0 ─any─▶ 0     0 ─any─▶ 1     1 ─a─▶ 2     2 ─b─▶ 3     3 ─any─▶ 3       edges: 0, 2, 3 stay; 1 has none
//
// An edge comes before the first token, after each token, and so after the last one.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tokamata {

struct EdgeTables {
  std::array<std::uint8_t, 256> classes;  // of bytes
  std::uint32_t class_count;
  std::vector<std::uint32_t> offsets, targets;  // of state * class_count + class
  std::vector<std::uint32_t> edge_offsets, edge_targets;
  std::vector<std::uint8_t> accepting;  // after an edge
  // States whose texts are searched as texts alone, since they are many; an edge leaves each of them where it is.
  std::vector<std::uint8_t> wide;
  std::vector<std::uint32_t> starts;  // before the first edge
};

class EdgeAutomaton {
 public:
  using State = std::uint32_t;

  // Throws std::invalid_argument where the tables contradict each other.
  explicit EdgeAutomaton(EdgeTables tables);
  // One text, with edges anywhere.
  static EdgeAutomaton of_text(std::string_view text);

  State count() const { return static_cast<State>(tables_.accepting.size()); }
  // Bytes of one class lead from each state to the same states.
  std::uint8_t class_of(std::uint8_t byte) const { return tables_.classes[byte]; }
  std::span<const State> after_byte(State state, std::uint8_t byte) const {
    const std::size_t row = std::size_t{state} * tables_.class_count + tables_.classes[byte];
    return std::span(tables_.targets).subspan(tables_.offsets[row], tables_.offsets[row + 1] - tables_.offsets[row]);
  }
  std::span<const State> after_edge(State state) const {
    return std::span(tables_.edge_targets)
        .subspan(tables_.edge_offsets[state], tables_.edge_offsets[state + 1] - tables_.edge_offsets[state]);
  }
  std::span<const State> starts() const { return tables_.starts; }
  bool is_accepting(State state) const { return tables_.accepting[state]; }
  bool is_wide(State state) const { return tables_.wide[state]; }
  // Whether an edge leaves it where it is, so that it does not matter where the edges are.
  bool ignores_edges(State state) const { return ignores_edges_[state]; }
  // Whether every text leaves it where it is, too.
  bool is_free(State state) const { return free_[state]; }
  // Wide, not accepting, and reached from the start through such states alone.
  bool is_prefix(State state) const { return prefix_[state]; }
  // The fewest bytes after an edge to it that lead to acceptance, with edges wherever they help; kNever if none do.
  std::uint32_t rest(State state) const { return rest_[state]; }
  static constexpr std::uint32_t kNever = ~std::uint32_t{0};
  // Whether it accepts any text, cut in any way.
  bool accepts_any() const;

 private:
  void check() const;
  void find_rests();

  EdgeTables tables_;
  std::vector<bool> ignores_edges_, free_, prefix_;
  std::vector<std::uint32_t> rest_;
};

}  // namespace tokamata
