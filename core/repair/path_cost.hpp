// What a path of edits costs, and what decides between equal costs.
#pragma once

#include <compare>
#include <cstdint>

namespace tokamata {

// The cost; then the symbols of the input that were not kept; then the symbols written.
struct PathCost {
  std::uint64_t cost = 0;
  std::uint32_t lost = 0, written = 0;
  friend auto operator<=>(const PathCost&, const PathCost&) = default;
  friend PathCost operator+(const PathCost& one, const PathCost& other) {
    return {one.cost + other.cost, one.lost + other.lost, one.written + other.written};
  }
};

}  // namespace tokamata
