// How many cases a test tries: all of its number, or a share of it under sanitizers.
//
// Two variables of the environment ask for more.  TOKAMATA_CASES=100000 is the number of random cases;
// TOKAMATA_EXHAUSTIVE=1 makes enumerations complete.
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

// The number of random cases, where a test wants `count`.
inline std::uint64_t drawn(std::uint64_t count) {
  const char* given = std::getenv("TOKAMATA_CASES");
  return given ? std::strtoull(given, nullptr, 10) : (count + kShare - 1) / kShare;
}

// Of the enumerated cases, one in this number is tried, where a test wants one in `count`.
inline std::uint64_t one_in(std::uint64_t count) { return all_of_them() ? 1 : count * kShare; }

}  // namespace test
