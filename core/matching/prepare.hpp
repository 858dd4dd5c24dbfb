// What decoding will need, computed before the first token.
//
// Problem.  A host has time while a prompt waits, and none between two tokens.  Which states a text will meet is not
// known, and rules have states without end.
// How.  Breadth first over the states that tokens lead to, from the start.  The mask of each state is computed, with all
// that it is made of; then a few tokens that represent the others are followed:
//   - all tokens, where the mask has few;
//   - otherwise those of one byte, one for each byte class; and for each string that may come next (a declared name, a
//     literal of an enumeration) the longest token that it begins with.
// Of the states that are reached, one of those that look alike is kept: their over-approximations begin with the same
// kNear expressions, so that they differ in what follows much later, or in what was written before.
// Example.  {"a": {"b": 1}}  with members a and b: the states after  {  "  a  a"  :  1  and so on, those of b once in each
// object, and one state within each string and number.
// Not followed: indents.  Each width would be a copy of all states; their masks are computed as texts need them.
//
// Contract.  Masks are the same with and without it.  The order of work depends on the constraint alone, and on what else
// gives up its states meanwhile.  The lock is held for one state at a time.  Work ends early, without an error, at half of
// Limits::memory_bytes, at a limit, or where another call gave up the states of the constraint.
// Cost.  At most kMostStates masks and kMostTokens steps.
// Not taken: sample texts of the schema (those of a generator would have to be cut into tokens as models do it); threads
// of its own (the host has them, and knows how many).
#pragma once

#include <cstddef>
#include <memory>

#include "matching/constraint.hpp"

namespace tokamata {

struct Preparation {
  std::size_t masks = 0;     // of so many states
  bool is_finished = false;  // nothing was left to do
  double seconds = 0;
};

// `seconds` of wall time.  Throws Cancelled.
Preparation prepare(Constraint& constraint, double seconds, const std::shared_ptr<const CancelToken>& cancel);

}  // namespace tokamata
