// The members of objects: which names may come, and what follows each.  See json_rules.hpp.

#include <algorithm>

#include "json/json_rules.hpp"
#include "json/leaves.hpp"

namespace tokamata::json {

namespace {

bool is_among(const std::vector<NameId>& names, NameId name) { return std::ranges::find(names, name) != names.end(); }

}  // namespace

ObjectFormulas::Room JsonRules::room(const Object& object) const {
  return {orders_[object.order].get(), object.next, &name_sets_[object.written], &text_sets_[object.others]};
}

ExpressionId JsonRules::members(std::uint32_t number, bool is_first, Line line, const Work& work) {
  const Object object = objects_[number];
  const auto length = sets_.objects().some_length(object.rest, room(object), work);
  const std::uint32_t spelled = capped_sum(length.value_or(ExpressionNode::kUnspelled), 1);
  return expression(rule({Form::Members, number, is_first, 0, 0, line}, spelled), work);
}

const JsonRules::Choice& JsonRules::choice(std::uint32_t number, const Work& work) {
  if (const auto known = choices_.find(number); known != choices_.end()) return known->second;
  const Object object = objects_[number];
  const ObjectFormulas::Next next = sets_.objects().next(object.rest, room(object), style_.order == PropertyOrder::Schema, work);
  Choice found;
  found.others = next.others;
  for (const auto& [place, length] : next.declared) {
    const NameId name = orders_[object.order]->names[place];
    found.names.push_back({sets_.spelled_name(name), name, place, length});
  }
  std::ranges::sort(found.names, {}, &Choice::Name::spelled);
  return choices_.emplace(number, std::move(found)).first->second;
}

ExpressionId JsonRules::expand_members(const Rule& rule, const Work& work) {
  const bool is_first = rule.low != 0;
  Arena& arena = work.arena;
  std::vector<ExpressionId> ways;
  if (sets_.objects().accepts(objects_[rule.subject].rest)) ways.push_back(closed('}', rule.line.indent, is_first, work));
  std::vector<ExpressionId> next;
  if (const ExpressionId all = names(rule.subject, rule.line, work); all != Arena::kEmpty)
    next.push_back(layout_.behind(Gap::Line, rule.line.indent, arena.concatenate(literal("\"", work), all), work));
  if (rule.line.mode != Mode::Exact) add_others_in_sketch(rule, next, work);
  const ExpressionId more = arena.unite(next);
  if (more != Arena::kEmpty)
    ways.push_back(is_first ? more : layout_.behind_blank(Gap::None, arena.concatenate(literal(",", work), more), work));
  return arena.unite(ways);
}

// All names that may come next, behind their first quote.
ExpressionId JsonRules::names(std::uint32_t object, Line line, const Work& work) {
  const Choice& next = choice(object, work);
  std::vector<ExpressionId> ways;
  if (!next.names.empty()) {
    std::uint32_t least = ~0u;
    for (const Choice::Name& name : next.names) least = std::min(least, name.length);
    if (style_.spelling == Spelling::Any) {
      if (line.mode == Mode::Exact) ways.push_back(other_names(object, kDeclared, "", line, work));
    } else {
      const auto count = static_cast<std::uint32_t>(next.names.size());
      ways.push_back(expression(rule({Form::Name, object, 0, count, 0, line}, least), work));
    }
  }
  if (line.mode == Mode::Exact)
    for (const auto& [number, length] : next.others) ways.push_back(other_names(object, number, "", line, work));
  return work.arena.unite(ways);
}

// ---- declared names ---------------------------------------------------------------------------

std::span<const std::string_view> JsonRules::strings(RuleId id, Arena& arena, Budget& budget) {
  const Rule& rule = rules_[id.value];
  strings_.clear();
  if (rule.form != Form::Name) return strings_;
  const Choice& next = choice(rule.subject, {arena, budget});
  for (std::uint32_t i = rule.low; i < rule.high; ++i)
    strings_.push_back(next.names[i].spelled.substr(rule.record));
  return strings_;
}

ExpressionId JsonRules::behind(RuleId id, std::size_t string, Arena& arena, Budget& budget) {
  const Rule rule = rules_[id.value];
  return after_name_of(rule, rule.low + string, {arena, budget});
}

std::uint32_t JsonRules::spelled_behind(RuleId id, std::size_t string) const {
  const Rule& rule = rules_[id.value];
  return choices_.at(rule.subject).names[rule.low + string].length;
}

ExpressionId JsonRules::after_name_of(const Rule& rule, std::size_t place, const Work& work) {
  const Choice::Name& name = choice(rule.subject, work).names[place];
  const Object object = objects_[rule.subject];
  const Object rest = after_declared(object, name);
  return after_name(sets_.objects().branches(object.rest, name.name, work), rest, rule.line, work);
}

ExpressionId JsonRules::derive_name(const Rule& rule, std::uint8_t byte, const Work& work) {
  const Choice& next = choice(rule.subject, work);
  const auto begin = next.names.begin() + rule.low, end = next.names.begin() + rule.high;
  const std::size_t read = rule.record;
  const auto byte_at = [&](const Choice::Name& name) { return static_cast<std::uint8_t>(name.spelled[read]); };
  const auto [first, last] = std::ranges::equal_range(begin, end, byte, {}, byte_at);
  if (first == last) return Arena::kEmpty;
  if (byte == '"' && first->spelled.size() == read + 1)
    return after_name_of(rule, static_cast<std::size_t>(first - next.names.begin()), work);
  std::uint32_t least = ~0u;
  for (auto name = first; name != last; ++name) least = std::min(least, name->length);
  Rule rest = rule;
  rest.low = static_cast<std::uint32_t>(first - next.names.begin());
  rest.high = static_cast<std::uint32_t>(last - next.names.begin());
  rest.record = static_cast<std::uint32_t>(read + 1);
  return expression(this->rule(rest, least), work);
}

JsonRules::Object JsonRules::after_declared(Object object, const Choice::Name& name) {
  if (style_.order == PropertyOrder::Schema) {
    const std::uint32_t ordered = orders_[object.order]->ordered;
    object.next = std::max(object.next, std::min(name.place + 1, ordered));
    if (name.place < ordered) return object;
  }
  std::vector<NameId> written = name_sets_[object.written];
  written.insert(std::ranges::lower_bound(written, name.name), name.name);
  const auto [place, is_new] = name_set_index_.try_emplace(written, static_cast<std::uint32_t>(name_sets_.size()));
  if (is_new) name_sets_.push_back(std::move(written));
  object.written = place->second;
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
  return layout_.behind_blank(Gap::None, arena.concatenate(literal(":", work), arena.unite(next)), work);
}

// ---- other names ------------------------------------------------------------------------------

// `rest`, where it is known, is what may still be written of the name.
ExpressionId JsonRules::other_names(std::uint32_t object, std::uint32_t name_class, const std::string& record, Line line,
                                    const Work& work, std::optional<ExpressionId> rest) {
  const Choice& next = choice(object, work);
  const Rule wanted{Form::Other, object, 0, name_class, record_number(record), line};
  constexpr std::uint32_t kSpare = 4;  // bytes that tell a name from all that are taken
  std::uint32_t length = next.length_of(name_class) + kSpare;
  if (name_class == kDeclared)
    for (const Choice::Name& name : next.names) length = std::max(length, 6 * name.length);
  const RuleId id = rule(wanted, length);
  if (rest) cores_.insert_or_assign(id.value, *rest);
  return core(id, work) == Arena::kEmpty ? Arena::kEmpty : expression(id, work);
}

ExpressionId JsonRules::derive_other(RuleId id, std::uint8_t byte, const Work& work) {
  const Rule rule = rules_[id.value];
  const Object object = objects_[rule.subject];
  const ExpressionId before = core(id, work);
  const std::string record = records_[rule.record];
  const ExpressionId rest = work.arena.derivative(before, byte, work.budget);
  const auto is_taken = [&](const std::string& name) {
    const std::optional<NameId> declared = sets_.table().find_name(name);
    if (declared && is_among(orders_[object.order]->names, *declared)) return true;
    return std::ranges::binary_search(text_sets_[object.others], name);
  };
  if (rest != Arena::kEmpty) return other_names(rule.subject, rule.high, record + static_cast<char>(byte), rule.line, work, rest);
  if (byte != '"' || !work.arena.node(before).nullable) return Arena::kEmpty;
  const std::string name = read_string(record);
  Object after = object;
  if (rule.high == kDeclared) {
    const Choice& next = choice(rule.subject, work);
    const auto found = std::ranges::find(next.names, *sets_.table().find_name(name), &Choice::Name::name);
    Rule declared{Form::Name, rule.subject, static_cast<std::uint32_t>(found - next.names.begin()), 0,
                  static_cast<std::uint32_t>(found->spelled.size() - 1), rule.line};
    declared.high = declared.low + 1;
    return derive_name(declared, byte, work);
  }
  if (is_taken(name)) return Arena::kEmpty;
  std::vector<std::string> others = text_sets_[object.others];
  others.insert(std::ranges::lower_bound(others, name), name);
  after.others = texts_number(std::move(others));
  if (style_.order == PropertyOrder::Schema) after.next = orders_[object.order]->ordered;
  const auto classes = sets_.objects().name_classes(object.rest, work);
  return after_name(sets_.objects().branches(object.rest, (*classes)[rule.high], work), after, rule.line, work);
}

// ---- other names in sketches ------------------------------------------------------------------

// A name of some language, whatever is taken, with its quote, and what follows it.
ExpressionId JsonRules::other_in_sketch(std::uint32_t object, std::uint32_t name_class, ExpressionId names, Gap gap,
                                        bool is_suspect, Line line, const Work& work) {
  Arena& arena = work.arena;
  const ExpressionNode n = arena.node(names);
  const ExpressionId texts = arena.concatenate(n.kind == Kind::Terminal ? n.body() : names, literal("\"", work));
  const ExpressionId quoted = gap == Gap::None ? texts : layout_.behind_blank(gap, arena.concatenate(literal("\"", work), texts), work);
  const std::uint32_t length = choice(object, work).length_of(name_class) + 2;
  const ExpressionId after = expression(rule({Form::After, object, 0, name_class, 0, line}, length), work);
  return arena.concatenate(arena.terminal(quoted, work.budget), is_suspect && line.mode == Mode::Sketch ? suspect_from(after, work) : after);
}

// Names that begin within a token, quotes and all.
void JsonRules::add_others_in_sketch(const Rule& rule, std::vector<ExpressionId>& ways, const Work& work) {
  const Choice& next = choice(rule.subject, work);
  const auto add = [&](std::uint32_t name_class, ExpressionId names) {
    ways.push_back(other_in_sketch(rule.subject, name_class, names, Gap::Line, true, rule.line, work));
    const ExpressionId inside = other_in_sketch(rule.subject, name_class, names, Gap::None, true, rule.line, work);
    ways.push_back(layout_.behind_break(Gap::Line, rule.line.indent, work.arena.concatenate(literal("\"", work), inside), work));
  };
  if (style_.spelling == Spelling::Any && !next.names.empty()) {
    const RuleId exact = this->rule({Form::Other, rule.subject, 0, kDeclared, record_number(""), rule.line.of(Mode::Exact)}, 0);
    add(kDeclared, core(exact, work));
  }
  for (const auto& [number, length] : next.others) {
    const RuleId exact = this->rule({Form::Other, rule.subject, 0, number, record_number(""), rule.line.of(Mode::Exact)}, length);
    if (const ExpressionId names = core(exact, work); names != Arena::kEmpty) add(number, names);
  }
}

// What follows another name, which is not said to be written.
ExpressionId JsonRules::expand_after(const Rule& rule, const Work& work) {
  const Object object = objects_[rule.subject];
  std::vector<ExpressionId> ways;
  const auto add = [&](const ObjectFormulas::Branches& branches, const Object& rest) {
    ways.push_back(after_name(branches, rest, rule.line, work));
  };
  if (rule.high == kDeclared) {
    for (const Choice::Name& name : choice(rule.subject, work).names)
      add(sets_.objects().branches(object.rest, name.name, work), after_declared(object, name));
  } else {
    Object rest = object;
    if (style_.order == PropertyOrder::Schema) rest.next = orders_[object.order]->ordered;
    const auto classes = sets_.objects().name_classes(object.rest, work);
    add(sets_.objects().branches(object.rest, (*classes)[rule.high], work), rest);
  }
  return work.arena.unite(ways);
}

}  // namespace tokamata::json
