// Over-approximations of a state with the tokens that they do not decide.
//
// Problem.  What a text has written decides what it may write much later (expression/rules.hpp).  The
// over-approximations of a state forget that, and say which texts they refuse, or leave unverified.
// How.  These texts are followed down the trie: the tokens that begin with one are a run of the trie's order.
// Example.  {"a": 1, "|  where any names may stand: the over-approximation has any name, and refuses the tokens that
// begin with  a" .
// Cost.  A step for each byte of the texts that some token has.
#pragma once

#include <vector>

#include "common/bits.hpp"
#include "composition/mask_walk.hpp"
#include "composition/operands.hpp"

namespace tokamata {

struct ApproximationCut {
  ExpressionId approximation;
  std::vector<TokenRange> refused, unverified;  // in the trie's order
};

// Of the tokens below a node of the trie, where what is left of them follows the state.  Over-approximations that
// refuse and leave nothing are one.
std::vector<ApproximationCut> approximation_cuts(Operands& operands, StateId state, NodeId from, Budget& budget);

// The tokens along a text that an over-approximation refuses or leaves unverified, or that may become like an earlier
// one: the state may treat them in another way than its over-approximation.
Words ambiguous_tokens(Operands& operands, StateId state, Budget& budget);

}  // namespace tokamata
