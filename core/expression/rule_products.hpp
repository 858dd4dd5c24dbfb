// How long a shortest text is that listed rules and a regular language both accept; or that there is none.
//
// Problem.  `grammar & regex` is an intersection that may be empty without showing it.  A search by derivatives need
// not end:  with  s: "(" s ")" | "x"  and  [(x]*  each "(" leads to a new state, and none of them has a text.
// How.  The states of the regular language are its derivatives, finitely many.  For a part of the rules and such a
// state, the *ends* are the states that texts of the part lead to, each with the length of a shortest one.  They are
// computed from those of smaller parts: of a leaf by a search through both automata; of a sequence one after the other;
// of a rule as a least fixed point over the pairs of rules and states that are met.  What may follow a rule, the stack
// of a state, is read from its end towards its beginning, and each rest of a stack is measured once for each state.
// Example.  s from  [(x]*:  "x" leads back to it in one byte, "(" s ")" nowhere.  After "(" the stack is  s ")":  no
// text.
//
// Source.  Bar-Hillel, Perles and Shamir 1961, section 8; the fixed point over pairs that are met, top down, as in
// Reps, Horwitz and Sagiv 1995.  Shortest lengths: Knuth 1977, here by relaxing until nothing becomes shorter.
// Cost.  Rules times states times ends, each a few times; a state of a text costs what is new at the top of its stack.
// Not taken: the product as a set of rules.  It has rules for pairs of states, most of which no text meets, and a limit
// on the length of a text alone has a thousand states.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/lengths.hpp"
#include "common/memory_account.hpp"
#include "expression/arena.hpp"

namespace tokamata {

// Contract.  Ids are those of one arena, until `forget`.  A call may end with an error of its budget, and may be made
// again.
class RuleProducts {
 public:
  // Bytes of a shortest text, kNoLength if there is none.  Nothing where the structure does not tell: if lookaround,
  // edges of tokens or choices are open, if other rules than listed ones are in play, or if rules are intersected with
  // rules.
  std::optional<std::uint32_t> length(ExpressionId expression, Arena& arena, Budget& budget);
  // Before the arena gives other numbers to expressions.
  void forget();

 private:
  struct End {
    ExpressionId state;
    std::uint32_t length;
  };
  using Ends = std::vector<End>;  // by state
  struct Summary {
    ExpressionId rule, state;
    counted::vector<End> ends;
    counted::vector<std::uint32_t> users;  // summaries that these ends are part of
    bool is_queued = true;
  };
  class Measuring;

  counted::unordered_map<std::uint64_t, std::uint32_t> index_;  // of summaries, by rule and state
  counted::deque<Summary> summaries_;
  counted::deque<std::uint32_t> queue_;                                    // of those to be computed
  counted::unordered_map<std::uint64_t, counted::vector<End>> leaf_ends_;  // by leaf and state
  counted::unordered_map<std::uint64_t, std::uint32_t> distances_;         // by rest and state
  // whether an expression is made of listed rules
  counted::unordered_map<std::uint32_t, bool> listed_;
  counted::unordered_map<std::uint32_t, bool> regular_;  // whether it has none
};

}  // namespace tokamata
