#include "json/array_formulas.hpp"

#include <algorithm>

#include "common/sort_unique.hpp"
#include "json/brancher.hpp"

namespace tokamata::json {

std::size_t ArrayAtomHash::operator()(const ArrayAtom& atom) const {
  std::uint64_t hash = static_cast<std::uint64_t>(atom.kind) + 1;
  for (const std::uint64_t field : {std::uint64_t{atom.subject}, atom.minimum, atom.maximum}) hash = mix(hash, field);
  return hash;
}

ArrayFormulas::ArrayFormulas(ValueSets& sets)
    : ContainerFormulas([this](std::vector<ArrayId>& conjuncts) { merge(conjuncts); }), sets_(sets) {}

// ---- atoms ------------------------------------------------------------------------------------

const ValueTable::Items& ArrayFormulas::items_of(const ArrayAtom& atom) const {
  return std::get<ValueTable::Items>(sets_.table().node({atom.subject}));
}

ArrayId ArrayFormulas::counted(const ArrayAtom& atom) {
  if (atom.minimum > atom.maximum) return kFalse;
  return atom.minimum == 0 && atom.maximum == kNoMaximum ? kTrue : make(atom);
}

// Several lengths are one.
void ArrayFormulas::merge(std::vector<ArrayId>& conjuncts) {
  Count minimum = 0, maximum = kNoMaximum;
  const auto is_length = [&](ArrayId f) {
    const ArrayAtom* const atom = atom_of(f);
    return atom && atom->kind == Kind::Length;
  };
  if (std::ranges::count_if(conjuncts, is_length) < 2) return;
  for (const ArrayId f : conjuncts) {
    if (!is_length(f)) continue;
    minimum = std::max(minimum, atom_of(f)->minimum);
    maximum = std::min(maximum, atom_of(f)->maximum);
  }
  std::erase_if(conjuncts, is_length);
  conjuncts.push_back(length(minimum, maximum));
}

// ---- ends and elements ------------------------------------------------------------------------

bool ArrayFormulas::accepts(ArrayId f) const {
  return holds(f, [&](std::uint32_t number) {
    const ArrayAtom& atom = atom_at(number);
    return atom.kind == Kind::Items || atom.kind == Kind::Unique || atom.minimum == 0;
  });
}

// What an atom says once one more element was read, by the conditions that the element fulfils.
ArrayId ArrayFormulas::after_element(const ArrayAtom& atom) {
  switch (atom.kind) {
    case Kind::Unique: return make(atom);  // rules compare the elements: distinct_elements.hpp
    case Kind::Length: return atom.maximum == 0 ? kFalse : length(one_less(atom.minimum), one_less(atom.maximum));
    case Kind::Items: {
      const ValueTable::Items& items = items_of(atom);
      const bool in_prefix = atom.minimum < items.prefix.size();
      const SetId set = sets_.set_of(in_prefix ? items.prefix[atom.minimum] : items.rest);
      ArrayAtom rest = atom;
      if (in_prefix) ++rest.minimum;
      const bool is_free = rest.minimum == items.prefix.size() && sets_.set_of(items.rest) == Formulas<SetTag>::kTrue;
      return all({condition(set), is_free ? kTrue : make(rest)});
    }
    case Kind::Contains: break;
  }
  const SetId set{atom.subject};
  const ArrayId with_one = atom.maximum == 0 ? kFalse : contains(set, one_less(atom.minimum), one_less(atom.maximum));
  const ArrayId passed = make(atom), is_in = condition(set);
  // Said so that what nobody needs is not denied: without a maximum one match more does no harm, without a
  // minimum one less.
  if (atom.maximum == kNoMaximum) return any({all({is_in, with_one}), passed});
  if (atom.minimum == 0) return any({with_one, all({negate(is_in), passed})});
  return any({all({is_in, with_one}), all({negate(is_in), passed})});
}

ArrayId ArrayFormulas::conditioned(ArrayId f) {
  return map(f, [&](ArrayId, std::uint32_t number) { return after_element(ArrayAtom(atom_at(number))); });
}

ArrayFormulas::Branches ArrayFormulas::branches(ArrayId f, const Work& work) {
  return memoized_if_untainted(sets_.recursion(), branches_, f.value,
                               [&] { return Brancher<ArrayTag>(*this, sets_, work).branches(conditioned(f)); });
}

// ---- elements that must differ ----------------------------------------------------------------

bool ArrayFormulas::tells_equal(ArrayId f) const {
  bool found = false;
  visit(f, [&](std::uint32_t number, bool, bool) { found |= atom_at(number).kind == Kind::Unique; });
  return found;
}

bool ArrayFormulas::wants_equal(ArrayId f) const {
  bool found = false;
  visit(f, [&](std::uint32_t number, bool, bool denied) { found |= denied && atom_at(number).kind == Kind::Unique; });
  return found;
}

ArrayId ArrayFormulas::with_uniqueness(ArrayId f, ArrayId is_unique) {
  return map(
      f, [&](ArrayId atom, std::uint32_t number) { return atom_at(number).kind == Kind::Unique ? is_unique : atom; });
}

Count ArrayFormulas::most_needed(ArrayId f) const {
  constexpr Count kMostCounted = Count{1} << 40;  // more elements than any text holds; sums of these do not overflow
  Count needed = 0;
  visit(f, [&](std::uint32_t number, bool wanted, bool denied) {
    const ArrayAtom& atom = atom_at(number);
    Count own = 0;
    if (atom.kind == Kind::Items) own = items_of(atom).prefix.size() - atom.minimum + (denied ? 1 : 0);
    else if (atom.kind == Kind::Unique) own = denied ? 2 : 0;
    else own = std::max(wanted ? atom.minimum : 0, denied && atom.maximum != kNoMaximum ? atom.maximum + 1 : 0);
    needed = std::min(kMostCounted, needed + std::min(kMostCounted, own));
  });
  return needed;
}

std::vector<SetId> ArrayFormulas::conditions(ArrayId f) {
  std::vector<SetId> sets;
  visit(f, [&](std::uint32_t number, bool, bool) {
    const ArrayAtom& atom = atom_at(number);
    if (atom.kind == Kind::Contains) sets.push_back({atom.subject});
    if (atom.kind != Kind::Items) return;
    const ValueTable::Items& items = items_of(atom);
    for (std::size_t i = atom.minimum; i < items.prefix.size(); ++i) sets.push_back(sets_.set_of(items.prefix[i]));
    sets.push_back(sets_.set_of(items.rest));
  });
  sort_unique(sets);
  std::erase(sets, Formulas<SetTag>::kTrue);
  std::erase(sets, Formulas<SetTag>::kFalse);
  return sets;
}

bool ArrayFormulas::takes_any_element(ArrayId f) const {
  return std::ranges::none_of(conjuncts(f), [&](ArrayId conjunct) {
    const ArrayAtom* const atom = atom_of(conjunct);
    if (!atom || atom->kind != Kind::Items) return false;
    const ValueTable::Items& items = items_of(*atom);
    const auto is_any = [&](ValueNode node) { return sets_.set_of(node) == Formulas<SetTag>::kTrue; };
    return !is_any(items.rest) &&
           std::none_of(items.prefix.begin() + static_cast<std::ptrdiff_t>(atom->minimum), items.prefix.end(), is_any);
  });
}

}  // namespace tokamata::json
