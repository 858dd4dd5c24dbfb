#include "canonical/edge_descents.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "common/byte_set.hpp"
#include "common/sort_unique.hpp"

namespace tokamata {

namespace {

// Where walks leave a state that every byte leaves where it is.
std::vector<Descending> departures(const TokenTrie& trie, const TrieEdges& edges, NodeId top,
                                   const EdgeAutomaton& automaton, EdgeAutomaton::State from) {
  using State = EdgeAutomaton::State;
  // A walk departs by a byte that leads elsewhere; where a state without an edge is there, by the byte after it, if
  // fewer lead on.
  std::map<State, ByteSet> into;
  for (unsigned byte = 0; byte < 256; ++byte)
    for (const State target : automaton.after_byte(from, static_cast<std::uint8_t>(byte)))
      if (target != from) into[target].add(static_cast<std::uint8_t>(byte));
  ByteSet exits;
  std::vector<bool> is_passed(automaton.count(), false);
  for (const auto& [target, bytes] : into) {
    ByteSet next;
    for (unsigned byte = 0; byte < 256; ++byte)
      if (!automaton.after_byte(target, static_cast<std::uint8_t>(byte)).empty())
        next.add(static_cast<std::uint8_t>(byte));
    is_passed[target] = automaton.after_edge(target).empty() && next.size() < bytes.size();
    exits |= is_passed[target] ? next : bytes;
  }
  std::vector<Descending> found;
  const auto depart = [&](NodeId node, State state) { found.push_back({node, state, !automaton.is_prefix(state)}); };
  const TokenTrie::Node& range = trie.node(top);
  for (unsigned byte = exits.next_member(0); byte < 256; byte = exits.next_member(byte + 1))
    for (const std::uint32_t number : edges.nodes(static_cast<std::uint8_t>(byte))) {
      const NodeId node{number}, parent = edges.parent(node);
      if (node.value <= top.value || trie.node(node).tokens_begin < range.tokens_begin ||
          trie.node(node).tokens_end > range.tokens_end)
        continue;
      for (const State target : automaton.after_byte(from, static_cast<std::uint8_t>(byte)))
        if (target != from && !is_passed[target]) depart(node, target);
      if (parent == top) continue;
      for (const State passed : automaton.after_byte(from, trie.byte(parent)))
        if (is_passed[passed])
          for (const State target : automaton.after_byte(passed, static_cast<std::uint8_t>(byte))) depart(node, target);
    }
  return found;
}

}  // namespace

std::string_view text_of_added(const Tokenization& tokenization, std::size_t number) {
  // Its letters need not be those that other tokens have.
  static const CodePoints all(std::vector<ClassRange>{{0, 0}, {0xD800, CodePoints::kDead}, {0xE000, 0}});
  const std::string_view text = tokenization.added_text(number);
  std::uint16_t place = CodePoints::kBetween;
  for (const char byte : text) {
    place = all.next(place, static_cast<std::uint8_t>(byte));
    if (place == CodePoints::kDead) return {};
    if (place & CodePoints::kComplete) place = CodePoints::kBetween;
  }
  return place == CodePoints::kBetween ? text : std::string_view();
}

TrieEdges::TrieEdges(const TokenTrie& trie) : parents_(trie.node_count(), 0) {
  const auto count = static_cast<std::uint32_t>(trie.node_count());
  for (std::uint32_t node = 0; node < count; ++node)
    for (std::uint32_t child = trie.children_begin({node}); child < trie.children_end({node}); ++child) {
      parents_[child] = node;
      ++begin_[trie.byte({child}) + 1u];
    }
  for (unsigned byte = 0; byte < 256; ++byte) begin_[byte + 1u] += begin_[byte];
  std::array<std::uint32_t, 257> next = begin_;
  nodes_.resize(count - 1);
  for (std::uint32_t node = 1; node < count; ++node) nodes_[next[trie.byte({node})]++] = node;
}

EdgeDescents::EdgeDescents(const Tokenization& tokenization, bool has_hidden_space)
    : tokenization_(tokenization), token_edges_(tokenization.vocabulary().trie()) {
  for (const bool is_first : {false, true}) {
    if (is_first && !has_hidden_space) continue;
    std::vector<std::string_view> texts;
    for (std::size_t number = 0; number < tokenization.added().size(); ++number)
      texts.push_back(added_text(number, is_first));
    names_[is_first] = TokenTrie(texts);
    name_edges_[is_first] = TrieEdges(names_[is_first]);
  }
}

std::optional<NodeId> EdgeDescents::top(bool after_hidden_space) const {
  return after_hidden_space ? tokenization_.vocabulary().trie().find(" ") : std::optional(TokenTrie::root());
}

std::string_view EdgeDescents::added_text(std::size_t number, bool after_hidden_space) const {
  const std::string_view text = text_of_added(tokenization_, number);
  return text.substr(after_hidden_space && text.starts_with(' ') ? 1 : 0);
}

std::vector<EdgeDescents::Descent> EdgeDescents::leaving(const TokenTrie& trie, const TrieEdges& edges, NodeId top,
                                                         const EdgeAutomaton& automaton, State from,
                                                         Budget& budget) const {
  std::vector<Descent> found;
  const auto note = [&](std::uint32_t token, State state, bool has_left) {
    if (has_left) found.push_back({token, state});
  };
  if (automaton.is_free(from) && automaton.is_prefix(from))
    walk_tokens(budget, trie, departures(trie, edges, top, automaton, from), automaton, kSkipNothing, note);
  else walk_tokens(budget, trie, top, automaton, from, kSkipNothing, note);
  sort_unique(found);
  return found;
}

std::vector<EdgeDescents::Descent> EdgeDescents::leaving(const EdgeAutomaton& automaton, State from,
                                                         bool after_hidden_space, Budget& budget) const {
  const std::optional<NodeId> highest = top(after_hidden_space);
  if (!highest) return {};
  std::vector<Descent> found =
      leaving(tokenization_.vocabulary().trie(), token_edges_, *highest, automaton, from, budget);
  std::erase_if(found, [&](const Descent& each) { return !has_bit(tokenization_.possible(), each.token); });
  return found;
}

std::vector<EdgeDescents::Descent> EdgeDescents::leaving_added(const EdgeAutomaton& automaton, State from,
                                                               bool after_hidden_space, Budget& budget) const {
  return leaving(names_[after_hidden_space], name_edges_[after_hidden_space], TokenTrie::root(), automaton, from,
                 budget);
}

std::vector<EdgeDescents::Descent> EdgeDescents::staying_added(const EdgeAutomaton& automaton, State from,
                                                               bool after_hidden_space, Budget& budget) const {
  std::vector<Descent> found;
  walk_tokens(
      budget, names_[after_hidden_space], TokenTrie::root(), automaton, from,
      [&](NodeId, State state) { return !automaton.is_prefix(state); },
      [&](std::uint32_t number, State state, bool has_left) {
        if (!has_left) found.push_back({number, state});
      });
  sort_unique(found);
  return found;
}

}  // namespace tokamata
