// A pattern compiled for a vocabulary: what is made of it once (SharedConstraint), and what each of its callers has
// (Constraint).
//
// Problem.  A server gets one schema from many callers.  States and masks are to be made once for all of them; but
// limits and cancel tokens are of one caller, and what another one made must raise no LimitExceeded for him.
// How.  Every call that works has the limits and the token of its caller.  The states are shared until a call finds
// them to be more than its caller allows.  If no caller allows more, everything that no matcher holds is freed, and the
// call is tried once more.  Where that does not suffice, or others allow more, the caller goes on with states of his
// own: the pattern is compiled again, his matchers read their tokens again (Matcher::move), and only what he makes
// counts.
// Example.  A allows 100 states, B allows 10, and A's text has made 50.  B begins at the same start state.  His first
// call that makes a state finds 50, and so B gets states of his own: that call fails if B's text needs more than 10.  A
// notices nothing.
// Cost.  Nothing, until somebody's limits are passed; then compiling once, and a step for each token of his texts.
// Rejected.  To count what each caller has added: states that he uses are made by others, and a collection would have
// to find out whose they are.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "common/limits.hpp"
#include "common/memory_account.hpp"
#include "common/mutex.hpp"
#include "composition/completions.hpp"
#include "composition/long_completions.hpp"
#include "composition/token_automaton.hpp"
#include "following/canonical.hpp"
#include "following/closed_form.hpp"
#include "following/follower.hpp"
#include "following/thought.hpp"
#include "matching/history.hpp"
#include "matching/unfinished_masks.hpp"

namespace tokamata {

// No text matches the pattern.
struct EmptyConstraint : std::runtime_error {
  EmptyConstraint() : std::runtime_error("the pattern matches no text") {}
};

// Some text matches the pattern, but the vocabulary cannot spell any of these texts.  `bytes` are the bytes of the
// pattern that are not tokens of their own.
struct Unspellable : std::runtime_error {
  explicit Unspellable(ByteSet missing)
      : std::runtime_error("the vocabulary cannot spell the pattern"), bytes(missing) {}
  ByteSet bytes;
};

// The vocabulary can spell some text of the pattern, but the tokenizer would write none of them with these tokens.
struct NotCanonical : std::runtime_error {
  // `by_context`: without the context there would be such a text.
  explicit NotCanonical(bool by_context_alone)
      : std::runtime_error("no canonical tokenization leads to an accepted text"), by_context(by_context_alone) {}
  bool by_context;
};

// The tokens that are left cannot complete an accepted text; `needed` is the least number that can.
struct BudgetTooSmall : std::runtime_error {
  explicit BudgetTooSmall(TokenCount needed_tokens) : std::runtime_error("budget too small"), needed(needed_tokens) {}
  TokenCount needed;
};

// No accepted text with at least so many tokens was found.
struct TooFewTokens : std::runtime_error {
  explicit TooFewTokens(TokenCount least_tokens)
      : std::runtime_error("no text has so many tokens"), least(least_tokens) {}
  TokenCount least;
};

// The states and masks are shared, and are more than the caller allows: he needs some of his own.
struct Crowded : LimitExceeded {
  explicit Crowded(const LimitExceeded& passed) : LimitExceeded(passed) {}
};

// What a constraint is compiled from.
struct ConstraintSource {
  ExpressionPtr pattern;
  std::shared_ptr<const Vocabulary> vocabulary, start_vocabulary;
  TokenAutomaton::ControlTokens control_tokens = {};
  std::shared_ptr<const Tokenization> tokenization = nullptr;
  std::optional<ThoughtPlan> thought = std::nullopt;
};

class Constraint;
class Matcher;

// Contract.  All work goes through `work`, which holds the lock and keeps the time budget.
class SharedConstraint : public std::enable_shared_from_this<SharedConstraint>, private Accounted {
 public:
  // Within the limits of the first caller, who has used `spent_seconds` before.
  SharedConstraint(std::shared_ptr<const ConstraintSource> source, const Limits& limits,
                   const std::shared_ptr<const CancelToken>& cancel, double spent_seconds = 0);
  ~SharedConstraint() { begin_charging(); }

