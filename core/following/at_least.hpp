// Texts of at least so many tokens (composition/long_completions.hpp, canonical/canonical_lengths.hpp).
//
// Once a text has that many tokens, it is followed as by the inner follower.  Before, no stop token is allowed, and each
// token that is allowed leads to a text that is long enough.  Forced text is that of texts of any length.
#pragma once

#include "following/narrowed.hpp"

namespace tokamata {

class AtLeastFollower final : public NarrowedFollower {
 public:
  AtLeastFollower(LongFollower& inner, TokenCount least) : NarrowedFollower(inner), long_(inner), least_(least) {}

  MaskPtr known_mask(const Place& place, TokenCount left) const override;
  MaskPtr mask(const Place& place, TokenCount left, Budget& budget, VerifiedTokens* verified) override;
  std::optional<TokenId> closing_token(const Place& place, TokenCount left, bool is_of_text, Budget& budget) override;
  bool is_known_ample(const Place& place, TokenCount left) const override;
  bool is_ample(const Place& place, TokenCount left, Budget& budget) override;
  std::optional<Step> step(const Place& place, TokenId token, Budget& budget) override;
  std::optional<std::optional<Step>> known_step(const Place& place, TokenId token) const override;
  Verdict refusal(const Place& place, TokenId token) const override;
  bool accepts(const Place& place) const override { return is_long_enough(place) && inner_.accepts(place); }
  bool lives(const Place& place, Budget& budget) override;
  std::vector<TokenId> shortest(const Place& place, Budget& budget) override;
  TokenCount needed(const Place& place, Budget& budget) override;
  TokenCount sufficient(const Place& place, Budget& budget) override;
  TokenCount closing(const Place& place, Budget& budget) override;

 private:
  TokenBounds bounds_at(const Place& place, TokenCount left = kNoTokens) const {
    return {least_ > place.written ? least_ - place.written : 0, left};
  }
  bool is_long_enough(const Place& place) const { return place.written >= least_; }

  LongFollower& long_;  // the inner one
  const TokenCount least_;
};

}  // namespace tokamata
