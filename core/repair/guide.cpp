// How the search in the pattern begins where its over-approximation proves no more.
//
// Problem.  States that keep what the text has written know no lengths, and an edit in one name makes every later state another
// one.  So neither the estimate nor the order of costs leads to an end.
// Example.  `{"a": 1 "b": [1, 1]}`, whose elements must differ: without a guide the first attempt removed all after the 1.
// How.  Each node knows the state of the over-approximation after the same text.  A table has what is left to pay from the
// nodes there that are near the start (graph.cpp makes it); what was paid and what is left is the order.  Bounds do not
// depend on the order, so they hold as they did.  Where that finds nothing in 20,000 steps, the first attempt goes on
// whatever it costs.
// Cost.  The table: some milliseconds.  A look-up for each entry of the queue.

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

// In the pattern there are too many states to return to, where nothing guides.
void RepairSearch::go_on_blindly() {
  guide_.reset();
  is_guided_try_ = false;
  constexpr std::uint32_t kBlindWeight = 100'000;
  weight_ = std::max(given_weight_, kBlindWeight);
  tried_from_ = expansions_;
  queue_again();
}

std::uint64_t RepairSearch::Guide::cost_through(const Node& node) const {
  const std::uint64_t hash = hash_of(node.position, node.guiding);
  const auto known = index.find(hash, [&](std::uint32_t number) {
    return places[number].position == node.position && places[number].state == node.guiding;
  });
  return known ? node.reached.cost + places[*known].left : std::max(node.reached.cost, elsewhere);
}

StateId RepairSearch::guiding_after(StateId guiding, std::uint8_t byte, Budget& budget) {
  return guide_ ? automaton().next(guiding, byte, budget) : guiding;
}

}  // namespace tokamata
