// The loop that walks share: down the trie in step with the byte automaton, with a call at each node.
//
// `enter(node, state)` is called for every node whose path from the root lives, the root first,
// in the order of bytes; it says whether to go on below.  The stack is explicit, since tokens may
// be as long as a stranger's file makes them.
#pragma once

#include <cstdint>
#include <vector>

#include "expression/byte_automaton.hpp"
#include "vocabulary/token_trie.hpp"

namespace tokamata {

// Tokens below a node; fewer are walked sooner than it is found out whether all of them lead back to a state.
inline constexpr std::uint32_t kLeastForALoop = 16;

template <class Enter>
void walk_trie(const TokenTrie& trie, NodeId from, ByteAutomaton& automaton, StateId start, Budget& budget,
               Enter&& enter) {
  struct Frame {
    std::uint32_t child, end;
    StateId state;
    ByteSet readable;
  };
  std::vector<Frame> frames;
  const auto go_below = [&](NodeId node, StateId state) {
    const std::uint32_t child = trie.children_begin(node), end = trie.children_end(node);
    if (child != end) frames.push_back({child, end, state, automaton.may_read(state, budget)});
  };
  if (enter(from, start)) go_below(from, start);
  while (!frames.empty()) {
    Frame& frame = frames.back();
    if (frame.child == frame.end) {
      frames.pop_back();
      continue;
    }
    const NodeId child{frame.child++};
    const std::uint8_t byte = trie.byte(child);
    if (!frame.readable.contains(byte)) continue;
    const StateId state = automaton.next(frame.state, byte, budget);
    if (state == ByteAutomaton::kDead) continue;
    budget.step();
    if (enter(child, state)) go_below(child, state);
  }
}

}  // namespace tokamata
