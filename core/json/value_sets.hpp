// Sets of JSON values, closed under Boolean operations.
//
// Problem.  A schema says of one value many things at once, under `allOf`, `anyOf`, `oneOf` and `not`; which texts
// spell a value of which all of that is true?
// Example.  all(types(string or number), not(string of [a-z]*)) is: all numbers; strings of something but [a-z]*.
// How.  A set is a formula over nodes of a table (SetFormulas).  It falls into *parts*, one for each type of value, and
// every operation works on each by itself (ValueParts).  Formulas about elements and members name further sets, so a
// set is never expanded deeper than a text goes into it.
// Which sets are empty is a least fixed point (recursion.hpp): a value is finite.
//
//   SetFormulas      the formulas, and the sets of single values
//   ListedValues     sets whose values a schema lists
//   NameOrders       the names that a schema declares
//   StringTexts      languages of strings and names, as they are spelled
//   ArrayFormulas    what remains for the elements of an array;  ArrayEnds: whether it can still be ended
//   ObjectFormulas   what remains for the members of an object;  ObjectEnds, NamesLeft: whether it can still be ended
//   PartsAlgebra     the parts of a set, with SetEvaluation
//   ValueSets        which sets have a value, and how long its text is
//   ValueCounts      how many values, and of which kinds;  ObjectCounts
//
// Source.  Negation by type and element: Attouche, Baazizi, Colazzo, Ghelli, Sartiani and Scherzinger, "Witness
// Generation for JSON Schema", VLDB 2022, who bring a whole schema into such a form before they look for a value;
// here each formula is worked out when a text comes to it.
// Not taken: disjunctive normal forms of whole schemas (exponential, and most of them are never needed).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "json/array_ends.hpp"
#include "json/listed_values.hpp"
#include "json/object_ends.hpp"
#include "json/set_evaluation.hpp"
#include "json/value_counts.hpp"
#include "json/value_parts.hpp"

namespace tokamata::json {

class ValueSets {
 public:
  // `within`: spellings that strings are made of, beside what sets say; null: all.
  ValueSets(std::shared_ptr<const ValueTable> table, Spelling spelling, ExpressionPtr within = nullptr);

  const ValueTable& table() const { return formulas_.table(); }
  SetFormulas& formulas() { return formulas_; }
  StringTexts& texts() { return texts_; }
  ArrayFormulas& arrays() { return arrays_; }
  ArrayEnds& array_ends() { return array_ends_; }
  ObjectFormulas& objects() { return objects_; }
  ObjectEnds& object_ends() { return object_ends_; }
  ValueCounts& counts() { return counts_; }

  SetId set_of(ValueNode node) { return formulas_.set_of(node); }
  SetId all(std::vector<SetId> sets) { return formulas_.all(std::move(sets)); }
  SetId any(std::vector<SetId> sets) { return formulas_.any(std::move(sets)); }
  SetId negate(SetId set) { return formulas_.negate(set); }
  SetId constant(const std::string& canonical) { return formulas_.constant(canonical); }
  bool is_exact(SetId set) { return formulas_.is_exact(set); }
  ListedValues& lists() { return lists_; }
  NameOrderPtr order(SetId set) { return orders_.of(set); }

  const ValueParts& parts(SetId set, const Work& work);
  // Bytes of the text of some value of the set; nothing where there is none.
  std::optional<std::uint32_t> some_length(SetId set, const Work& work);
  // No text of the set is shorter.  Values that are nested deeper than `depth` count as one byte, so that the bound
  // does not depend on earlier calls.
  std::uint32_t least_length(SetId set, std::uint32_t depth, const Work& work);
  bool lives(SetId set, const Work& work) { return some_length(set, work).has_value(); }
  // Whether a value, in canonical form, is in the set.
  bool has(SetId set, const std::string& canonical, const Work& work);
  // A conjunction of a list and other sets, as the union of the values that are in all of them; other sets as they are.
  SetId as_listed(SetId set, const Work& work);
  // Of the searches for values: what they found empty may not be, if they came upon a set that is searched.
  Recursion& recursion() { return recursion_; }

  void forget_expressions();

 private:
  std::optional<std::uint32_t> find_length(SetId set, const Work& work);
  std::optional<bool> has_listed(SetId set, const ListedValue& one, const Work& work);

  SetFormulas formulas_;
  ListedValues lists_{formulas_};
  NameOrders orders_{formulas_};
  StringTexts texts_;
  Recursion recursion_;
  ArrayFormulas arrays_{*this};
  ArrayEnds array_ends_{arrays_, *this};
  ObjectFormulas objects_{*this, texts_};
  ObjectEnds object_ends_{objects_, texts_, formulas_, *this};
  SetEvaluation<PartsAlgebra> evaluation_;
  ValueCounts counts_{*this};
  counted::unordered_map<std::uint32_t, ValueParts> parts_;  // by set
  FixedPoint<std::uint32_t, std::optional<std::uint32_t>> lengths_{recursion_};
  counted::unordered_map<std::uint64_t, std::uint32_t> least_lengths_;  // by set and depth
  counted::unordered_map<std::uint64_t, bool> has_;  // by sets, the second of which is that of a string
};

}  // namespace tokamata::json
