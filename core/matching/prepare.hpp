// Masks that decoding will need, computed before the first token.
//
// Problem.  A host has time while a prompt waits, and none between two tokens.  It is not known which states a text
// will reach, and a pattern with rules has infinitely many.
// How.  Breadth first from the start state.  Each state's mask is computed, with the segments that it is made of.  Then
// a few tokens that represent the others are followed:
//   - all tokens, if the mask has few;
//   - otherwise one single-byte token for each byte class; and, for each string that may follow (a declared name, a
//     literal of an enumeration), the longest token that the string begins with.
// Of the states reached, those count as one whose over-approximations begin with the same kNear expressions: they
// differ only in what follows much later, or in what was written before.
// Example.  {"a": {"b": 1}}  with members a and b: the states after  {  "  a  a"  :  1  and so on, those of b once in
// each object, and one state within each string and number.
// Not followed: indents.  Each width would be a copy of all states; their masks are computed when a text needs them.
//
// Contract.  Preparing changes no mask.  The order of work depends only on the constraint, and on other calls that free
// its states meanwhile.  The lock is held for one state at a time.  Work ends early, without an error, at half of
// Limits::memory_bytes, at a limit, or if another call freed the states of the constraint.
// Cost.  At most kMostStates masks and kMostTokens steps.
// Rejected: sample texts of the schema (they would have to be split into tokens as models do); threads of its own (the
// host has them, and knows how many).
#pragma once

#include <cstddef>
#include <memory>

#include "matching/constraint.hpp"

namespace tokamata {

struct Preparation {
  std::size_t masks = 0;     // computed
  bool is_finished = false;  // no state was left
  double seconds = 0;
};

// `seconds` of wall time.  Throws Cancelled.
Preparation prepare(Constraint& constraint, double seconds, const std::shared_ptr<const CancelToken>& cancel);

}  // namespace tokamata
