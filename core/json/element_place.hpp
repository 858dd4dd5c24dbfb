// Where a JSON text stands that is under way, and what other values have at the same place.
//
// Example.  [{"b": 1, "a": ["x", "ab  stands inside a string, at item 0, member "a", item 1.  Of the canonical value
// [{"a":["x","abc"],"c":null}]  that is  "abc" .
// Cost.  Linear in the text, and for other values in their texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tokamata::json {

struct ElementPlace {
  enum class Kind : std::uint8_t {
    Value,   // a value or a name begins, blanks in front of it included
    String,  // inside of a string, which may be a name
    Number,
    Word,
    Mark,  // a bracket, a comma or a colon comes
  };
  // The item of an array; or the member of an object, by its name in plain spelling, quotes included.
  using Step = std::variant<std::size_t, std::string>;

  Kind kind = Kind::Value;
  std::vector<Step> path;
  bool is_name = false;    // the place is that of the names of the object at the end of the path
  std::string_view begun;  // of the string, number or word

  std::vector<std::size_t> opened;  // where the containers begin that are open

  // Adds what a value in canonical form has at this place: one value, all names, or nothing.
  void add_from(std::string_view canonical, std::vector<std::string_view>& found) const;
};

// Of a container that is not complete, without blanks in front of it.
ElementPlace place_in(std::string_view begun);

// Whether all elements or members of such a container are complete, so that a comma or its bracket comes.
bool holds_complete_items(std::string_view begun);

}  // namespace tokamata::json
