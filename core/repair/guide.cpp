// How the search in the pattern is guided where its over-approximation proves no more.
//
// Problem.  States that keep what the text has written know no lengths, and an edit in one name makes every later state
// another one.  So neither the estimate nor the order of costs leads to an end.
// Example.  `{"a": 1 "b": [1, 1]}`, whose elements must differ: without a guide the first attempt removed all after the
// 1.
// How.  Each node knows the state of the over-approximation after the same text, whose texts are more.  So what is left
// to pay from there is a bound of what is left in the pattern.  A table has it for the nodes of the over-approximation
// that are near the start (graph.cpp makes it): the least that leads from one of them to an end by others of them, or
// out of them, which costs what the nearest node beyond costs.  The proof of a bound may rest on it; the check makes a
// table of its own (certificate.cpp).
// Where 20,000 steps find no answer, the first attempt goes on whatever it costs.
// Source.  Pattern databases (Culberson and Schaeffer 1998), here of the abstraction that masks are made of.
// Cost.  The table: some milliseconds.  A look-up for each node.

#include <algorithm>

#include "repair/search.hpp"

namespace tokamata {

// The search in the over-approximation is over; what it knows guides the one in the pattern.
void RepairSearch::begin_exactly(Budget& budget) {
  proven_ = {least_refused_, reached(least_refused_), false};
  const StateId guiding = start_;
  guide_ = guide(guiding, budget);
  is_guided_try_ = true;
  weight_ = given_weight_;
  tried_from_ = expansions_;
  begin(automaton().start(), guiding);
}

// There are too many states to return to.
void RepairSearch::go_on_blindly() {
  is_guided_try_ = false;
  constexpr std::uint32_t kBlindWeight = 100'000;
  weight_ = std::max(given_weight_, kBlindWeight);
  tried_from_ = expansions_;
  queue_again();
}

std::uint64_t RepairSearch::Guide::least_left(std::uint32_t position, Mode mode, StateId state) const {
  const auto known = index.find(hash_of(position, mode, state), [&](std::uint32_t number) {
    return places[number].position == position && places[number].mode == mode && places[number].state == state;
  });
  if (!known) return 0;
  const Place& place = places[*known];
  return std::min(place.left, elsewhere - std::min(elsewhere, place.reached));
}

StateId RepairSearch::guiding_after(StateId guiding, std::uint8_t byte, Budget& budget) {
  return guide_ ? automaton().next(guiding, byte, budget) : guiding;
}

}  // namespace tokamata
