#include "expression/first_byte_classes.hpp"

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

FirstBytes FirstByteClasses::of(ExpressionId expression, std::size_t most) {
  const FirstBytes all = front(expression, most);
  return most == 0 ? FirstBytes{kAllBytes, kAllBytes} : all;
}

FirstBytes FirstByteClasses::front(ExpressionId expression, std::size_t& most) {
  FirstBytes all;
  while (true) {
    if (most == 0) return {kAllBytes, kAllBytes};
    --most;
    const ExpressionNode n = pool_.node(expression);  // a copy: a condition may make nodes
    if (n.behind) return {kAllBytes, leaves_.class_borders()};
    switch (n.kind) {
      case Kind::Empty:
      case Kind::Epsilon:
      case Kind::Stub:
      case Kind::LookAhead:
      case Kind::LookBehind:
      case Kind::ControlToken: return all;
      case Kind::Everything: all.bytes = kAllBytes; return all;
      case Kind::Bytes:
        for (unsigned low = leaves_.byte_set(n).next_member(0), end; low < 256;
             low = leaves_.byte_set(n).next_member(end)) {
          end = leaves_.byte_set(n).next_non_member(low);
          add_range(all, low, end - 1);
        }
        return all;
      case Kind::CodePoints:
        for (auto t = leaves_.automaton(n).begin(n.state()); t != leaves_.automaton(n).end(n.state()); ++t)
          add_range(all, t->low, t->high);
        return all;
      case Kind::Strings:
        for (const auto& t : leaves_.string_automaton(n).transitions(n.state())) add_range(all, t.byte, t.byte);
        return all;
      case Kind::Language: {
        const ByteSet next = leaves_.language(n).next_bytes(n.state());
        for (unsigned byte = next.next_member(0); byte < 256; byte = next.next_member(byte + 1))
          add_range(all, byte, byte);
        return all;
      }
      case Kind::Terminal:
      case Kind::Scope:
      case Kind::Repetition: expression = n.body(); continue;
      case Kind::Complement:
        all.borders |= front(n.body(), most).borders;
        all.bytes = kAllBytes;
        return all;
      case Kind::Guarded: {
        FirstBytes core = front(n.core(), most);
        add_condition(core, front(n.guard(), most));
        add_alternative(all, core);
        return all;
      }
      case Kind::Intersection: {
        FirstBytes common{kAllBytes, {}};
        for (std::uint32_t i = 0; i < n.item_count() && most > 0; ++i)
          add_condition(common, front(pool_.item(n, i), most));
        add_alternative(all, common);
        return all;
      }
      case Kind::Union:
        for (std::uint32_t i = 0; i < n.item_count() && most > 0; ++i)
          add_alternative(all, front(pool_.item(n, i), most));
        return all;
      case Kind::Concatenation: {
        add_alternative(all, front(n.head(), most));
        const ExpressionId guard = lookaround_.condition(n.head());
        if (guard == Pool::kEmpty) return all;
        if (guard != Pool::kEverything) all.borders |= front(guard, most).borders;
        expression = n.tail();
        continue;
      }
      default:
        return {kAllBytes, leaves_.class_borders()};  // what is read is kept elsewhere, or has borders of its own
    }
  }
}

}  // namespace tokamata
