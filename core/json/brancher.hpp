// What a value to come decides, and what is left to fulfil after it.
//
// Problem.  A formula about the elements of an array says of the next element that it is in this set or not in
// that one, under `any`, `not` and `one`.  The text must go on with one of several sets of values, each with what
// then remains: a list of branches, whose union is exactly what the formula allows.
// Example.  one(x in A, x in B) branches into  A less B, nothing left  and  B less A, nothing left; where A and
// B share no value, into A and B.  contains(A, at least 1) branches into  A, nothing left  and  any value, the
// same again.
// How.  Atoms that depend on the value are written with *conditions*, atoms that say "the value is in set s".  One
// condition after the other is decided; where it is only ever wanted, the branch that lacks it may take any value,
// since what is left there asks no less: so no complement is made of what nobody denies.
// Where many conditions are only ever wanted, under `any`, its operands are taken one by one instead: each condition
// would otherwise be met with and without every other.
// Example.  anyOf of n objects, each with a pattern for the same member: n branches, and not 2^n.
// Where many conditions *list* their values, as the tags of a union do, the values are taken one by one: each decides
// all of these conditions at once, and mostly all but one come to nothing (variations.hpp).  Values that leave the same
// are one branch, and those that are in no list are one more.
// Example.  oneOf of n objects, whose "kind" is the constant Kind1 … Kindn where there is one: n branches, each found
// by itself, where one condition after the other would leave 1, 2, … n constants to be excluded.
// Source.  Shannon's expansion; alternating automata over trees work the same way.
// Cost.  2^n branches at worst for n conditions that are wanted and denied; branches of no value are dropped at
// once, and those that leave the same are one.  Near to linear in the values that are listed.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/sort_unique.hpp"
#include "json/value_sets.hpp"
#include "json/variations.hpp"

namespace tokamata::json {

template <class Tag>
class Brancher {
 public:
  using FormulaId = Id<Tag>;
  Brancher(Formulas<Tag>& formulas, ValueSets& sets, const Work& work)
      : formulas_(formulas), sets_(sets), work_(work) {}

  // Those in which some value lives.
  std::shared_ptr<const counted::vector<Branch<Tag>>> branches(FormulaId conditioned) {
    split_by_lists(conditioned, Formulas<SetTag>::kTrue);
    std::vector<Branch<Tag>> found = united();
    std::erase_if(found, [&](const Branch<Tag>& branch) { return !sets_.lives(branch.value, work_); });
    return make_counted<counted::vector<Branch<Tag>>>(found.begin(), found.end());
  }

 private:
  struct Use {
    bool wanted = false, denied = false;
  };

  void split_by_lists(FormulaId f, SetId value) {
    constexpr std::size_t kLeastListsTakenByValue = 4;  // fewer are as well decided one after the other
    std::unordered_map<std::uint32_t, Use> uses;
    std::vector<std::uint32_t> conditions;
    formulas_.visit(f, [&](std::uint32_t atom, bool wanted, bool denied) {
      if (!is_condition(atom)) return;
      const auto [use, is_new] = uses.try_emplace(atom);
      if (is_new) conditions.push_back(atom);
      use->second.wanted |= wanted;
      use->second.denied |= denied;
    });
    if (conditions.size() < kLeastListsTakenByValue) return split(f, value);
    bool is_denied = false;
    std::vector<SetId> lists;
    std::vector<const ListedValue*> values;  // in the order in which they are met
    std::unordered_map<std::string_view, std::vector<std::uint32_t>> conditions_of;
    for (const std::uint32_t atom : conditions) {
      const auto* const list = sets_.lists().of(condition_set(atom));
      if (!list || !sets_.is_exact(condition_set(atom))) continue;
      lists.push_back(condition_set(atom));
      is_denied |= uses.at(atom).denied;
      for (const auto& one : *list) {
        auto& holds = conditions_of[one.value];
        if (holds.empty()) values.push_back(&one);
        holds.push_back(atom);
      }
    }
    if (lists.size() < kLeastListsTakenByValue) return split(f, value);
    std::ranges::sort(lists);

    Variations<Tag> variations(
        formulas_, f,
        [&](FormulaId whole, std::uint32_t atom) {
          const bool is_list = is_condition(atom) && std::ranges::binary_search(lists, condition_set(atom));
          return is_list ? Formulas<Tag>::kFalse : whole;
        },
        work_);
    // what remains, after which values
    std::vector<std::pair<FormulaId, std::vector<const ListedValue*>>> ways;
    std::unordered_map<std::uint32_t, std::size_t> way_of;
    for (const auto* const one : values) {
      std::vector<typename Variations<Tag>::Change> changes;
      for (const std::uint32_t atom : conditions_of.at(one->value)) changes.push_back({atom, Formulas<Tag>::kTrue});
      const FormulaId rest = variations.with(changes, work_);
      if (rest == Formulas<Tag>::kFalse) continue;
      const auto [way, is_new] = way_of.try_emplace(rest.value, ways.size());
      if (is_new) ways.push_back({rest, {}});
      ways[way->second].second.push_back(one);
    }
    // As a set that the schema names, where it does.
    const auto set_of_all = [&](const std::vector<const ListedValue*>& among) {
      for (const std::uint32_t atom : conditions_of.at(among[0]->value)) {
        if (sets_.lists().of(condition_set(atom))->size() != among.size()) continue;
        const auto has_it = [&](const auto* one) {
          return std::ranges::find(conditions_of.at(one->value), atom) != conditions_of.at(one->value).end();
        };
        if (std::ranges::all_of(among, has_it)) return condition_set(atom);
      }
      std::vector<SetId> sets;
      for (const auto* const one : among) sets.push_back(sets_.lists().set_of(*one));
      return sets_.any(std::move(sets));
    };
    for (const auto& [rest, among] : ways)
      if (const SetId inside = sets_.all({value, set_of_all(among)}); sets_.lives(inside, work_)) split(rest, inside);
    // Where lists are only ever wanted, what is left without them is no more than what is left with them.
    if (variations.usual() == Formulas<Tag>::kFalse) return;
    const SetId outside = is_denied ? sets_.all({value, sets_.negate(sets_.any(lists))}) : value;
    if (sets_.lives(outside, work_)) split(variations.usual(), outside);
  }

