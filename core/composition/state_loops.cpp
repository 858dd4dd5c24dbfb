#include "composition/state_loops.hpp"

#include <algorithm>

namespace tokamata {

namespace {
constexpr std::uint8_t kCommonest[] = {' ', 'a', 'e'};  // of the characters of texts
}

const counted::vector<Loop>& StateLoops::of(StateId state, Budget& budget) {
  if (!known_[state].is_known) {
    std::vector<Loop> found;
    if (!automaton_.node(state).constrained)
      found = loops_of(automaton_.arena(), automaton_.expression(state), operands_.has_whole_leads());
    else if (liveness_.spellable(operands_.edge(state, budget), budget))
      found = stable_loops(automaton_, state, operands_.has_whole_leads() && !operands_.uses_edges(), budget);
    if (found.empty() && leads_back(state, budget))
      found = stable_loops(automaton_, state, operands_.has_whole_leads(), budget);
    Known& known = known_[state];  // making the others' may have moved it
    known.loops.assign(found.begin(), found.end());
    known.is_known = true;
  }
  return known_[state].loops;
}

// Whether a state is a terminal of which `loops_of` sees nothing, and the commonest characters lead back to it.
bool StateLoops::leads_back(StateId state, Budget& budget) {
  const ExpressionNode& node = automaton_.node(state);
  if (node.kind != Kind::Terminal || !automaton_.arena().pool().node(node.body()).constrained) return false;
  return std::ranges::all_of(kCommonest,
                             [&](std::uint8_t byte) { return automaton_.next(state, byte, budget) == state; });
}

bool StateLoops::is_free_text(ExpressionId terminal, Budget& budget) {
  const ExpressionNode& node = automaton_.arena().pool().node(terminal);
  if (!node.nullable || !automaton_.arena().pool().node(node.body()).constrained) return false;
  const StateId state = automaton_.state_of(terminal, budget);
  return std::ranges::any_of(
      kCommonest, [&](std::uint8_t byte) { return leads_back(automaton_.next(state, byte, budget), budget); });
}

}  // namespace tokamata
