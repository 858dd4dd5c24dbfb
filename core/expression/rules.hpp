// Rules: nonterminals whose right-hand sides are computed lazily.
//
// Problem.  A JSON value may contain JSON values to any depth.  No finite set of regular expressions describes that.  A
// reference to a rule inside a concatenation does: `rule · continuation` is the stack of a push-down automaton, a chain
// of hash-consed continuations that many states share.
// Example.  V = [ ] | [ V (, V)* ] | 1.  After "[[1" the state is  rest-of-list · rest-of-list.
// How.  The arena asks a set of rules for the derivative of a rule, which is an expression over other rules, and
// concatenates the continuation.  Nothing of a rule is computed before its first byte is read.
//
// Contract.
//   - A rule accepts some text, and never the empty text.  An empty rule is never created: Pool::kEmpty takes its
//     place.  So an expression with rules is live unless it is kEmpty, and no search is needed.
//   - A derivative is a function of the rule and the byte.  Equal rules have equal numbers.
// A rule may *wait* for a choice that the text makes once, such as the width of its indents.  A Commit node stands
// where the text makes the choice; it applies the choice to everything that follows.
//
// A text may restrict what follows much later: a name may not be written twice.  An *over-approximation* of a rule
// forgets such restrictions.  It accepts at least the texts of the rule and has finitely many states, so that masks can
// be computed from it.  Tokens that it may allow wrongly are *unverified*: the exact rule must judge them.
//
// Source.  Derivatives of context-free languages, Might, Darais and Spiewak 2011, for rules without left recursion;
// chains of continuations as in graph-structured stacks, Tomita 1985.
// Rejected: a push-down automaton beside the expressions (a second engine, without intersection).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
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
class Pool;

// A set of texts as a tree of bytes.  It is walked together with the trie of a vocabulary, as deep as tokens reach.
class TextTree {
 public:
  class Walk {
   public:
    // Goes down by a byte.  Returns false if the other tree has no such child: then the walk skips the subtree, and
    // does not call `leave`.
    virtual bool enter(std::uint8_t byte) = 0;
    virtual void leave() = 0;
    // Marks the text that was entered; with_longer: and all texts that begin with it.
    virtual void mark(bool with_longer) = 0;

   protected:
    ~Walk() = default;
  };
  virtual ~TextTree() = default;
  virtual void walk(Walk& walk) const = 0;
};

// The texts of a tree, each preceded by the same bytes.
struct TextsAfter {
  std::string lead;
  std::shared_ptr<const TextTree> tree;
};

// The over-approximation of one alternative of an expression.  It may accept too much
//   - in its unverified parts;
//   - for texts marked in `refused`: no text of the alternative begins with these;
//   - for texts marked in `unverified`: the exact rule must decide whether a text begins with these.
// `alike` has texts that may become like an earlier one, and are right as far as they go.
struct Approximation {
  ExpressionId expression;
  std::vector<TextsAfter> refused = {}, unverified = {}, alike = {};
  bool is_plain() const { return refused.empty() && unverified.empty(); }
};

class RememberingRules;

// The rules of one pattern within one arena; made by a RuleSet.  RememberingRules adds what is needed if rules remember
// what was written.
class Rules : public CountedObject {
 public:
  struct About {
    std::uint32_t shortest;  // no text is shorter, in bytes
    std::uint32_t spelled;   // the length of some text each of whose bytes is a token; or kUnspelled
    bool waits;              // for a choice
    bool unverified = false;
    bool by_byte = false;    // its state keeps the bytes that are read
    bool by_tokens = false;  // `spelled` holds even if the vocabulary lacks bytes of the pattern
    bool controls = false;   // its texts have control tokens
  };

  // The choice that makes everything after it unverified, and the one by which over-approximations forget as little as
  // leaves finitely many of them for each depth; all other numbers belong to the rules.
  static constexpr std::uint32_t kUnverified = 1 << 16, kRelaxed = kUnverified + 1;

  Rules(std::uint32_t source, Arena& arena) : source_(source), arena_(arena) {}
  virtual ~Rules() = default;
  Rules(const Rules&) = delete;
  Rules& operator=(const Rules&) = delete;

