// Masks of states without rules.
//
// Problem.  Which tokens lead from a state to a spellable one?  002, algorithm 2, composes the pattern with the
// detokenizing transducer.  Here the trie is the transducer, and a walk of the trie in step with the byte automaton is
// the composition (mask_walk.hpp).
// How.  Four makers, of which the first that serves is taken: segments, where the state begins with a terminal and has
// no loops; token classes, where walks from states without loops have turned out to be long; loops over wide classes,
// which many constraints share (factored_mask.hpp); a walk of the whole trie.
// Example.  [a-z]+x  is made of the shared tokens of letters;  (a|b)c  by a walk of a dozen nodes.
#pragma once

#include <cstdint>
#include <optional>

#include "composition/class_walk.hpp"
#include "composition/factored_mask.hpp"
#include "composition/mask_memo.hpp"
#include "composition/mask_walk.hpp"
#include "composition/mask_work.hpp"
#include "composition/mask_writer.hpp"
#include "composition/operands.hpp"
#include "composition/rule_mask_maker.hpp"
#include "composition/state_loops.hpp"
#include "composition/token_steps.hpp"
#include "composition/verified_tokens.hpp"

namespace tokamata {

class RegularMasks {
 public:
  // Of what outlives it.
  RegularMasks(TokenSteps& steps, RuleWalkContext& context, RuleMaskMaker& maker, MaskMemo& masks, MaskWriter& writer);

  // The mask, and, in the memo, the bound on what is needed after it.
  MaskPtr make(TokenConfiguration configuration, Budget& budget, VerifiedTokens* verified = nullptr);

  // To be called when states get other numbers.
  void clear() {
    stopped_.reset();
    stopped_in_classes_.reset();
  }

  // The alternatives of a state, if its mask is the union of their masks and one of them is a loop over a wide
  // class; and the tokens that stay inside such a class.
  std::optional<Factors> factors(StateId state);
  MaskCache::TokensPtr inside(const ClassLoop& loop, Budget& budget);

 private:
  template <class Task>
  void with_walk(bool at_start, Budget& budget, Task&& task);
  template <class Walk>
  void run_resumably(Walk& walk, TokenConfiguration from, std::uint64_t& most);
  MaskPtr factored_mask(StateId state, Budget& budget, VerifiedTokens* verified);
  void add_inside(const ClassLoop& loop, Mask& mask, Budget& budget);
  bool has_terminal_mask(StateId state) const;
  bool without_loops(TokenConfiguration configuration, Budget& budget);
  MaskPtr mask_by_classes(TokenConfiguration configuration, Budget& budget, VerifiedTokens* verified);
  std::uint64_t most_from(StateId state) const;

  TokenSteps& steps_;
  TokenLiveness& liveness_;
  Operands& operands_;
  const Vocabulary& vocabulary_;
  ByteAutomaton& automaton_;
  RuleMaskMaker& maker_;
  StateLoops& loops_;
  CountedWork& work_;
  MaskMemo& masks_;
  MaskWriter& writer_;
  bool walks_are_long_ = false;  // from states without loops
  // The last walks that were stopped before their end, which the same walks go on with: of a whole trie, and of classes.
  struct Stopped {
    TokenConfiguration configuration;
    PausedWalk walk;
    std::uint64_t most;
  };
  struct StoppedInClasses {
    TokenConfiguration configuration;
    PausedClassWalk walk;
    std::vector<std::uint32_t> tokens;
    std::uint64_t most;
  };
  std::optional<Stopped> stopped_;
  std::optional<StoppedInClasses> stopped_in_classes_;
};

}  // namespace tokamata
