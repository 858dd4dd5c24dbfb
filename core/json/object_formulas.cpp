#include "json/object_formulas.hpp"

#include <algorithm>

#include "common/memoized.hpp"
#include "common/sort_unique.hpp"
#include "json/brancher.hpp"

namespace tokamata::json {

std::size_t ObjectAtomHash::operator()(const ObjectAtom& atom) const {
  std::uint64_t hash = static_cast<std::uint64_t>(atom.kind) + 1;
  const auto add = [&](std::uint64_t field) { hash = mix(hash, field); };
  add(atom.subject);
  add(atom.value.value);
  add(atom.minimum);
  add(atom.maximum);
  for (const NameId name : atom.names) add(name.value);
  for (const SetId value : atom.values) add(value.value);
  return hash;
}

ObjectFormulas::ObjectFormulas(ValueSets& sets, StringTexts& texts)
    : ContainerFormulas([this](std::vector<ObjectId>& conjuncts) { merge(conjuncts); }), sets_(sets), texts_(texts) {}

const ValueTable::Others& ObjectFormulas::others_of(const ObjectAtom& atom) const {
  return std::get<ValueTable::Others>(sets_.table().node({atom.subject}));
}

// ---- atoms ------------------------------------------------------------------------------------

ObjectId ObjectFormulas::properties(counted::vector<NameId> names, counted::vector<SetId> values) {
  if (names.empty()) return kTrue;
  return make({.kind = Kind::Properties, .names = std::move(names), .values = std::move(values)});
}

ObjectId ObjectFormulas::required(counted::vector<NameId> names) {
  if (names.empty()) return kTrue;
  return make({.kind = Kind::Required, .names = std::move(names)});
}

ObjectId ObjectFormulas::property(NameId name, SetId value) {
  if (value == Formulas<SetTag>::kTrue) return kTrue;
  return properties({name}, {value});
}

ObjectId ObjectFormulas::matching(LanguageId names, SetId value) {
  if (value == Formulas<SetTag>::kTrue) return kTrue;
  return make({.kind = Kind::Matching, .subject = names.value, .value = value});
}

ObjectId ObjectFormulas::others(ValueNode others) {
  const SetId value = sets_.set_of(std::get<ValueTable::Others>(sets_.table().node(others)).value);
  if (value == Formulas<SetTag>::kTrue) return kTrue;
  return make({.kind = Kind::Others, .subject = others.value, .value = value});
}

ObjectId ObjectFormulas::count(Count minimum, Count maximum) {
  if (minimum > maximum) return kFalse;
  if (minimum == 0 && maximum == kNoMaximum) return kTrue;
  return make({.kind = Kind::Count, .minimum = minimum, .maximum = maximum});
}

// All properties of a conjunction are one atom, as are all names that it requires, and all counts.
void ObjectFormulas::merge(std::vector<ObjectId>& conjuncts) {
  unsigned kinds[5] = {};
  for (const ObjectId f : conjuncts)
    if (const ObjectAtom* atom = atom_of(f)) ++kinds[static_cast<unsigned>(atom->kind)];
  const auto several = [&](Kind kind) { return kinds[static_cast<unsigned>(kind)] > 1; };
  if (!several(Kind::Properties) && !several(Kind::Required) && !several(Kind::Count)) return;

  std::vector<std::pair<NameId, SetId>> declared;
  counted::vector<NameId> names;
  Count minimum = 0, maximum = kNoMaximum;
  std::erase_if(conjuncts, [&](ObjectId f) {
    const ObjectAtom* atom = atom_of(f);
    if (!atom) return false;
    if (atom->kind == Kind::Properties) {
      for (std::size_t i = 0; i < atom->names.size(); ++i) declared.emplace_back(atom->names[i], atom->values[i]);
    } else if (atom->kind == Kind::Required) {
      names.insert(names.end(), atom->names.begin(), atom->names.end());
    } else if (atom->kind == Kind::Count) {
      minimum = std::max(minimum, atom->minimum);
      maximum = std::min(maximum, atom->maximum);
    } else {
      return false;
    }
    return true;
  });
  std::ranges::sort(declared);
  counted::vector<NameId> property_names;
  counted::vector<SetId> values;
  for (const auto& [name, value] : declared) {
    if (!property_names.empty() && property_names.back() == name) {
      values.back() = sets_.all({values.back(), value});
    } else {
      property_names.push_back(name);
      values.push_back(value);
    }
  }
  sort_unique(names);
  conjuncts.push_back(properties(std::move(property_names), std::move(values)));
  conjuncts.push_back(required(std::move(names)));
  conjuncts.push_back(count(minimum, maximum));
}

bool ObjectFormulas::accepts(ObjectId f) const {
  return holds(f, [&](std::uint32_t number) {
    const ObjectAtom& atom = atom_at(number);
    return atom.kind == Kind::Count ? atom.minimum == 0 : atom.kind != Kind::Required;
  });
}

// ---- members ----------------------------------------------------------------------------------

namespace {

std::optional<std::size_t> place_of(const counted::vector<NameId>& names, NameId name) {
  const auto place = std::ranges::lower_bound(names, name);
  if (place == names.end() || *place != name) return std::nullopt;
  return place - names.begin();
}

template <class T>
counted::vector<T> without(const counted::vector<T>& items, std::size_t place) {
  counted::vector<T> rest = items;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(place));
  return rest;
}

}  // namespace

