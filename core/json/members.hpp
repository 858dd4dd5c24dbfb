// The members of objects: a brace where the object may end, and the names that may come.
#pragma once

#include <vector>

#include "json/declared_names.hpp"

namespace tokamata::json {

class Members {
 public:
  Members(RuleContext& context, NameChoices& choices, UndeclaredNames& undeclared, DeclaredNames& declared)
      : layout_(context.layout),
        sets_(context.sets),
        tags_(context.tags.get()),
        open_(context.open),
        choices_(choices),
        undeclared_(undeclared),
        declared_(declared) {}

  ExpressionId expand(const MembersRule& rule, const Work& work);

 private:
  ExpressionId expand_tagged(const MembersRule& rule, const Work& work);
  ExpressionId names(const MembersRule& rule, const Work& work);
  void add_approximate_names(const MembersRule& rule, std::vector<ExpressionId>& ways, const Work& work);

  Layout& layout_;
  ValueSets& sets_;
  TaggedMembers* tags_;
  OpenContainers& open_;
  NameChoices& choices_;
  UndeclaredNames& undeclared_;
  DeclaredNames& declared_;
};

}  // namespace tokamata::json
