// Any tokenization: the pattern composed with the vocabulary (composition/token_automaton.hpp).
#pragma once

#include "composition/completions.hpp"
#include "following/follower.hpp"

namespace tokamata {

class PlainFollower final : public LongFollower {
 public:
  PlainFollower(TokenAutomaton& automaton, Completions& completions, LongCompletions& long_completions)
      : automaton_(automaton), completions_(completions), long_(long_completions) {}

  Start start(std::span<const TokenId>) const override { return {{}, automaton_.has_start_rule()}; }
  Step first_step(CanonicalState) const override { return {{}, automaton_.start().state}; }
  bool may_begin(Budget& budget) override { return automaton_.spellable(automaton_.start(), budget); }
  bool begins_everywhere() const override { return true; }
  MaskPtr known_mask(const Place& place, TokenCount left) const override;
  MaskPtr mask(const Place& place, TokenCount left, Budget& budget, VerifiedTokens* verified) override;
  std::optional<TokenId> closing_token(const Place& place, TokenCount left, bool is_of_text, Budget& budget) override {
    return completions_.closing_token(place.at, left, is_of_text, budget);
  }
  bool is_known_ample(const Place& place, TokenCount left) const override;
  bool is_ample(const Place& place, TokenCount left, Budget& budget) override;
  std::optional<Step> step(const Place& place, TokenId token, Budget& budget) override;
  std::optional<std::optional<Step>> known_step(const Place& place, TokenId token) const override;
  std::optional<Step> written_step(const Place& place, TokenId token, Budget& budget) override {
    return step(place, token, budget);
  }
  Verdict refusal(const Place&, TokenId) const override { return Verdict::NotText; }
  bool accepts(const Place& place) const override;
  bool lives(const Place& place, Budget& budget) override;
  std::vector<TokenId> shortest(const Place& place, Budget& budget) override;
  TokenCount needed(const Place& place, Budget& budget) override;
  TokenCount sufficient(const Place& place, Budget& budget) override;
  TokenCount closing(const Place& place, Budget& budget) override;
  std::string forced(const Place& place, Budget& budget) override;
  std::unique_ptr<Transitions> transitions(Budget& budget) override;
  std::string show(const Place& place) override;
  void trim_masks(std::size_t limit) override { automaton_.trim_masks(limit); }
  std::uint64_t oldest_serial() const override { return automaton_.oldest_serial(); }

  MaskPtr known_long_mask(const Place& place, TokenBounds bounds) const override {
    return long_.try_mask(place.at, bounds);
  }
  MaskPtr long_mask(const Place& place, TokenBounds bounds, Budget& budget, VerifiedTokens* verified) override {
    return long_.mask(place.at, bounds, budget, verified);
  }
  bool lasts(const Place& place, TokenBounds bounds, Budget& budget) override {
    return long_.has_any(place.at, bounds, budget);
  }
  std::optional<std::vector<TokenId>> long_completion(const Place& place, TokenBounds bounds, Budget& budget) override {
    return long_.completion(place.at, bounds, budget);
  }

 private:
  TokenAutomaton& automaton_;
  Completions& completions_;
  LongCompletions& long_;
};

}  // namespace tokamata
