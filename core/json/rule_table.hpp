// The rules of JSON texts and their numbers: equal rules have equal numbers.
//
//   Value            a value of a set, with the space that may stand before it
//   Elements         what follows the bracket of an array, or an element of it
//   Members          what follows the brace of an object, or a member of it
//   DeclaredName     the rest of one of some declared names, up to its quote, and all that follows in its object
//   UndeclaredName   the same for an undeclared name; its text is kept, since no name may be repeated
//   AfterUndeclared  what follows the quote of an undeclared name, in an over-approximation
//   DistinctElement  the rest of an element that must differ from those before it, and all that follows in its array
//
// Example.  {"type": "object", "properties": {"a": …}, "additionalProperties": false}, after `{"`: DeclaredName(a) · ε,
// then after `a"`:  `:` Value(…) Members · ε.
// Every prefix of an undeclared name or of an element that must differ is a rule of its own.  All other rules are
// determined by the formula that remains.
// Over-approximations (expression/rules.hpp) forget names and elements that begin within the current token: these may
// repeat an earlier one, and everything after their end is unverified.
//
// The members of an object, and in some styles the elements of an array, may stand between tags in place of JSON
// (tag_style.hpp).  A rule of members or elements is one more of them then, with all that follow it: an object that may
// end has no bracket, and no rule accepts the empty text.
#pragma once

#include <memory>
#include <variant>

#include "common/memory_account.hpp"
#include "common/number_table.hpp"
#include "json/begun_element.hpp"
#include "json/layout.hpp"
#include "json/open_containers.hpp"

namespace tokamata::json {

// Approximation and Unverified serve masks: a name that is not declared is any text, and what is taken of these is
// refused elsewhere, so that all objects share the segments of that text.  Relaxed serves searches, which see one
// expression alone: there such a name is not a declared one, and nothing waits.
enum class Mode : std::uint8_t { Exact, Approximation, Unverified, Relaxed };

// Where a rule stands.
struct Line {
  Indent indent;
  Mode mode = Mode::Exact;
  bool operator==(const Line&) const = default;
  Line deeper() const { return {indent.deeper(), mode}; }
  Line of(Mode other) const { return {indent, other}; }
};

struct ValueRule {
  SetId set;
  Gap gap;
  Line line;
  bool operator==(const ValueRule&) const = default;
};
struct ElementsRule {
  OpenArrayId array;
  bool is_first;
  Line line;
  bool operator==(const ElementsRule&) const = default;
};
struct MembersRule {
  OpenObjectId object;
  bool is_first;
  Line line;
  bool operator==(const MembersRule&) const = default;
};
struct DeclaredNameRule {
  OpenObjectId object;
  std::uint32_t low, high;  // names of the choice (name_choices.hpp) that it may become
  std::uint32_t read;       // bytes, in plain spelling
  TextId escape;            // the text so far of an escape that is begun
  Line line;
  bool operator==(const DeclaredNameRule&) const = default;
};
struct UndeclaredNameRule {
  OpenObjectId object;
  std::uint32_t name_class;
  TextId text;    // so far, in plain spelling
  TextId escape;  // the text so far of an escape that is begun
  Line line;
  bool is_settled = false;  // it can no longer become a name that is taken
  bool operator==(const UndeclaredNameRule&) const = default;
};
struct AfterUndeclaredRule {
  OpenObjectId object;
  std::uint32_t name_class;
  Line line;
  bool operator==(const AfterUndeclaredRule&) const = default;
};
struct DistinctElementRule {
  OpenArrayId array;
  SetId set;
  TextId text;  // so far
  Line line;
  ElementKind kind;
  bool is_settled;  // it can no longer become an earlier element
  bool operator==(const DistinctElementRule&) const = default;
};
using JsonRule = std::variant<ValueRule, ElementsRule, MembersRule, DeclaredNameRule, UndeclaredNameRule,
                              AfterUndeclaredRule, DistinctElementRule>;
static_assert(sizeof(JsonRule) <= 36);  // a text has a rule for each byte of a name or an element

// The line of a rule, const or not.
template <class Rule>
auto& line_of(Rule& rule) {
  return std::visit([](auto& each) -> auto& { return each.line; }, rule);
}

class RuleTable {
 public:
  RuleTable(std::uint32_t source, const Layout& layout, const TaggedMembers* tags, const OpenContainers& open)
      : source_(source), layout_(layout), tags_(tags), open_(open) {}

  // `spelled`, `shortest`: Rules::About.  Rules that serve no search by lengths have the least shortest length.
  RuleId add(JsonRule rule, std::uint32_t spelled, std::uint32_t shortest = 1);
  const JsonRule& operator[](RuleId rule) const { return now_.rules[rule.value]; }
  const Rules::About& about(RuleId rule) const { return now_.abouts[rule.value]; }
  ExpressionId expression(RuleId rule, const Work& work) const { return work.arena.forms().rule(source_, rule); }
  ExpressionId expression(const JsonRule& rule, std::uint32_t spelled, const Work& work) {
    return expression(add(rule, spelled), work);
  }
  ExpressionId expression(const JsonRule& rule, std::uint32_t spelled, std::uint32_t shortest, const Work& work) {
    return expression(add(rule, spelled, shortest), work);
  }

  // The body of a rule; of UndeclaredName and DistinctElement, what may still be written of the name or the element.
  // It is kEmpty until somebody sets it: no rule has an empty body.
  ExpressionId& body(RuleId rule);
  void forget_bodies() { release(bodies_); }

  // ---- compaction: Rules::begin_anew ----
  void begin_anew();
  // A rule that there was before, to be added again.
  const JsonRule& before(RuleId rule) const { return before_->rules[rule.value]; }
  const Rules::About& about_before(RuleId rule) const { return before_->abouts[rule.value]; }
  void all_kept() { before_.reset(); }
  void keep_all();

 private:
  struct Contents {
    counted::vector<JsonRule> rules;
    counted::vector<Rules::About> abouts;
    NumberTable index;
  };
  bool is_tagged(const JsonRule& rule) const;

  std::uint32_t source_;
  const Layout& layout_;
  const TaggedMembers* tags_;
  const OpenContainers& open_;
  Contents now_;
  std::unique_ptr<Contents> before_;
  counted::vector<ExpressionId> bodies_;  // by rule
};

// Everything from here to the end of the text is unverified.
inline ExpressionId unverified_from(ExpressionId expression, const Work& work) {
  return work.arena.forms().concatenate(work.arena.forms().commit(Rules::kUnverified), expression);
}

}  // namespace tokamata::json
