// The kinds of expressions, and what is so of every node of a kind: one table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

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

// What the two numbers of a node are.
enum class Holds : std::uint8_t {
  Nothing,
  Set,     // of bytes; of a OneToken, and how much of the token was read
  State,   // of an automaton of leaves.hpp
  Token,   // a control token
  Body,    // an expression
  Pair,    // two expressions: head and tail, or core and guard
  Items,   // a list of expressions
  RuleOf,  // a rule of a set
  Choice,  // that a text made
};

// How a node reads a symbol.
enum class Reads : std::uint8_t {
  Nothing,
  AsLeaf,   // by itself
  AsWhole,  // each of its parts reads it: these see their own text alone, or stand where nothing follows
  InParts,  // some of its parts, or its rule, read it
};

struct KindFacts {
  Holds holds = Holds::Nothing;
  Reads reads = Reads::Nothing;
};

inline constexpr std::array<KindFacts, 24> kKinds = {{
    // by number
    {},                               // Empty
    {},                               // Epsilon
    {},                               // Stub
    {Holds::Nothing, Reads::AsLeaf},  // Everything
    {Holds::Set, Reads::AsLeaf},      // Bytes
    {Holds::State, Reads::AsLeaf},    // CodePoints
    {Holds::State, Reads::AsLeaf},    // Strings
    {Holds::State, Reads::AsLeaf},    // Language
    {Holds::Token, Reads::AsLeaf},    // ControlToken
    {Holds::Set, Reads::AsLeaf},      // OneToken
    {Holds::Pair, Reads::InParts},    // Concatenation
    {Holds::Items, Reads::InParts},   // Union
    {Holds::Body, Reads::InParts},    // Repetition
    {Holds::Items, Reads::AsWhole},   // Intersection
    {Holds::Body, Reads::AsWhole},    // Complement
    {Holds::Body, Reads::Nothing},    // LookAhead
    {Holds::Body, Reads::Nothing},    // LookBehind
    {Holds::Body, Reads::AsWhole},    // Scope
    {Holds::Pair, Reads::AsWhole},    // Guarded
    {Holds::Body, Reads::InParts},    // Terminal
    {Holds::RuleOf, Reads::InParts},  // Rule
    {Holds::Choice, Reads::Nothing},  // Commit
    {},                               // Unverified
    {Holds::State, Reads::AsLeaf},    // Until
}};

constexpr const KindFacts& facts_of(Kind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

static_assert(facts_of(Kind::Guarded).holds == Holds::Pair && facts_of(Kind::Until).reads == Reads::AsLeaf);

}  // namespace tokamata
