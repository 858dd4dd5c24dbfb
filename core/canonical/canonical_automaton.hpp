// A pattern and a tokenizer together: which tokens may follow, so that the sequence is canonical and leads to a text
// that the pattern accepts.
//
// Problem.  Find the tokens that the pattern allows, that the tokenizer would write (tokenization.hpp), and that are
// live (liveness.hpp): a canonical sequence continues from them to an accepted text.
// How.  Which tokens are live in a pair of states, one of the pattern and one of a hypothesis about the text, does not
// depend on the last token (mask_segments.hpp).  What the last token forbids depends on it alone.  So a mask is a mask
// base, the union of the mask segments of all hypotheses, without the tokens that the last token forbids inside a
// pre-token.
//
//     Llama 3.1, any text, after ` th`: the base after three letters is the same as after ` ab`.  From it, `e`, `ere`
//     and 1,200 others are cleared, since ` the` and ` there` are tokens.
//
// Patterns with rules have infinitely many states, since these keep what was written.  Liveness is decided for
// over-approximations (expression/rules.hpp), which many states share; then the mask is cut to what the exact state
// allows.  A live over-approximation has a canonical text.  The exact state refuses only names and elements of it that
// were written before, and another name or element can replace each of them.
//
// Source: 001's CartesianMerge (algorithms 5 and 6), computed lazily and with borders.  Cost: a mask segment is
// computed once for each pair of states, and a mask base once for each set of hypotheses.  A mask is then a copy
// without the forbidden tokens; if few tokens are allowed, each is tested by itself.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "canonical/canonical_budgets.hpp"
#include "canonical/canonical_configuration.hpp"
#include "canonical/mask_segments.hpp"
#include "canonical/tokenization.hpp"
#include "common/bounded_memo.hpp"
#include "common/memory_account.hpp"
#include "composition/token_automaton.hpp"

namespace tokamata {

// Contract.
//   - Lifetimes.  It refers to the token automaton, which must outlive it, and shares the tokenization.  Whoever holds
//     a MaskPtr keeps it.  A CanonicalState belongs to the tokenization, and no compaction concerns it.  What is
//     memoized is keyed by states of the pattern: call `clear` before these are renumbered.
//   - Locks.  It has none: one thread at a time, which holds the lock of its Constraint.  The tokenization is shared by
//     constraints and has locks of its own.  `oldest_serial` alone needs no lock.
//   - Errors.  A member with a Budget may end with LimitExceeded, Cancelled or std::bad_alloc.  What is memoized is
//     kept once it is whole, so the same call may be made again.
class CanonicalAutomaton {
 public:
  using Configuration = TokenAutomaton::Configuration;

  CanonicalAutomaton(TokenAutomaton& pattern, std::shared_ptr<const Tokenization> tokenization)
      : pattern_(pattern),
        tokenization_(std::move(tokenization)),
        liveness_(pattern_, *tokenization_),
        segments_(pattern_, *tokenization_, liveness_),
        budgets_(pattern_, *tokenization_, segments_, liveness_.text().added()) {}
  CanonicalAutomaton(const CanonicalAutomaton&) = delete;
  CanonicalAutomaton& operator=(const CanonicalAutomaton&) = delete;

  const Tokenization& tokenization() const { return *tokenization_; }

  MaskPtr known_mask(Configuration place, const CanonicalState& state) const;
  MaskPtr mask(Configuration place, const CanonicalState& state, Budget& budget, VerifiedTokens* verified = nullptr) {
    return made_mask(place, state, budget, verified).mask.shared();
  }

  struct Target {
    StateId state;
    CanonicalState canonical;
  };
  // Where a token that is no stop token leads, if it is allowed.
  std::optional<Target> step(Configuration place, const CanonicalState& state, TokenId token, Budget& budget);
  // Whether some canonical sequence continues to an accepted text.
  bool lives(Configuration place, const CanonicalState& state, Budget& budget) {
    return bound(place, state, budget) != kDead;
  }

