// Masks that belong to a vocabulary, and not to one constraint: which tokens stay inside a class of code
// points.  The patterns of a server, or of one schema, use the same few classes again and again.
//
// Safe to use from many threads (common/bounded_memo.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/bits.hpp"
#include "common/bounded_memo.hpp"

namespace tokamata {

struct CachedTokens {
  Words words;
  std::size_t count;  // of set bits
};

class MaskCache : public SharedMemo<std::string, CachedTokens> {
 public:
  using Tokens = CachedTokens;
  using TokensPtr = Ptr;

  MaskCache() : SharedMemo(256) {}  // of 33 kB each, for 262,144 tokens
};

// Set bits; by the processor's own instruction, where it has one and the build does not take it for
// granted (four times as fast).
std::size_t count_bits(const std::vector<std::uint32_t>& words);

}  // namespace tokamata
