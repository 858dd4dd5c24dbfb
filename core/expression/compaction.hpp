// Compaction: giving up the expressions that no text under way is made of.
//
// Problem.  An arena only grows; a constraint that serves texts for days meets expressions that are never needed
// again.  When memory is short, all but those that the matchers stand on must go, and not by a copy of the rest,
// which would hold two arenas at the moment when there is room for one.
// Example.  0 1 2 3 | 4: a   5: b   6: a·b   7: c   8: c·4   with the root 8: 4, 7 and 8 stay, as 4, 5 and 6.
// How.  The parts of an expression have smaller numbers than the expression itself.  One pass from the last to the
// first marks what the roots are made of, one from the first to the last moves each node down and renumbers its parts.
// The order of numbers stays, and so does every normal form that is sorted by them.
// Rules are numbered by their set (rules.hpp), which gives up those that no expression refers to.
// Cost.  Linear in the arena; in memory a number for each old expression, and the new table.  All of it is set aside
// before anything changes, so that a failure leaves the arena as it was.
// Not taken: a copy into a new arena, which makes every normal form again; reference counts, which cost at every step.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/number_table.hpp"
#include "expression/pool.hpp"
#include "expression/rule_sets.hpp"

namespace tokamata {

class Compaction {
 public:
  static constexpr ExpressionId kGone{~std::uint32_t{0}};

  // Plans which expressions stay.
  Compaction(Pool& pool, Leaves& leaves, RuleSets& rules, std::span<const ExpressionId> roots);
  // Where each moves: kGone for those that no root is made of.
  std::vector<ExpressionId>& moved() { return moved_; }
  // The last step that may fail.
  void plan_rules();
  // Never fails.
  void carry_out();

 private:
  template <class Moved>
  void move_parts(ExpressionNode& n, Moved&& moved);
  void plan_moves(std::span<const ExpressionId> roots);
  void plan_leaves();
  void move_leaves();
  void move_nodes();
  void index_nodes();

  Pool& pool_;
  Leaves& leaves_;
  RuleSets& rule_sets_;
  std::vector<ExpressionId> moved_;
  std::vector<std::uint32_t> strings_;  // sets of strings: the new number of each that stays, by its old one
  std::uint32_t strings_left_ = 0;
  std::vector<std::unique_ptr<LeafAutomaton>> languages_;  // in the place of the old ones
  std::vector<std::uint32_t> language_states_;             // of the nodes of languages that stay, in their order
  NumberTable index_;
  std::vector<RuleId> rules_;  // of the nodes of rules that stay, in their order
};

}  // namespace tokamata
