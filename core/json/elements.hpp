// The elements of arrays: a bracket where the array may end, and what may come next.
//
// Where it matters which elements are equal, the next one is like none of those seen, and is followed as long as it is
// written (distinct_elements.hpp), or it is one of them.
#pragma once

#include "json/distinct_elements.hpp"
#include "json/member_values.hpp"

namespace tokamata::json {

class Elements {
 public:
  Elements(RuleContext& context, RuleReferences& refer, MemberValues& values, DistinctElements& distinct)
      : layout_(context.layout),
        sets_(context.sets),
        tags_(context.tags.get()),
        open_(context.open),
        refer_(refer),
        values_(values),
        distinct_(distinct) {}

  ExpressionId expand(const ElementsRule& rule, const Work& work);

 private:
  ExpressionId expand_tagged(const ElementsRule& rule, const Work& work);
  ExpressionId approximate_element(const Branch<ArrayTag>& way, bool is_first, Line line, const Work& work);

  Layout& layout_;
  ValueSets& sets_;
  TaggedMembers* tags_;
  OpenContainers& open_;
  RuleReferences& refer_;
  MemberValues& values_;
  DistinctElements& distinct_;
};

}  // namespace tokamata::json
