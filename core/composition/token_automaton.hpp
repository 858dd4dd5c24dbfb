// The pattern composed with the vocabulary: an automaton over tokens, computed lazily.
//
// Problem.  Which tokens may follow, and to which states do they lead?  002, algorithm 2, composes the pattern with the
// detokenizing transducer in advance; here masks and steps are computed when they are needed, and kept.
//
// A set bit of a mask means that tokens lead from this token to some accepted text.  A state from which tokens lead to
// an accepted text is spellable.
//
// How.  This class puts the parts together, and decides which of them makes a mask.  Each uses those above it:
//     Operands          the pattern as a byte automaton, the vocabulary, and what follows from both
//     TokenLiveness     which states are spellable, and bounds on the tokens that they need
//     TokenSteps        where tokens lead; forced text; token classes
//     StateLoops        the code points that a state can read repeatedly
//     Segments          what terminals do to the vocabulary
//     RuleSegments      what parts of a grammar do to it
//     MaskMemo          which masks are kept, and whose mask a state has
//     RegularMasks      masks of states without rules, one for each clipped state (clipping.hpp)
//     RuleMasks         masks of states with rules, by their over-approximations
//     LanguageMasks     masks of rules within a regular language
// Completions (completions.hpp, long_completions.hpp) and the closed form are computed from this class.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/ids.hpp"
#include "common/limits.hpp"
#include "composition/approximation_cuts.hpp"
#include "composition/beginnings.hpp"
#include "composition/mask_memo.hpp"
#include "composition/mask_work.hpp"
#include "composition/mask_writer.hpp"
#include "composition/operands.hpp"
#include "composition/regular_masks.hpp"
#include "composition/rule_masks.hpp"
#include "composition/rule_segments.hpp"
#include "composition/segments.hpp"
#include "composition/state_loops.hpp"
#include "composition/token_liveness.hpp"
#include "composition/token_steps.hpp"

namespace tokamata {

class LanguageMasks;

// Contract.
//   - Lifetimes.  It owns its byte automaton and shares the vocabularies.  Whoever holds a MaskPtr or a segment keeps
//     it.  A `const MaskPtr&` or a `const MaskPtr*` is good until the next call of a member that is not const; a
//     segment's pointer stays where it is until `keep_only`.
//   - Compaction.  `keep_only` renumbers states as ByteAutomaton does.  It keeps the masks of the states named, and
//     forgets all else that was computed.  Segments stay with the vocabulary.
//   - Locks.  It has none: one thread at a time, which holds the lock of its Constraint.  `oldest_serial` alone needs
//     no lock.
//   - Errors.  As for ByteAutomaton: a memo keeps only whole values.  If `keep_only` throws, either all states have
//     their new numbers or none has; masks and other memos may be lost, and are recomputed.
//   - `known_mask` computes nothing: it answers from the memo, or returns nothing.
class TokenAutomaton {
 public:
  using ControlTokens = Operands::ControlTokens;
  using Configuration = TokenConfiguration;
  using Reading = TokenSteps::Reading;
  using Room = TokenLiveness::Room;
  static constexpr std::uint64_t kEndless = TokenLiveness::kEndless;

  // As for Operands.
  TokenAutomaton(const Expression& pattern, std::shared_ptr<const Vocabulary> vocabulary,
                 std::shared_ptr<const Vocabulary> start_vocabulary, const ControlTokens& control_tokens,
                 const Limits& limits, std::shared_ptr<const CancelToken> cancel);
  ~TokenAutomaton();

  Configuration start() const { return {automaton().start(), has_start_rule()}; }

  // ---- masks ----

