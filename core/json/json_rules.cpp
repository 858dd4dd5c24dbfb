#include "json/json_rules.hpp"

#include <algorithm>

#include "common/memoized.hpp"
#include "json/canonical_value.hpp"
#include "json/leaves.hpp"

namespace tokamata::json {

namespace {

constexpr ByteSet byte_set_of(std::string_view bytes) {
  ByteSet set;
  for (const char byte : bytes) set.add(static_cast<std::uint8_t>(byte));
  return set;
}

}  // namespace

// ---- numbers of things ------------------------------------------------------------------------

std::uint64_t JsonRules::hash_of(const Rule& rule) {
  std::uint64_t hash = static_cast<std::uint64_t>(rule.form) + 1;
  for (const std::uint32_t part :
       {rule.subject, rule.low, rule.high, rule.record, rule.escape.value, rule.line.indent.depth,
        std::uint32_t{rule.line.indent.width}, static_cast<std::uint32_t>(rule.line.mode)})
    hash = mix(hash, part);
  return hash;
}

namespace {

// The number of a thing among all of its sort.
template <class T, class HashOf>
std::uint32_t number_in(counted::vector<T>& all, NumberTable& index, const T& wanted, HashOf&& hash_of) {
  const std::uint64_t hash = hash_of(wanted);
  if (const auto known = index.find(hash, [&](std::uint32_t number) { return all[number] == wanted; })) return *known;
  const auto number = static_cast<std::uint32_t>(all.size());
  index.reserve(1);
  all.push_back(wanted);
  index.add(number, hash);
  return number;
}

}  // namespace

RuleId JsonRules::rule(const Rule& given, std::uint32_t spelled, std::uint32_t shortest) {
  Rule wanted = given;
  if (!layout_.has_depth()) wanted.line.indent = {};
  const bool waits = layout_.waits(wanted.line.indent) || wanted.line.mode == Mode::Approximation;
  const bool keeps = wanted.form == Form::Other || wanted.form == Form::Recorded;
  const bool has_controls = tags_ && tags_->has_controls();
  const auto next = static_cast<std::uint32_t>(rules_.size());
  put_at(abouts_, next,
         About{shortest, spelled, waits, wanted.line.mode == Mode::Unverified, keeps, false,
               has_controls && is_tagged(wanted)});  // first: no rule lacks its own
  return {number_in(rules_, rule_index_, wanted, [](const Rule& rule) { return hash_of(rule); })};
}

std::uint32_t JsonRules::array_number(const Array& array) {
  return number_in(arrays_, array_index_, array, [](const Array& a) {
    return mix(mix(1, a.rest.value), a.is_tagged ? ~a.seen.value : a.seen.value);
  });
}

std::uint32_t JsonRules::object_number(const Object& object) {
  return number_in(objects_, object_index_, object, [](const Object& o) {
    return mix(mix(mix(mix(1, o.rest.value), o.order), o.written), o.is_tagged ? ~o.others.value : o.others.value);
  });
}

std::uint32_t JsonRules::order_number(const ValueSets::Order& order) {
  return numbered(order_index_, order.get(), [&](std::uint32_t number) {
    TextSetId spelled;
    for (const NameId name : order->names) {
      std::string_view text = sets_.spelled_name(name);
      text.remove_suffix(1);  // its quote
      spelled = text_sets_.with(spelled, texts_.extended(Texts::kEmpty, text));
    }
    put_at(orders_, number, Order{order, spelled});
  });
}

ExpressionId& JsonRules::made(RuleId rule) {
  if (rule.value >= made_.size()) made_.resize(rules_.size(), Arena::kEmpty);
  return made_[rule.value];
}

// ---- the whole --------------------------------------------------------------------------------

JsonRuleSet::JsonRuleSet(std::shared_ptr<const ValueTable> table, ValueNode root, Style style,
                         std::shared_ptr<const TagStyle> tags, ExpressionPtr within)
    : table_(std::move(table)), root_(root), style_(style), tags_(std::move(tags)), within_(std::move(within)) {
  if (root_.value >= table_->size()) throw std::invalid_argument("the root is no node of the table");
  table_->check();
}

std::unique_ptr<Rules> JsonRuleSet::make(std::uint32_t source) const {
  return std::make_unique<JsonRules>(source, table_, root_, style_, tags_, within_);
}

// Of all texts in UTF-8 without control characters.
ByteSet JsonRuleSet::bytes() const {
  ByteSet set = ByteSet::range(0x20, 0xBF) | ByteSet::range(0xC2, 0xF4);
  for (const char blank : {'\t', '\n', '\r'}) set.add(static_cast<std::uint8_t>(blank));
  return set;
}

// Names distinguish all of ASCII; beyond it the blocks of UTF-8 do, and what languages ask for.
ByteSet JsonRuleSet::class_borders() const {
  ByteSet set = ByteSet::range(0, 0x80) | table_->class_borders();
  for (const unsigned lead : {0xC2u, 0xE0u, 0xE1u, 0xEDu, 0xEEu, 0xF0u, 0xF1u, 0xF4u, 0xF5u})
    set.add(static_cast<std::uint8_t>(lead));
  for (const unsigned rest : {0x90u, 0xA0u, 0xC0u}) set.add(static_cast<std::uint8_t>(rest));
  if (tags_) set |= tags_->class_borders();
  if (within_) set |= within_->class_borders();
  return set;
}

// What stands outside of strings, or after a backslash, has nothing that could stand for it.
ByteSet JsonRuleSet::distinguished() const {
  constexpr std::string_view kAlone = "{}[],:\"\\/ \t\n\r+-.0123456789EabcdeflnrstuU";
  ByteSet set = table_->distinguished();
  for (const char byte : kAlone)
    set |= ByteSet::range(static_cast<std::uint8_t>(byte), static_cast<std::uint8_t>(byte + 1));
  if (tags_) set |= tags_->class_borders();
  if (within_) set |= within_->class_borders();
  return set;
}

bool JsonRuleSet::spells(std::string_view part) const { return table_->has_name_with(part); }

std::set<std::string> JsonRuleSet::control_tokens() const {
  return tags_ ? tags_->control_tokens() : std::set<std::string>();
}

JsonRules::JsonRules(std::uint32_t source, std::shared_ptr<const ValueTable> table, ValueNode root, Style style,
                     std::shared_ptr<const TagStyle> tags, ExpressionPtr within)
    : RememberingRules(source),
      root_(root),
      style_(style),
      layout_(style.whitespace, style.most_blanks),
      sets_(std::move(table), style.spelling, std::move(within)),
      tags_(tags ? std::make_unique<TaggedMembers>(std::move(tags), sets_) : nullptr) {
  place_sets_.emplace_back();
  place_set_index_.emplace(PlaceSet(), 0);
}

ExpressionId JsonRules::start(Arena& arena, Budget& budget) {
  const Work work{arena, budget};
  if (tags_) return tagged_start(work);
  const SetId root = sets_.set_of(root_);
  if (!sets_.lives(root, work)) return Arena::kEmpty;
  const ExpressionId all = value(root, Gap::None, {}, work);
  return arena.concatenate(all, layout_.after_blank(Gap::None, Arena::kEpsilon, work));
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
    case Form::Recorded: {
      const ExpressionId rest = element_so_far(rule, work).rest;
      if (arena.node(rest).nullable) return ByteSet::range(0, 0xFF);
      return arena.leaf_bytes(rest, budget).value_or(ByteSet::range(0, 0xFF));
    }
    case Form::Name: return bytes_of_name(rule, work);
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
  const Rule& rule = rules_[id.value];
  switch (rule.form) {
    case Form::Value: return kOfValue;
    case Form::Elements: return arrays_[rule.subject].is_tagged ? tags_->first_bytes() : kOfElements;
    case Form::Members: return objects_[rule.subject].is_tagged ? tags_->first_bytes() : kOfMembers;
    case Form::After: return objects_[rule.subject].is_tagged ? kAny : kAfterName;
    default: return kAny;
  }
}

RuleId JsonRules::committed(RuleId id, std::uint32_t choice) {
  Rule rule = rules_[id.value];
  if (choice == kUnverified || choice == kRelaxed)
    rule.line.mode = rule.line.mode != Mode::Approximation ? rule.line.mode
                     : choice == kRelaxed                  ? Mode::Relaxed
                                                           : Mode::Unverified;
  else if (layout_.waits(rule.line.indent)) rule.line.indent.width = static_cast<std::uint8_t>(choice);
  return this->rule(rule, abouts_[id.value].spelled, abouts_[id.value].shortest);
}

ExpressionId JsonRules::expanded(RuleId id, const Work& work) {
  if (const ExpressionId known = made(id); known != Arena::kEmpty) return known;
  const Rule rule = rules_[id.value];
  const ExpressionId result = rule.form == Form::Value      ? expand_value(rule, work)
                              : rule.form == Form::Elements ? expand_elements(rule, work)
                              : rule.form == Form::Members  ? expand_members(rule, work)
                                                            : expand_after(rule, work);
  return made(id) = result;
}

// ---- over-approximations ----------------------------------------------------------------------

ExpressionId JsonRules::approximated(RuleId id, Arena& arena, Budget& budget) {
  const Work work{arena, budget};
  Rule rule = rules_[id.value];
  if (rule.line.mode != Mode::Exact) return expression(id, work);
  const Line line = rule.line.of(Mode::Approximation);
  // Of a name after its quote, and of an element that is begun, nobody knows here where they began.
  if (rule.form == Form::Other) {
    const Name name = name_so_far(rule, work);
    const ExpressionId other = approximate_other(rule.subject, rule.high, name.rest, Gap::None, true, line, work);
    return name.is_settled ? other : unverified_from(other, work);
  }
  if (rule.form == Form::Recorded) {
    const Array array = arrays_[rule.subject];
    const ExpressionId further = elements(array_number({array.rest, {}}), false, line, work);
    const Element begun = element_so_far(rule, work);
    const ExpressionId element = arena.approximated(begun.rest, budget);
    if (!begun.is_settled) return unverified_from(arena.concatenate(element, further), work);
    return arena.concatenate(element, unverified_from(further, work));
  }
  rule.line = line;
  if (rule.form == Form::Name) {
    std::vector<ExpressionId> ways{approximate_declared(id, work), approximate_late_names(rule, work)};
    return arena.unite(ways);
  }
  if (rule.form == Form::Elements)
    rule.subject = array_number({arrays_[rule.subject].rest, {}, arrays_[rule.subject].is_tagged});
  if (rule.form == Form::Members) rule.subject = approximate_object(rule.subject, work);
  return expression(this->rule(rule, abouts_[id.value].spelled), work);
}

// A name in front refuses what is taken; those within an element that is begun do too.
std::vector<Approximation> JsonRules::approximations(RuleId id, Arena& arena, Budget& budget) {
  const Work work{arena, budget};
  const Rule rule = rules_[id.value];
  if (rule.line.mode == Mode::Exact && rule.form == Form::Recorded) return approximate_recorded(rule, work);
  if (rule.line.mode == Mode::Exact && rule.form == Form::Other) return {approximate_name(rule, false, work)};
  if (rule.line.mode == Mode::Exact && rule.form == Form::Name) return approximations_of_declared(id, work);
  if (rule.line.mode == Mode::Exact && is_opened_for_approximation(rule))
    return arena.approximations(expanded(id, work), budget);
  return {{approximated(id, arena, budget), {}, {}}};
}

// What stands in front of them keeps or refuses what was written.
bool JsonRules::is_opened_for_approximation(const Rule& rule) {
  return rule.form == Form::Members ||
         (rule.form == Form::Elements && sets_.arrays().tells_equal(arrays_[rule.subject].rest));
}

std::optional<ExpressionId> JsonRules::unfolded(RuleId id, Arena& arena, Budget& budget) {
  const Form form = rules_[id.value].form;
  if (form == Form::Name || form == Form::Other || form == Form::Recorded) return std::nullopt;
  return expanded(id, {arena, budget});
}

// ---- values -----------------------------------------------------------------------------------

ExpressionId JsonRules::value(SetId set, Gap gap, Line line, const Work& work) {
  const std::uint32_t length = sets_.some_length(set, work).value_or(ExpressionNode::kUnspelled);
  const Rule wanted{Form::Value, set.value, static_cast<std::uint32_t>(gap), 0, 0, line};
  const std::uint32_t shortest = line.mode == Mode::Relaxed ? sets_.least_length(set, kLevels, work) : 1;
  return expression(rule(wanted, length, shortest), work);
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
  const auto add = [&](ExpressionId way) { ways.push_back(layout_.after_blank(gap, way, work)); };
  if (parts.simple & kNull) add(literal("null", work));
  if (parts.simple & kFalse) add(literal("false", work));
  if (parts.simple & kTrue) add(literal("true", work));
  if (parts.strings != Arena::kEmpty) add(quoted(parts.strings, work));
  if (parts.numbers != Arena::kEmpty) add(arena.terminal(parts.numbers, work.budget));
  if (sets_.arrays().some_length(parts.arrays, work)) {
    const ExpressionId inside = elements(array_number({parts.arrays, {}}), true, rule.line.deeper(), work);
    add(arena.concatenate(literal("[", work), inside));
  }
  const Object object{parts.objects, order_number(sets_.order(set)), 0, {}};
  if (sets_.objects().some_length(parts.objects, room(object), work)) {
    const ExpressionId inside = members(object_number(object), true, rule.line.deeper(), work);
    add(arena.concatenate(literal("{", work), inside));
  }
  ways.push_back(layout_.after_break(gap, rule.line.indent, value(set, Gap::None, rule.line, work), work));
  return arena.unite(ways);
}

// What ends an array or an object whose elements or members are as deep as `indent`.
ExpressionId JsonRules::closed(char bracket, Indent indent, bool is_empty, const Work& work) {
  const ExpressionId end = literal(std::string_view(&bracket, 1), work);
  const ExpressionId usual = layout_.after(Gap::Line, indent.outer(), end, work);
  if (!is_empty) return usual;
  // A line that was begun for what is inside may turn out to be the last one.
  std::vector<ExpressionId> ways{usual, layout_.after_break(Gap::Line, indent, end, work)};
  return work.arena.unite(ways);
}

// ---- memory -----------------------------------------------------------------------------------

// Rules that no matcher holds go, and so do the texts that they alone have kept.
void JsonRules::begin_anew() {
  forget_memos();
  before_ = std::make_unique<Before>();
  before_->orders = orders_;
  swap_with_before();
  for (Order& order : orders_) order.spelled = moved(order.spelled);
}

void JsonRules::keep_all() {
  if (!before_) return;
  swap_with_before();
  before_.reset();
  forget_memos();
}

void JsonRules::swap_with_before() {
  std::swap(before_->rules, rules_);
  std::swap(before_->abouts, abouts_);
  std::swap(before_->arrays, arrays_);
  std::swap(before_->objects, objects_);
  std::swap(before_->orders, orders_);
  std::swap(before_->rule_index, rule_index_);
  std::swap(before_->array_index, array_index_);
  std::swap(before_->object_index, object_index_);
  std::swap(before_->texts, texts_);
  text_sets_.swap(before_->sets);
  std::swap(before_->objects_with, objects_with_);
  std::swap(before_->noted, noted_);
}

// What is known by the numbers of rules and of expressions, and can be found again.
void JsonRules::forget_memos() {
  release(choices_);
  release(afters_);
  release(relaxed_names_);
  release(made_);
  ended_.reset();
  release(values_left_);
  sets_.forget_expressions();
  if (tags_) tags_->forget_expressions();
  layout_.forget_expressions();
}

TextSetId JsonRules::moved(TextSetId before) {
  return text_sets_.moved(before_->sets, before, before_->moved_sets, before_->moved_texts);
}

RuleId JsonRules::kept(RuleId id) {
  Rule rule = before_->rules[id.value];
  if (rule.form == Form::Elements || rule.form == Form::Recorded) {
    Array array = before_->arrays[rule.subject];
    array.seen = moved(array.seen);
    rule.subject = array_number(array);
    std::vector<TextId> elements;
    text_sets_.append(array.seen, before_->met, elements);
    for (const TextId element : elements) note_members(element);
  } else if (rule.form != Form::Value) {
    Object object = before_->objects[rule.subject];
    object.others = moved(object.others);
    rule.subject = object_number(object);
  }
  if (rule.form == Form::Recorded || rule.form == Form::Other)
    rule.record = texts_.moved(before_->texts, {rule.record}, before_->moved_texts).value;
  if (rule.form == Form::Name || rule.form == Form::Other)
    rule.escape = texts_.moved(before_->texts, rule.escape, before_->moved_texts);
  return this->rule(rule, before_->abouts[id.value].spelled, before_->abouts[id.value].shortest);
}

void JsonRules::all_kept() { before_.reset(); }

}  // namespace tokamata::json
