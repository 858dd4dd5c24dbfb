// One text that is being written: the tokens so far, and the state after each of them.
//
// Contract.
//   - `advance(t)` returns true if and only if bit t of `mask()` is set.  If it returns false, or a call throws, the
//     matcher is unchanged.
//   - `rollback(n)` removes the last n accepted tokens, including stop tokens.
//   - Where texts begin with a thought (thought.hpp), masks leave room for the answer: within the thought a budget is
//     less, and a bound on the thought is a budget of its own, also where there is no other.
//   - After a stop token only stop tokens are allowed.  Those of a matcher are the vocabulary's, unless it has its own.
//   - Limits and the cancel token are those of its constraint.  Where the shared states are more than they allow, the
//     matcher moves on to states of the constraint's own (constraint.hpp), and the call goes on there.
//   - Lifetimes.  A matcher shares its constraint and owns its steps.  A mask never changes, even if the matcher goes
//     or the constraint frees memory.  A compaction renumbers the states in the steps; no caller sees them.
//   - Locks.  Every member except `constraint` takes the lock of the states, so several threads may use the matchers
//     of one constraint, or one matcher.  The members named try_ never wait and never compute: if the lock is held, or
//     the answer is not known, they return nothing.
//   - Deadlines.  A member with a deadline throws LimitExceeded once it is over, also while it waits for the lock.
//     What was made until then is kept.
//   - Errors.  A member that computes may throw LimitExceeded, Cancelled or std::bad_alloc.  The work still counts
//     against Limits::seconds, and its results may be kept for the next call.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "matching/constraint.hpp"

namespace tokamata {

// Why a token is refused; or Allowed.
struct Explanation {
  enum class Verdict {
    Allowed,
    Padding,      // the vocabulary has no such token, only the logits have a column for it
    NotText,      // a control token, or a token without bytes
    StopTooSoon,  // a stop token, but the text is not accepted yet
    AfterStop,    // a token that the pattern allows, but after a stop token
    Byte,         // the byte at `offset` may not follow; those of `expected` may
    Unspellable,  // all its bytes may follow, but no tokens lead from there to an accepted text
    // With canonical tokenization:
    NeverMade,   // the tokenizer's model never writes it
    Merge,       // the tokenizer would merge it with the token before it, or with a part of that token
    PreToken,    // the pre-tokenizer splits the text elsewhere
    Normalizer,  // the normalizer changes the text
    AddedToken,  // the text would become an added token
    DeadEnd,     // it is canonical, but no canonical sequence continues to an accepted text
    // With a least number of tokens:
    TooShort,  // the pattern allows it, but no text that is long enough continues with it
    // With a bound on the thought:
    TooMuchThought,  // the thought could not end in time
  };
  Verdict verdict;
  std::size_t offset = 0;  // into the bytes of the token
  ByteSet expected;        // what could come at `offset`
  // control tokens that may stand here instead; empty unless `offset` is 0
  std::vector<TokenId> expected_tokens = {};
  // at `offset`: strings that must come before all others, such as required names
  std::vector<std::string> awaited = {};
};

// Tokens that may follow a text, as a tree: `parents[i]` is the node before node i, and kNoNode stands for the text
// itself.  Each node comes after its parent.  Without parents they are a chain.
struct Draft {
  static constexpr std::uint32_t kNoNode = ~std::uint32_t{0};

  std::span<const TokenId> tokens;
  std::span<const std::uint32_t> parents = {};

  std::uint32_t parent(std::size_t node) const {
    return parents.empty() ? static_cast<std::uint32_t>(node) - 1 : parents[node];
  }
};

// The mask after the text, then that after each node.  Null: nothing is allowed there, since the node or one before it
// is not, or since the budget is used up.  A node is legal if the mask before it allows its token.
struct DraftMasks {
  std::vector<MaskPtr> rows;
  std::vector<bool> legal;
};

class Matcher {
 public:
  explicit Matcher(std::shared_ptr<Constraint> constraint);
  // Begins after a context of tokens; for canonical tokenization.  Throws ContextNotCanonical, or NotCanonical if no
  // canonical sequence continues from it.
  Matcher(std::shared_ptr<Constraint> constraint, std::span<const TokenId> context);
  // A text has at least so many tokens, stop tokens not counted, before it may end.  Not with canonical tokenization.
  // Throws TooFewTokens if no such text was found.
  void set_least(TokenCount tokens);
  // From now on these are the stop tokens, in place of the vocabulary's.  They have no text, and the pattern names none
  // of them.
  void set_stops(std::vector<TokenId> stops);
  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;
  std::unique_ptr<Matcher> fork();

  // What is done to make the mask; nothing where it is known.
  MaskWork mask_work(const Deadline& deadline = {});
  MaskPtr try_mask();  // null: not known yet, or the lock is held
  MaskPtr mask(const Deadline& deadline = {});
  // The tokens after which at most `tokens` - 1 more tokens complete an accepted text; with `count_stop` the last of
  // them is a stop token.  If no such text exists, mask_within throws BudgetTooSmall and try_mask_within returns an
  // empty mask.
  MaskPtr try_mask_within(TokenCount tokens, bool count_stop);
  MaskPtr mask_within(TokenCount tokens, bool count_stop, const Deadline& deadline = {});
  // The fewest tokens that lead to an accepted text, without a stop token.
  std::vector<TokenId> shortest_completion();
  // A number of tokens that suffices, without a search for fewer where rules nest: Completions::tokens_to_close.
  TokenCount tokens_to_close();
  std::optional<bool> try_advance(TokenId token);
  bool advance(TokenId token);
  // All of the tokens, or none.
  bool advance_all(std::span<const TokenId> tokens);
  // How many of the tokens are allowed, one after another.  Ids that are not in the vocabulary are allowed nowhere.
  std::size_t validate(std::span<const TokenId> tokens);
  DraftMasks draft_masks(const Draft& draft, std::optional<TokenCount> tokens, bool count_stop,
                         const Deadline& deadline = {});
  // Returns false, and changes nothing, if fewer than `count` tokens were advanced.
  bool rollback(std::size_t count);

