// The members of objects: which names may come, and what follows each.  See json_rules.hpp.

#include <algorithm>

#include "json/escapes.hpp"
#include "json/json_rules.hpp"
#include "json/leaves.hpp"
#include "common/memoized.hpp"

namespace tokamata::json {

ObjectFormulas::Room JsonRules::room(const Object& object) const {
  return {orders_[object.order].names.get(), object.next, &name_sets_[object.written], written(object.others)};
}

ExpressionId JsonRules::members(std::uint32_t number, bool is_first, Line line, const Work& work) {
  const Object object = objects_[number];
  const auto length = sets_.objects().some_length(object.rest, room(object), work);
  const std::uint32_t spelled = capped_sum(length.value_or(ExpressionNode::kUnspelled), 1);
  return expression(rule({Form::Members, number, is_first, 0, 0, line}, spelled, least_of_members(number, is_first, line, work)), work);
}

// With the brace.
std::uint32_t JsonRules::least_of_members(std::uint32_t object, bool is_first, const Line& line, const Work& work) {
  if (line.mode != Mode::Relaxed) return 1;
  const std::uint32_t members = sets_.objects().least_length(objects_[object].rest, kLevels, work);
  return capped_sum(members, is_first && members > 0 ? 0 : 1);
}

// After a name and its quote.
std::uint32_t JsonRules::least_of_name(std::uint32_t object, NameId name, const Line& line, const Work& work) {
  if (line.mode != Mode::Relaxed) return 1;
  return capped_sum(sets_.objects().least_length_with(objects_[object].rest, name, kLevels, work), 2);
}

const JsonRules::Choice& JsonRules::choice(std::uint32_t number, const Work& work) {
  if (const auto known = choices_.find(number); known != choices_.end()) return known->second;
  const Object object = objects_[number];
  const ObjectFormulas::Next next = sets_.objects().next(object.rest, room(object), style_.order == PropertyOrder::Schema, work);
  Choice found;
  found.others.assign(next.others.begin(), next.others.end());
  for (const auto& [place, length] : next.declared) {
    const NameId name = orders_[object.order].names->names[place];
    found.names.push_back({sets_.spelled_name(name), name, place, length});
  }
  std::ranges::sort(found.names, {}, &Choice::Name::spelled);
  found.are_escaped = are_escaped(object, found, work);
  return choices_.emplace(number, std::move(found)).first->second;
}

bool JsonRules::are_escaped(const Object& object, const Choice& next, const Work& work) {
  if (style_.spelling != Spelling::Natural) return style_.spelling == Spelling::Any;
  const auto is_escaped = [&](const Choice::Name& name) { return sets_.is_escaped(name.name); };
  if (std::ranges::any_of(next.names, is_escaped)) return true;
  if (next.others.empty()) return false;
  const auto classes = sets_.objects().name_classes(object.rest, work);
  return std::ranges::any_of(next.others, [&](const auto& other) { return (*classes)[other.first].is_escaped; });
}

ExpressionId JsonRules::expand_members(const Rule& rule, const Work& work) {
  const bool is_first = rule.low != 0;
  Arena& arena = work.arena;
  std::vector<ExpressionId> ways;
  if (sets_.objects().accepts(objects_[rule.subject].rest)) ways.push_back(closed('}', rule.line.indent, is_first, work));
  std::vector<ExpressionId> next;
  if (const ExpressionId all = names(rule.subject, rule.line, work); all != Arena::kEmpty)
    next.push_back(layout_.after(Gap::Line, rule.line.indent, arena.concatenate(literal("\"", work), all), work));
  if (rule.line.mode == Mode::Approximation || rule.line.mode == Mode::Unverified) add_approximate_others(rule, next, work);
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
    return other_name({Form::Other, object, 0, name_class, Texts::kEmpty.value, line}, begun_name(objects_[object], name_class, work), work);
  };
  if (!next.names.empty()) {
    std::uint32_t least = ~0u, shortest = kLongestLength;
    for (const Choice::Name& name : next.names) {
      least = std::min(least, name.length);
      shortest = std::min(shortest, shortest_with(name, object, 0, line, work));
    }
    const auto count = static_cast<std::uint32_t>(next.names.size());
    ways.push_back(expression(rule({Form::Name, object, 0, count, 0, line}, least, shortest), work));
  }
  for (const auto& [number, length] : next.others) {
    if (line.mode == Mode::Exact) ways.push_back(begun(number));
    if (line.mode == Mode::Relaxed) ways.push_back(relaxed_other_name(object, number, line, work));
  }
  return work.arena.unite(ways);
}

