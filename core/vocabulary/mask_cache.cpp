#include "vocabulary/mask_cache.hpp"

#include <bit>
#include <cstring>

namespace tokamata {

namespace {

std::size_t count_portably(const std::vector<std::uint32_t>& words) {
  std::size_t count = 0;
  for (const std::uint32_t word : words) count += static_cast<std::size_t>(std::popcount(word));
  return count;
}

#if defined(__GNUC__) && defined(__x86_64__) && !defined(__POPCNT__)
__attribute__((target("popcnt"))) std::size_t count_by_instruction(const std::vector<std::uint32_t>& words) {
  std::size_t count = 0, i = 0;
  for (; i + 2 <= words.size(); i += 2) {  // two words at once
    std::uint64_t both;
    std::memcpy(&both, words.data() + i, sizeof both);
    count += static_cast<std::size_t>(__builtin_popcountll(both));
  }
  if (i < words.size()) count += static_cast<std::size_t>(__builtin_popcount(words[i]));
  return count;
}
const bool kHasInstruction = __builtin_cpu_supports("popcnt") != 0;
#endif

}  // namespace

std::size_t count_bits(const std::vector<std::uint32_t>& words) {
#if defined(__GNUC__) && defined(__x86_64__) && !defined(__POPCNT__)
  if (kHasInstruction) return count_by_instruction(words);
#endif
  return count_portably(words);
}

}  // namespace tokamata
