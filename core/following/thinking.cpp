#include "following/thinking.hpp"

#include <algorithm>
#include <utility>

#include "common/bits.hpp"

namespace tokamata {

Step ThinkingFollower::first_step(CanonicalState canonical) const {
  Step first = inner_.first_step(std::move(canonical));
  first.thought = thought_.start();
  return first;
}

MaskPtr ThinkingFollower::known_mask(const Place& place, TokenCount left) const {
  if (!is_limited(place, left)) return inner_.known_mask(place, left);
  const TokenCount room = thought_.surely_within(left, place.written);
  return inner_.is_known_ample(place, room) ? inner_.known_mask(place, room) : nullptr;
}

// Where there is no room for what is reserved, the thought ends as soon as it can.
TokenCount ThinkingFollower::room(const Place& place, TokenCount left, Budget& budget) {
  return std::max(thought_.within(left, place.written, budget), std::min(left, inner_.closing(place, budget)));
}

MaskPtr ThinkingFollower::mask(const Place& place, TokenCount left, Budget& budget, VerifiedTokens* verified) {
  if (!is_limited(place, left)) return inner_.mask(place, left, budget, verified);
  const TokenCount surely = thought_.surely_within(left, place.written);
  if (inner_.is_ample(place, surely, budget)) return inner_.mask(place, surely, budget, verified);
  const TokenCount room = this->room(place, left, budget);
  MaskPtr mask = inner_.mask(place, room, budget, verified);
  if (mask->set_bits > 0) return mask;
  // Where nothing can be reserved, the bound of the thought still holds.
  if (const TokenCount bound = thought_.is_bounded() ? std::min(left, this->room(place, kNoTokens, budget)) : 0;
      bound > room) {
    mask = inner_.mask(place, bound, budget, verified);
    if (mask->set_bits > 0) return mask;
  }
  const TokenCount needed = inner_.needed(place, budget);
  if (needed > room && needed <= left) mask = inner_.mask(place, needed, budget, verified);
  return mask->set_bits > 0 ? mask : inner_.mask(place, left, budget, verified);
}

// Where nothing is known that is short enough, the mask may be that of more room.
std::optional<TokenId> ThinkingFollower::closing_token(const Place& place, TokenCount left, bool is_of_text,
                                                       Budget& budget) {
  return inner_.closing_token(place, is_limited(place, left) ? room(place, left, budget) : left, is_of_text, budget);
}

std::optional<Step> ThinkingFollower::step(const Place& place, TokenId token, Budget& budget) {
  if (is_bounded(place) && !mask(place, kNoTokens, budget, nullptr)->bits.contains(token.value)) return std::nullopt;
  return followed(inner_.step(place, token, budget), place, token, budget);
}

std::optional<Step> ThinkingFollower::written_step(const Place& place, TokenId token, Budget& budget) {
  return followed(inner_.written_step(place, token, budget), place, token, budget);
}

std::optional<Step> ThinkingFollower::followed(std::optional<Step> step, const Place& place, TokenId token,
                                               Budget& budget) {
  if (step && place.thinks()) step->thought = thought_.step(place.thought, token, place.at.at_start, budget);
  return step;
}

std::optional<std::optional<Step>> ThinkingFollower::known_step(const Place& place, TokenId token) const {
  if (is_bounded(place)) return std::nullopt;
  std::optional<std::optional<Step>> step = inner_.known_step(place, token);
  if (!step || !*step || !place.thinks()) return step;
  const std::optional<StateId> thought = thought_.try_step(place.thought, token, place.at.at_start);
  if (!thought) return std::nullopt;
  (*step)->thought = *thought;
  return step;
}

bool ThinkingFollower::may_follow(const Place& place, std::span<const TokenId> tokens, Budget& budget) {
  std::optional<Step> last;
  for (TokenCount i = 0; i < tokens.size(); ++i) {
    const Place at = last ? Place::after(*last, place.written + i) : place;
    if (!at.thinks()) return true;
    std::optional<Step> next = step(at, tokens[i], budget);
    if (!next) return false;
    last = std::move(next);
  }
  return true;
}

std::vector<TokenId> ThinkingFollower::shortest(const Place& place, Budget& budget) {
  std::vector<TokenId> all = inner_.shortest(place, budget);
  if (!is_bounded(place) || may_follow(place, all, budget)) return all;
  std::vector<TokenId> tokens;
  std::optional<Step> last;
  while (true) {
    const Place at = last ? Place::after(*last, place.written + tokens.size()) : place;
    if (!at.thinks()) {
      const std::vector<TokenId> rest = inner_.shortest(at, budget);
      tokens.insert(tokens.end(), rest.begin(), rest.end());
      return tokens;
    }
    budget.step();
    std::optional<TokenId> token = closing_token(at, kNoTokens, true, budget);
    std::optional<Step> next = token ? step(at, *token, budget) : std::nullopt;
    if (!next) {  // no closing text is known that is short enough; each token of the mask leads to the end in time
      const MaskPtr allowed = mask(at, kNoTokens, budget, nullptr);
      for_each_bit(allowed->bits.row(), [&](std::uint32_t bit) {
        if (next) return;
        token = TokenId{bit};
        next = step(at, *token, budget);
      });
    }
    if (!next) return all;
    tokens.push_back(*token);
    last = std::move(next);
  }
}

Verdict ThinkingFollower::refusal(const Place& place, TokenId token) const {
  return is_bounded(place) ? Verdict::TooMuchThought : inner_.refusal(place, token);
}

}  // namespace tokamata
