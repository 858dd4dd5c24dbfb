// What parts of a grammar do to the vocabulary: the segments of rules, each made once.
//
// A segment of a part may need those of parts within it, and the walk that makes it asks for them here
// (rule_walk.hpp).  So walks for segments nest, as deep as parts do.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>

#include "common/memory_account.hpp"
#include "composition/beginnings.hpp"
#include "composition/mask.hpp"
#include "composition/mask_work.hpp"
#include "composition/operands.hpp"
#include "composition/part_at.hpp"
#include "composition/rule_walk_buffers.hpp"
#include "composition/segment_payoff.hpp"
#include "composition/segments.hpp"
#include "composition/state_loops.hpp"

namespace tokamata {

class RuleSegments;

// What a part of a grammar does to the tokens below a node of a trie, whatever follows the part: what a Segment says of
// a terminal.
// Problem.  The operands of every operator are expressions, and so is what stands within brackets: without segments,
// all that an expression may begin with is followed again at each node of the trie where one begins.
struct RuleSegment {
  MaskBits inside;                        // the tokens that stay inside the part or end it
  TokenTrie remainders;                   // of those that pass its end
  std::optional<TokenTrie::Place> trunk;  // of the remainders
  std::uint64_t most;  // the most bytes that any of the first leaves to be written inside; or RuleMask::kEndless

  std::size_t memory_bytes() const {
    return shared_block_bytes<RuleSegment>() + inside.memory_bytes() + remainders.memory_bytes();
  }
};

// Where walks of rules look things up.
struct RuleWalkContext {
  Operands& operands;
  StateLoops& loops;
  Beginnings& beginnings;
  Segments& segments;
  RuleSegments& rule_segments;
  CountedWork& work;
  RuleWalkPool& pool;
};

class RuleSegments {
 public:
  // Of what outlives it.
  RuleSegments(Operands& operands, StateLoops& loops, Beginnings& beginnings, Segments& segments, CountedWork& work);

  // The segment of a part of a grammar that begins at a node of a trie; null if it has none, because its tokens must be
  // judged with what follows it.  Nothing if it was given up, since segments turned out not to pay
  // (segment_payoff.hpp).
  std::optional<const RuleSegment*> of(ExpressionId part, const TokenTrie& trie, NodeId node, Follow follow,
                                       Budget& budget);
  SegmentPayoff& payoff() { return payoff_; }
  RuleWalkContext& context() { return context_; }

  // To be called when states get other numbers.
  void clear() { release(known_); }

 private:
  // Nothing if it was given up; null if there is none.
  std::optional<std::shared_ptr<const RuleSegment>> made(ExpressionId part, const TokenTrie& trie, NodeId node,
                                                         Follow follow, Budget& budget);

  RuleWalkPool pool_;
  RuleWalkContext context_;
  SegmentPayoff payoff_;
  // before it, since keys point to the tries of remainders: the segments of terminals
  counted::unordered_map<PartAt, Kept<RuleSegment>, PartAt::Hash> known_;
};

}  // namespace tokamata
