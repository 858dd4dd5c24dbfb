// Whether an object can still be ended, how, and with which names it may go on.
//
// Problem.  Before a name is written it must be known that, with it, all that is required can still be had: the
// names left, each at most once, with values that are in what is said of them.
// Example.  Order a, b, c; required b: the next name is a or b, and c is late.  With any(required a, x not in b's set)
// and nothing else, all three may come next, and the object may not end.
// How.  Mostly a formula is a conjunction of atoms, and then required names alone matter.  Otherwise a way
// to end it is searched over what remains after each member, what lacks least first; a shortest way has no member that
// nothing asks for, and members may be taken in the order of their names whatever the order of the text.
// Cost.  Linear in the names for conjunctions; exponential at worst elsewhere, bounded by Limits.

#include <algorithm>
#include <array>
#include <bit>
#include <map>

#include "common/best_first.hpp"
#include "json/leaves.hpp"
#include "json/object_formulas.hpp"
#include "json/value_sets.hpp"

namespace tokamata::json {

namespace {

constexpr std::uint32_t kOtherName = 12;   // bytes of a name that is not declared, its quotes, colon and comma
constexpr std::uint32_t kLeastMember = 5;  // bytes of any member, with its comma: of "":0

bool is_written(const ObjectFormulas::Room& room, std::uint32_t place) {
  return room.written && room.written->contains(place);
}

// Whether a declared name may still come, where those before `next` do not.
bool is_left(const ObjectFormulas::Room& room, std::uint32_t next, NameId name) {
  const std::optional<std::uint32_t> place = room.order->place_of(name);
  return place && *place >= next && !is_written(room, *place);
}

}  // namespace

std::optional<std::uint32_t> ObjectFormulas::member_length(NameId name, SetId value, const Room& room,
                                                           const Work& work) {
  if (room.texts) return room.texts->length(name, value, work);
  const std::optional<std::uint32_t> length = sets_.some_length(value, work);
  if (!length) return std::nullopt;
  return capped_sum(*length, 3, sets_.spelled_name(name).size());
}

std::optional<std::uint32_t> ObjectFormulas::other_member_length(SetId value, const Room& room, const Work& work) {
  if (room.texts) return room.texts->length_of_other(value, work);
  const std::optional<std::uint32_t> length = sets_.some_length(value, work);
  return length ? std::optional(capped_sum(*length, kOtherName)) : std::nullopt;
}

// ---- conjunctions -----------------------------------------------------------------------------

bool ObjectFormulas::is_plain(ObjectId f) const {
  if (f == formulas_.kTrue) return true;
  return std::ranges::all_of(formulas_.conjuncts(f), [&](ObjectId part) {
    const Atom* atom = atom_of(part);
    return atom && atom->kind != Kind::Count;
  });
}

// What the conjuncts say of a member that are atoms: all that a plain formula says.
SetId ObjectFormulas::value_among_conjuncts(ObjectId f, NameId name, const Work& work) {
  std::vector<SetId> values;
  const auto parts = formulas_.conjuncts(f);
  for (const ObjectId part : std::vector<ObjectId>(parts.begin(), parts.end())) {
    const Atom* atom = atom_of(part);
    if (!atom || atom->kind == Kind::Required || atom->kind == Kind::Count) continue;
    if (atom->kind == Kind::Properties) {
      const auto place = std::ranges::lower_bound(atom->names, name);
      if (place != atom->names.end() && *place == name)
        values.push_back(atom->values[static_cast<std::size_t>(place - atom->names.begin())]);
      continue;
    }
    if (is_about(*atom, name, work)) values.push_back(atom->value);
  }
  return sets_.all(std::move(values));
}

counted::vector<NameId> ObjectFormulas::required_among_conjuncts(ObjectId f) const {
  for (const ObjectId part : formulas_.conjuncts(f))
    if (const Atom* atom = atom_of(part); atom && atom->kind == Kind::Required) return atom->names;
  return {};
}

std::optional<std::uint32_t> ObjectFormulas::plain_length(ObjectId f, const Room& room, const Work& work) {
  counted::vector<NameId> missing = required_among_conjuncts(f);
  if (missing.empty()) return 0;
  std::uint32_t length = 0;
  for (const NameId name : missing) {
    const auto member = is_left(room, room.next, name)
                            ? member_length(name, value_among_conjuncts(f, name, work), room, work)
                            : std::nullopt;
    if (!member) return std::nullopt;
    length = capped_sum(length, *member);
  }
  return length;
}

ObjectFormulas::Next ObjectFormulas::next_if_plain(ObjectId f, const Room& room, bool in_order, std::size_t most,
                                                   const Work& work) {
  Next result;
  const counted::vector<NameId> missing = required_among_conjuncts(f);
  const std::optional<std::uint32_t> rest = plain_length(f, room, work);
  if (!rest) return result;
  if (in_order) result.due = due(f, room);
  for (std::uint32_t place = room.next; place < room.order->names.size(); ++place) {
    const bool is_late = place > result.due.value_or(~0u);
    if (is_late && result.declared.size() == 1) return result;
    if (is_written(room, place)) continue;
    work.budget.step();
    const NameId name = room.order->names[place];
    const auto member = member_length(name, value_among_conjuncts(f, name, work), room, work);
    const bool is_missing = std::ranges::binary_search(missing, name);
    if (member) result.declared.push_back({place, is_missing ? *rest : capped_sum(*rest, *member), is_late});
    if (result.declared.size() == most) return result;
  }
  if (result.due && result.declared.size() == 1) return result;
  add_others(f, room, room, result, work);
  return result;
}

// What every object of a formula has, as far as its structure says so: of `any` and `one` what all operands require.
// Example.  any(required(a, b), all(required b, required c)): b.
const counted::vector<NameId>& ObjectFormulas::required_names(ObjectId f) {
  if (const auto known = required_.find(f.value); known != required_.end()) return known->second;
  counted::vector<NameId> found;
  const Operation operation = formulas_.operation(f);
  if (const Atom* atom = operation == Operation::Atom ? atom_of(f) : nullptr; atom && atom->kind == Kind::Required) {
    found = atom->names;
  } else if (operation == Operation::All || operation == Operation::Any || operation == Operation::One) {
    bool is_first = true;
    for (const ObjectId part : formulas_.operands(f)) {
      const counted::vector<NameId>& of_part = required_names(part);
      counted::vector<NameId> both;
      if (operation == Operation::All) std::ranges::set_union(found, of_part, std::back_inserter(both));
      else if (is_first) both = of_part;
      else std::ranges::set_intersection(found, of_part, std::back_inserter(both));
      found = std::move(both);
      is_first = false;
      if (operation != Operation::All && found.empty()) break;
    }
  }
  return required_.emplace(f.value, std::move(found)).first->second;
}

std::optional<std::uint32_t> ObjectFormulas::due(ObjectId f, const Room& room) {
  std::optional<std::uint32_t> first;
  for (const NameId name : required_names(f)) {
    const std::optional<std::uint32_t> place = room.order->place_of(name);
    if (place && *place < room.order->ordered && !is_written(room, *place))
      first = std::min(first.value_or(~0u), *place);
  }
  return first;
}

// `after`: the room behind another name, except for that name.  It is taken too, which matters where few names are
// left: of "b" and "c" one is left behind the other.  All names of a class are alike, so that any of them stands for
// the one to come.
void ObjectFormulas::add_others(ObjectId f, const Room& room, Room after, Next& result, const Work& work) {
  const NameClasses classes = name_classes(f, work);
  for (std::uint32_t number = 0; number < classes->size(); ++number) {
    if (!has_name_left((*classes)[number], room, work)) continue;
    std::vector<std::string> written;
    after.other_names = room.other_names;
    if (!is_plain(f) && !has_names_left((*classes)[number], room, missing(f, true), work)) {
      written = room.other_names.strings();
      const std::string taken = spelled_string(name_left((*classes)[number], room, {}, work).value());
      written.insert(std::ranges::lower_bound(written, taken), taken);
      after.other_names = {nullptr, {}, &written};
    }
    std::optional<std::uint32_t> least;
    for (const auto ways = branches(f, (*classes)[number], work); const Branch<ObjectTag>& way : *ways) {
      const auto rest = some_length(way.rest, after, work);
      const auto member = rest ? other_member_length(way.value, room, work) : std::nullopt;
      if (member) least = std::min(least.value_or(~0u), capped_sum(*member, *rest));
    }
    if (least) result.others.emplace_back(number, *least);
  }
}

// ---- lower bounds -----------------------------------------------------------------------------

std::uint32_t ObjectFormulas::least_member(ObjectId f, NameId name, std::uint32_t depth, const Work& work) {
  return capped_sum(sets_.least_length(value_among_conjuncts(f, name, work), depth, work), 3,
                    sets_.spelled_name(name).size());
}

// How many members must come beside those that are required.
std::uint32_t ObjectFormulas::further_among_conjuncts(ObjectId f, std::size_t required) const {
  Count least = 0;
  for (const ObjectId part : formulas_.conjuncts(f))
    if (const Atom* atom = atom_of(part); atom && atom->kind == Kind::Count) least = std::max(least, atom->minimum);
  return static_cast<std::uint32_t>(std::min<Count>(least - std::min<Count>(least, required), kMostMissing));
}

// Of a conjunction what its atoms ask for, of other formulas nothing.
std::uint32_t ObjectFormulas::least_length(ObjectId f, std::uint32_t depth, const Work& work) {
  const std::uint64_t key = std::uint64_t{f.value} << 32 | depth;
  if (const auto known = least_lengths_.find(key); known != least_lengths_.end()) return known->second;
  const counted::vector<NameId> required = required_among_conjuncts(f);
  std::uint32_t length = further_among_conjuncts(f, required.size()) * kLeastMember;
  for (const NameId name : required) length = capped_sum(length, least_member(f, name, depth, work));
  least_lengths_.emplace(key, length);
  return length;
}

std::uint32_t ObjectFormulas::least_length_with(ObjectId f, NameId name, std::uint32_t depth, const Work& work) {
  const counted::vector<NameId> required = required_among_conjuncts(f);
  const std::uint32_t all = least_length(f, depth, work);
  const std::uint32_t value = sets_.least_length(value_among_conjuncts(f, name, work), depth, work);
  if (all >= kLongestLength) return capped_sum(value, all);
  if (std::ranges::binary_search(required, name)) return capped_sum(value, all - least_member(f, name, depth, work));
  return capped_sum(value, all - (further_among_conjuncts(f, required.size()) > 0 ? kLeastMember : 0));
}

std::uint32_t ObjectFormulas::least_length(ObjectId f, MemberTexts& texts, std::optional<NameId> written,
                                           const Work& work) {
  const counted::vector<NameId> required = required_among_conjuncts(f);
  const bool counts = written && !std::ranges::binary_search(required, *written);
  const std::uint32_t further = further_among_conjuncts(f, required.size());
  std::uint32_t length =
      capped_times(further - std::min<std::uint32_t>(further, counts ? 1 : 0), texts.least_length(std::nullopt, work));
  for (const NameId name : required)
    if (name != written) length = capped_sum(length, texts.least_length(name, work));
  return length;
}

// ---- formulas ---------------------------------------------------------------------------------

// What a shortest way to end the object may have members for.
ObjectFormulas::Help ObjectFormulas::helpful(ObjectId f) const {
  Help help;
  formulas_.visit(f, [&](std::uint32_t number, bool wanted, bool denied) {
    const Atom& atom = atoms_[number];
    switch (atom.kind) {
      case Kind::Required:
        if (wanted) help.required.insert(help.required.end(), atom.names.begin(), atom.names.end());
        return;
      case Kind::Properties:
        if (denied) help.names.insert(help.names.end(), atom.names.begin(), atom.names.end());
        return;
      case Kind::Count: help.all |= (wanted && atom.minimum > 0) || (denied && atom.maximum != kNoMaximum); return;
      default: help.all |= denied;
    }
  });
  for (std::vector<NameId>* const names : {&help.required, &help.names}) {
    std::ranges::sort(*names);
    names->erase(std::unique(names->begin(), names->end()), names->end());
  }
  return help;
}

// A name of the class that is neither declared nor written, nor one of `further`.  Where all names are in the class
// there always is one, and which one makes no difference.
std::optional<std::string> ObjectFormulas::name_left(const NameClass& other, const Room& room,
                                                     const std::vector<std::string>& further, const Work& work) {
  const ExpressionId names = room.texts ? room.texts->writable(other.names, work) : other.names;
  if (names == Arena::kEmpty) return std::nullopt;
  if (other.is_any) return "";
  const std::vector<std::string> written = room.other_names.strings();
  const auto is_taken = [&](const std::string& name) {
    const std::optional<NameId> declared = sets_.table().find_name(name);
    return (declared && room.order->place_of(*declared)) || std::ranges::find(further, name) != further.end() ||
           std::ranges::find(written, spelled_string(name)) != written.end();
  };
  if (const auto known = names_known_.find(names.value); known != names_known_.end())
    for (const std::string& name : known->second)
      if (!is_taken(name)) return name;
  std::vector<std::string> taken = further;
  for (const std::string& name : written) taken.push_back(sets_.read_name(name));
  for (const NameId name : room.order->names) taken.push_back(sets_.table().text(name));
  const std::optional<std::string> text = work.arena.some_text(sets_.without_texts(names, taken, work), work.budget);
  if (!text) return std::nullopt;
  return names_known_[names.value].emplace_back(sets_.read_name(*text));
}

// Of a class there is a name; and one of those that were found before is mostly left.
bool ObjectFormulas::has_name_left(const NameClass& other, const Room& room, const Work& work) {
  if (room.texts) return name_left(other, room, {}, work).has_value();
  return room.other_names.size() + room.order->names.size() == 0 || name_left(other, room, {}, work);
}

// Whether there are surely more names than so many that are not taken.
bool ObjectFormulas::has_names_left(const NameClass& other, const Room& room, std::uint64_t than, const Work& work) {
  if (other.is_any) return true;
  const std::uint64_t taken = room.other_names.size() + room.order->names.size() + than;
  const std::uint64_t most = std::bit_ceil(taken + 1);  // so that it is not counted for every name
  const ExpressionId names =
      room.texts ? room.texts->writable(other.names, work) : sets_.plain_texts(other.names, work);
  return most_names(names, most, work) > taken;
}

// The number of texts, counted no further than `most`, and kept.
std::uint64_t ObjectFormulas::most_names(ExpressionId names, std::uint64_t most, const Work& work) {
  NamesCounted& known = names_counted_[names.value];
  if (known.most < most) known = {work.arena.count_texts(names, most, work.budget), most};
  return known.found;
}

std::optional<std::uint32_t> ObjectFormulas::some_length(ObjectId f, const Room& room, const Work& work) {
  if (f == formulas_.kFalse) return std::nullopt;
  if (accepts(f)) return 0;
  return is_plain(f) ? plain_length(f, room, work) : search_length(f, room, work);
}

// How many members are missing at least, roughly: what the search goes by.
std::uint32_t ObjectFormulas::missing(ObjectId f, bool wanted) const {
  const auto sum = [&](bool as_wanted) {
    std::uint32_t total = 0;
    for (const ObjectId part : formulas_.operands(f)) total = std::min(kMostMissing, total + missing(part, as_wanted));
    return total;
  };
  const auto least = [&](bool as_wanted) {
    std::uint32_t fewest = kMostMissing;
    for (const ObjectId part : formulas_.operands(f)) fewest = std::min(fewest, missing(part, as_wanted));
    return fewest;
  };
  switch (formulas_.operation(f)) {
    case Operation::Atom: {
      const Atom& atom = atoms_[formulas_.atom(f)];
      if (atom.kind == Kind::Required) return wanted ? static_cast<std::uint32_t>(atom.names.size()) : 0;
      if (atom.kind == Kind::Count)
        return static_cast<std::uint32_t>(std::min<Count>(wanted             ? atom.minimum
                                                          : atom.minimum > 0 ? 0
                                                                             : atom.maximum,
                                                          kMostMissing));
      return wanted ? 0 : 1;
    }
    case Operation::Not: return missing(formulas_.body(f), !wanted);
    case Operation::All: return wanted ? sum(true) : least(false);
    case Operation::Any: return wanted ? least(true) : sum(false);
    case Operation::One: {  // one is had, and no other
      const std::uint32_t denied = sum(false);
      if (!wanted) return denied;
      std::uint32_t fewest = kMostMissing;
      for (const ObjectId part : formulas_.operands(f))
        fewest = std::min(fewest, denied - std::min(denied, missing(part, false)) + missing(part, true));
      return fewest;
    }
    default: return 0;
  }
}

// The formula where declared names before `next`, and those that are written, come no more: what it says of them is no
// matter.  So ways that differ in nothing else meet, and alternatives that are alike now are one.
ObjectId ObjectFormulas::without_passed(ObjectId f, const Room& room, std::uint32_t next) {
  const auto is_passed = [&](NameId name) { return !is_left(room, next, name); };
  return formulas_.map(f, [&](ObjectId whole, std::uint32_t number) {
    const Atom& atom = atoms_[number];
    if (std::ranges::none_of(atom.names, is_passed)) return whole;
    if (atom.kind == Kind::Required) return formulas_.kFalse;
    counted::vector<NameId> names;
    counted::vector<SetId> values;
    for (std::size_t i = 0; i < atom.names.size(); ++i) {
      if (is_passed(atom.names[i])) continue;
      names.push_back(atom.names[i]);
      values.push_back(atom.values[i]);
    }
    return properties(std::move(names), std::move(values));
  });
}

// The names that may help, those first whose members may be shorter than others can be.
std::vector<ObjectFormulas::Candidate> ObjectFormulas::candidates(const Help& help, bool are_required, const Room& room,
                                                                  std::uint32_t next) {
  std::vector<Candidate> found;
  const auto add = [&](NameId name) {
    if (std::ranges::binary_search(help.required, name) != are_required || !is_left(room, next, name)) return;
    const auto spelled = static_cast<std::uint32_t>(sets_.spelled_name(name).size());
    found.push_back({kLeastMember + spelled - 1, *room.order->place_of(name), name});
  };
  if (!are_required && help.all) {
    for (std::size_t place = next; place < room.order->names.size(); ++place) add(room.order->names[place]);
  } else {
    std::ranges::for_each(are_required ? help.required : help.names, add);
  }
  std::ranges::sort(found, {}, [](const Candidate& one) { return std::pair(one.least, one.place); });
  return found;
}

// Fewest missing first, and of these the shortest.  Members that change nothing are not taken.  Most of what is reached
// is never looked at: what comes no more is struck from a formula when its turn comes, and names that nothing requires
// are tried after those that something does.
std::optional<std::uint32_t> ObjectFormulas::search_length(ObjectId f, const Room& room, const Work& work) {
  enum class Stage : std::uint8_t { Reached, Required, Others };
  struct At {
    std::uint32_t missing, length, formula, next, others;
    Stage stage;
    auto operator<=>(const At&) const = default;
  };
  Frontier<At> open;
  std::map<std::array<std::uint32_t, 4>, std::uint32_t> best;
  std::vector<std::vector<std::string>> names{{}};  // that are not declared, and were taken on the way
  const auto reach = [&](std::uint32_t length, ObjectId behind, std::uint32_t next, std::uint32_t others, Stage stage) {
    if (behind == formulas_.kFalse) return;
    if (lowers(best, std::array{behind.value, next, others, static_cast<std::uint32_t>(stage)}, length))
      open.add({missing(behind, true), length, behind.value, next, others, stage});
  };
  reach(0, f, room.next, 0, Stage::Reached);
  while (!open.empty()) {
    At at = open.take();
    work.budget.step();
    if (at.stage == Stage::Reached) {
      reach(at.length, without_passed({at.formula}, room, at.next), at.next, at.others, Stage::Required);
      continue;
    }
    const ObjectId here{at.formula};
    if (accepts(here)) return at.length;
    const Help help = helpful(here);
    const bool are_required = at.stage == Stage::Required;
    if (are_required) {
      at.stage = Stage::Others;
      open.add(at);
    }
    std::optional<std::uint32_t> ended;  // the length of the shortest text so far
    for (const Candidate& candidate : candidates(help, are_required, room, at.next)) {
      if (ended && *ended <= capped_sum(at.length, candidate.least)) break;
      work.budget.step();
      for (const auto ways = branches(here, candidate.name, work); const Branch<ObjectTag>& way : *ways) {
        if (way.rest == here) continue;
        const auto member = member_length(candidate.name, way.value, room, work);
        if (!member) continue;
        const std::uint32_t length = capped_sum(at.length, *member);
        if (accepts(way.rest)) ended = std::min(ended.value_or(length), length);
        reach(length, way.rest, candidate.place + 1, at.others, Stage::Reached);
      }
    }
    if (!help.all || are_required) continue;
    for (const auto classes = name_classes(here, work); const NameClass& other : *classes) {
      const std::optional<std::string> name = name_left(other, room, names[at.others], work);
      if (!name) continue;
      auto taken = static_cast<std::uint32_t>(names.size());
      if (other.is_any) {
        taken = at.others;
      } else {
        names.push_back(names[at.others]);
        names.back().push_back(*name);
      }
      for (const auto ways = branches(here, other, work); const Branch<ObjectTag>& way : *ways) {
        if (way.rest == here) continue;
        if (const auto member = other_member_length(way.value, room, work))
          reach(capped_sum(at.length, *member), way.rest, static_cast<std::uint32_t>(room.order->names.size()), taken,
                Stage::Reached);
      }
    }
  }
  return std::nullopt;
}

std::optional<std::uint32_t> ObjectFormulas::some_further_length(ObjectId f, const Room& room, const Work& work) {
  const Next first = next(f, room, false, 1, work);
  if (!first.declared.empty()) return first.declared.front().length;
  return first.others.empty() ? std::nullopt : std::optional(first.others.front().second);
}

ObjectFormulas::Next ObjectFormulas::next(ObjectId f, const Room& room, bool in_order, std::size_t most,
                                          const Work& work) {
  if (is_plain(f)) return next_if_plain(f, room, in_order, most, work);
  Next result;
  if (in_order) result.due = due(f, room);
  for (std::uint32_t place = room.next; place < room.order->names.size(); ++place) {
    const bool is_late = place > result.due.value_or(~0u);
    if (is_late && result.declared.size() == 1) return result;
    if (is_written(room, place)) continue;
    work.budget.step();
    const NameId name = room.order->names[place];
    PlaceSet written = room.written ? *room.written : PlaceSet();
    written.add(place);
    Room after = room;
    after.written = &written;
    std::optional<std::uint32_t> least;
    for (const auto ways = branches(f, name, work); const Branch<ObjectTag>& way : *ways) {
      const auto rest = some_length(way.rest, after, work);
      const auto member = rest ? member_length(name, way.value, room, work) : std::nullopt;
      if (member) least = std::min(least.value_or(~0u), capped_sum(*member, *rest));
    }
    if (least) result.declared.push_back({place, *least, is_late});
    if (result.declared.size() == most) return result;
  }
  if (result.due && result.declared.size() == 1) return result;
  add_others(f, room, room, result, work);
  return result;
}

}  // namespace tokamata::json
