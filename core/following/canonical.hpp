// The tokenizer's own tokenization: the pattern composed with the tokenizer (canonical/canonical_automaton.hpp).
#pragma once

#include <memory>
#include <stdexcept>

#include "canonical/canonical_automaton.hpp"
#include "following/follower.hpp"

namespace tokamata {

// The tokens of the context are not canonical; `position` is the first that the tokenizer would not write.
struct ContextNotCanonical : std::runtime_error {
  explicit ContextNotCanonical(std::size_t where)
      : std::runtime_error("the context is not canonical"), position(where) {}
  std::size_t position;
};

class CanonicalFollower final : public Follower {
 public:
  CanonicalFollower(TokenAutomaton& pattern, std::shared_ptr<const Tokenization> tokenization)
      : pattern_(pattern), automaton_(pattern, std::move(tokenization)) {}

  Start start(std::span<const TokenId> context) const override;
  Step first_step(CanonicalState canonical) const override {
    return {{}, pattern_.start().state, std::move(canonical)};
  }
  bool may_begin(Budget& budget) override;
  bool begins_everywhere() const override { return false; }
  MaskPtr known_mask(const Place& place, TokenCount left) const override;
  MaskPtr mask(const Place& place, TokenCount left, Budget& budget) override;
  std::optional<Step> step(const Place& place, TokenId token, Budget& budget) override;
  std::optional<std::optional<Step>> known_step(const Place&, TokenId) const override { return std::nullopt; }
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
  std::unique_ptr<Transitions> transitions() override;
  std::string show(const Place& place) override;
  void clear() override { automaton_.clear(); }
  void trim_masks(std::size_t limit) override;
  std::uint64_t oldest_serial() const override { return automaton_.oldest_serial(); }

 private:
  TokenAutomaton& pattern_;
  CanonicalAutomaton automaton_;
};

}  // namespace tokamata
