#include "json/escapes.hpp"

#include <string>

#include "common/hexadecimal.hpp"
#include "json/json_spelling.hpp"
#include "json/leaves.hpp"

namespace tokamata::json {

namespace {

char lower(char digit) { return digit >= 'A' && digit <= 'F' ? static_cast<char>(digit | 0x20) : digit; }

bool is_digit_place(std::size_t place) { return place % 6 >= 2; }  // of \uXXXX\uXXXX

std::string spelled_unit(std::uint32_t unit) { return "\\u" + hexadecimal(unit, 4); }

struct Spellings {
  std::string digits;        // in lower case
  std::string short_escape;  // or empty
};

Spellings spellings_of(std::uint32_t code_point) {
  Spellings all;
  if (code_point < 0x10000) {
    all.digits = spelled_unit(code_point);
  } else {
    all.digits = spelled_unit(0xD800 + ((code_point - 0x10000) >> 10));
    all.digits += spelled_unit(0xDC00 + ((code_point - 0x10000) & 0x3FF));
  }
  if (const char escape = json_short_escape(code_point, true)) all.short_escape = {'\\', escape};
  return all;
}

bool begins_digits(const std::string& digits, std::string_view begun) {
  if (begun.size() > digits.size()) return false;
  for (std::size_t place = 0; place < begun.size(); ++place)
    if ((is_digit_place(place) ? lower(begun[place]) : begun[place]) != digits[place]) return false;
  return true;
}

}  // namespace

std::optional<SpelledCodePoint> code_point_at(std::string_view spelled, std::size_t at) {
  const auto lead = static_cast<std::uint8_t>(spelled[at]);
  if (lead == '"' || (lead >= 0x80 && lead < 0xC0)) return std::nullopt;
  if (lead == '\\') {
    const char kind = spelled[at + 1];
    if (kind == 'u') return SpelledCodePoint{hexadecimal_value(spelled.substr(at + 2, 4)), 6};
    constexpr std::string_view kShort = "\"\\\b\f\n\r\t";
    for (const char code_point : kShort)
      if (json_short_escape(static_cast<std::uint8_t>(code_point), false) == kind)
        return SpelledCodePoint{static_cast<std::uint8_t>(code_point), 2};
    return std::nullopt;
  }
  const std::size_t size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  std::uint32_t value = size == 1 ? lead : lead & (0xFFu >> (size + 1));
  for (std::size_t rest = 1; rest < size; ++rest)
    value = value << 6 | (static_cast<std::uint8_t>(spelled[at + rest]) & 0x3F);
  return SpelledCodePoint{value, size};
}

std::optional<std::size_t> bytes_left_of_escape(std::uint32_t code_point, std::string_view begun) {
  const Spellings all = spellings_of(code_point);
  if (all.short_escape.starts_with(begun)) return all.short_escape.size() - begun.size();
  if (begins_digits(all.digits, begun)) return all.digits.size() - begun.size();
  return std::nullopt;
}

std::optional<std::uint32_t> code_point_of_escape(std::string_view escape) {
  if (escape.size() < 2) return std::nullopt;
  if (escape[1] == 'u') {
    const bool is_pair = escape.size() > 3 && lower(escape[2]) == 'd' && hexadecimal_value(escape.substr(3, 1)) >= 8;
    if (escape.size() < (is_pair ? 12u : 6u)) return std::nullopt;
  }
  return code_point_at(spelled_string(read_string(escape)), 0)->value;
}

ByteSet next_bytes_of_escape(std::uint32_t code_point, std::string_view begun) {
  const Spellings all = spellings_of(code_point);
  ByteSet bytes;
  if (begun.size() < all.short_escape.size() && all.short_escape.starts_with(begun))
    bytes.add(static_cast<std::uint8_t>(all.short_escape[begun.size()]));
  if (begun.size() < all.digits.size() && begins_digits(all.digits, begun)) {
    const char next = all.digits[begun.size()];
    bytes.add(static_cast<std::uint8_t>(next));
    if (is_digit_place(begun.size()) && next >= 'a') bytes.add(static_cast<std::uint8_t>(next - 'a' + 'A'));
  }
  return bytes;
}

}  // namespace tokamata::json
