// What a value to come decides of a formula: conditions on the value, and branches by it.  They are found by brancher.hpp.
#pragma once

#include <algorithm>
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
Id<Tag> decided(Formulas<Tag>& formulas, Id<Tag> conditioned, const std::vector<SetId>& conditions,
                const ValueKind& kind) {
  return formulas.map(conditioned, [&](Id<Tag> atom, std::uint32_t number) {
    if (!is_condition(number)) return atom;
    const auto place = std::ranges::lower_bound(conditions, condition_set(number));
    return kind.in[static_cast<std::size_t>(place - conditions.begin())] ? Formulas<Tag>::kTrue : Formulas<Tag>::kFalse;
  });
}

}  // namespace tokamata::json
