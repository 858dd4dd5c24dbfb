// What a byte automaton remembers of its transitions, beside derivatives that are taken again for each question.
//
// States that keep every byte, such as those inside of a name that must differ from others, remember their latest
// transition alone; others remember all of them.  Questions are put to many states in turn, and between some of them
// the states get new numbers, which forgets all transitions.

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "amounts.hpp"
#include "choices.hpp"
#include "expression/byte_automaton.hpp"
#include "random_values.hpp"

namespace {

using namespace engine;

// The answer without a memory.
StateId derived(ByteAutomaton& automaton, StateId state, std::uint8_t byte, Budget& budget) {
  Arena& arena = automaton.arena();
  return automaton.state_of(
      arena.derivatives().settled(arena.derivatives().derivative(automaton.expression(state), byte, budget)), budget);
}

TEST(remembered_transitions_are_those_of_derivatives) {
  constexpr std::string_view kBytes = "[]{}\",:ab\\ 01";
  std::size_t of_keepers = 0, answered = 0, forgotten = 0;
  for (std::uint64_t seed = 0; seed < test::drawn(60); ++seed) {
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    Choices choices(seed);
    ByteAutomaton automaton(*RandomValues(choices).kept_values(), {}, ByteSet::range(0x00, 0xFF), 4, {}, nullptr);
    Budget budget({}, nullptr, 0);
    std::vector<StateId> states{automaton.start()};
    for (int step = 0; step < 400; ++step) {
      if (choices.one_in(80)) {
        std::vector<StateId*> kept;
        for (StateId& state : states) kept.push_back(&state);
        automaton.keep_only(kept);
        ++forgotten;
      }
      const StateId state = choices.one_in(2) ? states.back() : choices.of(states);
      const auto byte = static_cast<std::uint8_t>(kBytes[choices.below(static_cast<std::uint32_t>(kBytes.size()))]);
      const std::optional<StateId> known = automaton.try_next(state, byte);
      const StateId target = automaton.next(state, byte, budget);
      CHECK(target == derived(automaton, state, byte, budget));
      CHECK(!known || *known == target);
      CHECK(automaton.try_next(state, byte) == target);  // the latest is known
      if (automaton.node(state).by_byte) ++of_keepers, answered += known.has_value();
      if (target != ByteAutomaton::kDead && std::ranges::find(states, target) == states.end()) states.push_back(target);
    }
  }
  CHECK(of_keepers > 500);
  CHECK(answered > 50);
  CHECK(forgotten > 50);
}

}  // namespace
