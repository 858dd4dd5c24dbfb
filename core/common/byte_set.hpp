// A set of bytes, as 256 bits.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tokamata {

class ByteSet {
 public:
  constexpr ByteSet() = default;

  static constexpr ByteSet range(std::uint8_t low, std::uint8_t high) {
    ByteSet set;
    for (unsigned byte = low; byte <= high; ++byte) set.add(static_cast<std::uint8_t>(byte));
    return set;
  }

  constexpr void add(std::uint8_t byte) { words_[byte >> 6] |= std::uint64_t{1} << (byte & 63); }
  constexpr bool contains(std::uint8_t byte) const { return (words_[byte >> 6] >> (byte & 63)) & 1; }

  // The members modulo 64, in one word.
  constexpr std::uint64_t folded() const { return words_[0] | words_[1] | words_[2] | words_[3]; }
  constexpr bool empty() const { return folded() == 0; }
  constexpr unsigned size() const {
    unsigned total = 0;
    for (std::uint64_t word : words_) total += static_cast<unsigned>(std::popcount(word));
    return total;
  }
  // The least byte of a set that is not empty.
  constexpr std::uint8_t first() const {
    for (unsigned i = 0; i < 4; ++i)
      if (words_[i]) return static_cast<std::uint8_t>(64 * i + static_cast<unsigned>(std::countr_zero(words_[i])));
    return 0;
  }

  // The least member, or non-member, that is at least `from`; 256 where there is none.
  constexpr unsigned next_member(unsigned from) const { return next(from, 0); }
  constexpr unsigned next_non_member(unsigned from) const { return next(from, ~std::uint64_t{0}); }

  // The members that are at least `least`, up to 256.
  constexpr ByteSet from(unsigned least) const {
    ByteSet rest;
    for (unsigned i = least >> 6; i < 4; ++i)
      rest.words_[i] = words_[i] & (i == least >> 6 ? ~std::uint64_t{0} << (least & 63) : ~std::uint64_t{0});
    return rest;
  }

  constexpr bool is_subset_of(const ByteSet& other) const {
    std::uint64_t outside = 0;
    for (std::size_t i = 0; i < 4; ++i) outside |= words_[i] & ~other.words_[i];
    return outside == 0;
  }
  constexpr bool intersects(const ByteSet& other) const {
    std::uint64_t shared = 0;
    for (std::size_t i = 0; i < 4; ++i) shared |= words_[i] & other.words_[i];
    return shared != 0;
  }

  constexpr ByteSet& operator|=(const ByteSet& other) {
    for (std::size_t i = 0; i < 4; ++i) words_[i] |= other.words_[i];
    return *this;
  }
  constexpr ByteSet& operator&=(const ByteSet& other) {
    for (std::size_t i = 0; i < 4; ++i) words_[i] &= other.words_[i];
    return *this;
  }
  constexpr ByteSet without(const ByteSet& other) const {
    ByteSet rest;
    for (std::size_t i = 0; i < 4; ++i) rest.words_[i] = words_[i] & ~other.words_[i];
    return rest;
  }
  friend constexpr ByteSet operator|(ByteSet a, const ByteSet& b) { return a |= b; }
  friend constexpr ByteSet operator&(ByteSet a, const ByteSet& b) { return a &= b; }
  friend constexpr bool operator==(const ByteSet&, const ByteSet&) = default;

  constexpr std::uint64_t hash() const {
    std::uint64_t value = 0x9e3779b97f4a7c15ull;
    for (std::uint64_t word : words_) {
      value = (value ^ word) * 0xff51afd7ed558ccdull;
      value ^= value >> 32;
    }
    return value;
  }

 private:
  constexpr unsigned next(unsigned from, std::uint64_t flip) const {
    for (unsigned i = from >> 6; i < 4; ++i) {
      std::uint64_t word = words_[i] ^ flip;
      if (i == from >> 6) word &= ~std::uint64_t{0} << (from & 63);
      if (word) return 64 * i + static_cast<unsigned>(std::countr_zero(word));
    }
    return 256;
  }

  std::array<std::uint64_t, 4> words_{};
};

struct ByteSetHash {
  std::size_t operator()(const ByteSet& set) const { return set.hash(); }
};

}  // namespace tokamata
