// Distinct types for the numbers that name things, so that one cannot be passed for another.
#pragma once

#include <cstdint>
#include <functional>

namespace tokamata {

template <class Tag>
struct Id {
  std::uint32_t value = 0;

  friend bool operator==(Id, Id) = default;
  friend auto operator<=>(Id, Id) = default;
};

using ExpressionId = Id<struct ExpressionTag>;  // a normal form in an Arena
using StateId = Id<struct StateTag>;            // a state of a ByteAutomaton
using NodeId = Id<struct NodeTag>;              // a node of a TokenTrie
using TokenId = Id<struct TokenTag>;            // an entry of the vocabulary, a column of the logits
using RuleId = Id<struct RuleTag>;              // a rule of a set of Rules

// What an automaton reads: a byte, the edge between two tokens, or a control token that the pattern
// names, in the order of their first mention.
struct Symbol {
  std::uint32_t value = 0;

  static constexpr std::uint32_t kBytes = 256;
  constexpr Symbol(std::uint8_t byte) : value(byte) {}  // NOLINT: a byte is a symbol
  static constexpr Symbol edge() { return Symbol(kBytes, 0); }
  static constexpr Symbol control(std::uint32_t index) { return Symbol(kBytes + 1 + index, 0); }

  constexpr bool is_byte() const { return value < kBytes; }
  constexpr std::uint8_t byte() const { return static_cast<std::uint8_t>(value); }
  friend constexpr bool operator==(Symbol, Symbol) = default;

 private:
  constexpr Symbol(std::uint32_t number, int) : value(number) {}
};

}  // namespace tokamata

template <class Tag>
struct std::hash<tokamata::Id<Tag>> {
  std::size_t operator()(tokamata::Id<Tag> id) const { return std::hash<std::uint32_t>()(id.value); }
};
