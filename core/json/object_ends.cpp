#include "json/object_ends.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "common/best_first.hpp"
#include "common/sort_unique.hpp"
#include "json/leaves.hpp"
#include "json/value_sets.hpp"

namespace tokamata::json {

namespace {

constexpr std::uint32_t kOtherName = 12;   // bytes of a name that is not declared, its quotes, colon and comma
constexpr std::uint32_t kLeastMember = 5;  // bytes of any member, with its comma: of "":0

}  // namespace

std::optional<std::uint32_t> ObjectEnds::member_length(NameId name, SetId value, const Room& room, const Work& work) {
  if (room.texts) return room.texts->length(name, value, work);
  const std::optional<std::uint32_t> length = sets_.some_length(value, work);
  if (!length) return std::nullopt;
  return capped_sum(*length, 3, texts_.spelled_name(name).size());
}

std::optional<std::uint32_t> ObjectEnds::other_member_length(SetId value, const Room& room, const Work& work) {
  if (room.texts) return room.texts->length_of_other(value, work);
  const std::optional<std::uint32_t> length = sets_.some_length(value, work);
  return length ? std::optional(capped_sum(*length, kOtherName)) : std::nullopt;
}

// ---- conjunctions -----------------------------------------------------------------------------

bool ObjectEnds::is_plain(ObjectId f) const {
  if (f == formulas_.kTrue) return true;
  return std::ranges::all_of(formulas_.conjuncts(f), [&](ObjectId conjunct) {
    const ObjectAtom* atom = formulas_.atom_of(conjunct);
    return atom && atom->kind != Kind::Count;
  });
}

std::optional<std::uint32_t> ObjectEnds::plain_length(ObjectId f, const Room& room, const Work& work) {
  counted::vector<NameId> missing = formulas_.required_among_conjuncts(f);
  if (missing.empty()) return 0;
  std::uint32_t length = 0;
  for (const NameId name : missing) {
    const auto member = room.is_left(room.next, name)
                            ? member_length(name, formulas_.value_among_conjuncts(f, name, work), room, work)
                            : std::nullopt;
    if (!member) return std::nullopt;
    length = capped_sum(length, *member);
  }
  return length;
}

// What every object of a formula has, as far as its structure says so: of `any` and `one` what all operands require.
// Example.  any(required(a, b), all(required b, required c)): b.
const counted::vector<NameId>& ObjectEnds::required_names(ObjectId f) {
  if (const auto known = required_.find(f.value); known != required_.end()) return known->second;
  counted::vector<NameId> found;
  const Operation operation = formulas_.operation(f);
  if (const ObjectAtom* const atom = formulas_.atom_of(f); atom && atom->kind == Kind::Required) {
    found = atom->names;
  } else if (operation == Operation::All || operation == Operation::Any || operation == Operation::One) {
    bool is_first = true;
    for (const ObjectId operand : formulas_.operands(f)) {
      const counted::vector<NameId>& of_operand = required_names(operand);
      counted::vector<NameId> both;
      if (operation == Operation::All) std::ranges::set_union(found, of_operand, std::back_inserter(both));
      else if (is_first) both = of_operand;
      else std::ranges::set_intersection(found, of_operand, std::back_inserter(both));
      found = std::move(both);
      is_first = false;
      if (operation != Operation::All && found.empty()) break;
    }
  }
  return required_.emplace(f.value, std::move(found)).first->second;
}

std::optional<std::uint32_t> ObjectEnds::due(ObjectId f, const Room& room) {
  std::optional<std::uint32_t> first;
  for (const NameId name : required_names(f)) {
    const std::optional<std::uint32_t> place = room.order->place_of(name);
    if (place && *place < room.order->ordered && !room.is_written(*place))
      first = std::min(first.value_or(~0u), *place);
  }
  return first;
}

// Another name is taken once it is written, which matters where few names are left: of "b" and "c" one is left after the
// other.  All names of a class are alike, so that any of them stands for the one to come.
void ObjectEnds::add_others(ObjectId f, const Room& room, Next& result, const Work& work) {
  const NameClasses classes = formulas_.name_classes(f, work);
  for (std::uint32_t number = 0; number < classes->size(); ++number) {
    const NameClass& other = (*classes)[number];
    if (!names_.has_one(other, room, work)) continue;
    Room after = room;
    std::vector<std::string> written;
    if (!is_plain(f) && !names_.has_more(other, room, missing(f, true), work)) {
      written = room.other_names.strings();
      const std::string taken = spelled_string(names_.one(other, room, {}, work).value());
      written.insert(std::ranges::lower_bound(written, taken), taken);
      after.other_names = {nullptr, {}, &written};
    }
    std::optional<std::uint32_t> least;
    for (const auto ways = formulas_.branches(f, other, work); const Branch<ObjectTag>& way : *ways) {
      const auto rest = some_length(way.rest, after, work);
      const auto member = rest ? other_member_length(way.value, room, work) : std::nullopt;
      if (member) least = std::min(least.value_or(~0u), capped_sum(*member, *rest));
    }
    if (least) result.others.emplace_back(number, *least);
  }
}

// ---- lower bounds -----------------------------------------------------------------------------

std::uint32_t ObjectEnds::least_member(ObjectId f, NameId name, std::uint32_t depth, const Work& work) {
  return capped_sum(sets_.least_length(formulas_.value_among_conjuncts(f, name, work), depth, work), 3,
                    texts_.spelled_name(name).size());
}

// How many members must come beside those that are required.
std::uint32_t ObjectEnds::further_among_conjuncts(ObjectId f, std::size_t required) const {
  Count least = 0;
  for (const ObjectId conjunct : formulas_.conjuncts(f))
    if (const ObjectAtom* atom = formulas_.atom_of(conjunct); atom && atom->kind == Kind::Count)
      least = std::max(least, atom->minimum);
  return static_cast<std::uint32_t>(std::min<Count>(least - std::min<Count>(least, required), kMostMissing));
}

// Of a conjunction what its atoms require, of other formulas nothing.
std::uint32_t ObjectEnds::least_length(ObjectId f, std::uint32_t depth, const Work& work) {
  return memoized(least_lengths_, std::uint64_t{f.value} << 32 | depth, [&] {
    const counted::vector<NameId> required = formulas_.required_among_conjuncts(f);
    std::uint32_t length = further_among_conjuncts(f, required.size()) * kLeastMember;
    for (const NameId name : required) length = capped_sum(length, least_member(f, name, depth, work));
    return length;
  });
}

std::uint32_t ObjectEnds::least_length_with(ObjectId f, NameId name, std::uint32_t depth, const Work& work) {
  const counted::vector<NameId> required = formulas_.required_among_conjuncts(f);
  const std::uint32_t all = least_length(f, depth, work);
  const std::uint32_t value = sets_.least_length(formulas_.value_among_conjuncts(f, name, work), depth, work);
  if (all >= kLongestLength) return capped_sum(value, all);
  if (std::ranges::binary_search(required, name)) return capped_sum(value, all - least_member(f, name, depth, work));
  return capped_sum(value, all - (further_among_conjuncts(f, required.size()) > 0 ? kLeastMember : 0));
}

std::uint32_t ObjectEnds::least_length(ObjectId f, MemberTexts& texts, std::optional<NameId> written,
                                       const Work& work) {
  const counted::vector<NameId> required = formulas_.required_among_conjuncts(f);
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
ObjectEnds::Help ObjectEnds::helpful(ObjectId f) const {
  Help help;
  formulas_.visit(f, [&](std::uint32_t number, bool wanted, bool denied) {
    const ObjectAtom& atom = formulas_.atom_at(number);
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
    sort_unique(*names);
  }
  return help;
}

std::optional<std::uint32_t> ObjectEnds::some_length(ObjectId f, const Room& room, const Work& work) {
  if (f == formulas_.kFalse) return std::nullopt;
  if (formulas_.accepts(f)) return 0;
  return is_plain(f) ? plain_length(f, room, work) : search_length(f, room, work);
}

// How many members are missing at least, roughly: what the search goes by.
std::uint32_t ObjectEnds::missing(ObjectId f, bool wanted) const {
  const auto sum = [&](bool as_wanted) {
    std::uint32_t total = 0;
    for (const ObjectId operand : formulas_.operands(f))
      total = std::min(kMostMissing, total + missing(operand, as_wanted));
    return total;
  };
  const auto least = [&](bool as_wanted) {
    std::uint32_t fewest = kMostMissing;
    for (const ObjectId operand : formulas_.operands(f)) fewest = std::min(fewest, missing(operand, as_wanted));
    return fewest;
  };
  switch (formulas_.operation(f)) {
    case Operation::Atom: {
      const ObjectAtom& atom = formulas_.atom_at(formulas_.atom(f));
      if (atom.kind == Kind::Required) return wanted ? static_cast<std::uint32_t>(atom.names.size()) : 0;
      if (atom.kind == Kind::Count) {
        const Count beyond = atom.minimum > 0 ? 0 : atom.maximum;  // fewer than a minimum are had at once
        return static_cast<std::uint32_t>(std::min<Count>(wanted ? atom.minimum : beyond, kMostMissing));
      }
      return wanted ? 0 : 1;
    }
    case Operation::Not: return missing(formulas_.body(f), !wanted);
    case Operation::All: return wanted ? sum(true) : least(false);
    case Operation::Any: return wanted ? least(true) : sum(false);
    case Operation::One: {  // one is had, and no other
      const std::uint32_t denied = sum(false);
      if (!wanted) return denied;
      std::uint32_t fewest = kMostMissing;
      for (const ObjectId operand : formulas_.operands(f))
        fewest = std::min(fewest, denied - std::min(denied, missing(operand, false)) + missing(operand, true));
      return fewest;
    }
    default: return 0;
  }
}

// The formula where declared names before `next`, and those that are written, come no more: what it says of them is no
// matter.  So ways that differ in nothing else meet, and alternatives that are alike now are one.
ObjectId ObjectEnds::without_passed(ObjectId f, const Room& room, std::uint32_t next) {
  const auto is_passed = [&](NameId name) { return !room.is_left(next, name); };
  return formulas_.map(f, [&](ObjectId whole, std::uint32_t number) {
    const ObjectAtom& atom = formulas_.atom_at(number);
    if (std::ranges::none_of(atom.names, is_passed)) return whole;
    if (atom.kind == Kind::Required) return formulas_.kFalse;
    counted::vector<NameId> names;
    counted::vector<SetId> values;
    for (std::size_t i = 0; i < atom.names.size(); ++i) {
      if (is_passed(atom.names[i])) continue;
      names.push_back(atom.names[i]);
      values.push_back(atom.values[i]);
    }
    return formulas_.properties(std::move(names), std::move(values));
  });
}

// The names that may help, those first whose members may be shorter than others can be.
std::vector<ObjectEnds::Candidate> ObjectEnds::candidates(const Help& help, bool are_required, const Room& room,
                                                          std::uint32_t next) {
  std::vector<Candidate> found;
  const auto add = [&](NameId name) {
    if (std::ranges::binary_search(help.required, name) != are_required || !room.is_left(next, name)) return;
    const auto spelled = static_cast<std::uint32_t>(texts_.spelled_name(name).size());
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
// is never opened: what comes no more is struck from a formula when it is opened, and names that nothing requires
// are tried after those that something does.
std::optional<std::uint32_t> ObjectEnds::search_length(ObjectId f, const Room& room, const Work& work) {
  enum class Stage : std::uint8_t { Reached, Required, Others };
  struct At {
    std::uint32_t missing, length, formula, next, others;
    Stage stage;
    auto operator<=>(const At&) const = default;
  };
  Frontier<At> open;
  std::map<std::array<std::uint32_t, 4>, std::uint32_t> best;
  std::vector<std::vector<std::string>> names{{}};  // that are not declared, and were taken on the way
  const auto reach = [&](std::uint32_t length, ObjectId rest, std::uint32_t next, std::uint32_t others, Stage stage) {
    if (rest == formulas_.kFalse) return;
    if (lowers(best, std::array{rest.value, next, others, static_cast<std::uint32_t>(stage)}, length))
      open.add({missing(rest, true), length, rest.value, next, others, stage});
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
    if (formulas_.accepts(here)) return at.length;
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
      for (const auto ways = formulas_.branches(here, candidate.name, work); const Branch<ObjectTag>& way : *ways) {
        if (way.rest == here) continue;
        const auto member = member_length(candidate.name, way.value, room, work);
        if (!member) continue;
        const std::uint32_t length = capped_sum(at.length, *member);
        if (formulas_.accepts(way.rest)) ended = std::min(ended.value_or(length), length);
        reach(length, way.rest, candidate.place + 1, at.others, Stage::Reached);
      }
    }
    if (!help.all || are_required) continue;
    for (const auto classes = formulas_.name_classes(here, work); const NameClass& other : *classes) {
      const std::optional<std::string> name = names_.one(other, room, names[at.others], work);
      if (!name) continue;
      auto taken = static_cast<std::uint32_t>(names.size());
      if (other.is_any) {
        taken = at.others;
      } else {
        names.push_back(names[at.others]);
        names.back().push_back(*name);
      }
      for (const auto ways = formulas_.branches(here, other, work); const Branch<ObjectTag>& way : *ways) {
        if (way.rest == here) continue;
        if (const auto member = other_member_length(way.value, room, work))
          reach(capped_sum(at.length, *member), way.rest, static_cast<std::uint32_t>(room.order->names.size()), taken,
                Stage::Reached);
      }
    }
  }
  return std::nullopt;
}

std::optional<std::uint32_t> ObjectEnds::some_further_length(ObjectId f, const Room& room, const Work& work) {
  const Next first = next(f, room, false, 1, work);
  if (!first.declared.empty()) return first.declared.front().length;
  return first.others.empty() ? std::nullopt : std::optional(first.others.front().second);
}

// With a member of the name: of a plain formula, which needs `rest` in all.
std::optional<std::uint32_t> ObjectEnds::plain_length_with(ObjectId f, NameId name, std::uint32_t rest,
                                                           const Room& room, const Work& work) {
  const auto member = member_length(name, formulas_.value_among_conjuncts(f, name, work), room, work);
  if (!member) return std::nullopt;
  return std::ranges::binary_search(formulas_.required_among_conjuncts(f), name) ? rest : capped_sum(rest, *member);
}

// The same of any formula.
std::optional<std::uint32_t> ObjectEnds::length_with(ObjectId f, std::uint32_t place, const Room& room,
                                                     const Work& work) {
  const NameId name = room.order->names[place];
  PlaceSet written = room.written ? *room.written : PlaceSet();
  written.add(place);
  Room after = room;
  after.written = &written;
  std::optional<std::uint32_t> least;
  for (const auto ways = formulas_.branches(f, name, work); const Branch<ObjectTag>& way : *ways) {
    const auto rest = some_length(way.rest, after, work);
    const auto member = rest ? member_length(name, way.value, room, work) : std::nullopt;
    if (member) least = std::min(least.value_or(~0u), capped_sum(*member, *rest));
  }
  return least;
}

ObjectEnds::Next ObjectEnds::next(ObjectId f, const Room& room, bool in_order, std::size_t most, const Work& work) {
  Next result;
  const bool plain = is_plain(f);
  const std::optional<std::uint32_t> rest = plain ? plain_length(f, room, work) : std::nullopt;
  if (plain && !rest) return result;
  if (in_order) result.due = due(f, room);
  for (std::uint32_t place = room.next; place < room.order->names.size(); ++place) {
    const bool is_late = place > result.due.value_or(~0u);
    if (is_late && result.declared.size() == 1) return result;
    if (room.is_written(place)) continue;
    work.budget.step();
    const auto length =
        plain ? plain_length_with(f, room.order->names[place], *rest, room, work) : length_with(f, place, room, work);
    if (length) result.declared.push_back({place, *length, is_late});
    if (result.declared.size() == most) return result;
  }
  if (!result.due || result.declared.size() != 1) add_others(f, room, result, work);
  return result;
}

}  // namespace tokamata::json
