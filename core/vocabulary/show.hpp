// Tokens, sets of them, and segments as a person reads them: for tests and debuggers, never for the engine.
#pragma once

#include <string>
#include <string_view>

#include "common/bits.hpp"
#include "vocabulary/segment.hpp"
#include "vocabulary/vocabulary.hpp"

namespace tokamata {

// Quoted, with escapes for what is not printable.
std::string show(std::string_view bytes);
// How many tokens there are, and the first of them.
std::string show_tokens(const Words& tokens, const Vocabulary& vocabulary, std::size_t most = 8);
// Example:  3 tokens inside: "a" "b" "ab"; remainders after 2 tokens: ":" ",x"
std::string show(const Segment& segment, const Vocabulary& vocabulary, std::size_t most = 8);

}  // namespace tokamata