// Whether the most of its operands may have nothing to do with a name.
bool ObjectFormulas::is_wide(ObjectId f) const {
  constexpr std::size_t kLeastOperandsOfWide = 16;
  const auto all = conjuncts(f);
  if (all.size() >= kLeastOperandsOfWide) return true;
  return std::ranges::any_of(all, [&](ObjectId conjunct) {
    if (operation(conjunct) == Operation::Not) conjunct = body(conjunct);
    return operation(conjunct) >= Operation::All && operands(conjunct).size() >= kLeastOperandsOfWide;
  });
}

ObjectFormulas::ByName& ObjectFormulas::by_name(ObjectId f, const Work& work) {
  constexpr std::size_t kMostFormulasByName = 8;  // names come one after the other, for a few formulas
  if (const auto known = by_name_.find(f.value); known != by_name_.end()) return known->second;
  counted::unordered_map<std::uint32_t, counted::vector<std::uint32_t>> atoms;
  counted::vector<std::uint32_t> of_languages;
  const auto usual = [&](ObjectId whole, std::uint32_t number) {  // after a name of which no atom speaks by itself
    const ObjectAtom atom = atom_at(number);
    const auto* const others = atom.kind == Kind::Others ? &others_of(atom) : nullptr;
    if (atom.kind == Kind::Matching || (others && !others->languages.empty())) {
      of_languages.push_back(number);
      return whole;
    }
    if (others) {
      for (const NameId name : others->names) atoms[name.value].push_back(number);
      return conditioned(atom.value, whole);
    }
    for (const NameId name : atom.names) atoms[name.value].push_back(number);
    return atom.kind == Kind::Count ? after_one(atom) : whole;
  };
  Variations<ObjectTag> variations(*this, f, usual, work);
  if (by_name_.size() >= kMostFormulasByName) by_name_.clear();
  return by_name_.emplace(f.value, ByName{std::move(variations), std::move(atoms), std::move(of_languages)})
      .first->second;
}

ObjectId ObjectFormulas::after_name(ObjectId f, NameId name, const Work& work) {
  if (is_wide(f)) {
    ByName& known = by_name(f, work);
    std::vector<Variations<ObjectTag>::Change> changes;
    const auto add = [&](std::uint32_t number) {
      changes.push_back({number, atom_after_name(make_atom(number), atom_at(number), name, work)});
    };
    if (const auto speaking = known.atoms.find(name.value); speaking != known.atoms.end())
      std::ranges::for_each(speaking->second, add);
    std::ranges::for_each(known.of_languages, add);
    return known.variations.with(changes, work);
  }
  return map(f,
             [&](ObjectId atom, std::uint32_t number) { return atom_after_name(atom, atom_at(number), name, work); });
}

ObjectId ObjectFormulas::after_other(ObjectId f, const NameClass& other) {
  return map(f, [&](ObjectId atom, std::uint32_t number) { return atom_after_other(atom, atom_at(number), other); });
}

// Making an atom moves the others: nothing of `atom` is read after that.
ObjectId ObjectFormulas::atom_after_name(ObjectId f, const ObjectAtom& atom, NameId name, const Work& work) {
  switch (atom.kind) {
    case Kind::Count: return after_one(atom);
    case Kind::Required: {
      const auto place = place_of(atom.names, name);
      return place ? required(without(atom.names, *place)) : f;
    }
    case Kind::Properties: {
      const auto place = place_of(atom.names, name);
      if (!place) return f;
      const SetId value = atom.values[*place];
      return conditioned(value, properties(without(atom.names, *place), without(atom.values, *place)));
    }
    case Kind::Matching:
    case Kind::Others: {
      const SetId value = atom.value;
      return is_about(atom, name, work) ? conditioned(value, f) : f;
    }
  }
  return kFalse;
}

ObjectId ObjectFormulas::atom_after_other(ObjectId f, const ObjectAtom& atom, const NameClass& other) {
  const auto in = [&](LanguageId language) { return std::ranges::find(other.in, language) != other.in.end(); };
  switch (atom.kind) {
    case Kind::Count: return after_one(atom);
    case Kind::Matching: return in({atom.subject}) ? conditioned(atom.value, f) : f;
    case Kind::Others: {
      const ValueTable::Others& others = others_of(atom);
      return std::ranges::any_of(others.languages, in) ? f : conditioned(atom.value, f);
    }
    default: return f;
  }
}

