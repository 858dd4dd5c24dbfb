// An expression with others in place of its rules: with rules that a choice was made for, or with over-approximations.
//
// Cost.  Linear in the parts that hold such rules, once: what becomes of each part is kept.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/memory_account.hpp"
#include "expression/forms.hpp"

namespace tokamata {

class RuleReplacement {
 public:
  RuleReplacement(const Pool& pool, Forms& forms) : pool_(pool), forms_(forms) {}

  // `concerns(node)` says where there may be rules to replace, `of_rule(node)` what stands in place of one.  Results are
  // kept for each `choice`.
  template <class Concerns, class OfRule>
  ExpressionId replaced(ExpressionId expression, std::uint32_t choice, Concerns&& concerns, OfRule&& of_rule) {
    const auto key = [choice](ExpressionId at) { return (std::uint64_t{at.value} << 32) | choice; };
    const auto inner = [&](ExpressionId part) { return replaced(part, choice, concerns, of_rule); };
    std::vector<ExpressionId> spine;  // concatenations met on the way down the tails
    ExpressionId result;
    while (true) {
      const ExpressionNode n = pool_.node(expression);
      if (!concerns(n)) {
        result = expression;
        break;
      }
      if (const auto made = known_.find(key(expression)); made != known_.end()) {
        result = made->second;
        break;
      }
      if (n.kind == Kind::Concatenation) {
        spine.push_back(expression);
        expression = n.tail();
        continue;
      }
      if (n.kind == Kind::Rule) {
        result = of_rule(n);
      } else if (n.kind == Kind::Union) {
        std::vector<ExpressionId> alternatives;
        for (std::uint32_t i = 0; i < n.item_count(); ++i) alternatives.push_back(inner(pool_.item(n, i)));
        result = forms_.unite(alternatives);
      } else {
        result = expression;  // intersections and the like are taken as they are
      }
      known_.emplace(key(expression), result);
      break;
    }
    for (auto place = spine.rbegin(); place != spine.rend(); ++place) {
      result = forms_.concatenate(inner(pool_.node(*place).head()), result);
      known_.emplace(key(*place), result);
    }
    return result;
  }
  void forget() { release(known_); }

 private:
  const Pool& pool_;
  Forms& forms_;
  counted::unordered_map<std::uint64_t, ExpressionId> known_;
};

}  // namespace tokamata
