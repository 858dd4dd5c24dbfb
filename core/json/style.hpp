// How a JSON text is written: what may stand between its parts, in what order members come, how values are spelled.
#pragma once

#include <cstdint>

namespace tokamata::json {

enum class Whitespace : std::uint8_t { Compact, Natural, Any };
enum class PropertyOrder : std::uint8_t { Schema, Any };
enum class Spelling : std::uint8_t { Plain, Natural, Any };

struct Style {
  Whitespace whitespace = Whitespace::Natural;
  PropertyOrder order = PropertyOrder::Schema;
  Spelling spelling = Spelling::Natural;
  std::uint32_t most_blanks = ~std::uint32_t{0};  // one after the other
};

}  // namespace tokamata::json
