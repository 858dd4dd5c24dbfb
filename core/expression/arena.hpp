// The expressions of one constraint: it adds patterns, unfolds rules, and frees expressions that no text needs.
//
// The layers below work with single expressions (pool.hpp names them).  This layer concerns a pattern as a whole, its
// rules and its memory.
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
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/memory_account.hpp"
#include "expression/derivatives.hpp"

namespace tokamata {

class Arena : public Derivatives {
 public:
  // `single_bytes` are the bytes that the vocabulary has as tokens of their own; `reach` is the
  // length of its longest token in bytes.  Both only steer the flags of the nodes.
  Arena(ByteSet single_bytes, std::size_t reach, std::uint32_t depth_limit)
      : Derivatives(single_bytes, reach, depth_limit) {}

  // The control tokens that a name stands for, any one of them; for patterns added later.  A name that is missing
  // stands for itself.
  using Aliases = std::map<std::string, std::vector<std::string>>;
  void join_control_tokens(Aliases aliases) { aliases_ = std::move(aliases); }

  // Adds a pattern, in normal form.
  ExpressionId add(const Expression& pattern, Budget& budget);
  // Frees every expression that is not part of a root (compact.cpp).  Returns the new number of each expression that
  // stays, by its old number.  If it throws, nothing has changed.
  std::vector<ExpressionId> keep_only(std::span<const ExpressionId> roots);

  // The number of texts of a language, at most `most`; or of its texts of some bytes only; and so many of them, the
  // shortest first.
  std::uint64_t count_texts(ExpressionId expression, std::uint64_t most, Budget& budget,
                            const ByteSet* among = nullptr);
  std::vector<std::string> some_texts(ExpressionId expression, std::size_t most, Budget& budget);

  // The alternatives of an expression, with the rules at the front unfolded and optional parts skipped.
  std::vector<ExpressionId> unfolded(ExpressionId expression, Budget& budget);
  // The same with over-approximations in place of rules, after something else.
  ExpressionId approximated(ExpressionId expression, Budget& budget);
  // Over-approximations of an expression at the front of a state: one for all alternatives that refuse nothing, and one
  // for each other alternative.
  std::vector<Approximation> approximations(ExpressionId expression, Budget& budget);
  // The strings that rules in front require before all others (RememberingRules::awaited).
  std::vector<std::string> awaited(ExpressionId expression, Budget& budget);
  // From now on, names and elements that must differ from earlier ones are narrowed while they are written, even if a
  // comparison at their end would suffice.  Canonical tokenization needs this: of all texts that may follow a token, it
  // may admit only those that were written before.
  void narrow_always() { narrows_always_ = true; }
  bool narrows_always() const { return narrows_always_; }

 private:
  // The parts of one pattern that were added: trees may share parts.
  using Added = std::unordered_map<const Expression*, ExpressionId>;
  ExpressionId add(const Expression& expression, Added& added, Budget& budget);
  ExpressionId add_union(const Expression::Union& choice, Added& added, Budget& budget);
  ExpressionId add_concatenation(const Expression::Concatenation& sequence, Added& added, Budget& budget);
  ExpressionId add_repetition(const Expression::Repetition& repetition, Added& added, Budget& budget);
  std::vector<ExpressionId> add_all(const std::vector<ExpressionPtr>& expressions, Added& added, Budget& budget);
  std::vector<ExpressionId> add_parts(const std::vector<ExpressionPtr>& parts, Added& added, Budget& budget);
  ExpressionId add_beside_rules(const Expression& part, Added& added, Budget& budget);

  template <class Visit>
  void visit_derivatives(ExpressionId expression, Budget& budget, const ByteSet* among, Visit&& visit);
  // bytes before a rule that is still treated as if it stood at the front
  static constexpr std::size_t kLongestLead = 4;
  std::vector<Approximation> approximations(ExpressionId expression, std::size_t lead, Budget& budget);

  bool narrows_always_ = false;
  counted::unordered_map<std::uint64_t, ExpressionId> approximated_;
};

}  // namespace tokamata
