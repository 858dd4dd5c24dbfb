// Where each kind of token leads from a place: a walk of the class trie in step with the automaton.
//
// `visit(state, kind)` is called for every kind that leads to a state from which an accepted text can
// be reached, and for every control token that does.  The stack is explicit, since tokens may be long.
#pragma once

#include <span>
#include <vector>

#include "composition/class_trie.hpp"
#include "composition/token_automaton.hpp"

namespace tokamata {

struct TokenKind {
  std::uint32_t number;  // a node of the class trie, or behind all of these the index of a control token
  std::span<const std::uint32_t> tokens;
};

template <class Visit>
void walk_kinds(const ClassTrie& trie, TokenAutomaton& automaton, TokenAutomaton::Place place, Budget& budget,
                Visit&& visit) {
  struct Frame {
    std::uint32_t child, end;
    StateId state;
  };
  std::vector<Frame> frames{{trie.children_begin(ClassTrie::root()), trie.children_end(ClassTrie::root()), place.state}};
  while (!frames.empty()) {
    Frame& frame = frames.back();
    if (frame.child == frame.end) {
      frames.pop_back();
      continue;
    }
    const std::uint32_t node = frame.child++;
    const StateId state = automaton.automaton().next(frame.state, trie.byte(node), budget);
    if (state == ByteAutomaton::kDead) continue;
    budget.step();
    if (!trie.tokens(node).empty()) {
      const StateId target = automaton.edge(state, budget);
      if (automaton.spellable(target, budget)) visit(target, TokenKind{node, trie.tokens(node)});
    }
    frames.push_back({trie.children_begin(node), trie.children_end(node), state});
  }
  for (std::uint32_t i = 0; i < automaton.controls().size(); ++i) {
    const TokenId& token = automaton.controls()[i];
    if (const std::optional<StateId> target = automaton.step(place, token, budget))
      visit(*target, TokenKind{trie.node_count() + i, std::span<const std::uint32_t>(&token.value, 1)});
  }
}

}  // namespace tokamata
