// How many values a set has, and of which kinds (ValueSets::count, kinds): elements that must differ need both.
//
// Problem.  {"items": S, "uniqueItems": true, "minItems": 3} has an array if S has three values: which may be strings
// of some pattern, numbers, arrays and objects, and arrays of S itself.
// How.  Part by part, and no further than requested.  1 and 1.0 are one value, and so are strings that are spelled in
// two ways: of both the plain spellings are counted; of numbers, which are many or few, the few are listed.
// A set that is within itself: Kleene's iteration.  Its count is 0 at first, and found again until it stays the same or
// is enough.  Example: S is 1, or an array of two of S that differ: 1 value, then 1, and there are no more.
// Source.  Least fixed points of monotone functions, Tarski and Kleene.

#include <algorithm>
#include <bit>
#include <set>

#include "common/memoized.hpp"
#include "common/within.hpp"
#include "json/canonical_value.hpp"
#include "json/leaves.hpp"
#include "json/value_sets.hpp"

namespace tokamata::json {

namespace {

constexpr std::size_t kMostKinds = 1024;  // of values: n sets distinguish up to 2^n

}  // namespace

std::uint64_t ValueSets::count(SetId set, std::uint64_t most, const Work& work) {
  if (most == 0 || set == Formulas<SetTag>::kFalse) return 0;
  if (set == Formulas<SetTag>::kTrue) return most;
  if (most == 1) return lives(set, work) ? 1 : 0;
  // Elements that differ ask for one more each time: counted further than that, it is counted a few times in all.
  constexpr std::uint64_t kMostRounded = std::uint64_t{1} << 40;
  return std::min(most, count_up_to(set, most <= kMostRounded ? std::bit_ceil(most) : most, work));
}

std::uint64_t ValueSets::count_up_to(SetId set, std::uint64_t most, const Work& work) {
  if (const auto known = counts_.find(set.value); known != counts_.end()) {
    const Counted& counted = known->second;
    if (counted.search == Search::Busy) {
      ++taints_;
      return std::min(most, counted.count);
    }
    if (counted.count < counted.most || counted.most >= most) return std::min(most, counted.count);
  }
  Within within(depth_, work.budget.limits().depth);
  const Undo undo([&] {  // of what did not come to its end
    if (const auto known = counts_.find(set.value); known != counts_.end() && known->second.search == Search::Busy)
      counts_.erase(known);
  });
  const std::uint64_t before = taints_;
  std::uint64_t found = 0;
  while (true) {
    counts_.insert_or_assign(set.value, Counted{Search::Busy, found, most});
    const std::uint64_t at_first = taints_, again = find_count(set, most, work);
    const bool is_settled = taints_ == at_first || again <= found;
    found = std::max(found, again);
    if (is_settled || found >= most) break;
  }
  // Found with sets around it still open: not known for good, unless nothing is around it.
  if (taints_ == before || depth_ == 1 || found >= most)
    counts_.insert_or_assign(set.value, Counted{Search::Done, found, most});
  return found;
}

// By arithmetic and by reading, where that is all it takes: elements that differ ask this of each of them.
bool ValueSets::has(SetId set, const std::string& canonical, const Work& work) {
  if (set == Formulas<SetTag>::kTrue || set == Formulas<SetTag>::kFalse) return set == Formulas<SetTag>::kTrue;
  switch (canonical[0]) {
    case 'n': return parts(set, work).simple & kNull;
    case 'f': return parts(set, work).simple & kFalse;
    case 't': return parts(set, work).simple & kTrue;
    case '"': break;
    case '[':
    case '{': return lives(all({set, constant(canonical)}), work);
    default: {
      const auto known = parts(set, work).number_terms.has(canonical);
      return known ? *known : lives(all({set, constant(canonical)}), work);
    }
  }
  return memoized(has_, std::uint64_t{set.value} << 32 | constant(canonical).value, [&] {
    ExpressionId rest = parts(set, work).strings;
    for (const char byte : canonical.substr(1, canonical.size() - 2))
      rest = work.arena.derivative(rest, static_cast<std::uint8_t>(byte), work.budget);
    return work.arena.node(rest).nullable;
  });
}

std::uint64_t ValueSets::find_count(SetId set, std::uint64_t most, const Work& work) {
  if (const auto* const list = listed(set)) return std::min<std::uint64_t>(most, list->size());
  if (const SetId values = as_listed(set, work); values != set) return count(values, most, work);
  const Parts found = parts(set, work);
  std::uint64_t count = 0;
  for (const Type type : {kNull, kFalse, kTrue}) count += (found.simple & type) ? 1 : 0;
  const auto left = [&] { return most - std::min(most, count); };
  if (found.number_terms.is_endless()) return most;
  if (found.number_terms.is_integer() && found.numbers != Arena::kEmpty) ++count;
  constexpr Count kEnoughCharacters = 4;  // there are over a million, and 2^64 strings of four
  if (found.text_lengths && !found.text_lengths->ranges().empty() &&
      found.text_lengths->ranges().back().maximum >= kEnoughCharacters)
    return most;
  if (found.strings != Arena::kEmpty && left() > 0)
    count += work.arena.count_texts(plain_texts(found.strings, work), left(), work.budget);
  if (found.numbers != Arena::kEmpty && !found.number_terms.is_integer() && left() > 0)
    count += count_numbers(found.numbers, left(), work);
  if (left() > 0) count += arrays_.count(found.arrays, left(), work);
  if (left() > 0) count += objects_.count(found.objects, *order(set), left(), work);
  return std::min(most, count);
}

// Of integers in digits alone, some: a lower bound that needs no proof that what is left of a number lives.
// Example.  Of multiples of 7 from 10 on, 14, 21, … 98 are met among the first hundred states.
// Why.  In spelling any, a proof for one state of numbers goes through thousands of zeros and exponents.
// Cost.  A derivative for each of so many beginnings as there are wanted values, times a constant; where thousands are
// wanted, nothing is found so, since Arena::count_texts counts ways and not texts.
std::uint64_t ValueSets::count_integers(ExpressionId numbers, std::uint64_t most, const Work& work) {
  constexpr std::uint64_t kBeginningsForEach = 16;  // value: multiples of 7 are one of seven integers
  constexpr std::uint64_t kMostWanted = 256;
  if (most > kMostWanted) return 0;
  std::uint64_t found = 0, steps = 0;
  std::vector<ExpressionId> open{numbers};
  for (std::size_t at = 0; at < open.size() && found < most && steps < kBeginningsForEach * most; ++at)
    for (const char digit : std::string_view("0123456789")) {
      work.budget.step();
      ++steps;
      const ExpressionId after = work.arena.derivative(open[at], static_cast<std::uint8_t>(digit), work.budget);
      if (after == Arena::kEmpty) continue;
      found += work.arena.node(after).nullable;
      if (at > 0 || digit != '0') open.push_back(after);
    }
  return found;
}

// By their plain spellings, of which each number has one, and few.  Not the integers first: that some set has none
// would be proven by a search.
std::uint64_t ValueSets::count_numbers(ExpressionId numbers, std::uint64_t most, const Work& work) {
  constexpr std::uint64_t kMostSpellings = 4;  // of a number in plain spelling
  std::vector<ExpressionId> both{numbers,
                                 work.arena.add(*number_texts({}, false, false, Spelling::Plain), work.budget)};
  const ExpressionId plain = spelling_ == Spelling::Plain ? numbers : work.arena.intersect(both);
  const std::uint64_t enough = kMostSpellings * most;
  if (count_integers(plain, most, work) >= most) return most;
  ExpressionId longer = plain;  // where the smallest integers are those that an enumeration denies
  for (const char digit : std::string_view("98765"))
    longer = work.arena.derivative(longer, static_cast<std::uint8_t>(digit), work.budget);
  if (count_integers(longer, most, work) >= most) return most;
  if (work.arena.count_texts(plain, enough, work.budget) >= enough) return most;
  std::set<std::string> values;
  for (const std::string& text : work.arena.some_texts(plain, enough, work.budget))
    values.insert(canonical_value(text));
  return std::min<std::uint64_t>(most, values.size());
}

// The kinds of the values that lists have, each value by itself: an enumeration of 300 objects would otherwise be met
// with and without each of the others.  A set that denies a list has it too.
// Example.  Of [1, 2, 3] and what is none of [2, 3, 4] there are {1}, which is in both, {2, 3}, and {4}, which is in
// none.
std::vector<ValueKind> ValueSets::listed_kinds(const std::vector<SetId>& sets, const std::vector<std::size_t>& lists) {
  // what it is called, which lists have it
  std::map<std::string_view, std::pair<SetId, std::vector<std::size_t>>> values;
  for (const std::size_t place : lists)
    for (const Listed& one : *listed_or_denied(sets[place])) {
      auto& [set, in] =
          values.try_emplace(one.value, Formulas<SetTag>::kFalse, std::vector<std::size_t>()).first->second;
      if (set == Formulas<SetTag>::kFalse) set = one.set;
      in.push_back(place);
    }
  std::map<std::vector<std::size_t>, std::vector<SetId>> kinds;  // by the lists that have the values
  for (const auto& [value, found] : values)
    kinds[found.second].push_back(found.first == Formulas<SetTag>::kFalse ? constant(std::string(value)) : found.first);
  ValueKind in_none{Formulas<SetTag>::kFalse, std::vector<bool>(sets.size())};
  for (const std::size_t place : lists) in_none.in[place] = is_denial(sets[place]);
  std::vector<ValueKind> found;
  for (auto& [in, members] : kinds) {
    ValueKind& kind = found.emplace_back(in_none);
    for (const std::size_t place : in) {
      kind.in[place] = !kind.in[place];
      // As the set that the schema names, where it does.
      if (!is_denial(sets[place]) && listed(sets[place])->size() == members.size()) kind.values = sets[place];
    }
    if (kind.values == Formulas<SetTag>::kFalse) kind.values = any(std::move(members));
  }
  return found;
}

ValueSets::Kinds ValueSets::kinds(const std::vector<SetId>& sets, bool with_outside, const Work& work) {
  const auto [place, is_new] = kinds_.try_emplace({sets, with_outside});
  if (!is_new && place->second) return place->second;
  const std::uint64_t taints = taints_;
  std::vector<std::size_t> lists, others;
  for (std::size_t i = 0; i < sets.size(); ++i)
    (listed_or_denied(sets[i]) && is_exact(sets[i]) ? lists : others).push_back(i);
  std::vector<ValueKind> found = listed_kinds(sets, lists);
  // In none of the lists, and in none of the other sets so far, if there is any.
  std::vector<SetId> denied;
  ValueKind outside{Formulas<SetTag>::kTrue, std::vector<bool>(sets.size())};
  for (const std::size_t i : lists) {
    outside.in[i] = is_denial(sets[i]);
    denied.push_back(outside.in[i] ? sets[i] : negate(sets[i]));
  }
  outside.values = all(std::move(denied));
  for (const std::size_t i : others) {
    const SetId set = sets[i];
    std::vector<ValueKind> next;
    const auto add = [&](const ValueKind& kind, SetId values, bool is_in) {
      if (!lives(values, work)) return;
      next.emplace_back(ValueKind{values, kind.in}).in[i] = is_in;
    };
    for (const ValueKind& kind : found) {
      add(kind, all({kind.values, set}), true);
      add(kind, all({kind.values, negate(set)}), false);
    }
    add(outside, all({outside.values, set}), true);
    outside.values = all({outside.values, negate(set)});
    found = std::move(next);
    if (found.size() > kMostKinds) throw LimitExceeded("states", kMostKinds);
  }
  if (found.size() > kMostKinds) throw LimitExceeded("states", kMostKinds);
  const auto is_wanted = [&](const ValueKind& kind) {
    return with_outside || std::ranges::find(kind.in, true) != kind.in.end();
  };
  std::erase_if(found, [&](const ValueKind& kind) { return !is_wanted(kind); });
  if (is_wanted(outside) && lives(outside.values, work)) found.push_back(std::move(outside));
  auto kept = make_counted<counted::vector<ValueKind>>(found.begin(), found.end());
  if (taints_ == taints) kinds_.insert_or_assign({sets, with_outside}, kept);
  return kept;
}

}  // namespace tokamata::json
