#include "matching/matcher.hpp"

#include <algorithm>

#include "common/hash.hpp"
#include "matching/work.hpp"

namespace tokamata {

Matcher::Matcher(std::shared_ptr<Constraint> constraint, SharedConstraint& states, std::span<const TokenId> context)
    : constraint_(std::move(constraint)), states_(&states), spent_seconds_(constraint_->compile_seconds()) {
  follow(0);
  Follower::Start start = follower().start(context);
  has_start_rule_ = start.at_start;
  steps_ = states.begin_history(follower(), std::move(start.canonical));
}

Matcher::Matcher(std::shared_ptr<Constraint> constraint) : Matcher(constraint, constraint->states(), {}) {}

Matcher::Matcher(std::shared_ptr<Constraint> constraint, std::span<const TokenId> context)
    : Matcher(std::move(constraint), context, {}, {}) {}

Matcher::Matcher(std::shared_ptr<Constraint> constraint, std::span<const TokenId> context,
                 std::span<const TokenId> written, std::span<const TokenId> canonical)
    : Matcher(constraint, constraint->states(), context) {
  if (!written.empty()) {
    std::vector<TokenId> whole(context.begin(), context.end());
    whole.insert(whole.end(), canonical.begin(), canonical.end());
    CanonicalState after = follower().start(whole).canonical;
    {
      const auto lock = locked();
      steps()[0].canonical = std::move(after);
    }
    begin_with(written);
  }
  if (follower().begins_everywhere()) return;
  if (!work([this](Budget& budget) { return follower().lives(here(), budget); }))
    throw NotCanonical(!context.empty() || !written.empty());
}

void Matcher::begin_with(std::span<const TokenId> written, const Deadline& deadline) {
  work(deadline, [&](Budget& budget) {
    const std::size_t before = steps().size();
    Undo undo([&] { steps().remove_last(steps().size() - before); });
    for (std::size_t i = 0; i < written.size(); ++i) {
      const bool is_text = written[i].value < constraint_->vocabulary().width() && !is_stop(written[i]);
      std::optional<Step> step = is_text ? follower().written_step(here(), written[i], budget) : std::nullopt;
      if (!step) throw NotAllowed(i);
      steps().push_back(*std::move(step));
    }
    budget.check();
    written_ = written.size();
    undo.keep();
    return true;
  });
}

void Matcher::follow(TokenCount least) {
  thinking_.reset();
  at_least_.reset();
  least_ = least;
  if (least_ > 0) at_least_.emplace(*states().follower_, least_);
  if (states().thought_) thinking_.emplace(follower_of_any_thought(), *states().thought_);
}

std::unique_ptr<Matcher> Matcher::fork() {
  while (true) {
    SharedConstraint& states = this->states();
    std::unique_ptr<Matcher> copy(new Matcher(constraint_, states, {}));
    const auto lock = locked();
    if (&this->states() != &states) continue;  // it has moved meanwhile
    copy->steps() = steps();
    copy->has_start_rule_ = has_start_rule_;
    copy->written_ = written_;
    copy->follow(least_);
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
    CanonicalState after_context = steps()[0].canonical;
    const bool has_start_rule = has_start_rule_;
    const std::size_t count_of_written = written_;
    const TokenCount least = least_;
    const std::shared_ptr<const OwnStops> stops = own_stops_;
    double spent_seconds = spent_seconds_;
    lock.unlock();
    try {
      SharedConstraint& to = constraint_->own_states(spent_seconds);
      Matcher moved(constraint_, to, {});
      moved.steps()[0].canonical = std::move(after_context);
      moved.has_start_rule_ = has_start_rule;
      moved.follow(least);
      moved.own_stops_ = stops;
      moved.spent_seconds_ = spent_seconds;
      const Undo spend([&] { spent_seconds = moved.spent_seconds_; });
      const std::span<const TokenId> all(tokens);
      moved.begin_with(all.first(count_of_written), deadline);
      [[maybe_unused]] const bool is_allowed = moved.advance_all(all.subspan(count_of_written), deadline);
      TOKAMATA_CHECK(is_allowed, "what one set of states allows, another one of the same pattern does");
      const auto lock_of_own = to.locked(deadline);
      lock.lock();
      if (&states() != &from) return;
      if (written() != tokens) continue;  // another thread has gone on
      steps_ = moved.steps_;
      spent_seconds_ = moved.spent_seconds_;
      states_.store(&to, std::memory_order_release);
      follow(least);
      return;
    } catch (...) {
      if (!lock) lock.lock();
      spent_seconds_ = std::max(spent_seconds_, spent_seconds);
      throw;
    }
  }
}

void Matcher::set_least(TokenCount tokens) {
  work([&](Budget& budget) {
    const TokenCount before = least_;
    follow(tokens);
    Undo undo([&] { follow(before); });
    if (tokens > 0 && !at_least_->lives(here(), budget)) throw TooFewTokens(tokens);
    undo.keep();
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

MaskPtr Matcher::known_mask(const Place& place, TokenCount left) {
  if (place.is_stopped()) return stop_mask();
  return with_own_stops(follower().known_mask(place, left), place);
}

MaskPtr Matcher::mask_at(const Place& place, TokenCount left, Budget& budget, VerifiedTokens* verified) {
  if (place.is_stopped()) return stop_mask();
  return with_own_stops(follower().mask(place, left, budget, verified), place);
}

namespace {

// Places that need the same work have the same; others may.
std::uint64_t hash_of(const Place& place) {
  std::uint64_t hash = mix(place.at.state.value, place.thought.value);
  for (const Hypothesis& h : place.canonical.hypotheses)
    hash = mix(mix(mix(hash, h.guess), h.place), place.canonical.last.value);
  return hash;
}

}  // namespace

MadeMask Matcher::some_mask_at(const Place& place, TokenCount left, const Deadline& deadline, Budget& budget) {
  if (MaskPtr known = known_mask(place, left)) return {std::move(known), true};
  const Vocabulary& vocabulary = constraint_->vocabulary();
  VerifiedTokens verified(vocabulary.words());
  UnfinishedMasks& unfinished = states().unfinished_;
  const std::uint64_t key = hash_of(place);
  const bool is_kept = !at_least_;  // others are recomputed for each number of tokens
  const Deadline extended = is_kept ? unfinished.extended(key, deadline) : deadline;
  const auto time_left = [&] { return extended.at - Deadline::Clock::now(); };
  const auto is_over = [](const LimitExceeded& error) { return error.limit == "deadline_seconds"; };
  try {
    const auto for_closing = std::max<Deadline::Clock::duration>(time_left() / 3, kGrace);
    budget.set_deadline({Deadline::Clock::now() + for_closing, deadline.seconds});
    if (const std::optional<TokenId> closing = follower().closing_token(place, left, false, budget))
      verified.add(closing->value);
  } catch (const LimitExceeded& error) {
    if (!is_over(error)) throw;  // canonical tokens of a closing text may take longer than the mask
  }
  try {
    // What is known is put together within the time that is given, or nearly so.
    const auto to_hand_over = std::min<Deadline::Clock::duration>(time_left() / 2, kToHandOver);
    budget.set_deadline({extended.at - to_hand_over, deadline.seconds});
    budget.check();
    MaskPtr whole = mask_at(place, left, budget, &verified);
    unfinished.note_whole(key);
    return {std::move(whole), true};
  } catch (const LimitExceeded& error) {
    if (!is_over(error)) throw;
    if (is_kept) unfinished.note_unfinished(key);
    Mask some{Mask::kNoSerial, count_bits(verified.row()), 0, MaskBits(verified.row())};
    some.set_bits = some.open_tokens;
    if (accepts(place)) add_stops(vocabulary, some);
    MaskPtr mask = with_own_stops(std::make_shared<const Mask>(std::move(some)), place);
    if (mask->set_bits == 0) throw;
    return {std::move(mask), false};
  }
}

MaskPtr Matcher::try_mask() {
  const auto lock = try_lock();
  return lock ? known_mask(here(), kNoTokens) : nullptr;
}

MaskPtr Matcher::mask(const Deadline& deadline) {
  return work(deadline, [this](Budget& budget) { return mask_at(here(), kNoTokens, budget); });
}

MadeMask Matcher::some_mask(std::optional<TokenCount> tokens, bool count_stop, const Deadline& deadline) {
  return work(deadline.at_least(kGrace), [&](Budget& budget) {
    MadeMask made = some_mask_at(here(), tokens ? *tokens - count_stop : kNoTokens, deadline, budget);
    if (made.mask->set_bits == 0 && !accepts(here()) && tokens)
      throw BudgetTooSmall(follower().needed(here(), budget) + count_stop);
    return made;
  });
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
    if (mask->set_bits == 0 && !accepts(here())) throw BudgetTooSmall(follower().needed(here(), budget) + count_stop);
    return mask;
  });
}

// ---- steps ------------------------------------------------------------------------------------

std::optional<Step> Matcher::next_step(const Place& place, TokenId token, Budget& budget) {
  if (is_stop(token)) return accepts(place) ? std::optional(Step{token, Step::kStopped}) : std::nullopt;
  if (place.is_stopped() || token.value >= constraint_->vocabulary().width()) return std::nullopt;
  return follower().step(place, token, budget);
}

std::vector<TokenId> Matcher::shortest_completion(const Deadline& deadline) {
  return work(deadline.at_least(kGrace), [&](Budget& budget) {
    if (stopped()) return std::vector<TokenId>();
    if (!deadline.is_set()) return follower().shortest(here(), budget);
    std::optional<std::vector<TokenId>> closing = closing_tokens(budget);
    try {
      budget.set_deadline(deadline);
      budget.check();
      return follower().shortest(here(), budget);
    } catch (const LimitExceeded& error) {
      if (error.limit != "deadline_seconds" || !closing) throw;
      return *std::move(closing);
    }
  });
}

// A completion that is found without a search where the expression knows a text.  Nothing where none is known, or none
// that is short enough for a thought.
std::optional<std::vector<TokenId>> Matcher::closing_tokens(Budget& budget) {
  Follower& follower = this->follower();
  std::vector<TokenId> tokens;
  std::optional<Step> last;
  while (true) {
    const Place place = last ? Place::after(*last, steps().size() - 1 + tokens.size()) : here();
    budget.step();
    const std::optional<TokenId> token = follower.closing_token(place, kNoTokens, true, budget);
    if (!token) return follower.accepts(place) ? std::optional(std::move(tokens)) : std::nullopt;
    std::optional<Step> next = follower.step(place, *token, budget);
    if (!next) return std::nullopt;
    tokens.push_back(*token);
    last = std::move(next);
  }
}

TokenCount Matcher::tokens_to_close() {
  return work([&](Budget& budget) { return stopped() ? 0 : follower().sufficient(here(), budget); });
}

std::optional<bool> Matcher::try_advance(TokenId token) {
  const auto lock = try_lock();
  if (!lock || stopped() || is_stop(token)) return std::nullopt;
  std::optional<std::optional<Step>> step = follower().known_step(here(), token);
  if (!step) return std::nullopt;
  if (!*step) return false;
  steps().push_back(**std::move(step));
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
  if (count >= steps().size() - written_) return false;
  steps().remove_last(count);
  return true;
}

bool Matcher::is_accepting() {
  const auto lock = locked();
  return accepts(here());
}

bool Matcher::is_finished() {
  return work([this](Budget& budget) {
    if (stopped()) return true;
    return accepts(here()) && mask_at(here(), kNoTokens, budget)->open_tokens == 0;
  });
}

std::vector<TokenId> Matcher::tokens() {
  const auto lock = locked();
  std::vector<TokenId> tokens;
  steps().visit([&](const Step& step) { tokens.push_back(step.token); });
  tokens.erase(tokens.begin());
  return tokens;
}

std::size_t Matcher::advanced() {
  const auto lock = locked();
  return steps().size() - 1 - written_;
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
  return work([this](Budget& budget) { return stopped() ? std::string() : follower().forced(here(), budget); });
}

std::vector<TokenId> Matcher::forced_tokens() {
  return work([this](Budget& budget) {
    std::vector<TokenId> forced;
    if (stopped()) return forced;
    std::optional<Step> last;
    while (true) {
      const Place place = last ? Place::after(*last, steps().size() - 1 + forced.size()) : here();
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

std::string Matcher::show() {
  const auto lock = locked();
  return stopped() ? "stopped" : follower().show(here());
}

Explanation Matcher::explain(TokenId token) {
  return work([&](Budget& budget) {
    // Without regard to the least number of tokens and to the thought.
    Explainer explainer(*states().follower_, automaton(), here(), budget);
    Explanation found = is_stop(token) ? explainer.stop_token() : explainer.token(token);
    if (found.verdict == Verdict::Allowed && !next_step(here(), token, budget))
      found.verdict = follower().refusal(here(), token);
    return found;
  });
}

}  // namespace tokamata
