// The byte classes of one expression: which bytes it may begin with, and which of them it does not distinguish.
//
// Problem.  A search for a shortest text takes a derivative for each byte class.  The classes of a pattern are those of
// all its parts together: 137 for JSON, whose names distinguish all of ASCII, and 256 with a bytewise pattern beside.
// Most expressions distinguish five or ten.
// How.  A derivative reads the leaves at the front of an expression and nothing else.  So two bytes that no such leaf
// distinguishes have the same derivative.  The walk is that of derivative.cpp: on through what may be skipped.
// Example.  [0-9A-Z]{8} & ~(00.*): the classes are 0, 1 to 9, A to Z; the rest leads nowhere.
// Cost.  Linear in the leaves at the front, less than a derivative of which nothing is remembered.

#include "expression/derivatives.hpp"

namespace tokamata {

namespace {

constexpr auto kAllBytes = ByteSet::range(0x00, 0xFF);

void add_range(FirstBytes& all, unsigned low, unsigned high) {
  for (unsigned byte = low; byte <= high; ++byte) all.bytes.add(static_cast<std::uint8_t>(byte));
  all.borders.add(static_cast<std::uint8_t>(low));
  if (high < 0xFF) all.borders.add(static_cast<std::uint8_t>(high + 1));
}

void add_alternative(FirstBytes& all, const FirstBytes& alternative) {
  all.bytes |= alternative.bytes;
  all.borders |= alternative.borders;
}

// Both must read the byte.
void add_condition(FirstBytes& all, const FirstBytes& condition) {
  all.bytes &= condition.bytes;
  all.borders |= condition.borders;
}

}  // namespace

ByteSet FirstBytes::representatives() const {
  ByteSet result;
  bool is_new = true;
  for (unsigned value = bytes.next_member(0), before = 0; value < 256;
       before = value + 1, value = bytes.next_member(before)) {
    is_new = is_new || borders.next_member(before) <= value;
    if (is_new) result.add(static_cast<std::uint8_t>(value));
    is_new = false;
  }
  return result;
}

FirstBytes Derivatives::first_byte_classes(ExpressionId expression, std::size_t most) {
  const FirstBytes all = add_first_bytes(expression, most);
  return most == 0 ? FirstBytes{kAllBytes, kAllBytes} : all;
}

FirstBytes Derivatives::add_first_bytes(ExpressionId expression, std::size_t& most) {
  FirstBytes all;
  while (true) {
    if (most == 0) return {kAllBytes, kAllBytes};
    --most;
    const ExpressionNode n = node(expression);  // a copy: a condition may make nodes
    if (n.behind) return {kAllBytes, class_borders()};
    switch (n.kind) {
      case Kind::Empty:
      case Kind::Epsilon:
      case Kind::Stub:
      case Kind::LookAhead:
      case Kind::LookBehind:
      case Kind::ControlToken: return all;
      case Kind::Everything: all.bytes = kAllBytes; return all;
      case Kind::Bytes:
        for (unsigned low = byte_set(n).next_member(0), end; low < 256; low = byte_set(n).next_member(end)) {
          end = byte_set(n).next_non_member(low);
          add_range(all, low, end - 1);
        }
        return all;
      case Kind::CodePoints:
        for (auto t = automaton(n).begin(n.second); t != automaton(n).end(n.second); ++t)
          add_range(all, t->low, t->high);
        return all;
      case Kind::Strings:
        for (const auto& t : strings_[n.first].automaton->transitions(n.second)) add_range(all, t.byte, t.byte);
        return all;
      case Kind::Language: {
        const ByteSet next = languages_[n.first].automaton->next_bytes(n.second);
        for (unsigned byte = next.next_member(0); byte < 256; byte = next.next_member(byte + 1))
          add_range(all, byte, byte);
        return all;
      }
      case Kind::Terminal:
      case Kind::Scope:
      case Kind::Repetition: expression = n.body(); continue;
      case Kind::Complement:
        all.borders |= add_first_bytes(n.body(), most).borders;
        all.bytes = kAllBytes;
        return all;
      case Kind::Guarded: {
        FirstBytes core = add_first_bytes(n.core(), most);
        add_condition(core, add_first_bytes(n.guard(), most));
        add_alternative(all, core);
        return all;
      }
      case Kind::Intersection: {
        FirstBytes common{kAllBytes, {}};
        for (std::uint32_t i = 0; i < n.second && most > 0; ++i)
          add_condition(common, add_first_bytes(item(n, i), most));
        add_alternative(all, common);
        return all;
      }
      case Kind::Union:
        for (std::uint32_t i = 0; i < n.second && most > 0; ++i)
          add_alternative(all, add_first_bytes(item(n, i), most));
        return all;
      case Kind::Concatenation: {
        add_alternative(all, add_first_bytes(n.head(), most));
        const ExpressionId guard = condition(n.head());
        if (guard == kEmpty) return all;
        if (guard != kEverything) all.borders |= add_first_bytes(guard, most).borders;
        expression = n.tail();
        continue;
      }
      default: return {kAllBytes, class_borders()};  // what is read is kept elsewhere, or has borders of its own
    }
  }
}

}  // namespace tokamata
