// Hexadecimal digits, in lower case where they are written; and bytes as a person reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tokamata {

// The last digits of a number.
inline std::string hexadecimal(std::uint64_t number, std::size_t digits) {
  std::string text(digits, '0');
  for (std::size_t i = digits; i-- > 0; number >>= 4) text[i] = "0123456789abcdef"[number & 15];
  return text;
}

// Of digits in either case.
inline std::uint32_t hexadecimal_value(std::string_view digits) {
  std::uint32_t value = 0;
  for (const char digit : digits)
    value = 16 * value + static_cast<std::uint32_t>(digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10);
  return value;
}

// An escape for a byte that is not printable.
inline std::string escaped_byte(std::uint8_t byte) {
  switch (byte) {
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    default: return "\\x" + hexadecimal(byte, 2);
  }
}

}  // namespace tokamata
