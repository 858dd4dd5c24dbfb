// Which tokens may come next: one bit per column of the logits, bit t % 32 of word t / 32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "vocabulary/vocabulary.hpp"

namespace tokamata {

struct Mask {
  std::uint64_t serial = 0;            // counts up in the order of making, within one constraint
  std::size_t open_tokens = 0;         // set bits after which the text goes on; the others are stop tokens
  std::size_t set_bits = 0;
  std::vector<std::uint32_t> words;
};

// Whoever holds one keeps its bits, whatever becomes of the memo that it came from.
using MaskPtr = std::shared_ptr<const Mask>;

// What is allowed besides where the text may end.
inline void add_stops(const Vocabulary& vocabulary, Mask& mask) {
  for (const std::uint32_t stop : vocabulary.stop()) mask.words[stop / 32] |= 1u << (stop % 32);
  mask.set_bits += vocabulary.stop().size();
}

}  // namespace tokamata
