// A pattern and a tokenizer together: which tokens may come next, so that the sequence is the tokenizer's own
// for a text that the pattern accepts.
//
// Problem.  Of the tokens that the pattern allows, those must be found after which a canonical sequence of tokens
// goes on to a text that it accepts: the tokenizer allows them (tokenization.hpp), and they live (liveness.hpp).
// How.  What lives in a pair of states, of the pattern and of a hypothesis about the text, does not depend on the
// last token (mask_segments.hpp); what the last token forbids depends on it alone.  So a mask is a *base*, the union
// of the parts of all hypotheses, less what the last token forbids of those where the pre-token goes on.
//
//     Llama 3.1, anything at all, after ` th`: the base after three letters is the one that ` ab` has too; of
//     it, `e`, `ere` and 1,200 others are cleared, since ` the` and ` there` are tokens.
//
// Rules have states without end, since they keep what was written.  Liveness is decided for their over-approximations
// (expression/rules.hpp), which many states share; a mask is then cut to what the pattern itself allows.  A live
// over-approximation has a canonical text; what the state itself refuses of it are names and elements that were written before, and
// another name or element lives in their place.
//
// Source: the product is 001's CartesianMerge (algorithms 5 and 6), lazily and with borders.  Cost: parts are
// made once for each pair of states, mask bases once for each set of hypotheses; then a mask is a copy, less the tokens
// that are forbidden; where few are allowed, each is asked.
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
#include "common/memory_account.hpp"
#include "composition/closed_form.hpp"
#include "composition/token_automaton.hpp"

namespace tokamata {

// Contract.
//   - Lifetimes.  It refers to the token automaton, which must outlive it, and shares the tokenization.  Whoever holds a
//     MaskPtr keeps it.  A CanonicalState belongs to the tokenization, and no compaction concerns it.  What is memoized is
//     keyed by states of the pattern: call `clear` before these are renumbered.
//   - Locks.  It has none: one thread at a time, which holds the lock of its Constraint.  The tokenization is shared by
//     constraints and has locks of its own.  `oldest_serial` alone needs no lock.
//   - Errors.  A member with a Budget may end with LimitExceeded, Cancelled or std::bad_alloc.  What is memoized is kept
//     once it is whole, so the same call may be made again.
class CanonicalAutomaton {
 public:
  using Configuration = TokenAutomaton::Configuration;

  CanonicalAutomaton(TokenAutomaton& pattern, std::shared_ptr<const Tokenization> tokenization)
      : pattern_(pattern), tokenization_(std::move(tokenization)), liveness_(pattern_, *tokenization_),
        segments_(pattern_, *tokenization_, liveness_), budgets_(pattern_, *tokenization_, segments_, liveness_.text().added()) {}
  CanonicalAutomaton(const CanonicalAutomaton&) = delete;
  CanonicalAutomaton& operator=(const CanonicalAutomaton&) = delete;

  const Tokenization& tokenization() const { return *tokenization_; }

  MaskPtr known_mask(Configuration place, const CanonicalState& state) const;
  MaskPtr mask(Configuration place, const CanonicalState& state, Budget& budget) { return made_mask(place, state, budget).mask.shared(); }

  struct Target {
    StateId state;
    CanonicalState canonical;
  };
  // Where a token that is no stop token leads, if it is allowed.
  std::optional<Target> step(Configuration place, const CanonicalState& state, TokenId token, Budget& budget);
  // Whether some canonical sequence goes on from here to an accepted text.
  bool lives(Configuration place, const CanonicalState& state, Budget& budget) { return bound(place, state, budget) != kDead; }

  // Budgets: as Completions has them, for the tokenizer's own tokens alone.
  MaskPtr mask_within(Configuration place, const CanonicalState& state, TokenCount left, Budget& budget);
  TokenCount tokens_needed(Configuration place, const CanonicalState& state, Budget& budget) { return shortest(place, state, budget).size(); }
  std::vector<TokenId> shortest(Configuration place, const CanonicalState& state, Budget& budget);
  bool accepting(Configuration place, const CanonicalState& state) const {
    return pattern_.automaton().accepting(place.state) && tokenization_->may_end(state);
  }

  // The longest text that every canonical continuation begins with.
  std::string forced_text(Configuration place, const CanonicalState& state, Budget& budget);
  // All of it, as far as it is reached from the start; classes of tokens are single tokens.
  ClosedForm closed_form(Budget& budget);

  // Whether any context lets a text begin that the pattern accepts.
  bool lives_somewhere(StateId state, Budget& budget);

  // Forgets everything; states of the pattern have new numbers.
  void clear();
  // Masks with a smaller serial are no longer in the memo.
  std::uint64_t oldest_serial() const { return oldest_serial_; }
  // Gives up masks and what they are made of, oldest first, until the account holds no more than `limit` bytes or one mask
  // is left.
  void trim_masks(std::size_t limit);

 private:
  // What stands after all last tokens alike.
  struct MaskBase {
    MaskBits bits;
    Words kept;  // of those, what the last token does not forbid, as a row; empty where it forbids nothing
    std::size_t open_tokens, stop_tokens;
    TokenCount most;  // that any of the tokens needs after it

    std::size_t memory_bytes() const { return shared_block_bytes<MaskBase>() + bits.memory_bytes() + block_bytes_of(kept); }
  };
  struct Made {
    Kept<Mask> mask;
    TokenCount most;
  };
  // Held by whoever uses it: it may be given up meanwhile.
  using MaskBasePtr = std::shared_ptr<const MaskBase>;
  MaskBasePtr base(Configuration place, const CanonicalState& state, Budget& budget);
  MaskBase make_base(const ConfigurationKey& key, Budget& budget);
  const Made& made_mask(Configuration place, const CanonicalState& state, Budget& budget);
  TokenCount forbid(Configuration place, const CanonicalState& state, const MaskBase& base, Mask& mask, Budget& budget);
  void cut(Configuration place, Configuration approximation, Mask& mask, Budget& budget);
  void drop_oldest_mask();

  TokenCount most_after(Configuration place, TokenCount by_witnesses, Budget& budget);
  TokenCount bound(Configuration place, const CanonicalState& state, Budget& budget);
  // The place of the over-approximation, where the pattern has rules; nothing is written yet at the start.
  Configuration approximated(Configuration place, Budget& budget) {
    if (place.at_start || !pattern_.is_approximated(place.state)) return place;
    if (!approximated_ || approximated_->first != place.state) approximated_ = {place.state, pattern_.approximated(place, budget)};
    return approximated_->second;
  }

  TokenAutomaton& pattern_;
  std::shared_ptr<const Tokenization> tokenization_;
  std::optional<std::pair<StateId, Configuration>> approximated_;  // the last one: tokens of a string leave it where it was
  Liveness liveness_;
  MaskSegments segments_;
  CanonicalBudgets budgets_;
  static constexpr std::size_t kFew = 256;  // tokens that are not kept as a row
  static constexpr std::size_t kMostBases = 128;
  RecentConfigurations<Kept<MaskBase>> bases_;
  static constexpr std::size_t kMostMasks = 8;  // places are hardly met again
  RecentConfigurations<Made> masks_;
  std::atomic<std::uint64_t> oldest_serial_ = 0;  // read without the lock
};

}  // namespace tokamata