// ---- declared names ---------------------------------------------------------------------------

std::span<const std::string_view> JsonRules::strings(RuleId id, Arena& arena, Budget& budget) {
  const Rule& rule = rules_[id.value];
  strings_.clear();
  if (rule.form != Form::Name) return strings_;
  const Choice& next = choice(rule.subject, {arena, budget});
  if (next.are_escaped) return strings_;
  for (std::uint32_t i = rule.low; i < rule.high; ++i)
    strings_.push_back(next.names[i].spelled.substr(rule.record));
  return strings_;
}

ExpressionId JsonRules::after(RuleId id, std::size_t string, Arena& arena, Budget& budget) {
  const Rule rule = rules_[id.value];
  return after_name_of(rule, rule.low + string, {arena, budget});
}

std::uint32_t JsonRules::spelled_after(RuleId id, std::size_t string) const {
  const Rule& rule = rules_[id.value];
  return choices_.at(rule.subject).names[rule.low + string].length;
}

ExpressionId JsonRules::after_name_of(const Rule& rule, std::size_t place, const Work& work) {
  const Choice::Name& name = choice(rule.subject, work).names[place];
  const Object object = objects_[rule.subject];
  const Object rest = after_declared(object, name);
  return after_name(sets_.objects().branches(object.rest, name.name, work), rest, rule.line, work);
}

// About::shortest of a name of which so many bytes are read.
std::uint32_t JsonRules::shortest_with(const Choice::Name& name, std::uint32_t object, std::size_t read, const Line& line, const Work& work) {
  if (line.mode != Mode::Relaxed) return 1;
  return capped_sum(name.spelled.size() - read, least_of_name(object, name.name, line, work));
}

// Names that may be spelled in any way: what an escape stands for is read as its plain spelling, once it is whole.
ExpressionId JsonRules::derive_name(const Rule& rule, std::uint8_t byte, const Work& work) {
  const Choice& next = choice(rule.subject, work);
  if (next.are_escaped && (byte == '\\' || rule.escape != Texts::kEmpty)) return derive_escape(rule, byte, work);
  const auto begin = next.names.begin() + rule.low, end = next.names.begin() + rule.high;
  const std::size_t read = rule.record;
  const auto byte_at = [&](const Choice::Name& name) { return static_cast<std::uint8_t>(name.spelled[read]); };
  const auto [first, last] = std::ranges::equal_range(begin, end, byte, {}, byte_at);
  if (first == last) return Arena::kEmpty;
  if (byte == '"' && first->spelled.size() == read + 1)
    return after_name_of(rule, static_cast<std::size_t>(first - next.names.begin()), work);
  std::uint32_t least = ~0u, shortest = kLongestLength;
  for (auto name = first; name != last; ++name) {
    least = std::min(least, name->length);
    shortest = std::min(shortest, shortest_with(*name, rule.subject, read + 1, rule.line, work));
  }
  Rule rest = rule;
  rest.low = static_cast<std::uint32_t>(first - next.names.begin());
  rest.high = static_cast<std::uint32_t>(last - next.names.begin());
  rest.record = static_cast<std::uint32_t>(read + 1);
  // The lengths are from the quotes before the names on.
  return expression(this->rule(rest, least < kNoLength ? least - rest.record : least, shortest), work);
}

