#include "matching/constraint.hpp"

#include <cassert>

#include "matching/matcher.hpp"
#include "matching/work.hpp"

namespace tokamata {

Constraint::Constraint(const Expression& pattern, std::shared_ptr<const Vocabulary> vocabulary,
                       std::shared_ptr<const Vocabulary> start_vocabulary,
                       const TokenAutomaton::ControlTokens& control_tokens, const Limits& limits,
                       std::shared_ptr<const CancelToken> cancel, std::shared_ptr<const Tokenization> tokenization,
                       const ThoughtPlan* thought)
    : started_(Budget::Clock::now()), limits_(limits), cancel_(std::move(cancel)),
      automaton_(pattern, vocabulary, start_vocabulary, control_tokens, limits, cancel_) {
  if (tokenization) automaton_.automaton().arena().narrow_always();
  if (automaton_.start().state == ByteAutomaton::kDead) throw EmptyConstraint();
  const bool spellable = work(compile_seconds_, [&](Budget& budget) {
    budget.check();
    // What cannot be spelled at the start of a text may be, after a context.
    const TokenAutomaton::Configuration start = automaton_.start();
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
      const TokenAutomaton::Configuration start = automaton_.start();
      return canonical_->lives(start, canonical_->tokenization().start(), budget) || canonical_->lives_somewhere(start.state, budget);
    };
    if (!work(compile_seconds_, lives)) throw NotCanonical(false);
  }
  if (thought) thought_ = std::make_unique<Thought>(*thought, vocabulary, start_vocabulary, control_tokens, limits, cancel_);
  compile_seconds_ = std::chrono::duration<double>(Budget::Clock::now() - started_).count();
  end_charging();
}

std::unique_lock<Mutex> Constraint::locked(const Deadline& deadline) {
  if (!deadline.is_set())
    mutex_.lock_interruptibly();
  else if (!mutex_.try_lock_until(deadline.at))
    throw LimitExceeded("deadline_seconds", deadline.seconds);
  return {mutex_, std::adopt_lock};
}

void Constraint::collect() {
  assert(!is_working_);
  ++collections_;
  std::vector<std::shared_ptr<History>> kept;  // so that none goes meanwhile
  std::vector<StateId*> held;
  History::Visitor steps;
  for (const std::weak_ptr<History>& known : histories_)
    if (std::shared_ptr<History> history = known.lock()) {
      steps.visit(*history, [&](Step& step) {
        if (step.state != Step::kStopped) held.push_back(&step.state);
      });
      kept.push_back(std::move(history));
    }
  completions_.clear();
  long_completions_.clear();
  if (canonical_) canonical_->clear();
  automaton_.keep_only(held);
  trim_masks(limits_.memory_bytes / 2);
}

// Masks alone: all else is in use by texts under way, or would have to be made again for the next one.
void Constraint::trim_masks(std::size_t limit) {
  assert(!is_working_);
  if (canonical_) canonical_->trim_masks(limit);
  automaton_.trim_masks(limit);
}

std::shared_ptr<History> Constraint::begin_history() {
  const auto lock = locked();
  if (histories_.size() >= next_sweep_) {
    std::erase_if(histories_, [](const std::weak_ptr<History>& known) { return known.expired(); });
    next_sweep_ = 2 * histories_.size() + 16;
  }
  Step first{{}, automaton_.start().state};
  if (canonical_) first.canonical = canonical_->tokenization().start();
  if (thought_) first.thought = thought_->start();
  auto history = std::make_shared<History>(std::move(first));
  histories_.push_back(history);
  return history;
}

ClosedForm Constraint::closed_form() {
  double spent_seconds = compile_seconds_;
  return work(spent_seconds, [this](Budget& budget) {
    return canonical_ ? canonical_->closed_form(budget) : tokamata::closed_form(automaton_, budget);
  });
}

}  // namespace tokamata
