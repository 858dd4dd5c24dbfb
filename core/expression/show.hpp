// Expressions as a person reads them: for tests, debuggers and docs/internals.md, never for the engine.
//
// Example.  After `{"a":` of an object with an array a:
//   ‹[ \n]*›·$12·$7
//   $12: value: all(array, items(rest number))
//   $7: members: any
//   abc [a-z] \p…     bytes; classes of bytes; of code points, by the first bytes of their spellings
//   a·b  (a | b)  a{2,5}  (a & b)  !a       as in the algebra of constraints
//   (?=a) (?<=a) scope(a) guarded(a, g)     lookarounds, and the language that all that follows must be in
//   ‹a›  $12  commit 3  unverified       terminals, rules, choices, over-approximations (rules.hpp)
//   until "END"@2                           text up to a phrase, of which two bytes were read
// Long expressions end with `…`.  After them come the rules that they name, one to a line (Rules::show).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/byte_set.hpp"
#include "common/ids.hpp"

namespace tokamata {

class Arena;
class ByteAutomaton;

std::string show(const ByteSet& bytes);
// Of a repetition:  *  +  ?  {2,5}
std::string shown_counts(std::uint64_t minimum, std::uint64_t maximum);
std::string show(const Arena& arena, ExpressionId expression, std::size_t most_bytes = 2000);
// Its number, what else is known of it, and its expression.
std::string show_state(ByteAutomaton& automaton, StateId state, std::string_view about);

}  // namespace tokamata
