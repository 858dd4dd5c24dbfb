// Which code points a state can take again and again without losing what it has.
//
// Problem.  `[^"]*` lives after 261,000 of Gemma's 262,145 tokens; walking all of them costs
// milliseconds.  But it is enough to know that the state takes any code point but the quote for
// as long as it likes: a subtree of the trie without quotes then lives as a whole.
// Example.  `[a-z]{0,9}x|\d+` has two loops: a-z, 9 times; the digits, without bound.
// Why it is sound.  An alternative (class | …){m,n}·t can take a code point of the class as one
// round, which leaves (class | …){m-1,n-1}·t among the alternatives.  After at most n rounds, or
// within one, something of it lives, since the alternative as a whole can be spelled.
// Source: 002, section 2.5.1, keeps masks for wildcards written as such; here they are found in
// any pattern.  Cost: one pass over the front of the expression, once per state.
#pragma once

#include <vector>

#include "expression/byte_automaton.hpp"

namespace tokamata {

struct Loop {
  ByteSet bytes;  // first bytes of code points that are taken whole
  Count rounds;   // how many of them, at least
};

// The widest and longest, 16 at most; a loop left out costs time alone.
// `whole_leads` says that every continuation byte is a token of its own; without that, what a
// token leaves behind when it ends inside a code point may not be spellable, and only ASCII counts.
std::vector<Loop> loops_of(Arena& arena, ExpressionId expression, bool whole_leads);

// The same for states whose expression does not show what lives in them (intersections, complements,
// lookaround), known to live: the code points that lead back to the very state.  In ~(.*foo.*) all but
// the f do.
std::vector<Loop> stable_loops(ByteAutomaton& automaton, StateId state, bool whole_leads, Budget& budget);

}  // namespace tokamata
