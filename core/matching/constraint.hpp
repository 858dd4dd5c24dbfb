// A pattern compiled for a vocabulary: what its matchers share.
//
// All work goes through `work`, which holds the lock, keeps the account of time, and answers a
// full memory by giving up every state that no matcher holds and trying once more.
#pragma once

#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

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
             const Limits& limits, std::shared_ptr<const CancelToken> cancel);
  Constraint(const Constraint&) = delete;
  Constraint& operator=(const Constraint&) = delete;

  const Vocabulary& vocabulary() const { return automaton_.vocabulary(false); }
  double compile_seconds() const { return compile_seconds_; }
  std::size_t state_count();
  std::size_t memory_bytes();
  // All of the automaton over tokens.
  ClosedForm closed_form();
  // Masks with a smaller serial are no longer in the memo.  Takes no lock.
  std::uint64_t oldest_serial() const { return automaton_.oldest_serial(); }

 private:
  friend class Matcher;

  // Runs `task(budget)` under the lock.  `spent_seconds` is the account that pays.
  template <class Task>
  auto work(double& spent_seconds, Task&& task);
  void collect();
  std::size_t held_bytes() {
    const std::size_t others = completions_.memory_bytes();
    return others + automaton_.reclaim(limits_.memory_bytes > others ? limits_.memory_bytes - others : 0);
  }

  Budget::Clock::time_point started_;
  Limits limits_;
  std::shared_ptr<const CancelToken> cancel_;
  TokenAutomaton automaton_;
  Completions completions_{automaton_};
  double compile_seconds_ = 0;
  std::mutex mutex_;
  std::vector<Matcher*> matchers_;
};

}  // namespace tokamata
