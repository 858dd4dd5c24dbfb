// A pattern compiled for a vocabulary: what its matchers share.
//
// All work goes through `work`, which holds the lock and keeps the time budget.  If the memory is full, it frees every
// state that no matcher holds, and tries once more.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "canonical/canonical_automaton.hpp"
#include "common/limits.hpp"
#include "common/memory_account.hpp"
#include "common/mutex.hpp"
#include "composition/closed_form.hpp"
#include "composition/completions.hpp"
#include "composition/long_completions.hpp"
#include "composition/token_automaton.hpp"
#include "matching/history.hpp"
#include "matching/thought.hpp"

namespace tokamata {

// No text matches the pattern.
struct EmptyConstraint : std::runtime_error {
  EmptyConstraint() : std::runtime_error("the pattern matches no text") {}
};

// Some text matches the pattern, but the vocabulary cannot spell any of these texts.  `bytes` are the bytes of the
// pattern that are not tokens of their own.
struct Unspellable : std::runtime_error {
  explicit Unspellable(ByteSet missing) : std::runtime_error("the vocabulary cannot spell the pattern"), bytes(missing) {}
  ByteSet bytes;
};

// The vocabulary can spell some text of the pattern, but the tokenizer would write none of them with these tokens.
struct NotCanonical : std::runtime_error {
  // `by_context`: without the context there would be such a text.
  explicit NotCanonical(bool by_context_alone)
      : std::runtime_error("no canonical tokenization leads to an accepted text"), by_context(by_context_alone) {}
  bool by_context;
};

// The tokens of the context are not canonical; `position` is the first that the tokenizer would not write.
struct ContextNotCanonical : std::runtime_error {
  explicit ContextNotCanonical(std::size_t where) : std::runtime_error("the context is not canonical"), position(where) {}
  std::size_t position;
};

// The tokens that are left cannot complete an accepted text; `needed` is the least number that can.
struct BudgetTooSmall : std::runtime_error {
  explicit BudgetTooSmall(TokenCount needed_tokens) : std::runtime_error("budget too small"), needed(needed_tokens) {}
  TokenCount needed;
};

// No accepted text with at least so many tokens was found.
struct TooFewTokens : std::runtime_error {
  explicit TooFewTokens(TokenCount least_tokens) : std::runtime_error("no text has so many tokens"), least(least_tokens) {}
  TokenCount least;
};

class Matcher;

class Constraint : public std::enable_shared_from_this<Constraint>, private Accounted {
 public:
  Constraint(const Expression& pattern, std::shared_ptr<const Vocabulary> vocabulary,
             std::shared_ptr<const Vocabulary> start_vocabulary, const TokenAutomaton::ControlTokens& control_tokens,
             const Limits& limits, std::shared_ptr<const CancelToken> cancel,
             std::shared_ptr<const Tokenization> tokenization = nullptr, const ThoughtPlan* thought = nullptr);
  ~Constraint() { begin_charging(); }

  const Vocabulary& vocabulary() const { return automaton_.vocabulary(false); }
  double compile_seconds() const { return compile_seconds_; }
  // Current figures, without the lock.
  std::size_t state_count() const { return automaton_.automaton().state_count(); }
  std::size_t memory_bytes() const { return account_.bytes(); }
  // The whole automaton over tokens.
  ClosedForm closed_form();
  // Masks with a smaller serial have been dropped from the memo.  Takes no lock.
  std::uint64_t oldest_serial() const { return canonical_ ? canonical_->oldest_serial() : automaton_.oldest_serial(); }

 private:
  friend class Matcher;
  friend class Preparer;
  friend class KeptMasks;

  // Runs `task(budget)` under the lock, and adds the time to `spent_seconds`.
  template <class Task>
  auto work(double& spent_seconds, Task&& task) {
    return work(limits_, cancel_, {}, spent_seconds, task);
  }
  template <class Task>
  auto work(const Deadline& deadline, double& spent_seconds, Task&& task) {
    return work(limits_, cancel_, deadline, spent_seconds, task);
  }
  // The same with other limits and another cancel token.
  template <class Task>
  auto work(const Limits& limits, const std::shared_ptr<const CancelToken>& cancel, const Deadline& deadline, double& spent_seconds,
            Task&& task);
  // The lock, which another thread may hold for long.
  std::unique_lock<Mutex> locked(const Deadline& deadline = {});
  bool is_canonical() const { return canonical_.has_value(); }
  void collect();
  void trim_masks(std::size_t limit);
  std::shared_ptr<History> begin_history();

  Budget::Clock::time_point started_;
  Limits limits_;
  std::shared_ptr<const CancelToken> cancel_;
  TokenAutomaton automaton_;
  Completions completions_{automaton_};
  LongCompletions long_completions_{automaton_, completions_};
  std::optional<CanonicalAutomaton> canonical_;  // with canonical tokenization
  std::unique_ptr<Thought> thought_;  // if texts begin with one
  double compile_seconds_ = 0;
  Mutex mutex_{[this] { return weak_from_this().lock(); }};
  bool is_working_ = false;  // a task is running, and may be reading what a collection would free
  // Those of destroyed matchers stay until the next sweep, so that a destructor never waits for the lock.
  std::vector<std::weak_ptr<History>> histories_;
  std::size_t next_sweep_ = 16;
  std::uint64_t collections_ = 0;  // how often states were freed
  bool has_read_masks_ = false;    // of a file (kept_masks.hpp), whose masks may be wrong
};

}  // namespace tokamata
