#include "json/json_rules.hpp"

#include <algorithm>

#include "json/canonical_value.hpp"
#include "json/leaves.hpp"

namespace tokamata::json {

namespace {

constexpr ByteSet byte_set_of(std::string_view bytes) {
  ByteSet set;
  for (const char byte : bytes) set.add(static_cast<std::uint8_t>(byte));
  return set;
}

constexpr std::uint32_t kNothing = 0;  // the empty record, the empty set of texts or names

}  // namespace

// ---- numbers of things ------------------------------------------------------------------------

std::size_t JsonRules::RuleHash::operator()(const Rule& rule) const {
  std::uint64_t hash = static_cast<std::uint64_t>(rule.form) + 1;
  for (const std::uint32_t part : {rule.subject, rule.low, rule.high, rule.record, rule.line.indent.depth, std::uint32_t{rule.line.indent.width}, static_cast<std::uint32_t>(rule.line.mode)})
    hash = mix(hash, part);
  return hash;
}

RuleId JsonRules::rule(const Rule& given, std::uint32_t spelled) {
  Rule wanted = given;
  if (!layout_.has_depth()) wanted.line.indent = {};
  const auto [place, is_new] = rule_index_.try_emplace(wanted, static_cast<std::uint32_t>(rules_.size()));
  if (is_new) {
    rules_.push_back(wanted);
    const bool waits = layout_.waits(wanted.line.indent) || wanted.line.mode == Mode::Sketch;
    const bool keeps = wanted.form == Form::Other || wanted.form == Form::Recorded;
    abouts_.push_back({1, spelled, waits, wanted.line.mode == Mode::Suspect, keeps});
  }
  return {place->second};
}

namespace {

template <class T, class Index>
std::uint32_t number_in(std::vector<T>& all, Index& index, std::uint64_t hash, const T& wanted) {
  std::vector<std::uint32_t>& same_hash = index[hash];
  for (const std::uint32_t number : same_hash)
    if (all[number] == wanted) return number;
  same_hash.push_back(static_cast<std::uint32_t>(all.size()));
  all.push_back(wanted);
  return same_hash.back();
}

}  // namespace

std::uint32_t JsonRules::array_number(const Array& array) {
  return number_in(arrays_, array_index_, (std::uint64_t{array.rest.value} << 32) | array.seen, array);
}

std::uint32_t JsonRules::object_number(const Object& object) {
  const std::uint64_t hash = ((std::uint64_t{object.rest.value} << 32) | object.next) ^
                             (std::uint64_t{object.written} * 0x9e3779b97f4a7c15ull) ^ (std::uint64_t{object.others} << 17) ^
                             (std::uint64_t{object.order} << 48);
  return number_in(objects_, object_index_, hash, object);
}

std::uint32_t JsonRules::texts_number(std::vector<std::string> sorted) {
  const auto [place, is_new] = text_set_index_.try_emplace(sorted, static_cast<std::uint32_t>(text_sets_.size()));
  if (is_new) text_sets_.push_back(std::move(sorted));
  return place->second;
}

std::uint32_t JsonRules::record_number(const std::string& text) {
  const auto [place, is_new] = record_index_.try_emplace(text, static_cast<std::uint32_t>(records_.size()));
  if (is_new) records_.push_back(text);
  return place->second;
}

// ---- the whole --------------------------------------------------------------------------------

JsonRuleSet::JsonRuleSet(std::shared_ptr<const ValueTable> table, ValueNode root, Style style)
    : table_(std::move(table)), root_(root), style_(style) {
  if (root_.value >= table_->size()) throw std::invalid_argument("the root is no node of the table");
  table_->check();
}

std::unique_ptr<Rules> JsonRuleSet::make(std::uint32_t source) const {
  return std::make_unique<JsonRules>(source, table_, root_, style_);
}

// Of all texts in UTF-8 without control characters.
ByteSet JsonRuleSet::bytes() const {
  ByteSet set = ByteSet::range(0x20, 0xBF) | ByteSet::range(0xC2, 0xF4);
  for (const char blank : {'\t', '\n', '\r'}) set.add(static_cast<std::uint8_t>(blank));
  return set;
}

// Names tell all of ASCII apart; beyond it the blocks of UTF-8 do, and what languages ask for.
ByteSet JsonRuleSet::class_borders() const {
  ByteSet set = ByteSet::range(0, 0x80) | table_->class_borders();
  for (const unsigned lead : {0xC2u, 0xE0u, 0xE1u, 0xEDu, 0xEEu, 0xF0u, 0xF1u, 0xF4u, 0xF5u}) set.add(static_cast<std::uint8_t>(lead));
  for (const unsigned rest : {0x90u, 0xA0u, 0xC0u}) set.add(static_cast<std::uint8_t>(rest));
  return set;
}

ByteSet JsonRuleSet::told_apart() const { return table_->told_apart(); }

JsonRules::JsonRules(std::uint32_t source, std::shared_ptr<const ValueTable> table, ValueNode root, Style style)
    : Rules(source), root_(root), style_(style), layout_(style.whitespace), sets_(std::move(table), style.spelling) {
  record_number("");
  texts_number({});
  name_sets_.emplace_back();
  name_set_index_.emplace(std::vector<NameId>(), 0);
}

ExpressionId JsonRules::start(Arena& arena, Budget& budget) {
  const Work work{arena, budget};
  const SetId root = sets_.set_of(root_);
  if (!sets_.lives(root, work)) return Arena::kEmpty;
  const ExpressionId all = value(root, Gap::None, {}, work);
  return arena.concatenate(all, layout_.behind_blank(Gap::None, Arena::kEpsilon, work));
}

ExpressionId JsonRules::derivative(RuleId id, std::uint8_t byte, Arena& arena, Budget& budget) {
  const Work work{arena, budget};
  const Rule rule = rules_[id.value];
  switch (rule.form) {
    case Form::Name: return derive_name(rule, byte, work);
    case Form::Other: return derive_other(id, byte, work);
    case Form::Recorded: return derive_recorded(id, byte, work);
    default: return arena.derivative(expanded(id, work), byte, budget);
  }
}

ByteSet JsonRules::first_bytes(RuleId id, Arena& arena, Budget& budget) {
  const Work work{arena, budget};
  const Rule rule = rules_[id.value];
  switch (rule.form) {
    case Form::Other: return ByteSet::range(0, 0xFF);
    case Form::Recorded: return arena.leaf_bytes(core(id, work), budget).value_or(ByteSet::range(0, 0xFF));
    case Form::Name: {
      ByteSet bytes;
      const Choice& names = choice(rule.subject, work);
      for (std::uint32_t i = rule.low; i < rule.high; ++i) {
        bytes.add(static_cast<std::uint8_t>(names.names[i].spelled[rule.record]));
      }
      return bytes;
    }
    default: return arena.leaf_bytes(expanded(id, work), budget).value_or(ByteSet::range(0, 0xFF));
  }
}

const ByteSet& JsonRules::may_begin(RuleId id) const {
  static constexpr auto kAny = ByteSet::range(0x00, 0xFF);
  static constexpr auto kBlanks = byte_set_of(" \t\n\r");
  static constexpr auto kOfValue = kBlanks | byte_set_of("\"-0123456789tfn[{");
  static constexpr auto kOfElements = kOfValue | byte_set_of(",]");
  static constexpr auto kOfMembers = kBlanks | byte_set_of(",\"}");
  static constexpr auto kAfterName = kBlanks | byte_set_of(":");
  switch (rules_[id.value].form) {
    case Form::Value: return kOfValue;
    case Form::Elements: return kOfElements;
    case Form::Members: return kOfMembers;
    case Form::After: return kAfterName;
    default: return kAny;
  }
}

RuleId JsonRules::committed(RuleId id, std::uint32_t choice) {
  Rule rule = rules_[id.value];
  if (choice == kSuspect)
    rule.line.mode = rule.line.mode == Mode::Sketch ? Mode::Suspect : rule.line.mode;
  else if (layout_.waits(rule.line.indent))
    rule.line.indent.width = static_cast<std::uint8_t>(choice);
  return this->rule(rule, abouts_[id.value].spelled);
}

ExpressionId JsonRules::expanded(RuleId id, const Work& work) {
  if (const auto known = expanded_.find(id.value); known != expanded_.end()) return known->second;
  const Rule rule = rules_[id.value];
  const ExpressionId result = rule.form == Form::Value      ? expand_value(rule, work)
                              : rule.form == Form::Elements ? expand_elements(rule, work)
                              : rule.form == Form::Members  ? expand_members(rule, work)
                                                            : expand_after(rule, work);
  expanded_.emplace(id.value, result);
  return result;
}

// ---- sketches ---------------------------------------------------------------------------------

ExpressionId JsonRules::sketched(RuleId id, Arena& arena, Budget& budget) {
  const Work work{arena, budget};
  Rule rule = rules_[id.value];
  if (rule.line.mode != Mode::Exact) return expression(id, work);
  const Line line = rule.line.of(Mode::Sketch);
  // Of a name behind its quote, and of an element that is begun, nobody knows here where they began.
  if (rule.form == Form::Other) return other_in_sketch(rule.subject, rule.high, core(id, work), Gap::None, true, line, work);
  if (rule.form == Form::Recorded)
    return arena.concatenate(arena.sketched(core(id, work), budget), suspect_from(elements(rule.subject, false, line, work), work));
  rule.line = line;
  return expression(this->rule(rule, abouts_[id.value].spelled), work);
}

// A name in front refuses what is taken; those within an element that is begun do too.
std::vector<Sketch> JsonRules::sketches(RuleId id, Arena& arena, Budget& budget) {
  const Work work{arena, budget};
  const Rule rule = rules_[id.value];
  const Line line = rule.line.of(Mode::Sketch);
  if (rule.line.mode == Mode::Exact && rule.form == Form::Recorded) {
    std::vector<Sketch> found = arena.sketches(core(id, work), budget);
    const ExpressionId further = suspect_from(elements(rule.subject, false, line, work), work);
    for (Sketch& sketch : found) sketch.expression = arena.concatenate(sketch.expression, further);
    return found;
  }
  if (rule.line.mode == Mode::Exact && rule.form == Form::Other) {
    const bool is_suspect = style_.spelling == Spelling::Any;  // what is taken has many spellings
    const ExpressionId other = other_in_sketch(rule.subject, rule.high, core(id, work), Gap::None, is_suspect, line, work);
    return {{other, is_suspect ? std::vector<std::string>() : taken_rests(rule)}};
  }
  if (rule.line.mode == Mode::Exact && rule.form == Form::Members) return arena.sketches(expanded(id, work), budget);
  return {{sketched(id, arena, budget)}};
}

std::optional<ExpressionId> JsonRules::unfolded(RuleId id, Arena& arena, Budget& budget) {
  const Form form = rules_[id.value].form;
  if (form == Form::Name || form == Form::Other || form == Form::Recorded) return std::nullopt;
  return expanded(id, {arena, budget});
}

// What remains, quote and all, of the names that are taken and begin as this one does.
std::vector<std::string> JsonRules::taken_rests(const Rule& other) {
  const Object& object = objects_[other.subject];
  const std::string& record = records_[other.record];
  std::vector<std::string> rests;
  const auto add = [&](std::string_view spelled) {
    if (spelled.starts_with(record)) rests.emplace_back(spelled.substr(record.size()));
  };
  for (const NameId name : orders_[object.order]->names) add(sets_.spelled_name(name));
  for (const std::string& name : text_sets_[object.others]) add(spelled_string(name) + '"');
  return rests;
}

// ---- values -----------------------------------------------------------------------------------

ExpressionId JsonRules::value(SetId set, Gap gap, Line line, const Work& work) {
  const std::uint32_t length = sets_.some_length(set, work).value_or(ExpressionNode::kUnspelled);
  const Rule wanted{Form::Value, set.value, static_cast<std::uint32_t>(gap), 0, 0, line};
  return expression(rule(wanted, length), work);
}

// Strings that are listed say more without a terminal around them: there are few.
ExpressionId JsonRules::quoted(ExpressionId strings, const Work& work) const {
  const ExpressionId quote = literal("\"", work);
  const ExpressionId text = work.arena.concatenate(quote, work.arena.concatenate(strings, quote));
  return work.arena.node(strings).kind == Kind::Strings ? text : work.arena.terminal(text, work.budget);
}

ExpressionId JsonRules::expand_value(const Rule& rule, const Work& work) {
  const SetId set{rule.subject};
  const Gap gap{rule.low};
  const ValueSets::Parts parts = sets_.parts(set, work);
  Arena& arena = work.arena;
  std::vector<ExpressionId> ways;
  const auto add = [&](ExpressionId way) { ways.push_back(layout_.behind_blank(gap, way, work)); };
  if (parts.simple & kNull) add(literal("null", work));
  if (parts.simple & kFalse) add(literal("false", work));
  if (parts.simple & kTrue) add(literal("true", work));
  if (parts.strings != Arena::kEmpty) add(quoted(parts.strings, work));
  if (parts.numbers != Arena::kEmpty) add(arena.terminal(parts.numbers, work.budget));
  if (sets_.arrays().some_length(parts.arrays, work)) {
    const std::uint32_t array = array_number({parts.arrays, kNothing});
    const ExpressionId inside = elements(array, true, rule.line.deeper(), work);
    add(arena.concatenate(literal("[", work), inside));
  }
  const ValueSets::Order order = sets_.order(set);
  Object object{parts.objects, static_cast<std::uint32_t>(orders_.size()), 0, kNothing, kNothing};
  orders_.push_back(order);
  if (sets_.objects().some_length(parts.objects, room(object), work)) {
    const ExpressionId inside = members(object_number(object), true, rule.line.deeper(), work);
    add(arena.concatenate(literal("{", work), inside));
  }
  ways.push_back(layout_.behind_break(gap, rule.line.indent, value(set, Gap::None, rule.line, work), work));
  return arena.unite(ways);
}

// What ends an array or an object whose elements or members are as deep as `indent`.
ExpressionId JsonRules::closed(char bracket, Indent indent, bool is_empty, const Work& work) {
  const ExpressionId end = literal(std::string_view(&bracket, 1), work);
  return layout_.behind(is_empty ? Gap::None : Gap::Line, indent.outer(), end, work);
}

// ---- arrays -----------------------------------------------------------------------------------

ExpressionId JsonRules::elements(std::uint32_t array, bool is_first, Line line, const Work& work) {
  const auto length = sets_.arrays().some_length(arrays_[array].rest, text_sets_[arrays_[array].seen], work);
  const std::uint32_t spelled = capped_sum(length.value_or(ExpressionNode::kUnspelled), 1);
  return expression(rule({Form::Elements, array, is_first, 0, 0, line}, spelled), work);
}

ExpressionId JsonRules::expand_elements(const Rule& rule, const Work& work) {
  const Array array = arrays_[rule.subject];
  const bool is_first = rule.low != 0;
  Arena& arena = work.arena;
  ArrayFormulas& arrays = sets_.arrays();
  std::vector<ExpressionId> ways;
  if (arrays.accepts(array.rest)) ways.push_back(closed(']', rule.line.indent, is_first, work));
  std::vector<ExpressionId> next;
  const bool is_exact = rule.line.mode == Mode::Exact;
  const auto add = [&](SetId set, ArrayId left, std::uint32_t seen) {
    if (sets_.lives(set, work) && arrays.some_length(left, text_sets_[seen], work))
      next.push_back(arena.concatenate(value(set, Gap::Line, rule.line, work), elements(array_number({left, seen}), false, rule.line, work)));
  };
  for (const auto branches = arrays.branches(array.rest, work); const Branch<ArrayTag>& way : *branches) {
    if (!arrays.tells_equal(way.rest)) {
      add(way.value, way.rest, kNothing);
      continue;
    }
    if (!is_exact && arrays.wants_equal(way.rest)) {
      next.push_back(elements_in_doubt(way, array.seen, rule.line, work));
      continue;
    }
    // An element like none before it, or like one of them.
    const std::vector<std::string> seen = text_sets_[array.seen];
    const SetId fresh = arrays.fresh(way, seen, work);
    if (sets_.lives(fresh, work)) {
      const ExpressionId element = value(fresh, Gap::Line, rule.line, work);
      const Array rest{way.rest, array.seen};
      if (is_exact) {
        next.push_back(recorded(rest, fresh, element, "", rule.line, work));
      } else {
        const ExpressionId further = elements(array_number(rest), false, rule.line, work);
        next.push_back(arena.concatenate(element, rule.line.mode == Mode::Sketch ? suspect_from(further, work) : further));
      }
    }
    const ArrayId equal = arrays.with_equal(way.rest);
    if (equal == Formulas<ArrayTag>::kFalse) continue;
    std::vector<SetId> known;
    for (const std::string& one : seen) known.push_back(sets_.constant(one));
    add(sets_.all({way.value, sets_.any(std::move(known))}), equal, kNothing);
  }
  const ExpressionId more = arena.unite(next);
  ways.push_back(is_first ? more : layout_.behind_blank(Gap::None, arena.concatenate(literal(",", work), more), work));
  return arena.unite(ways);
}

// In a sketch nobody knows all elements that were there, nor whether this one is like one of them: it is suspect, and so is
// all behind it.
ExpressionId JsonRules::elements_in_doubt(const Branch<ArrayTag>& way, std::uint32_t seen, Line line, const Work& work) {
  Arena& arena = work.arena;
  const Line doubt = line.of(Mode::Suspect);
  std::vector<ExpressionId> further{elements(array_number({way.rest, seen}), false, doubt, work)};
  if (const ArrayId equal = sets_.arrays().with_equal(way.rest); equal != Formulas<ArrayTag>::kFalse)
    further.push_back(elements(array_number({equal, kNothing}), false, doubt, work));
  const ExpressionId all = arena.concatenate(value(way.value, Gap::Line, doubt, work), arena.unite(further));
  return line.mode == Mode::Sketch ? arena.concatenate(all, arena.commit(kSuspect)) : all;
}

// ---- elements that must differ ----------------------------------------------------------------

// `core` is what may still be written of the element; where that may be nothing, the array goes on.
ExpressionId JsonRules::recorded(Array rest, SetId set, ExpressionId core, const std::string& record, Line line,
                                 const Work& work) {
  std::vector<ExpressionId> ways;
  if (work.arena.node(core).nullable) ways.push_back(after_recorded(rest, record, line, work));
  if (core != Arena::kEpsilon) {
    const auto left = sets_.arrays().some_length(rest.rest, work);
    const std::uint32_t spelled =
        capped_sum(work.arena.node(core).spelled, left ? std::uint64_t{*left} + 1 : ExpressionNode::kUnspelled);
    const RuleId id = rule({Form::Recorded, array_number(rest), 0, set.value, record_number(record), line}, spelled);
    cores_.insert_or_assign(id.value, core);
    ways.push_back(expression(id, work));
  }
  return work.arena.unite(ways);
}

ExpressionId JsonRules::derive_recorded(RuleId id, std::uint8_t byte, const Work& work) {
  const Rule rule = rules_[id.value];
  const ExpressionId rest = work.arena.settled(work.arena.derivative(core(id, work), byte, work.budget));
  if (rest == Arena::kEmpty) return Arena::kEmpty;
  const std::string record = records_[rule.record] + static_cast<char>(byte);
  return recorded(arrays_[rule.subject], {rule.high}, rest, record, rule.line, work);
}

ExpressionId JsonRules::after_recorded(Array rest, const std::string& record, Line line, const Work& work) {
  std::vector<std::string> seen = text_sets_[rest.seen];
  const std::string element = canonical_value(record);
  const auto place = std::ranges::lower_bound(seen, element);
  if (place != seen.end() && *place == element) return Arena::kEmpty;
  seen.insert(place, element);
  const std::uint32_t array = array_number({rest.rest, texts_number(std::move(seen))});
  if (const std::uint8_t width = layout_.waits(line.indent) ? width_of_indents(record, line.indent.depth) : std::uint8_t{0}) {
    line.indent.width = width;
    return work.arena.concatenate(elements(array, false, line, work), work.arena.commit(width));
  }
  return elements(array, false, line, work);
}

// What may still be written of what is kept, read anew where the arena is another one.
ExpressionId JsonRules::core(RuleId id, const Work& work) {
  if (const auto known = cores_.find(id.value); known != cores_.end()) return known->second;
  const Rule rule = rules_[id.value];
  ExpressionId rest;
  if (rule.form == Form::Recorded) {
    Line at_first = rule.line;
    if (layout_.has_depth() && width_of_indents(records_[rule.record], rule.line.indent.depth) != Indent::kOpen)
      at_first.indent.width = Indent::kOpen;
    rest = value({rule.high}, Gap::Line, at_first, work);
  } else if (rule.high == kDeclared) {
    std::vector<ExpressionId> names;
    for (const Choice::Name& name : choice(rule.subject, work).names)
      names.push_back(work.arena.add(*spelled_name_in_any_way(sets_.table().text(name.name)), work.budget));
    rest = work.arena.unite(names);
  } else {
    const Object object = objects_[rule.subject];
    const auto classes = sets_.objects().name_classes(object.rest, work);
    rest = (*classes)[rule.high].names;
    if (!(*classes)[rule.high].is_any) {  // otherwise names are without end, and there is always one that is not taken
      std::vector<std::string> taken = text_sets_[object.others];
      for (const NameId name : orders_[object.order]->names) taken.push_back(sets_.table().text(name));
      rest = sets_.without_texts(rest, taken, work);
    }
    rest = work.arena.terminal(rest, work.budget);
  }
  for (const char byte : std::string(records_[rule.record])) rest = work.arena.settled(work.arena.derivative(rest, static_cast<std::uint8_t>(byte), work.budget));
  cores_.emplace(id.value, rest);
  return rest;
}

// ---- memory -----------------------------------------------------------------------------------

void JsonRules::forget_expressions() {
  expanded_.clear();
  cores_.clear();
  sets_.forget_expressions();
  layout_.forget_expressions();
}

std::size_t JsonRules::memory_bytes() const {
  constexpr std::size_t kMapEntry = 64;
  std::size_t bytes = sets_.memory_bytes() + rules_.size() * (sizeof(Rule) + sizeof(About) + 3 * kMapEntry) +
                      (arrays_.size() + objects_.size()) * (sizeof(Object) + 2 * kMapEntry) + choices_.size() * 4 * kMapEntry;
  bytes += records_.size() * 3 * kMapEntry + text_sets_.size() * 4 * kMapEntry + name_sets_.size() * 3 * kMapEntry;
  return bytes;
}

}  // namespace tokamata::json
