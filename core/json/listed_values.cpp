#include "json/listed_values.hpp"

#include <algorithm>

#include "common/memoized.hpp"
#include "json/canonical_value.hpp"

namespace tokamata::json {

bool ListedValues::has(const counted::vector<ListedValue>& list, const std::string& canonical) {
  return std::ranges::binary_search(list, canonical, {}, &ListedValue::value);
}

const counted::vector<ListedValue>* ListedValues::of(SetId set, unsigned nesting) {
  if (nesting > kMostNesting) return nullptr;
  const List& list = memoized(lists_, set.value, [&] { return made(set, nesting + 1); });
  return list ? &*list : nullptr;
}

ListedValues::List ListedValues::made(SetId set, unsigned nesting) {
  if (formulas_.operation(set) == Operation::Atom) return of_node({formulas_.atom(set)}, nesting);
  const auto given = formulas_.operands(set);
  if (formulas_.operation(set) == Operation::Any) return united({given.begin(), given.end()}, nesting);
  if (formulas_.operation(set) == Operation::All) return narrowed({given.begin(), given.end()}, nesting);
  return std::nullopt;
}

ListedValues::List ListedValues::of_node(ValueNode node, unsigned nesting) {
  if (const ValueTable::Values* const values = formulas_.table().noted_values(node)) {
    counted::vector<ListedValue> list;
    for (const std::string& value : *values)
      list.push_back({value, values->size() == 1 ? formulas_.set_of(node) : SetFormulas::kFalse});
    std::ranges::sort(list, {}, &ListedValue::value);
    return list;
  }
  const auto sets_of = [&](const std::vector<ValueNode>& items) {
    std::vector<SetId> sets;
    for (const ValueNode item : items) sets.push_back(formulas_.set_of(item));
    return sets;
  };
  const ValueTable::Node& n = formulas_.table().node(node);
  if (const auto* any = std::get_if<ValueTable::AnyOf>(&n)) return united(sets_of(any->items), nesting);
  if (const auto* all = std::get_if<ValueTable::AllOf>(&n)) return narrowed(sets_of(all->items), nesting);
  return std::nullopt;
}

ListedValues::List ListedValues::united(const std::vector<SetId>& sets, unsigned nesting) {
  counted::vector<ListedValue> all;
  for (const SetId set : sets) {
    const auto* const list = of(set, nesting);
    if (!list || all.size() + list->size() > kMostListed) return std::nullopt;
    all.insert(all.end(), list->begin(), list->end());
  }
  std::ranges::stable_sort(all, {}, &ListedValue::value);
  const auto again = std::ranges::unique(all, {}, &ListedValue::value);
  all.erase(again.begin(), again.end());
  return all;
}

ListedValues::List ListedValues::narrowed(const std::vector<SetId>& sets, unsigned nesting) {
  std::uint8_t types = kAllTypes;
  std::vector<const counted::vector<ListedValue>*> lists, denied;
  for (const SetId set : sets) {
    const auto* const list = of(set, nesting);
    if (const auto* const others = formulas_.is_denial(set) ? of(formulas_.body(set), nesting) : nullptr) {
      denied.push_back(others);
      continue;
    }
    const bool is_node = formulas_.operation(set) == Operation::Atom;
    const auto* const types_of_node =
        is_node ? std::get_if<ValueTable::Types>(&formulas_.table().node({formulas_.atom(set)})) : nullptr;
    if (list) lists.push_back(list);
    else if (types_of_node) types &= types_of_node->mask;
    else return std::nullopt;
  }
  if (lists.empty()) return std::nullopt;
  List found = *lists[0];
  std::erase_if(*found, [&](const ListedValue& one) {
    const auto has_it = [&](const auto* list) { return has(*list, one.value); };
    return (type_of(one.value) & types) == 0 || !std::ranges::all_of(lists, has_it) ||
           std::ranges::any_of(denied, has_it);
  });
  return found;
}

}  // namespace tokamata::json
