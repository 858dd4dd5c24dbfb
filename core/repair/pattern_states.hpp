// What repairs ask of a state of a pattern: an over-approximation of it, and a short text that it accepts.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include "expression/byte_automaton.hpp"
#include "repair/writings.hpp"

namespace tokamata {

// The pattern accepts no text.
struct EmptyLanguage : std::runtime_error {
  EmptyLanguage() : std::runtime_error("the pattern accepts no text") {}
};

// A state that accepts at least what another accepts and forgets what was written; itself where nothing is kept.
StateId over_approximation(ByteAutomaton& automaton, StateId state, Budget& budget);

// A text of a state.  Each byte lowers the length that the state knows of some text, as far as there is such a byte;
// where there is none, a search finds the nearest state that knows less (composition/closing_texts.hpp does the same
// for tokens).  Of bytes that may come, the cheapest to append are tried first.
std::optional<std::string> accepted_text(ByteAutomaton& automaton, StateId start, Writings& writings, Budget& budget);

}  // namespace tokamata
