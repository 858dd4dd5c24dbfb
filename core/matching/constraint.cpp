#include "matching/constraint.hpp"

#include "matching/matcher.hpp"
#include "matching/work.hpp"

namespace tokamata {

Constraint::Constraint(const Expression& pattern, std::shared_ptr<const Vocabulary> vocabulary,
                       std::shared_ptr<const Vocabulary> start_vocabulary,
                       const TokenAutomaton::ControlTokens& control_tokens, const Limits& limits,
                       std::shared_ptr<const CancelToken> cancel, std::shared_ptr<const Tokenization> tokenization)
    : started_(Budget::Clock::now()), limits_(limits), cancel_(std::move(cancel)),
      automaton_(pattern, std::move(vocabulary), std::move(start_vocabulary), control_tokens, limits, cancel_) {
  if (automaton_.start().state == ByteAutomaton::kDead) throw EmptyConstraint();
  const bool spellable = work(compile_seconds_, [&](Budget& budget) {
    budget.check();
    // What cannot be spelled at the start of a text may be, behind a context.
    const TokenAutomaton::Place start = automaton_.start();
    return automaton_.spellable(start, budget) || (tokenization && automaton_.spellable(start.state, budget));
  });
  if (!spellable) {
    const auto is_empty = [&](Budget& budget) { return automaton_.is_empty(budget); };
    if (work(compile_seconds_, is_empty)) throw EmptyConstraint();
    ByteSet missing;
    for (unsigned byte = 0; byte < 256; ++byte)
      if (automaton_.automaton().pattern_bytes().contains(static_cast<std::uint8_t>(byte)) &&
          !this->vocabulary().single_bytes().contains(static_cast<std::uint8_t>(byte)))
        missing.add(static_cast<std::uint8_t>(byte));
    throw Unspellable(missing);
  }
  if (tokenization) {
    canonical_.emplace(automaton_, std::move(tokenization));
    const auto lives = [&](Budget& budget) {
      const TokenAutomaton::Place start = automaton_.start();
      return canonical_->lives(start, canonical_->tokenization().start(), budget) || canonical_->lives_somewhere(start.state, budget);
    };
    if (!work(compile_seconds_, lives)) throw NotCanonical(false);
  }
  compile_seconds_ = std::chrono::duration<double>(Budget::Clock::now() - started_).count();
}

void Constraint::collect() {
  std::vector<StateId*> held;
  for (Matcher* matcher : matchers_)
    for (Matcher::Step& step : matcher->steps_)
      if (step.state != Matcher::kStopped) held.push_back(&step.state);
  automaton_.keep_only(held);
  completions_.clear();
  if (canonical_) canonical_->clear();
}

ClosedForm Constraint::closed_form() {
  double spent_seconds = compile_seconds_;
  return work(spent_seconds, [this](Budget& budget) {
    return canonical_ ? canonical_->closed_form(budget) : tokamata::closed_form(automaton_, budget);
  });
}

std::size_t Constraint::state_count() {
  const std::lock_guard lock(mutex_);
  return automaton_.automaton().state_count();
}

std::size_t Constraint::memory_bytes() {
  const std::lock_guard lock(mutex_);
  return held_bytes();
}

}  // namespace tokamata
