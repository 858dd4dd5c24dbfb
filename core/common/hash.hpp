// One step of a hash over numbers; a hash of bytes, the same on every machine of one byte order.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace tokamata {

constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0xff51afd7ed558ccdull;
  return hash ^ (hash >> 32);
}

inline std::uint64_t hash_of(std::string_view bytes, std::uint64_t seed) {
  std::uint64_t hash = mix(seed, bytes.size());
  for (; bytes.size() >= sizeof hash; bytes.remove_prefix(sizeof hash)) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), sizeof word);
    hash = mix(hash, word);
  }
  for (const char byte : bytes) hash = mix(hash, static_cast<std::uint8_t>(byte));
  return hash;
}

}  // namespace tokamata
