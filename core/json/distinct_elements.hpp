// Elements of arrays that must differ from those before them, while they are written.
//
// Problem.  An element must be none of those seen: as a whole, and so must every byte of it lead to one that is not.
// After [true, null, the next element may not begin with t; after ["ab", with maxLength 2, "ab may not be followed by
// its quote.  With 10,000 elements seen that must cost no more than with ten.
// How.  An element under way *watches*: it keeps its text, and at its end looks it up among those seen.  As long as
// more values can follow the text than were seen, one of them differs (values_left.hpp), and nothing else is asked.
// Where that ends, the values seen that are like the text are looked up (seen_elements.hpp).  Mostly there are none, or
// fewer than can follow.  Otherwise they are taken out of the set of the element, and it is *settled*: what is left of
// it says by itself what it may become.
// Example.  Integers from 0 to 999 of which 0 to 150 were seen.  After 1 there are 111 that can follow, and 62 that
// were seen; after 15 there are 11, of which 15 and 150 were seen.  After 150 there is one, which was.
// Masks: the over-approximation forgets what was seen; which of its tokens are unverified: unverified_elements.hpp.
// Cost.  A byte of a watching element costs what it would cost in another array, and a node of its text.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "json/rule_references.hpp"
#include "json/seen_elements.hpp"
#include "json/values_left.hpp"

namespace tokamata::json {

class DistinctElements {
 public:
  DistinctElements(RuleContext& context, RuleReferences& refer, ValuesLeft& values_left)
      : style_(context.style),
        layout_(context.layout),
        sets_(context.sets),
        open_(context.open),
        rules_(context.rules),
        refer_(refer),
        values_left_(values_left),
        seen_elements_(context.open.texts(), context.open.text_sets()) {}

  // An element of which `text` is read, with all that follows it in its array.
  ExpressionId expression(OpenArrayId array, const BegunElement& element, TextId text, Line line, const Work& work);
  ExpressionId derivative(RuleId rule, std::uint8_t byte, const Work& work);
  BegunElement so_far(RuleId rule, const Work& work);

  // ---- over-approximations ----
  ExpressionId approximated(RuleId rule, const Work& work);
  std::vector<Approximation> approximations(RuleId rule, const Work& work);

  SeenElements& seen_elements() { return seen_elements_; }
  void forget_expressions();

 private:
  // Bytes of some text that ends the array, bracket and all, after an element under way that has so many bytes once it
  // is ended.
  std::uint64_t bytes_after(OpenArrayId array, SetId set, std::uint64_t element, const Work& work);
  ExpressionId after(RuleId rule, const Work& work);
  BegunElement checked(BegunElement element, const OpenArray& array, TextId text, Line line, const Work& work);
  bool ends_in_exponent(TextId text) const;
  ExpressionId rest_of(SetId set, std::string_view text, Line line, const Work& work);

  const Style& style_;
  const Layout& layout_;
  ValueSets& sets_;
  OpenContainers& open_;
  RuleTable& rules_;
  RuleReferences& refer_;
  ValuesLeft& values_left_;
  SeenElements seen_elements_;
  // by array and the set of the element under way
  counted::unordered_map<std::uint64_t, ArrayEnds::After> afters_;
  std::optional<std::pair<RuleId, ExpressionId>> ended_;  // the element that ended last, and what follows it
};

}  // namespace tokamata::json
