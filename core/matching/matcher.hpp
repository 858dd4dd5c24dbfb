// One text that is being written: the tokens so far, and the state after each of them.
//
// Contract.
//   - `advance(t)` returns true if and only if bit t of `mask()` is set.  If it returns false, or a call throws, the
//     matcher is unchanged.
//   - `rollback(n)` removes the last n accepted tokens, including stop tokens.
//   - Which tokens may follow is decided by a follower (following/follower.hpp); stop tokens are the matcher's own.
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
//     What was made until then is kept.  Those that take OnDeadline::Some return what is known by then: a mask with some
//     of its tokens, of which each leads to an accepted text, and one does if any is known.  Such a mask is kept
//     nowhere; the same call goes on with the work, and in the end returns the whole.  For the token of a closing text
//     there are kGrace, however little time is left.
//   - Errors.  A member that computes may throw LimitExceeded, Cancelled or std::bad_alloc.  The work still counts
//     against Limits::seconds, and its results may be kept for the next call.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "following/at_least.hpp"
#include "following/explanation.hpp"
#include "following/thinking.hpp"
#include "matching/constraint.hpp"

namespace tokamata {

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

// A token of a text that is written already, and that the pattern does not allow there.
struct NotAllowed : std::runtime_error {
  explicit NotAllowed(std::size_t where) : std::runtime_error("the text is not allowed"), position(where) {}
  std::size_t position;
};

// What a call does when its deadline is over.
enum class OnDeadline : std::uint8_t { Error, Some };

struct MadeMask {
  MaskPtr mask;
  bool is_whole;
};

// The mask after the text, then that after each node.  Null: nothing is allowed there, since the node or one before it
// is not, or since the budget is used up.  A node is legal if the mask before it allows its token.  Where time ran out,
// rows are not whole, and nodes after them are not legal as far as is known.
struct DraftMasks {
  std::vector<MaskPtr> rows;
  std::vector<bool> legal;
  std::vector<bool> whole;  // by row
};

class Matcher {
 public:
  explicit Matcher(std::shared_ptr<Constraint> constraint);
  // Begins after a context of tokens; for canonical tokenization.  Throws ContextNotCanonical, or NotCanonical if no
  // canonical sequence continues from it.
  Matcher(std::shared_ptr<Constraint> constraint, std::span<const TokenId> context);
  // The same, after the first tokens of the text, which are written in any tokenization and cannot be rolled back.  With
  // canonical tokenization the text goes on as the tokenizer would after `canonical`, its own tokens for these.  Also
  // throws NotAllowed.
  Matcher(std::shared_ptr<Constraint> constraint, std::span<const TokenId> context, std::span<const TokenId> written,
          std::span<const TokenId> canonical);
  // A text has at least so many tokens, stop tokens not counted, before it may end.
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
  // The mask, within a budget if there is one, or as much of it as is known at the deadline.
  MadeMask some_mask(std::optional<TokenCount> tokens, bool count_stop, const Deadline& deadline);
  // The tokens after which at most `tokens` - 1 more tokens complete an accepted text; with `count_stop` the last of
  // them is a stop token.  If no such text exists, mask_within throws BudgetTooSmall and try_mask_within returns an
  // empty mask.
  MaskPtr try_mask_within(TokenCount tokens, bool count_stop);
  MaskPtr mask_within(TokenCount tokens, bool count_stop, const Deadline& deadline = {});
  // The fewest tokens that lead to an accepted text, without a stop token; at the deadline those of a closing text, if
  // one is known by then.
  std::vector<TokenId> shortest_completion(const Deadline& deadline = {});
  // A number of tokens that suffices, without a search for fewer where rules nest: Completions::tokens_to_close.
  TokenCount tokens_to_close();
  std::optional<bool> try_advance(TokenId token);
  bool advance(TokenId token);
  // All of the tokens, or none.
  bool advance_all(std::span<const TokenId> tokens);
  // How many of the tokens are allowed, one after another.  Ids that are not in the vocabulary are allowed nowhere.
  std::size_t validate(std::span<const TokenId> tokens);
  DraftMasks draft_masks(const Draft& draft, std::optional<TokenCount> tokens, bool count_stop,
                         const Deadline& deadline = {}, OnDeadline on_deadline = OnDeadline::Error);
  // Returns false, and changes nothing, if fewer than `count` tokens were advanced; those written before do not count.
  bool rollback(std::size_t count);