  // Budgets: as in Completions, for canonical tokens.
  MaskPtr mask_within(Configuration place, const CanonicalState& state, TokenCount left, Budget& budget,
                      VerifiedTokens* verified = nullptr);
  // A token of the mask, found without making it: as in Completions.
  std::optional<TokenId> closing_token(Configuration place, const CanonicalState& state, TokenCount left,
                                       Budget& budget);
  std::vector<TokenId> shortest(Configuration place, const CanonicalState& state, Budget& budget);
  // Whether so many tokens suffice, from a live configuration; with rules by those that `shortest` finds.
  bool suffices(Configuration place, const CanonicalState& state, TokenCount tokens, Budget& budget);
  // No fewer do.
  TokenCount at_least(Configuration place, Budget& budget) { return budgets_.at_least(place, budget); }
  CanonicalBudgets::TransitionsPtr transitions(Configuration place, Budget& budget) {
    return budgets_.transitions(place, budget);
  }
  bool accepting(Configuration place, const CanonicalState& state) const {
    return pattern_.automaton().accepting(place.state) && tokenization_->may_end(state);
  }

  // Whether a state that `accept` takes is reached from a border by at most one byte, and each of its texts but the
  // empty one is canonical there.
  template <class Accept>
  bool leads_to_all(StateId state, const CanonicalState& at, const Hypothesis& border, Accept&& accept,
                    Budget& budget) {
    const TextState text{border.guess, border.place, at.starter, at.marks, at.open};
    return liveness_.text().leads_to_all(state, text, accept, budget);
  }

  // Whether a text that the pattern accepts may begin after some context.
  bool lives_somewhere(StateId state, Budget& budget);

  // Forgets everything, because the states of the pattern are renumbered.
  void clear();
  // Masks with a smaller serial are no longer in the memo.
  std::uint64_t oldest_serial() const { return oldest_serial_; }
  // Drops masks and mask bases, oldest first, until the account holds no more than `limit` bytes or one mask
  // is left.
  void trim_masks(std::size_t limit);

 private:
  // What a mask has for every last token.
  struct MaskBase {
    MaskBits bits;
    Words kept;  // a row of the tokens that the last token cannot forbid; empty if it can forbid none
    MaskSegments::ByPieces by_pieces;
    std::size_t open_tokens, stop_tokens;
    TokenCount most;  // the most tokens that any of these needs after it

    std::size_t memory_bytes() const {
      return shared_block_bytes<MaskBase>() + bits.memory_bytes() + block_bytes_of(kept) +
             block_bytes_of(by_pieces.tokens) + block_bytes_of(by_pieces.unsure);
    }
  };
  struct Made {
    Kept<Mask> mask;
    TokenCount most;
  };
  // The caller holds it, since it may be dropped meanwhile.
  using MaskBasePtr = std::shared_ptr<const MaskBase>;
  MaskBasePtr base(Configuration place, const CanonicalState& state, Budget& budget, VerifiedTokens* verified);
  MaskBase make_base(const ConfigurationKey& key, Budget& budget, VerifiedTokens* verified);
  const Made& made_mask(Configuration place, const CanonicalState& state, Budget& budget,
                        VerifiedTokens* verified = nullptr);
  TokenCount forbid(Configuration place, const CanonicalState& state, const MaskBase& base, Mask& mask, Budget& budget);
  static void cut(const Mask& exact, Mask& mask);
  void drop_oldest_mask();

  TokenCount most_after(Configuration place, TokenCount by_witnesses, Budget& budget);
  TokenCount bound(Configuration place, const CanonicalState& state, Budget& budget);
  // The configuration of the over-approximation, if the pattern has rules and the text is not empty.
  Configuration approximated(Configuration place, Budget& budget) {
    if (place.at_start || !pattern_.operands().is_approximated(place.state)) return place;
    if (!approximated_ || approximated_->first != place.state)
      approximated_ = {place.state, pattern_.operands().approximated(place, budget)};
    return approximated_->second;
  }

  TokenAutomaton& pattern_;
  std::shared_ptr<const Tokenization> tokenization_;
  // the last one: tokens of a string leave it where it was
  std::optional<std::pair<StateId, Configuration>> approximated_;
  Liveness liveness_;
  MaskSegments segments_;
  CanonicalBudgets budgets_;
  static constexpr std::size_t kMostSparse = 256;  // tokens of a base that is kept as words with their places
  static constexpr std::size_t kMostBases = 128;
  BoundedMemo<ConfigurationMap<Kept<MaskBase>>> bases_{kMostBases};
  static constexpr std::size_t kMostMasks = 8;  // places are hardly met again
  BoundedMemo<ConfigurationMap<Made>> masks_{kMostMasks};
  std::atomic<std::uint64_t> oldest_serial_ = 0;  // read without the lock
};

}  // namespace tokamata
