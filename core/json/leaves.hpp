// The parts of JSON texts that are regular: strings, numbers, white space.  Made once in a process.
#pragma once

#include <string>
#include <string_view>

#include "json/style.hpp"
#include "json/value_table.hpp"

namespace tokamata::json {

constexpr bool is_blank(char byte) { return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r'; }

inline std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

// Between the quotes: one code point, and all strings.
const ExpressionPtr& code_point_texts(bool any_spelling);
const ExpressionPtr& string_texts(bool any_spelling);
// Numbers in a range; `digits_only`: without fraction and exponent.
ExpressionPtr number_texts(const NumberRange& range, bool integral, bool digits_only, Spelling spelling,
                           bool is_unsigned = false);
inline constexpr std::uint64_t kMostPlainSpellings = 4;  // of one number
// Whether some of them are below zero.
bool has_negative_number(const NumberRange& range, bool integral, bool digits_only);

// A string between its quotes, in plain spelling, and back from any spelling.
std::string spelled_string(std::string_view value);
std::string read_string(std::string_view spelled);

}  // namespace tokamata::json
