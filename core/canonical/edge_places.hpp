// Where a search for token edges stands, and what it met before.
//
// Problem.  Two texts lead to one state of the edge automaton, and to one hypothesis of the tokenizer.  Which of them
// need not be followed?
// How.  A text before may forbid some of what follows: a mark that would compose with its last letter, a byte that
// would complete an added token.  Of two texts that cost the same, one that forbids nothing is followed by all that
// follows the other.
// Example.  `a` and `<`, where `<td>` is an added token: after `<` the text may not go on with `td>`, after `a` it may.
// Cost: a look-up for each text, and a list of what was met, rarely longer than two.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "canonical/edge_automaton.hpp"
#include "canonical/text_rules.hpp"
#include "common/hash.hpp"

namespace tokamata {

// What a text before forbids of what may follow, beyond guess and place.
struct Touch {
  std::uint16_t starter;
  std::uint8_t marks;
  AddedTokens::Open open;

  explicit Touch(const TextState& text) : starter(text.starter), marks(text.marks), open(text.open) {}
  // Whether all that may follow the other may follow this one.
  bool allows_all_of(const Touch& other) const {
    // Special states of a normal form may allow what is forbidden elsewhere.
    const bool is_open = (starter == 0 && marks == 0 && other.marks != TextState::kSpecial) ||
                         (starter == other.starter && marks == other.marks);
    return is_open && (open == AddedTokens::kNothing || open == other.open);
  }
};

// A guess and a place in a code point, in a state.
struct TextPlace {
  EdgeAutomaton::State state;
  std::uint16_t guess, place;

  friend bool operator==(const TextPlace&, const TextPlace&) = default;
  friend auto operator<=>(const TextPlace&, const TextPlace&) = default;
};

inline TextPlace place_of(EdgeAutomaton::State state, const TextState& text) { return {state, text.guess, text.place}; }

struct TextPlaceHash {
  std::size_t operator()(const TextPlace& place) const {
    return static_cast<std::size_t>(
        mix((std::uint64_t{place.state} << 32) | (std::uint64_t{place.guess} << 16) | place.place, 0x9E37u));
  }
};

// What was met of each key: of two touches that cost the same, the one that allows more.
template <class Key, class Hash>
class Least {
 public:
  // Whether nothing that allows as much and costs as little was there before.
  bool add(const Key& key, const Touch& touch, std::uint32_t cost) {
    std::vector<std::pair<Touch, std::uint32_t>>& known = touches_[key];
    if (covers(known, touch, cost)) return false;
    known.emplace_back(touch, cost);
    return true;
  }
  bool covers(const Key& key, const Touch& touch, std::uint32_t cost) const {
    const auto known = touches_.find(key);
    return known != touches_.end() && covers(known->second, touch, cost);
  }

 private:
  static bool covers(const std::vector<std::pair<Touch, std::uint32_t>>& known, const Touch& touch,
                     std::uint32_t cost) {
    return std::ranges::any_of(
        known, [&](const auto& other) { return other.first.allows_all_of(touch) && other.second <= cost; });
  }

  std::unordered_map<Key, std::vector<std::pair<Touch, std::uint32_t>>, Hash> touches_;
};

// From where added tokens were followed.  What one leaves where no match is under way allows all that it leaves
// elsewhere.
class FollowsAdded {
 public:
  bool is_new(EdgeAutomaton::State state, AddedTokens::Open open, bool is_start) {
    return !from_.contains({state, AddedTokens::kNothing, is_start}) && from_.emplace(state, open, is_start).second;
  }

 private:
  std::set<std::tuple<EdgeAutomaton::State, AddedTokens::Open, bool>> from_;
};

}  // namespace tokamata
