#include "json/value_counts.hpp"

#include <algorithm>
#include <bit>
#include <set>

#include "expression/text_count.hpp"
#include "json/canonical_value.hpp"
#include "json/leaves.hpp"
#include "json/value_sets.hpp"

namespace tokamata::json {

ValueCounts::ValueCounts(ValueSets& sets)
    : sets_(sets), objects_(sets.objects(), sets.object_ends(), *this), counts_(sets.recursion()) {}

std::uint64_t ValueCounts::of(SetId set, std::uint64_t most, const Work& work) {
  if (most == 0 || set == SetFormulas::kFalse) return 0;
  if (set == SetFormulas::kTrue) return most;
  if (most == 1) return sets_.lives(set, work) ? 1 : 0;
  // Elements that differ ask for one more each time: counted further than that, it is counted a few times in all.
  constexpr std::uint64_t kMostRounded = std::uint64_t{1} << 40;
  return std::min(most, count_up_to(set, most <= kMostRounded ? std::bit_ceil(most) : most, work));
}

std::uint64_t ValueCounts::count_up_to(SetId set, std::uint64_t most, const Work& work) {
  if (const auto* const known = counts_.known(set.value)) {
    const Counted& counted = known->answer;
    if (known->is_open || counted.count < counted.most || counted.most >= most) return std::min(most, counted.count);
  }
  const auto is_enough = [&](const Counted& counted) { return counted.count >= most; };
  return counts_
      .search(set.value, Counted{0, most}, work.budget.limits().depth, is_enough,
              [&] { return Counted{find_count(set, most, work), most}; })
      .count;
}

std::uint64_t ValueCounts::find_count(SetId set, std::uint64_t most, const Work& work) {
  if (const auto* const list = sets_.lists().of(set)) return std::min<std::uint64_t>(most, list->size());
  if (const SetId values = sets_.as_listed(set, work); values != set) return of(values, most, work);
  const auto [simple, strings, numbers, arrays, objects] = sets_.parts(set, work);
  std::uint64_t count = 0;
  for (const Type type : {kNull, kFalse, kTrue}) count += (simple & type) ? 1 : 0;
  const auto left = [&] { return most - std::min(most, count); };
  if (numbers.terms.is_endless()) return most;
  if (numbers.terms.is_integer() && numbers.language != Pool::kEmpty) ++count;
  constexpr Count kEnoughCharacters = 4;  // there are over a million, and 2^64 strings of four
  if (strings.lengths && !strings.lengths->ranges().empty() &&
      strings.lengths->ranges().back().maximum >= kEnoughCharacters)
    return most;
  if (strings.language != Pool::kEmpty && left() > 0)
    count += count_texts(work.arena, sets_.texts().plain(strings.language, work), left(), work.budget);
  if (numbers.language != Pool::kEmpty && !numbers.terms.is_integer() && left() > 0)
    count += count_numbers(numbers.language, left(), work);
  if (left() > 0) count += sets_.array_ends().count(arrays, left(), work);
  if (left() > 0) count += objects_.of(objects, *sets_.order(set), left(), work);
  return std::min(most, count);
}

// Of integers in digits alone, some: a lower bound that needs no proof that what is left of a number lives.
// Example.  Of multiples of 7 from 10 on, 14, 21, … 98 are met among the first hundred states.
// Why.  In spelling any, a proof for one state of numbers goes through thousands of zeros and exponents.
// Cost.  A derivative for each of so many beginnings as there are wanted values, times a constant; where thousands are
// wanted, nothing is found so, since count_texts counts ways and not texts.
std::uint64_t ValueCounts::count_integers(ExpressionId numbers, std::uint64_t most, const Work& work) {
  constexpr std::uint64_t kBeginningsForEach = 16;  // value: multiples of 7 are one of seven integers
  constexpr std::uint64_t kMostIntegersWanted = 256;
  if (most > kMostIntegersWanted) return 0;
  std::uint64_t found = 0, steps = 0;
  std::vector<ExpressionId> open{numbers};
  for (std::size_t at = 0; at < open.size() && found < most && steps < kBeginningsForEach * most; ++at)
    for (const char digit : std::string_view("0123456789")) {
      work.budget.step();
      ++steps;
      const ExpressionId after =
          work.arena.derivatives().derivative(open[at], static_cast<std::uint8_t>(digit), work.budget);
      if (after == Pool::kEmpty) continue;
      found += work.arena.pool().node(after).nullable;
      if (at > 0 || digit != '0') open.push_back(after);
    }
  return found;
}

// By their plain spellings, of which each number has one, and few.  Not the integers first: that some set has none
// would be proven by a search.
std::uint64_t ValueCounts::count_numbers(ExpressionId numbers, std::uint64_t most, const Work& work) {
  std::vector<ExpressionId> both{numbers,
                                 work.arena.add(*number_texts({}, false, false, Spelling::Plain), work.budget)};
  const bool is_plain = sets_.formulas().spelling() == Spelling::Plain;
  const ExpressionId plain = is_plain ? numbers : work.arena.forms().intersect(both);
  const std::uint64_t enough = kMostPlainSpellings * most;
  if (count_integers(plain, most, work) >= most) return most;
  ExpressionId longer = plain;  // where the smallest integers are those that an enumeration denies
  for (const char digit : std::string_view("98765"))
    longer = work.arena.derivatives().derivative(longer, static_cast<std::uint8_t>(digit), work.budget);
  if (count_integers(longer, most, work) >= most) return most;
  if (count_texts(work.arena, plain, enough, work.budget) >= enough) return most;
  std::set<std::string> values;
  for (const std::string& text : some_texts(work.arena, plain, enough, work.budget))
    values.insert(canonical_value(text));
  return std::min<std::uint64_t>(most, values.size());
}

// The kinds of the values that lists have, each value by itself: an enumeration of 300 objects would otherwise be met
// with and without each of the others.  A set that denies a list has it too.
// Example.  Of [1, 2, 3] and what is none of [2, 3, 4] there are {1}, which is in both, {2, 3}, and {4}, which is in
// none.
std::vector<ValueKind> ValueCounts::listed_kinds(const std::vector<SetId>& sets,
                                                 const std::vector<std::size_t>& lists) {
  ListedValues& listed = sets_.lists();
  const auto is_denial = [&](std::size_t place) { return sets_.formulas().is_denial(sets[place]); };
  struct InLists {
    SetId set;                       // the value alone; kFalse where no list has a name for it
    std::vector<std::size_t> lists;  // that have it
  };
  std::map<std::string_view, InLists> values;
  for (const std::size_t place : lists)
    for (const ListedValue& one : *listed.of_set_or_denied(sets[place])) {
      InLists& found = values.try_emplace(one.value).first->second;
      if (found.set == SetFormulas::kFalse) found.set = one.set;
      found.lists.push_back(place);
    }
  std::map<std::vector<std::size_t>, std::vector<SetId>> kinds;  // by the lists that have the values
  for (const auto& [value, found] : values)
    kinds[found.lists].push_back(listed.set_of({std::string(value), found.set}));
  ValueKind in_none{SetFormulas::kFalse, std::vector<bool>(sets.size())};
  for (const std::size_t place : lists) in_none.in[place] = is_denial(place);
  std::vector<ValueKind> found;
  for (auto& [in, members] : kinds) {
    ValueKind& kind = found.emplace_back(in_none);
    for (const std::size_t place : in) {
      kind.in[place] = !kind.in[place];
      // As the set that the schema names, where it does.
      if (!is_denial(place) && listed.of(sets[place])->size() == members.size()) kind.values = sets[place];
    }
    if (kind.values == SetFormulas::kFalse) kind.values = sets_.any(std::move(members));
  }
  return found;
}

ValueCounts::Kinds ValueCounts::kinds(const std::vector<SetId>& sets, bool with_outside, const Work& work) {
  return memoized_if_untainted(sets_.recursion(), kinds_, std::pair(sets, with_outside),
                               [&] { return find_kinds(sets, with_outside, work); });
}

// First of the values that are listed, and then set by set: those in it and those outside of it.
ValueCounts::Kinds ValueCounts::find_kinds(const std::vector<SetId>& sets, bool with_outside, const Work& work) {
  std::vector<std::size_t> lists, others;
  for (std::size_t i = 0; i < sets.size(); ++i)
    (sets_.lists().of_set_or_denied(sets[i]) && sets_.is_exact(sets[i]) ? lists : others).push_back(i);
  std::vector<ValueKind> found = listed_kinds(sets, lists);
  // In none of the lists, and in none of the other sets so far, if there is any.
  std::vector<SetId> denied;
  ValueKind outside{SetFormulas::kTrue, std::vector<bool>(sets.size())};
  for (const std::size_t i : lists) {
    outside.in[i] = sets_.formulas().is_denial(sets[i]);
    denied.push_back(outside.in[i] ? sets[i] : sets_.negate(sets[i]));
  }
  outside.values = sets_.all(std::move(denied));
  for (const std::size_t i : others) {
    const SetId set = sets[i];
    std::vector<ValueKind> next;
    const auto add = [&](const ValueKind& kind, SetId among, bool is_in) {
      const SetId values = sets_.all({kind.values, among});
      if (sets_.lives(values, work)) next.emplace_back(ValueKind{values, kind.in}).in[i] = is_in;
    };
    for (const ValueKind& kind : found) {
      add(kind, set, true);
      add(kind, sets_.negate(set), false);
    }
    add(outside, set, true);
    outside.values = sets_.all({outside.values, sets_.negate(set)});
    found = std::move(next);
    if (found.size() > kMostKinds) throw LimitExceeded("states", kMostKinds);
  }
  if (found.size() > kMostKinds) throw LimitExceeded("states", kMostKinds);
  const auto is_unwanted = [&](const ValueKind& kind) {
    return !with_outside && std::ranges::find(kind.in, true) == kind.in.end();
  };
  std::erase_if(found, is_unwanted);
  if (!is_unwanted(outside) && sets_.lives(outside.values, work)) found.push_back(std::move(outside));
  return make_counted<counted::vector<ValueKind>>(found.begin(), found.end());
}

}  // namespace tokamata::json
