// Listed rules: expressions that may refer to rules of the same set, by number.
//
// Example.  A tree of integers,  0: "T(" digits (", " 0)* ")".  After "T(1, T(2" the state is
//   digits* (", " 0)* ")" · (", " 0)* ")"
// that is, the rest of the inner tree, and then the rest of the outer one.
//
// Contract.
//   - A reference stands only under concatenations, unions, repetitions, scopes, and intersections that only exclude
//     the empty text.  Every other part of a body is a regular set of texts: without control tokens and token edges,
//     and with lookaround only inside scopes.
//   - Another set of rules may stand where a reference may.  If it is listed, its rules become rules of this set.
//   - No rule accepts the empty text, and none is left recursive: a rule reads something before it refers to itself.
//   - References to a rule that accepts no text, for example because it never ends, are left out.
// The first two are checked when a set is made (RuleSetError).  The start is an expression like the bodies, and may
// accept the empty text.
//
// How.  The trees are cut into *parts*.  A tree without references is one part, which the arena treats like any
// expression; if it may be empty, it becomes a terminal, so that everything that remains is live.  The lengths of
// shortest texts are a least fixed point over the parts, computed in the order of the lengths.  Listed rules do not
// remember what was written:  each is its own over-approximation, and no token is unverified.  But other rules in them
// may, such as those of JSON.  Then a rule that refers to such has a second number, under which its body consists of
// over-approximations.
// Cost.  n log n in the parts, once.  A body is added to the arena when a text first reaches it.  A derivative of a
// rule by a byte is computed once, after those of the rules that it may begin with, so that the stack stays flat.
// Source.  Knuth 1977, A generalization of Dijkstra's algorithm; and rules.hpp.
// Left recursion is removed by who makes the set (src/tokamata/patterns/grammars/rules/left_recursion.py).
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/memory_account.hpp"
#include "expression/arena.hpp"
#include "expression/expression_ptr.hpp"
#include "expression/rules.hpp"

namespace tokamata {

// Why expressions are no set of rules.
struct RuleSetError : std::invalid_argument {
  enum class Problem : std::uint8_t {
    UnknownRule,    // a reference to a number that no rule has
    Misplaced,      // a reference inside a complement, an intersection, lookaround or a terminal
    NotText,        // control tokens, edges of tokens, complements of texts, rules in an intersection or a terminal
    Open,           // lookaround without a scope
    Empty,          // a rule accepts the empty text
    LeftRecursive,  // a rule begins with itself
  };
  RuleSetError(Problem what, std::uint32_t where);
  Problem problem;
  std::uint32_t rule;  // the number of the body; for the start expression, the number of bodies
};

// The bodies, cut into parts.
struct RuleParts {
  using PartId = Id<struct PartTag>;
  struct Part {
    enum class Kind : std::uint8_t { Leaf, Reference, Concatenation, Union, Repetition };
    Kind kind;
    bool nullable = false;           // never for references
    ExpressionPtr tree = nullptr;    // Leaf: without references
    std::uint32_t rule = 0;          // Reference
    std::vector<PartId> items = {};  // of the other kinds (a repetition has one); each precedes the part
    Count minimum = 0, maximum = 0;
  };
  std::vector<Part> parts;
  std::vector<PartId> bodies;  // by rule
  PartId start;
  std::vector<std::vector<std::uint32_t>> begins;  // by rule: the rules that a text of it may begin with
  std::vector<std::uint32_t> order;                // all rules, each after those that it may begin with
  std::vector<bool> remembers;                     // by rule: whether its texts contain texts of `others`
  ByteSet class_borders, distinguished;
  std::vector<std::shared_ptr<const RuleSet>> others;  // sets of rules that are not listed

  const Part& operator[](PartId part) const { return parts[part.value]; }
};

class ExpressionRuleSet : public RuleSet {
 public:
  // Throws RuleSetError.
  ExpressionRuleSet(const std::vector<ExpressionPtr>& bodies, const ExpressionPtr& start);

