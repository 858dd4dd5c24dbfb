// How the search in the pattern is guided where its over-approximation proves no more.
//
// Problem.  States that keep what the text has written know no lengths, and an edit in one name makes every later state
// another one.  So neither the estimate nor the order of costs leads to an end.
// Example.  `{"a": 1 "b": [1, 1]}`, whose elements must differ: without a guide the first attempt removed all after the
// 1.
// How.  Each node knows the state of the over-approximation after the same text, whose texts are more.  So what is left
// to pay from there is a bound of what is left in the pattern.  A table has it for the nodes of the over-approximation
// that are near the start (graph.cpp makes it): the least that leads from one of them to an end by others of them, or
// out of them, which costs what the nearest node beyond costs.  The proof of a bound may rest on it; the check makes a
// table of its own (certificate.cpp).
// Source.  Pattern databases (Culberson and Schaeffer 1998), here of the abstraction that masks are made of.
// Cost.  The table: some milliseconds.  A look-up for each node.
#pragma once

#include <algorithm>

#include "repair/edit_state.hpp"

namespace tokamata {

// What is left to pay in the over-approximation from each state that is near the start.
class Guide {
 public:
  struct Node {
    EditState at;
    std::uint64_t reached, left;
  };

  // `elsewhere`: no path to another state costs less.
  explicit Guide(std::uint64_t elsewhere) : elsewhere_(elsewhere) {}
  void add(const Node& node) { nodes_.add(node); }

  // A lower bound of what is left in the pattern; 0 for other states.
  std::uint64_t least_left(const EditState& at) const {
    const auto known = nodes_.find(at);
    if (!known) return 0;
    const Node& node = nodes_[*known];
    return std::min(node.left, elsewhere_ - std::min(elsewhere_, node.reached));
  }

 private:
  NodeTable<Node> nodes_;
  std::uint64_t elsewhere_;
};

}  // namespace tokamata
