// The accepted token sequence that is nearest to a given one.
//
// Problem.  Of all sequences that an automaton over tokens accepts, find the one that is reached by the cheapest edits: a token
// is inserted, removed, or put in place of another one.
// Example.  `(ab)+` with the tokens a, b, ab, and the sequence  a a b : one edit, the removal of a token.  Nodes: (0, start),
// (1, after a); there `a` is refused, and (2, after a) costs 1; `b` is kept, and (3, after b) is an end.
// How.  A node is a position in the sequence and a state; A* finds the cheapest path to an end.
//   - Edges.  An edge keeps the token, or removes it, or leads to another state with the least token of those that lead there
//     (token_edges.hpp): inserted before the token, or in its place.
//   - Estimate.  With r tokens left to read, and at least l and at most m tokens to an end, l - r must be inserted, or r - m
//     removed.  It falls by no more than an edge costs (it is consistent), so a node is final when it comes first.
//   - Edges in two steps.  What is written costs the cheaper of an insertion and a replacement at least, so these edges are made
//     when the search has come to that cost.
//   - Ties.  Of equal costs, the sequence that keeps more tokens, then the shorter one, then the first in the order of ids.
//     The first two are part of what a path costs.  For the third, all nodes that cost no more than the best are expanded;
//     from the start, the set of nodes after the ids so far, on the cheapest paths alone, then takes the least id that any of
//     them writes.  A node has one number of written tokens on all of these paths, so it is in one of the sets at most.
// When time or memory is over, the answer is the best of: a path to a node, all that is left removed, and the shortest end.
//
// Cost.  Nodes within the optimum times edges, at most positions times transitions, and a logarithm.
// Source.  Wagner, Order-n correction for regular languages, 1974; Hart, Nilsson and Raphael 1968.
// Not taken.  Wagner's table of all positions and states: of 1,000 states, few are within the optimum.  It is what checks the
// bound (least_cost).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/limits.hpp"
#include "repair/edit_model.hpp"
#include "repair/token_edges.hpp"

namespace tokamata {

struct TokenPrices {
  EditCost insert = 1, remove = 1, replace = 1;  // kNoEdit, for `replace` alone: it is not made
};

struct NearestTokens {
  std::vector<EditStep> steps;  // of all tokens, in order; operands are the tokens written
  std::uint64_t cost = 0, lower_bound = 0, expansions = 0;
};

// Ends with what it has when `limits.seconds` or `limits.memory_bytes` are over; may end with Cancelled.
NearestTokens nearest_tokens(const TokenEdges& automaton, std::span<const std::uint32_t> tokens, const TokenPrices& prices,
                             const Limits& limits, std::shared_ptr<const CancelToken> cancel);

// What the cheapest edits cost, by Wagner's table: for each position, the least cost of each state.
std::uint64_t least_cost(const TokenEdges& automaton, std::span<const std::uint32_t> tokens, const TokenPrices& prices, Budget& budget);

}  // namespace tokamata