ExpressionId JsonRules::derive_escape(const Rule& rule, std::uint8_t byte, const Work& work) {
  const Choice& next = choice(rule.subject, work);
  const TextId escape = texts_.extended(rule.escape, byte);
  const std::string begun = texts_.string(escape);
  Rule rest = rule;
  rest.escape = escape;
  rest.high = rule.low;
  std::uint32_t least = ~0u, shortest = kLongestLength;
  for (std::uint32_t i = rule.low; i < rule.high; ++i) {
    const Choice::Name& name = next.names[i];
    const std::optional<SpelledCodePoint> code_point = code_point_at(name.spelled, rule.record);
    if (!code_point) continue;
    const std::optional<std::size_t> left = bytes_left_of_escape(code_point->value, begun);
    if (!left) continue;
    if (rest.high == rule.low) rest.low = i;
    rest.high = i + 1;
    if (*left == 0) {  // all names that take this escape have the same character there
      rest.escape = Texts::kEmpty;
      rest.record = static_cast<std::uint32_t>(rule.record + code_point->size);
    }
    const auto read = static_cast<std::uint32_t>(rule.record + code_point->size);
    if (name.length < kNoLength) least = std::min(least, capped_sum(name.length - read, *left));
    shortest = std::min(shortest, capped_sum(shortest_with(name, rule.subject, read, rule.line, work), rule.line.mode == Mode::Relaxed ? *left : 0));
  }
  if (rest.high == rule.low) return Arena::kEmpty;
  return expression(this->rule(rest, std::min(least, kNoLength), shortest), work);
}

ByteSet JsonRules::bytes_of_name(const Rule& rule, const Work& work) {
  ByteSet bytes;
  const Choice& next = choice(rule.subject, work);
  const std::string begun = texts_.string(rule.escape);
  for (std::uint32_t i = rule.low; i < rule.high; ++i) {
    const std::string_view name = next.names[i].spelled;
    if (begun.empty()) bytes.add(static_cast<std::uint8_t>(name[rule.record]));
    if (!next.are_escaped) continue;
    if (const auto code_point = code_point_at(name, rule.record)) bytes |= next_bytes_of_escape(code_point->value, begun);
  }
  return bytes;
}

JsonRules::Object JsonRules::after_declared(Object object, const Choice::Name& name) {
  if (style_.order == PropertyOrder::Schema) {
    const std::uint32_t ordered = orders_[object.order].names->ordered;
    object.next = std::max(object.next, std::min(name.place + 1, ordered));
    if (name.place < ordered) return object;
  }
  counted::vector<NameId> written = name_sets_[object.written];
  written.insert(std::ranges::lower_bound(written, name.name), name.name);
  object.written = numbered(name_set_index_, written, [&](std::uint32_t number) { put_at(name_sets_, number, written); });
  return object;
}

