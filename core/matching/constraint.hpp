// A pattern compiled for a vocabulary: what its matchers share.
//
// All work goes through `work`, which holds the lock, keeps the time budget, and answers a
// full memory by giving up every state that no matcher holds and trying once more.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "canonical/canonical_automaton.hpp"
#include "common/limits.hpp"
#include "common/memory_account.hpp"
#include "composition/closed_form.hpp"
#include "composition/completions.hpp"
#include "composition/token_automaton.hpp"

namespace tokamata {

// No text matches the pattern.
struct EmptyConstraint : std::runtime_error {
  EmptyConstraint() : std::runtime_error("the pattern matches no text") {}
};

// Some text matches the pattern, but none that the vocabulary can spell.  `bytes` are those of the
// pattern that are not tokens of their own.
struct Unspellable : std::runtime_error {
  explicit Unspellable(ByteSet missing) : std::runtime_error("the vocabulary cannot spell the pattern"), bytes(missing) {}
  ByteSet bytes;
};

// Some text matches and can be spelled, but none by tokens that are the tokenizer's own for it.
struct NotCanonical : std::runtime_error {
  // `by_context`: it is the text before that stands in the way.
  explicit NotCanonical(bool by_context_alone)
      : std::runtime_error("no canonical tokenization leads to an accepted text"), by_context(by_context_alone) {}
  bool by_context;
};

// The tokens before the text are not what the tokenizer makes of any text; `position` is the first that is not.
struct ContextNotCanonical : std::runtime_error {
  explicit ContextNotCanonical(std::size_t where) : std::runtime_error("the context is not canonical"), position(where) {}
  std::size_t position;
};

// No accepted text can be finished in the tokens that are left; `needed` is the least number that suffices.
struct BudgetTooSmall : std::runtime_error {
  explicit BudgetTooSmall(TokenCount needed_tokens) : std::runtime_error("budget too small"), needed(needed_tokens) {}
  TokenCount needed;
};

// A text under way: what was advanced, and the state after each token.  The first step stands for the empty text and
// has no token.
struct Step {
  static constexpr StateId kStopped{~std::uint32_t{0}};  // after a stop token

  TokenId token;
  StateId state;
  CanonicalState canonical = {};  // where only canonical tokenizations are admitted
};
using History = std::vector<Step>;

class Matcher;

class Constraint : private Accounted {
 public:
  Constraint(const Expression& pattern, std::shared_ptr<const Vocabulary> vocabulary,
             std::shared_ptr<const Vocabulary> start_vocabulary, const TokenAutomaton::ControlTokens& control_tokens,
             const Limits& limits, std::shared_ptr<const CancelToken> cancel,
             std::shared_ptr<const Tokenization> tokenization = nullptr);
  ~Constraint() { begin_charging(); }

  const Vocabulary& vocabulary() const { return automaton_.vocabulary(false); }
  double compile_seconds() const { return compile_seconds_; }
  // The figures of the moment.  They take no lock.
  std::size_t state_count() const { return automaton_.automaton().state_count(); }
  std::size_t memory_bytes() const { return account_.bytes(); }
  // All of the automaton over tokens.
  ClosedForm closed_form();
  // Masks with a smaller serial are no longer in the memo.  Takes no lock.
  std::uint64_t oldest_serial() const { return canonical_ ? canonical_->oldest_serial() : automaton_.oldest_serial(); }

 private:
  friend class Matcher;
  friend class Preparer;

  // Runs `task(budget)` under the lock.  `spent_seconds` is the time budget that pays.
  template <class Task>
  auto work(double& spent_seconds, Task&& task) {
    return work(limits_, cancel_, spent_seconds, task);
  }
  // The same within limits and with a token of its own.
  template <class Task>
  auto work(const Limits& limits, const std::shared_ptr<const CancelToken>& cancel, double& spent_seconds, Task&& task);
  bool is_canonical() const { return canonical_.has_value(); }
  void collect();
  void trim_masks(std::size_t limit);
  std::shared_ptr<History> begin_history();

  Budget::Clock::time_point started_;
  Limits limits_;
  std::shared_ptr<const CancelToken> cancel_;
  TokenAutomaton automaton_;
  Completions completions_{automaton_};
  std::optional<CanonicalAutomaton> canonical_;  // where only the tokenizer's own tokens are admitted
  double compile_seconds_ = 0;
  std::mutex mutex_;
  bool is_working_ = false;  // a task is under way, which may be reading what would be given up
  // Of the matchers, and of those that are gone until the next sweep: a matcher that goes never waits for the lock.
  std::vector<std::weak_ptr<History>> histories_;
  std::size_t next_sweep_ = 16;
  std::uint64_t collections_ = 0;  // how often states were given up
};

}  // namespace tokamata
