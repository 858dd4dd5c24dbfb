// Unions in normal form: flat, sorted, and without alternatives that others cover.
//
// Problem.  The derivative of a state is a set of alternatives; two states are one if and only if
// their sets are equal, and every alternative too many multiplies the states to come.
// Example.  a{0,3}·t | a{0,5}·t | a{6,9}·t  becomes  a{0,9}·t;   a?·b | b  becomes  a?·b.
// Cost.  n log n in the alternatives; what compares pairs looks at few of them.  Dropping is a saving
// and not needed for exactness, save for flatness and order, which make equal sets equal.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "expression/pool.hpp"
#include "expression/rule_sets.hpp"

namespace tokamata {

class Forms;

// The part of Forms that makes unions; what alternatives are merged into is made by Forms again.
class Unions {
 public:
  Unions(Forms& forms, Pool& pool, const Leaves& leaves, const RuleSets& rules)
      : forms_(forms), pool_(pool), leaves_(leaves), rule_sets_(rules) {}

  // Empties `alternatives`.
  ExpressionId unite(std::vector<ExpressionId>& alternatives);

 private:
  // Joining is a saving: tails in tails are not followed without end.
  static constexpr std::uint32_t kMostMerging = 2;
  struct Counted {  // an alternative body{minimum,maximum}·tail
    ExpressionId body, tail;
    Count minimum, maximum;
  };
  void push_alternative(ExpressionId expression, std::vector<ExpressionId>& out);
  void merge_byte_sets(std::vector<ExpressionId>& items);
  void merge_counts(std::vector<ExpressionId>& items);
  void merge_rules(std::vector<ExpressionId>& items);
  bool join_heads(std::vector<ExpressionId>& items);
  ExpressionId unite_tails(std::vector<ExpressionId>& tails);
  std::optional<ExpressionId> common_end(ExpressionId one, ExpressionId other) const;
  void drop_skipped(std::vector<ExpressionId>& items);
  void drop_guarded(std::vector<ExpressionId>& items);
  void absorb_epsilon(std::vector<ExpressionId>& items);
  void drop_dominated(std::vector<ExpressionId>& items);
  bool dominates(ExpressionId larger, ExpressionId smaller) const;
  // Whether an alternative begins with a rule that is joined (Rules::joins), or may do so.
  bool awaits_rule(ExpressionId alternative) const;

  Forms& forms_;
  Pool& pool_;
  const Leaves& leaves_;
  const RuleSets& rule_sets_;
  std::uint32_t merging_ = 0;  // unions of tails within unions of tails
};

}  // namespace tokamata
