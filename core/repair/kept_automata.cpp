#include "repair/kept_automata.hpp"

namespace tokamata {

namespace {

// Reads a text from a state; nothing, or where it is refused.
std::optional<std::size_t> refused_from(StateId state, const BorrowedAutomaton& borrowed, std::string_view text,
                                        const Limits& limits, Budget& budget) {
  constexpr std::size_t kBetween = 256;  // bytes, each of which may make a few states
  ByteAutomaton& automaton = borrowed.automaton();
  for (std::size_t at = 0; at < text.size(); ++at) {
    budget.step();
    if (at % kBetween == 0 &&
        (borrowed.account().bytes() >= limits.memory_bytes / 2 || automaton.state_count() >= limits.states / 2)) {
      StateId* const in_use[] = {&state};
      borrowed.borrowed().keep_only(in_use);
    }
    state = automaton.next(state, static_cast<std::uint8_t>(text[at]), budget);
    if (state == ByteAutomaton::kDead) return at;
  }
  return automaton.accepting(state) ? std::nullopt : std::optional(text.size());
}

}  // namespace

std::optional<std::size_t> refused_at(const std::shared_ptr<KeptAutomata>& automata, std::string_view text,
                                      const Limits& limits, const std::shared_ptr<const CancelToken>& cancel) {
  Budget budget(limits, cancel, 0);
  const BorrowedAutomaton borrowed(automata, limits, cancel);
  return refused_from(borrowed.automaton().start(), borrowed, text, limits, budget);
}

bool is_accepted(const std::shared_ptr<KeptAutomata>& automata, std::string_view text, const Limits& limits,
                 const std::shared_ptr<const CancelToken>& cancel) {
  Budget budget(limits, cancel, 0);
  const BorrowedAutomaton borrowed(automata, limits, cancel);
  const StateId relaxed = borrowed.borrowed().relaxed_start(budget), start = borrowed.automaton().start();
  if (relaxed != start && refused_from(relaxed, borrowed, text, limits, budget)) return false;
  return !refused_from(borrowed.automaton().start(), borrowed, text, limits, budget);
}

StateId KeptAutomaton::relaxed_start(Budget& budget) {
  if (!relaxed_start_) relaxed_start_ = over_approximation(automaton_, automaton_.start(), budget);
  return *relaxed_start_;
}

}  // namespace tokamata
