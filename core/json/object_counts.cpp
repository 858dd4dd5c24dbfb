#include "json/object_counts.hpp"

#include <algorithm>

#include "common/sort_unique.hpp"
#include "expression/text_count.hpp"
#include "json/leaves.hpp"
#include "json/value_counts.hpp"

namespace tokamata::json {

// Goes on with one more name or without it.  `room` is after it; `after` says what a member makes of a formula.
template <class After>
void ObjectCounts::count_name(Tally& tally, const Room& room, After&& after, const Work& work) {
  std::map<ObjectId, std::uint64_t> further;
  std::uint64_t all = 0;
  const auto reach = [&](ObjectId rest, std::uint64_t ways) {
    if (ways == 0 || !ends_.some_length(rest, room, work)) return;
    std::uint64_t& sum = further[rest];
    sum = std::min(tally.most, sum + ways);
    all = std::min(tally.most, all + ways);
  };
  for (const auto& [f, ways] : tally.ways) {
    work.budget.step();
    reach(f, ways);
    visit_members(
        after(f), tally.most,
        [&](std::uint64_t values, ObjectId rest) { reach(rest, capped_product(values, ways, tally.most)); }, work);
  }
  tally.ways = std::move(further);
  tally.is_enough = all >= tally.most;
}

// Calls `visit(values, what remains)` so that no value is in two of them.
template <class Visit>
void ObjectCounts::visit_members(ObjectId conditioned, std::uint64_t most, Visit&& visit, const Work& work) {
  const ObjectFormulas::Branches ways = formulas_.branches(conditioned, work);
  if (ways->size() <= 1) {
    for (const Branch<ObjectTag>& way : *ways) visit(counts_.of(way.value, most, work), way.rest);
    return;
  }
  std::vector<SetId> conditions;
  formulas_.visit(conditioned, [&](std::uint32_t atom, bool, bool) {
    if (is_condition(atom)) conditions.push_back(condition_set(atom));
  });
  sort_unique(conditions);
  const ValueCounts::Kinds kinds = counts_.kinds(conditions, true, work);
  for (const ValueKind& kind : *kinds) {
    const ObjectId rest = decided<ObjectTag>(formulas_, conditioned, conditions, kind);
    if (rest != formulas_.kFalse) visit(counts_.of(kind.values, most, work), rest);
  }
}

std::uint64_t ObjectCounts::of(ObjectId f, const NameOrder& order, std::uint64_t most, const Work& work) {
  Room room{&order, 0, nullptr, {}};
  if (most == 0 || !ends_.some_length(f, room, work)) return 0;
  Tally tally{{{f, 1}}, most};
  for (const NameId name : order.names) {
    ++room.next;
    count_name(tally, room, [&](ObjectId at) { return formulas_.after_name(at, name, work); }, work);
    if (tally.is_enough) return most;
  }
  std::vector<std::string> taken;
  for (const auto classes = formulas_.name_classes(f, work); const NameClass& other : *classes) {
    const auto after = [&](ObjectId at) { return formulas_.after_other(at, other); };
    const std::optional<std::vector<std::string>> names = ends_.names().all(other, order, most, work);
    if (!names) {
      bool is_possible = false;
      for (const auto& [at, ways] : tally.ways)
        visit_members(
            after(at), 1,
            [&](std::uint64_t values, ObjectId rest) {
              is_possible |= values > 0 && ends_.some_length(rest, room, work);
            },
            work);
      if (is_possible) return most;
      continue;
    }
    room.other_names.listed = &taken;
    for (const std::string& name : *names) {
      taken.push_back(spelled_string(name));
      count_name(tally, room, after, work);
      if (tally.is_enough) return most;
    }
  }
  std::uint64_t found = 0;
  for (const auto& [at, ways] : tally.ways)
    if (formulas_.accepts(at)) found = std::min(most, found + ways);
  return found;
}

}  // namespace tokamata::json
