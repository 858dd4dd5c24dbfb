#include "vocabulary/mask_cache.hpp"

#include <bit>

namespace tokamata {

namespace {

std::size_t count_portably(const std::vector<std::uint32_t>& words) {
  std::size_t count = 0;
  for (const std::uint32_t word : words) count += static_cast<std::size_t>(std::popcount(word));
  return count;
}

#if defined(__GNUC__) && defined(__x86_64__) && !defined(__POPCNT__)
__attribute__((target("popcnt"))) std::size_t count_by_instruction(const std::vector<std::uint32_t>& words) {
  std::size_t count = 0;
  for (const std::uint32_t word : words) count += static_cast<std::size_t>(__builtin_popcount(word));
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
