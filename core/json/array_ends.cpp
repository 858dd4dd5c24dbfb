#include "json/array_ends.hpp"

#include <algorithm>

#include "common/best_first.hpp"
#include "json/value_sets.hpp"

namespace tokamata::json {

// ---- ends -------------------------------------------------------------------------------------

// Elements are taken of sets that are usable.  Where there is a way, calls `done(formula, bytes that it still needs)`
// for the formulas on it.
template <class IsUsable, class Done>
std::optional<std::uint32_t> ArrayEnds::search(ArrayId f, IsUsable&& is_usable, Done&& done, const Work& work,
                                               const ElementLength* length_of) {
  CheapestFirst<std::unordered_map<ArrayId, std::uint32_t>> open;  // lengths by formula
  std::unordered_map<ArrayId, ArrayId> reached_from;
  open.reach(f, 0);
  while (const auto next_open = open.take()) {
    const auto [so_far, at] = *next_open;
    work.budget.step();
    if (formulas_.accepts(at)) {
      for (ArrayId on_path = at;; on_path = reached_from.at(on_path)) {
        done(on_path, so_far - open.costs().at(on_path));
        if (on_path == f) return so_far;
      }
    }
    const ArrayFormulas::Branches next = formulas_.branches(at, work);
    for (const Branch<ArrayTag>& branch : *next) {
      if (!is_usable(branch.value)) continue;
      const std::optional<std::uint32_t> element =
          length_of ? (*length_of)(branch.value) : sets_.some_length(branch.value, work);
      if (!element) continue;
      const std::uint32_t length = capped_sum(so_far, *element, length_of ? 0 : 1);
      if (open.reach(branch.rest, length)) reached_from.insert_or_assign(branch.rest, at);
    }
  }
  return std::nullopt;
}

std::optional<std::uint32_t> ArrayEnds::some_length(ArrayId f, const Work& work) {
  if (f == formulas_.kFalse) return std::nullopt;
  if (formulas_.accepts(f)) return 0;
  const auto find = [&] {
    return formulas_.tells_equal(f) ? some_length(f, WrittenTexts(), work)
                                    : search(f, [&](SetId) { return true; }, [](auto&&...) {}, work);
  };
  return memoized_if_untainted(sets_.recursion(), lengths_, f.value, find, kAnythingIsEnough);
}

std::optional<std::uint32_t> ArrayEnds::some_length(ArrayId f, const ElementLength& length, const Work& work) {
  if (f == formulas_.kFalse) return std::nullopt;
  return formulas_.accepts(f) ? 0 : search(f, [](SetId) { return true; }, [](auto&&...) {}, work, &length);
}

// ---- how many are left ------------------------------------------------------------------------

ArrayEnds::Supply ArrayEnds::supply(ArrayId f, const WrittenTexts& seen, Count needed, const Work& work) {
  Supply found{formulas_.conditions(f), nullptr, {}, {}, {}};
  found.kinds = sets_.counts().kinds(found.conditions, formulas_.takes_any_element(f), work);
  const std::uint64_t plenty = needed + seen.size() + 1;
  const std::vector<std::string> values = seen.strings();
  const bool repeats = formulas_.wants_equal(f);
  for (const ValueKind& kind : *found.kinds) {
    work.budget.step();
    const std::uint64_t all = sets_.counts().of(kind.values, plenty, work);
    std::uint64_t used = 0, repeated = kEndless;
    for (const std::string& value : values) {
      work.budget.step();
      if (!sets_.has(kind.values, value, work)) continue;
      ++used;
      if (!repeats) continue;
      const auto length = sets_.some_length(sets_.all({kind.values, sets_.constant(value)}), work);
      repeated = std::min<std::uint64_t>(repeated, length.value_or(kEndless));
    }
    found.repeated.push_back(repeated);
    found.all.push_back(all);
    found.left.push_back(all < plenty ? all - std::min(all, used) : used > 0 ? kPlentyUsed : kPlenty);
  }
  return found;
}

// Calls `visit(kind, values to choose from, whether one is repeated, what is left of the formula, what is left of the
// kinds)` for each way to go on with one element; what is left of kinds is empty where it does not matter any more.
template <class Visit>
void ArrayEnds::visit_ways(ArrayId f, const Supply& supply, const std::vector<std::uint64_t>& left, Visit&& visit) {
  for (std::size_t kind = 0; kind < left.size(); ++kind) {
    const ArrayId rest = formulas_.after(f, supply.conditions, (*supply.kinds)[kind]);
    if (rest == formulas_.kFalse) continue;
    const bool is_plenty = left[kind] >= kPlentyUsed;
    if (!formulas_.tells_equal(rest)) {
      visit(kind, is_plenty ? kPlenty : supply.all[kind], false, rest, std::vector<std::uint64_t>());
      continue;
    }
    if (left[kind] > 0) {
      std::vector<std::uint64_t> less = left;
      less[kind] = is_plenty ? kPlentyUsed : left[kind] - 1;
      visit(kind, left[kind], false, rest, std::move(less));
    }
    const bool is_used = is_plenty ? left[kind] == kPlentyUsed : left[kind] < supply.all[kind];
    const ArrayId equal = is_used ? formulas_.with_equal(rest) : formulas_.kFalse;
    if (equal != formulas_.kFalse)
      visit(kind, is_plenty ? 1 : supply.all[kind] - left[kind], true, equal, std::vector<std::uint64_t>());
  }
}

// ---- elements that must differ ----------------------------------------------------------------

// Bytes of a way over sets that have more than so many values; nothing where there is no such way.
std::optional<std::uint32_t> ArrayEnds::among_plenty(ArrayId f, Count needed, const Work& work) {
  if (const auto known = enough_.find(f.value); known != enough_.end() && known->second.needed >= needed)
    return known->second.length;
  // Such a way has no equal elements.  Without this, a way to two of them would be looked for through all lengths up to
  // maxItems.
  if (formulas_.with_none_equal(f) == formulas_.kFalse) return std::nullopt;
  const auto is_usable = [&](SetId set) { return sets_.counts().of(set, needed + 1, work) > needed; };
  const auto done = [&](ArrayId on_way, std::uint32_t length) {
    Enough& enough = enough_.try_emplace(on_way.value, Enough{needed, length}).first->second;
    if (enough.needed < needed) enough = {needed, length};
  };
  return search(f, is_usable, done, work);
}

std::optional<std::uint32_t> ArrayEnds::some_length(ArrayId f, const WrittenTexts& seen, const Work& work) {
  if (f == formulas_.kFalse) return std::nullopt;
  if (formulas_.accepts(f)) return 0;
  if (!formulas_.tells_equal(f)) return some_length(f, work);
  const Count needed = formulas_.most_needed(f);
  if (const auto length = among_plenty(f, needed + seen.size(), work)) return length;
  return distinct_length(f, supply(f, seen, needed, work), work);
}

std::optional<std::uint32_t> ArrayEnds::distinct_length(ArrayId f, const Supply& supply, const Work& work) {
  // no value may be an element
  if (supply.left.empty()) return formulas_.accepts(f) ? std::optional<std::uint32_t>(0) : std::nullopt;
  std::pair<std::uint32_t, counted::vector<std::uint64_t>> question{f.value, {supply.left.begin(), supply.left.end()}};
  for (const auto& more : {supply.all, supply.repeated})
    question.second.insert(question.second.end(), more.begin(), more.end());
  const auto find = [&] { return search_distinct(f, supply, work); };
  return memoized_if_untainted(sets_.recursion(), distinct_lengths_, question, find, kAnythingIsEnough);
}

// Cheapest first, over what is left of the formula and of the kinds.
std::optional<std::uint32_t> ArrayEnds::search_distinct(ArrayId f, const Supply& supply, const Work& work) {
  // what is left; of kinds nothing where that does not matter
  using Place = std::pair<std::uint32_t, std::vector<std::uint64_t>>;
  CheapestFirst<std::map<Place, std::uint32_t>> open;
  open.reach({f.value, supply.left}, 0);
  while (const auto next_open = open.take()) {
    const auto& [so_far, at] = *next_open;
    work.budget.step();
    const ArrayId here{at.first};
    // Where kinds do not matter any more, the length of the rest was added when it was reached.
    if (formulas_.accepts(here) || at.second.empty()) return so_far;
    visit_ways(
        here, supply, at.second,
        [&](std::size_t kind, std::uint64_t, bool is_repeated, ArrayId rest, std::vector<std::uint64_t> left) {
          const auto shortest = sets_.some_length((*supply.kinds)[kind].values, work);
          const auto further = left.empty() ? some_length(rest, work) : std::optional<std::uint32_t>(0);
          if (!shortest || !further) return;
          // One that the search itself took is as short as they come.
          const bool is_seen = is_repeated && supply.repeated[kind] != kEndless && at.second[kind] == supply.left[kind];
          const std::uint32_t length = capped_sum(so_far, is_seen ? supply.repeated[kind] : *shortest, 1, *further);
          open.reach({rest.value, std::move(left)}, length);
        });
  }
  return std::nullopt;
}

// Calls `visit(those of the values, kind)` for each kind that some values are of, and last for those of no kind,
// without one:  they ask for nothing that is to come, and take nothing from it.  These are in none of the sets that
// tell kinds apart, which is said by these sets: that integers are in no kind of integers would take a search.
template <class Visit>
void ArrayEnds::visit_kinds(SetId values, ArrayId rest, const Supply& supply, Visit&& visit, const Work& work) {
  for (std::size_t kind = 0; kind < supply.kinds->size(); ++kind)
    if (const SetId both = sets_.all({values, (*supply.kinds)[kind].values}); sets_.lives(both, work))
      visit(both, std::optional(kind));
  if (formulas_.takes_any_element(rest)) return;
  std::vector<SetId> outside{values};
  for (const SetId set : supply.conditions) outside.push_back(sets_.negate(set));
  if (const SetId none = sets_.all(std::move(outside)); sets_.lives(none, work))
    visit(none, std::optional<std::size_t>());
}

ArrayEnds::After ArrayEnds::after(ArrayId rest, SetId values, const WrittenTexts& seen, const Work& work) {
  if (formulas_.accepts(rest)) return {0, kEndless};
  const Count needed = formulas_.most_needed(rest);
  if (const auto length = among_plenty(rest, needed + seen.size() + 1, work)) return {*length, kEndless};
  const Supply before = supply(rest, seen, needed + 1, work);
  After worst{0, 0};  // of all kinds, since it is not known yet of which the element will be
  const auto note = [&](std::uint64_t After::* where, const Supply& left) {
    const auto length = distinct_length(rest, left, work);
    worst.*where = std::max<std::uint64_t>(worst.*where, length ? *length : kEndless);
  };
  visit_kinds(
      values, rest, before,
      [&](SetId, std::optional<std::size_t> kind) {
        Supply left = before;
        if (kind && left.left[*kind] == 0) return;
        const bool is_plenty = kind && left.left[*kind] >= kPlentyUsed;
        if (kind && !is_plenty) --left.left[*kind], --left.all[*kind];  // as if there never had been such a value
        note(&After::alone, left);
        if (kind) {
          left.all[*kind] = before.all[*kind];
          if (is_plenty) left.left[*kind] = kPlentyUsed;
          left.repeated[*kind] = 0;
        }
        note(&After::beside, left);
      },
      work);
  return worst;
}

ArrayEnds::Fresh ArrayEnds::fresh(const Branch<ArrayTag>& way, const WrittenTexts& seen, const Work& work) {
  const Count needed = formulas_.most_needed(way.rest);
  const bool is_endable = formulas_.accepts(way.rest) || among_plenty(way.rest, needed + seen.size() + 1, work);
  const bool is_compared = seen.size() == 0 || !work.arena.narrows_always();
  if (is_endable && is_compared && sets_.counts().of(way.value, seen.size() + 1, work) > seen.size())
    return {way.value, seen.size() == 0};
  if (!is_endable && is_compared) {
    const SetId leading = leading_values(way, way.value, seen, work);
    if (sets_.counts().of(leading, seen.size() + 1, work) > seen.size()) return {leading, seen.size() == 0};
  }
  std::vector<SetId> conjuncts{way.value};
  for (const std::string& value : seen.strings()) {
    work.budget.step();
    if (sets_.has(way.value, value, work)) conjuncts.push_back(sets_.negate(sets_.constant(value)));
  }
  const SetId values = sets_.all(std::move(conjuncts));
  if (!sets_.lives(values, work)) return {Formulas<SetTag>::kFalse, true};
  return {is_endable ? values : leading_values(way, values, seen, work), true};
}

// Of the values those that are of a kind after one more of which the array can still be ended.
SetId ArrayEnds::leading_values(const Branch<ArrayTag>& way, SetId values, const WrittenTexts& seen, const Work& work) {
  const Supply before = supply(way.rest, seen, formulas_.most_needed(way.rest) + 1, work);
  std::vector<SetId> leading;
  bool is_all = true;
  visit_kinds(
      values, way.rest, before,
      [&](SetId of_kind, std::optional<std::size_t> kind) {
        Supply left = before;
        const bool is_left = !kind || left.left[*kind] > 0;
        if (kind && is_left) left.left[*kind] = left.left[*kind] >= kPlentyUsed ? kPlentyUsed : left.left[*kind] - 1;
        if (is_left && distinct_length(way.rest, left, work)) leading.push_back(of_kind);
        else is_all = false;
      },
      work);
  return is_all ? values : sets_.any(std::move(leading));
}

// ---- how many arrays --------------------------------------------------------------------------

// As count_texts (expression/text_count.hpp): all arrays at once, element by element.
std::uint64_t ArrayEnds::count(ArrayId f, std::uint64_t most, const Work& work) {
  if (most == 0 || !some_length(f, work)) return 0;
  const Supply all = supply(f, {}, most, work);
  using Place = std::pair<std::uint32_t, std::vector<std::uint64_t>>;
  const auto start = formulas_.tells_equal(f) ? all.left : std::vector<std::uint64_t>();
  std::map<Place, std::uint64_t> ways{{{f.value, start}, 1}};
  std::uint64_t found = 0;
  while (!ways.empty()) {
    std::map<Place, std::uint64_t> longer;
    std::uint64_t further = 0;
    for (const auto& [place, ways_here] : ways) {
      const std::uint64_t so_many = ways_here;
      const ArrayId here{place.first};
      work.budget.step();
      if (formulas_.accepts(here)) found = std::min(most, found + so_many);
      if (found >= most) return most;
      visit_ways(here, all, place.second.empty() ? all.left : place.second,
                 [&](std::size_t, std::uint64_t values, bool, ArrayId rest, std::vector<std::uint64_t> left) {
                   Supply then = all;
                   if (!left.empty()) then.left = left;
                   if (!(left.empty() ? some_length(rest, work) : distinct_length(rest, then, work))) return;
                   const std::uint64_t reached = capped_product(values, so_many, most);
                   std::uint64_t& sum = longer[{rest.value, std::move(left)}];
                   sum = std::min(most, sum + reached);
                   further = std::min(most, further + reached);
                 });
    }
    if (found + further >= most) return most;
    ways = std::move(longer);
  }
  return found;
}

}  // namespace tokamata::json
