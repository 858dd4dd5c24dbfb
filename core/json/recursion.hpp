// Least fixed points that are searched depth first.
//
// Problem.  A value is finite.  Whether a set has one may depend on the set itself: arrays of S with at least one
// element, where S is such an array, have none.
// How.  A search begins with the least answer (no value, or 0 of them), which holds for whoever comes upon the set while
// its search is *open*.  If somebody did, and the answer has become greater, the search is made again, until the answer
// stays the same or is enough (Kleene's iteration).  What was found while a search around it was open may be too little:
// it is *tainted*, and is kept only if it is enough, or if no search is around it.
// Example.  S is 1, or an array of two of S that differ: it has 1 value, then 1, and there are no more.
// Source.  Least fixed points of monotone functions, Tarski and Kleene.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "common/memory_account.hpp"
#include "common/within.hpp"

namespace tokamata::json {

// The searches under way, one within the other.
struct Recursion {
  std::uint64_t taints = 0;  // how often a search came upon one that is open
  std::uint32_t depth = 0;
};

// `Answer` is ordered.
template <class Key, class Answer>
class FixedPoint {
 public:
  struct Entry {
    bool is_open;
    Answer answer;  // of an open search: what it has found so far
  };
  explicit FixedPoint(Recursion& recursion) : recursion_(recursion) {}

  // Null where the key was not searched, or its answer was not kept.  Valid until the next search.
  const Entry* known(Key key) const {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return nullptr;
    if (found->second.is_open) ++recursion_.taints;
    return &found->second;
  }

  template <class IsEnough, class Find>
  Answer search(Key key, Answer answer, std::uint32_t most_depth, IsEnough&& is_enough, Find&& find) {
    const Within within(recursion_.depth, most_depth);
    const Undo undo([&] {  // of what did not come to its end
      if (const auto found = entries_.find(key); found != entries_.end() && found->second.is_open)
        entries_.erase(found);
    });
    const std::uint64_t before = recursion_.taints;
    while (true) {
      entries_.insert_or_assign(key, Entry{true, answer});
      const std::uint64_t at_first = recursion_.taints;
      const Answer again = find();
      const bool is_settled = recursion_.taints == at_first || again <= answer;
      answer = std::max(answer, again);
      if (is_settled || is_enough(answer)) break;
    }
    if (recursion_.taints == before || recursion_.depth == 1 || is_enough(answer))
      entries_.insert_or_assign(key, Entry{false, answer});
    return answer;
  }

 private:
  Recursion& recursion_;
  counted::unordered_map<Key, Entry> entries_;
};

inline constexpr auto kNothingIsEnough = [](const auto&) { return false; };
inline constexpr auto kAnythingIsEnough = [](const auto& found) { return found.has_value(); };

// As `memoized` (common/memoized.hpp); what is tainted is kept only if it is enough.
template <class Map, class Key, class Make, class IsEnough = decltype(kNothingIsEnough)>
typename Map::mapped_type memoized_if_untainted(const Recursion& recursion, Map& map, const Key& key, Make&& make,
                                                const IsEnough& is_enough = kNothingIsEnough) {
  if (const auto known = map.find(key); known != map.end()) return known->second;
  const std::uint64_t before = recursion.taints;
  typename Map::mapped_type made = make();
  if (recursion.taints == before || is_enough(made)) map.insert_or_assign(key, made);
  return made;
}

}  // namespace tokamata::json
