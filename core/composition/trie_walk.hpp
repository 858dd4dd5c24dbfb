// A walk of the trie in step with the byte automaton: the composition, one state at a time.
//
// `enter(node, state)` is called for every node whose path from the root lives, the root first,
// in the order of bytes; it says whether to go on below.  The stack is explicit, since tokens may
// be as long as a stranger's file makes them.
#pragma once

#include <vector>

#include "expression/byte_automaton.hpp"
#include "vocabulary/token_trie.hpp"

namespace tokamata {

template <class Enter>
void walk_trie(const TokenTrie& trie, NodeId from, ByteAutomaton& automaton, StateId start, Budget& budget,
               Enter&& enter) {
  struct Frame {
    std::uint32_t child, end;
    StateId state;
  };
  std::vector<Frame> frames;
  if (enter(from, start)) frames.push_back({trie.children_begin(from), trie.children_end(from), start});
  while (!frames.empty()) {
    Frame& frame = frames.back();
    if (frame.child == frame.end) {
      frames.pop_back();
      continue;
    }
    const NodeId child{frame.child++};
    const StateId state = automaton.next(frame.state, trie.byte(child), budget);
    if (state == ByteAutomaton::kDead) continue;
    budget.step();
    if (enter(child, state)) frames.push_back({trie.children_begin(child), trie.children_end(child), state});
  }
}

}  // namespace tokamata
