// All repairs within a bound, as a graph: what an integer program over repairs is made of.
//
// Problem.  A search finds one cheapest repair.  Who couples edits ("at most two removals") needs all that may take part in a
// cheap one, and solves a program over it.
// Example.  The text  ab  and the language {b, a} with all edits at 1, bound 1: start ─remove a→ · ─keep b→ end, and
// start ─keep a→ · ─remove b→ end: five nodes at most, four edges.
// How.  Dijkstra's algorithm from the start; an edge is left out where what was paid, its cost and the estimate of the rest
// are above the bound.  Then Dijkstra's algorithm backwards from the ends over the edges found: an edge stays if the
// cheapest repair through it is within the bound.  So the graph holds each repair within the bound, except that
//   - of two edges of one kind and with the same two nodes only the cheaper one stays, of equals the lesser byte;
//   - no edge leads to its own node, and none replaces a byte by one that leads where keeping the byte leads for nothing.
// A repair that visits a node twice has a part that leads from the node to itself; without that part it is a repair that
// costs no more and makes no more edits of any kind.
// Cost.  Twice what a search to that bound costs, and 24 bytes for each edge.  Of broken JSON of 1 kB, 270,573 edges are found
// on the way there and 3,292 are within the bound; this is why the way back is here, and not where the program is solved.
#pragma once

#include <cstdint>
#include <vector>

#include "repair/edit_model.hpp"

namespace tokamata {

struct RepairGraph {
  struct Edge {
    std::uint32_t from, to;
    EditStep step;
    std::uint64_t cost;
  };
  std::vector<std::uint32_t> positions;  // of each node: how many bytes of the text are read; the first node is the start
  std::vector<Mode> modes;               // of each node
  std::vector<std::uint32_t> ends;       // the nodes where the text is read and the pattern accepts
  std::vector<Edge> edges;
  bool is_whole = true;  // the bound has left out no edge on the way from the start
};

}  // namespace tokamata
