// A set of tokens: a list, or, where they are many, bits that others may share.
//
// Problem.  What stays inside a terminal is 123,000 tokens of Llama 3.1, or three.  Three tokens as bits are 16 kB, and
// each mask that has them reads all of that; 123,000 in a list are 480 kB.
// How.  Up to an eighth as many tokens as there are words are listed: then the list takes an eighth of the memory, and
// to set its bits takes about as long as to unite a row of words.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "common/bits.hpp"
#include "common/memory_account.hpp"

namespace tokamata {

// Words of a row that several hold; whoever holds them keeps what they are of.
using SharedWords = std::shared_ptr<const Words>;

struct TokenSet {
  std::vector<std::uint32_t> listed;
  SharedWords bits;  // further ones; null where all are listed

  static constexpr std::size_t most_listed(std::size_t words) { return words / 8; }
  // Tokens below 32 times `words`, and those of a row, which may be empty.
  static TokenSet of(std::vector<std::uint32_t> tokens, std::size_t words, Words row = {}) {
    if (tokens.size() > most_listed(words)) {
      row.resize(words, 0);
      for (const std::uint32_t token : std::exchange(tokens, {})) set_bit(row, token);
    }
    return {std::move(tokens), row.empty() ? nullptr : std::make_shared<const Words>(std::move(row))};
  }

  bool is_listed() const { return !bits; }
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const std::uint32_t token : listed) visit(token);
    if (bits) for_each_bit(*bits, visit);
  }
  void add_to(Words& row) const {
    for (const std::uint32_t token : listed) set_bit(row, token);
    if (bits) unite_bits(row, *bits);
  }
  Words row(std::size_t words) const {
    Words all(words, 0);
    add_to(all);
    return all;
  }
  void remove(const Words& gone) {
    std::erase_if(listed, [&](std::uint32_t token) { return has_bit(gone, token); });
    if (!bits) return;
    Words left = *bits;
    for (std::size_t i = 0; i < left.size(); ++i) left[i] &= ~gone[i];
    bits = std::make_shared<const Words>(std::move(left));
  }

  // Of its blocks.
  std::size_t memory_bytes() const {
    return block_bytes_of(listed) + (bits ? shared_block_bytes<Words>() + block_bytes_of(*bits) : 0);
  }
  friend bool operator==(const TokenSet& one, const TokenSet& other) {
    return one.listed == other.listed &&
           (one.bits == other.bits || (one.bits && other.bits && *one.bits == *other.bits));
  }
};

}  // namespace tokamata
