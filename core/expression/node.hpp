// A node of the pool: what one expression is made of, and what is known of its language.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/check.hpp"
#include "common/ids.hpp"
#include "common/lengths.hpp"
#include "expression/kinds.hpp"

namespace tokamata {

// The two numbers that a node holds; which they are, its kind says (Holds).
//
// Not taken: a std::variant.  It would say so by itself, but with it a node has 64 bytes in place of 56, and most of the
// memory of an arena is nodes.  Where checks are on, the accessors of a node check its kind instead.
class Payload {
 public:
  constexpr Payload() = default;
  static constexpr Payload set(std::uint32_t number, std::uint32_t phase = 0) { return {number, phase}; }
  static constexpr Payload state(std::uint32_t automaton, std::uint32_t state) { return {automaton, state}; }
  static constexpr Payload token(std::uint32_t number) { return {number, 0}; }
  static constexpr Payload body(ExpressionId body) { return {body.value, 0}; }
  static constexpr Payload pair(ExpressionId one, ExpressionId other) { return {one.value, other.value}; }
  static constexpr Payload items(std::uint32_t first, std::uint32_t count) { return {first, count}; }
  static constexpr Payload rule(std::uint32_t source, RuleId rule) { return {source, rule.value}; }
  static constexpr Payload choice(std::uint32_t choice) { return {choice, 0}; }

  std::uint64_t bits() const { return (std::uint64_t{first_} << 32) | second_; }
  friend bool operator==(const Payload&, const Payload&) = default;

 private:
  friend struct ExpressionNode;
  constexpr Payload(std::uint32_t first, std::uint32_t second) : first_(first), second_(second) {}

  std::uint32_t first_ = 0, second_ = 0;
};

struct ExpressionNode {
  Kind kind;
  bool nullable : 1 = false;           // accepts the empty text, where what is open is decided here and now
  bool counts_past_reach : 1 = false;  // somewhere counts to more than a token is long
  bool windowed : 1 = false;           // somewhere counts characters to more than that, beside something else
  bool open : 1 = false;               // has a lookaround that sees beyond it
  bool behind : 1 = false;             // has a lookbehind, to be kept up to date while it waits
  bool constrained : 1 = false;        // may be empty without being the empty expression
  bool edges : 1 = false;              // sees the edges of tokens
  bool text : 1 = false;               // all it accepts is valid UTF-8, and no control token
  bool waits : 1 = false;              // has a rule that waits for a choice
  bool rules : 1 = false;              // has a rule
  bool commits : 1 = false;            // a Commit stands in front
  bool by_byte : 1 = false;            // a rule in front keeps what is read, so that no two bytes are alike
  // has an over-approximation of a rule that may accept what the rule does not
  bool unverified : 1 = false;
  std::uint32_t spelled = kUnspelled;  // bytes of a shortest text of single-byte tokens that is sure to be there
  std::uint32_t shortest = 0;          // bytes of a shortest text; at least so many, where it is constrained
  std::uint32_t worst = 0;  // no more than so many bytes, after whatever was read of it; not where constrained
  std::uint32_t depth = 0;  // nesting, tails not counted
  std::uint32_t shape = 0;  // hash of the structure without the counts
  Payload payload = {};
  Count minimum = 0;
  Count maximum = 0;
  // of the bytes that it may begin with, those alike modulo 64 by one bit; the pool sets it
  std::uint64_t firsts = 0;

  static constexpr std::uint32_t kUnspelled = kNoLength;
  static std::uint32_t capped(std::uint64_t length) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(length, kUnspelled));
  }
  bool spellable_by_bytes() const { return spelled < kUnspelled; }
  bool is_skippable() const { return nullable && !open; }
  // If not, its derivative by the byte is empty.
  bool may_begin_with(std::uint8_t byte) const { return (firsts >> (byte % 64)) & 1; }

  // What the payload is; only of kinds that hold it.
  std::uint32_t set() const { return held(Holds::Set).first_; }
  std::uint32_t phase() const { return held(Holds::Set).second_; }
  std::uint32_t automaton() const { return held(Holds::State).first_; }
  std::uint32_t state() const { return held(Holds::State).second_; }
  std::uint32_t token() const { return held(Holds::Token).first_; }
  ExpressionId body() const { return {held(Holds::Body).first_}; }
  ExpressionId head() const { return {held(Holds::Pair).first_}; }
  ExpressionId tail() const { return {held(Holds::Pair).second_}; }
  ExpressionId core() const { return head(); }
  ExpressionId guard() const { return tail(); }
  std::uint32_t first_item() const { return held(Holds::Items).first_; }
  std::uint32_t item_count() const { return held(Holds::Items).second_; }
  std::uint32_t source() const { return held(Holds::RuleOf).first_; }
  RuleId rule() const { return {held(Holds::RuleOf).second_}; }
  std::uint32_t choice() const { return held(Holds::Choice).first_; }
  bool has_items() const { return facts_of(kind).holds == Holds::Items; }

 private:
  const Payload& held(Holds holds) const {
    TOKAMATA_CHECK(facts_of(kind).holds == holds, "a node holds what its kind says");
    return payload;
  }
};

}  // namespace tokamata
