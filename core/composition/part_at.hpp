// A part of a state that begins at a node of a trie: the key of what is kept about such a part.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/hash.hpp"
#include "common/ids.hpp"
#include "vocabulary/segment.hpp"
#include "vocabulary/token_trie.hpp"

namespace tokamata {

struct PartAt {
  const TokenTrie* trie;  // the vocabulary's, or that of the remainders of a segment
  NodeId node;
  ExpressionId part;
  // left so where only the tokens inside matter: they do not depend on what follows
  Follow follow = Follow::AnyByte;
  bool operator==(const PartAt&) const = default;

  struct Hash {
    std::size_t operator()(const PartAt& at) const {
      const std::uint64_t trie = reinterpret_cast<std::uintptr_t>(at.trie) ^ static_cast<std::uint64_t>(at.follow);
      return mix(trie, (std::uint64_t{at.node.value} << 32) | at.part.value);
    }
  };
};

}  // namespace tokamata
