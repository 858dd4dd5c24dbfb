// What a regular part of a text does to a whole vocabulary, whatever follows it.
//
// Problem.  A JSON string stands at a hundred places of a schema, and in every schema; at each, the same 123,303
// of Llama 3.1's 128,256 tokens stay inside of it, and the same 1,312 close it and go on.  What they go on with is all
// that the places differ in.
// Example.  Terminal "…", vocabulary  a  b"  ":  ",x  :  a stays inside;  b"  ends it and leaves nothing,  ":  leaves
// the remainder `:`, and  ",x  the remainder `,x`.
// How.  A part holds the tokens that stay inside or end it, as a mask, and the trie of the remainders of those that
// pass its end, with the tokens that leave each.  The mask of `terminal · tail` is the first, and the tokens of
// all remainders that live in the tail.
// Source.  The terminal labels of 002, found for every terminal at its first use; the figures: Llama 3.1's remainders
// behind a string are 913 nodes, its trie 274,520.
// Cost.  A walk of the vocabulary for each terminal, once for all constraints; then a copy, and a walk of what lives of
// the remainders.
#pragma once

#include <cstdint>
#include <vector>

#include "common/bits.hpp"
#include "vocabulary/token_trie.hpp"

namespace tokamata {

struct TerminalPart {
  struct Node {  // of the trie of remainders; the root is the empty one
    std::uint32_t children_begin, children_end;
    std::uint32_t tokens_begin, tokens_end;
  };
  Words inside;                    // where the terminal begins with the token
  std::vector<std::uint32_t> few;  // the same as numbers, where it begins further down the trie
  std::vector<Node> nodes;
  std::vector<std::uint8_t> bytes;  // on the way into each node
  std::vector<std::uint32_t> tokens;

  bool is_inner() const { return inside.empty(); }
  std::size_t memory_bytes() const {
    return sizeof *this + (inside.capacity() + few.capacity() + tokens.capacity()) * sizeof(std::uint32_t) +
           nodes.capacity() * sizeof(Node) + bytes.capacity();
  }
};

// The remainders behind the nodes of a trie; tokens that end at one of them leave the empty remainder.
void add_remainders(const TokenTrie& trie, const std::vector<NodeId>& ends, TerminalPart& part);

}  // namespace tokamata
