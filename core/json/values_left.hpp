// How many values can still be written, once a name or an element that must differ from earlier ones is begun.
//
// Problem.  An element must be none of those seen, a name none of those written.  As long as more values can follow its
// text than there are earlier ones, one of them differs, and nothing else needs to be examined.
// How.  A lower bound, counted no further than requested, and kept with the expression of what may still be written,
// which is the same for all texts that have come to it:
//   string   each text is a value; where there are many spellings, each text without escapes is.  Of an escape that is
//            begun neither capital letters nor the u that stands beside \n are counted.
//   number   in plain spelling a value has four texts at most, and one of digits alone; elsewhere each text of the
//            digits from 1 to 9 is a value, since zeros at an end are what spellings differ by.
//   others   containers have as many values as any of the values that are to come, which all live.  A string that is
//            begun is the first of them.
// Example.  Integers from 0 to 999: after 1 there are 111 values, 1, 10 to 19 and 100 to 199; after 15 there are 11.
#pragma once

#include <memory>
#include <unordered_map>

#include "json/name_choices.hpp"
#include "json/rule_references.hpp"

namespace tokamata::json {

class ValuesLeft {
 public:
  ValuesLeft(RuleContext& context, NameChoices& choices)
      : style_(context.style),
        layout_(context.layout),
        sets_(context.sets),
        open_(context.open),
        rules_(context.rules),
        choices_(choices) {}

  // Whether more than so many values can still be written; false if that is not known.
  bool has_more(ExpressionId rest, ElementKind kind, std::uint64_t than, const Work& work);
  // Whether that stays so to the very end of the outermost container.
  bool is_endless(ExpressionId rest, const Work& work);
  // Texts of strings, to be marked where no more than so many strings can follow.
  std::shared_ptr<const TextTree> unverified_along(std::shared_ptr<const TextTree> texts, ExpressionId rest,
                                                   std::uint64_t than, const Work& work);
  void forget_expressions() { release(counts_); }

 private:
  class UnverifiedAlong;
  struct Counted {
    std::uint64_t found = 0, most = 0;
  };
  std::uint64_t count(ExpressionId rest, ElementKind kind, std::uint64_t most, const Work& work);
  std::uint64_t count_in_container(ExpressionId rest, bool is_in_string, std::uint64_t most, const Work& work);
  std::uint64_t count_of(const JsonRule& rule, std::uint64_t most, const Work& work);
  std::uint64_t count_after(OpenObject object, const NameChoice::Name& name, std::uint64_t most, const Work& work);
  std::uint64_t count_of_members(OpenObject object, std::uint64_t most, const Work& work);
  bool is_endless(const JsonRule& rule, const Work& work);
  bool is_endless(const DeclaredNameRule& rule, const Work& work);
  bool takes_elements_for_ever(ArrayId f, const Work& work);
  bool takes_names_for_ever(const OpenObject& object, const Work& work);

  const Style& style_;
  const Layout& layout_;
  ValueSets& sets_;
  OpenContainers& open_;
  const RuleTable& rules_;
  NameChoices& choices_;
  counted::unordered_map<std::uint64_t, Counted> counts_;  // by what may still be written, and the kind
};

}  // namespace tokamata::json
