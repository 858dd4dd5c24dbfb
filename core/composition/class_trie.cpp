#include "composition/class_trie.hpp"

#include "common/within.hpp"

namespace tokamata {

ClassTrie::ClassTrie(const TokenTrie& trie, const ByteAutomaton& automaton)
    : trie_(trie),
      class_bytes_(automaton.byte_classes().begin(), automaton.byte_classes().end()),
      by_class_(class_bytes_.size()) {
  for (unsigned byte = 0; byte < 256; ++byte)
    class_of_.push_back(static_cast<std::uint8_t>(automaton.byte_class(static_cast<std::uint8_t>(byte))));
  members_.push_back(TokenTrie::root());
  nodes_.push_back({0, 1});
}

ClassTrie::Node ClassTrie::open(ClassNodeId id, Budget& budget) {
  const std::uint32_t node = id.value;
  if (nodes_[node].children_begin == kUnopened) {
    if (opening_ != node) {
      opening_ = kUnopened;
      for (counted::vector<NodeId>& left_behind : by_class_) left_behind.clear();
      tokens_.clear();
      next_member_ = nodes_[node].members_begin;
      opening_ = node;
    }
    for (; next_member_ < nodes_[node].members_end; ++next_member_) {
      budget.step();
      const OnError start_again([&] { opening_ = kUnopened; });
      const NodeId member = members_[next_member_];
      const std::uint32_t own_begin = trie_.node(member).tokens_begin, own_end = trie_.own_end(member);
      for (std::uint32_t at = own_begin; at < own_end; ++at) tokens_.push_back(trie_.order()[at]);
      for (std::uint32_t child = trie_.children_begin(member); child < trie_.children_end(member); ++child)
        by_class_[class_of_[trie_.byte({child})]].push_back({child});
    }
    opening_ = kUnopened;
    const auto children_begin = static_cast<std::uint32_t>(nodes_.size());
    for (std::size_t index = 0; index < by_class_.size(); ++index) {
      if (by_class_[index].empty()) continue;
      const auto begin = static_cast<std::uint32_t>(members_.size());
      members_.insert(members_.end(), by_class_[index].begin(), by_class_[index].end());
      nodes_.push_back({.members_begin = begin,
                        .members_end = static_cast<std::uint32_t>(members_.size()),
                        .byte = class_bytes_[index]});
    }
    nodes_[node].tokens = std::move(tokens_);
    nodes_[node].children_begin = children_begin;
    nodes_[node].children_end = static_cast<std::uint32_t>(nodes_.size());
  }
  const Inner& inner = nodes_[node];
  return {inner.tokens, inner.children_begin, inner.children_end};
}

void ClassTrie::open_all(Budget& budget) {
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) open({node}, budget);
}

}  // namespace tokamata
