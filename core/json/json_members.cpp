// The members of objects: which names may come, and what follows each.  See json_rules.hpp.

#include <algorithm>

#include "common/memoized.hpp"
#include "json/escapes.hpp"
#include "json/json_rules.hpp"
#include "json/leaves.hpp"
#include "json/spelled_tree.hpp"

namespace tokamata::json {

ObjectFormulas::Room JsonRules::room(const Object& object) const {
  return {orders_[object.order].names.get(), 0, &place_sets_[object.written], written(object.others),
          object.is_tagged ? tags_.get() : nullptr};
}

ExpressionId JsonRules::name_opening(std::uint32_t object, const Work& work) {
  return objects_[object].is_tagged ? tags_->pieces(work).opening : literal("\"", work);
}

ExpressionId JsonRules::names_of(const Object& object, const ObjectFormulas::NameClass& of, const Work& work) {
  return object.is_tagged ? tags_->writable(of.names, work) : of.names;
}

ExpressionId JsonRules::members(std::uint32_t number, bool is_first, Line line, const Work& work) {
  if (objects_[number].is_tagged) return tagged_members(number, line, work);
  const Object object = objects_[number];
  const auto length = sets_.objects().some_length(object.rest, room(object), work);
  const std::uint32_t spelled = capped_sum(length.value_or(ExpressionNode::kUnspelled), 1);
  return expression(
      rule({Form::Members, number, is_first, 0, 0, line}, spelled, least_of_members(number, is_first, line, work)),
      work);
}

// With the brace.
std::uint32_t JsonRules::least_of_members(std::uint32_t object, bool is_first, const Line& line, const Work& work) {
  if (line.mode != Mode::Relaxed) return 1;
  if (objects_[object].is_tagged)
    return std::max(sets_.objects().least_length(objects_[object].rest, *tags_, std::nullopt, work),
                    tags_->least_length(std::nullopt, work));
  const std::uint32_t members = sets_.objects().least_length(objects_[object].rest, kLevels, work);
  return capped_sum(members, is_first && members > 0 ? 0 : 1);
}

// After a name and its quote.
std::uint32_t JsonRules::least_of_name(std::uint32_t object, NameId name, const Line& line, const Work& work) {
  if (line.mode != Mode::Relaxed) return 1;
  if (objects_[object].is_tagged)
    return capped_sum(sets_.objects().least_length(objects_[object].rest, *tags_, name, work),
                      tags_->least_closing(work));
  return capped_sum(sets_.objects().least_length_with(objects_[object].rest, name, kLevels, work), 2);
}

// After a name that is not declared, and what ends it.
std::uint32_t JsonRules::least_after_other(std::uint32_t object, const Line& line, const Work& work) {
  if (line.mode != Mode::Relaxed) return 1;
  if (!objects_[object].is_tagged) return capped_sum(least_of_members(object, false, line, work), 2);
  return capped_sum(sets_.objects().least_length(objects_[object].rest, *tags_, std::nullopt, work),
                    tags_->least_closing(work));
}

const JsonRules::Choice& JsonRules::choice(std::uint32_t number, const Work& work) {
  if (const auto known = choices_.find(number); known != choices_.end()) return known->second;
  const Object object = objects_[number];
  const ObjectFormulas::Next next =
      sets_.objects().next(object.rest, room(object), style_.order == PropertyOrder::Schema, work);
  Choice found;
  found.others.assign(next.others.begin(), next.others.end());
  for (const auto& [place, length, is_late] : next.declared) {
    const NameId name = orders_[object.order].names->names[place];
    found.names.push_back(
        {object.is_tagged ? tags_->written(name).value() : sets_.spelled_name(name), name, place, length, is_late});
  }
  if (object.is_tagged) {  // lengths are those after what opens a member
    const std::uint32_t opening = tags_->opening_length(work);
    for (Choice::Name& name : found.names) name.length = name.length < kNoLength ? name.length - opening : kNoLength;
    for (auto& [of_class, length] : found.others) length = length < kNoLength ? length - opening : kNoLength;
  }
  std::ranges::sort(found.names, {}, &Choice::Name::spelled);
  found.are_escaped = are_escaped(object, found, work);
  if (next.due) set_due(found, *next.due);
  return choices_.emplace(number, std::move(found)).first->second;
}

bool JsonRules::are_escaped(const Object& object, const Choice& next, const Work& work) {
  if (object.is_tagged) return false;
  if (style_.spelling != Spelling::Natural) return style_.spelling == Spelling::Any;
  const auto is_escaped = [&](const Choice::Name& name) { return sets_.is_escaped(name.name); };
  if (std::ranges::any_of(next.names, is_escaped)) return true;
  if (next.others.empty()) return false;
  const auto classes = sets_.objects().name_classes(object.rest, work);
  return std::ranges::any_of(next.others, [&](const auto& other) { return (*classes)[other.first].is_escaped; });
}

namespace {

// Whether a byte of a name in plain spelling belongs to an escape.
bool is_in_escape(std::string_view spelled, std::size_t place) {
  for (std::size_t at = 0;;) {
    const std::optional<SpelledCodePoint> code_point = code_point_at(spelled, at);
    const std::size_t end = at + (code_point ? code_point->size : 1);
    if (place < end) return spelled[at] == '\\';
    at = end;
  }
}

}  // namespace

// Where every character has escapes, names that have one in plain spelling leave the due one by a backslash, which may
// begin an escape of the due name too: they are read byte by byte (derive_escape).
void JsonRules::set_due(Choice& choice, std::uint32_t place) const {
  const auto due = std::ranges::find(choice.names, place, &Choice::Name::place);
  if (due == choice.names.end()) return;  // then nothing can be written
  choice.due = static_cast<std::uint32_t>(due - choice.names.begin());
  const auto fork_of = [&](const Choice::Name& name) {
    const auto shared = std::ranges::mismatch(name.spelled, due->spelled).in1 - name.spelled.begin();
    return Choice::Fork{static_cast<std::uint32_t>(shared), name.spelled[static_cast<std::size_t>(shared)]};
  };
  for (auto name = choice.names.begin(); name != choice.names.end(); ++name) {
    if (name->is_late || name == due) continue;
    const Choice::Fork fork = fork_of(*name);
    if (!choice.are_escaped || !is_in_escape(name->spelled, fork.shared)) choice.forks.push_back(fork);
  }
  std::ranges::sort(choice.forks);
  choice.forks.erase(std::unique(choice.forks.begin(), choice.forks.end()), choice.forks.end());
  for (std::uint32_t i = 0; i < choice.names.size(); ++i)
    if (!choice.names[i].is_late || std::ranges::binary_search(choice.forks, fork_of(choice.names[i])))
      choice.listed.push_back(i);
}

ExpressionId JsonRules::expand_members(const Rule& rule, const Work& work) {
  if (objects_[rule.subject].is_tagged) return expand_tagged_members(rule, work);
  const bool is_first = rule.low != 0;
  Arena& arena = work.arena;
  std::vector<ExpressionId> ways;
  if (sets_.objects().accepts(objects_[rule.subject].rest))
    ways.push_back(closed('}', rule.line.indent, is_first, work));
  std::vector<ExpressionId> next;
  if (const ExpressionId all = names(rule.subject, rule.line, work); all != Arena::kEmpty)
    next.push_back(layout_.after(Gap::Line, rule.line.indent, arena.concatenate(literal("\"", work), all), work));
  if (rule.line.mode == Mode::Approximation || rule.line.mode == Mode::Unverified)
    add_approximate_others(rule, next, work);
  const ExpressionId more = arena.unite(next);
  if (more != Arena::kEmpty)
    ways.push_back(is_first ? more : layout_.after_blank(Gap::None, arena.concatenate(literal(",", work), more), work));
  return arena.unite(ways);
}

// All names that may come next, after their first quote.
ExpressionId JsonRules::names(std::uint32_t object, Line line, const Work& work) {
  const Choice& next = choice(object, work);
  std::vector<ExpressionId> ways;
  const auto begun = [&](std::uint32_t name_class) {
    return other_name({Form::Other, object, 0, name_class, Texts::kEmpty.value, line},
                      begun_name(objects_[object], name_class, work), work);
  };
  const auto count = static_cast<std::uint32_t>(next.names.size());
  if (count > 0) ways.push_back(name_expression({Form::Name, object, 0, count, 0, line}, work));
  if (next.due) return work.arena.unite(ways);
  for (const auto& [number, length] : next.others) {
    if (line.mode == Mode::Exact) ways.push_back(begun(number));
    if (line.mode == Mode::Relaxed) ways.push_back(relaxed_other_name(object, number, line, work));
  }
  return work.arena.unite(ways);
}

// ---- declared names ---------------------------------------------------------------------------

// Where names have many spellings these are the plain ones, and after_leaving has the others; that is known of
// over-approximations alone.
std::span<const std::string_view> JsonRules::strings(RuleId id, Arena& arena, Budget& budget) {
  const Rule& rule = rules_[id.value];
  strings_.clear();
  if (rule.form != Form::Name || rule.escape != Texts::kEmpty) return strings_;
  const bool is_exact = rule.line.mode == Mode::Exact || rule.line.mode == Mode::Relaxed;
  const Choice& next = choice(rule.subject, {arena, budget});
  const bool is_listed = awaits(rule, next);
  if (is_exact && (is_listed || next.are_escaped)) return strings_;
  const auto [low, high] = strings_of(rule, next);
  for (std::uint32_t i = low; i < high; ++i)
    strings_.push_back(next.names[is_listed ? next.listed[i] : i].spelled.substr(rule.record));
  return strings_;
}

// Of the listed names where one is due, and of all elsewhere.
std::pair<std::uint32_t, std::uint32_t> JsonRules::strings_of(const Rule& rule, const Choice& choice) const {
  if (!awaits(rule, choice)) return {rule.low, rule.high};
  const auto place = [&](std::uint32_t name) {
    return static_cast<std::uint32_t>(std::ranges::lower_bound(choice.listed, name) - choice.listed.begin());
  };
  return {place(rule.low), place(rule.high)};
}

std::uint32_t JsonRules::name_of_string(const Rule& rule, std::size_t string, const Choice& choice) const {
  const std::size_t place = strings_of(rule, choice).first + string;
  return awaits(rule, choice) ? choice.listed[place] : static_cast<std::uint32_t>(place);
}

ExpressionId JsonRules::after(RuleId id, std::size_t string, Arena& arena, Budget& budget) {
  const Rule rule = rules_[id.value];
  const Work work{arena, budget};
  return after_name_of(rule, name_of_string(rule, string, choice(rule.subject, work)), work);
}

std::uint32_t JsonRules::spelled_after(RuleId id, std::size_t string) const {
  const Rule& rule = rules_[id.value];
  const Choice& next = choices_.at(rule.subject);
  return next.names[name_of_string(rule, string, next)].length;
}

std::optional<std::uint8_t> JsonRules::leaving_byte() const {
  return style_.spelling == Spelling::Plain ? std::nullopt : std::optional<std::uint8_t>('\\');
}

ExpressionId JsonRules::after_leaving(RuleId id, std::size_t low, std::size_t, std::size_t depth, Arena& arena,
                                      Budget& budget) {
  const Work work{arena, budget};
  Rule rule = rules_[id.value];
  const Choice& next = choice(rule.subject, work);
  if (!next.are_escaped) return Arena::kEmpty;
  const std::string_view name = next.names[name_of_string(rule, low, next)].spelled;
  const std::size_t end = rule.record + depth;
  std::size_t at = rule.record;
  while (at < end) {
    const std::optional<SpelledCodePoint> code_point = code_point_at(name, at);
    at += code_point ? code_point->size : 1;
  }
  if (at != end) return Arena::kEmpty;  // within a code point
  const auto read = [&](const Choice::Name& other) { return other.spelled.substr(0, end); };
  const auto [first, last] = std::ranges::equal_range(next.names, name.substr(0, end), {}, read);
  rule.low = std::max(rule.low, static_cast<std::uint32_t>(first - next.names.begin()));
  rule.high = std::min(rule.high, static_cast<std::uint32_t>(last - next.names.begin()));
  rule.record = static_cast<std::uint32_t>(end);
  return derive_escape(rule, '\\', work);
}

std::optional<std::string> JsonRules::awaited(RuleId id, Arena& arena, Budget& budget) {
  const Rule rule = rules_[id.value];
  if (rule.form != Form::Name) return std::nullopt;
  const Choice& next = choice(rule.subject, {arena, budget});
  if (!awaits(rule, next)) return std::nullopt;
  std::string_view due = next.names[*next.due].spelled;
  due.remove_suffix(1);  // its quote
  return read_string(due);
}

// Whether what is read may still become the name that is due.
bool JsonRules::awaits(const Rule& rule, const Choice& choice) const {
  if (!choice.due || *choice.due < rule.low || *choice.due >= rule.high) return false;
  if (rule.escape == Texts::kEmpty) return true;
  const auto code_point = code_point_at(choice.names[*choice.due].spelled, rule.record);
  return code_point && bytes_left_of_escape(code_point->value, texts_.string(rule.escape));
}

ExpressionId JsonRules::after_name_of(const Rule& rule, std::size_t place, const Work& work) {
  const Choice::Name& name = choice(rule.subject, work).names[place];
  const Object object = objects_[rule.subject];
  const Object rest = after_declared(object, name);
  if (object.is_tagged) {
    const std::string_view written = name.spelled.substr(0, name.spelled.size() - 1);
    return after_tagged_name(sets_.objects().branches(object.rest, name.name, work), rest,
                             tags_->after_closing(written, work), rule.line, work);
  }
  return after_name(sets_.objects().branches(object.rest, name.name, work), rest, rule.line, work);
}

// About::shortest of a name of which so many bytes are read.
std::uint32_t JsonRules::shortest_with(const Choice::Name& name, std::uint32_t object, std::size_t read,
                                       const Line& line, const Work& work) {
  if (line.mode != Mode::Relaxed) return 1;
  return capped_sum(name.spelled.size() - read, least_of_name(object, name.name, line, work));
}

// The rest of some names.
ExpressionId JsonRules::name_expression(const Rule& rule, const Work& work) {
  const Choice& next = choice(rule.subject, work);
  const bool is_awaited = awaits(rule, next), is_relaxed = rule.line.mode == Mode::Relaxed;
  const std::string begun = texts_.string(rule.escape);
  std::uint32_t least = kNoLength, shortest = kLongestLength;
  for (std::uint32_t i = rule.low; i < rule.high; ++i) {
    const Choice::Name& name = next.names[i];
    std::size_t read = rule.record, left = 0;
    if (!begun.empty()) {
      const auto code_point = code_point_at(name.spelled, read);
      const auto missing = code_point ? bytes_left_of_escape(code_point->value, begun) : std::nullopt;
      if (!missing) continue;
      read += code_point->size;
      left = *missing;
    }
    shortest =
        std::min(shortest, capped_sum(shortest_with(name, rule.subject, read, rule.line, work), is_relaxed ? left : 0));
    // The lengths are from the quotes before the names on.
    if ((!is_awaited || !name.is_late) && name.length < kNoLength)
      least = std::min(least, capped_sum(name.length - static_cast<std::uint32_t>(read), left));
  }
  if (is_relaxed && is_awaited && !next.others.empty())
    shortest = std::min(shortest, least_after_other(rule.subject, rule.line, work));
  return expression(this->rule(rule, least, shortest), work);
}

ExpressionId JsonRules::derive_name(const Rule& rule, std::uint8_t byte, const Work& work) {
  const Choice& next = choice(rule.subject, work);
  if (next.are_escaped && (byte == '\\' || rule.escape != Texts::kEmpty)) return derive_escape(rule, byte, work);
  const auto begin = next.names.begin() + rule.low, end = next.names.begin() + rule.high;
  const std::size_t read = rule.record;
  const auto byte_at = [&](const Choice::Name& name) { return static_cast<std::uint8_t>(name.spelled[read]); };
  const auto [first, last] = std::ranges::equal_range(begin, end, byte, {}, byte_at);
  if (first == last) return Arena::kEmpty;
  Rule rest = rule;
  rest.low = static_cast<std::uint32_t>(first - next.names.begin());
  rest.high = static_cast<std::uint32_t>(last - next.names.begin());
  rest.record = static_cast<std::uint32_t>(read + 1);
  const bool leaves_due = awaits(rule, next) && !awaits(rest, next);
  if (leaves_due && std::ranges::all_of(first, last, &Choice::Name::is_late)) return Arena::kEmpty;
  if (first->spelled.size() == read + 1) return after_name_of(rule, rest.low, work);
  return leaves_due ? opened(rest, work) : name_expression(rest, work);
}

// What an escape stands for is read as its plain spelling, once it is whole.
ExpressionId JsonRules::derive_escape(const Rule& rule, std::uint8_t byte, const Work& work) {
  const Choice& next = choice(rule.subject, work);
  const TextId escape = texts_.extended(rule.escape, byte);
  const std::string begun = texts_.string(escape);
  Rule rest = rule;
  rest.escape = escape;
  rest.high = rule.low;
  bool are_late = true;
  for (std::uint32_t i = rule.low; i < rule.high; ++i) {
    const Choice::Name& name = next.names[i];
    const std::optional<SpelledCodePoint> code_point = code_point_at(name.spelled, rule.record);
    if (!code_point) continue;
    const std::optional<std::size_t> left = bytes_left_of_escape(code_point->value, begun);
    if (!left) continue;
    if (rest.high == rule.low) rest.low = i;
    rest.high = i + 1;
    are_late &= name.is_late;
    if (*left == 0) {  // all names that take this escape have the same character there
      rest.escape = Texts::kEmpty;
      rest.record = static_cast<std::uint32_t>(rule.record + code_point->size);
    }
  }
  if (rest.high == rule.low) return Arena::kEmpty;
  const bool leaves_due = awaits(rule, next) && !awaits(rest, next);
  if (leaves_due && are_late) return Arena::kEmpty;
  return leaves_due ? opened(rest, work) : name_expression(rest, work);
}

// Names that have left the due one as a name does that may come: any other may begin so too.
ExpressionId JsonRules::opened(const Rule& rule, const Work& work) {
  const Choice& next = choice(rule.subject, work);
  const Object object = objects_[rule.subject];
  const TextId read = texts_.extended(Texts::kEmpty, next.names[rule.low].spelled.substr(0, rule.record));
  std::vector<ExpressionId> ways{name_expression(rule, work)};
  for (const auto& [number, length] : next.others) {
    if (rule.line.mode == Mode::Relaxed) {
      ExpressionId names = relaxed_names(rule.subject, number, work);
      for (const char byte : texts_.string(read) + texts_.string(rule.escape))
        if (names != Arena::kEmpty) names = work.arena.derivative(names, static_cast<std::uint8_t>(byte), work.budget);
      if (names != Arena::kEmpty)
        ways.push_back(approximate_other(rule.subject, number, names, Gap::None, false, rule.line, work));
      continue;
    }
    const Name name = name_after(object, number, read, rule.escape, work);
    if (name.rest == Arena::kEmpty) continue;
    if (rule.line.mode == Mode::Exact)
      ways.push_back(
          other_name({Form::Other, rule.subject, 0, number, read.value, rule.line, rule.escape}, name, work));
    else ways.push_back(approximate_late(rule, number, name, work));
  }
  return work.arena.unite(ways);
}

ByteSet JsonRules::bytes_of_name(const Rule& rule, const Work& work) {
  ByteSet bytes;
  const Choice& next = choice(rule.subject, work);
  const bool is_awaited = awaits(rule, next);
  const std::string begun = texts_.string(rule.escape);
  for (std::uint32_t i = rule.low; i < rule.high; ++i) {
    if (is_awaited && next.names[i].is_late) continue;
    const std::string_view name = next.names[i].spelled;
    if (begun.empty()) bytes.add(static_cast<std::uint8_t>(name[rule.record]));
    if (!next.are_escaped) continue;
    if (const auto code_point = code_point_at(name, rule.record))
      bytes |= next_bytes_of_escape(code_point->value, begun);
  }
  return bytes;
}

JsonRules::Object JsonRules::after_declared(Object object, const Choice::Name& name) {
  PlaceSet written = place_sets_[object.written];
  written.add(name.place);
  object.written =
      numbered(place_set_index_, written, [&](std::uint32_t number) { put_at(place_sets_, number, written); });
  return object;
}

// A colon, one of the values that may come, and the rest of the members.
ExpressionId JsonRules::after_name(const ObjectFormulas::Branches& ways, Object rest, Line line, const Work& work) {
  Arena& arena = work.arena;
  std::vector<ExpressionId> next;
  for (const Branch<ObjectTag>& way : *ways) {
    rest.rest = way.rest;
    if (!sets_.objects().some_length(way.rest, room(rest), work)) continue;
    next.push_back(
        arena.concatenate(value(way.value, Gap::Space, line, work), members(object_number(rest), false, line, work)));
  }
  return layout_.after_blank(Gap::None, arena.concatenate(literal(":", work), arena.unite(next)), work);
}

// ---- other names ------------------------------------------------------------------------------
//
// A name must not be taken.  Mostly there are so many names that this is a question of its last byte alone:
// texts with one beginning are more than those that are taken.  Where they may be fewer, the name is narrowed to those
// that are left, and it is settled then: nothing needs to be counted for it any more.

ExpressionId JsonRules::other_name(Rule wanted, const Name& name, const Work& work) {
  if (name.rest == Arena::kEmpty) return Arena::kEmpty;
  const Choice& next = choice(wanted.subject, work);
  constexpr std::uint32_t kSpare = 4;  // bytes that distinguish a name from all that are taken
  const std::size_t repeated = is_forgotten(objects_[wanted.subject]) ? texts_.length({wanted.record}) : 0;
  const std::uint32_t length = capped_sum(next.length_of(wanted.high), kSpare, repeated);
  wanted.low = name.is_settled ? 1 : 0;
  const RuleId id = rule(wanted, length);
  made(id) = name.rest;
  return expression(id, work);
}

JsonRules::Name JsonRules::begun_name(const Object& object, std::uint32_t name_class, const Work& work) {
  const auto classes = sets_.objects().name_classes(object.rest, work);
  const ObjectFormulas::NameClass& of_name = (*classes)[name_class];
  const Name name{work.arena.terminal(names_of(object, of_name, work), work.budget), of_name.is_any};
  return checked_name(name, object, name_class, Texts::kEmpty, Texts::kEmpty, work);
}

// The same, settled where that is due.
JsonRules::Name JsonRules::checked_name(Name name, const Object& object, std::uint32_t name_class, TextId record,
                                        TextId escape, const Work& work) {
  const TextSetId declared = orders_[object.order].spelled;
  const auto is_ample = [&](std::uint64_t taken) {
    return !work.arena.narrows_always() && has_more(name.rest, Part::String, taken, work);
  };
  if (name.is_settled || is_ample(std::uint64_t{text_sets_.size(object.others)} + text_sets_.size(declared)))
    return name;
  if (is_ample(taken_count(object, record))) return name;
  return settled_name(name, object, name_class, record, escape, work);
}

// Without the names that are taken.
JsonRules::Name JsonRules::settled_name(Name name, const Object& object, std::uint32_t name_class, TextId record,
                                        TextId escape, const Work& work) {
  name.is_settled = true;
  const std::vector<std::string> taken = taken_below(object, record);
  if (taken.empty()) return name;
  const auto classes = sets_.objects().name_classes(object.rest, work);
  name.rest = work.arena.terminal(sets_.without_texts(names_of(object, (*classes)[name_class], work), taken, work),
                                  work.budget);
  for (const char byte : texts_.string(record) + texts_.string(escape))
    name.rest = work.arena.settled(work.arena.derivative(name.rest, static_cast<std::uint8_t>(byte), work.budget));
  return name;
}

// What may still be written of a name that begins so.
JsonRules::Name JsonRules::name_after(const Object& object, std::uint32_t name_class, TextId record, TextId escape,
                                      const Work& work) {
  Name name = begun_name(object, name_class, work);
  TextId read = Texts::kEmpty, read_escape = Texts::kEmpty;
  const auto read_byte = [&](TextId& text, char byte) {
    text = texts_.extended(text, static_cast<std::uint8_t>(byte));
    name.rest = work.arena.derivative(name.rest, static_cast<std::uint8_t>(byte), work.budget);
    if (name.rest != Arena::kEmpty) name = checked_name(name, object, name_class, read, read_escape, work);
    return name.rest != Arena::kEmpty;
  };
  for (const char byte : texts_.string(record))
    if (!read_byte(read, byte)) return name;
  for (const char byte : texts_.string(escape))
    if (!read_byte(read_escape, byte)) return name;
  return name;
}

// What may still be written of it, read again where the arena is another one.  It may have come to be settled within an
// escape.
JsonRules::Name JsonRules::name_so_far(const Rule& other, const Work& work) {
  const RuleId id = rule(other, 0);  // which is there
  if (const ExpressionId known = made(id); known != Arena::kEmpty) return {known, other.low != 0};
  const Object object = objects_[other.subject];
  Name name = name_after(object, other.high, {other.record}, other.escape, work);
  if (other.low != 0 && !name.is_settled)
    name = settled_name(name, object, other.high, {other.record}, other.escape, work);
  name.is_settled = other.low != 0;
  made(id) = name.rest;
  return name;
}

// The names that are taken and begin as this one does, as they are.
std::vector<std::string> JsonRules::taken_below(const Object& object, TextId record) const {
  std::vector<std::string> taken;
  for (const TextSetId set : {object.others, orders_[object.order].spelled})
    for (const std::string& name : text_sets_.strings(text_sets_.below(set, record)))
      taken.push_back(read_string(name));
  return taken;
}

std::uint64_t JsonRules::taken_count(const Object& object, TextId record) const {
  return std::uint64_t{text_sets_.size(text_sets_.below(object.others, record))} +
         text_sets_.size(text_sets_.below(orders_[object.order].spelled, record));
}

bool JsonRules::is_taken(const Object& object, TextId spelled) const {
  return text_sets_.contains(object.others, spelled) || text_sets_.contains(orders_[object.order].spelled, spelled);
}

ExpressionId JsonRules::derive_other(RuleId id, std::uint8_t byte, const Work& work) {
  const Rule rule = rules_[id.value];
  const Object object = objects_[rule.subject];
  const Name before = name_so_far(rule, work);
  if (const ExpressionId rest = work.arena.derivative(before.rest, byte, work.budget); rest != Arena::kEmpty) {
    Rule longer = rule;
    if (style_.spelling != Spelling::Plain && !object.is_tagged && (byte == '\\' || rule.escape != Texts::kEmpty)) {
      longer.escape = texts_.extended(rule.escape, byte);
      if (const std::string escape = texts_.string(longer.escape); code_point_of_escape(escape)) {
        longer.record = texts_.extended({rule.record}, spelled_string(read_string(escape))).value;
        longer.escape = Texts::kEmpty;
      }
    } else {
      longer.record = texts_.extended({rule.record}, byte).value;
    }
    return other_name(
        longer, checked_name({rest, before.is_settled}, object, rule.high, {longer.record}, longer.escape, work), work);
  }
  if (byte != name_end(object) || rule.escape != Texts::kEmpty || !work.arena.node(before.rest).nullable)
    return Arena::kEmpty;
  const TextId spelled{rule.record};
  if (is_taken(object, spelled)) return Arena::kEmpty;
  Object after = object;
  after.others = text_sets_.with(object.others, spelled);
  const auto classes = sets_.objects().name_classes(object.rest, work);
  const auto ways = sets_.objects().branches(object.rest, (*classes)[rule.high], work);
  return object.is_tagged
             ? after_tagged_name(ways, after, tags_->after_closing(texts_.string(spelled), work), rule.line, work)
             : after_name(ways, after, rule.line, work);
}

namespace {

// Texts, each with a quote, or another byte.
class QuotedTree final : public TextTree {
 public:
  QuotedTree(std::shared_ptr<const TextTree> texts, std::uint8_t end) : texts_(std::move(texts)), end_(end) {}
  void walk(Walk& walk) const override {
    Quoting quoting(walk, end_);
    texts_->walk(quoting);
  }

