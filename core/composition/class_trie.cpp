#include "composition/class_trie.hpp"

namespace tokamata {

// Breadth first over both: a node here stands for a run of nodes there, in `members`.
ClassTrie::ClassTrie(const TokenTrie& trie, const ByteAutomaton& automaton) {
  const std::size_t classes = automaton.byte_classes().size();
  std::vector<std::uint32_t> members{TokenTrie::root().value};
  std::vector<std::uint32_t> runs{0, 1};  // node n stands for members[runs[n], runs[n + 1])
  members.reserve(trie.node_count());
  tokens_.reserve(trie.order().size());
  nodes_.push_back({0, 0, 0});
  std::vector<std::vector<std::uint32_t>> by_class(classes);
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    nodes_[node].first_child = static_cast<std::uint32_t>(nodes_.size());
    nodes_[node].tokens_begin = static_cast<std::uint32_t>(tokens_.size());
    for (std::uint32_t i = runs[node]; i < runs[node + 1]; ++i) {
      const NodeId member{members[i]};
      const auto own = trie.order().subspan(trie.node(member).tokens_begin,
                                            trie.own_end(member) - trie.node(member).tokens_begin);
      tokens_.insert(tokens_.end(), own.begin(), own.end());
      for (std::uint32_t child = trie.children_begin(member); child < trie.children_end(member); ++child)
        by_class[automaton.byte_class(trie.byte(child))].push_back(child);
    }
    for (std::size_t index = 0; index < classes; ++index) {
      if (by_class[index].empty()) continue;
      members.insert(members.end(), by_class[index].begin(), by_class[index].end());
      runs.push_back(static_cast<std::uint32_t>(members.size()));
      nodes_.push_back({0, 0, automaton.byte_classes()[index]});
      by_class[index].clear();
    }
  }
  nodes_.push_back({static_cast<std::uint32_t>(nodes_.size()), static_cast<std::uint32_t>(tokens_.size()), 0});
}

}  // namespace tokamata