  std::unique_ptr<Rules> make(std::uint32_t source, Arena& arena) const override;
  // None: the arena collects the bytes of the parts when it adds them.
  ByteSet bytes() const override { return {}; }
  ByteSet class_borders() const override { return parts_->class_borders; }
  // Literals included.
  ByteSet distinguished() const override { return parts_->distinguished; }
  bool spells(std::string_view part) const override;
  std::string_view ending_bytes() const override;
  ByteSet separators() const override;
  ByteSet openers() const override;
  const RuleParts& parts() const { return *parts_; }

 private:
  std::shared_ptr<const RuleParts> parts_;
};

class ExpressionRules : public RememberingRules {
 public:
  ExpressionRules(std::uint32_t source, Arena& arena, std::shared_ptr<const RuleParts> parts)
      : RememberingRules(source, arena), parts_(std::move(parts)) {}

  bool joins() const override { return true; }
  bool is_listed() const override { return parts_->others.empty(); }
  ExpressionId start(Budget& budget) override;
  About about(RuleId rule) const override { return abouts_[rule.value]; }
  ExpressionId derivative(RuleId rule, std::uint8_t byte, Budget& budget) override;
  ByteSet first_bytes(RuleId rule, Budget&) override { return first_bytes_[number(rule.value)]; }
  const ByteSet& may_begin(RuleId rule) const override { return first_bytes_[number(rule.value)]; }
  std::optional<ExpressionId> unfolded(RuleId rule, Budget& budget) override { return body(rule.value, budget); }
  std::string show(RuleId rule) override { return show(parts_->bodies[number(rule.value)]); }
  void begin_anew() override;

  // ---- if other rules in them remember what was written ----

  RememberingRules* remembering() override { return parts_->others.empty() ? nullptr : this; }
  // What is read in an over-approximation waits, but nothing that is to be read: the end after it is unverified.
  RuleId committed(RuleId rule, std::uint32_t) override { return rule; }
  ExpressionId approximated(RuleId rule, Budget& budget) override;
  std::vector<Approximation> approximations(RuleId rule, Budget& budget) override;
  std::span<const std::string_view> strings(RuleId, Budget&) override { return {}; }
  ExpressionId after(RuleId, std::size_t, Budget&) override;
  std::uint32_t spelled_after(RuleId, std::size_t) const override { return 0; }

 private:
  using Part = RuleParts::Part;
  using PartId = RuleParts::PartId;

  // The rules come first; after them, in the same order, their over-approximations.
  std::uint32_t rule_count() const { return static_cast<std::uint32_t>(parts_->bodies.size()); }
  std::uint32_t number(std::uint32_t rule) const { return rule % rule_count(); }
  bool is_approximated(std::uint32_t rule) const { return rule >= rule_count(); }

  void measure(Budget& budget);
  template <class OfLeaf>
  std::vector<std::uint32_t> lengths(OfLeaf&& of_leaf, Budget& budget) const;
  ByteSet first_bytes_of(PartId part, std::vector<std::optional<ByteSet>>& known, Budget& budget);
  ExpressionId leaf(PartId part, Budget& budget);
  ExpressionId made(PartId part, bool approximated, Budget& budget);
  std::string show(PartId part) const;
  ExpressionId body(std::uint32_t rule, Budget& budget) {
    return made(parts_->bodies[number(rule)], is_approximated(rule), budget);
  }

  std::shared_ptr<const RuleParts> parts_;
  counted::vector<About> abouts_;                               // by rule and over-approximation
  counted::vector<ByteSet> first_bytes_;                        // by rule
  counted::unordered_map<std::uint32_t, ExpressionId> leaves_;  // by part
  // by part, and whether it is an over-approximation
  counted::unordered_map<std::uint64_t, ExpressionId> made_;
  counted::unordered_map<std::uint64_t, ExpressionId> derivatives_;  // by rule and byte
};

}  // namespace tokamata
