// Rules that are listed: expressions that may refer to rules of the same set, by number.
//
// Example.  A tree of integers,  0: "T(" digits (", " 0)* ")".  After "T(1, T(2" the state is
//   digits* (", " 0)* ")" · (", " 0)* ")"
// that is, what is left of the inner tree, and after it what is left of the outer one.
//
// Contract.
//   - A reference stands under concatenations, unions, repetitions and scopes alone.  All else in a body is a regular set of
//     texts: no control token, no edge of a token, no rules of another set, and lookaround in scopes of its own.
//   - No rule accepts the empty text, and none is left recursive: between a rule and itself something is read.
//   - A rule that accepts nothing, since it never ends say, is left out wherever it is referred to.
// All but the last is checked when a set is made (RuleSetError).  What it starts with is an expression like the bodies, and may
// accept the empty text.
//
// How.  The trees are cut into *parts*: where nothing is referred to, a tree is one part, which the arena knows as it knows any
// expression; where that may be empty it becomes a terminal, so that all that is left lives.  The length of a shortest text is
// a least fixed point over the parts, found in the order of the lengths.  They remember nothing of what was written: a rule is its
// own over-approximation, and no token is unverified.
// Cost.  n log n in the parts, once; a body is brought into the arena when a text comes to it.  A derivative of a rule by a
// byte is made once; those of rules that it may begin with are made before it, so that the stack stays flat.
// Source.  Knuth 1977, A generalization of Dijkstra's algorithm; and rules.hpp.
// Not taken: grammars that are left recursive, rewritten (what they mean would be described by other rules than the given ones).
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/memory_account.hpp"
#include "expression/arena.hpp"
#include "expression/expression.hpp"
#include "expression/rules.hpp"

namespace tokamata {

// Why expressions are no set of rules.
struct RuleSetError : std::invalid_argument {
  enum class Problem : std::uint8_t {
    UnknownRule,    // a reference to a number that no rule has
    Misplaced,      // a reference within a complement, an intersection, lookaround or a terminal
    NotText,        // control tokens, edges of tokens, complements of texts, rules of another set
    Open,           // lookaround without a scope
    Empty,          // a rule accepts the empty text
    LeftRecursive,  // a rule begins with itself
  };
  RuleSetError(Problem what, std::uint32_t where);
  Problem problem;
  std::uint32_t rule;  // the number of the body; that of bodies where it is what the set starts with
};

// The bodies, cut into parts.
struct RuleParts {
  using PartId = Id<struct PartTag>;
  struct Part {
    enum class Kind : std::uint8_t { Leaf, Reference, Concatenation, Union, Repetition };
    Kind kind;
    bool nullable = false;           // of references: never
    ExpressionPtr tree = nullptr;    // Leaf: without references
    std::uint32_t rule = 0;          // Reference
    std::vector<PartId> items = {};  // of the others, one of a repetition; each before the part itself
    Count minimum = 0, maximum = 0;
  };
  std::vector<Part> parts;
  std::vector<PartId> bodies;  // by rule
  PartId start;
  std::vector<std::vector<std::uint32_t>> begins;  // by rule: the rules that a text of it may begin with
  std::vector<std::uint32_t> order;                // all rules, those that one may begin with before it
  ByteSet class_borders, distinguished;

  const Part& operator[](PartId part) const { return parts[part.value]; }
};

class ExpressionRuleSet : public RuleSet {
 public:
  // Throws RuleSetError.
  ExpressionRuleSet(const std::vector<ExpressionPtr>& bodies, const ExpressionPtr& start);

  std::unique_ptr<Rules> make(std::uint32_t source) const override;
  // None: the arena notes those of the parts when it takes them in.
  ByteSet bytes() const override { return {}; }
  ByteSet class_borders() const override { return parts_->class_borders; }
  // Literals are among what is told apart.
  ByteSet distinguished() const override { return parts_->distinguished; }
  bool spells(std::string_view) const override { return false; }

 private:
  std::shared_ptr<const RuleParts> parts_;
};

class ExpressionRules : public Rules {
 public:
  ExpressionRules(std::uint32_t source, std::shared_ptr<const RuleParts> parts) : Rules(source), parts_(std::move(parts)) {}

  bool joins() const override { return true; }
  ExpressionId start(Arena& arena, Budget& budget) override;
  About about(RuleId rule) const override { return abouts_[rule.value]; }
  ExpressionId derivative(RuleId rule, std::uint8_t byte, Arena& arena, Budget& budget) override;
  ByteSet first_bytes(RuleId rule, Arena&, Budget&) override { return first_bytes_[rule.value]; }
  const ByteSet& may_begin(RuleId rule) const override { return first_bytes_[rule.value]; }
  std::optional<ExpressionId> unfolded(RuleId rule, Arena& arena, Budget& budget) override { return body(rule.value, arena, budget); }
  void begin_anew() override;

 private:
  using Part = RuleParts::Part;
  using PartId = RuleParts::PartId;

  void measure(Arena& arena, Budget& budget);
  template <class OfLeaf>
  std::vector<std::uint32_t> lengths(OfLeaf&& of_leaf, Budget& budget) const;
  ByteSet first_bytes_of(PartId part, std::vector<std::optional<ByteSet>>& known, Arena& arena, Budget& budget);
  ExpressionId leaf(PartId part, Arena& arena, Budget& budget);
  ExpressionId made(PartId part, Arena& arena, Budget& budget);
  ExpressionId body(std::uint32_t rule, Arena& arena, Budget& budget) { return made(parts_->bodies[rule], arena, budget); }

  std::shared_ptr<const RuleParts> parts_;
  counted::vector<About> abouts_;        // by rule, as are the first bytes
  counted::vector<ByteSet> first_bytes_;
  counted::unordered_map<std::uint32_t, ExpressionId> made_;         // by part
  counted::unordered_map<std::uint64_t, ExpressionId> derivatives_;  // by rule and byte
};

}  // namespace tokamata
