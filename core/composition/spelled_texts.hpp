// Texts that share their ends, each with the fewest tokens that spell it.
//
// Problem.  After each token of a mask, the text to be written is a beginning of its own and an end that it shares with
// hundreds of others: the rest of a name, then all that an object still requires, then the brackets of the document.
// How.  A text is a byte before another text, and equal texts are one number.  Its tokens are counted once: one more
// than after the best of the tokens that it begins with.
// Example.  Tokens  "  }  "}  and all bytes:  "}}  is  " before }} , and takes two tokens, "} and } .
// Cost.  For each byte a look-up, and a step in the trie for each byte of the tokens that begin there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/hash.hpp"
#include "common/ids.hpp"
#include "common/memory_account.hpp"
#include "vocabulary/token_trie.hpp"

namespace tokamata {

// A number of tokens; kNoTokens: none suffices, or none is known.
using TokenCount = std::uint64_t;
inline constexpr TokenCount kNoTokens = ~TokenCount{0};

using SpelledId = Id<struct SpelledTag>;  // a text of SpelledTexts

// A text that ends another one, or a part of it.
struct ClosingText {
  SpelledId id;
  bool is_unverified;  // it was made from an over-approximation, and may not be accepted
};

class SpelledTexts {
 public:
  explicit SpelledTexts(const TokenTrie& trie) : trie_(trie) {}

  static constexpr SpelledId kEmpty{0}, kNone{1};  // kNone: no text is known

  TokenCount tokens(SpelledId text) const { return node(text).tokens; }
  std::uint64_t length(SpelledId text) const { return node(text).length; }
  SpelledId prepend(std::uint8_t byte, SpelledId rest);
  SpelledId prepend(std::string_view bytes, SpelledId rest) {
    for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte)
      rest = prepend(static_cast<std::uint8_t>(*byte), rest);
    return rest;
  }
  SpelledId concatenate(SpelledId first, SpelledId rest);
  // Whether a text comes before another one: it is shorter, or as long and less in the order of bytes.
  bool is_before(SpelledId text, SpelledId other) const;
  std::string string(SpelledId text) const;

  void clear() {
    release(nodes_);
    release(index_);
    release(whole_);
  }

 private:
  static constexpr std::uint64_t kEndless = ~std::uint64_t{0};
  struct Node {
    TokenCount tokens;
    std::uint64_t length;
    SpelledId rest;
    std::uint8_t byte;
  };
  struct Hash {
    std::size_t operator()(std::uint64_t key) const { return mix(0, key); }
  };
  static constexpr Node kFixed[] = {{0, 0, kEmpty, 0}, {kNoTokens, kEndless, kNone, 0}};
  static constexpr std::uint32_t kFirst = 2;  // the number of nodes_[0]
  const Node& node(SpelledId text) const {
    return text.value < kFirst ? kFixed[text.value] : nodes_[text.value - kFirst];
  }

  const TokenTrie& trie_;
  counted::vector<Node> nodes_;
  counted::unordered_map<std::uint64_t, std::uint32_t, Hash> index_;  // by rest and byte
  counted::unordered_map<std::uint64_t, SpelledId, Hash> whole_;      // by the texts that were concatenated
};

inline SpelledId SpelledTexts::prepend(std::uint8_t byte, SpelledId rest) {
  if (rest == kNone) return kNone;
  const std::uint64_t key = (std::uint64_t{rest.value} << 8) | byte;
  if (const auto known = index_.find(key); known != index_.end()) return {known->second};
  Node made{kNoTokens, length(rest) + 1, rest, byte};
  NodeId place = TokenTrie::root();
  for (SpelledId at = rest;; at = node(at).rest) {
    place = trie_.child(place, byte);
    if (place == TokenTrie::root()) break;
    if (!trie_.own(place).empty() && tokens(at) < made.tokens) made.tokens = tokens(at) + 1;
    if (at == kEmpty) break;
    byte = node(at).byte;
  }
  const auto number = static_cast<std::uint32_t>(nodes_.size()) + kFirst;
  nodes_.push_back(made);
  index_.emplace(key, number);
  return {number};
}

inline SpelledId SpelledTexts::concatenate(SpelledId first, SpelledId rest) {
  if (first == kEmpty || rest == kNone) return rest;
  if (first == kNone || rest == kEmpty) return first;
  const std::uint64_t key = (std::uint64_t{first.value} << 32) | rest.value;
  if (const auto known = whole_.find(key); known != whole_.end()) return known->second;
  const SpelledId made = prepend(string(first), rest);
  whole_.emplace(key, made);
  return made;
}

inline bool SpelledTexts::is_before(SpelledId text, SpelledId other) const {
  if (length(text) != length(other)) return length(text) < length(other);
  for (; text != other; text = node(text).rest, other = node(other).rest) {
    const std::uint8_t byte = node(text).byte, others = node(other).byte;
    if (byte != others) return byte < others;
  }
  return false;
}

inline std::string SpelledTexts::string(SpelledId text) const {
  std::string bytes;
  for (; text != kEmpty && text != kNone; text = node(text).rest) bytes.push_back(static_cast<char>(node(text).byte));
  return bytes;
}

}  // namespace tokamata
