// A lower bound on what must still be paid: the heuristic of the search.
//
// Problem.  The search is to prefer what is near its end, and the bound that it proves must hold: the estimate may
// never be more than the cheapest rest (admissible).
// Example.  After  [1,  of a text that ends there, at least `0]` must be written: two bytes, at the cheapest price of a
// byte.
// How.  A state knows that no text of it is shorter than `shortest` bytes.  Where the rest of the broken text has
// fewer, the difference must be written by insertions, or by rewrites that write more than they read.  `growth` is the
// least that one byte more costs by any of these.
// Source.  The h_auto of paper 004 is the distance to acceptance, which is inadmissible: for the text `abc` and the
// language {abc} it is 3 at the start, where nothing is to be paid (docs/errata.md, E15).  With the rest of the text
// subtracted it is admissible.  It is consistent where `shortest` is the length of a shortest text; where it is only a
// bound (constrained expressions, some rules) the search opens nodes again.  The bytes that are missing are a bound on
// those that will be written, too, which decides between equal costs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "expression/byte_automaton.hpp"
#include "repair/edit_model.hpp"

namespace tokamata {

class Estimate {
 public:
  Estimate(const EditModel& model, std::size_t length) : Estimate(model, LeastCosts(*model.machine), length) {}
  Estimate(const EditModel& model, const LeastCosts& least, std::size_t length)
      : length_(length), append_(least.append), growth_(least.write) {
    for (const Rewrite& rewrite : model.rewrites) {
      if (rewrite.begin == length && !rewrite.written.empty())
        append_ = std::min<EditCost>(append_, static_cast<EditCost>(rewrite.cost / rewrite.written.size()));
      if (const std::size_t read = rewrite.end - rewrite.begin; rewrite.written.size() > read)
        growth_ = std::min<EditCost>(growth_, static_cast<EditCost>(rewrite.cost / (rewrite.written.size() - read)));
    }
  }

  struct Bound {
    std::uint64_t cost;
    std::uint32_t written;  // bytes
  };
  Bound operator()(std::size_t position, const ByteAutomaton& automaton, StateId state) const {
    const std::uint64_t shortest = automaton.node(state).shortest, rest = length_ - position;
    if (shortest <= rest) return {0, 0};
    return {(shortest - rest) * (rest == 0 ? append_ : growth_), static_cast<std::uint32_t>(shortest - rest)};
  }

 private:
  std::size_t length_;
  EditCost append_, growth_;
};

}  // namespace tokamata
