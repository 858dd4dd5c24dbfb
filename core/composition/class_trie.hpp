// The tokens of a vocabulary by the byte classes of a pattern: the trie of tokens, with the bytes that
// the pattern cannot tell apart taken as one.
//
// Problem.  What a token does to a state depends on the classes of its bytes alone.  `[a-z]{500,}` sees
// sixteen kinds of tokens that it can read, one for each length, and not a hundred thousand tokens.
// Example.  Classes a-z and the rest; tokens  cat dog at 9 :  the root has the children [a-z] and [rest];
// cat and dog end at one node, which is below that of at.
// Cost.  One pass over the trie, once per pattern: some 20 ms for 600,390 nodes.  A walk then visits
// each kind once.  Not taken: for masks, where runs of the token trie are taken whole without a walk.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "expression/byte_automaton.hpp"
#include "vocabulary/token_trie.hpp"

namespace tokamata {

class ClassTrie {
 public:
  ClassTrie(const TokenTrie& trie, const ByteAutomaton& automaton);

  // Nodes are numbered breadth first; the root is 0.
  static constexpr std::uint32_t root() { return 0; }
  std::uint32_t children_begin(std::uint32_t node) const { return nodes_[node].first_child; }
  std::uint32_t children_end(std::uint32_t node) const { return nodes_[node + 1].first_child; }
  // A byte of the class on the way into a node.
  std::uint8_t byte(std::uint32_t node) const { return nodes_[node].byte; }
  // The ids of the tokens that end at a node.
  std::span<const std::uint32_t> tokens(std::uint32_t node) const {
    return {tokens_.data() + nodes_[node].tokens_begin, tokens_.data() + nodes_[node + 1].tokens_begin};
  }
  std::uint32_t node_count() const { return static_cast<std::uint32_t>(nodes_.size() - 1); }
  std::size_t memory_bytes() const { return nodes_.capacity() * sizeof(Node) + tokens_.capacity() * sizeof(std::uint32_t); }

 private:
  struct Node {
    std::uint32_t first_child;
    std::uint32_t tokens_begin;
    std::uint8_t byte;
  };
  std::vector<Node> nodes_;  // and one past the end
  std::vector<std::uint32_t> tokens_;
};

}  // namespace tokamata
