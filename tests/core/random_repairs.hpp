// Random repairs, and a judge of them: a table of all positions, modes and states.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "choices.hpp"
#include "engine.hpp"
#include "expression/byte_automaton.hpp"
#include "generate.hpp"
#include "repair/edit_model.hpp"

namespace repairs {

using namespace tokamata;

inline ExpressionPtr random_pattern(Choices& choices) {
  generate::Bounds bounds;
  bounds.has_operators = choices.one_in(3);
  return engine::expression_of(generate::tree(choices, choices.between(2, 7), bounds));
}

// Of one mode, or of up to three that bytes lead between.
inline EditMachine random_machine(Choices& choices) {
  EditMachine machine;
  const std::uint32_t modes = choices.one_in(2) ? 1 : 2 + choices.below(2);
  for (std::uint32_t mode = 0; mode < modes; ++mode) {
    ModeCosts all{};
    for (ByteCosts* costs : {&all.prepend, &all.insert, &all.append, &all.remove, &all.replace}) {
      const auto price = static_cast<EditCost>(choices.between(1, 4));
      for (EditCost& cost : *costs) cost = price + static_cast<EditCost>(choices.below(3));
    }
    if (choices.one_in(3)) all.replace.fill(kNoEdit);
    if (modes > 1)
      for (EditCost& cost : all.keep) cost = choices.one_in(4) ? choices.one_in(3) ? kNoEdit : choices.below(3) : 0;
    machine.costs.push_back(all);
    for (EditMachine::Next* const next : {&machine.after, &machine.inserted}) {
      next->emplace_back();
      for (Mode& after : next->back()) after = static_cast<Mode>(choices.one_in(3) ? choices.below(modes) : mode);
    }
  }
  return machine;
}

inline EditModel random_model(Choices& choices, std::size_t length) {
  EditModel model;
  model.machine = std::make_shared<const EditMachine>(random_machine(choices));
  const std::size_t modes = model.machine->costs.size();
  for (std::uint32_t count = choices.below(4); count > 0; --count) {
    const auto begin = static_cast<std::uint32_t>(choices.below(static_cast<std::uint32_t>(length + 1)));
    const auto end = static_cast<std::uint32_t>(begin + choices.below(static_cast<std::uint32_t>(length + 1 - begin)));
    model.rewrites.push_back({begin, end, std::string(choices.below(3), 'a'), static_cast<EditCost>(choices.below(4))});
    if (choices.one_in(2)) model.rewrites.back().within = static_cast<ModeSet>(choices.below(1 << modes));
    if (choices.one_in(3))
      model.rewrites.back().then = static_cast<Mode>(choices.below(static_cast<std::uint32_t>(modes)));
  }
  if (choices.one_in(2)) {
    model.doubts.resize(modes);
    for (std::vector<EditCost>& doubts : model.doubts)
      if (choices.one_in(2))
        for (std::size_t at = 0; at < length; ++at)
          doubts.push_back(static_cast<EditCost>(choices.one_in(3) ? choices.below(4) : 0));
  }
  if (choices.one_in(2))
    for (std::size_t at = 0; at < length; ++at)
      model.firm.push_back(static_cast<EditCost>(choices.one_in(2) ? choices.below(5) : 0));
  return *shared_model(std::move(model));
}

inline std::string random_bytes(Choices& choices) {
  std::string text;
  for (std::uint32_t count = choices.below(6); count > 0; --count)
    text.push_back(static_cast<char>(choices.one_in(4) ? choices.below(256) : 'a' + choices.below(3)));
  return text;
}

// Dijkstra over all positions, modes and states, every byte an edge: Wagner's correction.
inline std::optional<std::uint64_t> judged(const Expression& pattern, const std::string& text, const EditModel& model) {
  ByteAutomaton automaton(pattern, {}, ByteSet::range(0, 0xFF), 1, {}, nullptr);
  Budget budget({}, nullptr, 0);
  const EditMachine& machine = *model.machine;
  using Place = std::tuple<std::size_t, Mode, std::uint32_t>;
  std::set<std::pair<std::uint64_t, Place>> open{{0, {0, kStartMode, automaton.start().value}}};
  std::map<Place, std::uint64_t> done;
  while (!open.empty()) {
    const auto [cost, place] = *open.begin();
    open.erase(open.begin());
    const auto [position, mode, number] = place;
    const ModeCosts& costs = model.costs(mode);
    const StateId state{number};
    if (state == ByteAutomaton::kDead || !done.emplace(place, cost).second) continue;
    if (position == text.size() && automaton.accepting(state)) return cost;
    const auto add = [&](std::size_t to, Mode then, StateId target, std::uint64_t price) {
      open.insert({cost + price, {to, then, target.value}});
    };
    const ByteCosts& inserting = costs.inserting(position, text.size());
    const EditCost firm = model.firmness(position);
    for (unsigned value = 0; value < 256; ++value) {
      const auto byte = static_cast<std::uint8_t>(value);
      const StateId target = automaton.next(state, byte, budget);
      const Mode then = machine.inserted[mode][byte];
      if (inserting[value] != kNoEdit) add(position, then, target, std::uint64_t{inserting[value]} + firm);
      if (position == text.size()) continue;
      if (static_cast<std::uint8_t>(text[position]) == byte && costs.keep[byte] != kNoEdit) {
        const bool is_doubtful = !model.doubts.empty() && !model.doubts[mode].empty();
        add(position + 1, machine.after[mode][byte], target,
            std::uint64_t{costs.keep[byte]} + (is_doubtful ? model.doubts[mode][position] : 0));
      }
      if (costs.replace[value] != kNoEdit) add(position + 1, then, target, std::uint64_t{costs.replace[value]} + firm);
    }
    if (position < text.size())
      add(position + 1, mode, state, std::uint64_t{costs.remove[static_cast<std::uint8_t>(text[position])]} + firm);
    for (const Rewrite& rewrite : model.rewrites) {
      if (rewrite.begin != position || (rewrite.within >> mode & 1) == 0) continue;
      StateId target = state;
      Mode then = mode;
      for (const char letter : rewrite.written) {
        const auto byte = static_cast<std::uint8_t>(letter);
        target = automaton.next(target, byte, budget);
        then = machine.after[then][byte];
      }
      add(rewrite.end, rewrite.then == Rewrite::kByWritten ? then : rewrite.then, target, rewrite.cost);
    }
  }
  return std::nullopt;
}

}  // namespace repairs
