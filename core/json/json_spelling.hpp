// How texts stand between the quotes of a JSON string.
//
// Problem.  A schema's `pattern` speaks of the value of a string; what a model writes is a spelling of it,
// in which a quote is \" and a new line is \n.  From an expression for values, make one for spellings.
// Two ways to spell:
//   plain   what json.dumps(ensure_ascii=False) writes: each code point as itself, but \" \\ \b \f \n \r \t,
//           and \u00xx, in lower case, for the other controls below U+0020.  One spelling per text.
//   any     all that JSON allows: also \/, \uXXXX with digits of either case for every code point, and pairs
//           of surrogates, \uD83D\uDE00, beyond U+FFFF.  Lone surrogates are no text and do not occur.
//
// Example.  [^"]  becomes  C | \\(["bfnrt] less the quote | u00(…)), with C all code points but the quote, the
// backslash and the controls: one class beside one short alternative, so that `[^"]{0,9}` is still a loop
// over a wide class for the masks (composition/loops.hpp), and its counts are still numbers.
//
// Why it is a substitution.  A spelling determines the code point, and no spelling of one begins another: a
// spelled text is cut into code points in one way.  So spellings of a union, a concatenation, an intersection
// are the union, concatenation, intersection of spellings; a lookahead asks what is spelled after it.
// What is not so: sequences of bytes that cut a spelling in two.  \n ends in an n, so that "everything, then
// n", as lookbehinds say it, must not take the backslash alone.  Everything and complements that something
// follows are therefore cut down to spelled texts, and where nothing else sees to it, the whole is.
// For explicit automata: json_strings.cpp.
//
// Natural spelling is one of the two for each set of texts: any where writers may escape something in it
// (may_be_escaped), plain where none does.  `red`, of an enumeration of words, is never written "\u0072ed", so a model
// that has begun an escape there has strayed; in free text all is escaped by someone.
//
// Cost.  Linear in the expression, parts that are shared once; the digits of \uXXXX are a minimal automaton of
// at most a node for each range and digit.  Not taken: respelling what the engine derives, byte by byte: a
// second kind of leaf, where a rewriting once will do.
#pragma once

#include <memory>

#include "common/limits.hpp"
#include "expression/expression_ptr.hpp"
#include "expression/string_automaton.hpp"

namespace tokamata::json {

// The spellings of some texts.  That of `date-time` takes a millisecond: what was spelled when a Budget stopped it is not
// spelled again.
class JsonSpelling {
 public:
  // `any`: all that JSON allows, instead of the plain one.
  JsonSpelling(ExpressionPtr texts, bool any);
  JsonSpelling(JsonSpelling&&) noexcept;
  JsonSpelling& operator=(JsonSpelling&&) noexcept;
  ~JsonSpelling();

  // Throws std::invalid_argument where the expression has control tokens or edges of tokens, which are
  // no text, or literals that are not UTF-8.
  const ExpressionPtr& whole(Budget& budget);

 private:
  class Speller;
  ExpressionPtr texts_;
  std::unique_ptr<Speller> speller_;
  ExpressionPtr whole_;  // null: it is not finished
};

// The same for who does not stop.
ExpressionPtr spelled_in_json(const ExpressionPtr& texts, bool any);

// The same for an automaton of strings; states that are inside a code point stay as they are.
std::shared_ptr<const StringAutomaton> spelled_in_json(const StringAutomaton& strings, bool any);

// Whether some writer escapes a code point: JSON says so of quotes, backslashes and controls, and writers of ASCII
// alone, of JSON within HTML and within JavaScript have their own.
constexpr bool json_is_escaped_by_some(std::uint32_t code_point) {
  switch (code_point) {
    case '"':
    case '\\':
    case '/':
    case '<':
    case '>':
    case '&':
    case '\'':
    case '+':
    case '`': return true;
    default: return code_point < 0x20 || code_point >= 0x7F;
  }
}
// Whether such a code point may occur in one of the texts; true where that is not plain to see.  Linear in the
// expression.
bool may_be_escaped(const ExpressionPtr& texts);

// The second character of the short escape of a code point, 0 where it has none.
constexpr char json_short_escape(std::uint32_t code_point, bool any) {
  switch (code_point) {
    case '"': return '"';
    case '\\': return '\\';
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    case '/': return any ? '/' : '\0';
    default: return '\0';
  }
}
// Whether a code point may stand for itself.
constexpr bool json_stands_for_itself(std::uint32_t code_point) {
  return code_point >= 0x20 && code_point != '"' && code_point != '\\';
}

}  // namespace tokamata::json
