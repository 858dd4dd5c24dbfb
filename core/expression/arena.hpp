// The expressions of one constraint: patterns are brought in, rules are opened, and what no text needs any more goes.
//
// All that is done with single expressions is in the floors below (pool.hpp names them).  Here is what concerns a pattern as
// a whole, its rules, and its memory.
// Contract.
//   - Lifetimes.  An arena owns its nodes, the automata of leaves and the rules; what patterns share (sets of strings, sets of
//     rules) it keeps alive.  An id is of this arena alone, until `keep_only`, which renumbers all that stays and keeps
//     the order of numbers.  Node 0 to 3 (kEmpty to kEverything) always stay.  A reference to a node, and a span of items,
//     is good until the next call of a member that is not const.
//   - Locks.  It has none: one thread at a time.
//   - Errors.  A member with a Budget may end with LimitExceeded, Cancelled or std::bad_alloc.  Nodes and memos that were
//     made until then stay and are whole.  Where `keep_only` throws, nothing has changed.
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
  Arena(ByteSet single_bytes, std::size_t reach, std::uint32_t depth_limit) : Derivatives(single_bytes, reach, depth_limit) {}

  // Which control tokens are the same one under another name; the names of patterns added later.
  using Aliases = std::map<std::string, std::string>;
  void join_control_tokens(Aliases aliases) { aliases_ = std::move(aliases); }

  // A pattern, into normal form.
  ExpressionId add(const Expression& pattern, Budget& budget);
  // Gives up every expression that no root is made of (compact.cpp).  Result: by the old number of each expression
  // that stays its new one.  Where it throws, nothing has changed.
  std::vector<ExpressionId> keep_only(std::span<const ExpressionId> roots);

  // The number of texts of such a language, at most `most`, or of those of some bytes alone; as many of them, the shortest
  // first.
  std::uint64_t count_texts(ExpressionId expression, std::uint64_t most, Budget& budget, const ByteSet* among = nullptr);
  std::vector<std::string> some_texts(ExpressionId expression, std::size_t most, Budget& budget);

  // The alternatives of an expression, with what the rules in front stand for, and what is after parts that may be skipped.
  std::vector<ExpressionId> unfolded(ExpressionId expression, Budget& budget);
  // The same with over-approximations in place of rules, after something else.
  ExpressionId approximated(ExpressionId expression, Budget& budget);
  // Over-approximations of an expression, in front of all that is to come: one of whatever refuses nothing and one for each
  // alternative that does.
  std::vector<Approximation> approximations(ExpressionId expression, Budget& budget);
  // From now on what may still be written of something that must differ from what was written holds nothing of that, also
  // where so much may follow that the end alone needs to be compared.  A tokenization asks for it: of all that may follow
  // the text of a token, it may admit nothing but what was written already.
  void narrow_always() { narrows_always_ = true; }
  bool narrows_always() const { return narrows_always_; }

 private:
  // What was added already of one pattern: its parts may be shared, and then a tree is a graph.
  using Added = std::unordered_map<const Expression*, ExpressionId>;
  ExpressionId add(const Expression& expression, Added& added, Budget& budget);
  ExpressionId add_union(const Expression::Union& choice, Added& added, Budget& budget);
  ExpressionId add_concatenation(const Expression::Concatenation& sequence, Added& added, Budget& budget);
  ExpressionId add_repetition(const Expression::Repetition& repetition, Added& added, Budget& budget);
  std::vector<ExpressionId> add_all(const std::vector<ExpressionPtr>& expressions, Added& added, Budget& budget);

  template <class Visit>
  void visit_derivatives(ExpressionId expression, Budget& budget, const ByteSet* among, Visit&& visit);
  static constexpr std::size_t kLongestLead = 4;  // before what is still judged as if it were in front
  std::vector<Approximation> approximations(ExpressionId expression, std::size_t lead, Budget& budget);

  bool narrows_always_ = false;
  counted::unordered_map<std::uint64_t, ExpressionId> approximated_;
};

}  // namespace tokamata
