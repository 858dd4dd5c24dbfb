#include "canonical/canonical_automaton.hpp"

#include <algorithm>
#include <bit>

namespace tokamata {

// ---- masks --------------------------------------------------------------------------------------

MaskPtr CanonicalAutomaton::known_mask(Configuration place, const CanonicalState& state) const {
  const Made* known = masks_.find(ConfigurationView{place.state, place.at_start, state});
  return known ? known->mask.shared() : nullptr;
}

const CanonicalAutomaton::Made& CanonicalAutomaton::made_mask(Configuration place, const CanonicalState& state,
                                                              Budget& budget, VerifiedTokens* verified) {
  if (const Made* known = masks_.find(ConfigurationView{place.state, place.at_start, state})) {
    ++pattern_.counted_work().known;
    return *known;
  }
  const TimeOfPart timed = pattern_.timed_mask();
  pattern_.counted_work().note(MaskWork::Maker::Canonical);
  const Configuration approximation = approximated(place, budget);
  // What the over-approximation allows, and the state itself does not, is cut.
  MaskPtr exact, approximated;
  if (approximation.state != place.state) {
    exact = pattern_.mask(place, budget);
    approximated = pattern_.mask(approximation, budget);
  }
  std::optional<VerifiedTokens> found;
  if (verified) found.emplace(verified->words());
  const HandOver hand_over(verified, [&](VerifiedTokens& to) {
    if (exact) found->keep_only(exact->bits);
    to.add_row(found->row());
  });
  const MaskBasePtr own = base(approximation, state, budget, found ? &*found : nullptr);
  if (found) {
    if (own->kept.empty()) found->add(own->bits);
    else found->add_row(own->kept);
    for (const std::uint32_t stop : tokenization_->vocabulary().stop()) found->remove(stop);
  }
  auto mask = std::make_shared<Mask>();
  mask->serial = pattern_.take_serial();
  mask->open_tokens = own->open_tokens;
  TokenCount most = own->most;
  if (own->kept.empty()) mask->bits = own->bits;
  else most = std::max(most, forbid(approximation, state, *own, *mask, budget));
  if (exact != approximated) cut(*exact, *mask);
  mask->set_bits = mask->open_tokens + own->stop_tokens;
  TOKAMATA_CHECK(is_counted(tokenization_->vocabulary(), *mask), "a mask that is kept knows how many tokens it allows");
  budget.check();
  if (masks_.size() == kMostMasks) drop_oldest_mask();
  return masks_.keep(ConfigurationKey{place.state, place.at_start, state}, Made{Kept<Mask>(std::move(mask)), most});
}

// Clears the tokens that the exact mask does not have.
void CanonicalAutomaton::cut(const Mask& exact, Mask& mask) {
  const Words allowed = exact.bits.row();
  if (mask.bits.is_few()) {
    mask.open_tokens -= mask.bits.keep_of_few([&](std::uint32_t token) { return has_bit(allowed, token); });
    return;
  }
  Words& words = mask.bits.words();
  for (std::size_t i = 0; i < words.size(); ++i)
    if (const std::uint32_t gone = words[i] & ~allowed[i]; gone != 0) {
      mask.open_tokens -= static_cast<std::size_t>(std::popcount(gone));
      words[i] &= ~gone;
    }
}

// Of several.
void CanonicalAutomaton::drop_oldest_mask() {
  masks_.drop_oldest();
  oldest_serial_ = masks_.oldest().mask->serial;
}

CanonicalAutomaton::MaskBasePtr CanonicalAutomaton::base(Configuration place, const CanonicalState& state,
                                                         Budget& budget, VerifiedTokens* verified) {
  ConfigurationKey key = ConfigurationKey::without_last(place, state, tokenization_->pieces());
  if (const Kept<MaskBase>* known = bases_.find(key)) return known->shared();
  auto made = std::make_shared<const MaskBase>(make_base(key, budget, verified));
  return bases_.keep(std::move(key), Kept(std::move(made))).shared();
}

// What the last token forbids concerns the hypotheses that are inside alone.
CanonicalAutomaton::MaskBase CanonicalAutomaton::make_base(const ConfigurationKey& key, Budget& budget,
                                                           VerifiedTokens* verified) {
  const CanonicalState& state = key.canonical;
  const Configuration place{key.state, key.at_start};
  const Vocabulary& vocabulary = tokenization_->vocabulary();
  MaskBase base{.bits = {}, .kept = {}, .by_pieces = {}, .open_tokens = 0, .stop_tokens = 0, .most = 0};
  Words words(vocabulary.words(), 0);
  const MaskSegments::Touch touch{state.starter, state.marks, state.open};
  const auto add_all = [&](Hypothesis::Edge edge) {
    bool is_any = false;
    for (const Hypothesis& h : state.hypotheses) {
      if (h.edge != edge || (edge == Hypothesis::Edge::Inside && !tokenization_->pieces().may_go_on(h.pieces)))
        continue;
      is_any = true;
      base.most = std::max(base.most, segments_.add({key.state, key.at_start, h.guess, h.place, h.edge, h.pieces},
                                                    touch, words, base.by_pieces, budget));
    }
    return is_any;
  };
  Words kept;  // once all that no last token forbids is there
  const HandOver hand_over(verified, [&](VerifiedTokens& to) { to.add_row(kept.empty() ? words : kept); });
  add_all(Hypothesis::Edge::Border);
  if (const std::uint8_t ends = tokenization_->ends_of(state); ends != 0)
    base.most = std::max(base.most, segments_.add_added(place, ends, state.open, words, budget));
  kept = words;
  if (add_all(Hypothesis::Edge::Inside)) base.kept = std::move(kept);
  base.open_tokens = count_bits(words);
  if (accepting(place, state)) {
    for (const std::uint32_t stop : vocabulary.stop()) {
      set_bit(words, stop);
      if (!base.kept.empty()) set_bit(base.kept, stop);
    }
    base.stop_tokens = vocabulary.stop().size();
  }
  const std::size_t tokens = base.open_tokens + base.stop_tokens;
  base.bits = tokens <= kMostSparse ? MaskBits::few_of(words) : MaskBits(std::move(words));
  return base;
}

// What the last token forbids, and what lives after others like it but not after this one, by any hypothesis.
TokenCount CanonicalAutomaton::forbid(Configuration place, const CanonicalState& state, const MaskBase& base,
                                      Mask& mask, Budget& budget) {
  const Pieces& pieces = tokenization_->pieces();
  const auto is_inside = [&](const Hypothesis& h) {
    return h.edge == Hypothesis::Edge::Inside && pieces.may_go_on(h.pieces);
  };
  const MaskSegments::Touch touch{state.starter, state.marks, state.open};
  TokenCount most = 0;
  const auto judge = [&](std::uint32_t token) {
    if (!mask.bits.contains(token) || has_bit(base.kept, token)) return;
    TokenCount least = kDead;
    for (const Hypothesis& h : state.hypotheses)
      if (is_inside(h))
        least = std::min(least, segments_.bound_after({place.state, place.at_start, h.guess, h.place, h.edge, h.pieces},
                                                      touch, state.last, {token}, budget));
    if (least == kDead) {
      mask.bits.remove(token);
      --mask.open_tokens;
    } else {
      most = std::max(most, least);
    }
  };
  bool is_forbidden = false;
  for (const Hypothesis& h : state.hypotheses) {
    if (!is_inside(h)) continue;
    if (!is_forbidden) {
      is_forbidden = true;
      if (base.bits.is_row()) {
        pieces.forbid(h.pieces, state.last, base.kept, base.bits.words(), mask.bits.blank(base.bits.size()));
        mask.open_tokens = mask.bits.count() - base.stop_tokens;
      } else {
        mask.bits = base.bits;
        mask.open_tokens -= mask.bits.keep_of_few([&](std::uint32_t token) {
          return has_bit(base.kept, token) || pieces.follow(h.pieces, state.last, {token});
        });
      }
    }
    if (pieces.ends_anywhere() && base.by_pieces.tokens.empty()) continue;
    for (const std::uint32_t token : pieces.carried(h.pieces, state.last))
      if (!pieces.ends_anywhere() || has_bit(base.by_pieces.tokens, token)) judge(token);
  }
  std::ranges::for_each(base.by_pieces.unsure, judge);
  return most;
}

// ---- steps --------------------------------------------------------------------------------------

// Where the mask is known it shows what lives.
std::optional<CanonicalAutomaton::Target> CanonicalAutomaton::step(Configuration place, const CanonicalState& state,
                                                                   TokenId token, Budget& budget) {
  const MaskPtr known = known_mask(place, state);
  const bool is_known = known && token.value < tokenization_->vocabulary().width();
  if (is_known && !known->bits.contains(token.value)) return std::nullopt;
  std::optional<CanonicalState> canonical = tokenization_->step(state, token);
  if (!canonical) return std::nullopt;
  const std::optional<StateId> target = pattern_step(pattern_, place, token, budget);
  if (!target || (!is_known && !lives({*target, false}, *canonical, budget))) return std::nullopt;
  return Target{*target, std::move(*canonical)};
}

// What is found first is good enough, and after a border it is known soonest.
TokenCount CanonicalAutomaton::bound(Configuration place, const CanonicalState& state, Budget& budget) {
  if (accepting(place, state)) return 0;
  if (place.at_start) {
    const Made& first = made_mask(place, state, budget);
    return first.mask->open_tokens > 0 ? more(first.most, 1) : kDead;
  }
  const StateId approximation = approximated(place, budget).state;
  const auto text = [&](const Hypothesis& h) {
    return TextState{h.guess, h.place, state.starter, state.marks, state.open};
  };
  TokenCount least = kDead;
  for (const Hypothesis& h : state.hypotheses)
    if (h.edge == Hypothesis::Edge::Border)
      least = std::min(least, liveness_.bound_after_border(approximation, text(h), budget));
  for (const Hypothesis& h : state.hypotheses)
    if (h.edge == Hypothesis::Edge::Inside && least == kDead)
      least = liveness_.bound({approximation, state.last, h.pieces, text(h)}, budget);
  return least;
}

bool CanonicalAutomaton::lives_somewhere(StateId at, Budget& budget) {
  const StateId state = approximated({at, false}, budget).state;
  for (std::uint16_t guess = 0; guess < tokenization_->rules().guess_count(); ++guess)
    if (liveness_.bound_after_border(state, {.guess = guess}, budget) != kDead) return true;
  return false;
}

// ---- budgets ------------------------------------------------------------------------------------

// What a witness needs is one bound of many, and which witness is found first depends on earlier calls.
// Where the bound holds, that does not show: masks within it are whole.  With rules it is counted in bytes of texts
// that need not be canonical, so that it has to be the same each time: it is the pattern's own.
TokenCount CanonicalAutomaton::most_after(Configuration place, TokenCount by_witnesses, Budget& budget) {
  if (!pattern_.operands().is_approximated(place.state)) return by_witnesses;
  place.at_start = false;
  pattern_.mask(place, budget);  // finds it
  return pattern_.most_after(place);
}

MaskPtr CanonicalAutomaton::mask_within(Configuration place, const CanonicalState& state, TokenCount left,
                                        Budget& budget, VerifiedTokens* verified) {
  const Made& whole = made_mask(place, state, budget);
  const MaskPtr all = whole.mask.shared();
  const TokenCount most = whole.most;
  if (budgets_.of_rules().serves(place, budget)) {
    std::vector<std::uint32_t> tokens =
        budgets_.of_rules().tokens_within({place.state, place.at_start, state}, left, all->bits.row(), budget);
    if (!place.at_start && !accepting(place, state))
      if (const std::optional<TokenId> closing =
              budgets_.of_rules().closing_token({place.state, false, state}, left, budget))
        if (std::ranges::find(tokens, closing->value) == tokens.end()) tokens.push_back(closing->value);
    if (tokens.empty() && left > 0 && !accepting(place, state)) {
      const std::vector<TokenId> route = shortest(place, state, budget);
      if (route.size() <= left) tokens.push_back(route.front().value);
    }
    return pattern_.mask_of(place, tokens, accepting(place, state));
  }
  if (left > 0 && most_after(place, most, budget) <= left - 1) return all;
  auto mask = std::make_shared<Mask>();
  mask->serial = pattern_.take_serial();
  Words words(all->bits.size(), 0);
  const HandOver hand_over(verified, [&](VerifiedTokens& to) { to.add_row(words); });
  const Vocabulary& vocabulary = tokenization_->vocabulary();
  if (left > 0)
    for_each_bit(all->bits.row(), [&](std::uint32_t token) {
      if (vocabulary.is_stop({token})) return;
      const std::optional<Target> target = step(place, state, {token}, budget);
      if (target && budgets_.suffices({target->state, false}, target->canonical, left - 1, nullptr, budget))
        set_bit(words, token);
    });
  mask->bits = MaskBits(std::move(words));
  mask->open_tokens = mask->set_bits = mask->bits.count();
  if (accepting(place, state)) add_stops(vocabulary, *mask);
  return mask;
}

// Where rules are completed by their closing texts, the first of the canonical tokens of that.  Elsewhere the longest
// token that the closing text of the pattern begins with, and after which a text can be completed.
std::optional<TokenId> CanonicalAutomaton::closing_token(Configuration place, const CanonicalState& state,
                                                         TokenCount left, Budget& budget) {
  if (left == 0 || accepting(place, state)) return std::nullopt;
  if (!place.at_start && budgets_.of_rules().serves(place, budget)) {
    if (const auto token = budgets_.of_rules().closing_token({place.state, false, state}, left, budget)) return token;
  } else if (left == kNoTokens) {
    for (const TokenId token : budgets_.closing_choices(place, budget))
      if (step(place, state, token, budget)) return token;
  }
  const std::vector<TokenId> route = shortest(place, state, budget);
  return !route.empty() && route.size() <= left ? std::optional(route.front()) : std::nullopt;
}

std::vector<TokenId> CanonicalAutomaton::shortest(Configuration place, const CanonicalState& state, Budget& budget) {
  if (budgets_.of_rules().serves(place, budget))
    if (std::optional<std::vector<TokenId>> found =
            budgets_.of_rules().shortest({place.state, place.at_start, state}, budget))
      return *std::move(found);
  std::vector<TokenId> route;
  TokenCount tokens = accepting(place, state) ? 0 : std::max<TokenCount>(budgets_.at_least(place, budget), 1);
  while (!budgets_.suffices(place, state, tokens, &route, budget)) ++tokens;
  return route;
}

bool CanonicalAutomaton::suffices(Configuration place, const CanonicalState& state, TokenCount tokens, Budget& budget) {
  if (budgets_.of_rules().serves(place, budget)) return shortest(place, state, budget).size() <= tokens;
  return budgets_.suffices(place, state, tokens, nullptr, budget);
}

// ---- memory -------------------------------------------------------------------------------------

void CanonicalAutomaton::clear() {
  approximated_.reset();
  liveness_.clear();
  segments_.clear();
  bases_.clear();
  masks_.clear();
  oldest_serial_ = pattern_.take_serial();  // none is left: views of all of them may go
  budgets_.clear();
}

void CanonicalAutomaton::trim_masks(std::size_t limit) {
  while (bases_.size() > 1 && Charge::bytes() > limit) bases_.drop_oldest();
  while (masks_.size() > 1 && Charge::bytes() > limit) drop_oldest_mask();
}

}  // namespace tokamata