  bool is_accepting();
  bool is_finished();
  std::vector<TokenId> tokens();
  // How many can be rolled back.
  std::size_t advanced();
  std::string text();
  std::string forced_text();
  std::vector<TokenId> forced_tokens();
  Explanation explain(TokenId token);
  // Where the text stands, as a person reads it: for tests and debuggers.
  std::string show();

  const std::shared_ptr<Constraint>& constraint() const { return constraint_; }
  // The states that it stands on, which have one lock.
  SharedConstraint& states() const { return *states_.load(std::memory_order_acquire); }

 private:
  // At the start of a text, on some states of its constraint.
  Matcher(std::shared_ptr<Constraint> constraint, SharedConstraint& states, std::span<const TokenId> context);

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
  // Takes the first tokens of the text; throws NotAllowed.
  void begin_with(std::span<const TokenId> written, const Deadline& deadline = {});
  // The lock of the states that it stands on; that of `try_lock` may not be locked.
  std::unique_lock<Mutex> locked(const Deadline& deadline = {}) const;
  std::unique_lock<Mutex> try_lock() const;

  TokenAutomaton& automaton() { return states().automaton_; }
  History& steps() { return *steps_; }
  const History& steps() const { return *steps_; }
  Place here() const {
    return Place::after(steps().back(), steps().size() - 1, has_start_rule_ && steps().size() == 1);
  }
  bool stopped() const { return steps().back().state == Step::kStopped; }
  // Follows texts of at least so many tokens from now on.
  void follow(TokenCount least);
  Follower& follower() { return thinking_ ? static_cast<Follower&>(*thinking_) : follower_of_any_thought(); }
  Follower& follower_of_any_thought() { return at_least_ ? static_cast<Follower&>(*at_least_) : *states().follower_; }
  bool is_stop(TokenId token) const;
  MaskPtr stop_mask();
  MaskPtr with_own_stops(MaskPtr mask, const Place& place);
  // The mask with a budget, the stop token not counted; kNoTokens: without one.
  MaskPtr mask_at(const Place& place, TokenCount left, Budget& budget, VerifiedTokens* verified = nullptr);
  // The same, or what is known of it when time is up.  A third of the time is for the token of a closing text, as far
  // as that takes so long.
  MadeMask some_mask_at(const Place& place, TokenCount left, const Deadline& deadline, Budget& budget);
  std::optional<std::vector<TokenId>> closing_tokens(Budget& budget);
  // Null: not known yet.
  MaskPtr known_mask(const Place& place, TokenCount left);
  bool accepts(const Place& place) { return place.is_stopped() || follower().accepts(place); }
  std::optional<Step> next_step(const Place& place, TokenId token, Budget& budget);

  static constexpr std::chrono::microseconds kGrace{50}, kToHandOver{100};

  struct OwnStops {
    std::vector<TokenId> tokens;  // in order
    MaskPtr after;                // a stop token
  };
  std::shared_ptr<Constraint> constraint_;
  std::atomic<SharedConstraint*> states_;  // changed under the locks of both
  std::shared_ptr<History> steps_;
  bool has_start_rule_;
  std::size_t written_ = 0;  // of the tokens, those that were written in any tokenization
  TokenCount least_ = 0;
  std::optional<AtLeastFollower> at_least_;   // where there is a least number of tokens
  std::optional<ThinkingFollower> thinking_;  // where texts begin with a thought
  double spent_seconds_;
  std::shared_ptr<const OwnStops> own_stops_;  // null: those of the vocabulary
};

}  // namespace tokamata
