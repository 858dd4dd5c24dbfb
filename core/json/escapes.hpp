// The ways to write one code point in a JSON string, byte by byte.
//
// Problem.  A declared name may be spelled in any way that JSON allows: `a/b` as `a\/b` or `\u0061/b`.  While an escape
// is read, it must be known which code points it can still become.
// Example.  After  \u00  the code point U+0061 has two more bytes, `61`.
// How.  Every escape of a code point is listed: a short one, and \uXXXX with digits of either case, as a pair of
// surrogates beyond U+FFFF.  No escape of a code point begins one of another, so that a whole escape stands for one
// code point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/byte_set.hpp"

namespace tokamata::json {

struct SpelledCodePoint {
  std::uint32_t value;
  std::size_t size;  // in bytes
};

// The code point that begins at a byte of a string in plain spelling; nothing at its closing quote, and within a code
// point.
std::optional<SpelledCodePoint> code_point_at(std::string_view spelled, std::size_t at);

// How many bytes are missing at least, after the first bytes of an escape; nothing if they begin none of the code
// point.
std::optional<std::size_t> bytes_left_of_escape(std::uint32_t code_point, std::string_view begun);

// The bytes that may follow these.
ByteSet next_bytes_of_escape(std::uint32_t code_point, std::string_view begun);

// The code point that a whole escape stands for; nothing while digits or the second of two surrogates are missing.
std::optional<std::uint32_t> code_point_of_escape(std::string_view escape);

}  // namespace tokamata::json
