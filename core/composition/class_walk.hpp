// Where each token class leads from a configuration: a walk of the class trie in step with the automaton.
//
// `visit(state, token_class)` is called for every class that leads to a state from which an accepted text can
// be reached, and for every control token that does.  The stack is explicit, since tokens may be long.
#pragma once

#include <span>
#include <vector>

#include "composition/class_trie.hpp"
#include "composition/token_automaton.hpp"

namespace tokamata {

// Nodes of the trie of tokens; opening the token classes costs about as much as walking ten times this.
constexpr std::size_t kLongWalk = 4096;

struct TokenClass {
  std::int64_t number;  // a node of the class trie; -1 - i for the i-th control token
  std::span<const std::uint32_t> tokens;
};

template <class Visit>
void walk_classes(TokenAutomaton& automaton, TokenAutomaton::Configuration configuration, Budget& budget, Visit&& visit) {
  struct Frame {
    std::uint32_t child, end;
    StateId state;
  };
  ClassTrie& trie = automaton.class_trie(configuration.at_start);
  const ClassTrie::Node root = trie.open(ClassTrie::root());
  std::vector<Frame> frames{{root.children_begin, root.children_end, configuration.state}};
  while (!frames.empty()) {
    Frame& frame = frames.back();
    if (frame.child == frame.end) {
      frames.pop_back();
      continue;
    }
    const ClassNodeId child{frame.child++};
    const StateId state = automaton.automaton().next(frame.state, trie.byte(child), budget);
    if (state == ByteAutomaton::kDead) continue;
    budget.step();
    const ClassTrie::Node node = trie.open(child);
    if (!node.tokens.empty()) {
      const StateId target = automaton.edge(state, budget);
      if (automaton.spellable(target, budget)) visit(target, TokenClass{std::int64_t{child.value}, node.tokens});
    }
    frames.push_back({node.children_begin, node.children_end, state});
  }
  for (std::uint32_t i = 0; i < automaton.controls().size(); ++i) {
    const TokenId& token = automaton.controls()[i];
    if (const std::optional<StateId> target = automaton.step(configuration, token, budget))
      visit(*target, TokenClass{-1 - std::int64_t{i}, std::span<const std::uint32_t>(&token.value, 1)});
  }
}

}  // namespace tokamata
