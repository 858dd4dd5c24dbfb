// One step of a hash over numbers.
#pragma once

#include <cstdint>

namespace tokamata {

constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0xff51afd7ed558ccdull;
  return hash ^ (hash >> 32);
}

}  // namespace tokamata