  // Null where the mask is not in the memo.
  const MaskPtr* known_mask(Configuration configuration) const { return memo_.find(configuration); }
  const MaskPtr& mask(Configuration configuration, Budget& budget, VerifiedTokens* verified = nullptr);
  // The stop tokens alone.
  const MaskPtr& stop_mask() const { return stop_mask_.shared(); }
  // A bound on the tokens that are needed after any allowed token; kEndless: not known.
  std::uint64_t most_after(Configuration configuration) const;
  // A mask of the given tokens, and of the stop tokens if the text is accepted.
  MaskPtr mask_of(Configuration configuration, std::span<const std::uint32_t> tokens) {
    return mask_of(configuration, tokens, automaton().accepting(configuration.state));
  }
  MaskPtr mask_of(Configuration configuration, std::span<const std::uint32_t> tokens, bool is_accepted) {
    return writer_.of_tokens(configuration, tokens, is_accepted);
  }
  // The same of a row of bits.
  MaskPtr mask_of_row(Configuration configuration, Words row) { return writer_.of_row(configuration, std::move(row)); }
  // RegularMasks.
  std::optional<Factors> factors(StateId state) { return regular_masks_.factors(state); }
  MaskCache::TokensPtr inside(const ClassLoop& loop, Budget& budget) { return regular_masks_.inside(loop, budget); }
  RuleMasks& rule_masks() { return rule_masks_; }

  // Masks with a smaller serial have been dropped from the memo.
  std::uint64_t oldest_serial() const { return memo_.oldest_serial(); }
  // The number of the next mask that is made, here or from this automaton.
  std::uint64_t take_serial() { return memo_.take_serial(); }

  // What was done for masks so far.
  MaskWork work() const {
    MaskWork all = work_.counts;
    all.states = automaton().state_count();
    return all;
  }
  // To be added to by those who make masks.
  MaskWork& counted_work() { return work_.counts; }
  TimeOfPart timed_mask() { return work_.time_mask(); }

  // ---- steps: TokenSteps ----

  TokenSteps& steps() { return steps_; }
  const TokenSteps& steps() const { return steps_; }
  std::optional<StateId> step(Configuration configuration, TokenId token, Budget& budget) {
    return steps_.step(configuration, token, budget);
  }
  Reading read(StateId state, std::string_view text, Budget& budget) { return steps_.read(state, text, budget); }

  // ---- liveness: TokenLiveness ----

  bool spellable(Configuration configuration, Budget& budget) { return liveness_.spellable(configuration, budget); }
  bool spellable(StateId state, Budget& budget) { return liveness_.spellable(state, budget); }
  bool is_empty(Budget& budget) { return liveness_.is_empty(budget); }
  Room room(StateId state) const { return liveness_.room(state); }

  // ---- segments ----

  Segments& segments() { return segments_; }
  Follow follow_of(ExpressionId expression) { return beginnings_.follow_of(expression); }
  RuleWalkContext& rule_context() { return rule_segments_.context(); }

  // ---- operands ----

  Operands& operands() { return operands_; }
  ByteAutomaton& automaton() { return operands_.automaton(); }
  const ByteAutomaton& automaton() const { return operands_.automaton(); }
  const Vocabulary& vocabulary(bool at_start) const { return operands_.vocabulary(at_start); }
  bool has_start_rule() const { return operands_.has_start_rule(); }
  bool is_spelled_by_bytes() const { return operands_.is_spelled_by_bytes(); }
  const std::vector<TokenId>& controls() const { return operands_.controls(); }
  StateId edge(StateId state, Budget& budget) { return operands_.edge(state, budget); }

  // ---- memory ----

  // Drops masks, oldest first, until the account holds no more than `limit` bytes or one mask is left.
  void trim_masks(std::size_t limit) { memo_.trim(limit); }
  // Frees every state except the start and those named, whose new numbers replace the old ones in place.
  void keep_only(std::span<StateId* const> states);

 private:
  LanguageMasks& language_masks();

  CountedWork work_;
  Operands operands_;
  TokenLiveness liveness_{operands_};
  TokenSteps steps_{operands_, liveness_};
  StateLoops loops_{operands_, liveness_};
  Beginnings beginnings_{operands_.arena()};
  Segments segments_{operands_, loops_, work_};
  RuleSegments rule_segments_{operands_, loops_, beginnings_, segments_, work_};
  MaskMemo memo_{operands_};
  MaskWriter writer_{operands_, memo_};
  RuleMaskMaker mask_maker_{rule_segments_.context()};
  RegularMasks regular_masks_{steps_, rule_segments_.context(), mask_maker_, memo_, writer_};
  RuleMasks rule_masks_{steps_, rule_segments_.context(), mask_maker_, memo_, writer_};
  std::unique_ptr<LanguageMasks> language_masks_;  // made with the first state of rules within a regular language
  Kept<Mask> stop_mask_;
};

}  // namespace tokamata
