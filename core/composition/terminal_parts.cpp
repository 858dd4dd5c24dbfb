// What terminals do to the vocabulary (vocabulary/terminal_part.hpp), by a walk for each.  Part of TokenAutomaton.


#include "composition/token_automaton.hpp"

namespace tokamata {

const TerminalPart& TokenAutomaton::terminal_part(ExpressionId terminal, NodeId node, Budget& budget) {
  const std::uint64_t place = (std::uint64_t{terminal.value} << 32) | node.value;
  if (const auto known = terminal_parts_.find(place); known != terminal_parts_.end()) return *known->second;
  const bool is_inner = node != TokenTrie::root();
  std::string key = automaton_.arena().structure(automaton_.arena().node(terminal).body());
  if (!key.empty()) key.append(reinterpret_cast<const char*>(&node.value), sizeof node.value);
  std::shared_ptr<const TerminalPart> part = key.empty() ? nullptr : vocabulary_->known_part(key, is_inner);
  if (!part) {
    const Budget::Clock::time_point started = Budget::Clock::now();
    part = std::make_shared<const TerminalPart>(make_terminal_part(terminal, node, budget));
    if (!key.empty()) part = vocabulary_->keep_part(key, std::move(part), Budget::Clock::now() - started);
  }
  parts_bytes_ += part->memory_bytes();  // others may hold it too; then it is counted for each
  return *terminal_parts_.emplace(place, std::move(part)).first->second;
}

TerminalPart TokenAutomaton::make_terminal_part(ExpressionId terminal, NodeId node, Budget& budget) {
  TerminalPart part;
  std::vector<NodeId> ends;
  const auto describe = [&](StateId state) { return WalkState{loops(state, budget), true}; };
  const auto visit = [&](NodeId at, StateId state) {
    if (automaton_.accepting(state)) ends.push_back(at);
  };
  MaskWalk walk(vocabulary_->trie(), automaton_, budget, describe, visit);
  const StateId state = automaton_.state_of(terminal, budget);
  if (node == TokenTrie::root()) {
    walk.run(state);
    part.inside = make_mask(*vocabulary_, walk.ranges(), {}, false)->words;
  } else {
    walk.enter_below(node, state);
    const std::span<const std::uint32_t> order = vocabulary_->trie().order();
    for (const TokenRange& range : walk.ranges()) part.few.insert(part.few.end(), order.begin() + range.begin, order.begin() + range.end);
  }
  add_remainders(vocabulary_->trie(), ends, part);
  return part;
}

}  // namespace tokamata
