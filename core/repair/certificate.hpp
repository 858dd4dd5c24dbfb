// A proof that no repair costs less than a bound, checked without the search.
//
// Problem.  Who is given a repair with its bound should not have to trust the search.
// How.  The proof is a set S of nodes (position, state), each with a cost g.  It holds if
//   1. the start is in S with g = 0;
//   2. for each node of S with g + h below the bound, and each of its edges of cost c to a node v with g + c + h(v)
//   below the
//      bound: v is in S, and g(v) is at most g + c;
//   3. no node of S with g below the bound accepts at the end of the text.
// Then, along any repair that costs less than the bound, every node is in S with a g of at most what was paid until
// there:  true of the start, and kept by each edge (h being admissible, the sums of point 2 are below the bound).  Its
// last node breaks point 3.  So there is no such repair.
// States have no names outside of their automaton: each node of the proof says the step that leads to it from an
// earlier one, and the check takes it in an automaton of its own.
// The nodes may be those of the pattern's over-approximation: what no text of that can cost, no text of the pattern
// can.  Where they are those of the pattern, h is also what is left to pay in the over-approximation after the same
// text, which the check computes by itself: Dijkstra's algorithm from the start to the bound, and from the ends back.
// Cost.  One look-up for each edge of the set, all prices and classes: a few times what the search took.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "repair/search.hpp"

namespace tokamata {

// What is wrong with the proof; empty where it holds.  The rewrites of the model are sorted (shared_model).
std::string flaw_of_bound(const Expression& pattern, const std::string& text, const EditModel& model,
                          const RepairSearch::Proof& proof, const Limits& limits,
                          std::shared_ptr<const CancelToken> cancel);

}  // namespace tokamata
