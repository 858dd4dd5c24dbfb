#include "canonical/edge_descents.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "common/byte_set.hpp"

namespace tokamata {

EdgeDescents::EdgeDescents(const Tokenization& tokenization, bool has_hidden_space) : tokenization_(tokenization) {
  for (const bool is_first : {false, true}) {
    if (is_first && !has_hidden_space) continue;
    std::vector<std::string_view> texts;
    for (std::size_t number = 0; number < tokenization.added().size(); ++number)
      texts.push_back(added_text(number, is_first));
    names_[is_first] = TokenTrie(texts);
  }
  const TokenTrie& trie = tokenization.vocabulary().trie();
  const auto count = static_cast<std::uint32_t>(trie.node_count());
  parents_.assign(count, 0);
  begin_.fill(0);
  for (std::uint32_t node = 0; node < count; ++node)
    for (std::uint32_t child = trie.children_begin({node}); child < trie.children_end({node}); ++child) {
      parents_[child] = node;
      ++begin_[trie.byte({child}) + 1u];
    }
  for (unsigned byte = 0; byte < 256; ++byte) begin_[byte + 1u] += begin_[byte];
  std::array<std::uint32_t, 257> next = begin_;
  by_byte_.resize(count == 0 ? 0 : count - 1);
  for (std::uint32_t node = 1; node < count; ++node) by_byte_[next[trie.byte({node})]++] = node;
}

std::optional<NodeId> EdgeDescents::top(bool after_hidden_space) const {
  return after_hidden_space ? tokenization_.vocabulary().trie().find(" ") : std::optional(TokenTrie::root());
}

std::string_view EdgeDescents::added_text(std::size_t number, bool after_hidden_space) const {
  const std::string_view text = tokenization_.added_text(number);
  return text.substr(after_hidden_space && text.starts_with(' ') ? 1 : 0);
}

std::vector<EdgeDescents::Descent> EdgeDescents::leaving(const EdgeAutomaton& automaton, State from,
                                                         bool after_hidden_space) const {
  std::vector<Descent> found;
  const TokenTrie& trie = tokenization_.vocabulary().trie();
  const std::optional<NodeId> highest = top(after_hidden_space);
  if (!highest) return found;
  const auto walk = [&](NodeId node, State state) {
    walk_tokens(trie, node, automaton, state, kSkipNothing, [&](std::uint32_t token, State reached, bool has_left) {
      if (has_left && has_bit(tokenization_.possible(), token)) found.push_back({token, reached});
    });
  };
  if (!automaton.is_free(from)) {
    walk(*highest, from);
    return found;
  }
  // Whatever leads elsewhere has read one of these: the byte that does so; or the next one, which a state without an
  // edge has to read.
  ByteSet exits;
  const auto has_edges = [&](State state) { return !automaton.after_edge(state).empty(); };
  std::map<State, ByteSet> into;
  for (unsigned byte = 0; byte < 256; ++byte)
    for (const State target : automaton.after_byte(from, static_cast<std::uint8_t>(byte)))
      if (target != from) into[target].add(static_cast<std::uint8_t>(byte));
  for (const auto& [target, bytes] : into) {
    ByteSet next;
    for (unsigned byte = 0; byte < 256; ++byte)
      if (!automaton.after_byte(target, static_cast<std::uint8_t>(byte)).empty())
        next.add(static_cast<std::uint8_t>(byte));
    exits |= !has_edges(target) && next.size() < bytes.size() ? next : bytes;
  }
  const TokenTrie::Node& range = trie.node(*highest);
  for (unsigned byte = exits.next_member(0); byte < 256; byte = exits.next_member(byte + 1))
    for (std::uint32_t i = begin_[byte]; i < begin_[byte + 1u]; ++i) {
      const NodeId node{by_byte_[i]};
      if (node.value <= highest->value || trie.node(node).tokens_begin < range.tokens_begin ||
          trie.node(node).tokens_end > range.tokens_end)
        continue;
      const auto read = [&](State before) {
        for (const State target : automaton.after_byte(before, static_cast<std::uint8_t>(byte)))
          if (target != from) walk(node, target);
      };
      read(from);
      if (const NodeId parent{parents_[node.value]}; parent != *highest)
        for (const State target : automaton.after_byte(from, trie.byte(parent)))
          if (target != from && !has_edges(target)) read(target);
    }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<EdgeDescents::Descent> EdgeDescents::added(const EdgeAutomaton& automaton, State from,
                                                       bool after_hidden_space, bool stay_in_prefix) const {
  std::vector<Descent> found;
  walk_tokens(names_[after_hidden_space], TokenTrie::root(), automaton, from, kSkipNothing,
              [&](std::uint32_t number, State state, bool has_left) {
                if (has_left != stay_in_prefix) found.push_back({number, state});
              });
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace tokamata
