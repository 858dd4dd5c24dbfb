// What follows a name and what ends it: the value of the member, and the members after it.
//
// In JSON a value is one of its spellings.  Between tags it has alternatives by type (tagged_members.hpp), each with
// attributes and a closing; the elements of an array may stand between tags like members.
#pragma once

#include <optional>

#include "json/name_choices.hpp"
#include "json/rule_references.hpp"

namespace tokamata::json {

class MemberValues {
 public:
  MemberValues(RuleContext& context, RuleReferences& refer)
      : layout_(context.layout), sets_(context.sets), tags_(context.tags.get()), open_(context.open), refer_(refer) {}

  // After a declared name that comes next in an object.
  ExpressionId after(OpenObjectId object, const NameChoice::Name& name, Line line, const Work& work);
  // After an undeclared name of a class, which the object has already; nothing where the name is not known.
  ExpressionId after_undeclared(const OpenObject& object, std::uint32_t name_class, std::optional<TextId> name,
                                Line line, const Work& work);
  // An element of an array whose elements stand between tags.
  ExpressionId tagged_element(SetId set, Line line, const Work& work) {
    return tagged_value(set, true, tags_->after_closing(TaggedMembers::kElement, work), line, work);
  }

 private:
  ExpressionId in_json(const ObjectFormulas::Branches& ways, OpenObject rest, Line line, const Work& work);
  ExpressionId between_tags(const ObjectFormulas::Branches& ways, OpenObject rest, ExpressionId after_closing,
                            Line line, const Work& work);
  // A value with the closing, and what comes after that.
  ExpressionId tagged_value(SetId set, bool is_element, ExpressionId after_closing, Line line, const Work& work);

  Layout& layout_;
  ValueSets& sets_;
  TaggedMembers* tags_;
  OpenContainers& open_;
  RuleReferences& refer_;
};

}  // namespace tokamata::json
