// The formulas that remain for the elements of an array, after some of them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "common/memory_account.hpp"
#include "json/branches.hpp"
#include "json/texts.hpp"
#include "json/value_table.hpp"

namespace tokamata::json {

class ValueSets;

class ArrayFormulas {
 public:
  explicit ArrayFormulas(ValueSets& sets);

  Formulas<ArrayTag>& formulas() { return formulas_; }
  // The formulas of nodes of the table.
  ArrayId items(ValueNode items);
  ArrayId length(Count minimum, Count maximum);
  ArrayId contains(SetId set, Count minimum, Count maximum);
  ArrayId unique();

  // Whether the array may end here.
  bool accepts(ArrayId f) const;
  // The sets of the next element, and the formula that remains after it.
  using Branches = std::shared_ptr<const std::vector<Branch<ArrayTag>>>;
  Branches branches(ArrayId f, const Work& work);
  // The length of some text that ends the array, with a comma for each element; nothing if there is none.
  std::optional<std::uint32_t> some_length(ArrayId f, const Work& work);

  // The same where elements have other lengths, and may be equal.
  using ElementLength = std::function<std::optional<std::uint32_t>(SetId)>;
  std::optional<std::uint32_t> some_length(ArrayId f, const ElementLength& length, const Work& work);

  // ---- elements that must differ: array_elements.cpp ----
  // Whether it matters which elements are equal.
  bool tells_equal(ArrayId f) const;
  // Whether some elements may have to be equal.
  bool wants_equal(ArrayId f) const;
  // The formula after two equal elements.
  ArrayId with_equal(ArrayId f);
  // As some_length, after elements that differ; `seen` are their values in canonical form.
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
  enum class Kind : std::uint32_t { Items, Length, Contains, Unique };
  struct Atom {
    Kind kind;
    std::uint32_t subject = 0;  // Items: node of the table; Contains: set
    Count minimum = 0;          // Items: elements so far
    Count maximum = 0;
    bool operator==(const Atom&) const = default;
  };
  struct AtomHash {
    std::size_t operator()(const Atom& atom) const;
  };

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

  ArrayId make(const Atom& atom);
  ArrayId with_none_equal(ArrayId f);
  ArrayId conditioned(ArrayId f);
  ArrayId after_kind(ArrayId f, const Supply& supply, std::size_t kind);
  Count most_needed(ArrayId f) const;
  bool takes_any_element(ArrayId f) const;
  std::vector<SetId> conditions(ArrayId f);
  Supply supply(ArrayId f, const WrittenTexts& seen, Count needed, const Work& work);
  template <class Visit>
  void visit_ways(ArrayId f, const Supply& supply, const std::vector<std::uint64_t>& left, Visit&& visit);
  std::optional<std::uint32_t> shortest(ArrayId f, const Work& work);
  std::optional<std::uint32_t> among_plenty(ArrayId f, Count needed, const Work& work);
  template <class IsUsable, class Done>
  std::optional<std::uint32_t> search(ArrayId f, IsUsable&& is_usable, Done&& done, const Work& work,
                                      const ElementLength* length = nullptr);
  template <class Visit>
  void visit_kinds(SetId values, ArrayId rest, const Supply& supply, Visit&& visit, const Work& work);
  SetId leading_values(const Branch<ArrayTag>& way, SetId values, const WrittenTexts& seen, const Work& work);
  std::optional<std::uint32_t> distinct_length(ArrayId f, const Supply& supply, const Work& work);
  ArrayId after_element(const Atom& atom);
  void merge(std::vector<ArrayId>& conjuncts);

  ValueSets& sets_;
  Formulas<ArrayTag> formulas_;
  counted::vector<Atom> atoms_;
  counted::unordered_map<Atom, std::uint32_t, AtomHash> atom_index_;
  counted::unordered_map<std::uint32_t, Branches> branches_;
  counted::unordered_map<std::uint32_t, std::optional<std::uint32_t>> lengths_;
  struct Enough {
    Count needed;  // of so many values of each set there are enough
    std::uint32_t length;
  };
  counted::unordered_map<std::uint32_t, Enough> enough_;
  counted::map<std::pair<std::uint32_t, counted::vector<std::uint64_t>>, std::optional<std::uint32_t>>
      distinct_lengths_;  // by formula, supply
};

}  // namespace tokamata::json
