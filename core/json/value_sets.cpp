#include "json/value_sets.hpp"

#include <algorithm>

#include "json/canonical_value.hpp"

namespace tokamata::json {

ValueSets::ValueSets(std::shared_ptr<const ValueTable> table, Spelling spelling, ExpressionPtr within)
    : formulas_(std::move(table), spelling),
      texts_(formulas_, std::move(within)),
      evaluation_(formulas_, PartsAlgebra(formulas_, texts_, arrays_, objects_), recursion_.depth) {}

const ValueParts& ValueSets::parts(SetId set, const Work& work) {
  return memoized(parts_, set.value, [&] {
    ValueParts found = evaluation_.of(as_listed(set, work), work);
    if (texts_.is_limited() && found.strings.language != Pool::kEmpty)
      found.strings = {texts_.writable(found.strings.language, work), std::nullopt};
    // What is empty is known to be so from here on.
    for (ExpressionId* const language : {&found.strings.language, &found.numbers.language})
      if (work.arena.derivatives().terminal(*language, work.budget) == Pool::kEmpty) *language = Pool::kEmpty;
    found.numbers.language = evaluation_.algebra().numbers().without_idle_minus(found.numbers, work);
    return found;
  });
}

// ---- which sets are empty ---------------------------------------------------------------------

std::optional<std::uint32_t> ValueSets::some_length(SetId set, const Work& work) {
  if (set == SetFormulas::kTrue) return 2;
  if (set == SetFormulas::kFalse) return std::nullopt;
  if (const auto* const known = lengths_.known(set.value)) return known->answer;
  return lengths_.search(set.value, std::nullopt, work.budget.limits().depth, kAnythingIsEnough,
                         [&] { return find_length(set, work); });
}

std::optional<std::uint32_t> ValueSets::find_length(SetId set, const Work& work) {
  constexpr std::uint32_t kShortText = 16;  // bytes; a shorter text is not worth a search in containers
  const ValueParts found = parts(set, work);
  std::optional<std::uint32_t> least;
  const auto offer = [&](std::uint32_t length) { least = std::min(least.value_or(~0u), length); };
  const auto spelled = [&](ExpressionId language) {
    return work.arena.pool().node(work.arena.derivatives().terminal(language, work.budget)).spelled;
  };
  if (found.simple & (kNull | kTrue)) offer(4);
  if (found.simple & kFalse) offer(5);
  if (found.strings.language != Pool::kEmpty) offer(capped_sum(spelled(found.strings.language), 2));
  if (found.numbers.language != Pool::kEmpty) offer(spelled(found.numbers.language));
  if (least && *least < kShortText) return least;
  if (const auto inside = array_ends_.some_length(found.arrays, work)) offer(capped_sum(*inside, 2));
  if (const auto inside = object_ends_.some_length(found.objects, {order(set).get(), 0, nullptr, {}}, work))
    offer(capped_sum(*inside, 2));
  return least;
}

std::uint32_t ValueSets::least_length(SetId set, std::uint32_t depth, const Work& work) {
  if (set == SetFormulas::kTrue || depth == 0) return 1;
  return memoized(least_lengths_, std::uint64_t{set.value} << 32 | depth, [&] {
    const ValueParts found = parts(set, work);
    std::uint32_t least = kLongestLength;
    const auto offer = [&](std::uint32_t length) { least = std::min(least, length); };
    if (found.simple & (kNull | kTrue)) offer(4);
    if (found.simple & kFalse) offer(5);
    if (found.strings.language != Pool::kEmpty)
      offer(capped_sum(work.arena.pool().node(found.strings.language).shortest, 2));
    if (found.numbers.language != Pool::kEmpty)
      offer(std::max(work.arena.pool().node(found.numbers.language).shortest, 1u));
    if (found.arrays != ArrayFormulas::kFalse) offer(2);
    if (found.objects != ObjectFormulas::kFalse) {
      const std::uint32_t members = object_ends_.least_length(found.objects, depth - 1, work);
      offer(capped_sum(members, members == 0 ? 2 : 1));  // no comma after the last one
    }
    return least;
  });
}

// ---- single values ----------------------------------------------------------------------------

// By arithmetic and by reading, where that is all it takes: elements that differ ask this of each of them.
bool ValueSets::has(SetId set, const std::string& canonical, const Work& work) {
  if (set == SetFormulas::kTrue || set == SetFormulas::kFalse) return set == SetFormulas::kTrue;
  const Type type = type_of(canonical);
  if (type == kString)
    return memoized(has_, std::uint64_t{set.value} << 32 | constant(canonical).value, [&] {
      const std::string_view spelled = std::string_view(canonical).substr(1, canonical.size() - 2);
      return has_text(parts(set, work).strings.language, spelled, work);
    });
  if (type == kNull || type == kFalse || type == kTrue) return parts(set, work).simple & type;
  if (type == kNumber)
    if (const auto known = parts(set, work).numbers.terms.has(canonical)) return *known;
  return lives(all({set, constant(canonical)}), work);
}

// Whether a set has a listed value, where that shows without a search.
std::optional<bool> ValueSets::has_listed(SetId set, const ListedValue& one, const Work& work) {
  if (const auto* const values = lists_.of_set_or_denied(set))
    return ListedValues::has(*values, one.value) != formulas_.is_denial(set);
  const auto decided = [](auto formula, auto all, auto none) {
    return formula == all || formula == none ? std::optional(formula == all) : std::nullopt;
  };
  const ValueParts& found = parts(set, work);
  switch (type_of(one.value)) {
    case kNumber: return found.numbers.terms.has(one.value);
    case kArray: return decided(found.arrays, ArrayFormulas::kTrue, ArrayFormulas::kFalse);
    case kObject: return decided(found.objects, ObjectFormulas::kTrue, ObjectFormulas::kFalse);
    default: return has(set, one.value, work);
  }
}

// Problem.  That of 300 numbers none is no integer would be proven by a search through all their spellings.
// How.  Numbers are compared with ranges, and strings are read.  What is not decided so stays a conjunction.
SetId ValueSets::as_listed(SetId set, const Work& work) {
  if (formulas_.operation(set) != Operation::All || !is_exact(set)) return set;
  const auto given = formulas_.operands(set);
  std::vector<SetId> others(given.begin(), given.end());
  const auto first = std::ranges::find_if(others, [&](SetId one) { return lists_.of(one) != nullptr; });
  if (first == others.end()) return set;
  const counted::vector<ListedValue>& list = *lists_.of(*first);
  others.erase(first);
  std::vector<SetId> values;
  bool is_decided = list.empty();
  for (const ListedValue& one : list) {
    std::vector<SetId> open{lists_.set_of(one)};
    bool is_in = true;
    for (const SetId other : others) {
      const std::optional<bool> known = has_listed(other, one, work);
      if (!known) open.push_back(other);
      is_in = is_in && known.value_or(true);
    }
    is_decided |= !is_in || open.size() <= others.size();
    if (is_in) values.push_back(all(std::move(open)));
  }
  return is_decided ? any(std::move(values)) : set;
}

void ValueSets::forget_expressions() {
  texts_.forget_expressions();
  evaluation_.forget();
  evaluation_.algebra().numbers().forget_expressions();
  release(parts_);
  objects_.forget_expressions();
  object_ends_.forget_expressions();
}

}  // namespace tokamata::json
