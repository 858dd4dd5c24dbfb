// The check of a bound of token_search.hpp.
//
// Problem.  Who is given a repair with its bound should not have to trust the search.
// How.  Dijkstra's algorithm over positions and places.  The bound holds if no end is reached at less.  Nodes that
// cannot pay one more edit are not kept: from them only the tokens that are kept lead on, and they are followed at
// once.  Of their edges none is forgotten, so that this needs no estimate.
// Cost.  Nodes that cost at most the bound less one edit, times edges; no queue holds the last layer, which is the
// largest.  Not taken.  A set of nodes that the search hands over, as in certificate.hpp: here the rows take the time,
// and a check makes them as well.
#include <algorithm>
#include <utility>

#include "common/best_first.hpp"
#include "repair/token_search.hpp"

namespace tokamata {

namespace {

class TokenBoundCheck {
 public:
  TokenBoundCheck(TokenPlaces& places, std::span<const std::uint32_t> tokens, const TokenPrices& prices,
                  std::uint64_t bound, Budget& budget)
      : places_(places), tokens_(tokens), prices_(prices), bound_(bound), budget_(budget) {
    for (const auto* costs : {&prices.insert, &prices.replace})
      for (const EditCost cost : *costs) least_written_ = std::min(least_written_, cost);
    cheapest_ = std::min(least_written_, *std::ranges::min_element(prices.remove));
  }

  std::string flaw(TokenPlaces::Place start) {
    reach(0, start, 0);
    while (flaw_.empty()) {
      const auto next = open_.take();
      if (!next) break;
      expand(next->first, static_cast<std::uint32_t>(next->second >> 32), static_cast<Place>(next->second));
    }
    return flaw_;
  }

 private:
  using Place = TokenPlaces::Place;
  static std::uint64_t key(std::uint32_t position, Place place) { return (std::uint64_t{position} << 32) | place; }

  void reach(std::uint32_t position, Place place, std::uint64_t cost) {
    budget_.step();
    if (cost >= bound_ || !flaw_.empty()) return;
    if (cost + cheapest_ < bound_) {
      open_.reach(key(position, place), cost);
      return;
    }
    for (; position < tokens_.size() && place != TokenPlaces::kNone; ++position) {
      budget_.step();
      place = places_.after(place, tokens_[position], budget_);
    }
    if (place != TokenPlaces::kNone && places_.accepting(place)) flaw_ = "a repair costs less than the lower bound";
  }

  void expand(std::uint64_t cost, std::uint32_t position, Place place) {
    const bool is_within = position < tokens_.size();
    if (!is_within && places_.accepting(place)) flaw_ = "a repair costs less than the lower bound";
    if (is_within) {
      if (const Place kept = places_.after(place, tokens_[position], budget_); kept != TokenPlaces::kNone)
        reach(position + 1, kept, cost);
      reach(position + 1, place, cost + prices_.remove[places_.type(tokens_[position])]);
    }
    if (cost + least_written_ >= bound_) return;
    const TokenPlaces::Row& row = places_.row(place, budget_);
    if (!row.is_whole) {
      flaw_ = "the lower bound cannot be checked: too many tokens lead to places of their own";
      return;
    }
    for (const auto& [target, token, type] : row.edges) {
      reach(position, target, cost + prices_.insert[type]);
      if (is_within && prices_.replace[type] != kNoEdit) reach(position + 1, target, cost + prices_.replace[type]);
    }
  }

  TokenPlaces& places_;
  std::span<const std::uint32_t> tokens_;
  const TokenPrices& prices_;
  std::uint64_t bound_;
  Budget& budget_;
  EditCost cheapest_, least_written_ = kNoEdit;
  // by position and place
  CheapestFirst<counted::unordered_map<std::uint64_t, std::uint64_t>,
                counted::vector<std::pair<std::uint64_t, std::uint64_t>>>
      open_;
  std::string flaw_;
};

}  // namespace

std::string flaw_of_token_bound(TokenPlaces& places, std::span<const std::uint32_t> tokens, const TokenPrices& prices,
                                std::uint64_t bound, bool is_relaxed, Budget& budget) {
  places.set_types(prices.types);
  return TokenBoundCheck(places, tokens, prices, bound, budget)
      .flaw(is_relaxed ? places.relaxed_start() : places.exact_start());
}

}  // namespace tokamata
