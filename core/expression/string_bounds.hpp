// Bounds on the characters of a string (characters.hpp), and strings that it must not be: where it is sure, the string
// without them says as much.
//
// Problem.  300 characters before the end of  c{0,500} & pattern  no token sees the bound, and without it the pattern is
// alone.
// Example.  c{0,500}&[a-z]+ has the mask of [a-z]+, for tokens of up to 499 bytes.
// How.  Of a bound that is near, without_bound says how far the string without it is right, and the tokens that go
// further are judged by themselves (composition/segments.cpp).  And what is left of all characters without some texts
// lives, whatever was read of it, where these texts lack a character.
// Cost.  Linear in the conjuncts, besides what Characters asks of each.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "expression/analyses.hpp"
#include "expression/forms.hpp"

namespace tokamata {

class StringBounds {
 public:
  StringBounds(const Pool& pool, const Leaves& leaves, Analyses& analyses, Forms& forms)
      : pool_(pool), leaves_(leaves), analyses_(analyses), forms_(forms), characters_(forms.characters()) {}

  // The terminal of the rest of a string without its length bound.  Tokens that begin at most `sure` code points behave
  // the same with and without the bound.  Of tokens without a `special` byte (one that begins an escape or ends the
  // string), those that begin at most `sure_plain` code points do too, and those that begin more than `most` exceed the
  // bound.
  struct Unbounded {
    ExpressionId terminal;
    Count sure, sure_plain, most;
    ByteSet special;
  };
  std::optional<Unbounded> without_bound(ExpressionId terminal);
  // For a terminal that excludes some strings: the terminal that includes them, the strings, and the bytes that may
  // follow one of them.
  struct WithStrings {
    ExpressionId terminal;
    std::vector<ExpressionId> strings;  // automata of strings, and expressions of few texts
    ByteSet behind;
  };
  std::optional<WithStrings> with_strings(ExpressionId terminal);
  // The least number of characters of an expression that accepts any characters except some texts, if all these texts
  // lack one character, so that no text is a dead end.
  std::optional<Count> characters_but_for_some(ExpressionId expression);
  // The length of some short text, if it is certain without a search that one exists: the shortest text without the
  // bounds is within them, or only some texts are excluded.
  std::optional<std::uint32_t> length_without_search(ExpressionId expression);
  // The only conjunct of an intersection beside bounds, and the least of these.  It is of characters, and so not
  // constrained.
  struct Beside {
    ExpressionId other;
    Count most;
  };
  std::optional<Beside> beside_bounds(const ExpressionNode& n);

 private:
  // An expression without the length bounds of the nested intersections at its front, if each bound admits `rest` (the
  // shortest text, or the longest rest) of the other conjuncts; and the least room that is left.
  struct Loosened {
    ExpressionId expression;
    Count room, most;  // `most`: the bound of the whole
  };
  std::optional<Loosened> without_bounds(ExpressionId expression, std::uint32_t ExpressionNode::* rest);
  bool is_of_few_texts(ExpressionId expression) const;

  const Pool& pool_;
  const Leaves& leaves_;
  Analyses& analyses_;
  Forms& forms_;
  Characters& characters_;
};

}  // namespace tokamata