 private:
  class Quoting final : public Walk {
   public:
    Quoting(Walk& walk, std::uint8_t end) : walk_(walk), end_(end) {}
    bool enter(std::uint8_t byte) override { return walk_.enter(byte); }
    void leave() override { walk_.leave(); }
    void mark(bool) override {
      if (!walk_.enter(end_)) return;
      walk_.mark(true);
      walk_.leave();
    }

   private:
    Walk& walk_;
    std::uint8_t end_;
  };
  std::shared_ptr<const TextTree> texts_;
  std::uint8_t end_;
};

}  // namespace

// A name in front refuses what remains, quote and all, of the names that are taken and begin as it does.
// `is_unverified`:  what follows the name is.
Approximation JsonRules::approximate_name(const Rule& other, bool is_unverified, const Work& work) {
  const Name name = name_so_far(other, work);
  const bool is_sure = (is_any_name(other, work) || name.is_settled) && !is_forgotten(objects_[other.subject]);
  Approximation approximation{approximate_other(other.subject, other.high, name.rest, Gap::None,
                                                is_unverified || !is_sure, other.line.of(Mode::Approximation), work),
                              {},
                              {}};
  add_taken(objects_[other.subject], {other.record}, other.escape, is_sure ? std::nullopt : std::optional(name.rest),
            "", approximation, work);
  return approximation;
}

// Refuses what is taken after the bytes of a record.  `rest`: what may still be written after them, if it may come to
// be taken.
void JsonRules::add_taken(const Object& object, TextId record, TextId escape, std::optional<ExpressionId> rest,
                          const std::string& lead, Approximation& approximation, const Work& work) {
  const std::uint64_t taken =
      std::uint64_t{text_sets_.size(object.others)} + text_sets_.size(orders_[object.order].spelled);
  for (const TextSetId set : {object.others, orders_[object.order].spelled}) {
    const TextSetId below = text_sets_.below(set, record);
    if (below == kNoTexts) continue;
    std::shared_ptr<const TextTree> texts;
    if (style_.spelling == Spelling::Plain || object.is_tagged)
      texts = std::make_shared<TextSetTree>(text_sets_, below, texts_.length(record));
    else texts = std::make_shared<SpelledTree>(text_sets_, below, texts_.string(record), texts_.string(escape));
    approximation.refused.push_back({lead, std::make_shared<QuotedTree>(texts, name_end(object))});
    if (rest) approximation.unverified.push_back({lead, unverified_along(texts, *rest, taken, work)});
  }
}

// ---- late names -------------------------------------------------------------------------------

// Calls `visit(lead, class, what is read, name)` for each class of undeclared names and each fork after which they may
// come:  `lead` are the bytes up to it.
template <class Visit>
void JsonRules::visit_forks(const Rule& rule, Visit&& visit, const Work& work) {
  const Choice& next = choice(rule.subject, work);
  if (!awaits(rule, next) || rule.escape != Texts::kEmpty) return;
  const std::string_view due = next.names[*next.due].spelled;
  for (const Choice::Fork& fork : next.forks) {
    if (fork.shared < rule.record || static_cast<std::uint8_t>(fork.byte) == name_end(objects_[rule.subject])) continue;
    const std::string read = std::string(due.substr(0, fork.shared)) + fork.byte;
    const TextId text = texts_.extended(Texts::kEmpty, read);
    for (const auto& [number, length] : next.others) {
      const Name name = name_after(objects_[rule.subject], number, text, Texts::kEmpty, work);
      if (name.rest != Arena::kEmpty) visit(read.substr(rule.record), number, text, name);
    }
  }
}

// Undeclared names after a fork, in the mode of the rule; everything after them is unverified.
ExpressionId JsonRules::approximate_late(const Rule& rule, std::uint32_t name_class, const Name& name,
                                         const Work& work) {
  const ExpressionId other = approximate_other(rule.subject, name_class, name.rest, Gap::None, true, rule.line, work);
  return name.is_settled || rule.line.mode != Mode::Approximation ? other : unverified_from(other, work);
}

ExpressionId JsonRules::approximate_late_names(const Rule& rule, const Work& work) {
  std::vector<ExpressionId> ways;
  visit_forks(
      rule,
      [&](const std::string& lead, std::uint32_t number, TextId, const Name& name) {
        ways.push_back(work.arena.concatenate(literal(lead, work), approximate_late(rule, number, name, work)));
      },
      work);
  return work.arena.unite(ways);
}

ExpressionId JsonRules::approximate_declared(RuleId id, const Work& work) {
  Rule rule = rules_[id.value];
  rule.line.mode = Mode::Approximation;
  rule.subject = approximate_object(rule.subject, work);
  return expression(this->rule(rule, abouts_[id.value].spelled), work);
}

// A declared name in front, and what may come in its place after a fork.
std::vector<Approximation> JsonRules::approximations_of_declared(RuleId id, const Work& work) {
  const Rule rule = rules_[id.value];
  Approximation late{Arena::kEmpty, {}, {}};
  std::vector<ExpressionId> ways;
  visit_forks(
      rule,
      [&](const std::string& lead, std::uint32_t number, TextId read, const Name& name) {
        const bool is_sure =
            (is_any_name(rule.subject, number, work) || name.is_settled) && !is_forgotten(objects_[rule.subject]);
        const ExpressionId other = approximate_other(rule.subject, number, name.rest, Gap::None, !is_sure,
                                                     rule.line.of(Mode::Approximation), work);
        ways.push_back(work.arena.concatenate(literal(lead, work), other));
        add_taken(objects_[rule.subject], read, Texts::kEmpty, is_sure ? std::nullopt : std::optional(name.rest), lead,
                  late, work);
      },
      work);
  late.expression = work.arena.unite(ways);
  std::vector<Approximation> found{{approximate_declared(id, work), {}, {}}};
  if (late.expression != Arena::kEmpty) found.push_back(std::move(late));
  return found;
}

// ---- other names in over-approximations -------------------------------------------------------

// Masks are shared between objects that have different names, where names are without end.
std::uint32_t JsonRules::approximate_object(std::uint32_t number, const Work& work) {
  Object object = objects_[number];
  if (object.others == kNoTexts) return number;
  const auto classes = sets_.objects().name_classes(object.rest, work);
  if (!std::ranges::all_of(*classes, &ObjectFormulas::NameClass::is_any)) return number;
  object.others = kNoTexts;
  return object_number(object);
}

bool JsonRules::is_any_name(std::uint32_t object, std::uint32_t name_class, const Work& work) {
  const auto classes = sets_.objects().name_classes(objects_[object].rest, work);
  return (*classes)[name_class].is_any;
}

// A name of some language, whatever is taken, with its quote, and what follows it.
ExpressionId JsonRules::approximate_other(std::uint32_t object, std::uint32_t name_class, ExpressionId names, Gap gap,
                                          bool is_unverified, Line line, const Work& work) {
  object = approximate_object(object, work);
  Arena& arena = work.arena;
  const ExpressionNode n = arena.node(names);
  const bool is_tagged = objects_[object].is_tagged;
  const char end = static_cast<char>(name_end(objects_[object]));
  const ExpressionId texts = arena.concatenate(n.kind == Kind::Terminal ? n.body() : names, literal({&end, 1}, work));
  const ExpressionId quoted = gap == Gap::None || is_tagged
                                  ? texts
                                  : layout_.after_blank(gap, arena.concatenate(literal("\"", work), texts), work);
  // of a name that a closing repeats, nobody knows here how long it is
  constexpr std::uint32_t kLongName = 1 << 20;
  const std::uint32_t length =
      capped_sum(choice(object, work).length_of(name_class), 2, is_forgotten(objects_[object]) ? kLongName : 0);
  const std::uint32_t shortest = least_after_other(object, line, work);
  const ExpressionId after = expression(rule({Form::After, object, 0, name_class, 0, line}, length, shortest), work);
  const ExpressionId name = arena.terminal(quoted, work.budget);
  const ExpressionId opened =
      is_tagged && gap != Gap::None ? arena.concatenate(name_opening(object, work), name) : name;
  return arena.concatenate(opened,
                           is_unverified && line.mode == Mode::Approximation ? unverified_from(after, work) : after);
}

// Names that begin within a token, quotes and all.
void JsonRules::add_approximate_others(const Rule& rule, std::vector<ExpressionId>& ways, const Work& work) {
  const Choice& next = choice(rule.subject, work);
  if (next.due) {
    const Rule name{Form::Name, rule.subject, 0, static_cast<std::uint32_t>(next.names.size()), 0, rule.line};
    const ExpressionId late = approximate_late_names(name, work);
    if (late == Arena::kEmpty) return;
    const ExpressionId opened = work.arena.concatenate(name_opening(rule.subject, work), late);
    ways.push_back(objects_[rule.subject].is_tagged ? opened
                                                    : layout_.after(Gap::Line, rule.line.indent, opened, work));
    return;
  }
  const auto add = [&](std::uint32_t name_class, const Name& name) {
    if (name.rest == Arena::kEmpty) return;
    const bool is_unverified = !name.is_settled && rule.line.mode == Mode::Approximation;
    const auto add_way = [&](ExpressionId way) { ways.push_back(is_unverified ? unverified_from(way, work) : way); };
    add_way(approximate_other(rule.subject, name_class, name.rest, Gap::Line, true, rule.line, work));
    if (objects_[rule.subject].is_tagged) return;
    const ExpressionId inside =
        approximate_other(rule.subject, name_class, name.rest, Gap::None, true, rule.line, work);
    add_way(
        layout_.after_break(Gap::Line, rule.line.indent, work.arena.concatenate(literal("\"", work), inside), work));
  };
  for (const auto& [number, length] : next.others) add(number, begun_name(objects_[rule.subject], number, work));
}

// The names of a class that are not declared.
ExpressionId JsonRules::relaxed_names(std::uint32_t object, std::uint32_t name_class, const Work& work) {
  const std::uint32_t order = objects_[object].order;
  const auto classes = sets_.objects().name_classes(objects_[object].rest, work);
  const ExpressionId all = names_of(objects_[object], (*classes)[name_class], work);
  return memoized(relaxed_names_, std::uint64_t{order} << 32 | all.value, [&] {
    std::vector<std::string> declared;
    for (const NameId name : orders_[order].names->names) declared.push_back(sets_.table().text(name));
    return sets_.without_texts(all, declared, work);
  });
}

// Such a name, with its quote, and what follows it.
ExpressionId JsonRules::relaxed_other_name(std::uint32_t object, std::uint32_t name_class, Line line,
                                           const Work& work) {
  const ExpressionId names = relaxed_names(object, name_class, work);
  return names == Arena::kEmpty ? names : approximate_other(object, name_class, names, Gap::None, false, line, work);
}

// What follows another name, which is not said to be written.
ExpressionId JsonRules::expand_after(const Rule& rule, const Work& work) {
  const Object object = objects_[rule.subject];
  const auto classes = sets_.objects().name_classes(object.rest, work);
  const auto ways = sets_.objects().branches(object.rest, (*classes)[rule.high], work);
  return object.is_tagged ? after_tagged_name(ways, object, tags_->after_closing(work), rule.line, work)
                          : after_name(ways, object, rule.line, work);
}

}  // namespace tokamata::json
