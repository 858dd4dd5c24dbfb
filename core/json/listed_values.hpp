// Sets whose values a schema lists one by one.  Values are compared by their canonical forms (canonical_value.hpp).
//
// Problem.  Of 1,000 constants no two are equal, which the engine would find out by 500,000 intersections of automata.
// Example.  {"type": "string", "enum": ["a", "b"]} is  all(types(string), "a" or "b"),  and lists both.
// How.  The table knows the values of the nodes that constants and enumerations are.  A union lists what its operands
// do; a conjunction what is in each of its lists and in none that it denies, where everything else in it says a type.
// Cost.  n log n for n values.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "json/set_formulas.hpp"

namespace tokamata::json {

struct ListedValue {
  std::string value;  // in canonical form
  SetId set;          // what the schema calls this value alone; kFalse where it does not
};

class ListedValues {
 public:
  // By value; nothing where the set says more than a list, or has more than kMostListed values.
  using List = std::optional<counted::vector<ListedValue>>;

  explicit ListedValues(SetFormulas& formulas) : formulas_(formulas) {}

  // The values of a set that lists them: constants, enumerations, and what these have in common; null for other sets.
  // Valid as long as this is.
  const counted::vector<ListedValue>* of(SetId set) { return of(set, 0); }
  // The values of a set that lists them, or denies those that are listed.
  const counted::vector<ListedValue>* of_set_or_denied(SetId set) {
    return of(formulas_.is_denial(set) ? formulas_.body(set) : set);
  }
  SetId set_of(const ListedValue& one) {
    return one.set == SetFormulas::kFalse ? formulas_.constant(one.value) : one.set;
  }
  static bool has(const counted::vector<ListedValue>& list, const std::string& canonical);

 private:
  static constexpr std::size_t kMostListed = 1000;  // values of a set
  static constexpr unsigned kMostNesting = 16;      // of unions and conjunctions in each other

  const counted::vector<ListedValue>* of(SetId set, unsigned nesting);
  List made(SetId set, unsigned nesting);
  List of_node(ValueNode node, unsigned nesting);
  List united(const std::vector<SetId>& sets, unsigned nesting);
  List narrowed(const std::vector<SetId>& sets, unsigned nesting);

  SetFormulas& formulas_;
  counted::unordered_map<std::uint32_t, List> lists_;  // by set
};

}  // namespace tokamata::json
