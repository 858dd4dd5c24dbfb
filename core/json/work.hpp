// What everything in json/ works with and pays from.
#pragma once

#include <string_view>

#include "expression/arena.hpp"

namespace tokamata::json {

struct Work {
  Arena& arena;
  Budget& budget;
};

// Functions for the alternatives of a variant.
template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

// Exactly this text.
inline ExpressionId literal(std::string_view text, const Work& work) {
  ExpressionId result = Pool::kEpsilon;
  for (auto place = text.rbegin(); place != text.rend(); ++place) {
    const auto byte = static_cast<std::uint8_t>(*place);
    result = work.arena.forms().concatenate(work.arena.forms().bytes(ByteSet::range(byte, byte)), result);
  }
  return result;
}

inline bool has_text(ExpressionId language, std::string_view text, const Work& work) {
  for (const char byte : text)
    language = work.arena.derivatives().derivative(language, static_cast<std::uint8_t>(byte), work.budget);
  return work.arena.pool().node(language).nullable;
}

}  // namespace tokamata::json
