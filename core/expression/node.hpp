// A node of the pool: what one expression is made of, and what is known of its language.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/ids.hpp"
#include "common/lengths.hpp"

namespace tokamata {

// Keys of segment files hold these numbers (analyses.cpp): a new kind gets the next one, and none gets another.
enum class Kind : std::uint8_t {
  Empty = 0,
  Epsilon = 1,
  Stub = 2,
  Everything = 3,
  Bytes = 4,
  CodePoints = 5,
  Strings = 6,
  Language = 7,
  ControlToken = 8,
  OneToken = 9,
  Concatenation = 10,
  Union = 11,
  Repetition = 12,
  Intersection = 13,
  Complement = 14,
  LookAhead = 15,
  LookBehind = 16,
  Scope = 17,
  Guarded = 18,
  Terminal = 19,
  Rule = 20,
  Commit = 21,
  Unverified = 22,
  Until = 23,
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
  // Bytes: set; CodePoints, Strings, Language, Until: automaton; ControlToken: number; OneToken: set; Concatenation:
  // head; Union, Intersection: offset; Guarded: core; Rule: source; Commit: choice; others: body.
  std::uint32_t first = 0;
  // CodePoints, Strings, Language: state; Until: position; OneToken: phase; Concatenation: tail; Union, Intersection:
  // length; Guarded: guard; Rule: number.
  std::uint32_t second = 0;
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

  ExpressionId head() const { return {first}; }
  ExpressionId tail() const { return {second}; }
  ExpressionId body() const { return {first}; }
  ExpressionId core() const { return {first}; }
  ExpressionId guard() const { return {second}; }
  RuleId rule() const { return {second}; }
  bool has_items() const { return kind == Kind::Union || kind == Kind::Intersection; }
};

}  // namespace tokamata
