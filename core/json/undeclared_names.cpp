#include "json/undeclared_names.hpp"

#include <algorithm>

#include "common/memoized.hpp"
#include "json/escapes.hpp"
#include "json/leaves.hpp"
#include "json/spelled_tree.hpp"

namespace tokamata::json {

namespace {

constexpr std::uint32_t kDistinguishing = 4;  // bytes that distinguish a name from all that are taken
constexpr std::uint32_t kLongName = 1 << 20;  // of a name that a closing repeats, nobody knows here how long it is

}  // namespace

ExpressionId UndeclaredNames::opening(OpenObjectId object, const Work& work) {
  return open_[object].is_tagged ? tags_->pieces(work).opening : literal("\"", work);
}

ExpressionId UndeclaredNames::names_of(const OpenObject& object, std::uint32_t name_class, const Work& work) {
  const auto classes = sets_.objects().name_classes(object.rest, work);
  const ExpressionId names = (*classes)[name_class].names;
  return object.is_tagged ? tags_->writable(names, work) : names;
}

// ---- exact ------------------------------------------------------------------------------------

ExpressionId UndeclaredNames::expression(UndeclaredNameRule rule, const UndeclaredName& name, const Work& work) {
  if (name.rest == Pool::kEmpty) return Pool::kEmpty;
  const std::size_t repeated = is_forgotten(open_[rule.object]) ? open_.texts().length(rule.text) : 0;
  const std::uint32_t length =
      capped_sum(choices_.of(rule.object, work).length_of(rule.name_class), kDistinguishing, repeated);
  rule.is_settled = name.is_settled;
  const RuleId id = rules_.add(rule, length);
  rules_.body(id) = name.rest;
  return rules_.expression(id, work);
}

UndeclaredName UndeclaredNames::begun(const OpenObject& object, std::uint32_t name_class, const Work& work) {
  const auto classes = sets_.objects().name_classes(object.rest, work);
  const UndeclaredName name{work.arena.derivatives().terminal(names_of(object, name_class, work), work.budget),
                            (*classes)[name_class].is_any};
  return checked(name, object, name_class, Texts::kEmpty, Texts::kEmpty, work);
}

UndeclaredName UndeclaredNames::begun(const OpenObject& object, std::uint32_t name_class, TextId text, TextId escape,
                                      const Work& work) {
  UndeclaredName name = begun(object, name_class, work);
  TextId read = Texts::kEmpty, read_escape = Texts::kEmpty;
  const auto read_byte = [&](TextId& so_far, char byte) {
    so_far = open_.texts().extended(so_far, static_cast<std::uint8_t>(byte));
    name.rest = work.arena.derivatives().derivative(name.rest, static_cast<std::uint8_t>(byte), work.budget);
    if (name.rest != Pool::kEmpty) name = checked(name, object, name_class, read, read_escape, work);
    return name.rest != Pool::kEmpty;
  };
  for (const char byte : open_.texts().string(text))
    if (!read_byte(read, byte)) return name;
  for (const char byte : open_.texts().string(escape))
    if (!read_byte(read_escape, byte)) return name;
  return name;
}

UndeclaredName UndeclaredNames::checked(UndeclaredName name, const OpenObject& object, std::uint32_t name_class,
                                        TextId text, TextId escape, const Work& work) {
  const auto is_ample = [&](std::uint64_t taken) {
    return !work.arena.narrows_always() && values_left_.has_more(name.rest, ElementKind::String, taken, work);
  };
  if (name.is_settled || is_ample(open_.taken_count(object)) || is_ample(open_.taken_count(object, text))) return name;
  return settled(name, object, name_class, text, escape, work);
}

// Without the names that are taken.
UndeclaredName UndeclaredNames::settled(UndeclaredName name, const OpenObject& object, std::uint32_t name_class,
                                        TextId text, TextId escape, const Work& work) {
  name.is_settled = true;
  const std::vector<std::string> taken = open_.taken_below(object, text);
  if (taken.empty()) return name;
  name.rest = work.arena.derivatives().terminal(sets_.texts().without(names_of(object, name_class, work), taken, work),
                                                work.budget);
  for (const char byte : open_.texts().string(text) + open_.texts().string(escape))
    name.rest = work.arena.derivatives().settled(
        work.arena.derivatives().derivative(name.rest, static_cast<std::uint8_t>(byte), work.budget));
  return name;
}

// What may still be written of it, read again where the arena is another one.  It may have come to be settled within an
// escape.
UndeclaredName UndeclaredNames::so_far(RuleId id, const Work& work) {
  const auto rule = std::get<UndeclaredNameRule>(rules_[id]);
  if (const ExpressionId known = rules_.body(id); known != Pool::kEmpty) return {known, rule.is_settled};
  const OpenObject object = open_[rule.object];
  UndeclaredName name = begun(object, rule.name_class, rule.text, rule.escape, work);
  if (rule.is_settled && !name.is_settled) name = settled(name, object, rule.name_class, rule.text, rule.escape, work);
  name.is_settled = rule.is_settled;
  rules_.body(id) = name.rest;
  return name;
}

ExpressionId UndeclaredNames::derivative(RuleId id, std::uint8_t byte, const Work& work) {
  const auto rule = std::get<UndeclaredNameRule>(rules_[id]);
  const OpenObject object = open_[rule.object];
  const UndeclaredName before = so_far(id, work);
  if (const ExpressionId rest = work.arena.derivatives().derivative(before.rest, byte, work.budget);
      rest != Pool::kEmpty) {
    Texts& texts = open_.texts();
    UndeclaredNameRule longer = rule;
    if (style_.spelling != Spelling::Plain && !object.is_tagged && (byte == '\\' || rule.escape != Texts::kEmpty)) {
      longer.escape = texts.extended(rule.escape, byte);
      if (const std::string escape = texts.string(longer.escape); code_point_of_escape(escape)) {
        longer.text = texts.extended(rule.text, spelled_string(read_string(escape)));
        longer.escape = Texts::kEmpty;
      }
    } else {
      longer.text = texts.extended(rule.text, byte);
    }
    const UndeclaredName name{rest, before.is_settled};
    return expression(longer, checked(name, object, rule.name_class, longer.text, longer.escape, work), work);
  }
  if (byte != end_of_name(object) || rule.escape != Texts::kEmpty || !work.arena.pool().node(before.rest).nullable)
    return Pool::kEmpty;
  if (open_.is_taken(object, rule.text)) return Pool::kEmpty;
  return values_.after_undeclared(open_.after_undeclared(object, rule.text), rule.name_class, rule.text, rule.line,
                                  work);
}

// The name is not known to be written.
ExpressionId UndeclaredNames::expand_after(const AfterUndeclaredRule& rule, const Work& work) {
  const OpenObject object = open_[rule.object];
  return values_.after_undeclared(object, rule.name_class, std::nullopt, rule.line, work);
}

// ---- over-approximations ----------------------------------------------------------------------

OpenObjectId UndeclaredNames::without_names(OpenObjectId number, const Work& work) {
  OpenObject object = open_[number];
  if (object.others == kNoTexts) return number;
  const auto classes = sets_.objects().name_classes(object.rest, work);
  if (!std::ranges::all_of(*classes, &NameClass::is_any)) return number;
  object.others = kNoTexts;
  return open_.add(object);
}

bool UndeclaredNames::is_sure(OpenObjectId object, std::uint32_t name_class, const UndeclaredName& name,
                              const Work& work) {
  const auto classes = sets_.objects().name_classes(open_[object].rest, work);
  return ((*classes)[name_class].is_any || name.is_settled) && !is_forgotten(open_[object]);
}

ExpressionId UndeclaredNames::approximated(OpenObjectId number, std::uint32_t name_class, ExpressionId names, Gap gap,
                                           bool is_unverified, Line line, const Work& work) {
  number = without_names(number, work);
  const OpenObject object = open_[number];
  Arena& arena = work.arena;
  const ExpressionNode n = arena.pool().node(names);
  const char end = static_cast<char>(end_of_name(object));
  const ExpressionId texts =
      arena.forms().concatenate(n.kind == Kind::Terminal ? n.body() : names, literal({&end, 1}, work));
  const ExpressionId quoted =
      gap == Gap::None || object.is_tagged
          ? texts
          : layout_.after_blank(gap, arena.forms().concatenate(literal("\"", work), texts), work);
  const std::uint32_t length =
      capped_sum(choices_.of(number, work).length_of(name_class), 2, is_forgotten(object) ? kLongName : 0);
  const std::uint32_t shortest = refer_.shortest_after_undeclared(number, line, work);
  const ExpressionId after = rules_.expression(AfterUndeclaredRule{number, name_class, line}, length, shortest, work);
  const ExpressionId name = arena.derivatives().terminal(quoted, work.budget);
  const ExpressionId opened =
      object.is_tagged && gap != Gap::None ? arena.forms().concatenate(opening(number, work), name) : name;
  return arena.forms().concatenate(
      opened, is_unverified && line.mode == Mode::Approximation ? unverified_from(after, work) : after);
}

// After its quote, nobody knows here where the name began.
ExpressionId UndeclaredNames::approximated(RuleId id, const Work& work) {
  const auto rule = std::get<UndeclaredNameRule>(rules_[id]);
  const UndeclaredName name = so_far(id, work);
  const ExpressionId other =
      approximated(rule.object, rule.name_class, name.rest, Gap::None, true, rule.line.of(Mode::Approximation), work);
  return name.is_settled ? other : unverified_from(other, work);
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
Approximation UndeclaredNames::approximation(RuleId id, const Work& work) {
  const auto rule = std::get<UndeclaredNameRule>(rules_[id]);
  const UndeclaredName name = so_far(id, work);
  const bool is_sure_name = is_sure(rule.object, rule.name_class, name, work);
  Approximation found{approximated(rule.object, rule.name_class, name.rest, Gap::None, !is_sure_name,
                                   rule.line.of(Mode::Approximation), work)};
  const OpenObject object = open_[rule.object];
  refuse_taken(object, rule.text, rule.escape, is_sure_name ? std::nullopt : std::optional(name.rest), "", found, work);
  return found;
}

void UndeclaredNames::refuse_taken(const OpenObject& object, TextId text, TextId escape,
                                   std::optional<ExpressionId> rest, const std::string& lead,
                                   Approximation& approximation, const Work& work) {
  const std::uint64_t taken = open_.taken_count(object);
  const Texts& texts = open_.texts();
  TextSets& sets = open_.text_sets();
  for (const TextSetId set : open_.taken(object)) {
    const TextSetId below = sets.below(set, text);
    if (below == kNoTexts) continue;
    std::shared_ptr<const TextTree> tree;
    if (style_.spelling == Spelling::Plain || object.is_tagged)
      tree = std::make_shared<TextSetTree>(sets, below, texts.length(text));
    else tree = std::make_shared<SpelledTree>(sets, below, texts.string(text), texts.string(escape));
    approximation.refused.push_back({lead, std::make_shared<QuotedTree>(tree, end_of_name(object))});
    if (rest) approximation.unverified.push_back({lead, values_left_.unverified_along(tree, *rest, taken, work)});
  }
}

ExpressionId UndeclaredNames::relaxed_names(OpenObjectId number, std::uint32_t name_class, const Work& work) {
  const OpenObject object = open_[number];
  const ExpressionId all = names_of(object, name_class, work);
  return memoized(relaxed_names_, std::uint64_t{object.order.value} << 32 | all.value, [&] {
    std::vector<std::string> declared;
    for (const NameId name : open_.order(object).names) declared.push_back(sets_.table().text(name));
    return sets_.texts().without(all, declared, work);
  });
}

ExpressionId UndeclaredNames::relaxed(OpenObjectId object, std::uint32_t name_class, Line line, const Work& work) {
  const ExpressionId names = relaxed_names(object, name_class, work);
  return names == Pool::kEmpty ? names : approximated(object, name_class, names, Gap::None, false, line, work);
}

}  // namespace tokamata::json
