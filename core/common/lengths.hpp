// Counts of repetitions; and lengths of texts in bytes, where a text may be longer than anybody counts, or not be there
// at all.
//
// A sum ends just below kNoLength: a text that is sure to exist stays so, however long.  Plain 32-bit sums would make a
// short text of two strings of 2^31 characters.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tokamata {

// Counts of a repetition.  64 bits, so that products of nested bounds can be kept exactly.
using Count = std::uint64_t;
inline constexpr Count kUnbounded = ~Count{0};

inline constexpr std::uint32_t kNoLength = 0x7fffffff;  // no text is known
inline constexpr std::uint32_t kLongestLength = kNoLength - 1;

template <class... Lengths>
constexpr std::uint32_t capped_sum(Lengths... lengths) {
  std::uint64_t sum = 0;
  for (const std::uint64_t length : {static_cast<std::uint64_t>(lengths)...}) {
    if (length >= kNoLength) return kNoLength;
    sum += length;
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, kLongestLength));
}

constexpr std::uint32_t capped_times(std::uint64_t times, std::uint64_t length) {
  if (times == 0) return 0;
  if (length >= kNoLength) return kNoLength;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(std::min<std::uint64_t>(times, kNoLength) * length, kLongestLength));
}

}  // namespace tokamata
