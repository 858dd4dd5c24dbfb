// What narrows another follower: all questions go to the inner one, except those that the narrowing changes.
#pragma once

#include <utility>

#include "following/follower.hpp"

namespace tokamata {

class NarrowedFollower : public Follower {
 public:
  explicit NarrowedFollower(Follower& inner) : inner_(inner) {}

  Start start(std::span<const TokenId> context) const override { return inner_.start(context); }
  Step first_step(CanonicalState canonical) const override { return inner_.first_step(std::move(canonical)); }
  bool may_begin(Budget& budget) override { return inner_.may_begin(budget); }
  bool begins_everywhere() const override { return inner_.begins_everywhere(); }
  std::optional<Step> written_step(const Place& place, TokenId token, Budget& budget) override {
    return inner_.written_step(place, token, budget);
  }
  bool accepts(const Place& place) const override { return inner_.accepts(place); }
  bool lives(const Place& place, Budget& budget) override { return inner_.lives(place, budget); }
  std::vector<TokenId> shortest(const Place& place, Budget& budget) override { return inner_.shortest(place, budget); }
  TokenCount needed(const Place& place, Budget& budget) override { return inner_.needed(place, budget); }
  TokenCount sufficient(const Place& place, Budget& budget) override { return inner_.sufficient(place, budget); }
  std::string forced(const Place& place, Budget& budget) override { return inner_.forced(place, budget); }
  std::unique_ptr<Transitions> transitions(Budget& budget) override { return inner_.transitions(budget); }
  std::string show(const Place& place) override { return inner_.show(place); }
  void trim_masks(std::size_t limit) override { inner_.trim_masks(limit); }
  std::uint64_t oldest_serial() const override { return inner_.oldest_serial(); }

 protected:
  Follower& inner_;
};

}  // namespace tokamata
