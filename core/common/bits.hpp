// Sets of tokens as bits: token t is bit t % 32 of word t / 32.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/check.hpp"

namespace tokamata {

using Words = std::vector<std::uint32_t>;

template <class List>
bool has_bit(const List& words, std::uint32_t token) {
  TOKAMATA_CHECK(token / 32 < words.size(), "a token is within its set of bits");
  return words[token / 32] >> (token % 32) & 1;
}
template <class List>
void set_bit(List& words, std::uint32_t token) {
  TOKAMATA_CHECK(token / 32 < words.size(), "a token is within its set of bits");
  words[token / 32] |= 1u << (token % 32);
}
template <class List>
void clear_bit(List& words, std::uint32_t token) {
  TOKAMATA_CHECK(token / 32 < words.size(), "a token is within its set of bits");
  words[token / 32] &= ~(1u << (token % 32));
}
template <class List, class Others>
void unite_bits(List& words, const Others& others) {
  TOKAMATA_CHECK(words.size() == others.size(), "sets of tokens that are united are of one vocabulary");
  for (std::size_t i = 0; i < words.size(); ++i) words[i] |= others[i];
}

// In order.  `word(i)` gives word i of `count`.
template <class Word, class Visit>
void for_each_bit_of(std::size_t count, Word&& word, Visit&& visit) {
  for (std::size_t i = 0; i < count; ++i)
    for (std::uint32_t bits = word(i); bits != 0; bits &= bits - 1)
      visit(static_cast<std::uint32_t>(32 * i) + static_cast<std::uint32_t>(std::countr_zero(bits)));
}
template <class List, class Visit>
void for_each_bit(const List& words, Visit&& visit) {
  for_each_bit_of(words.size(), [&](std::size_t i) { return words[i]; }, visit);
}

}  // namespace tokamata
