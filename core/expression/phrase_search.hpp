// Texts that end where a phrase appears first, as an explicit automaton.
//
// Problem.  "Anything up to END" as an intersection, text·END & ~(text·END·any·everything), keeps an alternative for
// each prefix of the phrase that the text may end with: a phrase of 10,000 equal letters has 10,000 of them at each
// byte, and whether such an intersection is empty takes a search.
// Example.  Phrase "abab", texts over a, b, c.  A position is the length of the longest prefix of the phrase that the
// text ends with:  0 --a--> 1 --b--> 2 --a--> 3 --b--> the end;  3 --a--> 1, since "abaa" ends with "a";  c leads to 0.
// How.  Where the next byte of the phrase does not follow, the position falls back to that of the longest shorter
// prefix that the text ends with too and that the phrase continues with another byte.  A phrase begins with a whole
// code point, so every such prefix holds all bytes of a code point that the text is inside of.
// Source.  Knuth, Morris and Pratt 1977.  Cost.  Linear in the phrase, five bytes for each of its own; a step falls
// back log n times at most.  Not taken: a row of transitions for each position, 256 times the memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/byte_set.hpp"

namespace tokamata {

class PhraseSearch {
 public:
  // A phrase of valid UTF-8, not empty, below 4 GiB; throws std::invalid_argument.
  explicit PhraseSearch(std::string phrase);

  const std::string& phrase() const { return phrase_; }
  // Positions lie below this one, which is the end of every text.
  std::uint32_t size() const { return static_cast<std::uint32_t>(phrase_.size()); }

  // The position after a byte; 0 where the text ends with no prefix of the phrase.
  std::uint32_t step(std::uint32_t position, std::uint8_t byte) const;
  // The bytes read of a code point that is not complete yet.
  std::string_view begun(std::uint32_t position) const;

  // Between two code points: the bytes after which the position is not 0.
  ByteSet going_on(std::uint32_t position) const;
  // How many code points the phrase still has there, counted in its next `most` bytes alone.
  std::uint32_t code_points_left(std::uint32_t position, std::uint32_t most) const;

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::string phrase_;
  std::vector<std::uint32_t> fallback_;  // by position
};

}  // namespace tokamata
