// The members of objects: which names may come, and what follows each.  See json_rules.hpp.

#include <algorithm>

#include "json/json_rules.hpp"
#include "json/leaves.hpp"

namespace tokamata::json {

namespace {

constexpr std::uint32_t kDeclared = ~std::uint32_t{0};  // in place of a class of other names

ExpressionId literal(char byte, const Work& work) {
  return work.arena.bytes(ByteSet::range(static_cast<std::uint8_t>(byte), static_cast<std::uint8_t>(byte)));
}

std::uint32_t capped_sum(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(a + b, ExpressionNode::kUnspelled - 1));
}

}  // namespace

ObjectFormulas::Room JsonRules::room(const Object& object) const {
  return {orders_[object.order].get(), object.next, &name_sets_[object.written], &text_sets_[object.others]};
}

ExpressionId JsonRules::members(std::uint32_t number, bool is_first, Indent indent, const Work& work) {
  const Object object = objects_[number];
  const auto length = sets_.objects().some_length(object.rest, room(object), work);
  const std::uint32_t spelled = length ? capped_sum(*length, 1) : ExpressionNode::kUnspelled;
  return expression(rule({Form::Members, number, is_first, 0, 0, indent}, spelled), work);
}

const JsonRules::Choice& JsonRules::choice(std::uint32_t number, const Work& work) {
  if (const auto known = choices_.find(number); known != choices_.end()) return known->second;
  const Object object = objects_[number];
  const ObjectFormulas::Next next = sets_.objects().next(object.rest, room(object), style_.order == PropertyOrder::Schema, work);
  Choice found;
  found.other = next.other;
  for (const auto& [place, length] : next.declared) {
    const NameId name = (*orders_[object.order])[place];
    found.names.push_back({sets_.spelled_name(name), name, place, length});
  }
  std::ranges::sort(found.names, {}, &Choice::Name::spelled);
  return choices_.emplace(number, std::move(found)).first->second;
}

ExpressionId JsonRules::expand_members(const Rule& rule, const Work& work) {
  const bool is_first = rule.low != 0;
  Arena& arena = work.arena;
  std::vector<ExpressionId> ways;
  if (sets_.objects().accepts(objects_[rule.subject].rest)) ways.push_back(closed('}', rule.indent, is_first, work));
  const ExpressionId next = names(rule.subject, rule.indent, work);
  if (next != Arena::kEmpty) {
    const ExpressionId more = layout_.behind(Gap::Line, rule.indent, arena.concatenate(literal('"', work), next), work);
    ways.push_back(is_first ? more : layout_.behind_blank(Gap::None, arena.concatenate(literal(',', work), more), work));
  }
  return arena.unite(ways);
}

// All names that may come next, behind their first quote.
ExpressionId JsonRules::names(std::uint32_t object, Indent indent, const Work& work) {
  const Choice& next = choice(object, work);
  std::vector<ExpressionId> ways;
  if (!next.names.empty()) {
    std::uint32_t least = ~0u;
    for (const Choice::Name& name : next.names) least = std::min(least, name.length);
    if (style_.spelling == Spelling::Any) {
      ways.push_back(other_names(object, kDeclared, "", indent, work));
    } else {
      const auto count = static_cast<std::uint32_t>(next.names.size());
      ways.push_back(expression(rule({Form::Name, object, 0, count, 0, indent}, least), work));
    }
  }
  if (next.other) {
    const auto classes = sets_.objects().name_classes(objects_[object].rest, work);
    for (std::uint32_t i = 0; i < classes->size(); ++i) ways.push_back(other_names(object, i, "", indent, work));
  }
  return work.arena.unite(ways);
}

// ---- declared names ---------------------------------------------------------------------------

