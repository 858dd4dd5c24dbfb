#include "expression/shortest_text.hpp"

#include <algorithm>
#include <deque>
#include <unordered_map>

namespace tokamata {

namespace {

constexpr std::size_t kFoundBeforeMeasuring = 500;  // states

// Byte by byte, where each state knows how long its shortest text is; nothing where one does not.
std::optional<std::string> measured_text(ByteAutomaton& automaton, std::uint32_t length, Budget& budget) {
  std::string text;
  for (StateId at = automaton.start(); length > 0; --length) {
    std::optional<StateId> after;
    for (const std::uint8_t byte : automaton.byte_classes()) {
      const StateId target = automaton.next(at, byte, budget);
      const auto left = automaton.text_length(target, budget);
      if (!left) return std::nullopt;
      if (*left != length - 1) continue;
      text.push_back(static_cast<char>(byte));
      after = target;
      break;
    }
    TOKAMATA_CHECK(after.has_value(), "a byte of a shortest text leads to a shorter one");
    at = *after;
  }
  return text;
}

}  // namespace

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
  bool is_measured = false;
  while (!open.empty()) {
    const StateId state = open.front();
    open.pop_front();
    if (arrivals.size() > kFoundBeforeMeasuring && !is_measured && automaton.arena().rule_sets().any_joins()) {
      is_measured = true;
      const auto length = automaton.text_length(start, budget);
      if (length == kNoLength) return std::nullopt;
      if (length && *length < kLongestLength)
        if (auto text = measured_text(automaton, *length, budget)) return text;
    }
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
