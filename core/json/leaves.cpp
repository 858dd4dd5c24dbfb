#include "json/leaves.hpp"

#include <array>

#include "common/hexadecimal.hpp"
#include "expression/expression.hpp"
#include "json/json_spelling.hpp"
#include "json/number_set.hpp"
#include "json/number_states.hpp"

namespace tokamata::json {

const ExpressionPtr& code_point_texts(bool any_spelling) {
  static const std::array<ExpressionPtr, 2> made = [] {
    const ExpressionPtr all = Expression::code_points({{0, 0x10FFFF}});
    return std::array{spelled_in_json(all, false), spelled_in_json(all, true)};
  }();
  return made[any_spelling ? 1 : 0];
}

const ExpressionPtr& string_texts(bool any_spelling) {
  static const std::array<ExpressionPtr, 2> made{Expression::repetition(code_point_texts(false), 0, kUnbounded, -1),
                                                 Expression::repetition(code_point_texts(true), 0, kUnbounded, -1)};
  return made[any_spelling ? 1 : 0];
}

// ---- strings ----------------------------------------------------------------------------------

namespace {

void push_utf8(std::uint32_t point, std::string& out) {
  if (point < 0x80) {
    out.push_back(static_cast<char>(point));
    return;
  }
  const unsigned rest = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  const unsigned lead = rest == 1 ? 0xC0 : rest == 2 ? 0xE0 : 0xF0;
  out.push_back(static_cast<char>(lead | (point >> (6 * rest))));
  for (unsigned i = rest; i-- > 0;) out.push_back(static_cast<char>(0x80 | ((point >> (6 * i)) & 0x3F)));
}

}  // namespace

std::string spelled_string(std::string_view value) {
  std::string text;
  for (const char c : value) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (json_stands_for_itself(byte)) {
      text.push_back(c);
    } else if (const char escape = json_short_escape(byte, false)) {
      text.push_back('\\');
      text.push_back(escape);
    } else {
      text += "\\u" + hexadecimal(byte, 4);
    }
  }
  return text;
}

// Of what an automaton of spelled strings has accepted, so that it is well formed.
std::string read_string(std::string_view spelled) {
  std::string value;
  for (std::size_t at = 0; at < spelled.size(); ++at) {
    if (spelled[at] != '\\') {
      value.push_back(spelled[at]);
      continue;
    }
    switch (const char escape = spelled[++at]) {
      case 'b': value.push_back('\b'); break;
      case 'f': value.push_back('\f'); break;
      case 'n': value.push_back('\n'); break;
      case 'r': value.push_back('\r'); break;
      case 't': value.push_back('\t'); break;
      case 'u': {
        std::uint32_t point = hexadecimal_value(spelled.substr(at + 1, 4));
        at += 4;
        if (point >= 0xD800 && point < 0xDC00) {
          point = 0x10000 + ((point - 0xD800) << 10) + (hexadecimal_value(spelled.substr(at + 3, 4)) - 0xDC00);
          at += 6;
        }
        push_utf8(point, value);
        break;
      }
      default: value.push_back(escape);
    }
  }
  return value;
}

// ---- numbers ----------------------------------------------------------------------------------

namespace {

std::shared_ptr<const NumberSet> number_set(const NumberRange& range, bool integral, bool digits_only,
                                            Spelling spelling, bool is_unsigned) {
  return std::make_shared<const NumberSet>(NumberSet::Description{range.minimum, range.maximum, range.multiple_of,
                                                                  range.exclusive_minimum, range.exclusive_maximum,
                                                                  integral, digits_only, spelling, is_unsigned});
}

}  // namespace

ExpressionPtr number_texts(const NumberRange& range, bool integral, bool digits_only, Spelling spelling,
                           bool is_unsigned) {
  return Expression::language(number_set(range, integral, digits_only, spelling, is_unsigned));
}

bool has_negative_number(const NumberRange& range, bool integral, bool digits_only) {
  if (!range.minimum) return true;
  if (!range.minimum->starts_with('-')) return false;
  return NumberStates(number_set(range, integral, digits_only, Spelling::Natural, false)).has_negative();
}

}  // namespace tokamata::json
