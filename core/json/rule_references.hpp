// Expressions that refer to rules: a value, the elements of an array, the members of an object.
//
// A reference is made before its rule is expanded, with the lengths that searches ask of a rule (Rules::About): that of
// some text, and for relaxed rules a lower bound.  So what follows a name refers to further members, and these to
// names, and no class needs the other's expansion.
#pragma once

#include "json/rule_table.hpp"
#include "json/style.hpp"

namespace tokamata::json {

// What the rules of one pattern have in common.
struct RuleContext {
  // `tag_style`: the root is an object whose members stand between tags.  `within`: what the spellings of strings and
  // of undeclared names are in; null: all.
  RuleContext(std::uint32_t source, std::shared_ptr<const ValueTable> table, const Style& given,
              std::shared_ptr<const TagStyle> tag_style, ExpressionPtr within);

  Style style;
  Layout layout;
  ValueSets sets;
  std::unique_ptr<TaggedMembers> tags;  // null: all is JSON
  OpenContainers open;
  RuleTable rules;
};

class RuleReferences {
 public:
  explicit RuleReferences(RuleContext& context)
      : sets_(context.sets), tags_(context.tags.get()), open_(context.open), rules_(context.rules) {}

  ExpressionId value(SetId set, Gap gap, Line line, const Work& work);
  // In JSON with what closes them; between tags one more and all that follow it, or nothing where none must follow.
  ExpressionId elements(OpenArrayId array, bool is_first, Line line, const Work& work);
  ExpressionId members(OpenObjectId object, bool is_first, Line line, const Work& work);

  // Rules::About::shortest of what follows a name and what ends it.
  std::uint32_t shortest_after(OpenObjectId object, NameId name, const Line& line, const Work& work);
  std::uint32_t shortest_after_undeclared(OpenObjectId object, const Line& line, const Work& work);

 private:
  ExpressionId tagged_elements(OpenArrayId array, Line line, const Work& work);
  ExpressionId tagged_members(OpenObjectId object, Line line, const Work& work);
  std::uint32_t shortest_members(OpenObjectId object, bool is_first, const Line& line, const Work& work);

  ValueSets& sets_;
  TaggedMembers* tags_;
  OpenContainers& open_;
  RuleTable& rules_;
};

}  // namespace tokamata::json