  void split(FormulaId f, SetId value) {
    while (true) {
      work_.budget.step();
      if (f == Formulas<Tag>::kFalse) return;
      std::uint32_t first = 0;
      Use use;
      formulas_.visit(f, [&](std::uint32_t atom, bool wanted, bool denied) {
        if (!is_condition(atom)) return;
        if (first == 0) first = atom;
        if (atom != first) return;
        use.wanted |= wanted;
        use.denied |= denied;
      });
      if (first == 0) return add(value, f);
      const SetId condition = condition_set(first);
      const auto decided = [&](bool holds) {
        return formulas_.map(f, [&](FormulaId whole, std::uint32_t atom) {
          if (atom != first) return whole;
          return holds ? Formulas<Tag>::kTrue : Formulas<Tag>::kFalse;
        });
      };
      if (const std::optional<FormulaId> choice = wide_choice(f)) {
        const auto given = formulas_.operands(*choice);
        for (const FormulaId operand : std::vector<FormulaId>(given.begin(), given.end()))
          split(*choice == f ? operand : with_one(f, *choice, operand), value);
        return;
      }
      const FormulaId when = decided(true), unless = decided(false);
      const SetId inside = sets_.all({value, condition});
      if (!sets_.lives(inside, work_)) {  // all of `value` is outside
        if (!sets_.is_exact(condition)) value = sets_.all({value, sets_.negate(condition)});
        if (!sets_.lives(value, work_)) return;
        f = unless;
        continue;
      }
      if (unless == Formulas<Tag>::kFalse) {
        value = inside;
        f = when;
        continue;
      }
      // Where it is only ever wanted, what is left without it is no more than what is left with it.
      const SetId outside = use.wanted && !use.denied ? value : sets_.all({value, sets_.negate(condition)});
      // Where it is only ever denied, likewise; but what is inside is said as easily, and then branches stay apart.
      const bool may_stay = use.denied && !use.wanted && !sets_.is_exact(condition);
      if (when != Formulas<Tag>::kFalse) split(when, may_stay ? value : inside);
      if (!sets_.lives(outside, work_)) return;
      value = outside;
      f = unless;
    }
  }

  // An `any` among the conjuncts that has many conditions, in a formula that denies none.
  std::optional<FormulaId> wide_choice(const FormulaId& f) const {
    constexpr std::size_t kMostConditionsTogether =
        4;  // conditions that are met with and without each other: 2^4 branches
    for (const FormulaId conjunct : formulas_.conjuncts(f)) {
      if (formulas_.operation(conjunct) != Operation::Any) continue;
      std::vector<std::uint32_t> conditions;
      bool is_denied = false;
      formulas_.visit(f, [&](std::uint32_t atom, bool, bool denied) { is_denied |= denied && is_condition(atom); });
      if (is_denied) return std::nullopt;
      formulas_.visit(conjunct, [&](std::uint32_t atom, bool, bool) {
        if (is_condition(atom)) conditions.push_back(atom);
      });
      sort_unique(conditions);
      if (conditions.size() > kMostConditionsTogether) return conjunct;
    }
    return std::nullopt;
  }

  // A conjunction with another formula in place of one of its conjuncts.
  FormulaId with_one(const FormulaId& f, FormulaId conjunct, FormulaId other) {
    const auto given = formulas_.conjuncts(f);
    std::vector<FormulaId> conjuncts(given.begin(), given.end());
    std::ranges::replace(conjuncts, conjunct, other);
    return formulas_.all(std::move(conjuncts));
  }

  void add(SetId value, FormulaId rest) {
    const auto [place, is_new] = place_of_.try_emplace(rest.value, found_.size());
    if (is_new) found_.push_back({rest, {}});
    found_[place->second].values.push_back(value);
  }

  // Those that leave the same are one, and then those of the same values.
  std::vector<Branch<Tag>> united() {
    std::vector<Branch<Tag>> branches;
    std::unordered_map<std::uint32_t, std::size_t> place_of_value;
    for (Found& found : found_) {
      const SetId value = sets_.any(std::move(found.values));
      const auto [place, is_new] = place_of_value.try_emplace(value.value, branches.size());
      if (is_new) branches.push_back({value, found.rest});
      else branches[place->second].rest = formulas_.any({branches[place->second].rest, found.rest});
    }
    return branches;
  }

  struct Found {
    FormulaId rest;
    std::vector<SetId> values;
  };

  Formulas<Tag>& formulas_;
  ValueSets& sets_;
  Work work_;
  std::vector<Found> found_;
  std::unordered_map<std::uint32_t, std::size_t> place_of_;  // by what remains
};

}  // namespace tokamata::json