ObjectId ObjectFormulas::after_one(const ObjectAtom& atom) {
  return atom.maximum == 0 ? kFalse : count(one_less(atom.minimum), one_less(atom.maximum));
}

// Whether a Matching or Others speaks of the name.
bool ObjectFormulas::is_about(const ObjectAtom& atom, NameId name, const Work& work) {
  if (atom.kind == Kind::Matching) return is_in(name, {atom.subject}, work);
  const ValueTable::Others& others = others_of(atom);
  return std::ranges::find(others.names, name) == others.names.end() &&
         std::ranges::none_of(others.languages, [&](LanguageId language) { return is_in(name, language, work); });
}

bool ObjectFormulas::is_in(NameId name, LanguageId language, const Work& work) {
  return memoized(is_in_, (std::uint64_t{name.value} << 32) | language.value,
                  [&] { return has_text(texts_.unspelled(language, work), sets_.table().text(name), work); });
}

ObjectFormulas::Branches ObjectFormulas::branches(ObjectId conditioned, const Work& work) {
  return Brancher<ObjectTag>(*this, sets_, work).branches(conditioned);
}

ObjectFormulas::Branches ObjectFormulas::branches(ObjectId f, NameId name, const Work& work) {
  return memoized_if_untainted(sets_.recursion(), branches_, (std::uint64_t{f.value} << 32) | name.value,
                               [&] { return branches(after_name(f, name, work), work); });
}

ObjectFormulas::Branches ObjectFormulas::branches(ObjectId f, const NameClass& other, const Work& work) {
  return branches(after_other(f, other), work);
}

SetId ObjectFormulas::value_among_conjuncts(ObjectId f, NameId name, const Work& work) {
  std::vector<SetId> values;
  const auto given = conjuncts(f);
  for (const ObjectId conjunct : std::vector<ObjectId>(given.begin(), given.end())) {
    const ObjectAtom* const atom = atom_of(conjunct);
    if (!atom || atom->kind == Kind::Required || atom->kind == Kind::Count) continue;
    if (atom->kind != Kind::Properties) {
      if (is_about(*atom, name, work)) values.push_back(atom->value);
    } else if (const auto place = place_of(atom->names, name)) {
      values.push_back(atom->values[*place]);
    }
  }
  return sets_.all(std::move(values));
}

counted::vector<NameId> ObjectFormulas::required_among_conjuncts(ObjectId f) const {
  for (const ObjectId conjunct : conjuncts(f))
    if (const ObjectAtom* const atom = atom_of(conjunct); atom && atom->kind == Kind::Required) return atom->names;
  return {};
}

NameClasses ObjectFormulas::name_classes(ObjectId f, const Work& work) {
  return memoized(name_classes_, f.value, [&] {
    counted::vector<LanguageId> languages;
    visit(f, [&](std::uint32_t number, bool, bool) {
      const ObjectAtom& atom = atom_at(number);
      if (atom.kind == Kind::Matching) languages.push_back({atom.subject});
      if (atom.kind != Kind::Others) return;
      const ValueTable::Others& others = others_of(atom);
      languages.insert(languages.end(), others.languages.begin(), others.languages.end());
    });
    sort_unique(languages);
    return memoized(classes_of_languages_, languages, [&] { return classes_of(languages, work); });
  });
}

NameClasses ObjectFormulas::classes_of(const counted::vector<LanguageId>& languages, const Work& work) {
  const Languages texts = texts_.languages(work);
  std::vector<NameClass> classes{{{}, texts_.writable(work), true}};
  for (const LanguageId language : languages) {
    std::vector<NameClass> next;
    const ExpressionId spelled = texts_.spelled(language, true, work), denied = texts_.spelled(language, false, work);
    for (const NameClass& before : classes) {
      NameClass inside = before, outside = before;
      inside.in.push_back(language);
      inside.is_any = outside.is_any = false;
      inside.is_escaped = inside.is_escaped && texts_.is_escaped(language);
      inside.names = texts.intersect({before.names, spelled});
      outside.names = texts.intersect({before.names, texts.complement(denied)});
      if (work.arena.derivatives().terminal(inside.names, work.budget) == Pool::kEmpty) {
        next.push_back(before);
        continue;
      }
      next.push_back(std::move(inside));
      if (work.arena.derivatives().terminal(outside.names, work.budget) != Pool::kEmpty)
        next.push_back(std::move(outside));
    }
    classes = std::move(next);
  }
  return make_counted<counted::vector<NameClass>>(classes.begin(), classes.end());
}

void ObjectFormulas::forget_expressions() {
  release(name_classes_);
  release(classes_of_languages_);
  release(by_name_);
}

}  // namespace tokamata::json
