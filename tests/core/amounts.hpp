// How many cases are tried: all that is named, a share under sanitizers, and more when asked for.
//
// TOKAMATA_CASES=100000 draws so many; TOKAMATA_EXHAUSTIVE=1 leaves nothing out of what is enumerated.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace test {

// Under sanitizers one of so many; tests/core/CMakeLists.txt says of how many, and why.
#ifdef TOKAMATA_SHARE
inline constexpr std::uint64_t kShare = TOKAMATA_SHARE;
#else
inline constexpr std::uint64_t kShare = 1;
#endif

inline bool all_of_them() { return std::getenv("TOKAMATA_EXHAUSTIVE") != nullptr; }

// How many are drawn of what would be so many.
inline std::uint64_t drawn(std::uint64_t count) {
  const char* given = std::getenv("TOKAMATA_CASES");
  return given ? std::strtoull(given, nullptr, 10) : (count + kShare - 1) / kShare;
}

// Of what is enumerated one in so many is taken.
inline std::uint64_t one_in(std::uint64_t count) { return all_of_them() ? 1 : count * kShare; }

}  // namespace test