  // Whether alternatives with the same head are joined: h·s beside h·t is h·(s|t).
  virtual bool joins() const { return false; }
  // Whether a rule is its body, made of regular parts and rules of the set, of which there are finitely many.
  virtual bool is_listed() const { return false; }
  // The whole pattern.
  virtual ExpressionId start(Budget& budget) = 0;
  virtual About about(RuleId rule) const = 0;
  virtual ExpressionId derivative(RuleId rule, std::uint8_t byte, Budget& budget) = 0;
  // The bytes that the texts of a rule begin with.
  virtual ByteSet first_bytes(RuleId rule, Budget& budget) = 0;
  // A superset of these, without unfolding the rule.
  virtual const ByteSet& may_begin(RuleId rule) const = 0;
  // The body of a rule, if it is known before the first byte is read.
  virtual std::optional<ExpressionId> unfolded(RuleId rule, Budget& budget) = 0;
  // What a rule is, as a person reads it (show.hpp): in one line, which may name other rules by $ and their numbers.
  virtual std::string show(RuleId rule) = 0;
  // Null if the rules remember nothing that was written: then each rule is its own over-approximation, and none waits.
  virtual RememberingRules* remembering() { return nullptr; }
  // Compaction.  `begin_anew` invalidates the numbers of expressions.  Then `kept` is called for each rule that is
  // still needed, and returns its new number.  `all_kept` ends the compaction and drops the other rules; `keep_all`
  // cancels it, and all rules keep their numbers.  None of them fails.
  virtual void begin_anew() = 0;
  virtual RuleId kept(RuleId before) { return before; }
  virtual void all_kept() {}
  virtual void keep_all() {}

 protected:
  std::uint32_t source() const { return source_; }
  Arena& arena() const { return arena_; }

 private:
  std::uint32_t source_;  // the index of this set of rules in its arena
  Arena& arena_;
};

// Rules whose texts depend on what was written before: on a choice, or on names that may not be repeated.
class RememberingRules : public Rules {
 public:
  using Rules::Rules;

  RememberingRules* remembering() override { return this; }
  // A rule that waits, once the choice is made.
  virtual RuleId committed(RuleId rule, std::uint32_t choice) = 0;
  // The over-approximation of a rule that stands after something else.  It is unverified wherever it may accept more
  // than the rule.
  virtual ExpressionId approximated(RuleId rule, Budget& budget) = 0;
  // The same for a rule at the front, as alternatives.
  virtual std::vector<Approximation> approximations(RuleId rule, Budget& budget) = 0;
  // If a rule begins with one of some strings: the rest of each, sorted; none is a prefix of another.  `after` is what
  // follows each.  Valid until the next call.
  virtual std::span<const std::string_view> strings(RuleId rule, Budget& budget) = 0;
  virtual ExpressionId after(RuleId rule, std::size_t string, Budget& budget) = 0;
  // About::spelled of what follows a string.
  virtual std::uint32_t spelled_after(RuleId rule, std::size_t string) const = 0;
  // A byte that may leave the strings between any two of their bytes, since it begins another spelling of the next one;
  // and what follows it after the first `depth` bytes of the strings from `low` to `high`, which these share; or
  // kEmpty.
  virtual std::optional<std::uint8_t> leaving_byte() const { return std::nullopt; }
  virtual ExpressionId after_leaving(RuleId, std::size_t /*low*/, std::size_t /*high*/, std::size_t /*depth*/,
                                     Budget&) {
    return {};  // Pool::kEmpty
  }
  // The string that the rule requires before all others, if it holds others back until then.
  virtual std::optional<std::string> awaited(RuleId, Budget&) { return std::nullopt; }
};

// A set of rules as a pattern holds it: immutable, shared between threads.
class RuleSet {
 public:
  virtual ~RuleSet() = default;
  virtual std::unique_ptr<Rules> make(std::uint32_t source, Arena& arena) const = 0;
  // The bytes that texts may hold, and those that begin or end a byte class (Leaves::class_borders).
  virtual ByteSet bytes() const = 0;
  virtual ByteSet class_borders() const = 0;
  // The borders among these that the rules distinguish: wherever a text has a choice, the bytes between two of them are
  // interchangeable.  Texts that the rules spell out (`spells`) are not counted.
  virtual ByteSet distinguished() const = 0;
  // Whether some text that the rules spell out byte by byte, such as a declared name, contains `part`.
  virtual bool spells(std::string_view part) const = 0;
  // The names of the control tokens in texts.
  virtual std::set<std::string> control_tokens() const { return {}; }
  // The bytes that most often bring a text nearer to its end, the likeliest first.  Searches try them first.
  virtual std::string_view ending_bytes() const { return {}; }
  // Bytes one of which stands between any two texts that must differ, such as names or elements; and those with which,
  // or with blanks before which, such a text may begin after a separator.
  virtual ByteSet separators() const { return ByteSet::range(0, 255); }
  virtual ByteSet openers() const { return ByteSet::range(0, 255); }
};

}  // namespace tokamata
