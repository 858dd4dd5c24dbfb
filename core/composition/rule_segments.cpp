#include "composition/rule_segments.hpp"

#include "composition/rule_mask_maker.hpp"

namespace tokamata {

RuleSegments::RuleSegments(Operands& operands, StateLoops& loops, Beginnings& beginnings, Segments& segments,
                           CountedWork& work)
    : context_{operands, loops, beginnings, segments, *this, work} {}
RuleSegments::~RuleSegments() = default;

RuleMaskMaker& RuleSegments::maker() {
  if (!maker_) maker_ = std::make_unique<RuleMaskMaker>(context_);
  return *maker_;
}

const RulesSegment* RuleSegments::of(ExpressionId part, const TokenTrie& trie, NodeId node, Follow follow,
                                     Budget& budget) {
  const PartAt place{&trie, node, part, follow};
  auto known = known_.find(place);
  if (known != known_.end()) {
    ++context_.work.counts.segments_found;
  } else {
    const TimeOfPart timed = context_.work.time_segment();
    ++context_.work.counts.segments_made;
    std::shared_ptr<const RulesSegment> made = maker().make_segment(part, trie, node, follow, budget);
    known = known_.emplace(place, Kept(std::move(made))).first;
  }
  return known->second ? &*known->second : nullptr;
}

}  // namespace tokamata
