// What a vocabulary does under a terminal, whatever follows the terminal.
//
// Problem.  A JSON string stands at a hundred positions of a schema, and in every schema.  At each of them the same
// 123,303 of Llama 3.1's 128,256 tokens stay inside the string, and the same 1,312 close it and continue.  The
// positions differ only in what may follow.
// Example.  Terminal "…", vocabulary  a  b"  ":  ",x  :  a stays inside;  b"  ends the string and leaves nothing,  ":
// leaves the remainder `:`, and  ",x  the remainder `,x`.
// How.  A segment holds the tokens that stay inside the terminal or end it, and the trie of the remainders of the tokens
// that pass its end.  The mask of `terminal · tail` is the first, and the tokens of all remainders that are live in the
// tail.  The remainders are a trie like the vocabulary's, so that one cursor walks both.  What nearly all of them have
// in common stays where it is: after blanks, the tokens that begin with one space are walked in the trie that they are
// in.
// Source.  The terminal labels of 002, found for every terminal at its first use.  Llama 3.1's remainders after a
// string are 913 nodes, its trie 274,520.
// Cost.  A walk of the vocabulary for each terminal, once for all constraints; then a copy, and a walk of the live
// remainders.
#pragma once

#include <cstdint>

#include "common/memory_account.hpp"
#include "common/token_set.hpp"
#include "vocabulary/token_trie.hpp"

namespace tokamata {

// What the text after a terminal may begin with.  After a name that stands before an operator, remainders that begin with a
// letter lead nowhere, and they are nearly all: each token of letters has one for each of its letters.  After free text
// that ends the whole text, none leads anywhere.
enum class Follow : std::uint8_t { AnyByte, NoWord, Nothing };

inline constexpr ByteSet kWordBytes = ByteSet::range('0', '9') | ByteSet::range('A', 'Z') | ByteSet::range('_', '_') |
                                      ByteSet::range('a', 'z') | ByteSet::range(0x80, 0xFF);

inline ByteSet bytes_of(Follow follow) {
  const ByteSet all = ByteSet::range(0x00, 0xFF);
  return follow == Follow::AnyByte ? all : follow == Follow::NoWord ? all.without(kWordBytes) : ByteSet();
}

struct Segment {
  TokenSet inside;  // either listed or bits
  TokenTrie remainders;
  // Where else tokens go on after the terminal: the trunk of the remainders, a node of the trie that the segment is of.
  // The root stands for none.
  NodeId trunk = TokenTrie::root();
  // After any of the tokens inside, the terminal can be ended with so many bytes, each of which is a token.
  static constexpr std::uint32_t kNotKnown = ~std::uint32_t{0};
  std::uint32_t most = kNotKnown;

  // So many tokens are copied sooner than what follows is opened at a second node, in each mask.
  static std::size_t much_for(std::size_t words) { return 2 * words; }

  bool has_trunk() const { return trunk != TokenTrie::root(); }
  std::size_t memory_bytes() const {
    return shared_block_bytes<Segment>() + inside.memory_bytes() + remainders.memory_bytes();
  }
};

}  // namespace tokamata
