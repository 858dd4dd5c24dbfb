// UTF-8 by its definition.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "trees.hpp"

namespace oracle {

// The code points whose encoding begins with these bytes, as an interval that may hold surrogates;
// nothing where no encoding does.
inline std::optional<Range> code_points_with_prefix(const std::string& bytes) {
  const auto lead = static_cast<unsigned char>(bytes.at(0));
  std::size_t length;
  std::uint32_t value, least;
  if (lead < 0x80) length = 1, value = lead, least = 0;
  else if (lead >= 0xC0 && lead < 0xE0) length = 2, value = lead & 0x1Fu, least = 0x80;
  else if (lead >= 0xE0 && lead < 0xF0) length = 3, value = lead & 0x0Fu, least = 0x800;
  else if (lead >= 0xF0 && lead < 0xF8) length = 4, value = lead & 0x07u, least = 0x10000;
  else return std::nullopt;
  if (bytes.size() > length) return std::nullopt;
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if ((byte & 0xC0) != 0x80) return std::nullopt;
    value = (value << 6) | (byte & 0x3Fu);
  }
  const unsigned shift = static_cast<unsigned>(6 * (length - bytes.size()));
  const std::uint32_t low = std::max(value << shift, least);
  const std::uint32_t high = std::min((value << shift) + ((1u << shift) - 1), 0x10FFFFu);
  if (low > high) return std::nullopt;
  return Range{low, high};
}

inline bool is_whole_code_point(const std::string& bytes) {
  const auto lead = static_cast<unsigned char>(bytes.at(0));
  return bytes.size() == (lead < 0x80 ? 1u : lead < 0xE0 ? 2u : lead < 0xF0 ? 3u : 4u);
}

// Whether a code point that is no surrogate lies in both.
inline bool meets(const std::vector<Range>& ranges, const Range& other) {
  for (const auto& [low, high] : ranges) {
    const std::uint32_t from = std::max(low, other.first), to = std::min(high, other.second);
    if (from <= to && (from < 0xD800 || to > 0xDFFF)) return true;
  }
  return false;
}

inline std::string encoded(std::uint32_t code_point) {
  const auto byte = [](std::uint32_t value) { return static_cast<char>(static_cast<unsigned char>(value)); };
  if (code_point < 0x80) return {byte(code_point)};
  if (code_point < 0x800) return {byte(0xC0 | (code_point >> 6)), byte(0x80 | (code_point & 0x3F))};
  if (code_point < 0x10000)
    return {byte(0xE0 | (code_point >> 12)), byte(0x80 | ((code_point >> 6) & 0x3F)), byte(0x80 | (code_point & 0x3F))};
  return {byte(0xF0 | (code_point >> 18)), byte(0x80 | ((code_point >> 12) & 0x3F)),
          byte(0x80 | ((code_point >> 6) & 0x3F)), byte(0x80 | (code_point & 0x3F))};
}

// The places between two code points of a text that is UTF-8, its beginning and its end among them.
inline std::vector<std::size_t> code_point_edges(const std::string& whole) {
  std::vector<std::size_t> edges;
  for (std::size_t place = 0; place < whole.size(); ++place)
    if ((static_cast<unsigned char>(whole[place]) & 0xC0) != 0x80) edges.push_back(place);
  edges.push_back(whole.size());
  return edges;
}

}  // namespace oracle
