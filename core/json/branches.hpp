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
// Source.  Shannon's expansion; alternating automata over trees work the same way.
// Cost.  2^n branches at worst for n conditions that are wanted and denied; branches of no value are dropped at
// once, and those that leave the same are one.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "json/formula.hpp"
#include "json/work.hpp"

namespace tokamata::json {

using SetId = Id<struct SetTag>;        // of values: a formula over nodes of a ValueTable
using ArrayId = Id<struct ArrayTag>;    // a formula about the elements of an array to come
using ObjectId = Id<struct ObjectTag>;  // a formula about the members of an object to come

inline constexpr std::uint32_t kCondition = 1u << 31;
constexpr bool is_condition(std::uint32_t atom) { return (atom & kCondition) != 0; }
constexpr std::uint32_t condition_atom(SetId set) { return set.value | kCondition; }
constexpr SetId condition_set(std::uint32_t atom) { return {atom & ~kCondition}; }

// Values that the same of some sets have.
struct ValueKind {
  SetId values;          // some value is of the kind
  std::vector<bool> in;  // of the sets
};

// Of numbers of values that count no further than `most`.
constexpr std::uint64_t capped_product(std::uint64_t a, std::uint64_t b, std::uint64_t most) {
  return a == 0 || b == 0 ? 0 : a >= most || b >= most || a > most / b ? most : std::min(most, a * b);
}

template <class Tag>
struct Branch {
  SetId value;  // some value is in it
  Id<Tag> rest;
};

// The formula where each of the conditions, which are sorted, holds for the values of a kind or does not.
template <class Tag>
Id<Tag> decided(Formulas<Tag>& formulas, Id<Tag> conditioned, const std::vector<SetId>& conditions, const ValueKind& kind) {
  return formulas.map(conditioned, [&](Id<Tag> atom, std::uint32_t number) {
    if (!is_condition(number)) return atom;
    const auto place = std::ranges::lower_bound(conditions, condition_set(number));
    return kind.in[static_cast<std::size_t>(place - conditions.begin())] ? Formulas<Tag>::kTrue : Formulas<Tag>::kFalse;
  });
}

// `Sets` has all, negate, lives and is_exact (value_sets.hpp).
template <class Tag, class Sets>
class Brancher {
 public:
  using FormulaId = Id<Tag>;
  Brancher(Formulas<Tag>& formulas, Sets& sets, const Work& work) : formulas_(formulas), sets_(sets), work_(work) {}

  std::vector<Branch<Tag>> branches(FormulaId conditioned, SetId value) {
    split(conditioned, value);
    return std::move(found_);
  }

 private:
  struct Use {
    bool wanted = false, denied = false;
  };

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

  // An `any` in front that asks for many conditions, in a formula that denies none.
  std::optional<FormulaId> wide_choice(const FormulaId& f) const {
    constexpr std::size_t kWide = 4;
    for (const FormulaId part : formulas_.conjuncts(f)) {
      if (formulas_.operation(part) != Operation::Any) continue;
      std::vector<std::uint32_t> conditions;
      bool is_denied = false;
      formulas_.visit(f, [&](std::uint32_t atom, bool, bool denied) { is_denied |= denied && is_condition(atom); });
      if (is_denied) return std::nullopt;
      formulas_.visit(part, [&](std::uint32_t atom, bool, bool) {
        if (is_condition(atom)) conditions.push_back(atom);
      });
      std::ranges::sort(conditions);
      conditions.erase(std::unique(conditions.begin(), conditions.end()), conditions.end());
      if (conditions.size() > kWide) return part;
    }
    return std::nullopt;
  }

  // A conjunction with another formula in place of one of its parts.
  FormulaId with_one(const FormulaId& f, FormulaId part, FormulaId other) {
    const auto given = formulas_.conjuncts(f);
    std::vector<FormulaId> parts(given.begin(), given.end());
    std::ranges::replace(parts, part, other);
    return formulas_.all(std::move(parts));
  }

  void add(SetId value, FormulaId rest) {
    for (Branch<Tag>& known : found_)
      if (known.rest == rest) {
        known.value = sets_.any({known.value, value});
        return;
      }
    for (Branch<Tag>& known : found_)
      if (known.value == value) {
        known.rest = formulas_.any({known.rest, rest});
        return;
      }
    found_.push_back({value, rest});
  }

  Formulas<Tag>& formulas_;
  Sets& sets_;
  Work work_;
  std::vector<Branch<Tag>> found_;
};

}  // namespace tokamata::json
