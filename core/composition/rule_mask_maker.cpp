#include "composition/rule_mask_maker.hpp"

#include "composition/rule_walk.hpp"

namespace tokamata {

// Where segments turn out not to pay, once more without them.
RuleMask RuleMaskMaker::make(ExpressionId expression, NodeId from, Budget& budget, VerifiedTokens* verified) {
  {
    const SegmentPayoff::Trial trial(context_.rule_segments.payoff());
    if (std::optional<RuleMask> mask = made(expression, from, budget, verified)) return *std::move(mask);
  }
  return *made(expression, from, budget, verified);
}

// Nothing where it was given up in a trial.
std::optional<RuleMask> RuleMaskMaker::made(ExpressionId expression, NodeId from, Budget& budget,
                                            VerifiedTokens* verified) {
  const RuleWalkPool::Lease buffers(context_.pool);
  MaskSink sink(*buffers, notes_);
  const HandOver hand_over(verified, [&](VerifiedTokens& to) { sink.hand_over(to); });
  RuleWalk<MaskSink> walk(context_, *buffers, sink, budget);
  if (!walk.run(expression, from)) return std::nullopt;
  notes_all_ = context_.operands.arena().rule_sets().any_joins() && !walk.has_walked() && !walk.has_applied_choice();
  return sink.take();
}

}  // namespace tokamata
