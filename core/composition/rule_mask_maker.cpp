#include "composition/rule_mask_maker.hpp"

#include "composition/rule_walk.hpp"

namespace tokamata {

// Where segments turn out not to pay, once more without them.
RuleMask RuleMaskMaker::make(ExpressionId expression, NodeId from, Budget& budget) {
  {
    const SegmentPayoff::Trial trial(context_.rule_segments.payoff());
    if (std::optional<RuleMask> mask = made(expression, from, budget)) return *std::move(mask);
  }
  return *made(expression, from, budget);
}

// Nothing where it was given up in a trial.
std::optional<RuleMask> RuleMaskMaker::made(ExpressionId expression, NodeId from, Budget& budget) {
  const RuleWalkPool::Lease buffers(context_.pool);
  MaskSink sink(*buffers, notes_);
  RuleWalk<MaskSink> walk(context_, *buffers, sink, budget);
  if (!walk.run(expression, from)) return std::nullopt;
  notes_all_ = context_.operands.arena().rule_sets().any_joins() && !walk.has_walked() && !walk.has_applied_choice();
  return sink.take();
}

}  // namespace tokamata
