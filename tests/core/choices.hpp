// Where random cases get their decisions from: a seed, or the bytes of a fuzzer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

class Choices {
 public:
  explicit Choices(std::uint64_t seed) : state_(seed * 2 + 1) {}
  // When the bytes are used up, every decision is 0, which always ends things.
  explicit Choices(std::span<const std::uint8_t> bytes) : bytes_(bytes), from_bytes_(true) {}

  bool used_up() const { return from_bytes_ && bytes_.empty(); }

  // A number below `count`.
  std::uint32_t below(std::uint32_t count) {
    if (count <= 1) return 0;
    std::uint64_t value = 0;
    if (from_bytes_) {
      for (std::uint32_t rest = count - 1; rest > 0; rest >>= 8) value = (value << 8) | next_byte();
    } else {
      value = next_random() >> 20;
    }
    return static_cast<std::uint32_t>(value % count);
  }
  std::uint32_t between(std::uint32_t low, std::uint32_t high) { return low + below(high - low + 1); }
  bool one_in(std::uint32_t count) { return below(count) == count - 1; }
  template <class T>
  const T& of(const std::vector<T>& items) {
    return items[below(static_cast<std::uint32_t>(items.size()))];
  }

 private:
  std::uint8_t next_byte() {
    if (bytes_.empty()) return 0;
    const std::uint8_t byte = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return byte;
  }
  std::uint64_t next_random() {  // splitmix64
    std::uint64_t value = (state_ += 0x9e3779b97f4a7c15ull);
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
    return value ^ (value >> 31);
  }

  std::uint64_t state_ = 0;
  std::span<const std::uint8_t> bytes_;
  bool from_bytes_ = false;
};
