// The expressions of one constraint: it adds patterns, unfolds rules, and frees expressions that no text needs.
//
// An arena owns what works with expressions; each of these knows those before it that it uses, and none after it:
//   Leaves        the automata that leaves are states of, and the bytes that patterns distinguish
//   Pool          nodes, each once
//   RuleSets      the sets of rules that patterns hold
//   Analyses      what the structure of an expression says: first bytes, keys, positions
//   Forms         constructors: normal forms, so that equal languages mostly are equal nodes; with Unions and Characters
//   LeafForms     the same of leaves
//   Lookaround    the same of lookarounds and guards
//   StringBounds  strings without their bounds, and without what they exclude
//   Clipping      expressions without the counts that no token distinguishes
//   Derivatives   what becomes of an expression; whether it has a text
//   Fronts        what stands in front, with rules unfolded or over-approximated
// Rules (rules.hpp) are made with the arena, and use all of it.  Some keep memos by the ids of expressions; compaction
// makes all of them forget.
// Contract.
//   - Lifetimes.  An arena owns its nodes, the automata of leaves and the rules, and shares what patterns share (sets
//     of strings, sets of rules).  An id is valid in this arena alone, until `keep_only`, which renumbers all nodes
//     that stay and keeps their order.  Nodes 0 to 3 (kEmpty to kEverything) always stay.  A reference to a node, and a
//     span of items, is good until the next call of a member that is not const.
//   - Locks.  It has none: one thread at a time.
//   - Errors.  A member with a Budget may end with LimitExceeded, Cancelled or std::bad_alloc.  Nodes and memos that
//     were made until then stay and are whole.  Where `keep_only` throws, nothing has changed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "expression/analyses.hpp"
#include "expression/clipping.hpp"
#include "expression/derivatives.hpp"
#include "expression/expression_ptr.hpp"
#include "expression/fronts.hpp"

namespace tokamata {

class Arena {
 public:
  // `single_bytes` are the bytes that the vocabulary has as tokens of their own; `reach` is the
  // length of its longest token in bytes.  Both only steer the flags of the nodes.
  Arena(ByteSet single_bytes, std::size_t reach, std::uint32_t depth_limit)
      : leaves_(single_bytes), pool_(leaves_, depth_limit), forms_(pool_, leaves_, rule_sets_, reach) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  const Leaves& leaves() const { return leaves_; }
  const Pool& pool() const { return pool_; }
  const RuleSets& rule_sets() const { return rule_sets_; }
  Analyses& analyses() { return analyses_; }
  const Analyses& analyses() const { return analyses_; }
  Forms& forms() { return forms_; }
  LeafForms& leaf_forms() { return leaf_forms_; }
  Lookaround& lookaround() { return lookaround_; }
  StringBounds& string_bounds() { return bounds_; }
  Clipping& clipping() { return clipping_; }
  Derivatives& derivatives() { return derivatives_; }
  Fronts& fronts() { return fronts_; }

  // Adds a pattern, in normal form.
  ExpressionId add(const Expression& pattern, Budget& budget);
  // The same for who goes on where a budget stopped it: `added` has what was added of the pattern until then.  Good
  // until expressions get other numbers.
  using Added = std::unordered_map<const Expression*, ExpressionId>;
  ExpressionId add(const Expression& pattern, Budget& budget, Added& added);
  // Frees every expression that is not part of a root (compaction.hpp).  Returns the new number of each expression that
  // stays, by its old number.  If it throws, nothing has changed.
  std::vector<ExpressionId> keep_only(std::span<const ExpressionId> roots);

  // From now on, names and elements that must differ from earlier ones are narrowed while they are written, even if a
  // comparison at their end would suffice.  Canonical tokenization needs this: of all texts that may follow a token, it
  // may admit only those that were written before.
  void narrow_always() { narrows_always_ = true; }
  bool narrows_always() const { return narrows_always_; }

 private:
  class Reader;
  Rules& rules_of(const std::shared_ptr<const RuleSet>& set);

  Leaves leaves_;
  Pool pool_;
  RuleSets rule_sets_;
  Analyses analyses_{pool_, leaves_};
  Forms forms_;
  LeafForms leaf_forms_{pool_, leaves_, forms_};
  Lookaround lookaround_{pool_, forms_};
  StringBounds bounds_{pool_, leaves_, analyses_, forms_};
  Clipping clipping_{pool_, forms_, bounds_};
  Derivatives derivatives_{pool_, leaves_, rule_sets_, analyses_, forms_, leaf_forms_, lookaround_, bounds_};
  Fronts fronts_{pool_, leaves_, rule_sets_, forms_, derivatives_};
  bool narrows_always_ = false;
};

}  // namespace tokamata
