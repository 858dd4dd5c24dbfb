#include "following/at_least.hpp"

#include <utility>

#include "common/check.hpp"

namespace tokamata {

MaskPtr AtLeastFollower::known_mask(const Place& place, TokenCount left) const {
  return is_long_enough(place) ? inner_.known_mask(place, left) : long_.known_long_mask(place, bounds_at(place, left));
}

MaskPtr AtLeastFollower::mask(const Place& place, TokenCount left, Budget& budget, VerifiedTokens* verified) {
  return is_long_enough(place) ? inner_.mask(place, left, budget, verified)
                               : long_.long_mask(place, bounds_at(place, left), budget, verified);
}

std::optional<TokenId> AtLeastFollower::closing_token(const Place& place, TokenCount left, bool is_of_text,
                                                      Budget& budget) {
  if (is_long_enough(place)) return inner_.closing_token(place, left, is_of_text, budget);
  const auto found = long_.long_completion(place, bounds_at(place, left), budget);
  return found && !found->empty() ? std::optional(found->front()) : std::nullopt;
}

bool AtLeastFollower::is_known_ample(const Place& place, TokenCount left) const {
  return is_long_enough(place) && inner_.is_known_ample(place, left);
}

bool AtLeastFollower::is_ample(const Place& place, TokenCount left, Budget& budget) {
  return is_long_enough(place) && inner_.is_ample(place, left, budget);
}

std::optional<Step> AtLeastFollower::step(const Place& place, TokenId token, Budget& budget) {
  std::optional<Step> step = inner_.step(place, token, budget);
  if (step && !is_long_enough(place) &&
      !long_.lasts(Place::after(*step, place.written + 1), bounds_at(place).after_one(), budget))
    return std::nullopt;
  return step;
}

std::optional<std::optional<Step>> AtLeastFollower::known_step(const Place& place, TokenId token) const {
  return is_long_enough(place) ? inner_.known_step(place, token) : std::nullopt;
}

Verdict AtLeastFollower::refusal(const Place& place, TokenId token) const {
  return is_long_enough(place) ? inner_.refusal(place, token) : Verdict::TooShort;
}

bool AtLeastFollower::lives(const Place& place, Budget& budget) {
  return is_long_enough(place) ? inner_.lives(place, budget) : long_.lasts(place, bounds_at(place), budget);
}

std::vector<TokenId> AtLeastFollower::shortest(const Place& place, Budget& budget) {
  if (is_long_enough(place)) return inner_.shortest(place, budget);
  std::optional<std::vector<TokenId>> found = long_.long_completion(place, bounds_at(place), budget);
  TOKAMATA_CHECK(found.has_value(), "each token that was taken leads to a text that is long enough");
  return *std::move(found);
}

TokenCount AtLeastFollower::needed(const Place& place, Budget& budget) {
  return is_long_enough(place) ? inner_.needed(place, budget) : shortest(place, budget).size();
}

TokenCount AtLeastFollower::sufficient(const Place& place, Budget& budget) {
  return is_long_enough(place) ? inner_.sufficient(place, budget) : needed(place, budget);
}

TokenCount AtLeastFollower::closing(const Place& place, Budget& budget) {
  return is_long_enough(place) ? inner_.closing(place, budget) : 0;
}

}  // namespace tokamata
