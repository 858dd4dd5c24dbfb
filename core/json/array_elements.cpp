// Elements that must differ: whether there are enough values for them.
//
// Problem.  {"items": {"enum": [1, 2]}, "uniqueItems": true, "minItems": 2}: after [1 there must be a 2; with minItems
// 3 there is no array at all, and nobody may begin one.  With [[1,2], [1], …] as the sets of the first elements, the
// first must be 2.
// How.  All that a formula will ever ask of an element is whether it is in some sets, so that values fall into *kinds*,
// and one of a kind is as good as another.  How many are left of each kind, and what is left to fulfil, is all that
// matters: a search over these.  Mostly it need not be made, since a way leads over sets of which there are more
// values than elements will ever be needed.
// Example.  enum [1, 2, 3] and contains 3: kinds {1, 2}, of which there are 2, and {3}.
// Bound.  A shortest array holds no more elements than its prefix has, and its minima ask for together: all others may
// be left out.
// Elements that are equal, where a formula asks for them, repeat what is seen, or what the search has taken, or the
// element that is being written.  Its length counts too: without a length, each byte of [[{ would start a search for a
// text that ends the array, among all values there are.
// Cost.  2^n kinds for n sets at worst, and the product of the numbers of their values: bounded by Limits, and small
// for the schemas in use, whose sets are one or two.

#include <algorithm>

#include "json/array_search.hpp"

