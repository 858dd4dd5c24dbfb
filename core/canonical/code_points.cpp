#include "canonical/code_points.hpp"

#include <algorithm>
#include <stdexcept>

namespace tokamata {

namespace {

// The range that holds a code point.
auto range_of(std::span<const ClassRange> ranges, std::uint32_t code_point) {
  return std::ranges::upper_bound(ranges, code_point, {}, &ClassRange::first) - 1;
}

// Whether [first, first + size) is of one class.
bool is_uniform(std::span<const ClassRange> ranges, std::uint32_t first, std::uint32_t size) {
  const auto after = range_of(ranges, first) + 1;
  return after == ranges.end() || after->first >= first + size;
}

std::uint16_t complete(std::uint16_t cls) {
  return cls == CodePoints::kDead ? cls : static_cast<std::uint16_t>(CodePoints::kComplete | cls);
}

}  // namespace

CodePoints::CodePoints(std::span<const ClassRange> ranges) {
  if (ranges.empty() || ranges[0].first != 0)
    throw std::invalid_argument("classes of code points: the first range is not at 0");
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    if (byte < 0x80) leads_[byte] = complete(range_of(ranges, byte)->cls);
    else if (byte >= 0xC2 && byte < 0xE0) leads_[byte] = subtree(ranges, (byte & 0x1F) << 6, 1);
    else if (byte >= 0xE0 && byte < 0xF0) leads_[byte] = subtree(ranges, (byte & 0x0F) << 12, 2);
    else if (byte >= 0xF0 && byte < 0xF5) leads_[byte] = subtree(ranges, (byte & 0x07) << 18, 3);
    else leads_[byte] = kDead;
  }
  known_.clear();
}

std::uint16_t CodePoints::row_of(const Row& row) {
  if (std::ranges::all_of(row, [](std::uint16_t value) { return value == kDead; })) return kDead;
  const auto [place, is_new] = known_.try_emplace(row, static_cast<std::uint16_t>(rows_.size() + 1));
  if (is_new) {
    if (rows_.size() + 1 >= kComplete) throw std::length_error("classes of code points: too many places");
    rows_.push_back(row);
  }
  return place->second;
}

// For the last byte, after which the 64 code points from `first` on are whole.
CodePoints::Row CodePoints::last_row(std::span<const ClassRange> ranges, std::uint32_t first) {
  Row row;
  auto range = range_of(ranges, first);
  for (std::uint32_t i = 0; i < 64; ++i) {
    while (range + 1 != ranges.end() && (range + 1)->first <= first + i) ++range;
    row[i] = complete(range->cls);
  }
  return row;
}

// The place from which `levels` bytes are still to come, for the code points from `first` on.
std::uint16_t CodePoints::subtree(std::span<const ClassRange> ranges, std::uint32_t first, unsigned levels) {
  if (levels == 1) return row_of(last_row(ranges, first));
  const std::uint32_t step = 1u << (6 * (levels - 1));
  Row row;
  for (std::uint32_t i = 0; i < 64; ++i) {
    const std::uint32_t low = first + i * step, high = low + step - 1;
    const bool is_overlong = (levels == 2 && high < 0x800) || (levels == 3 && high < 0x10000);
    const bool is_surrogate = low >= 0xD800 && high <= 0xDFFF;
    if (is_overlong || is_surrogate || low > 0x10FFFF) {
      row[i] = kDead;
    } else if (i > 0 && row[i - 1] != kDead && is_uniform(ranges, low - step, 2 * step) && low - step >= 0x10000) {
      row[i] = row[i - 1];  // large blocks of one class, beyond the first plane
    } else {
      row[i] = subtree(ranges, low, levels - 1);
    }
  }
  return row_of(row);
}

}  // namespace tokamata
