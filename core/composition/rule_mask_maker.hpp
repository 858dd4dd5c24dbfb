// Masks of expressions with rules, by a walk (rule_walk.hpp).
#pragma once

#include <optional>

#include "composition/rule_segments.hpp"
#include "composition/rule_sinks.hpp"

namespace tokamata {

class RuleMaskMaker {
 public:
  // Of what outlives it.
  explicit RuleMaskMaker(RuleWalkContext& context) : context_(context) {}

  // The tokens below a node of the vocabulary's trie with which the expression, read from there, may continue.
  RuleMask make(ExpressionId expression, NodeId from, Budget& budget, VerifiedTokens* verified = nullptr);
  // Whether the last mask depends on nothing but what `read` says of each expression.
  bool notes_all() const { return notes_all_; }
  StackMemo::Read read(ExpressionId expression) const {
    return notes_.find(expression.value).value_or(StackMemo::Read{});
  }

 private:
  std::optional<RuleMask> made(ExpressionId expression, NodeId from, Budget& budget, VerifiedTokens* verified);

  RuleWalkContext& context_;
  ReadNotes notes_;
  bool notes_all_ = false;
};

}  // namespace tokamata
