// A shortest text that an automaton accepts, in bytes; of these the least in the order of bytes.
//
// What emptiness, inclusion and equivalence come down to: a is a subset of b where a without b is
// empty, and a shortest text of a without b is the witness that it is not.  Breadth first over the
// states, each once; control tokens are not text and are not taken.  Where listed rules are in play there may be no end
// of states; then lengths are computed instead (rule_products.hpp).
#pragma once

#include <optional>
#include <string>

#include "expression/byte_automaton.hpp"

namespace tokamata {

std::optional<std::string> shortest_text(ByteAutomaton& automaton, Budget& budget);

}  // namespace tokamata
