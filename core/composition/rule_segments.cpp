#include "composition/rule_segments.hpp"

#include "composition/rule_sinks.hpp"
#include "composition/rule_walk.hpp"

namespace tokamata {

RuleSegments::RuleSegments(Operands& operands, StateLoops& loops, Beginnings& beginnings, Segments& segments,
                           CountedWork& work)
    : pool_(operands.arena(), beginnings, operands.vocabulary().words()),
      context_{operands, loops, beginnings, segments, *this, work, pool_} {}

std::optional<const RuleSegment*> RuleSegments::of(ExpressionId part, const TokenTrie& trie, NodeId node, Follow follow,
                                                   Budget& budget) {
  const PartAt place{&trie, node, part, follow};
  if (const auto known = known_.find(place); known != known_.end()) {
    ++context_.work.counts.segments_found;
    return known->second ? &*known->second : nullptr;
  }
  const TimeOfPart timed = context_.work.time_segment();
  ++context_.work.counts.segments_made;
  std::optional<std::shared_ptr<const RuleSegment>> segment = made(part, trie, node, follow, budget);
  if (!segment) return std::nullopt;
  const Kept<RuleSegment>& kept = known_.emplace(place, Kept(*std::move(segment))).first->second;
  return kept ? &*kept : nullptr;
}

std::optional<std::shared_ptr<const RuleSegment>> RuleSegments::made(ExpressionId part, const TokenTrie& trie,
                                                                     NodeId node, Follow follow, Budget& budget) {
  const RuleWalkPool::Lease buffers(pool_);
  SegmentSink sink(*buffers);
  RuleWalk<SegmentSink> walk(context_, *buffers, sink, budget);
  if (!walk.run_part(part, {&trie, node}, follow)) return std::nullopt;
  // A choice was applied to all that follows as one expression, in which the end of the part does not show.
  if (walk.has_walked() || walk.has_applied_choice() || sink.has_unverified())
    return std::shared_ptr<const RuleSegment>();
  const std::size_t much = Segment::much_for(context_.operands.vocabulary().words());
  return std::make_shared<const RuleSegment>(sink.take(follow, much));
}

}  // namespace tokamata
