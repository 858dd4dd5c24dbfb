#include "following/forced_text.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace tokamata {

namespace {

class ForcedText {
 public:
  ForcedText(Follower& follower, const TokenAutomaton& pattern, Budget& budget)
      : follower_(follower), pattern_(pattern), budget_(budget) {}

  std::string from(const Place& place) {
    std::string text;
    if (!expand(std::make_shared<const Step>(Step{{}, place.at.state, place.canonical, place.thought}),
                place.at.at_start) ||
        !take_empty())
      return text;
    while (!open_.empty()) {
      const char next = bytes_of(open_[0])[open_[0].taken];
      if (std::ranges::any_of(open_, [&](const Token& at) { return bytes_of(at)[at.taken] != next; })) return text;
      text.push_back(next);
      std::vector<Token> reached;
      reached.swap(open_);
      std::set<std::pair<StateId, CanonicalState>> expanded;
      for (Token& at : reached) {
        if (++at.taken < bytes_of(at).size()) {
          open_.push_back(std::move(at));
          continue;
        }
        Step after = step(at);
        if (expanded.emplace(after.state, after.canonical).second &&
            !expand(std::make_shared<const Step>(std::move(after)), false))
          return text;
      }
    }
    return text;
  }

 private:
  // A token under way.
  struct Token {
    std::shared_ptr<const Step> before;
    bool at_start;
    TokenId token;
    std::size_t taken;  // bytes
  };
  std::string_view bytes_of(const Token& at) const { return pattern_.vocabulary(at.at_start).bytes(at.token); }
  Step step(const Token& at) { return *follower_.step(Place::after(*at.before, 0, at.at_start), at.token, budget_); }

  // Adds the tokens after a step; false where they differ in their first byte already, or where the text may end.
  bool expand(std::shared_ptr<const Step> before, bool at_start) {
    const Place place = Place::after(*before, 0, at_start);
    if (follower_.accepts(place)) return false;
    std::optional<char> first;
    bool agree = true;
    const MaskPtr mask = follower_.mask(place, kNoTokens, budget_);
    for_each_bit(mask->bits.row(), [&](std::uint32_t token) {
      if (!agree || pattern_.vocabulary(false).is_stop({token})) return;
      budget_.step();
      const Token under{before, at_start, {token}, 0};
      const std::string_view bytes = bytes_of(under);
      agree = bytes.empty() || bytes[0] == first.value_or(bytes[0]);
      if (agree && !bytes.empty()) first = bytes[0];
      open_.push_back(under);
    });
    return agree;
  }

  // The decoder may take all of the first token away; then the text begins after it.
  bool take_empty() {
    for (std::size_t i = 0; i < open_.size();) {
      if (!bytes_of(open_[i]).empty()) {
        ++i;
        continue;
      }
      Step after = step(open_[i]);
      open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
      if (!expand(std::make_shared<const Step>(std::move(after)), false)) return false;
    }
    return true;
  }

  Follower& follower_;
  const TokenAutomaton& pattern_;
  Budget& budget_;
  std::vector<Token> open_;
};

}  // namespace

std::string forced_text(Follower& follower, const TokenAutomaton& pattern, const Place& place, Budget& budget) {
  return ForcedText(follower, pattern, budget).from(place);
}

}  // namespace tokamata
