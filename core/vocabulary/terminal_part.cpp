#include "vocabulary/terminal_part.hpp"

#include <algorithm>
#include <array>

namespace tokamata {

void add_remainders(const TokenTrie& trie, const std::vector<NodeId>& ends, TerminalPart& part) {
  std::vector<std::vector<NodeId>> members{ends};  // of each node: where in the trie its remainder has been read
  part.nodes.push_back({0, 0, 0, 0});
  part.bytes.push_back(0);
  for (std::size_t at = 0; at < part.nodes.size(); ++at) {
    std::array<std::vector<NodeId>, 256> below;
    part.nodes[at].tokens_begin = static_cast<std::uint32_t>(part.tokens.size());
    for (const NodeId member : members[at]) {
      for (std::uint32_t own = trie.node(member).tokens_begin; own < trie.own_end(member); ++own)
        part.tokens.push_back(trie.order()[own]);
      for (std::uint32_t child = trie.children_begin(member); child < trie.children_end(member); ++child)
        below[trie.byte(child)].push_back({child});
    }
    part.nodes[at].tokens_end = static_cast<std::uint32_t>(part.tokens.size());
    members[at] = {};
    part.nodes[at].children_begin = static_cast<std::uint32_t>(part.nodes.size());
    for (unsigned byte = 0; byte < 256; ++byte) {
      if (below[byte].empty()) continue;
      part.nodes.push_back({0, 0, 0, 0});
      part.bytes.push_back(static_cast<std::uint8_t>(byte));
      members.push_back(std::move(below[byte]));
    }
    part.nodes[at].children_end = static_cast<std::uint32_t>(part.nodes.size());
  }
}

}  // namespace tokamata