// A colon, one of the values that may come, and the rest of the members.
ExpressionId JsonRules::after_name(const ObjectFormulas::Branches& ways, Object rest, Line line,
                                   const Work& work) {
  Arena& arena = work.arena;
  std::vector<ExpressionId> next;
  for (const Branch<ObjectTag>& way : *ways) {
    rest.rest = way.rest;
    if (!sets_.objects().some_length(way.rest, room(rest), work)) continue;
    next.push_back(arena.concatenate(value(way.value, Gap::Space, line, work), members(object_number(rest), false, line, work)));
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
  const std::uint32_t length = capped_sum(next.length_of(wanted.high), kSpare);
  wanted.low = name.is_settled ? 1 : 0;
  const RuleId id = rule(wanted, length);
  made(id) = name.rest;
  return expression(id, work);
}

JsonRules::Name JsonRules::begun_name(const Object& object, std::uint32_t name_class, const Work& work) {
  const auto classes = sets_.objects().name_classes(object.rest, work);
  const ObjectFormulas::NameClass& of_name = (*classes)[name_class];
  const Name name{work.arena.terminal(of_name.names, work.budget), of_name.is_any};
  return checked_name(name, object, name_class, Texts::kEmpty, work);
}

// The same, settled where that is due.
JsonRules::Name JsonRules::checked_name(Name name, const Object& object, std::uint32_t name_class, TextId record, const Work& work) {
  const TextSetId declared = orders_[object.order].spelled;
  const auto is_ample = [&](std::uint64_t taken) {
    return !work.arena.narrows_always() && has_more(name.rest, Part::String, taken, work);
  };
  if (name.is_settled || is_ample(std::uint64_t{text_sets_.size(object.others)} + text_sets_.size(declared))) return name;
  const std::vector<std::string> taken = taken_below(object, record);
  if (is_ample(taken.size())) return name;
  name.is_settled = true;
  if (taken.empty()) return name;
  const auto classes = sets_.objects().name_classes(object.rest, work);
  name.rest = work.arena.terminal(sets_.without_texts((*classes)[name_class].names, taken, work), work.budget);
  for (const char byte : texts_.string(record))
    name.rest = work.arena.settled(work.arena.derivative(name.rest, static_cast<std::uint8_t>(byte), work.budget));
  return name;
}

// What may still be written of it, read again where the arena is another one.
JsonRules::Name JsonRules::name_so_far(const Rule& other, const Work& work) {
  const RuleId id = rule(other, 0);  // which is there
  if (const ExpressionId known = made(id); known != Arena::kEmpty) return {known, other.low != 0};
  const Object object = objects_[other.subject];
  Name name = begun_name(object, other.high, work);
  TextId record = Texts::kEmpty;
  for (const char byte : texts_.string({other.record})) {
    record = texts_.extended(record, static_cast<std::uint8_t>(byte));
    name.rest = work.arena.derivative(name.rest, static_cast<std::uint8_t>(byte), work.budget);
    name = checked_name(name, object, other.high, record, work);
  }
  made(id) = name.rest;
  return name;
}

// The names that are taken and begin as this one does, as they are.
std::vector<std::string> JsonRules::taken_below(const Object& object, TextId record) const {
  std::vector<std::string> taken;
  for (const TextSetId set : {object.others, orders_[object.order].spelled})
    for (const std::string& name : text_sets_.strings(style_.spelling == Spelling::Plain ? text_sets_.below(set, record) : set))
      taken.push_back(read_string(name));
  return taken;
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
    const TextId record = texts_.extended({rule.record}, byte);
    longer.record = record.value;
    return other_name(longer, checked_name({rest, before.is_settled}, object, rule.high, record, work), work);
  }
  if (byte != '"' || !work.arena.node(before.rest).nullable) return Arena::kEmpty;
  TextId spelled{rule.record};
  if (style_.spelling != Spelling::Plain)
    spelled = texts_.extended(Texts::kEmpty, spelled_string(read_string(texts_.string(spelled))));
  if (is_taken(object, spelled)) return Arena::kEmpty;
  Object after = object;
  after.others = text_sets_.with(object.others, spelled);
  if (style_.order == PropertyOrder::Schema) after.next = orders_[object.order].names->ordered;
  const auto classes = sets_.objects().name_classes(object.rest, work);
  return after_name(sets_.objects().branches(object.rest, (*classes)[rule.high], work), after, rule.line, work);
}

namespace {

// All texts there are.
class AllTexts final : public TextTree {
 public:
  void walk(Walk& walk) const override { walk.mark(true); }
};

// The texts of a set after their first bytes, each with a quote.
class QuotedTree final : public TextTree {
 public:
  QuotedTree(const TextSets& sets, TextSetId set, std::uint32_t from) : tree_(sets, set, from) {}
  void walk(Walk& walk) const override {
    Quoting quoting(walk);
    tree_.walk(quoting);
  }

 private:
  class Quoting final : public Walk {
   public:
    explicit Quoting(Walk& walk) : walk_(walk) {}
    bool enter(std::uint8_t byte) override { return walk_.enter(byte); }
    void leave() override { walk_.leave(); }
    void mark(bool) override {
      if (!walk_.enter('"')) return;
      walk_.mark(true);
      walk_.leave();
    }

   private:
    Walk& walk_;
  };
  TextSetTree tree_;
};

}  // namespace

