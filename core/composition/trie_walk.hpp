// The loop that walks share: down the trie in step with the byte automaton, with a call at each node.
//
// `enter(node, state)` is called for every node whose path from the root lives, the root first,
// in the order of bytes; it says whether to go on below.  A walk that is stopped by its Budget has entered whole
// nodes, and goes on with the same stack.  The stack is explicit, since tokens may
// be as long as a stranger's file makes them.
#pragma once

#include <cstdint>
#include <vector>

#include "expression/byte_automaton.hpp"
#include "vocabulary/token_trie.hpp"

namespace tokamata {

// Tokens below a node; fewer are walked sooner than it is found out whether all of them lead back to a state.
inline constexpr std::uint32_t kLeastForALoop = 16;

struct TrieFrame {
  std::uint32_t child, end;
  StateId state;
  ByteSet readable;
};

// `frames`: where the walk stands; empty where it begins.
template <class Enter>
void walk_trie(const TokenTrie& trie, NodeId from, ByteAutomaton& automaton, StateId start, Budget& budget,
               Enter&& enter, std::vector<TrieFrame>& frames) {
  const auto go_to = [&](NodeId node, StateId state) {
    TrieFrame below{trie.children_begin(node), trie.children_end(node), state, {}};
    if (below.child != below.end) below.readable = automaton.may_read(state, budget);
    if (enter(node, state) && below.child != below.end) frames.push_back(below);
  };
  if (frames.empty()) go_to(from, start);
  while (!frames.empty()) {
    const std::size_t last = frames.size() - 1;
    const TrieFrame frame = frames[last];
    if (frame.child == frame.end) {
      frames.pop_back();
      continue;
    }
    const NodeId child{frame.child};
    const std::uint8_t byte = trie.byte(child);
    if (frame.readable.contains(byte)) {
      const StateId state = automaton.next(frame.state, byte, budget);
      if (state != ByteAutomaton::kDead) {
        budget.step();
        go_to(child, state);
      }
    }
    ++frames[last].child;
  }
}

template <class Enter>
void walk_trie(const TokenTrie& trie, NodeId from, ByteAutomaton& automaton, StateId start, Budget& budget,
               Enter&& enter) {
  std::vector<TrieFrame> frames;
  walk_trie(trie, from, automaton, start, budget, enter, frames);
}

}  // namespace tokamata
