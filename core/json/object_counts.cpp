// How many objects fulfil a formula: all of them at once, name by name.  See Arena::count_texts for the idea.
//
// Example.  "a" in {1, 2}, no other names: after "a" one object without it, two with it.
// Names that are not declared are mostly without end: if one may come at all, there are enough objects.  Those of a
// language with few texts are taken one by one, as if they were declared.

#include <algorithm>
#include <map>

#include "json/leaves.hpp"
#include "json/object_formulas.hpp"
#include "json/value_sets.hpp"

namespace tokamata::json {

// The objects under way: in how many ways each formula is what remains.
struct ObjectFormulas::Tally {
  std::map<ObjectId, std::uint64_t> ways;
  std::uint64_t most;
  bool is_enough = false;
};

// Goes on with one more name or without it.  `room` is after it; `after` says what a member makes of a formula.
template <class After>
void ObjectFormulas::count_name(Tally& tally, const Room& room, After&& after, const Work& work) {
  std::map<ObjectId, std::uint64_t> further;
  std::uint64_t all = 0;
  const auto reach = [&](ObjectId rest, std::uint64_t ways) {
    if (ways == 0 || !some_length(rest, room, work)) return;
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
void ObjectFormulas::visit_members(ObjectId conditioned_formula, std::uint64_t most, Visit&& visit, const Work& work) {
  const Branches ways = branch(conditioned_formula, work);
  if (ways->size() <= 1) {
    for (const Branch<ObjectTag>& way : *ways) visit(sets_.count(way.value, most, work), way.rest);
    return;
  }
  std::vector<SetId> conditions;
  formulas_.visit(conditioned_formula, [&](std::uint32_t atom, bool, bool) {
    if (is_condition(atom)) conditions.push_back(condition_set(atom));
  });
  std::ranges::sort(conditions);
  conditions.erase(std::unique(conditions.begin(), conditions.end()), conditions.end());
  const ValueSets::Kinds kinds = sets_.kinds(conditions, true, work);
  for (const ValueKind& kind : *kinds) {
    const ObjectId rest = decided(formulas_, conditioned_formula, conditions, kind);
    if (rest != formulas_.kFalse) visit(sets_.count(kind.values, most, work), rest);
  }
}

std::uint64_t ObjectFormulas::count(ObjectId f, const NameOrder& order, std::uint64_t most, const Work& work) {
  Room room{&order, 0, nullptr, {}};
  if (most == 0 || !some_length(f, room, work)) return 0;
  Tally tally{{{f, 1}}, most};
  for (const NameId name : order.names) {
    ++room.next;
    count_name(tally, room, [&](ObjectId at) { return after_name(at, name, work); }, work);
    if (tally.is_enough) return most;
  }
  std::vector<std::string> taken;
  for (const auto classes = name_classes(f, work); const NameClass& other : *classes) {
    const auto after = [&](ObjectId at) { return after_other(at, other); };
    const std::optional<std::vector<std::string>> names = few_names(other, order, most, work);
    if (!names) {
      bool is_possible = false;
      for (const auto& [at, ways] : tally.ways)
        visit_members(
            after(at), 1,
            [&](std::uint64_t values, ObjectId rest) { is_possible |= values > 0 && some_length(rest, room, work); },
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
    if (accepts(at)) found = std::min(most, found + ways);
  return found;
}

// The names of a class that are not declared; nothing where they are more than `most`.
std::optional<std::vector<std::string>> ObjectFormulas::few_names(const NameClass& other, const NameOrder& order,
                                                                  std::uint64_t most, const Work& work) {
  if (other.is_any) return std::nullopt;
  std::vector<std::string> declared;
  for (const NameId name : order.names) declared.push_back(sets_.table().text(name));
  const ExpressionId texts = sets_.plain_texts(sets_.without_texts(other.names, declared, work), work);
  const std::uint64_t count = work.arena.count_texts(texts, most, work.budget);
  if (count >= most) return std::nullopt;
  std::vector<std::string> names;
  for (const std::string& text : work.arena.some_texts(texts, count, work.budget))
    names.push_back(sets_.read_name(text));
  return names;
}

}  // namespace tokamata::json
