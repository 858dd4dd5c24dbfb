// An element of an array that must differ from those before it, while it is written.
#pragma once

#include <cstdint>

#include "common/ids.hpp"
#include "json/branches.hpp"
#include "json/leaves.hpp"

namespace tokamata::json {

// What an element begins as; of a container, whether the text is inside of a string, and there after a backslash.
enum class ElementKind : std::uint8_t { Blank, String, Number, Word, Container, InString, InEscape };

constexpr bool is_container(ElementKind kind) { return kind >= ElementKind::Container; }

// The kind after one more byte.
constexpr ElementKind kind_after(ElementKind kind, std::uint8_t byte) {
  switch (kind) {
    case ElementKind::Container: return byte == '"' ? ElementKind::InString : kind;
    case ElementKind::InString:
      return byte == '"' ? ElementKind::Container : byte == '\\' ? ElementKind::InEscape : kind;
    case ElementKind::InEscape: return ElementKind::InString;
    case ElementKind::Blank: break;
    default: return kind;
  }
  if (is_blank(static_cast<char>(byte))) return kind;
  switch (byte) {
    case '"': return ElementKind::String;
    case '[':
    case '{': return ElementKind::Container;
    case 't':
    case 'f':
    case 'n': return ElementKind::Word;
    default: return ElementKind::Number;
  }
}

struct BegunElement {
  ExpressionId rest;  // what may still be written of it
  SetId set;
  ElementKind kind;
  bool is_settled;  // it can no longer become an earlier element
};

}  // namespace tokamata::json
