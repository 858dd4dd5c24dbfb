#include "repair/pattern_states.hpp"

#include "common/best_first.hpp"

namespace tokamata {

namespace {

ExpressionId approximated(ByteAutomaton& automaton, StateId state, Budget& budget) {
  Arena& arena = automaton.arena();
  std::vector<ExpressionId> alternatives;
  for (const Approximation& one : arena.fronts().approximations(automaton.expression(state), budget))
    alternatives.push_back(one.expression);
  return arena.forms().unite(alternatives);
}

bool is_approximated(ByteAutomaton& automaton, StateId state) {
  return automaton.arena().rule_sets().any_remembers() &&
         automaton.arena().pool().node(automaton.expression(state)).rules;
}

}  // namespace

StateId over_approximation(ByteAutomaton& automaton, StateId state, Budget& budget) {
  if (!is_approximated(automaton, state)) return state;
  Arena& arena = automaton.arena();
  const ExpressionId relaxed =
      arena.forms().concatenate(arena.forms().commit(Rules::kRelaxed), approximated(automaton, state, budget));
  return automaton.state_of(arena.derivatives().settled(relaxed), budget);
}

namespace {

// Goes on to a state that knows of a shorter text.
bool descend(ByteAutomaton& automaton, StateId& at, std::string& text, Writings& writings, Budget& budget) {
  const StateId begin = at;
  const std::uint32_t least = automaton.node(begin).spelled;
  Arrivals<StateId, std::uint8_t> arrivals(begin);
  Frontier<Estimated<StateId>> open;
  open.add({0, 0, begin});
  while (!open.empty()) {
    const auto [estimate, length, state] = open.take();
    const ByteSet readable = automaton.may_read(state, budget);
    for (const Writing& writing : writings.at(Writings::Where::End, kStartMode, automaton.node(state).by_byte)) {
      if (!readable.contains(writing.byte)) continue;
      budget.step();
      const StateId target = automaton.next(state, writing.byte, budget);
      if (target == ByteAutomaton::kDead || !arrivals.reach(state, writing.byte, target)) continue;
      const ExpressionNode node = automaton.node(target);
      if (!automaton.accepting(target) && (node.spelled >= least || node.constrained)) {
        // A name that is kept has one length at every byte; its over-approximation knows how far its end is.
        const bool is_exact = !is_approximated(automaton, target);
        const std::uint64_t left =
            (is_exact ? automaton.node(target) : automaton.arena().pool().node(approximated(automaton, target, budget)))
                .spelled;
        open.add({length + 1 + left, length + 1, target});
        continue;
      }
      for (const auto& step : arrivals.path_to(target)) text.push_back(static_cast<char>(step.edge));
      at = target;
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<std::string> accepted_text(ByteAutomaton& automaton, StateId start, Writings& writings, Budget& budget) {
  std::string text;
  for (StateId at = start; !automaton.accepting(at);) {
    if (at == ByteAutomaton::kDead || !descend(automaton, at, text, writings, budget)) return std::nullopt;
  }
  return text;
}

}  // namespace tokamata
