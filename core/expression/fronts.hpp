// What stands at the front of an expression: its alternatives, with rules unfolded, or over-approximated.
//
// Problem.  A mask is made from what may come next, and that is a rule in many states: its body, if it is known, or an
// over-approximation that has finitely many states, where rules remember what was written (rules.hpp).
// Example.  In front of  $1·t | a?$2·u  stand $1·t, a·$2·u and, with a skipped, the body of $2 before u.
// Cost.  Linear in the alternatives.  Over-approximations of what stands after something else are kept.
#pragma once

#include <string>
#include <vector>

#include "expression/derivatives.hpp"

namespace tokamata {

class Fronts {
 public:
  Fronts(const Pool& pool, const Leaves& leaves, const RuleSets& rules, Forms& forms, Derivatives& derivatives)
      : pool_(pool), leaves_(leaves), rule_sets_(rules), forms_(forms), derivatives_(derivatives) {}

  // The alternatives of an expression.  None begins with a union; without `without_rules`, none begins with a union
  // that holds rules.
  std::vector<ExpressionId> of(ExpressionId expression, bool without_rules = true);
  // The alternatives of an expression, with the rules at the front unfolded and optional parts skipped.
  std::vector<ExpressionId> unfolded(ExpressionId expression, Budget& budget);
  // The same with over-approximations in place of rules, after something else.
  ExpressionId approximated(ExpressionId expression, Budget& budget);
  // Over-approximations of an expression at the front of a state: one for all alternatives that refuse nothing, and one
  // for each other alternative.
  std::vector<Approximation> approximations(ExpressionId expression, Budget& budget);
  // The strings that rules in front require before all others (RememberingRules::awaited).
  std::vector<std::string> awaited(ExpressionId expression, Budget& budget);

  void forget() { approximated_.forget(); }

 private:
  // bytes before a rule that is still treated as if it stood at the front
  static constexpr std::size_t kLongestLead = 4;
  std::vector<Approximation> approximations(ExpressionId expression, std::size_t lead, Budget& budget);

  const Pool& pool_;
  const Leaves& leaves_;
  const RuleSets& rule_sets_;
  Forms& forms_;
  Derivatives& derivatives_;
  RuleReplacement approximated_{pool_, forms_};
};

}  // namespace tokamata
