// Texts that begin with a thought: while it is open, masks leave room for the answer (thought.hpp).  Forced text is
// that of thoughts of any length.
#pragma once

#include <span>
#include <vector>

#include "following/narrowed.hpp"
#include "following/thought.hpp"

namespace tokamata {

class ThinkingFollower final : public NarrowedFollower {
 public:
  ThinkingFollower(Follower& inner, Thought& thought) : NarrowedFollower(inner), thought_(thought) {}

  Step first_step(CanonicalState canonical) const override;
  MaskPtr known_mask(const Place& place, TokenCount left) const override;
  MaskPtr mask(const Place& place, TokenCount left, Budget& budget, VerifiedTokens* verified) override;
  std::optional<TokenId> closing_token(const Place& place, TokenCount left, bool is_of_text, Budget& budget) override;
  std::optional<Step> step(const Place& place, TokenId token, Budget& budget) override;
  std::optional<std::optional<Step>> known_step(const Place& place, TokenId token) const override;
  std::optional<Step> written_step(const Place& place, TokenId token, Budget& budget) override;
  Verdict refusal(const Place& place, TokenId token) const override;
  // One that the masks of a thought with a bound lead along.  They count with closing texts, so it may not be the
  // shortest completion of all.
  std::vector<TokenId> shortest(const Place& place, Budget& budget) override;

 private:
  // Whether tokens may follow up to the end of the thought.
  bool may_follow(const Place& place, std::span<const TokenId> tokens, Budget& budget);
  // The step, with where it leads in the thought.
  std::optional<Step> followed(std::optional<Step> step, const Place& place, TokenId token, Budget& budget);
  bool is_bounded(const Place& place) const { return place.thinks() && thought_.is_bounded(); }
  TokenCount room(const Place& place, TokenCount left, Budget& budget);
  bool is_limited(const Place& place, TokenCount left) const {
    return place.thinks() && (left != kNoTokens || thought_.is_bounded());
  }

  Thought& thought_;
};

}  // namespace tokamata
