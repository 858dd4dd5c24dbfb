// All repairs within a bound, as a graph: what an integer program over repairs is made of.
//
// Problem.  A search finds one cheapest repair.  Who couples edits ("at most two removals") needs all that may take
// part in a cheap one, and solves a program over it.
// Example.  The text  ab  and the language {b, a} with all edits at 1, bound 1: start ─remove a→ · ─keep b→ end, and
// start ─keep a→ · ─remove b→ end: five nodes at most, four edges.
// How.  Dijkstra's algorithm from the start; an edge is left out where what was paid, its cost and the estimate of the
// rest are above the bound.  Then Dijkstra's algorithm backwards from the ends over the edges found: an edge stays if
// the cheapest repair through it is within the bound.  So the graph holds each repair within the bound, except that
//   - of two edges of one kind and with the same two nodes only the cheaper one stays, of equals the lesser byte;
//   - no edge leads to its own node, and none replaces a byte by one that leads where keeping the byte leads for
//     nothing.
// A repair that visits a node twice has a part that leads from the node to itself; without that part it is a repair
// that costs no more and makes no more edits of any kind.
// That is enough where only the cost and the number of edits matter.  Who needs other texts (the next different value,
// a name that must be written alike elsewhere) says at which positions every byte counts.  There an edge has all bytes
// that lead from one node to another at one cost, as a set: `[a-z]*` has one edge for 26 letters, and not 26.  So the
// number of edges is bounded by nodes, classes of bytes and different prices, and all that is held by the memory of the
// limits.
// Cost.  Twice what a search to that bound costs, and 24 bytes for each edge.  Of broken JSON of 1 kB, 270,573 edges
// are found on the way there and 3,292 are within the bound; this is why the way back is here, and not where the
// program is solved.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/byte_set.hpp"
#include "repair/edits.hpp"
#include "repair/estimate.hpp"
#include "repair/guide.hpp"

namespace tokamata {

// Which insertions and replacements a graph has at a position.
enum class GraphBytes : std::uint8_t {
  Cheapest,      // of those between two nodes the cheapest
  All,           // every byte, except that none leads from a node to itself
  AllWithLoops,  // every byte
};

struct RepairGraph {
  static constexpr std::uint32_t kOneByte = 0;
  struct Edge {
    std::uint32_t from, to;
    EditStep step;  // its byte is the least of the set
    std::uint64_t cost;
    std::uint32_t bytes = kOneByte;  // Insert, Replace: the number of the set of bytes, any of which may be written
  };
  // of each node: how many bytes of the text are read; the first node is the start
  std::vector<std::uint32_t> positions;
  std::vector<Mode> modes;          // of each node
  std::vector<std::uint32_t> ends;  // the nodes where the text is read and the pattern accepts
  std::vector<Edge> edges;
  std::vector<ByteSet> byte_sets = {ByteSet()};  // the first one stands for the byte of the step alone
  bool is_whole = true;                          // the bound has left out no edge on the way from the start
};

// All repairs from a state of the pattern that cost no more than a bound.  `bytes` has the GraphBytes of each position;
// past its end they are Cheapest.
RepairGraph graph_within(ByteAutomaton& automaton, const Edits& edits, const Estimate& estimate, StateId start,
                         std::uint64_t bound, std::string_view bytes, Budget& budget);
// Of so many nodes from the start, those that are reached at the least costs within a bound.
Guide guide_within(ByteAutomaton& automaton, const Edits& edits, const Estimate& estimate, StateId start,
                   std::uint64_t bound, std::size_t most, Budget& budget);

}  // namespace tokamata
