// The tokenizer's own tokenization: the pattern composed with the tokenizer (canonical/canonical_automaton.hpp).
#pragma once

#include <memory>
#include <stdexcept>

#include "canonical/canonical_automaton.hpp"
#include "canonical/canonical_lengths.hpp"
#include "following/follower.hpp"

namespace tokamata {

// The tokens of the context are not canonical; `position` is the first that the tokenizer would not write.
struct ContextNotCanonical : std::runtime_error {
  explicit ContextNotCanonical(std::size_t where)
      : std::runtime_error("the context is not canonical"), position(where) {}
  std::size_t position;
};

class CanonicalFollower final : public LongFollower {
 public:
  // `any` are the completions of the pattern with any tokenization.
  CanonicalFollower(TokenAutomaton& pattern, std::shared_ptr<const Tokenization> tokenization, LongCompletions& any)
      : pattern_(pattern), automaton_(pattern, std::move(tokenization)), lengths_(pattern, automaton_, any) {}

  Start start(std::span<const TokenId> context) const override;
  Step first_step(CanonicalState canonical) const override {
    return {{}, pattern_.start().state, std::move(canonical)};
  }
  bool may_begin(Budget& budget) override;
  bool begins_everywhere() const override { return false; }
  MaskPtr known_mask(const Place& place, TokenCount left) const override;
  MaskPtr mask(const Place& place, TokenCount left, Budget& budget, VerifiedTokens* verified) override;
  std::optional<TokenId> closing_token(const Place& place, TokenCount left, bool, Budget& budget) override {
    return automaton_.closing_token(place.at, place.canonical, left, budget);
  }
  std::optional<Step> step(const Place& place, TokenId token, Budget& budget) override;
  std::optional<std::optional<Step>> known_step(const Place&, TokenId) const override { return std::nullopt; }
  std::optional<Step> written_step(const Place& place, TokenId token, Budget& budget) override;
  Verdict refusal(const Place& place, TokenId token) const override;
  bool accepts(const Place& place) const override { return automaton_.accepting(place.at, place.canonical); }
  bool lives(const Place& place, Budget& budget) override {
    return automaton_.lives(place.at, place.canonical, budget);
  }
  std::vector<TokenId> shortest(const Place& place, Budget& budget) override {
    return automaton_.shortest(place.at, place.canonical, budget);
  }
  TokenCount needed(const Place& place, Budget& budget) override { return shortest(place, budget).size(); }
  std::string forced(const Place& place, Budget& budget) override;
  std::unique_ptr<Transitions> transitions(Budget&) override;
  std::string show(const Place& place) override;
  void clear() override {
    automaton_.clear();
    lengths_.clear();
  }
  void trim_masks(std::size_t limit) override;
  std::uint64_t oldest_serial() const override { return automaton_.oldest_serial(); }

  MaskPtr known_long_mask(const Place& place, TokenBounds bounds) const override {
    return lengths_.known_mask(place.at, place.canonical, bounds);
  }
  MaskPtr long_mask(const Place& place, TokenBounds bounds, Budget& budget, VerifiedTokens* verified) override {
    return lengths_.mask(place.at, place.canonical, bounds, budget, verified);
  }
  bool lasts(const Place& place, TokenBounds bounds, Budget& budget) override {
    return lengths_.lasts(place.at, place.canonical, bounds, budget);
  }
  std::optional<std::vector<TokenId>> long_completion(const Place& place, TokenBounds bounds, Budget& budget) override {
    return lengths_.completion(place.at, place.canonical, bounds, budget);
  }

 private:
  TokenAutomaton& pattern_;
  CanonicalAutomaton automaton_;
  CanonicalLengths lengths_;
};

}  // namespace tokamata
