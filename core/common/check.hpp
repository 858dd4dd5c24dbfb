// Checks of what must hold where one piece of the engine hands something to another.
//
// Problem.  A list that is not sorted, two byte classes that overlap, a count that is one too high: none of them
// crashes.  They make a mask that is wrong, thousands of calls later.
// How.  TOKAMATA_CHECK(condition, what) ends the program with its text where the condition is false, so that the first
// wrong value is the one that is reported.  Checks are on in every sanitized build and in the C++ tests (CMake's
// TOKAMATA_CHECKS).  Elsewhere the condition is compiled and never evaluated, and costs nothing.
// A check is about the engine itself.  What a caller or a file may do wrong is reported by an exception in every build.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>

namespace tokamata {

[[noreturn]] inline void check_failed(const char* what, const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: check failed: %s (%s)\n", file, line, what, condition);
  std::fflush(stderr);
  std::abort();
}

#ifdef TOKAMATA_CHECKS
#define TOKAMATA_CHECK(condition, what) \
  ((condition) ? static_cast<void>(0) : ::tokamata::check_failed(what, #condition, __FILE__, __LINE__))
#else
#define TOKAMATA_CHECK(condition, what) static_cast<void>(sizeof((condition) ? 1 : 0))
#endif

// Whether each element is less than the next by what `of` says of them: sorted, and none twice.
template <class Range, class Of = std::identity>
bool is_strictly_sorted(const Range& range, Of of = {}) {
  return std::ranges::adjacent_find(range, std::ranges::greater_equal(), of) == std::ranges::end(range);
}

}  // namespace tokamata
