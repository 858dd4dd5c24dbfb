// A pattern compiled for a vocabulary: what its matchers share.
//
// All work goes through `work`, which holds the lock, keeps the account of time, and answers a
// full memory by giving up every state that no matcher holds and trying once more.
#pragma once

#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "canonical/canonical_automaton.hpp"
#include "common/limits.hpp"
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

class Matcher;

class Constraint {
 public:
  Constraint(const Expression& pattern, std::shared_ptr<const Vocabulary> vocabulary,
             std::shared_ptr<const Vocabulary> start_vocabulary, const TokenAutomaton::ControlTokens& control_tokens,
             const Limits& limits, std::shared_ptr<const CancelToken> cancel,
             std::shared_ptr<const Tokenization> tokenization = nullptr);
  Constraint(const Constraint&) = delete;
  Constraint& operator=(const Constraint&) = delete;

  const Vocabulary& vocabulary() const { return automaton_.vocabulary(false); }
  double compile_seconds() const { return compile_seconds_; }
  std::size_t state_count();
  std::size_t memory_bytes();
  // All of the automaton over tokens.
  ClosedForm closed_form();
  // Masks with a smaller serial are no longer in the memo.  Takes no lock.
  std::uint64_t oldest_serial() const { return canonical_ ? canonical_->oldest_serial() : automaton_.oldest_serial(); }

 private:
  friend class Matcher;

  // Runs `task(budget)` under the lock.  `spent_seconds` is the account that pays.
  template <class Task>
  auto work(double& spent_seconds, Task&& task);
  bool is_canonical() const { return canonical_.has_value(); }
  void collect();
  std::size_t held_bytes() {
    std::size_t others = completions_.memory_bytes();
    if (canonical_) others += canonical_->reclaim(limits_.memory_bytes > others ? (limits_.memory_bytes - others) / 2 : 0);
    return others + automaton_.reclaim(limits_.memory_bytes > others ? limits_.memory_bytes - others : 0);
  }

  Budget::Clock::time_point started_;
  Limits limits_;
  std::shared_ptr<const CancelToken> cancel_;
  TokenAutomaton automaton_;
  Completions completions_{automaton_};
  std::optional<CanonicalAutomaton> canonical_;  // where only the tokenizer's own tokens are admitted
  double compile_seconds_ = 0;
  std::mutex mutex_;
  std::vector<Matcher*> matchers_;
};

}  // namespace tokamata
