// What everything in json/ works with and pays from.
#pragma once

#include <string_view>

#include "expression/arena.hpp"

namespace tokamata::json {

struct Work {
  Arena& arena;
  Budget& budget;
};

// Exactly this text.
inline ExpressionId literal(std::string_view text, const Work& work) {
  ExpressionId result = Arena::kEpsilon;
  for (auto place = text.rbegin(); place != text.rend(); ++place) {
    const auto byte = static_cast<std::uint8_t>(*place);
    result = work.arena.concatenate(work.arena.bytes(ByteSet::range(byte, byte)), result);
  }
  return result;
}

}  // namespace tokamata::json
