// How many values a set has, and of which kinds: elements that must differ need both.
//
// Problem.  {"items": S, "uniqueItems": true, "minItems": 3} has an array if S has three values: which may be strings
// of some pattern, numbers, arrays and objects, and arrays of S itself.
// How.  Part by part, and no further than requested.  1 and 1.0 are one value, and so are strings that are spelled in
// two ways: of both the plain spellings are counted; of numbers, which are many or few, the few are listed.
// A set that is within itself: a least fixed point (recursion.hpp).
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "json/object_counts.hpp"
#include "json/recursion.hpp"

namespace tokamata::json {

class ValueCounts {
 public:
  explicit ValueCounts(ValueSets& sets);

  // The number of values of a set, at most `most`.  Equal values are one, however they may be written.
  std::uint64_t of(SetId set, std::uint64_t most, const Work& work);
  using Kinds = std::shared_ptr<const counted::vector<ValueKind>>;
  // The kinds of values that some sets distinguish.  Values in none of the sets are a kind too, if `with_outside`.
  Kinds kinds(const std::vector<SetId>& sets, bool with_outside, const Work& work);

 private:
  static constexpr std::size_t kMostKinds = 1024;  // of values: n sets distinguish up to 2^n
  struct Counted {
    std::uint64_t count, most;
    auto operator<=>(const Counted&) const = default;
  };
  std::uint64_t count_up_to(SetId set, std::uint64_t most, const Work& work);
  std::uint64_t find_count(SetId set, std::uint64_t most, const Work& work);
  std::uint64_t count_integers(ExpressionId numbers, std::uint64_t most, const Work& work);
  std::uint64_t count_numbers(ExpressionId numbers, std::uint64_t most, const Work& work);
  std::vector<ValueKind> listed_kinds(const std::vector<SetId>& sets, const std::vector<std::size_t>& lists);
  Kinds find_kinds(const std::vector<SetId>& sets, bool with_outside, const Work& work);

  ValueSets& sets_;
  ObjectCounts objects_;
  FixedPoint<std::uint32_t, Counted> counts_;                       // by set
  counted::map<std::pair<std::vector<SetId>, bool>, Kinds> kinds_;  // by sets, and whether with those outside
};

}  // namespace tokamata::json
