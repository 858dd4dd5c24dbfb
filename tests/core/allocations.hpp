// What is allocated, counted, and allocations that fail when a test says so (allocations.cpp replaces operator new).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace allocations {

inline std::atomic<std::size_t> bytes{0}, most_bytes{0};
inline std::atomic<std::size_t> block_bytes{0};  // of all, with what malloc adds to each

// Of this thread: how many there were; and which is to throw std::bad_alloc, once.
inline thread_local std::uint64_t count = 0, failing = 0;

// While this lives: the k-th allocation from here on fails, the first being 1.
class Failing {
 public:
  explicit Failing(std::uint64_t k) { failing = count + k; }
  ~Failing() { failing = 0; }
  Failing(const Failing&) = delete;
  Failing& operator=(const Failing&) = delete;
};

}  // namespace allocations
