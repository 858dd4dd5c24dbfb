// From bytes to classes of code points: a table for each place inside a code point.
//
// Problem.  Pre-tokenizers see code points, tokens are bytes and may end inside one.  What has been read
// of a code point must be remembered, but only as far as it matters: after E4 the next two bytes decide
// between few classes, and many leads decide alike.
// Example.  With the class of letters and the rest, all leads of the Han block share one place.
// How.  The decision tree of UTF-8 over the classes, equal subtrees made once.  Cost: 150 to 400 places
// for the classes of the tokenizers known.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace tokamata {

// Code points from `first` up to the next range are of one class.
struct ClassRange {
  std::uint32_t first;
  std::uint16_t cls;
};

class CodePoints {
 public:
  static constexpr std::uint16_t kBetween = 0;        // no code point is open
  static constexpr std::uint16_t kDead = 0xFFFF;      // no class, and no place
  static constexpr std::uint16_t kComplete = 0x8000;  // with the class in the other bits
  static constexpr std::uint16_t kMostClasses = 0x7FFF;

  // Ranges in order, the first one from 0; class kDead where no text may have the code point.
  explicit CodePoints(std::span<const ClassRange> ranges);

  // The place after a byte; or kComplete | class; or kDead.
  std::uint16_t next(std::uint16_t place, std::uint8_t byte) const {
    if (place == kBetween) return leads_[byte];
    return (byte & 0xC0) == 0x80 ? rows_[place - 1][byte & 0x3F] : kDead;
  }
  // Places are numbered from kBetween up to before this.
  std::size_t place_count() const { return rows_.size() + 1; }
  std::size_t memory_bytes() const { return sizeof *this + rows_.size() * sizeof(Row); }

 private:
  using Row = std::array<std::uint16_t, 64>;
  std::uint16_t row_of(const Row& row);
  static Row last_row(std::span<const ClassRange> ranges, std::uint32_t first);
  std::uint16_t subtree(std::span<const ClassRange> ranges, std::uint32_t first, unsigned levels);

  std::array<std::uint16_t, 256> leads_{};
  std::vector<Row> rows_;
  std::map<Row, std::uint16_t> known_;
};

}  // namespace tokamata