  const std::shared_ptr<const ConstraintSource>& source() const { return source_; }
  const Vocabulary& vocabulary() const { return automaton_.vocabulary(false); }
  double compile_seconds() const { return compile_seconds_; }
  // Current figures, without the lock.
  std::size_t state_count() const { return automaton_.automaton().state_count(); }
  // What was done for all masks so far; waits for the lock.
  MaskWork mask_work() {
    const auto lock = locked();
    return automaton_.work();
  }
  std::size_t memory_bytes() const { return account_.bytes(); }
  // Masks with a smaller serial have been dropped from the memo.  Takes no lock.
  std::uint64_t oldest_serial() const { return follower_->oldest_serial(); }

 private:
  friend class Constraint;
  friend class Matcher;
  friend class Preparer;
  friend class KeptMasks;

  // Runs `task(budget)` under the lock, and adds the time to `spent_seconds`.  Throws Crowded in place of LimitExceeded
  // where there may be others that have made what is too much.
  template <class Task>
  auto work(const Limits& limits, const std::shared_ptr<const CancelToken>& cancel, const Deadline& deadline,
            double& spent_seconds, Task&& task);
  // One more caller, with these limits.
  void admit(const Limits& limits);
  // The lock, which another thread may hold for long.
  std::unique_lock<Mutex> locked(const Deadline& deadline = {});
  void collect();
  void trim_masks(std::size_t limit);
  std::shared_ptr<History> begin_history(const Follower& follower, CanonicalState context);

  Budget::Clock::time_point started_;
  std::shared_ptr<const ConstraintSource> source_;
  // Of the callers so far: their number, and the most that any of them allows.
  std::atomic<std::size_t> callers_ = 0, most_states_ = 0, most_bytes_ = 0;
  TokenAutomaton automaton_;
  Completions completions_{automaton_};
  LongCompletions long_completions_{automaton_, completions_};
  std::unique_ptr<LongFollower> follower_;  // of texts of any length, whatever their thoughts
  std::unique_ptr<Thought> thought_;        // if texts begin with one
  double compile_seconds_ = 0;
  Mutex mutex_{[this] { return weak_from_this().lock(); }};
  bool is_working_ = false;  // a task is running, and may be reading what a collection would free
  // Those of destroyed matchers stay until the next sweep, so that a destructor never waits for the lock.
  std::vector<std::weak_ptr<History>> histories_;
  std::size_t next_sweep_ = 16;
  UnfinishedMasks unfinished_;
  std::uint64_t collections_ = 0;  // how often states were freed
  bool has_read_masks_ = false;    // of a file (kept_masks.hpp), whose masks may be wrong
};

// Contract.  The limits and the cancel token hold for all that is called on it and on its matchers, and for nobody
// else.  Its figures are of the states that it uses, which others may have made.  Any thread may call it.
class Constraint {
 public:
  // Compiles a pattern.
  Constraint(ExpressionPtr pattern, std::shared_ptr<const Vocabulary> vocabulary,
             std::shared_ptr<const Vocabulary> start_vocabulary, const TokenAutomaton::ControlTokens& control_tokens,
             const Limits& limits, std::shared_ptr<const CancelToken> cancel,
             std::shared_ptr<const Tokenization> tokenization = nullptr, const ThoughtPlan* thought = nullptr);
  // One more caller of what was compiled; `spent_seconds` is what that took him.
  Constraint(std::shared_ptr<SharedConstraint> shared, const Limits& limits, std::shared_ptr<const CancelToken> cancel,
             double spent_seconds = 0);

  const Vocabulary& vocabulary() const { return shared_->vocabulary(); }
  const std::shared_ptr<SharedConstraint>& shared() const { return shared_; }
  double compile_seconds() const { return compile_seconds_; }
  // Of the states in use, without their lock.
  std::size_t state_count() const { return states().state_count(); }
  std::size_t memory_bytes() const { return states().memory_bytes(); }
  std::uint64_t oldest_serial() const { return states().oldest_serial(); }
  // The whole automaton over tokens.
  ClosedForm closed_form();
  // The states in use: those that are shared, or its own.  They stay as long as it does.
  SharedConstraint& states() const { return *states_.load(std::memory_order_acquire); }

 private:
  friend class Matcher;
  friend class Preparer;
  friend class KeptMasks;

  // States of its own, compiled unless it has them.
  SharedConstraint& own_states(double& spent_seconds);

  const Limits limits_;
  const std::shared_ptr<const CancelToken> cancel_;
  double compile_seconds_;
  const std::shared_ptr<SharedConstraint> shared_;
  std::shared_ptr<SharedConstraint> own_;  // under the lock of those that are shared; set once
  std::atomic<SharedConstraint*> states_;
};

}  // namespace tokamata
