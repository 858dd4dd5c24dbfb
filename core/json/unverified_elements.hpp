// Masks within elements that must differ: which tokens may make an element like an earlier one.
//
// Problem.  The mask of an over-approximation, which forgets what was seen, is shared by all elements of a set.  Of its
// tokens those must be judged one by one that may complete an earlier element, or leave no other.  A vocabulary has
// 128,000 tokens, and an array may have 10,000 elements.
// How.  An element differs from all earlier ones as soon as it leaves the spellings of those that it is like.  So only
// these spellings are followed, along the trie of tokens: through the string or number that is begun, or that begins
// after blanks.  A token is unverified
//   - if it goes past the end of such a string, or along a bracket, a comma or a colon: what comes then is judged;
//   - if it ends where no more values can follow than earlier elements are still alike (ValuesLeft::has_more).
// Where one more element may follow, what comes after one that differs is right as well: nothing but the next element
// is unverified.
// Within containers the strings and numbers are those of earlier elements at the same place (element_place.hpp).
// Example.  [{"x":"ab"},{"x":"ac"},{"x":"a|  goes along  b"  and  c" : unverified are  b" , c" , b"} , ….  After  ad
// all is free.
// Cost.  The nodes that the spellings have in the trie of tokens, with a derivative and a look-up for each; within
// containers a pass over the earlier elements that have some member, or all items so far, in common with the one under
// way.  Not taken: to ask at each prefix of an element whether any more values follow it than there are (a walk through
// all states of its set).
#pragma once

#include <string>

#include "json/begun_element.hpp"
#include "json/element_place.hpp"
#include "json/seen_elements.hpp"
#include "json/values_left.hpp"

namespace tokamata::json {

class UnverifiedElements final : public TextTree {
 public:
  // `begun`: the text of the element, without blanks in front; it is like some of those seen.  `with_ends`: what
  // follows an element is not unverified by itself.
  UnverifiedElements(Spelling spelling, ValueSets& sets, const TextSets& text_sets, const SeenElements& seen_elements,
                     ValuesLeft& values_left, const BegunElement& element, TextSetId seen, std::string begun,
                     bool with_ends, const Work& work)
      : spelling_(spelling),
        sets_(sets),
        text_sets_(text_sets),
        seen_elements_(seen_elements),
        values_left_(values_left),
        element_(element),
        seen_(seen),
        begun_(std::move(begun)),
        with_ends_(with_ends),
        work_(work) {}
  void walk(Walk& walk) const override;

 private:
  class Steps;
  ElementPlace place_outside() const;
  void walk_inside(Walk& walk) const;
  bool has_all_strings() const;

  Spelling spelling_;
  ValueSets& sets_;
  const TextSets& text_sets_;
  const SeenElements& seen_elements_;
  ValuesLeft& values_left_;
  BegunElement element_;
  TextSetId seen_;
  std::string begun_;
  bool with_ends_;
  Work work_;
};

}  // namespace tokamata::json