ExpressionId JsonRules::derive_name(const Rule& rule, std::uint8_t byte, const Work& work) {
  const Choice& next = choice(rule.subject, work);
  const auto begin = next.names.begin() + rule.low, end = next.names.begin() + rule.high;
  const std::size_t read = rule.record;
  if (byte == '"' && begin->spelled.size() == read) {  // a name comes before those that it begins
    const Object object = objects_[rule.subject];
    Object rest = object;
    if (style_.order == PropertyOrder::Schema) {
      rest.next = begin->place + 1;
    } else {
      std::vector<NameId> written = name_sets_[object.written];
      written.insert(std::ranges::lower_bound(written, begin->name), begin->name);
      const auto [place, is_new] = name_set_index_.try_emplace(written, static_cast<std::uint32_t>(name_sets_.size()));
      if (is_new) name_sets_.push_back(std::move(written));
      rest.written = place->second;
    }
    return after_name(rule.subject, sets_.objects().branches(object.rest, begin->name, work), rest, rule.indent, work);
  }
  const auto byte_at = [&](const Choice::Name& name) {
    return read < name.spelled.size() ? static_cast<int>(static_cast<std::uint8_t>(name.spelled[read])) : -1;
  };
  const auto [first, last] = std::ranges::equal_range(begin, end, static_cast<int>(byte), {}, byte_at);
  if (first == last) return Arena::kEmpty;
  std::uint32_t least = ~0u;
  for (auto name = first; name != last; ++name) least = std::min(least, name->length);
  Rule rest = rule;
  rest.low = static_cast<std::uint32_t>(first - next.names.begin());
  rest.high = static_cast<std::uint32_t>(last - next.names.begin());
  rest.record = static_cast<std::uint32_t>(read + 1);
  return expression(this->rule(rest, least), work);
}

// A colon, one of the values that may come, and the rest of the members.
ExpressionId JsonRules::after_name(std::uint32_t, const ObjectFormulas::Branches& ways, Object rest, Indent indent,
                                   const Work& work) {
  Arena& arena = work.arena;
  std::vector<ExpressionId> next;
  for (const Branch<ObjectTag>& way : *ways) {
    rest.rest = way.rest;
    if (!sets_.objects().some_length(way.rest, room(rest), work)) continue;
    next.push_back(arena.concatenate(value(way.value, Gap::Space, indent, work), members(object_number(rest), false, indent, work)));
  }
  return layout_.behind_blank(Gap::None, arena.concatenate(literal(':', work), arena.unite(next)), work);
}

// ---- other names ------------------------------------------------------------------------------

ExpressionId JsonRules::other_names(std::uint32_t object, std::uint32_t name_class, const std::string& record, Indent indent,
                                    const Work& work) {
  const Choice& next = choice(object, work);
  const Rule wanted{Form::Other, object, 0, name_class, record_number(record), indent};
  constexpr std::uint32_t kSpare = 4;  // bytes that tell a name from all that are taken
  std::uint32_t length = next.other.value_or(0) + kSpare;
  if (name_class == kDeclared)
    for (const Choice::Name& name : next.names) length = std::max(length, 6 * name.length);
  const RuleId id = rule(wanted, length);
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
    if (declared && std::ranges::find(*orders_[object.order], *declared) != orders_[object.order]->end()) return true;
    return std::ranges::binary_search(text_sets_[object.others], name);
  };
  if (rest != Arena::kEmpty) {
    const std::string longer = record + static_cast<char>(byte);
    return other_names(rule.subject, rule.high, longer, rule.indent, work);
  }
  if (byte != '"' || !work.arena.node(before).nullable) return Arena::kEmpty;
  const std::string name = read_string(record);
  Object after = object;
  if (rule.high == kDeclared) {
    const Choice& next = choice(rule.subject, work);
    const auto found = std::ranges::find(next.names, *sets_.table().find_name(name), &Choice::Name::name);
    Rule declared{Form::Name, rule.subject, static_cast<std::uint32_t>(found - next.names.begin()), 0,
                  static_cast<std::uint32_t>(found->spelled.size()), rule.indent};
    declared.high = declared.low + 1;
    return derive_name(declared, byte, work);
  }
  if (is_taken(name)) return Arena::kEmpty;
  std::vector<std::string> others = text_sets_[object.others];
  others.insert(std::ranges::lower_bound(others, name), name);
  after.others = texts_number(std::move(others));
  if (style_.order == PropertyOrder::Schema) after.next = static_cast<std::uint32_t>(orders_[object.order]->size());
  const auto classes = sets_.objects().name_classes(object.rest, work);
  return after_name(rule.subject, sets_.objects().branches(object.rest, (*classes)[rule.high], work), after, rule.indent, work);
}

}  // namespace tokamata::json
