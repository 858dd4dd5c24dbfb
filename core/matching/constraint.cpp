#include "matching/constraint.hpp"

#include <cassert>

#include "following/plain.hpp"
#include "matching/matcher.hpp"
#include "matching/work.hpp"

namespace tokamata {

SharedConstraint::SharedConstraint(std::shared_ptr<const ConstraintSource> source, const Limits& limits,
                                   const std::shared_ptr<const CancelToken>& cancel, double spent_seconds)
    : started_(Budget::Clock::now()),
      source_(std::move(source)),
      automaton_(*source_->pattern, source_->vocabulary, source_->start_vocabulary, source_->control_tokens, limits,
                 cancel),
      compile_seconds_(spent_seconds) {
  const std::shared_ptr<const Tokenization>& tokenization = source_->tokenization;
  most_states_ = limits.states;
  most_bytes_ = limits.memory_bytes;
  if (tokenization) automaton_.automaton().arena().narrow_always();
  if (automaton_.start().state == ByteAutomaton::kDead) throw EmptyConstraint();
  if (tokenization) follower_ = std::make_unique<CanonicalFollower>(automaton_, tokenization, long_completions_);
  else follower_ = std::make_unique<PlainFollower>(automaton_, completions_, long_completions_);
  const bool spellable = work(limits, cancel, {}, compile_seconds_, [&](Budget& budget) {
    budget.check();
    // What cannot be spelled at the start of a text may be, after a context.
    const TokenAutomaton::Configuration start = automaton_.start();
    return automaton_.spellable(start, budget) || (tokenization && automaton_.spellable(start.state, budget));
  });
  if (!spellable) {
    const auto is_empty = [&](Budget& budget) { return automaton_.is_empty(budget); };
    if (work(limits, cancel, {}, compile_seconds_, is_empty)) throw EmptyConstraint();
    ByteSet missing;
    for (unsigned byte = 0; byte < 256; ++byte)
      if (automaton_.automaton().pattern_bytes().contains(static_cast<std::uint8_t>(byte)) &&
          !this->vocabulary().single_bytes().contains(static_cast<std::uint8_t>(byte)))
        missing.add(static_cast<std::uint8_t>(byte));
    throw Unspellable(missing);
  }
  const auto may_begin = [this](Budget& budget) { return follower_->may_begin(budget); };
  if (!work(limits, cancel, {}, compile_seconds_, may_begin)) throw NotCanonical(false);
  if (source_->thought)
    thought_ = std::make_unique<Thought>(*source_->thought, automaton_, completions_, source_->vocabulary,
                                         source_->start_vocabulary, source_->control_tokens, limits, cancel);
  compile_seconds_ = spent_seconds + std::chrono::duration<double>(Budget::Clock::now() - started_).count();
  end_charging();
}

namespace {
void raise_to(std::atomic<std::size_t>& most, std::size_t bound) {
  std::size_t known = most.load(std::memory_order_relaxed);
  while (known < bound && !most.compare_exchange_weak(known, bound, std::memory_order_relaxed)) {
  }
}
}  // namespace

void SharedConstraint::admit(const Limits& limits) {
  callers_.fetch_add(1, std::memory_order_relaxed);
  raise_to(most_states_, limits.states);
  raise_to(most_bytes_, limits.memory_bytes);
}

std::unique_lock<Mutex> SharedConstraint::locked(const Deadline& deadline) {
  if (!deadline.is_set()) mutex_.lock_interruptibly();
  else if (!mutex_.try_lock_until(deadline.at)) throw LimitExceeded("deadline_seconds", deadline.seconds);
  return {mutex_, std::adopt_lock};
}

void SharedConstraint::collect() {
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
  follower_->clear();
  automaton_.keep_only(held);
  trim_masks(most_bytes_ / 2);
}

// Masks alone: all else is in use by texts under way, or would have to be made again for the next one.
void SharedConstraint::trim_masks(std::size_t limit) {
  assert(!is_working_);
  follower_->trim_masks(limit);
}

std::shared_ptr<History> SharedConstraint::begin_history(const Follower& follower, CanonicalState context) {
  const auto lock = locked();
  if (histories_.size() >= next_sweep_) {
    std::erase_if(histories_, [](const std::weak_ptr<History>& known) { return known.expired(); });
    next_sweep_ = 2 * histories_.size() + 16;
  }
  auto history = std::make_shared<History>(follower.first_step(std::move(context)));
  histories_.push_back(history);
  return history;
}

// ---- callers ----------------------------------------------------------------------------------

Constraint::Constraint(ExpressionPtr pattern, std::shared_ptr<const Vocabulary> vocabulary,
                       std::shared_ptr<const Vocabulary> start_vocabulary,
                       const TokenAutomaton::ControlTokens& control_tokens, const Limits& limits,
                       std::shared_ptr<const CancelToken> cancel, std::shared_ptr<const Tokenization> tokenization,
                       const ThoughtPlan* thought)
    : Constraint(std::make_shared<SharedConstraint>(
                     std::make_shared<const ConstraintSource>(ConstraintSource{
                         std::move(pattern), std::move(vocabulary), std::move(start_vocabulary), control_tokens,
                         std::move(tokenization), thought ? std::optional(*thought) : std::nullopt}),
                     limits, cancel),
                 limits, cancel) {
  compile_seconds_ = shared_->compile_seconds();
}

Constraint::Constraint(std::shared_ptr<SharedConstraint> shared, const Limits& limits,
                       std::shared_ptr<const CancelToken> cancel, double spent_seconds)
    : limits_(limits),
      cancel_(std::move(cancel)),
      compile_seconds_(spent_seconds),
      shared_(std::move(shared)),
      states_(shared_.get()) {
  shared_->admit(limits_);
}

SharedConstraint& Constraint::own_states(double& spent_seconds) {
  if (&states() != shared_.get()) return states();
  const auto begun = Budget::Clock::now();
  const Undo spend([&] { spent_seconds += std::chrono::duration<double>(Budget::Clock::now() - begun).count(); });
  auto made = std::make_shared<SharedConstraint>(shared_->source(), limits_, cancel_, spent_seconds);
  made->admit(limits_);
  const auto lock = shared_->locked();
  if (!own_) {  // another thread may have been faster
    own_ = std::move(made);
    states_.store(own_.get(), std::memory_order_release);
  }
  return *own_;
}

ClosedForm Constraint::closed_form() {
  double spent_seconds = compile_seconds_;
  const auto form_of = [&](SharedConstraint& states) {
    return states.work(limits_, cancel_, {}, spent_seconds,
                       [&states](Budget& budget) { return tokamata::closed_form(*states.follower_, budget); });
  };
  try {
    return form_of(states());
  } catch (const Crowded&) {
    return form_of(own_states(spent_seconds));
  }
}

}  // namespace tokamata
