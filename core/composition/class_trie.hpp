// The tokens of a vocabulary by the byte classes of a pattern: the trie of tokens, with the bytes that
// the pattern does not distinguish taken as one.
//
// Problem.  What a token does to a state depends on the classes of its bytes alone.  `[a-z]{500,}` sees
// some thirty token classes that it can read, one for each length, and not a hundred thousand tokens.
// Example.  Classes a-z and the rest; tokens  cat dog at 9 :  the root has the children [a-z] and [rest];
// cat and dog end at one node, which is below that of at.
// How.  A node stands for many nodes of the trie of tokens.  It is opened, and its children made, when
// a walk first comes to it: what no state ever reads is never opened.
// Cost.  Every node of the trie of tokens is opened once at most, per pattern; a walk then visits each
// class once.  Not taken: for the masks of plain states, whose loops take runs of the token trie whole.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/limits.hpp"
#include "common/memory_account.hpp"
#include "expression/byte_automaton.hpp"
#include "vocabulary/token_trie.hpp"

namespace tokamata {

using ClassNodeId = Id<struct ClassNodeTag>;  // a node of a ClassTrie

class ClassTrie {
 public:
  ClassTrie(const TokenTrie& trie, const ByteAutomaton& automaton);

  struct Node {
    std::span<const std::uint32_t> tokens;  // ids of the tokens that end here; stays where it is
    std::uint32_t children_begin, children_end;
  };
  static constexpr ClassNodeId root() { return {0}; }
  // An opening that is stopped by the budget goes on when the same node is opened again.
  Node open(ClassNodeId id, Budget& budget);
  // A byte of the class on the way into a node.
  std::uint8_t byte(ClassNodeId node) const { return nodes_[node.value].byte; }
  void open_all(Budget& budget);

  std::uint32_t node_count() const { return static_cast<std::uint32_t>(nodes_.size()); }

 private:
  static constexpr std::uint32_t kUnopened = ~std::uint32_t{0};
  struct Inner {
    std::uint32_t members_begin, members_end;  // in members_
    std::uint32_t children_begin = kUnopened, children_end = 0;
    std::uint8_t byte = 0;
    counted::vector<std::uint32_t> tokens = {};
  };

  const TokenTrie& trie_;
  counted::vector<std::uint8_t> class_bytes_;  // a byte of each class
  counted::vector<std::uint8_t> class_of_;     // by byte
  counted::vector<Inner> nodes_;
  counted::vector<NodeId> members_;  // nodes of the trie of tokens
  // While a node is opened.
  std::uint32_t opening_ = kUnopened, next_member_ = 0;
  counted::vector<counted::vector<NodeId>> by_class_;
  counted::vector<std::uint32_t> tokens_;
};

}  // namespace tokamata
