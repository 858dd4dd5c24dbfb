// Budgets of tokens, and shortest completions, for the tokenizer's own tokens alone: as composition/completions.hpp
// has them, by a search that is told how many tokens are left.

#include <algorithm>

#include "canonical/canonical_automaton.hpp"

namespace tokamata {

MaskPtr CanonicalAutomaton::mask_within(Place place, const CanonicalState& state, TokenCount left, Budget& budget) {
  const Made& whole = made_mask(place, state, budget);
  if (left > 0 && whole.most <= left - 1) return whole.mask;
  const MaskPtr all = whole.mask;
  auto mask = std::make_shared<Mask>();
  mask->serial = pattern_.take_serial();
  mask->words.assign(all->words.size(), 0);
  const Vocabulary& vocabulary = tokenization_->vocabulary();
  if (left > 0)
    for_each_bit(all->words, [&](std::uint32_t token) {
      if (vocabulary.is_stop({token})) return;
      const std::optional<Target> target = step(place, state, {token}, budget);
      if (target && is_within({target->state, false}, target->canonical, left - 1, nullptr, budget)) set_bit(mask->words, token);
    });
  mask->open_tokens = mask->set_bits = count_bits(mask->words);
  if (accepting(place, state)) {
    for (const std::uint32_t stop : vocabulary.stop()) set_bit(mask->words, stop);
    mask->set_bits += vocabulary.stop().size();
  }
  return mask;
}

// Whether so many tokens suffice.  With `route`, which they are; else what is known may do.
bool CanonicalAutomaton::is_within(Place place, const CanonicalState& state, TokenCount tokens, std::vector<TokenId>* route,
                                   Budget& budget) {
  if (accepting(place, state)) return true;
  const auto at_least = [&](StateId at) { return pattern_.room(at).at_least; };
  if (tokens == 0 || (!place.at_start && at_least(place.state) > tokens)) return false;
  const auto key = std::tuple(place.state, place.at_start, state);
  if (const auto known = at_least_.find(key); known != at_least_.end() && known->second > tokens) return false;
  const TokenCount enough = bound(place, state, budget);
  if (enough == kDead || (!route && enough <= tokens)) return enough != kDead;
  bool is_found = false;
  const auto visit = [&](TokenId token, StateId target) {
    std::optional<CanonicalState> after = tokenization_->step(state, token);
    if (!after) return;
    budget.step();
    if (route) route->push_back(token);
    is_found = is_within({target, false}, *after, tokens - 1, route, budget);
    if (!is_found && route) route->pop_back();
  };
  // What leads on is copied: the list is of one place at a time.
  std::vector<std::pair<TokenId, StateId>> ways;
  parts_.moves(place, budget).for_each([&](StateId target, std::span<const std::uint32_t> list) {
    if (at_least(target) <= tokens - 1)
      for (const std::uint32_t token : list) ways.emplace_back(TokenId{token}, target);
  });
  AddedMoves& added = liveness_.text().added();
  for (const AddedMove& move : added.of(place, budget))
    for (const std::uint32_t number : *move.numbers) ways.emplace_back(TokenId{tokenization_->added()[number]}, move.target);
  for (const auto& [token, target] : ways) {
    visit(token, target);
    if (is_found) return true;
  }
  TokenCount& known = at_least_[key];
  known = std::max(known, tokens + 1);
  return false;
}

std::vector<TokenId> CanonicalAutomaton::shortest(Place place, const CanonicalState& state, Budget& budget) {
  std::vector<TokenId> route;
  for (TokenCount tokens = 0; !is_within(place, state, tokens, &route, budget); ++tokens) route.clear();
  return route;
}

}  // namespace tokamata
