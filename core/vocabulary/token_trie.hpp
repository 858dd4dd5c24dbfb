// The bytes of all tokens, as a trie.
//
// Nodes are numbered breadth first, so that the children of a node lie side by side and the
// children of node n end where those of node n + 1 begin.  Tokens are kept in the order of their
// bytes, so that the tokens below a node are one contiguous run:
//
//      tokens  a ab abc b         order    0:a 1:ab 2:abc 3:b
//
//      root ─a─▶ 1 ─b─▶ 3 ─c─▶ 4       node 1: tokens [0,3), own [0,1)
//        └──b─▶ 2                      node 3: tokens [1,3), own [1,2)
//
// Every node also says what is below it in terms of code points: which bytes can begin one
// (`below`), and how many stand on one path at most (`height`).  A state that takes all of
// `below` and lives, at least `height` times, lives after every token there, and the walk need
// not go down (composition/mask_walk.hpp).  Token edges may cut code points, so that a node is
// read as being where its path from the root says it is: the bytes of a code point begun on the
// path belong to it, and stray bytes mark what is above them as irregular.
//
// What remains of some tokens after a part of each was read is a trie as well (vocabulary/segment.hpp).  A token is in
// it once for each of its remainders.  It has no summaries: every node says that something irregular is below it, so
// that it is walked down, which takes less time than to summarize it.
// Mostly one of these parts has nearly all that remains: 55,000 of 59,000 tokens after blanks are those that begin with
// one space.  This *trunk* is a part of a trie already, with its summaries, and is not copied.
//
// Cost: a sort of the tokens and one pass over their bytes; 16 bytes and one for the byte of the
// edge per node.  Not taken: a double array (no order among siblings), and depth-first numbering
// (the children of a wide node lie in as many cache lines).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/byte_set.hpp"
#include "common/check.hpp"
#include "common/ids.hpp"
#include "common/memory_account.hpp"

namespace tokamata {

class TokenTrie {
 public:
  // In place of a byte: something below is not UTF-8, or not known to be.  0xFF never begins a
  // code point, so that no class holds it.
  static constexpr std::uint8_t kIrregular = 0xFF;
  static constexpr std::uint32_t kHighest = 255;  // heights are capped here
  static constexpr std::uint32_t kManyOwn = 15;

  struct Node {
    std::uint32_t first_child;
    std::uint32_t tokens_begin;  // in the order of bytes
    std::uint32_t tokens_end;
    std::uint32_t below : 20;  // index of a set of bytes
    std::uint32_t own : 4;     // tokens that end here; kManyOwn: the first child says where they end
    std::uint32_t height : 8;
  };

  // No tokens.
  TokenTrie() { take({{0}, {0}, {0}, {}}); }
  // Tokens whose view is empty have no place in the trie.
  explicit TokenTrie(std::span<const std::string_view> tokens);
  // What remains of the tokens below some nodes of other tries, after each of these.  A token that ends at one of them
  // ends at the root.  Of the others, only those are kept that begin with one of some bytes, and none below the trunk.
  struct Place {
    const TokenTrie* trie;
    NodeId node;
    auto operator<=>(const Place&) const = default;
  };
  TokenTrie(std::vector<Place> ends, const ByteSet& first, std::optional<Place> trunk);
  // The end below which at least half of all these tokens are, if they are at least `much`.
  static std::optional<Place> trunk_of(std::span<const Place> ends, const ByteSet& first, std::size_t much);

  // A trie as numbers that anybody may have written: for each node the byte on the way to it, and how many children and
  // tokens of its own it has; and these tokens, node by node.  Numbered breadth first, the children of a node are the
  // next that no other node has, so that no number leads anywhere else.
  struct Numbers {
    std::vector<std::uint8_t> bytes;
    std::vector<std::uint32_t> children, own;
    std::vector<std::uint32_t> tokens;
  };
  Numbers numbers() const;
  // Nothing where the numbers do not make a trie.
  static std::optional<TokenTrie> of(const Numbers& numbers);

