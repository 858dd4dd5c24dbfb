#include "json/member_values.hpp"

namespace tokamata::json {

ExpressionId MemberValues::after(OpenObjectId number, const NameChoice::Name& name, Line line, const Work& work) {
  const OpenObject object = open_[number];
  const OpenObject rest = open_.after_declared(object, name.place);
  const auto ways = sets_.objects().branches(object.rest, name.name, work);
  if (!object.is_tagged) return in_json(ways, rest, line, work);
  const std::string_view written = name.spelled.substr(0, name.spelled.size() - 1);
  return between_tags(ways, rest, tags_->after_closing(written, work), line, work);
}

ExpressionId MemberValues::after_undeclared(const OpenObject& object, std::uint32_t name_class,
                                            std::optional<TextId> name, Line line, const Work& work) {
  const auto classes = sets_.objects().name_classes(object.rest, work);
  const auto ways = sets_.objects().branches(object.rest, (*classes)[name_class], work);
  if (!object.is_tagged) return in_json(ways, object, line, work);
  const ExpressionId closing =
      name ? tags_->after_closing(open_.texts().string(*name), work) : tags_->after_closing(work);
  return between_tags(ways, object, closing, line, work);
}

// A colon, one of the values that may come, and the rest of the members.
ExpressionId MemberValues::in_json(const ObjectFormulas::Branches& ways, OpenObject rest, Line line, const Work& work) {
  Arena& arena = work.arena;
  std::vector<ExpressionId> next;
  for (const Branch<ObjectTag>& way : *ways) {
    rest.rest = way.rest;
    if (!sets_.object_ends().some_length(way.rest, open_.room(rest), work)) continue;
    next.push_back(arena.forms().concatenate(refer_.value(way.value, Gap::Space, line, work),
                                             refer_.members(open_.add(rest), false, line, work)));
  }
  return layout_.after_blank(Gap::None, arena.forms().concatenate(literal(":", work), arena.forms().unite(next)), work);
}

ExpressionId MemberValues::between_tags(const ObjectFormulas::Branches& ways, OpenObject rest,
                                        ExpressionId after_closing, Line line, const Work& work) {
  std::vector<ExpressionId> next;
  for (const Branch<ObjectTag>& way : *ways) {
    rest.rest = way.rest;
    if (!sets_.object_ends().some_length(way.rest, open_.room(rest), work)) continue;
    const ExpressionId value = tagged_value(way.value, false, after_closing, line, work);
    if (value != Pool::kEmpty)
      next.push_back(work.arena.forms().concatenate(value, refer_.members(open_.add(rest), false, line, work)));
  }
  return work.arena.forms().unite(next);
}

ExpressionId MemberValues::tagged_value(SetId set, bool is_element, ExpressionId after_closing, Line line,
                                        const Work& work) {
  const TaggedMembers::Pieces pieces = tags_->pieces(work);
  const TaggedMembers::Alternatives alternatives = tags_->alternatives(set, work);
  Arena& arena = work.arena;
  const ExpressionId closing = arena.forms().concatenate(pieces.closing, after_closing);
  std::vector<ExpressionId> ways;
  for (const TaggedMembers::Alternative& one : alternatives) {
    ExpressionId way = Pool::kEmpty;
    if (one.form == TagStyle::Form::Text) {
      way = arena.forms().concatenate(one.text, after_closing);
    } else if (one.form == TagStyle::Form::Json) {
      way = arena.forms().concatenate(refer_.value(one.values, Gap::None, line, work),
                                      arena.forms().concatenate(pieces.after, closing));
      way = arena.forms().concatenate(pieces.before, way);
    } else {
      const ValueParts values = sets_.parts(one.values, work);
      const ExpressionId inside =
          one.form == TagStyle::Form::Members
              ? refer_.members(open_.add(open_.begun(one.values, values.objects, true)), true, line, work)
              : refer_.elements(open_.add(OpenArray{values.arrays, kNoTexts, true}), true, line, work);
      if (inside != Pool::kEmpty)
        way = arena.forms().concatenate(inside, arena.forms().concatenate(pieces.between, closing));
    }
    const ExpressionId attributes = is_element ? pieces.of_elements[one.type] : pieces.attributes[one.type];
    if (way != Pool::kEmpty) ways.push_back(arena.forms().concatenate(attributes, way));
  }
  return arena.forms().unite(ways);
}

}  // namespace tokamata::json
