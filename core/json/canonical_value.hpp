// One text for each JSON value, so that equal values are equal texts: 1 is 1.0, objects have no order.
//
// Example.  {"b": [1.50], "a": "\u0061"}  is  {"a":"a","b":[15e-1]}.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "json/value_table.hpp"

namespace tokamata::json {

// Of a text that is JSON, with white space around it or not.
std::string canonical_value(std::string_view text);

// The type of a value in this form.
Type type_of(std::string_view canonical);

// The elements or members of a container, or of the beginning of one, that are complete: none that may still grow.
std::vector<std::string_view> complete_items(std::string_view begun);

// A node for the value alone, given in this form.
ValueNode add_constant(std::string_view canonical, ValueTable& table);

// The width of the indents in a part of a JSON text, whose outermost lines are `depth` deep: 1 to 8 spaces, 9 for a
// tab, 0 where no line is indented (Indent in layout.hpp).
std::uint8_t width_of_indents(std::string_view text, std::uint32_t depth);

}  // namespace tokamata::json
