// Lookaround, in normal form.
//
// Problem.  All of them keep a language regular, yet none is local: what a lookahead allows depends
// on everything that follows, what a lookbehind allows on everything before.  Rewriting A(?=B)C as
// A·(B·any ∩ C) is wrong as soon as it stands in a repetition or an alternative:
// (?:a(?!a)|b)* must refuse aa.
// How.  A derivative knows the whole continuation K of the place that it has reached.  There
//   (?=B)·K   is   K in which everything that follows is also in B·everything: K under a *guard*,
//   (?<=B)·K  is   K or nothing, according to whether what was read so far is in everything·B.
// After a byte, K under a guard is the derivative of K under the derivative of the guard, alternative
// by alternative (derivatives.cpp); guards that hold whatever comes vanish.
// Example.  (?:a(?!a)|b)*, call it R.  After a: (?!a)·R.  After another a the guard, ~(a·everything),
// becomes ~everything: nothing is left.  After b it becomes everything, and R remains.
// A scope ends both: in Scope(foo\b)·bar the \b sees no further than foo.
// Source.  Lookaheads as universal branches: Berglund, van der Merwe and van Litsenborgh 2021; the
// rest is Brzozowski 1964.  Why the states are finitely many: an alternative is a continuation of the
// pattern, with the lookbehinds in it at one of finitely many states each, under a set of guards, each
// the derivative of one of finitely many languages.
// Cost.  Sets of guards may be many, 2^n at worst for n lookaheads that overlap; Limits bound them.
// Not taken: explicit alternating automata (a second kind of engine), and rewriting.
#pragma once

#include <vector>

#include "expression/forms.hpp"

namespace tokamata {

class Lookaround {
 public:
  Lookaround(Pool& pool, Forms& forms) : pool_(pool), forms_(forms) {}

  ExpressionId look_ahead(ExpressionId rest);
  ExpressionId look_behind(ExpressionId prefix);
  ExpressionId scope(ExpressionId body);
  // What `expression` continues with, as far as all of it is also in `guard`.
  ExpressionId guarded(ExpressionId expression, ExpressionId guard);
  // What must be true of all that follows for `expression` to match nothing here.
  ExpressionId condition(ExpressionId expression);
  // The part of a pattern that reads nothing: lookarounds and epsilon alone.
  ExpressionId empty_part(ExpressionId expression);
  ExpressionId repeat_conditional(ExpressionId body, ExpressionId when_empty, Count minimum, Count maximum,
                                  Budget& budget);

 private:
  ExpressionId wrap(Kind kind, ExpressionId body);

  Pool& pool_;
  Forms& forms_;
};

}  // namespace tokamata
