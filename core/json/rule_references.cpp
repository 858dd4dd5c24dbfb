#include "json/rule_references.hpp"

namespace tokamata::json {

namespace {

constexpr std::uint32_t kMostLevelsOfLeastLength = 6;  // of nested values that a lower bound counts

ExpressionId optional_if(bool is_optional, ExpressionId expression, const Work& work) {
  std::vector<ExpressionId> ways{expression};
  if (is_optional) ways.push_back(Pool::kEpsilon);
  return work.arena.forms().unite(ways);
}

}  // namespace

RuleContext::RuleContext(std::uint32_t source, std::shared_ptr<const ValueTable> table, const Style& given,
                         std::shared_ptr<const TagStyle> tag_style, ExpressionPtr within)
    : style(given),
      layout(style.whitespace, style.most_blanks),
      sets(std::move(table), style.spelling, std::move(within)),
      tags(tag_style ? std::make_unique<TaggedMembers>(std::move(tag_style), sets) : nullptr),
      open(sets, tags.get()),
      rules(source, layout, tags.get(), open) {}

ExpressionId RuleReferences::value(SetId set, Gap gap, Line line, const Work& work) {
  const std::uint32_t length = sets_.some_length(set, work).value_or(ExpressionNode::kUnspelled);
  const std::uint32_t shortest =
      line.mode == Mode::Relaxed ? sets_.least_length(set, kMostLevelsOfLeastLength, work) : 1;
  return rules_.expression(ValueRule{set, gap, line}, length, shortest, work);
}

ExpressionId RuleReferences::elements(OpenArrayId array, bool is_first, Line line, const Work& work) {
  if (open_[array].is_tagged) return tagged_elements(array, line, work);
  const auto length = sets_.array_ends().some_length(open_[array].rest, open_.seen(open_[array]), work);
  const std::uint32_t spelled = capped_sum(length.value_or(ExpressionNode::kUnspelled), 1);
  return rules_.expression(ElementsRule{array, is_first, line}, spelled, work);
}

ExpressionId RuleReferences::members(OpenObjectId number, bool is_first, Line line, const Work& work) {
  if (open_[number].is_tagged) return tagged_members(number, line, work);
  const OpenObject object = open_[number];
  const auto length = sets_.object_ends().some_length(object.rest, open_.room(object), work);
  const std::uint32_t spelled = capped_sum(length.value_or(ExpressionNode::kUnspelled), 1);
  return rules_.expression(MembersRule{number, is_first, line}, spelled, shortest_members(number, is_first, line, work),
                           work);
}

ExpressionId RuleReferences::tagged_members(OpenObjectId number, Line line, const Work& work) {
  const OpenObject object = open_[number];
  const bool may_end = sets_.objects().accepts(object.rest);
  ObjectEnds& ends = sets_.object_ends();
  const auto length = may_end ? ends.some_further_length(object.rest, open_.room(object), work)
                              : ends.some_length(object.rest, open_.room(object), work);
  if (!length) return may_end ? Pool::kEpsilon : Pool::kEmpty;
  const std::uint32_t shortest = shortest_members(number, false, line, work);
  return optional_if(may_end, rules_.expression(MembersRule{number, false, line}, *length, shortest, work), work);
}

ExpressionId RuleReferences::tagged_elements(OpenArrayId number, Line line, const Work& work) {
  const ArrayId rest = open_[number].rest;
  ArrayFormulas& arrays = sets_.arrays();
  const auto element_length = [&](SetId value) { return tags_->element_length(value, work); };
  const bool may_end = arrays.accepts(rest);
  std::optional<std::uint32_t> length;
  if (!may_end) {
    length = sets_.array_ends().some_length(rest, element_length, work);
  } else {
    for (const auto branches = arrays.branches(rest, work); const Branch<ArrayTag>& way : *branches) {
      const auto element = element_length(way.value);
      const auto further = element ? sets_.array_ends().some_length(way.rest, element_length, work) : std::nullopt;
      if (further) length = std::min(length.value_or(kNoLength), capped_sum(*element, *further));
    }
  }
  if (!length) return may_end ? Pool::kEpsilon : Pool::kEmpty;
  return optional_if(may_end, rules_.expression(ElementsRule{number, false, line}, *length, work), work);
}

// With the brace.
std::uint32_t RuleReferences::shortest_members(OpenObjectId object, bool is_first, const Line& line, const Work& work) {
  if (line.mode != Mode::Relaxed) return 1;
  if (open_[object].is_tagged)
    return std::max(sets_.object_ends().least_length(open_[object].rest, *tags_, std::nullopt, work),
                    tags_->least_length(std::nullopt, work));
  const std::uint32_t members = sets_.object_ends().least_length(open_[object].rest, kMostLevelsOfLeastLength, work);
  return capped_sum(members, is_first && members > 0 ? 0 : 1);
}

std::uint32_t RuleReferences::shortest_after(OpenObjectId object, NameId name, const Line& line, const Work& work) {
  if (line.mode != Mode::Relaxed) return 1;
  if (open_[object].is_tagged)
    return capped_sum(sets_.object_ends().least_length(open_[object].rest, *tags_, name, work),
                      tags_->least_closing(work));
  return capped_sum(sets_.object_ends().least_length_with(open_[object].rest, name, kMostLevelsOfLeastLength, work), 2);
}

std::uint32_t RuleReferences::shortest_after_undeclared(OpenObjectId object, const Line& line, const Work& work) {
  if (line.mode != Mode::Relaxed) return 1;
  if (!open_[object].is_tagged) return capped_sum(shortest_members(object, false, line, work), 2);
  return capped_sum(sets_.object_ends().least_length(open_[object].rest, *tags_, std::nullopt, work),
                    tags_->least_closing(work));
}

}  // namespace tokamata::json
