#include "json/json_rules.hpp"

#include "json/leaves.hpp"
#include "json/show.hpp"

namespace tokamata::json {

namespace {

constexpr ByteSet byte_set_of(std::string_view bytes) {
  ByteSet set;
  for (const char byte : bytes) set.add(static_cast<std::uint8_t>(byte));
  return set;
}

constexpr auto kAnyBytes = ByteSet::range(0x00, 0xFF);

}  // namespace

JsonRules::JsonRules(std::uint32_t source, Arena& arena, std::shared_ptr<const ValueTable> table, ValueNode root,
                     Style style, std::shared_ptr<const TagStyle> tags, ExpressionPtr within)
    : RememberingRules(source, arena),
      root_(root),
      context_(source, std::move(table), style, std::move(tags), std::move(within)) {}

ExpressionId JsonRules::start(Budget& budget) {
  const Work work{arena(), budget};
  ValueSets& sets = context_.sets;
  const SetId root = sets.set_of(root_);
  if (!context_.tags) {
    if (!sets.lives(root, work)) return Pool::kEmpty;
    const ExpressionId all = refer_.value(root, Gap::None, {}, work);
    return work.arena.forms().concatenate(all, context_.layout.after_blank(Gap::None, Pool::kEpsilon, work));
  }
  const ExpressionId between = context_.tags->pieces(work).between;
  OpenContainers& open = context_.open;
  const OpenObject object = open.begun(root, sets.parts(root, work).objects, true);
  if (!sets.object_ends().some_length(object.rest, open.room(object), work)) return Pool::kEmpty;
  return work.arena.forms().concatenate(refer_.members(open.add(object), true, {}, work), between);
}

ExpressionId JsonRules::derivative(RuleId id, std::uint8_t byte, Budget& budget) {
  const Work work{arena(), budget};
  const JsonRule rule = context_.rules[id];
  return std::visit(
      Overloaded{
          [&](const DeclaredNameRule& name) { return declared_.derivative(name, byte, work); },
          [&](const UndeclaredNameRule&) { return undeclared_.derivative(id, byte, work); },
          [&](const DistinctElementRule&) { return distinct_.derivative(id, byte, work); },
          [&](const auto&) { return work.arena.derivatives().derivative(expanded(id, work), byte, budget); },
      },
      rule);
}

ByteSet JsonRules::first_bytes(RuleId id, Budget& budget) {
  const Work work{arena(), budget};
  const JsonRule rule = context_.rules[id];
  const auto first_of = [&](ExpressionId body) {
    return work.arena.derivatives().leaf_bytes(body, budget).value_or(kAnyBytes);
  };
  return std::visit(Overloaded{
                        [&](const DeclaredNameRule& name) { return declared_.first_bytes(name, work); },
                        [&](const UndeclaredNameRule&) { return kAnyBytes; },
                        [&](const DistinctElementRule&) {
                          const ExpressionId rest = distinct_.so_far(id, work).rest;
                          return work.arena.pool().node(rest).nullable ? kAnyBytes : first_of(rest);
                        },
                        [&](const auto&) { return first_of(expanded(id, work)); },
                    },
                    rule);
}

const ByteSet& JsonRules::may_begin(RuleId id) const {
  static constexpr auto kBlanks = byte_set_of(" \t\n\r");
  static constexpr auto kOfValue = kBlanks | byte_set_of("\"-0123456789tfn[{");
  static constexpr auto kOfElements = kOfValue | byte_set_of(",]");
  static constexpr auto kOfMembers = kBlanks | byte_set_of(",\"}");
  static constexpr auto kAfterName = kBlanks | byte_set_of(":");
  const OpenContainers& open = context_.open;
  const TaggedMembers* tags = context_.tags.get();
  return std::visit(Overloaded{
                        [](const ValueRule&) -> const ByteSet& { return kOfValue; },
                        [&](const ElementsRule& elements) -> const ByteSet& {
                          return open[elements.array].is_tagged ? tags->first_bytes() : kOfElements;
                        },
                        [&](const MembersRule& members) -> const ByteSet& {
                          return open[members.object].is_tagged ? tags->first_bytes() : kOfMembers;
                        },
                        [&](const AfterUndeclaredRule& after) -> const ByteSet& {
                          return open[after.object].is_tagged ? kAnyBytes : kAfterName;
                        },
                        [](const auto&) -> const ByteSet& { return kAnyBytes; },
                    },
                    context_.rules[id]);
}

RuleId JsonRules::committed(RuleId id, std::uint32_t choice) {
  JsonRule rule = context_.rules[id];
  Line& line = line_of(rule);
  if (choice == kUnverified || choice == kRelaxed) {
    if (line.mode == Mode::Approximation) line.mode = choice == kRelaxed ? Mode::Relaxed : Mode::Unverified;
  } else if (context_.layout.waits(line.indent)) {
    line.indent.width = static_cast<std::uint8_t>(choice);
  }
  const About about = context_.rules.about(id);
  return context_.rules.add(rule, about.spelled, about.shortest);
}

ExpressionId JsonRules::expanded(RuleId id, const Work& work) {
  if (const ExpressionId known = context_.rules.body(id); known != Pool::kEmpty) return known;
  const JsonRule rule = context_.rules[id];
  const ExpressionId body =
      std::visit(Overloaded{
                     [&](const ValueRule& value) { return expand(value, work); },
                     [&](const ElementsRule& elements) { return elements_.expand(elements, work); },
                     [&](const MembersRule& members) { return members_.expand(members, work); },
                     [&](const AfterUndeclaredRule& after) { return undeclared_.expand_after(after, work); },
                     [](const auto&) { return Pool::kEmpty; },  // read byte by byte
                 },
                 rule);
  return context_.rules.body(id) = body;
}

// ---- over-approximations ----------------------------------------------------------------------

ExpressionId JsonRules::approximated(RuleId id, Budget& budget) {
  const Work work{arena(), budget};
  JsonRule rule = context_.rules[id];
  if (line_of(rule).mode != Mode::Exact) return context_.rules.expression(id, work);
  if (std::holds_alternative<DeclaredNameRule>(rule)) return declared_.approximated(id, work);
  if (std::holds_alternative<UndeclaredNameRule>(rule)) return undeclared_.approximated(id, work);
  if (std::holds_alternative<DistinctElementRule>(rule)) return distinct_.approximated(id, work);
  line_of(rule).mode = Mode::Approximation;
  if (auto* elements = std::get_if<ElementsRule>(&rule)) {
    OpenArray array = context_.open[elements->array];
    array.seen = kNoTexts;
    elements->array = context_.open.add(array);
  }
  if (auto* members = std::get_if<MembersRule>(&rule))
    members->object = undeclared_.without_names(members->object, work);
  return context_.rules.expression(rule, context_.rules.about(id).spelled, work);
}

// A name in front refuses what is taken; those within an element that is begun do too.
std::vector<Approximation> JsonRules::approximations(RuleId id, Budget& budget) {
  const Work work{arena(), budget};
  const JsonRule rule = context_.rules[id];
  const auto as_one = [&] { return std::vector<Approximation>{{approximated(id, budget)}}; };
  if (line_of(rule).mode != Mode::Exact) return as_one();
  // What stands in front of members and elements keeps or refuses what was written.
  const auto of_body = [&] { return work.arena.fronts().approximations(expanded(id, work), budget); };
  return std::visit(
      Overloaded{
          [&](const DistinctElementRule&) { return distinct_.approximations(id, work); },
          [&](const UndeclaredNameRule&) { return std::vector<Approximation>{undeclared_.approximation(id, work)}; },
          [&](const DeclaredNameRule&) { return declared_.approximations(id, work); },
          [&](const MembersRule&) { return of_body(); },
          [&](const ElementsRule& elements) {
            return context_.sets.arrays().tells_equal(context_.open[elements.array].rest) ? of_body() : as_one();
          },
          [&](const auto&) { return as_one(); },
      },
      rule);
}

std::optional<ExpressionId> JsonRules::unfolded(RuleId id, Budget& budget) {
  if (about(id).by_byte || std::holds_alternative<DeclaredNameRule>(context_.rules[id])) return std::nullopt;
  return expanded(id, {arena(), budget});
}

// ---- declared names as strings ----------------------------------------------------------------

std::span<const std::string_view> JsonRules::strings(RuleId id, Budget& budget) {
  const JsonRule rule = context_.rules[id];
  const auto* name = std::get_if<DeclaredNameRule>(&rule);
  return name ? declared_.strings(*name, {arena(), budget}) : std::span<const std::string_view>();
}

ExpressionId JsonRules::after(RuleId id, std::size_t string, Budget& budget) {
  const auto name = std::get<DeclaredNameRule>(context_.rules[id]);
  return declared_.after(name, string, {arena(), budget});
}

std::uint32_t JsonRules::spelled_after(RuleId id, std::size_t string) const {
  return declared_.spelled_after(std::get<DeclaredNameRule>(context_.rules[id]), string);
}

std::optional<std::uint8_t> JsonRules::leaving_byte() const {
  return context_.style.spelling == Spelling::Plain ? std::nullopt : std::optional<std::uint8_t>('\\');
}

ExpressionId JsonRules::after_leaving(RuleId id, std::size_t low, std::size_t, std::size_t depth, Budget& budget) {
  const auto name = std::get<DeclaredNameRule>(context_.rules[id]);
  return declared_.after_backslash(name, low, depth, {arena(), budget});
}

std::optional<std::string> JsonRules::awaited(RuleId id, Budget& budget) {
  const JsonRule rule = context_.rules[id];
  const auto* name = std::get_if<DeclaredNameRule>(&rule);
  return name ? declared_.awaited(*name, {arena(), budget}) : std::nullopt;
}

// ---- values -----------------------------------------------------------------------------------

// Strings that are listed say more without a terminal around them: there are few.
ExpressionId JsonRules::quoted(ExpressionId strings, const Work& work) const {
  const ExpressionId quote = literal("\"", work);
  const ExpressionId text = work.arena.forms().concatenate(quote, work.arena.forms().concatenate(strings, quote));
  return work.arena.pool().node(strings).kind == Kind::Strings ? text
                                                               : work.arena.derivatives().terminal(text, work.budget);
}

ExpressionId JsonRules::expand(const ValueRule& rule, const Work& work) {
  Layout& layout = context_.layout;
  ValueSets& sets = context_.sets;
  OpenContainers& open = context_.open;
  const ValueParts parts = sets.parts(rule.set, work);
  Arena& arena = work.arena;
  std::vector<ExpressionId> ways;
  const auto add = [&](ExpressionId way) { ways.push_back(layout.after_blank(rule.gap, way, work)); };
  if (parts.simple & kNull) add(literal("null", work));
  if (parts.simple & kFalse) add(literal("false", work));
  if (parts.simple & kTrue) add(literal("true", work));
  if (parts.strings.language != Pool::kEmpty) add(quoted(parts.strings.language, work));
  if (parts.numbers.language != Pool::kEmpty) add(arena.derivatives().terminal(parts.numbers.language, work.budget));
  if (sets.array_ends().some_length(parts.arrays, work)) {
    const ExpressionId inside = refer_.elements(open.add(OpenArray{parts.arrays}), true, rule.line.deeper(), work);
    add(arena.forms().concatenate(literal("[", work), inside));
  }
  const OpenObject object = open.begun(rule.set, parts.objects, false);
  if (sets.object_ends().some_length(parts.objects, open.room(object), work)) {
    const ExpressionId inside = refer_.members(open.add(object), true, rule.line.deeper(), work);
    add(arena.forms().concatenate(literal("{", work), inside));
  }
  ways.push_back(
      layout.after_break(rule.gap, rule.line.indent, refer_.value(rule.set, Gap::None, rule.line, work), work));
  return arena.forms().unite(ways);
}

std::string JsonRules::show(RuleId id) {
  const JsonRule& rule = context_.rules[id];
  const auto* const name = std::get_if<DeclaredNameRule>(&rule);
  return json::show(rule, context_, name ? choices_.known(name->object) : nullptr);
}

// ---- memory -----------------------------------------------------------------------------------

// Rules that no matcher holds go, and so do the texts that they alone have kept.
void JsonRules::begin_anew() {
  forget_memos();
  context_.open.begin_anew();
  context_.rules.begin_anew();
  distinct_.seen_elements().begin_anew();
}

void JsonRules::keep_all() {
  context_.open.keep_all();
  context_.rules.keep_all();
  distinct_.seen_elements().keep_all();
  forget_memos();
}

RuleId JsonRules::kept(RuleId id) {
  OpenContainers& open = context_.open;
  JsonRule rule = context_.rules.before(id);
  std::visit(
      [&](auto& each) {
        if constexpr (requires { each.array; }) {
          each.array = open.kept(each.array);
          distinct_.seen_elements().note_kept(open[each.array].seen);
        }
        if constexpr (requires { each.object; }) each.object = open.kept(each.object);
        if constexpr (requires { each.text; }) each.text = open.kept(each.text);
        if constexpr (requires { each.escape; }) each.escape = open.kept(each.escape);
      },
      rule);
  const About& about = context_.rules.about_before(id);
  return context_.rules.add(rule, about.spelled, about.shortest);
}

void JsonRules::all_kept() {
  context_.open.all_kept();
  context_.rules.all_kept();
  distinct_.seen_elements().all_kept();
}

void JsonRules::forget_memos() {
  choices_.forget_expressions();
  distinct_.forget_expressions();
  undeclared_.forget_expressions();
  context_.rules.forget_bodies();
  values_left_.forget_expressions();
  context_.sets.forget_expressions();
  if (context_.tags) context_.tags->forget_expressions();
  context_.layout.forget_expressions();
}

}  // namespace tokamata::json
