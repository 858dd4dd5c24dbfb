// Whether an array can still be ended, and how: the elements that it must have, some of which must differ.
//
// Problem.  Before an element is written it must be known that the array can be ended after it.  Mostly that is the
// cheapest path over the formulas that remain after each element (Dijkstra).  Elements that must differ need enough
// values:  {"items": {"enum": [1, 2]}, "uniqueItems": true, "minItems": 2}: after [1 there must be a 2; with minItems
// 3 there is no array at all, and nobody may begin one.  With [[1,2], [1], …] as the sets of the first elements, the
// first must be 2.
// How.  All that a formula will ever ask of an element is whether it is in some sets, so that values fall into *kinds*,
// and one of a kind is as good as another.  How many are left of each kind, and what is left to fulfil, is all that
// matters: a search over these.  Mostly it need not be made, since a way leads over sets of which there are more
// values than elements will ever be needed.
// Example.  enum [1, 2, 3] and contains 3: kinds {1, 2}, of which there are 2, and {3}.
// Bound.  A shortest array holds no more elements than its prefix has, and its minima ask for together: all others may
// be left out.
// Elements that are equal, where a formula asks for them, repeat what is seen, or what the search has taken, or the
// element that is being written.  Its length counts too: without a length, each byte of [[{ would start a search for a
// text that ends the array, among all values there are.
// Cost.  2^n kinds for n sets at worst, and the product of the numbers of their values: bounded by Limits, and small
// for the schemas in use, whose sets are one or two.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "json/array_formulas.hpp"
#include "json/texts.hpp"

namespace tokamata::json {

class ArrayEnds {
 public:
  ArrayEnds(ArrayFormulas& formulas, ValueSets& sets) : formulas_(formulas), sets_(sets) {}

  // The length of some text that ends the array, with a comma for each element; nothing if there is none.
  std::optional<std::uint32_t> some_length(ArrayId f, const Work& work);
  // The same where elements have other lengths, and may be equal.
  using ElementLength = std::function<std::optional<std::uint32_t>(SetId)>;
  std::optional<std::uint32_t> some_length(ArrayId f, const ElementLength& length, const Work& work);
  // The same after elements that differ; `seen` are their values in canonical form.
  std::optional<std::uint32_t> some_length(ArrayId f, const WrittenTexts& seen, const Work& work);

  // Bytes of some way to end the array after one more element, which is none of `seen` and may become any of `values`.
  struct After {
    std::uint64_t alone;   // where the element is not repeated; kEndless where there is no such way
    std::uint64_t beside;  // where it is, besides the bytes of its repetition
    std::uint64_t length(std::uint64_t element) const {
      return std::min(alone, beside == kEndless ? kEndless : beside + element);
    }
  };
  static constexpr std::uint64_t kEndless = ~std::uint64_t{0};
  After after(ArrayId rest, SetId values, const WrittenTexts& seen, const Work& work);
  // Of the values of a way those that are not seen, and after which the array can still be ended.  Where there are more
  // than were seen, and the array can be ended after each, these are all of the way, and what was seen is to be
  // recognized when they are written: then they are not settled.
  struct Fresh {
    SetId values;
    bool is_settled;
  };
  Fresh fresh(const Branch<ArrayTag>& way, const WrittenTexts& seen, const Work& work);
  // The number of arrays, at most `most`.
  std::uint64_t count(ArrayId f, std::uint64_t most, const Work& work);

 private:
  // How many values of each kind are left for elements that differ.
  struct Supply {
    std::vector<SetId> conditions;
    std::shared_ptr<const counted::vector<ValueKind>> kinds;
    std::vector<std::uint64_t> all, left;
    // bytes of the shortest value of each kind that is seen; kEndless where none is
    std::vector<std::uint64_t> repeated;
  };
  static constexpr std::uint64_t kPlenty = ~std::uint64_t{0};  // more than are ever needed, and none is taken
  static constexpr std::uint64_t kPlentyUsed = kPlenty - 1;    // some is

  template <class IsUsable, class Done>
  std::optional<std::uint32_t> search(ArrayId f, IsUsable&& is_usable, Done&& done, const Work& work,
                                      const ElementLength* length = nullptr);
  Supply supply(ArrayId f, const WrittenTexts& seen, Count needed, const Work& work);
  template <class Visit>
  void visit_ways(ArrayId f, const Supply& supply, const std::vector<std::uint64_t>& left, Visit&& visit);
  std::optional<std::uint32_t> among_plenty(ArrayId f, Count needed, const Work& work);
  std::optional<std::uint32_t> distinct_length(ArrayId f, const Supply& supply, const Work& work);
  std::optional<std::uint32_t> search_distinct(ArrayId f, const Supply& supply, const Work& work);
  template <class Visit>
  void visit_kinds(SetId values, ArrayId rest, const Supply& supply, Visit&& visit, const Work& work);
  SetId leading_values(const Branch<ArrayTag>& way, SetId values, const WrittenTexts& seen, const Work& work);

  ArrayFormulas& formulas_;
  ValueSets& sets_;
  counted::unordered_map<std::uint32_t, std::optional<std::uint32_t>> lengths_;  // by formula
  struct Enough {
    Count needed;  // of so many values of each set there are enough
    std::uint32_t length;
  };
  counted::unordered_map<std::uint32_t, Enough> enough_;  // by formula
  counted::map<std::pair<std::uint32_t, counted::vector<std::uint64_t>>, std::optional<std::uint32_t>>
      distinct_lengths_;  // by formula, supply
};

}  // namespace tokamata::json
