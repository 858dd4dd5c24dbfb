// The formulas that remain for the elements of an array, after some of them.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "json/container_formulas.hpp"
#include "json/recursion.hpp"
#include "json/value_table.hpp"

namespace tokamata::json {

class ValueSets;

struct ArrayAtom {
  enum class Kind : std::uint32_t { Items, Length, Contains, Unique };
  Kind kind;
  std::uint32_t subject = 0;  // Items: node of the table; Contains: set
  Count minimum = 0;          // Items: elements so far
  Count maximum = 0;
  bool operator==(const ArrayAtom&) const = default;
};
struct ArrayAtomHash {
  std::size_t operator()(const ArrayAtom& atom) const;
};

class ArrayFormulas : public ContainerFormulas<ArrayTag, ArrayAtom, ArrayAtomHash> {
 public:
  using Kind = ArrayAtom::Kind;

  explicit ArrayFormulas(ValueSets& sets);

  // The formulas of nodes of the table.
  ArrayId items(ValueNode items) { return make({Kind::Items, items.value}); }
  ArrayId length(Count minimum, Count maximum) { return counted({Kind::Length, 0, minimum, maximum}); }
  ArrayId contains(SetId set, Count minimum, Count maximum) {
    return counted({Kind::Contains, set.value, minimum, maximum});
  }
  ArrayId unique() { return make({Kind::Unique}); }

  // Whether the array may end here.
  bool accepts(ArrayId f) const;
  // The sets of the next element, and the formula that remains after it.
  Branches branches(ArrayId f, const Work& work);
  // What remains after an element that is in some of the conditions, which are sorted.
  ArrayId after(ArrayId f, const std::vector<SetId>& conditions, const ValueKind& kind) {
    return decided<ArrayTag>(*this, conditioned(f), conditions, kind);
  }

  // Whether it matters which elements are equal.
  bool tells_equal(ArrayId f) const;
  // Whether some elements may have to be equal.
  bool wants_equal(ArrayId f) const;
  // The formula after two equal elements; and the one where no two are equal, of those before and those to come.
  ArrayId with_equal(ArrayId f) { return with_uniqueness(f, kFalse); }
  ArrayId with_none_equal(ArrayId f) { return with_uniqueness(f, kTrue); }

  // No shortest array has more elements.
  Count most_needed(ArrayId f) const;
  // The sets that it will ask of elements to come, sorted.
  std::vector<SetId> conditions(ArrayId f);
  // Whether an element may be in none of its sets.
  bool takes_any_element(ArrayId f) const;

 private:
  const ValueTable::Items& items_of(const ArrayAtom& atom) const;
  ArrayId counted(const ArrayAtom& atom);
  ArrayId with_uniqueness(ArrayId f, ArrayId is_unique);
  ArrayId after_element(const ArrayAtom& atom);
  ArrayId conditioned(ArrayId f);
  void merge(std::vector<ArrayId>& conjuncts);

  ValueSets& sets_;
  counted::unordered_map<std::uint32_t, Branches> branches_;  // by formula
};

}  // namespace tokamata::json
