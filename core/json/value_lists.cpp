// Sets whose values a schema lists one by one (ValueSets::listed).  Values are compared by their canonical forms.
//
// Problem.  Of 1,000 constants no two are equal, which the engine would find out by 500,000 intersections of automata.
// Example.  {"type": "string", "enum": ["a", "b"]} is  all(types(string), "a" or "b"),  and lists both.
// How.  The table knows the values of the nodes that constants and enumerations are.  A union lists what its operands
// do; a conjunction what is in each of its lists and in none that it denies, where everything else in it says a type.
// Cost.  n log n for n values.

#include <algorithm>

#include "common/memoized.hpp"
#include "json/value_sets.hpp"

namespace tokamata::json {

namespace {

constexpr std::size_t kMostListed = 1000;  // values of a set

std::uint8_t type_of(const std::string& canonical) {
  switch (canonical[0]) {
    case 'n': return kNull;
    case 'f': return kFalse;
    case 't': return kTrue;
    case '"': return kString;
    case '[': return kArray;
    case '{': return kObject;
    default: return kNumber;
  }
}

}  // namespace

const counted::vector<ValueSets::Listed>* ValueSets::listed(SetId set) { return listed(set, 0); }

const counted::vector<ValueSets::Listed>* ValueSets::listed(SetId set, unsigned nesting) {
  constexpr unsigned kMostNesting = 16;
  if (nesting > kMostNesting) return nullptr;
  const List& list = memoized(listed_, set.value, [&] { return list_of(set, nesting + 1); });
  return list ? &*list : nullptr;
}

ValueSets::List ValueSets::list_of(SetId set, unsigned nesting) {
  if (formulas_.operation(set) == Operation::Atom) return list_of_node({formulas_.atom(set)}, nesting);
  const auto given = formulas_.operands(set);
  if (formulas_.operation(set) == Operation::Any) return united({given.begin(), given.end()}, nesting);
  if (formulas_.operation(set) == Operation::All) return narrowed({given.begin(), given.end()}, nesting);
  return std::nullopt;
}

ValueSets::List ValueSets::list_of_node(ValueNode node, unsigned nesting) {
  if (const ValueTable::Values* const values = table_->noted_values(node)) {
    counted::vector<Listed> list;
    for (const std::string& value : *values)
      list.push_back({value, values->size() == 1 ? set_of(node) : Formulas<SetTag>::kFalse});
    std::ranges::sort(list, {}, &Listed::value);
    return list;
  }
  const auto sets_of = [&](const std::vector<ValueNode>& items) {
    std::vector<SetId> sets;
    for (const ValueNode item : items) sets.push_back(set_of(item));
    return sets;
  };
  if (const auto* any = std::get_if<ValueTable::AnyOf>(&table_->node(node)))
    return united(sets_of(any->items), nesting);
  if (const auto* all = std::get_if<ValueTable::AllOf>(&table_->node(node)))
    return narrowed(sets_of(all->items), nesting);
  return std::nullopt;
}

ValueSets::List ValueSets::united(const std::vector<SetId>& sets, unsigned nesting) {
  counted::vector<Listed> all;
  for (const SetId set : sets) {
    const auto* const list = listed(set, nesting);
    if (!list || all.size() + list->size() > kMostListed) return std::nullopt;
    all.insert(all.end(), list->begin(), list->end());
  }
  std::ranges::stable_sort(all, {}, &Listed::value);
  const auto again = std::ranges::unique(all, {}, &Listed::value);
  all.erase(again.begin(), again.end());
  return all;
}

ValueSets::List ValueSets::narrowed(const std::vector<SetId>& sets, unsigned nesting) {
  std::uint8_t types = kAllTypes;
  std::vector<const counted::vector<Listed>*> lists, denied;
  for (const SetId set : sets) {
    const auto* const list = listed(set, nesting);
    if (const auto* const others = is_denial(set) ? listed(formulas_.body(set), nesting) : nullptr) {
      denied.push_back(others);
      continue;
    }
    const bool is_node = formulas_.operation(set) == Operation::Atom;
    const auto* const said = is_node ? std::get_if<ValueTable::Types>(&table_->node({formulas_.atom(set)})) : nullptr;
    if (list) lists.push_back(list);
    else if (said) types &= said->mask;
    else return std::nullopt;
  }
  if (lists.empty()) return std::nullopt;
  List found = *lists[0];
  std::erase_if(*found, [&](const Listed& one) {
    const auto has_it = [&](const auto* list) {
      return std::ranges::binary_search(*list, one.value, {}, &Listed::value);
    };
    return (type_of(one.value) & types) == 0 || !std::ranges::all_of(lists, has_it) ||
           std::ranges::any_of(denied, has_it);
  });
  return found;
}

// A conjunction of a list and other sets, as the union of the values that are in all of them.
// Problem.  That of 300 numbers none is no integer would be proven by a search through all their spellings.
// How.  Numbers are compared with ranges, and strings are read.  What is not decided so stays a conjunction.
SetId ValueSets::as_listed(SetId set, const Work& work) {
  if (formulas_.operation(set) != Operation::All || !is_exact(set)) return set;
  const auto given = formulas_.operands(set);
  std::vector<SetId> others(given.begin(), given.end());
  const auto first = std::ranges::find_if(others, [&](SetId one) { return listed(one) != nullptr; });
  if (first == others.end()) return set;
  const counted::vector<Listed>& list = *listed(*first);
  others.erase(first);
  const auto has_it = [&](SetId other, const Listed& one) -> std::optional<bool> {
    if (const auto* const values = listed_or_denied(other))
      return std::ranges::binary_search(*values, one.value, {}, &Listed::value) != is_denial(other);
    const Parts& found = parts(other, work);
    switch (type_of(one.value)) {
      case kNumber: return found.number_terms.has(one.value);
      case kArray:
        return found.arrays == Formulas<ArrayTag>::kFalse  ? std::optional(false)
               : found.arrays == Formulas<ArrayTag>::kTrue ? std::optional(true)
                                                           : std::nullopt;
      case kObject:
        return found.objects == Formulas<ObjectTag>::kFalse  ? std::optional(false)
               : found.objects == Formulas<ObjectTag>::kTrue ? std::optional(true)
                                                             : std::nullopt;
      default: return has(other, one.value, work);
    }
  };
  std::vector<SetId> values;
  bool is_decided = list.empty();
  for (const Listed& one : list) {
    std::vector<SetId> open{one.set == Formulas<SetTag>::kFalse ? constant(one.value) : one.set};
    bool is_in = true;
    for (const SetId other : others) {
      const std::optional<bool> known = has_it(other, one);
      if (!known) open.push_back(other);
      is_in = is_in && known.value_or(true);
    }
    is_decided |= !is_in || open.size() <= others.size();
    if (is_in) values.push_back(all(std::move(open)));
  }
  return is_decided ? any(std::move(values)) : set;
}

}  // namespace tokamata::json
