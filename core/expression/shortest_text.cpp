#include "expression/shortest_text.hpp"

#include <algorithm>
#include <deque>
#include <unordered_map>

namespace tokamata {

std::optional<std::string> shortest_text(ByteAutomaton& automaton, Budget& budget) {
  struct Arrival {
    StateId from;
    std::uint8_t byte;
  };
  const StateId start = automaton.start();
  if (start == ByteAutomaton::kDead) return std::nullopt;
  if (automaton.accepting(start)) return "";
  std::unordered_map<std::uint32_t, Arrival> arrivals{{start.value, {start, 0}}};
  std::deque<StateId> open{start};
  while (!open.empty()) {
    const StateId state = open.front();
    open.pop_front();
    for (const std::uint8_t byte : automaton.byte_classes()) {
      const StateId target = automaton.next(state, byte, budget);
      if (target == ByteAutomaton::kDead || !arrivals.emplace(target.value, Arrival{state, byte}).second) continue;
      if (automaton.accepting(target)) {
        std::string text;
        for (StateId at = target; at != start; at = arrivals.at(at.value).from)
          text.push_back(static_cast<char>(arrivals.at(at.value).byte));
        std::ranges::reverse(text);
        return text;
      }
      open.push_back(target);
    }
  }
  return std::nullopt;
}

}  // namespace tokamata
