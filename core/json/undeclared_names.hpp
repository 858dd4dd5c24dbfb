// Names of members that are not declared: none may be repeated, nor be a declared one.
//
// Problem.  A name must be none of those that are taken, in any spelling, at every byte.
// How.  Mostly there are so many names that this is a question of the last byte alone: more names begin like the text
// than are taken (values_left.hpp), so the name is looked up where it ends.  Where they may be fewer, the name is
// narrowed to those that are left, and it is *settled*: nothing needs to be counted for it any more.
// Example.  Names ^a[bc]?$, of which `a` and `ab` are taken.  After `a` there are three names, and two are taken.  After
// `ab` there is one, which is taken: so `b` is refused.
// Over-approximations: a mask is made of any name of the class; the spellings of taken names are refused, and tokens
// after which too few names are left are unverified.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "json/member_values.hpp"
#include "json/rule_references.hpp"
#include "json/values_left.hpp"

namespace tokamata::json {

// The rest of a name, and whether it can no longer become a name that is taken.
struct UndeclaredName {
  ExpressionId rest;
  bool is_settled;
};

class UndeclaredNames {
 public:
  UndeclaredNames(RuleContext& context, RuleReferences& refer, NameChoices& choices, MemberValues& values,
                  ValuesLeft& values_left)
      : style_(context.style),
        layout_(context.layout),
        sets_(context.sets),
        tags_(context.tags.get()),
        open_(context.open),
        rules_(context.rules),
        refer_(refer),
        choices_(choices),
        values_(values),
        values_left_(values_left) {}

  // What stands before each name of an object.
  ExpressionId opening(OpenObjectId object, const Work& work);
  std::uint8_t end_of_name(const OpenObject& object) const { return object.is_tagged ? tags_->name_end() : '"'; }

  // ---- exact ----
  UndeclaredName begun(const OpenObject& object, std::uint32_t name_class, const Work& work);
  // A name of which some bytes are read.
  UndeclaredName begun(const OpenObject& object, std::uint32_t name_class, TextId text, TextId escape,
                       const Work& work);
  ExpressionId expression(UndeclaredNameRule rule, const UndeclaredName& name, const Work& work);
  UndeclaredName so_far(RuleId rule, const Work& work);
  ExpressionId derivative(RuleId rule, std::uint8_t byte, const Work& work);
  ExpressionId expand_after(const AfterUndeclaredRule& rule, const Work& work);

  // ---- over-approximations ----
  Approximation approximation(RuleId rule, const Work& work);
  ExpressionId approximated(RuleId rule, const Work& work);
  // A name of some language, whatever is taken, with its quote, and what follows it.
  ExpressionId approximated(OpenObjectId object, std::uint32_t name_class, ExpressionId names, Gap gap,
                            bool is_unverified, Line line, const Work& work);
  // The object without the names that it has, if other names are without end: then objects share their masks.
  OpenObjectId without_names(OpenObjectId object, const Work& work);
  // Whether an over-approximation of a name is right up to its end, save for the spellings that it refuses.
  bool is_sure(OpenObjectId object, std::uint32_t name_class, const UndeclaredName& name, const Work& work);
  // Refuses what is taken after the bytes of a text.  `lead`: bytes before the rest of the name.  `rest`: what may still
  // be written after the text, if it may come to be taken.
  void refuse_taken(const OpenObject& object, TextId text, TextId escape, std::optional<ExpressionId> rest,
                    const std::string& lead, Approximation& approximation, const Work& work);
  // The names of a class that are not declared; and such a name, with its quote, and what follows it.
  ExpressionId relaxed_names(OpenObjectId object, std::uint32_t name_class, const Work& work);
  ExpressionId relaxed(OpenObjectId object, std::uint32_t name_class, Line line, const Work& work);

  void forget_expressions() { release(relaxed_names_); }

 private:
  // Whether an over-approximation forgets what the text needs to have of an undeclared name: the closing repeats it.
  bool is_forgotten(const OpenObject& object) const { return object.is_tagged && tags_->closes_by_name(); }
  // Those of a class that can be written.
  ExpressionId names_of(const OpenObject& object, std::uint32_t name_class, const Work& work);
  // The same, settled where that is due.
  UndeclaredName checked(UndeclaredName name, const OpenObject& object, std::uint32_t name_class, TextId text,
                         TextId escape, const Work& work);
  UndeclaredName settled(UndeclaredName name, const OpenObject& object, std::uint32_t name_class, TextId text,
                         TextId escape, const Work& work);

  const Style& style_;
  Layout& layout_;
  ValueSets& sets_;
  TaggedMembers* tags_;
  OpenContainers& open_;
  RuleTable& rules_;
  RuleReferences& refer_;
  NameChoices& choices_;
  MemberValues& values_;
  ValuesLeft& values_left_;
  counted::unordered_map<std::uint64_t, ExpressionId> relaxed_names_;  // by order and names of a class
};

}  // namespace tokamata::json
