#include "json/array_formulas.hpp"

#include "common/memoized.hpp"
#include "json/array_search.hpp"

namespace tokamata::json {

ArrayFormulas::ArrayFormulas(ValueSets& sets)
    : sets_(sets), formulas_([this](std::vector<ArrayId>& conjuncts) { merge(conjuncts); }) {}

std::size_t ArrayFormulas::AtomHash::operator()(const Atom& atom) const {
  std::uint64_t hash = static_cast<std::uint64_t>(atom.kind) + 1;
  for (const std::uint64_t part : {std::uint64_t{atom.subject}, atom.minimum, atom.maximum}) hash = mix(hash, part);
  return hash;
}

ArrayId ArrayFormulas::make(const Atom& atom) {
  return formulas_.make_atom(numbered(atom_index_, atom, [&](std::uint32_t number) { put_at(atoms_, number, atom); }));
}

// ---- atoms ------------------------------------------------------------------------------------

ArrayId ArrayFormulas::items(ValueNode items) { return make({Kind::Items, items.value}); }

ArrayId ArrayFormulas::length(Count minimum, Count maximum) {
  if (minimum > maximum) return formulas_.kFalse;
  if (minimum == 0 && maximum == kNoMaximum) return formulas_.kTrue;
  return make({Kind::Length, 0, minimum, maximum});
}

ArrayId ArrayFormulas::contains(SetId set, Count minimum, Count maximum) {
  if (minimum > maximum) return formulas_.kFalse;
  if (minimum == 0 && maximum == kNoMaximum) return formulas_.kTrue;
  return make({Kind::Contains, set.value, minimum, maximum});
}

ArrayId ArrayFormulas::unique() { return make({Kind::Unique}); }

// Several lengths are one.
void ArrayFormulas::merge(std::vector<ArrayId>& conjuncts) {
  Count minimum = 0, maximum = kNoMaximum;
  const auto is_length = [&](ArrayId f) {
    return formulas_.operation(f) == Operation::Atom && !is_condition(formulas_.atom(f)) &&
           atoms_[formulas_.atom(f)].kind == Kind::Length;
  };
  if (std::ranges::count_if(conjuncts, is_length) < 2) return;
  for (const ArrayId f : conjuncts) {
    if (!is_length(f)) continue;
    minimum = std::max(minimum, atoms_[formulas_.atom(f)].minimum);
    maximum = std::min(maximum, atoms_[formulas_.atom(f)].maximum);
  }
  std::erase_if(conjuncts, is_length);
  conjuncts.push_back(length(minimum, maximum));
}

// ---- ends and elements ------------------------------------------------------------------------

bool ArrayFormulas::accepts(ArrayId f) const {
  return formulas_.holds(f, [&](std::uint32_t number) {
    const Atom& atom = atoms_[number];
    return atom.kind == Kind::Items || atom.kind == Kind::Unique || atom.minimum == 0;
  });
}

// What an atom says once one more element was read, by the conditions that the element fulfils.
ArrayId ArrayFormulas::after_element(const Atom& atom) {
  const auto condition = [&](SetId set) {
    if (set == Formulas<SetTag>::kTrue) return formulas_.kTrue;
    if (set == Formulas<SetTag>::kFalse) return formulas_.kFalse;
    return formulas_.make_atom(condition_atom(set));
  };
  switch (atom.kind) {
    case Kind::Unique: return make(atom);  // rules compare the elements: distinct_elements.hpp
    case Kind::Length:
      return atom.maximum == 0 ? formulas_.kFalse : length(one_less(atom.minimum), one_less(atom.maximum));
    case Kind::Items: {
      const auto& items = std::get<ValueTable::Items>(sets_.table().node({atom.subject}));
      const bool in_prefix = atom.minimum < items.prefix.size();
      const SetId set = sets_.set_of(in_prefix ? items.prefix[atom.minimum] : items.rest);
      Atom rest = atom;
      if (in_prefix) ++rest.minimum;
      const bool is_free = rest.minimum == items.prefix.size() && sets_.set_of(items.rest) == Formulas<SetTag>::kTrue;
      return formulas_.all({condition(set), is_free ? formulas_.kTrue : make(rest)});
    }
    case Kind::Contains: break;
  }
  const SetId set{atom.subject};
  const ArrayId counted =
      atom.maximum == 0 ? formulas_.kFalse : contains(set, one_less(atom.minimum), one_less(atom.maximum));
  const ArrayId passed = make(atom), is_in = condition(set);
  // Said so that what nobody needs is not denied: without a maximum one match more does no harm, without a
  // minimum one less.
  if (atom.maximum == kNoMaximum) return formulas_.any({formulas_.all({is_in, counted}), passed});
  if (atom.minimum == 0) return formulas_.any({counted, formulas_.all({formulas_.negate(is_in), passed})});
  return formulas_.any({formulas_.all({is_in, counted}), formulas_.all({formulas_.negate(is_in), passed})});
}

ArrayId ArrayFormulas::conditioned(ArrayId f) {
  return formulas_.map(f, [&](ArrayId, std::uint32_t number) { return after_element(Atom(atoms_[number])); });
}

ArrayFormulas::Branches ArrayFormulas::branches(ArrayId f, const Work& work) {
  if (const auto known = branches_.find(f.value); known != branches_.end()) return known->second;
  const std::uint64_t taints = sets_.taints();
  Brancher<ArrayTag, ValueSets> brancher(formulas_, sets_, work);
  auto found = brancher.branches(conditioned(f), Formulas<SetTag>::kTrue);
  std::erase_if(found, [&](const auto& branch) { return !sets_.lives(branch.value, work); });
  auto kept = std::make_shared<const std::vector<Branch<ArrayTag>>>(std::move(found));
  if (sets_.taints() == taints) branches_.insert_or_assign(f.value, kept);
  return kept;
}

std::optional<std::uint32_t> ArrayFormulas::some_length(ArrayId f, const Work& work) {
  if (f == formulas_.kFalse) return std::nullopt;
  if (accepts(f)) return 0;
  if (const auto known = lengths_.find(f.value); known != lengths_.end()) return known->second;
  const std::uint64_t taints = sets_.taints();
  const auto length = tells_equal(f) ? some_length(f, WrittenTexts(), work)
                                     : search(f, [&](SetId) { return true; }, [](auto&&...) {}, work);
  if (length || sets_.taints() == taints) lengths_.insert_or_assign(f.value, length);
  return length;
}

std::optional<std::uint32_t> ArrayFormulas::some_length(ArrayId f, const ElementLength& length, const Work& work) {
  if (f == formulas_.kFalse) return std::nullopt;
  return accepts(f) ? 0 : search(f, [](SetId) { return true; }, [](auto&&...) {}, work, &length);
}

}  // namespace tokamata::json
