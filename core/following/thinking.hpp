// Texts that begin with a thought: while it is open, masks leave room for the answer (thought.hpp).
#pragma once

#include "following/follower.hpp"
#include "following/thought.hpp"

namespace tokamata {

class ThinkingFollower final : public Follower {
 public:
  ThinkingFollower(Follower& inner, Thought& thought) : inner_(inner), thought_(thought) {}

  Start start(std::span<const TokenId> context) const override { return inner_.start(context); }
  Step first_step(CanonicalState canonical) const override;
  bool may_begin(Budget& budget) override { return inner_.may_begin(budget); }
  bool begins_everywhere() const override { return inner_.begins_everywhere(); }
  MaskPtr known_mask(const Place& place, TokenCount left) const override;
  MaskPtr mask(const Place& place, TokenCount left, Budget& budget) override;
  std::optional<Step> step(const Place& place, TokenId token, Budget& budget) override;
  std::optional<std::optional<Step>> known_step(const Place& place, TokenId token) const override;
  Verdict refusal(const Place& place, TokenId token) const override;
  bool accepts(const Place& place) const override { return inner_.accepts(place); }
  bool lives(const Place& place, Budget& budget) override { return inner_.lives(place, budget); }
  // Of texts whose thoughts have any length.
  std::vector<TokenId> shortest(const Place& place, Budget& budget) override { return inner_.shortest(place, budget); }
  TokenCount needed(const Place& place, Budget& budget) override { return inner_.needed(place, budget); }
  TokenCount sufficient(const Place& place, Budget& budget) override { return inner_.sufficient(place, budget); }
  std::string forced(const Place& place, Budget& budget) override { return inner_.forced(place, budget); }
  std::unique_ptr<Transitions> transitions() override { return inner_.transitions(); }
  std::string show(const Place& place) override { return inner_.show(place); }
  void trim_masks(std::size_t limit) override { inner_.trim_masks(limit); }
  std::uint64_t oldest_serial() const override { return inner_.oldest_serial(); }

 private:
  bool is_bounded(const Place& place) const { return place.thinks() && thought_.is_bounded(); }
  bool is_limited(const Place& place, TokenCount left) const {
    return place.thinks() && (left != kNoTokens || thought_.is_bounded());
  }

  Follower& inner_;
  Thought& thought_;
};

}  // namespace tokamata
