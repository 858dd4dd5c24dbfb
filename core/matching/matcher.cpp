#include "matching/matcher.hpp"

#include <algorithm>

#include "matching/work.hpp"

namespace tokamata {

Matcher::Matcher(std::shared_ptr<Constraint> constraint)
    : constraint_(std::move(constraint)), steps_(constraint_->begin_history()), has_start_rule_(automaton().has_start_rule()),
      spent_seconds_(constraint_->compile_seconds()) {}

Matcher::Matcher(std::shared_ptr<Constraint> constraint, std::span<const TokenId> context) : Matcher(std::move(constraint)) {
  if (!canonical()) return;
  const Tokenization& tokenization = canonical()->tokenization();
  CanonicalState state = canonical_state();
  for (std::size_t i = 0; i < context.size(); ++i) {
    std::optional<CanonicalState> after = tokenization.step(state, context[i]);
    if (!after) throw ContextNotCanonical(i);
    state = *std::move(after);
  }
  steps().back().canonical = std::move(state);
  // After an added token a text begins again.
  has_start_rule_ = has_start_rule_ && (context.empty() || (tokenization.added_number(context.back()) && tokenization.is_control(context.back())));
  const bool lives = constraint_->work(
      spent_seconds_, [this](Budget& budget) { return canonical()->lives(configuration(), canonical_state(), budget); });
  if (!lives) throw NotCanonical(!context.empty());
}

std::unique_ptr<Matcher> Matcher::fork() {
  auto copy = std::make_unique<Matcher>(constraint_);
  const std::lock_guard lock(constraint_->mutex_);
  copy->steps() = steps();
  copy->has_start_rule_ = has_start_rule_;
  copy->spent_seconds_ = spent_seconds_;
  return copy;
}

MaskPtr Matcher::try_mask() {
  const std::unique_lock lock(constraint_->mutex_, std::try_to_lock);
  if (!lock) return nullptr;
  if (stopped()) return automaton().stop_mask();
  if (canonical()) return canonical()->known_mask(configuration(), canonical_state());
  const MaskPtr* known = automaton().known_mask(configuration());
  return known ? *known : nullptr;
}

MaskPtr Matcher::current_mask(Budget& budget) {
  if (stopped()) return automaton().stop_mask();
  return canonical() ? canonical()->mask(configuration(), canonical_state(), budget) : automaton().mask(configuration(), budget);
}

bool Matcher::accepts_here() {
  return canonical() ? canonical()->accepting(configuration(), canonical_state()) : automaton().automaton().accepting(state());
}

std::optional<Step> Matcher::next_step(TokenAutomaton::Configuration at, const CanonicalState& before, TokenId token, Budget& budget) {
  if (canonical()) {
    std::optional<CanonicalAutomaton::Target> target = canonical()->step(at, before, token, budget);
    if (!target) return std::nullopt;
    return Step{token, target->state, std::move(target->canonical)};
  }
  const std::optional<StateId> target = automaton().step(at, token, budget);
  if (!target) return std::nullopt;
  return Step{token, *target};
}

MaskPtr Matcher::mask() {
  return constraint_->work(spent_seconds_, [this](Budget& budget) { return current_mask(budget); });
}

MaskPtr Matcher::try_mask_within(TokenCount tokens, bool count_stop) {
  const std::unique_lock lock(constraint_->mutex_, std::try_to_lock);
  if (!lock) return nullptr;
  if (stopped()) return automaton().stop_mask();
  if (canonical()) return nullptr;
  return completions().try_mask(configuration(), tokens - count_stop);
}

MaskPtr Matcher::mask_within(TokenCount tokens, bool count_stop) {
  return constraint_->work(spent_seconds_, [&](Budget& budget) {
    if (stopped()) return automaton().stop_mask();
    const TokenCount left = tokens - count_stop;
    MaskPtr mask = canonical() ? canonical()->mask_within(configuration(), canonical_state(), left, budget)
                               : completions().mask(configuration(), left, budget);
    if (mask->set_bits == 0 && !accepts_here())
      throw BudgetTooSmall((canonical() ? canonical()->tokens_needed(configuration(), canonical_state(), budget)
                                        : completions().tokens_needed(configuration(), budget)) +
                           count_stop);
    return mask;
  });
}

std::vector<TokenId> Matcher::shortest_completion() {
  return constraint_->work(spent_seconds_, [&](Budget& budget) {
    if (stopped()) return std::vector<TokenId>();
    return canonical() ? canonical()->shortest(configuration(), canonical_state(), budget) : completions().shortest(configuration(), budget);
  });
}

TokenCount Matcher::tokens_to_close() {
  return constraint_->work(spent_seconds_, [&](Budget& budget) -> TokenCount {
    if (stopped()) return 0;
    return canonical() ? canonical()->tokens_needed(configuration(), canonical_state(), budget)
                       : completions().tokens_to_close(configuration(), budget);
  });
}

std::optional<bool> Matcher::try_advance(TokenId token) {
  const std::unique_lock lock(constraint_->mutex_, std::try_to_lock);
  if (!lock || canonical() || stopped() || constraint_->vocabulary().is_stop(token)) return std::nullopt;
  const std::optional<std::optional<StateId>> target = automaton().try_step(configuration(), token);
  if (!target) return std::nullopt;
  if (!*target) return false;
  steps().push_back({token, **target});
  return true;
}

bool Matcher::advance(TokenId token) {
  return constraint_->work(spent_seconds_, [&](Budget& budget) {
    if (constraint_->vocabulary().is_stop(token)) {
      if (!stopped() && !accepts_here()) return false;
      budget.check();  // the call is done once: what follows the push throws nothing
      steps().push_back({token, Step::kStopped});
      return true;
    }
    if (stopped()) return false;
    std::optional<Step> step = next_step(configuration(), canonical_state(), token, budget);
    budget.check();  // what is held from now on is within the limits
    if (!step) return false;
    steps().push_back(*std::move(step));
    return true;
  });
}

bool Matcher::rollback(std::size_t count) {
  const std::lock_guard lock(constraint_->mutex_);
  if (count >= steps().size()) return false;
  steps().resize(steps().size() - count);
  return true;
}

bool Matcher::is_accepting() {
  const std::lock_guard lock(constraint_->mutex_);
  return stopped() || accepts_here();
}

bool Matcher::is_finished() {
  return constraint_->work(spent_seconds_, [this](Budget& budget) {
    if (stopped()) return true;
    return accepts_here() && current_mask(budget)->open_tokens == 0;
  });
}

std::vector<TokenId> Matcher::tokens() {
  const std::lock_guard lock(constraint_->mutex_);
  std::vector<TokenId> tokens;
  for (std::size_t i = 1; i < steps().size(); ++i) tokens.push_back(steps()[i].token);
  return tokens;
}

std::string Matcher::text() {
  const std::lock_guard lock(constraint_->mutex_);
  std::string text;
  for (std::size_t i = 1; i < steps().size() && steps()[i].state != Step::kStopped; ++i)
    text.append(automaton().vocabulary(has_start_rule_ && i == 1).bytes(steps()[i].token));
  return text;
}

std::string Matcher::forced_text() {
  return constraint_->work(spent_seconds_, [this](Budget& budget) {
    if (stopped()) return std::string();
    return canonical() ? canonical()->forced_text(configuration(), canonical_state(), budget) : automaton().forced_text(configuration(), budget);
  });
}

std::vector<TokenId> Matcher::forced_tokens() {
  return constraint_->work(spent_seconds_, [this](Budget& budget) {
    std::vector<TokenId> forced;
    if (stopped()) return forced;
    TokenAutomaton::Configuration at = configuration();
    CanonicalState state = canonical_state();
    while (true) {
      // Where the text may end nothing is forced, even if no stop token says so.
      if (canonical() ? canonical()->accepting(at, state) : automaton().automaton().accepting(at.state)) return forced;
      const MaskPtr mask = canonical() ? canonical()->mask(at, state, budget) : automaton().mask(at, budget);
      if (mask->set_bits != 1) return forced;
      const TokenId token{mask->bits.first()};
      Step step = *next_step(at, state, token, budget);
      forced.push_back(token);
      at = {step.state, false};
      state = std::move(step.canonical);
    }
  });
}

namespace {

Explanation::Verdict verdict_of(Refusal refusal) {
  switch (refusal) {
    case Refusal::NeverMade: return Explanation::Verdict::NeverMade;
    case Refusal::Merge: return Explanation::Verdict::Merge;
    case Refusal::PreToken: return Explanation::Verdict::PreToken;
    case Refusal::Normalizer: return Explanation::Verdict::Normalizer;
    case Refusal::AddedToken: return Explanation::Verdict::AddedToken;
    case Refusal::None: break;
  }
  return Explanation::Verdict::DeadEnd;
}

}  // namespace

std::vector<TokenId> Matcher::live_controls(Budget& budget) {
  std::vector<TokenId> live;
  for (const TokenId token : automaton().controls())
    if (next_step(configuration(), canonical_state(), token, budget)) live.push_back(token);
  return live;
}

Explanation Matcher::explain(TokenId token) {
  return constraint_->work(spent_seconds_, [&](Budget& budget) -> Explanation {
    using enum Explanation::Verdict;
    if (constraint_->vocabulary().is_stop(token)) {
      if (stopped() || accepts_here()) return {Allowed, 0, {}};
      return {StopTooSoon, 0, automaton().live_bytes(state(), budget), live_controls(budget)};
    }
    const bool is_named = std::ranges::find(automaton().controls(), token) != automaton().controls().end();
    if (token.value >= constraint_->vocabulary().token_count() && !is_named) return {Padding, 0, {}};
    const std::string_view text = automaton().vocabulary(configuration().at_start).bytes(token);
    // The decoder may take all of a text's first token away.
    const bool is_prefix = canonical() && text.empty() && !constraint_->vocabulary().bytes(token).empty();
    if (text.empty() && !is_named && !is_prefix) return {NotText, 0, {}};
    if (stopped()) return {AfterStop, 0, {}};
    if (is_prefix) {
      if (next_step(configuration(), canonical_state(), token, budget)) return {Allowed, 0, {}};
      return {verdict_of(canonical()->tokenization().why_not(canonical_state(), token)), 0, {}};
    }
    if (text.empty()) {
      if (!automaton().step(configuration(), token, budget)) return {NotText, 0, {}};
      if (canonical() && !next_step(configuration(), canonical_state(), token, budget))
        return {verdict_of(canonical()->tokenization().why_not(canonical_state(), token)), 0, {}};
      return {Allowed, 0, {}};
    }
    const TokenAutomaton::Reading reading = automaton().read(state(), text, budget);
    if (reading.length < text.size())
      return {Byte, reading.length, automaton().live_bytes(reading.state, budget),
              reading.length == 0 ? live_controls(budget) : std::vector<TokenId>()};
    const ByteSet expected = automaton().live_bytes(automaton().edge(reading.state, budget), budget);
    if (!automaton().step(configuration(), token, budget)) return {Unspellable, reading.length, expected};
    if (canonical() && !next_step(configuration(), canonical_state(), token, budget))
      return {verdict_of(canonical()->tokenization().why_not(canonical_state(), token)), reading.length, expected};
    return {Allowed, reading.length, expected};
  });
}

}  // namespace tokamata
