// Rules: nonterminals whose right-hand sides are made lazily.
//
// Problem.  A JSON value may hold JSON values, as deep as the input goes; no finite set of regular
// expressions says that.  A reference to a rule inside a concatenation does: `rule · continuation` is the
// stack of a push-down automaton, a chain of hash-consed continuations that many states share.
// Example.  V = [ ] | [ V (, V)* ] | 1.  After "[[1" the state is  rest-of-list · rest-of-list.
// How.  The arena asks a set of rules for the derivative of a rule, which is an expression over other
// rules, and puts the continuation after it.  Nothing of a rule is made before its first byte is read.
//
// Contract.
//   - A rule accepts some text, and never the empty one; a rule of no text is not made (the expression
//     is Arena::kEmpty there).  So liveness costs nothing: what is not kEmpty lives.
//   - Derivatives are functions of rule and byte alone; equal rules have equal numbers.
// A rule may *wait* for a choice that the text makes once, such as the width of its indents.  Where it is made,
// a Commit node stands in the expression, and all that follows becomes what it is under that choice.
//
// What a text has written may decide what comes much later: that a name is not written twice.  An *over-approximation*
// of a rule forgets that.  It accepts at least the texts of the rule, in finitely many states, so that masks can be made
// of it.  What it may accept wrongly is *unverified*: the rule itself must judge it.
//
// Source.  Derivatives of context-free languages, Might, Darais and Spiewak 2011, where rules are not left
// recursive; chains of continuations as in graph-structured stacks, Tomita 1985.
// Not taken: a push-down automaton beside the expressions (a second kind of engine, and no intersection).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/byte_set.hpp"
#include "common/ids.hpp"
#include "common/limits.hpp"
#include "common/memory_account.hpp"

namespace tokamata {

class Arena;

// Texts as a tree of bytes, which is walked along the trie of a vocabulary: no further than tokens go.
class TextTree {
 public:
  class Walk {
   public:
    // Goes down by a byte, or says that nothing is there: then neither are its `leave` and what is below.
    virtual bool enter(std::uint8_t byte) = 0;
    virtual void leave() = 0;
    // Something is to be said of the text that was entered, and of all that begin with it.
    virtual void mark(bool with_longer) = 0;

   protected:
    ~Walk() = default;
  };
  virtual ~TextTree() = default;
  virtual void walk(Walk& walk) const = 0;
};

// The texts of a tree, each after the same bytes.
struct TextsAfter {
  std::string lead;
  std::shared_ptr<const TextTree> tree;
};

// What stands in for an alternative of an expression.  It may accept too much
//   - where it is unverified;
//   - where a text is marked in `refused`: through this alternative no text begins so;
//   - where a text is marked in `unverified`: the rule itself must say whether some text begins so.
struct Approximation {
  ExpressionId expression;
  std::vector<TextsAfter> refused = {}, unverified = {};
  bool is_plain() const { return refused.empty() && unverified.empty(); }
};

class RememberingRules;

// The rules of one pattern within one arena; made by a RuleSet.  What is here every set has; what only sets have whose rules
// remember what was written is in RememberingRules.
class Rules : public CountedObject {
 public:
  struct About {
    std::uint32_t shortest;  // no text is shorter, in bytes
    std::uint32_t spelled;   // some text of so many bytes has a token for every byte; or kUnspelled
    bool waits;              // for a choice
    bool unverified = false;
    bool by_byte = false;    // it keeps what is read
    bool by_tokens = false;  // `spelled` is so though the vocabulary may lack bytes of the pattern
  };

  // The choice by which all that follows becomes unverified; others belong to the rules.
  static constexpr std::uint32_t kUnverified = 1 << 16;

  explicit Rules(std::uint32_t source) : source_(source) {}
  virtual ~Rules() = default;
  Rules(const Rules&) = delete;
  Rules& operator=(const Rules&) = delete;

  // Whether alternatives that begin with one rule are joined: r·s beside r·t is r·(s|t).
  virtual bool joins() const { return false; }
  // All of the pattern.
  virtual ExpressionId start(Arena& arena, Budget& budget) = 0;
  virtual About about(RuleId rule) const = 0;
  virtual ExpressionId derivative(RuleId rule, std::uint8_t byte, Arena& arena, Budget& budget) = 0;
  // The bytes that the texts of a rule begin with.
  virtual ByteSet first_bytes(RuleId rule, Arena& arena, Budget& budget) = 0;
  // The same and perhaps others, without unfolding the rule.
  virtual const ByteSet& may_begin(RuleId rule) const = 0;
  // What a rule stands for, where that is known before its first byte is read.
  virtual std::optional<ExpressionId> unfolded(RuleId rule, Arena& arena, Budget& budget) = 0;
  // The optional part; null where nothing that was written is remembered: a rule is its own over-approximation then,
  // and none waits.
  virtual RememberingRules* remembering() { return nullptr; }
  // Collecting: numbers of expressions mean nothing any more, and of the rules those alone are needed further that are
  // `kept`, which get new numbers.  It ends with `all_kept`; or with `keep_all`, where it cannot go on: then all rules
  // are there still, with the numbers that they had.  Neither fails.
  virtual void begin_anew() = 0;
  virtual RuleId kept(RuleId before) { return before; }
  virtual void all_kept() {}
  virtual void keep_all() {}

 protected:
  std::uint32_t source() const { return source_; }

 private:
  std::uint32_t source_;  // which of the sets of rules of its arena it is
};

// Rules whose texts depend on what was written before: on a choice, on names that may not come twice.
class RememberingRules : public Rules {
 public:
  using Rules::Rules;

  RememberingRules* remembering() final { return this; }
  // What becomes of a rule that waits.
  virtual RuleId committed(RuleId rule, std::uint32_t choice) = 0;
  // An expression of over-approximations that accepts at least the texts of the rule, where it stands after something else:
  // unverified wherever it may accept what the rule does not.
  virtual ExpressionId approximated(RuleId rule, Arena& arena, Budget& budget) = 0;
  // The same where the rule is in front of all that is to come, as alternatives.
  virtual std::vector<Approximation> approximations(RuleId rule, Arena& arena, Budget& budget) = 0;
  // Where a rule begins with one of some strings: these, less what was read of them, sorted, none the beginning of
  // another; what follows each is `behind`.  Valid until the next call.
  virtual std::span<const std::string_view> strings(RuleId rule, Arena& arena, Budget& budget) = 0;
  virtual ExpressionId after(RuleId rule, std::size_t string, Arena& arena, Budget& budget) = 0;
  // As About::spelled, of what is after a string.
  virtual std::uint32_t spelled_after(RuleId rule, std::size_t string) const = 0;
};

// What a pattern knows of its rules: immutable, shared between threads.
class RuleSet {
 public:
  virtual ~RuleSet() = default;
  virtual std::unique_ptr<Rules> make(std::uint32_t source) const = 0;
  // The bytes that texts may hold, and those that begin or end a byte class (Arena::class_borders).
  virtual ByteSet bytes() const = 0;
  virtual ByteSet class_borders() const = 0;
  // Of these, the ones without which some text would not be distinguished from others: bytes between two of them stand in for
  // one another wherever the texts of a pattern have a choice.  Without texts that are spelled out (`spells`).
  virtual ByteSet distinguished() const = 0;
  // Whether a text that the rules spell out byte by byte, such as a declared name, contains `part`.
  virtual bool spells(std::string_view part) const = 0;
  // The bytes by which texts mostly come nearer to their ends, the likeliest first: searches try them before others.
  virtual std::string_view ending_bytes() const { return {}; }
};

}  // namespace tokamata