namespace tokamata::json {

// ---- formulas ---------------------------------------------------------------------------------

bool ArrayFormulas::tells_equal(ArrayId f) const {
  bool found = false;
  formulas_.visit(f, [&](std::uint32_t number, bool, bool) { found |= atoms_[number].kind == Kind::Unique; });
  return found;
}

bool ArrayFormulas::wants_equal(ArrayId f) const {
  bool found = false;
  formulas_.visit(
      f, [&](std::uint32_t number, bool, bool denied) { found |= denied && atoms_[number].kind == Kind::Unique; });
  return found;
}

ArrayId ArrayFormulas::with_equal(ArrayId f) {
  return formulas_.map(f, [&](ArrayId atom, std::uint32_t number) {
    return atoms_[number].kind == Kind::Unique ? formulas_.kFalse : atom;
  });
}

// The formula where no two elements are equal, of those before and those to come.
ArrayId ArrayFormulas::with_none_equal(ArrayId f) {
  return formulas_.map(f, [&](ArrayId atom, std::uint32_t number) {
    return atoms_[number].kind == Kind::Unique ? formulas_.kTrue : atom;
  });
}

// No shortest array has more elements.
Count ArrayFormulas::most_needed(ArrayId f) const {
  constexpr Count kMostCounted = Count{1} << 40;  // more elements than any text holds; sums of these do not overflow
  Count needed = 0;
  formulas_.visit(f, [&](std::uint32_t number, bool wanted, bool denied) {
    const Atom& atom = atoms_[number];
    Count own = 0;
    if (atom.kind == Kind::Items)
      own = std::get<ValueTable::Items>(sets_.table().node({atom.subject})).prefix.size() - atom.minimum +
            (denied ? 1 : 0);
    else if (atom.kind == Kind::Unique) own = denied ? 2 : 0;
    else own = std::max(wanted ? atom.minimum : 0, denied && atom.maximum != kNoMaximum ? atom.maximum + 1 : 0);
    needed = std::min(kMostCounted, needed + std::min(kMostCounted, own));
  });
  return needed;
}

// The sets that it will ask of elements to come.
std::vector<SetId> ArrayFormulas::conditions(ArrayId f) {
  std::vector<SetId> sets;
  formulas_.visit(f, [&](std::uint32_t number, bool, bool) {
    const Atom& atom = atoms_[number];
    if (atom.kind == Kind::Contains) sets.push_back({atom.subject});
    if (atom.kind != Kind::Items) return;
    const auto& items = std::get<ValueTable::Items>(sets_.table().node({atom.subject}));
    for (std::size_t i = atom.minimum; i < items.prefix.size(); ++i) sets.push_back(sets_.set_of(items.prefix[i]));
    sets.push_back(sets_.set_of(items.rest));
  });
  std::ranges::sort(sets);
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  std::erase(sets, Formulas<SetTag>::kTrue);
  std::erase(sets, Formulas<SetTag>::kFalse);
  return sets;
}

// Whether an element may be in none of its sets.
bool ArrayFormulas::takes_any_element(ArrayId f) const {
  return std::ranges::none_of(formulas_.conjuncts(f), [&](ArrayId part) {
    if (formulas_.operation(part) != Operation::Atom || atoms_[formulas_.atom(part)].kind != Kind::Items) return false;
    const Atom& atom = atoms_[formulas_.atom(part)];
    const auto& items = std::get<ValueTable::Items>(sets_.table().node({atom.subject}));
    const auto is_any = [&](ValueNode node) { return sets_.set_of(node) == Formulas<SetTag>::kTrue; };
    return !is_any(items.rest) &&
           std::none_of(items.prefix.begin() + static_cast<std::ptrdiff_t>(atom.minimum), items.prefix.end(), is_any);
  });
}

// What is left after an element of a kind.
ArrayId ArrayFormulas::after_kind(ArrayId f, const Supply& supply, std::size_t kind) {
  return decided(formulas_, conditioned(f), supply.conditions, (*supply.kinds)[kind]);
}

// ---- how many are left ------------------------------------------------------------------------

ArrayFormulas::Supply ArrayFormulas::supply(ArrayId f, const WrittenTexts& seen, Count needed, const Work& work) {
  Supply found{conditions(f), nullptr, {}, {}, {}};
  found.kinds = sets_.kinds(found.conditions, takes_any_element(f), work);
  const std::uint64_t plenty = needed + seen.size() + 1;
  const std::vector<std::string> values = seen.strings();
  const bool repeats = wants_equal(f);
  for (const ValueKind& kind : *found.kinds) {
    work.budget.step();
    const std::uint64_t all = sets_.count(kind.values, plenty, work);
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
void ArrayFormulas::visit_ways(ArrayId f, const Supply& supply, const std::vector<std::uint64_t>& left, Visit&& visit) {
  for (std::size_t kind = 0; kind < left.size(); ++kind) {
    const ArrayId rest = after_kind(f, supply, kind);
    if (rest == formulas_.kFalse) continue;
    const bool is_plenty = left[kind] >= kPlentyUsed;
    if (!tells_equal(rest)) {
      visit(kind, is_plenty ? kPlenty : supply.all[kind], false, rest, std::vector<std::uint64_t>());
      continue;
    }
    if (left[kind] > 0) {
      std::vector<std::uint64_t> less = left;
      less[kind] = is_plenty ? kPlentyUsed : left[kind] - 1;
      visit(kind, left[kind], false, rest, std::move(less));
    }
    const bool is_used = is_plenty ? left[kind] == kPlentyUsed : left[kind] < supply.all[kind];
    const ArrayId equal = is_used ? with_equal(rest) : formulas_.kFalse;
    if (equal != formulas_.kFalse)
      visit(kind, is_plenty ? 1 : supply.all[kind] - left[kind], true, equal, std::vector<std::uint64_t>());
  }
}

// ---- ends -------------------------------------------------------------------------------------

// Bytes of a way over sets that have more than so many values; nothing where there is no such way.
std::optional<std::uint32_t> ArrayFormulas::among_plenty(ArrayId f, Count needed, const Work& work) {
  if (const auto known = enough_.find(f.value); known != enough_.end() && known->second.needed >= needed)
    return known->second.length;
  // Such a way has no equal elements.  Without this, a way to two of them would be looked for through all lengths up to
  // maxItems.
  if (with_none_equal(f) == formulas_.kFalse) return std::nullopt;
  const auto is_usable = [&](SetId set) { return sets_.count(set, needed + 1, work) > needed; };
  const auto done = [&](ArrayId on_way, std::uint32_t length) {
    Enough& enough = enough_.try_emplace(on_way.value, Enough{needed, length}).first->second;
    if (enough.needed < needed) enough = {needed, length};
  };
  return search(f, is_usable, done, work);
}

std::optional<std::uint32_t> ArrayFormulas::some_length(ArrayId f, const WrittenTexts& seen, const Work& work) {
  if (f == formulas_.kFalse) return std::nullopt;
  if (accepts(f)) return 0;
  if (!tells_equal(f)) return some_length(f, work);
  const Count needed = most_needed(f);
  if (const auto length = among_plenty(f, needed + seen.size(), work)) return length;
  return distinct_length(f, supply(f, seen, needed, work), work);
}

// Cheapest first, over what is left of the formula and of the kinds.
std::optional<std::uint32_t> ArrayFormulas::distinct_length(ArrayId f, const Supply& supply, const Work& work) {
  // no value may be an element
  if (supply.left.empty()) return accepts(f) ? std::optional<std::uint32_t>(0) : std::nullopt;
  // what is left; of kinds nothing where that does not matter
  using Place = std::pair<std::uint32_t, std::vector<std::uint64_t>>;
  const Place start{f.value, supply.left};
  std::pair<std::uint32_t, counted::vector<std::uint64_t>> question{f.value, {supply.left.begin(), supply.left.end()}};
  for (const auto& more : {supply.all, supply.repeated})
    question.second.insert(question.second.end(), more.begin(), more.end());
  if (const auto known = distinct_lengths_.find(question); known != distinct_lengths_.end()) return known->second;
  const std::uint64_t taints = sets_.taints();
  CheapestFirst<std::map<Place, std::uint32_t>> open;
  open.reach(start, 0);
  std::optional<std::uint32_t> found;
  while (const auto next_open = open.take()) {
    const auto& [so_far, at] = *next_open;
    work.budget.step();
    const ArrayId here{at.first};
    if (accepts(here) || at.second.empty()) {  // its length was added when it was reached
      found = so_far;
      break;
    }
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
  if (found || sets_.taints() == taints) distinct_lengths_.insert_or_assign(std::move(question), found);
  return found;
}

// Calls `visit(those of the values, kind)` for each kind that some values are of, and last for those of no kind,
// without one:  they ask for nothing that is to come, and take nothing from it.  These are in none of the sets that
// tell kinds apart, which is said by these sets: that integers are in no kind of integers would take a search.
template <class Visit>
void ArrayFormulas::visit_kinds(SetId values, ArrayId rest, const Supply& supply, Visit&& visit, const Work& work) {
  for (std::size_t kind = 0; kind < supply.kinds->size(); ++kind)
    if (const SetId both = sets_.all({values, (*supply.kinds)[kind].values}); sets_.lives(both, work))
      visit(both, std::optional(kind));
  if (takes_any_element(rest)) return;
  std::vector<SetId> outside{values};
  for (const SetId set : supply.conditions) outside.push_back(sets_.negate(set));
  if (const SetId none = sets_.all(std::move(outside)); sets_.lives(none, work))
    visit(none, std::optional<std::size_t>());
}

ArrayFormulas::After ArrayFormulas::after(ArrayId rest, SetId values, const WrittenTexts& seen, const Work& work) {
  if (accepts(rest)) return {0, kEndless};
  const Count needed = most_needed(rest);
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

ArrayFormulas::Fresh ArrayFormulas::fresh(const Branch<ArrayTag>& way, const WrittenTexts& seen, const Work& work) {
  const Count needed = most_needed(way.rest);
  const bool is_endable = accepts(way.rest) || among_plenty(way.rest, needed + seen.size() + 1, work);
  const bool is_compared = seen.size() == 0 || !work.arena.narrows_always();
  if (is_endable && is_compared && sets_.count(way.value, seen.size() + 1, work) > seen.size())
    return {way.value, seen.size() == 0};
  if (!is_endable && is_compared) {
    const SetId leading = leading_values(way, way.value, seen, work);
    if (sets_.count(leading, seen.size() + 1, work) > seen.size()) return {leading, seen.size() == 0};
  }
  std::vector<SetId> parts{way.value};
  for (const std::string& value : seen.strings()) {
    work.budget.step();
    if (sets_.has(way.value, value, work)) parts.push_back(sets_.negate(sets_.constant(value)));
  }
  const SetId values = sets_.all(parts);
  if (!sets_.lives(values, work)) return {Formulas<SetTag>::kFalse, true};
  return {is_endable ? values : leading_values(way, values, seen, work), true};
}

// Of the values those that are of a kind after one more of which the array can still be ended.
SetId ArrayFormulas::leading_values(const Branch<ArrayTag>& way, SetId values, const WrittenTexts& seen,
                                    const Work& work) {
  const Supply before = supply(way.rest, seen, most_needed(way.rest) + 1, work);
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

// As Arena::count_texts: all arrays at once, element by element.
std::uint64_t ArrayFormulas::count(ArrayId f, std::uint64_t most, const Work& work) {
  if (most == 0 || !some_length(f, work)) return 0;
  const Supply all = supply(f, {}, most, work);
  using Place = std::pair<std::uint32_t, std::vector<std::uint64_t>>;
  const auto start = tells_equal(f) ? all.left : std::vector<std::uint64_t>();
  std::map<Place, std::uint64_t> ways{{{f.value, start}, 1}};
  std::uint64_t found = 0;
  while (!ways.empty()) {
    std::map<Place, std::uint64_t> longer;
    std::uint64_t further = 0;
    for (const auto& [place, ways_here] : ways) {
      const std::uint64_t so_many = ways_here;
      const ArrayId here{place.first};
      work.budget.step();
      if (accepts(here)) found = std::min(most, found + so_many);
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