  bool is_accepting();
  bool is_finished();
  std::vector<TokenId> tokens();
  std::string text();
  std::string forced_text();
  std::vector<TokenId> forced_tokens();
  Explanation explain(TokenId token);

  const std::shared_ptr<Constraint>& constraint() const { return constraint_; }
  // The states that it stands on, which have one lock.
  SharedConstraint& states() const { return *states_.load(std::memory_order_acquire); }

 private:
  // At the start of a text, on some states of its constraint.
  Matcher(std::shared_ptr<Constraint> constraint, SharedConstraint& states);

  // Runs `task(budget)` under the lock; if the states are crowded, once more on others.
  template <class Task>
  auto work(const Deadline& deadline, Task&& task);
  template <class Task>
  auto work(Task&& task) {
    return work(Deadline{}, task);
  }
  // Moves to the states of the constraint's own.
  void move(const Deadline& deadline);
  bool advance_all(std::span<const TokenId> tokens, const Deadline& deadline);
  // The lock of the states that it stands on; that of `try_lock` may not be locked.
  std::unique_lock<Mutex> locked(const Deadline& deadline = {}) const;
  std::unique_lock<Mutex> try_lock() const;

  TokenAutomaton& automaton() { return states().automaton_; }
  History& steps() { return *steps_; }
  const History& steps() const { return *steps_; }
  StateId state() const { return steps().back().state; }
  // Where a text stands: the text of this matcher, or one that goes on from there.
  struct Place {
    TokenAutomaton::Configuration at;
    const CanonicalState& canonical;
    TokenCount written;
    StateId thought;

    bool is_stopped() const { return at.state == Step::kStopped; }
  };
  Place here() const {
    return {{state(), has_start_rule_ && steps().size() == 1},
            steps().back().canonical,
            steps().size() - 1,
            steps().back().thought};
  }
  static Place after(const Step& step, TokenCount written) {
    return {{step.state, false}, step.canonical, written, step.thought};
  }
  bool stopped() const { return state() == Step::kStopped; }
  TokenAutomaton::Configuration configuration() const { return here().at; }
  Completions& completions() { return states().completions_; }
  LongCompletions& long_completions() { return states().long_completions_; }
  TokenBounds bounds_at(const Place& place, TokenCount left = kNoTokens) const {
    return {least_ > place.written ? least_ - place.written : 0, left};
  }
  bool is_stop(TokenId token) const;
  MaskPtr stop_mask();
  MaskPtr with_own_stops(MaskPtr mask, const Place& place);
  // The mask with a budget, the stop token not counted; kNoTokens: without one.
  MaskPtr mask_at(const Place& place, TokenCount left, Budget& budget);
  // The same without regard to a thought.
  MaskPtr mask_within(const Place& place, TokenCount left, Budget& budget);
  MaskPtr known_mask_within(const Place& place, TokenCount left);
  static bool thinks(const Place& place) { return place.thought != Thought::kEnded; }
  bool is_bounded(const Place& place) const { return thinks(place) && states().thought_->is_bounded(); }
  bool is_thought_limited(const Place& place, TokenCount left) const {
    return thinks(place) && (left != kNoTokens || is_bounded(place));
  }
  MaskPtr mask_of_thought(const Place& place, TokenCount left, Budget& budget);
  // Null: not known yet.
  MaskPtr known_mask(const Place& place, TokenCount left);
  TokenCount tokens_needed(const Place& place, Budget& budget);
  std::vector<TokenId> completion(const Place& place, Budget& budget);
  CanonicalAutomaton* canonical() { return states().canonical_ ? &*states().canonical_ : nullptr; }
  const CanonicalState& canonical_state() const { return steps().back().canonical; }
  bool accepts_text(const Place& place);
  // The same, and the text is long enough.
  bool accepts(const Place& place) { return bounds_at(place).least == 0 && accepts_text(place); }
  bool accepts_here() { return accepts(here()); }
  std::vector<TokenId> live_controls(Budget& budget);    // the control tokens of the pattern that may follow
  Explanation explained(TokenId token, Budget& budget);  // without regard to the least number of tokens
  std::optional<Step> text_step(const Place& place, TokenId token, Budget& budget);
  std::optional<Step> next_step(const Place& place, TokenId token, Budget& budget);

  struct OwnStops {
    std::vector<TokenId> tokens;  // in order
    MaskPtr after;                // a stop token
  };
  std::shared_ptr<Constraint> constraint_;
  std::atomic<SharedConstraint*> states_;  // changed under the locks of both
  std::shared_ptr<History> steps_;
  bool has_start_rule_;
  TokenCount least_ = 0;
  double spent_seconds_;
  std::shared_ptr<const OwnStops> own_stops_;  // null: those of the vocabulary
};

}  // namespace tokamata
