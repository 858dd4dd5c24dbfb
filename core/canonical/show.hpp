// Hypotheses and states of a tokenizer as a person reads them: for tests and debuggers, never for the engine.
#pragma once

#include <string>

#include "canonical/tokenization.hpp"

namespace tokamata {

// Example:  guess 3, inside a pre-token, settled (may end)
std::string show(const Hypothesis& hypothesis, std::uint8_t marks, const Tokenization& tokenization);
// One hypothesis a line, after what all of them share.
std::string show(const CanonicalState& state, const Tokenization& tokenization);

}  // namespace tokamata
