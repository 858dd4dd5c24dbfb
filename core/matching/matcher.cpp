#include "matching/matcher.hpp"

#include <algorithm>

#include "matching/work.hpp"

namespace tokamata {

Matcher::Matcher(std::shared_ptr<Constraint> constraint, SharedConstraint& states)
    : constraint_(std::move(constraint)),
      states_(&states),
      steps_(states.begin_history()),
      has_start_rule_(automaton().has_start_rule()),
      spent_seconds_(constraint_->compile_seconds()) {}

Matcher::Matcher(std::shared_ptr<Constraint> constraint) : Matcher(constraint, constraint->states()) {}

Matcher::Matcher(std::shared_ptr<Constraint> constraint, std::span<const TokenId> context)
    : Matcher(std::move(constraint)) {
  if (!canonical()) return;
  const Tokenization& tokenization = canonical()->tokenization();
  CanonicalState state = canonical_state();
  for (std::size_t i = 0; i < context.size(); ++i) {
    std::optional<CanonicalState> after = tokenization.step(state, context[i]);
    if (!after) throw ContextNotCanonical(i);
    state = *std::move(after);
  }
  steps()[0].canonical = std::move(state);
  // After an added token a text begins again.
  has_start_rule_ =
      has_start_rule_ &&
      (context.empty() || (tokenization.added_number(context.back()) && tokenization.is_control(context.back())));
  const bool lives =
      work([this](Budget& budget) { return canonical()->lives(configuration(), canonical_state(), budget); });
  if (!lives) throw NotCanonical(!context.empty());
}

std::unique_ptr<Matcher> Matcher::fork() {
  while (true) {
    SharedConstraint& states = this->states();
    std::unique_ptr<Matcher> copy(new Matcher(constraint_, states));
    const auto lock = locked();
    if (&this->states() != &states) continue;  // it has moved meanwhile
    copy->steps() = steps();
    copy->has_start_rule_ = has_start_rule_;
    copy->least_ = least_;
    copy->spent_seconds_ = spent_seconds_;
    copy->own_stops_ = own_stops_;
    return copy;
  }
}

// ---- the states it stands on ------------------------------------------------------------------

std::unique_lock<Mutex> Matcher::locked(const Deadline& deadline) const {
  while (true) {
    SharedConstraint& states = this->states();
    auto lock = states.locked(deadline);
    if (&states == &this->states()) return lock;
  }
}

std::unique_lock<Mutex> Matcher::try_lock() const {
  SharedConstraint& states = this->states();
  std::unique_lock<Mutex> lock(states.mutex_, std::try_to_lock);
  if (lock && &states != &this->states()) lock.unlock();
  return lock;
}

// The tokens are read without the lock of the shared states, which others wait for.
void Matcher::move(const Deadline& deadline) {
  SharedConstraint& from = *constraint_->shared();
  const auto written = [this] {
    std::vector<TokenId> tokens;
    steps().visit([&](const Step& step) { tokens.push_back(step.token); });
    tokens.erase(tokens.begin());
    return tokens;
  };
  while (true) {
    auto lock = from.locked(deadline);
    if (&states() != &from) return;  // another thread has moved it
    const std::vector<TokenId> tokens = written();
    CanonicalState context = steps()[0].canonical;
    const bool has_start_rule = has_start_rule_;
    const TokenCount least = least_;
    const std::shared_ptr<const OwnStops> stops = own_stops_;
    double spent_seconds = spent_seconds_;
    lock.unlock();
    try {
      SharedConstraint& to = constraint_->own_states(spent_seconds);
      Matcher moved(constraint_, to);
      moved.steps()[0].canonical = std::move(context);
      moved.has_start_rule_ = has_start_rule;
      moved.least_ = least;
      moved.own_stops_ = stops;
      moved.spent_seconds_ = spent_seconds;
      const Undo spend([&] { spent_seconds = moved.spent_seconds_; });
      [[maybe_unused]] const bool is_allowed = moved.advance_all(tokens, deadline);
      TOKAMATA_CHECK(is_allowed, "what one set of states allows, another one of the same pattern does");
      const auto lock_of_own = to.locked(deadline);
      lock.lock();
      if (&states() != &from) return;
      if (written() != tokens) continue;  // another thread has gone on
      steps_ = moved.steps_;
      spent_seconds_ = moved.spent_seconds_;
      states_.store(&to, std::memory_order_release);
      return;
    } catch (...) {
      if (!lock) lock.lock();
      spent_seconds_ = std::max(spent_seconds_, spent_seconds);
      throw;
    }
  }
}

void Matcher::set_least(TokenCount tokens) {
  TOKAMATA_CHECK(!canonical(), "the number of canonical tokens is that of the text");
  work([&](Budget& budget) {
    if (tokens > 0 && !long_completions().has_any(configuration(), {tokens}, budget)) throw TooFewTokens(tokens);
    least_ = tokens;
    return true;
  });
}

void Matcher::set_stops(std::vector<TokenId> stops) {
  std::ranges::sort(stops, {}, &TokenId::value);
  const auto repeated = std::ranges::unique(stops);
  stops.erase(repeated.begin(), repeated.end());
  Words row(constraint_->vocabulary().words());
  for (const TokenId stop : stops) row[stop.value / 32] |= 1u << (stop.value % 32);
  Mask after{Mask::kNoSerial, 0, stops.size(), MaskBits::few_of(row)};
  auto own =
      std::make_shared<const OwnStops>(OwnStops{std::move(stops), std::make_shared<const Mask>(std::move(after))});
  const auto lock = locked();
  own_stops_ = std::move(own);
}

bool Matcher::is_stop(TokenId token) const {
  return own_stops_ ? std::ranges::binary_search(own_stops_->tokens, token.value, {}, &TokenId::value)
                    : constraint_->vocabulary().is_stop(token);
}

MaskPtr Matcher::stop_mask() { return own_stops_ ? own_stops_->after : automaton().stop_mask(); }

// Masks are made and kept with the stop tokens of the vocabulary.
MaskPtr Matcher::with_own_stops(MaskPtr mask, const Place& place) {
  if (!own_stops_ || !mask) return mask;
  const bool is_end = accepts(place);
  if (!is_end && mask->open_tokens == mask->set_bits) return mask;
  auto own = std::make_shared<Mask>(*mask);
  for (const std::uint32_t stop : constraint_->vocabulary().stop()) own->bits.remove(stop);
  own->set_bits = own->open_tokens;
  own->serial = Mask::kNoSerial;
  if (!is_end) return own;
  for (const TokenId stop : own_stops_->tokens) own->bits.set(stop.value);
  own->set_bits += own_stops_->tokens.size();
  return own;
}

// ---- masks ------------------------------------------------------------------------------------

MaskPtr Matcher::known_mask_within(const Place& place, TokenCount left) {
  if (const TokenBounds bounds = bounds_at(place, left); bounds.least > 0)
    return long_completions().try_mask(place.at, bounds);
  if (left != kNoTokens) return canonical() ? nullptr : with_own_stops(completions().try_mask(place.at, left), place);
  if (canonical()) return with_own_stops(canonical()->known_mask(place.at, place.canonical), place);
  const MaskPtr* known = automaton().known_mask(place.at);
  return known ? with_own_stops(*known, place) : nullptr;
}

MaskPtr Matcher::known_mask(const Place& place, TokenCount left) {
  if (place.is_stopped()) return stop_mask();
  if (!is_thought_limited(place, left)) return known_mask_within(place, left);
  const TokenCount room = states().thought_->surely_within(left, place.written, automaton());
  const bool is_ample = !canonical() && bounds_at(place).least == 0 && completions().is_ample(place.at, room);
  return is_ample ? known_mask_within(place, room) : nullptr;
}

MaskPtr Matcher::mask_within(const Place& place, TokenCount left, Budget& budget) {
  if (const TokenBounds bounds = bounds_at(place, left); bounds.least > 0)
    return long_completions().mask(place.at, bounds, budget);
  if (left == kNoTokens)
    return with_own_stops(
        canonical() ? canonical()->mask(place.at, place.canonical, budget) : automaton().mask(place.at, budget), place);
  return with_own_stops(canonical() ? canonical()->mask_within(place.at, place.canonical, left, budget)
                                    : completions().mask(place.at, left, budget),
                        place);
}

MaskPtr Matcher::mask_at(const Place& place, TokenCount left, Budget& budget) {
  if (place.is_stopped()) return stop_mask();
  return is_thought_limited(place, left) ? mask_of_thought(place, left, budget) : mask_within(place, left, budget);
}

MaskPtr Matcher::mask_of_thought(const Place& place, TokenCount left, Budget& budget) {
  Thought& thought = *states().thought_;
  const bool is_plain = !canonical() && bounds_at(place).least == 0;
  const TokenCount surely = thought.surely_within(left, place.written, automaton());
  if (is_plain && completions().is_ample(place.at, surely, budget)) return mask_within(place, surely, budget);
  // Where there is no room for what is reserved, the thought ends as soon as it can.
  TokenCount room = thought.within(left, place.written, automaton(), completions(), budget);
  if (is_plain && completions().is_of_rules(place.at, budget))
    room = std::max(room, std::min(left, completions().tokens_of_closing_text(place.at, budget)));
  MaskPtr mask = mask_within(place, room, budget);
  if (mask->set_bits > 0) return mask;
  const TokenCount needed = tokens_needed(place, budget);
  if (needed > room && needed <= left) mask = mask_within(place, needed, budget);
  return mask->set_bits > 0 ? mask : mask_within(place, left, budget);
}

MaskPtr Matcher::try_mask() {
  const auto lock = try_lock();
  return lock ? known_mask(here(), kNoTokens) : nullptr;
}

MaskPtr Matcher::mask(const Deadline& deadline) {
  return work(deadline, [this](Budget& budget) { return mask_at(here(), kNoTokens, budget); });
}

MaskWork Matcher::mask_work(const Deadline& deadline) {
  return work(deadline, [this](Budget& budget) {
    const MaskWork before = automaton().work();
    mask_at(here(), kNoTokens, budget);
    return automaton().work().since(before);
  });
}

MaskPtr Matcher::try_mask_within(TokenCount tokens, bool count_stop) {
  const auto lock = try_lock();
  return lock ? known_mask(here(), tokens - count_stop) : nullptr;
}

MaskPtr Matcher::mask_within(TokenCount tokens, bool count_stop, const Deadline& deadline) {
  return work(deadline, [&](Budget& budget) {
    MaskPtr mask = mask_at(here(), tokens - count_stop, budget);
    if (mask->set_bits == 0 && !accepts_here()) throw BudgetTooSmall(tokens_needed(here(), budget) + count_stop);
    return mask;
  });
}

// ---- steps ------------------------------------------------------------------------------------

bool Matcher::accepts_text(const Place& place) {
  if (place.is_stopped()) return true;
  return canonical() ? canonical()->accepting(place.at, place.canonical)
                     : automaton().automaton().accepting(place.at.state);
}

// After a token that is no stop token.
std::optional<Step> Matcher::text_step(const Place& place, TokenId token, Budget& budget) {
  if (canonical()) {
    std::optional<CanonicalAutomaton::Target> target = canonical()->step(place.at, place.canonical, token, budget);
    if (!target) return std::nullopt;
    return Step{token, target->state, std::move(target->canonical)};
  }
  const std::optional<StateId> target = automaton().step(place.at, token, budget);
  if (!target) return std::nullopt;
  return Step{token, *target};
}

std::optional<Step> Matcher::next_step(const Place& place, TokenId token, Budget& budget) {
  if (is_stop(token)) return accepts(place) ? std::optional(Step{token, Step::kStopped}) : std::nullopt;
  if (place.is_stopped() || token.value >= constraint_->vocabulary().width()) return std::nullopt;
  if (is_bounded(place) && !mask_at(place, kNoTokens, budget)->bits.contains(token.value)) return std::nullopt;
  std::optional<Step> step = text_step(place, token, budget);
  const TokenBounds bounds = bounds_at(place);
  if (step && bounds.least > 0 && !long_completions().lasts(step->state, bounds.after_one(), budget))
    return std::nullopt;
  if (step && thinks(place)) step->thought = states().thought_->step(place.thought, token, place.at.at_start, budget);
  return step;
}

TokenCount Matcher::tokens_needed(const Place& place, Budget& budget) {
  if (canonical()) return canonical()->tokens_needed(place.at, place.canonical, budget);
  return bounds_at(place).least > 0 ? completion(place, budget).size() : completions().tokens_needed(place.at, budget);
}

std::vector<TokenId> Matcher::completion(const Place& place, Budget& budget) {
  if (canonical()) return canonical()->shortest(place.at, place.canonical, budget);
  const TokenBounds bounds = bounds_at(place);
  if (bounds.least == 0) return completions().shortest(place.at, budget);
  std::optional<std::vector<TokenId>> found = long_completions().completion(place.at, bounds, budget);
  TOKAMATA_CHECK(found.has_value(), "each token that was taken leads to a text that is long enough");
  return *std::move(found);
}

std::vector<TokenId> Matcher::shortest_completion() {
  return work([&](Budget& budget) { return stopped() ? std::vector<TokenId>() : completion(here(), budget); });
}

TokenCount Matcher::tokens_to_close() {
  return work([&](Budget& budget) -> TokenCount {
    if (stopped()) return 0;
    return canonical() || bounds_at(here()).least > 0 ? tokens_needed(here(), budget)
                                                      : completions().tokens_to_close(configuration(), budget);
  });
}

std::optional<bool> Matcher::try_advance(TokenId token) {
  const auto lock = try_lock();
  if (!lock || canonical() || stopped() || is_stop(token) || bounds_at(here()).least > 0 || is_bounded(here()))
    return std::nullopt;
  const std::optional<std::optional<StateId>> target = automaton().try_step(configuration(), token);
  if (!target) return std::nullopt;
  if (!*target) return false;
  Step step{token, **target};
  if (thinks(here())) {
    const std::optional<StateId> thought = states().thought_->try_step(here().thought, token, here().at.at_start);
    if (!thought) return std::nullopt;
    step.thought = *thought;
  }
  steps().push_back(std::move(step));
  return true;
}

bool Matcher::advance(TokenId token) { return advance_all({&token, 1}); }

bool Matcher::advance_all(std::span<const TokenId> tokens) { return advance_all(tokens, {}); }

bool Matcher::advance_all(std::span<const TokenId> tokens, const Deadline& deadline) {
  return work(deadline, [&](Budget& budget) {
    const std::size_t before = steps().size();
    Undo undo([&] { steps().remove_last(steps().size() - before); });
    for (const TokenId token : tokens) {
      std::optional<Step> step = next_step(here(), token, budget);
      if (!step) return false;
      steps().push_back(*std::move(step));
    }
    budget.check();  // what is held from now on is within the limits
    undo.keep();
    return true;
  });
}

bool Matcher::rollback(std::size_t count) {
  const auto lock = locked();
  if (count >= steps().size()) return false;
  steps().remove_last(count);
  return true;
}

bool Matcher::is_accepting() {
  const auto lock = locked();
  return stopped() || accepts_here();
}

bool Matcher::is_finished() {
  return work([this](Budget& budget) {
    if (stopped()) return true;
    return accepts_here() && mask_at(here(), kNoTokens, budget)->open_tokens == 0;
  });
}

std::vector<TokenId> Matcher::tokens() {
  const auto lock = locked();
  std::vector<TokenId> tokens;
  steps().visit([&](const Step& step) { tokens.push_back(step.token); });
  tokens.erase(tokens.begin());
  return tokens;
}

std::string Matcher::text() {
  const auto lock = locked();
  std::string text;
  std::size_t number = 0;
  steps().visit([&](const Step& step) {
    if (number > 0 && step.state != Step::kStopped)
      text.append(automaton().vocabulary(has_start_rule_ && number == 1).bytes(step.token));
    ++number;
  });
  return text;
}

std::string Matcher::forced_text() {
  return work([this](Budget& budget) {
    if (stopped()) return std::string();
    return canonical() ? canonical()->forced_text(configuration(), canonical_state(), budget)
                       : automaton().forced_text(configuration(), budget);
  });
}

std::vector<TokenId> Matcher::forced_tokens() {
  return work([this](Budget& budget) {
    std::vector<TokenId> forced;
    if (stopped()) return forced;
    std::optional<Step> last;
    while (true) {
      const Place place = last ? after(*last, steps().size() - 1 + forced.size()) : here();
      // Where the text may end nothing is forced, even if no stop token says so.
      if (accepts(place)) return forced;
      const MaskPtr mask = mask_at(place, kNoTokens, budget);
      if (mask->set_bits != 1) return forced;
      const TokenId token{mask->bits.first()};
      last = next_step(place, token, budget);
      TOKAMATA_CHECK(last || states().has_read_masks_, "a token that the mask allows leads on");
      if (!last) return forced;  // a mask from a file allows what the constraint does not
      forced.push_back(token);
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
    if (text_step(here(), token, budget)) live.push_back(token);
  return live;
}

Explanation Matcher::explain(TokenId token) {
  return work([&](Budget& budget) {
    Explanation found = explained(token, budget);
    if (found.verdict == Explanation::Verdict::Allowed && !next_step(here(), token, budget))
      found.verdict = is_bounded(here()) ? Explanation::Verdict::TooMuchThought : Explanation::Verdict::TooShort;
    return found;
  });
}

Explanation Matcher::explained(TokenId token, Budget& budget) {
  using enum Explanation::Verdict;
  if (is_stop(token)) {
    if (stopped() || accepts_text(here())) return {Allowed, 0, {}};
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
    if (text_step(here(), token, budget)) return {Allowed, 0, {}};
    return {verdict_of(canonical()->tokenization().why_not(canonical_state(), token)), 0, {}};
  }
  if (text.empty()) {
    if (!automaton().step(configuration(), token, budget)) return {NotText, 0, {}};
    if (canonical() && !text_step(here(), token, budget))
      return {verdict_of(canonical()->tokenization().why_not(canonical_state(), token)), 0, {}};
    return {Allowed, 0, {}};
  }
  const TokenAutomaton::Reading reading = automaton().read(state(), text, budget);
  if (reading.length < text.size())
    return {Byte, reading.length, automaton().live_bytes(reading.state, budget),
            reading.length == 0 ? live_controls(budget) : std::vector<TokenId>(),
            automaton().automaton().arena().awaited(automaton().automaton().expression(reading.state), budget)};
  const ByteSet expected = automaton().live_bytes(automaton().edge(reading.state, budget), budget);
  if (!automaton().step(configuration(), token, budget)) return {Unspellable, reading.length, expected};
  if (canonical() && !text_step(here(), token, budget))
    return {verdict_of(canonical()->tokenization().why_not(canonical_state(), token)), reading.length, expected};
  return {Allowed, reading.length, expected};
}

}  // namespace tokamata