  // The trie with those tokens alone for which `keep(token, depth of its node)` is true.
  template <class Keep>
  TokenTrie filtered(Keep&& keep) const {
    Numbers kept = numbers();
    std::vector<std::uint32_t> depths(node_count(), 0);
    kept.tokens.clear();
    for (std::uint32_t node = 0; node < node_count(); ++node) {
      for (std::uint32_t child = children_begin({node}); child < children_end({node}); ++child)
        depths[child] = depths[node] + 1;
      const std::size_t before = kept.tokens.size();
      for (const std::uint32_t token : own({node}))
        if (keep(token, depths[node])) kept.tokens.push_back(token);
      kept.own[node] = static_cast<std::uint32_t>(kept.tokens.size() - before);
    }
    TokenTrie trie;
    trie.take(kept);
    return trie;
  }

  static constexpr NodeId root() { return {0}; }
  const Node& node(NodeId id) const {
    TOKAMATA_CHECK(id.value < node_count(), "a node is one of the trie's");
    return nodes_[id.value];
  }
  std::uint32_t children_begin(NodeId id) const { return nodes_[id.value].first_child; }
  std::uint32_t children_end(NodeId id) const { return nodes_[id.value + 1].first_child; }
  // The byte on the way into a node; for the root, 0.
  std::uint8_t byte(NodeId node) const { return edge_bytes_[node.value]; }
  // The child by a byte; the root, which is none, where there is none.
  NodeId child(NodeId id, std::uint8_t wanted) const {
    const auto begin = edge_bytes_.begin() + children_begin(id), end = edge_bytes_.begin() + children_end(id);
    const auto place = std::lower_bound(begin, end, wanted);
    if (place == end || *place != wanted) return root();
    return {static_cast<std::uint32_t>(place - edge_bytes_.begin())};
  }
  // Where the path of some bytes leads, if any token begins with them.
  std::optional<NodeId> find(std::string_view bytes) const {
    NodeId node = root();
    for (const char byte : bytes)
      if (node = child(node, static_cast<std::uint8_t>(byte)); node == root()) return std::nullopt;
    return node;
  }
  // How many bytes of a token below it lead to a node.
  std::size_t depth(NodeId below, std::string_view token) const {
    NodeId node = root();
    std::size_t depth = 0;
    while (node != below) node = child(node, static_cast<std::uint8_t>(token[depth++]));
    return depth;
  }
  // Of the children of a node, in order.
  std::span<const std::uint8_t> bytes_below(NodeId id) const {
    return std::span(edge_bytes_).subspan(children_begin(id), children_end(id) - children_begin(id));
  }
  // The tokens that end at the node are [tokens_begin, own_end).
  std::uint32_t own_end(NodeId id) const {
    const Node& n = nodes_[id.value];
    if (n.own != kManyOwn) return n.tokens_begin + n.own;
    const std::uint32_t begin = children_begin(id);
    return begin == children_end(id) ? n.tokens_end : nodes_[begin].tokens_begin;
  }
  // These tokens.
  std::span<const std::uint32_t> own(NodeId id) const {
    const std::uint32_t begin = nodes_[id.value].tokens_begin;
    return std::span(order_).subspan(begin, own_end(id) - begin);
  }
  const ByteSet& below(const Node& node) const { return below_sets_[node.below]; }

  // Token ids in the order of their bytes.
  std::span<const std::uint32_t> order() const { return order_; }
  std::size_t node_count() const { return nodes_.size() - 1; }
  std::size_t longest() const { return longest_; }
  std::size_t memory_bytes() const;

 private:
  bool is_in_order() const;
  void take(const Numbers& numbers);
  void sort_tokens(std::span<const std::string_view> tokens);
  std::vector<std::uint8_t> build_nodes(std::span<const std::string_view> tokens);
  void summarize(const std::vector<std::uint8_t>& phases);

  std::vector<Node> nodes_;  // and one past the end, for the children of the last
  std::vector<std::uint8_t> edge_bytes_;
  std::vector<std::uint32_t> order_;
  std::vector<ByteSet> below_sets_;
  std::size_t longest_ = 0;
};

}  // namespace tokamata