// A name in front refuses what remains, quote and all, of the names that are taken and begin as it does.  `is_unverified`:
// what follows the name is.
Approximation JsonRules::approximate_name(const Rule& other, bool is_unverified, const Work& work) {
  const Name name = name_so_far(other, work);
  const bool is_any = is_any_name(other, work), is_plain = !choice(other.subject, work).are_escaped;
  Approximation approximation{approximate_other(other.subject, other.high, name.rest, Gap::None, is_unverified || !(is_any || name.is_settled) || !is_plain, other.line.of(Mode::Approximation), work), {}, {}};
  const Object& object = objects_[other.subject];
  const std::uint64_t taken = std::uint64_t{text_sets_.size(object.others)} + text_sets_.size(orders_[object.order].spelled);
  const TextId record{other.record};
  for (const TextSetId set : {object.others, orders_[object.order].spelled}) {
    const TextSetId below = is_plain ? text_sets_.below(set, record) : set;
    if (below == kNoTexts) continue;
    if (is_plain) approximation.refused.push_back({"", std::make_shared<QuotedTree>(text_sets_, below, texts_.length(record))});
    if (is_any || name.is_settled) continue;
    if (is_plain)
      approximation.unverified.push_back({"", unverified_along(below, texts_.length(record), name.rest, taken, work)});
    else
      approximation.unverified.push_back({"", std::make_shared<AllTexts>()});
  }
  return approximation;
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

bool JsonRules::is_any_name(const Rule& other, const Work& work) {
  const auto classes = sets_.objects().name_classes(objects_[other.subject].rest, work);
  return (*classes)[other.high].is_any;
}

// A name of some language, whatever is taken, with its quote, and what follows it.
ExpressionId JsonRules::approximate_other(std::uint32_t object, std::uint32_t name_class, ExpressionId names, Gap gap,
                                        bool is_unverified, Line line, const Work& work) {
  object = approximate_object(object, work);
  Arena& arena = work.arena;
  const ExpressionNode n = arena.node(names);
  const ExpressionId texts = arena.concatenate(n.kind == Kind::Terminal ? n.body() : names, literal("\"", work));
  const ExpressionId quoted = gap == Gap::None ? texts : layout_.after_blank(gap, arena.concatenate(literal("\"", work), texts), work);
  const std::uint32_t length = capped_sum(choice(object, work).length_of(name_class), 2);
  const std::uint32_t shortest = line.mode == Mode::Relaxed ? capped_sum(least_of_members(object, false, line, work), 2) : 1;
  const ExpressionId after = expression(rule({Form::After, object, 0, name_class, 0, line}, length, shortest), work);
  return arena.concatenate(arena.terminal(quoted, work.budget), is_unverified && line.mode == Mode::Approximation ? unverified_from(after, work) : after);
}

// Names that begin within a token, quotes and all.
void JsonRules::add_approximate_others(const Rule& rule, std::vector<ExpressionId>& ways, const Work& work) {
  const Choice& next = choice(rule.subject, work);
  const auto add = [&](std::uint32_t name_class, const Name& name) {
    if (name.rest == Arena::kEmpty) return;
    const bool is_unverified = !name.is_settled && rule.line.mode == Mode::Approximation;
    const auto add_way = [&](ExpressionId way) { ways.push_back(is_unverified ? unverified_from(way, work) : way); };
    add_way(approximate_other(rule.subject, name_class, name.rest, Gap::Line, true, rule.line, work));
    const ExpressionId inside = approximate_other(rule.subject, name_class, name.rest, Gap::None, true, rule.line, work);
    add_way(layout_.after_break(Gap::Line, rule.line.indent, work.arena.concatenate(literal("\"", work), inside), work));
  };
  for (const auto& [number, length] : next.others) add(number, begun_name(objects_[rule.subject], number, work));
}

// A name of the class that is not declared, with its quote, and what follows it.
ExpressionId JsonRules::relaxed_other_name(std::uint32_t object, std::uint32_t name_class, Line line, const Work& work) {
  const std::uint32_t order = objects_[object].order;
  const auto classes = sets_.objects().name_classes(objects_[object].rest, work);
  const ExpressionId all = (*classes)[name_class].names;
  const ExpressionId names = memoized(relaxed_names_, std::uint64_t{order} << 32 | all.value, [&] {
    std::vector<std::string> declared;
    for (const NameId name : orders_[order].names->names) declared.push_back(sets_.table().text(name));
    return sets_.without_texts(all, declared, work);
  });
  return names == Arena::kEmpty ? names : approximate_other(object, name_class, names, Gap::None, false, line, work);
}

// What follows another name, which is not said to be written.
ExpressionId JsonRules::expand_after(const Rule& rule, const Work& work) {
  const Object object = objects_[rule.subject];
  Object rest = object;
  if (style_.order == PropertyOrder::Schema) rest.next = orders_[object.order].names->ordered;
  const auto classes = sets_.objects().name_classes(object.rest, work);
  return after_name(sets_.objects().branches(object.rest, (*classes)[rule.high], work), rest, rule.line, work);
}

}  // namespace tokamata::json
