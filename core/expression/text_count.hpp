// How many texts a language has, and which, for who wants to know whether there are enough.
//
// Problem.  Three elements that must differ are to be had of [a-c] & [b-z]; are there so many?
// How.  All texts at once, byte by byte: each expression reached, and in how many ways.  All that is reached lives, and
// different ways lead to different texts, so that the ways of one length are a lower bound for the texts.
// Example.  (ab|cd)*, at least 5: 1 way of length 0, which ends; 2 of length 1, of length 2, both end; 4 of length 3,
// and 3 + 4 are enough.
// Cost.  Derivatives of as many expressions as requested; where the language is finite, of no more than it has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "expression/arena.hpp"

namespace tokamata {

// The number of texts of a language, at most `most`; or of its texts of some bytes only.
std::uint64_t count_texts(Arena& arena, ExpressionId expression, std::uint64_t most, Budget& budget,
                          const ByteSet* among = nullptr);
// So many texts of it, the shortest first.
std::vector<std::string> some_texts(Arena& arena, ExpressionId expression, std::size_t most, Budget& budget);

}  // namespace tokamata
