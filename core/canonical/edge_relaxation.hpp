// Whether any text has certain token edges if its pre-tokens may be cut into tokens in any way.
//
// Problem.  Where the answer to a search for edges is "no text", the search asks every token of the vocabulary.  Often
// texts alone forbid it.
// How.  Texts are followed byte by byte, with the hypotheses of the tokenizer.  An edge may stand between any two bytes
// of a pre-token, and has to stand where one ends and beside added tokens.  More texts have such edges than the
// tokenizer writes, so that none here is none there.
// Example.  Qwen 3 and `<|im_end|>`, an added token.  No text goes on from `<|im_end|` with `>` but by that token, which
// has edges at both ends: no token crosses them, whatever the other tokens are.
// Cost.  The texts of the prefix (edge_prefix.hpp) that the edges may follow: about a millisecond for any text.
// Rejected.  This before every search: where there is a text, a search mostly finds it sooner.
#pragma once

#include "canonical/edge_automaton.hpp"
#include "canonical/edge_prefix.hpp"
#include "common/limits.hpp"

namespace tokamata {

bool may_exist(const EdgeReading& reading, const EdgeAutomaton& automaton, const EdgePrefix& prefix, Budget& budget);

}  // namespace tokamata
