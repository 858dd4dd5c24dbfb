// The closed form: a whole automaton over tokens, as far as it is reached from the start.
//
// Problem.  Papers 002 (algorithm 2) and 000 (equation 4) compose the pattern with the tokenizer in advance; the engine
// composes them lazily.  This computes the whole composition.
// Example.  `ab?` with the tokens a, b, ab:  0 --a--> 1,  0 --ab--> 2,  1 --b--> 2;  1 and 2 accept.
// How.  Breadth first over the places that tokens lead to, with the transitions of a follower.  Tokens of one class
// lead alike from every place; a class here may be finer than needed, and states may be equivalent: minimizing is left
// to whoever reads it (tokamata.automata).
// Cost.  Places times token classes; it may be endless in practice, and Limits bound it.
#pragma once

#include <cstdint>
#include <vector>

#include "following/follower.hpp"

namespace tokamata {

struct ClosedForm {
  // State 0 is the start.  The transitions of state s are rows[offsets[s]] to rows[offsets[s + 1]].
  std::vector<std::uint8_t> accepting;
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> classes;
  std::vector<std::int32_t> targets;
  std::vector<std::int32_t> class_of_token;  // by id; -1 for tokens that lead nowhere
};

ClosedForm closed_form(Follower& follower, Budget& budget);

}  // namespace tokamata
