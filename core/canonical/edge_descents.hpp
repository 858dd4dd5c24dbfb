// Where the bytes of tokens lead in an edge automaton.
//
// Problem.  Which of 262,144 tokens end in `<`, after another byte?  These may cross the left border of `<|im_end|>`; a
// search asks this of each of its automata.
// How.  A walk down the trie of the tokens.  Nearly all of it would stay in the state of any text before, which every
// byte leaves where it is.  From there the walk begins at those edges of the trie alone whose bytes lead elsewhere; a
// list by byte has them.
// Example.  Tokens  ab  xab  y : the bytes that lead from the start of `ab` elsewhere are {a}, and two edges have it.
// Cost.  The list: one pass over the trie, and eight bytes for each of its nodes.  A walk: the edges of its bytes, and
// what stays below them in the automaton.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "canonical/edge_automaton.hpp"
#include "canonical/tokenization.hpp"
#include "common/limits.hpp"
#include "vocabulary/token_trie.hpp"

namespace tokamata {

// Where a walk down a trie stands.
struct Descending {
  NodeId node;
  EdgeAutomaton::State state;
  bool has_left;  // a state on the way is outside the prefix
};

// Each token below some nodes, with the states that its other bytes lead to.  Subtries are left out where
// `skip(node, state)`.
template <class Skip, class Visit>
void walk_tokens(Budget& budget, const TokenTrie& trie, std::vector<Descending> open, const EdgeAutomaton& automaton,
                 Skip&& skip, Visit&& visit) {
  while (!open.empty()) {
    const auto [node, state, has_left] = open.back();
    open.pop_back();
    budget.step();
    if (node != TokenTrie::root())
      for (const std::uint32_t token : trie.own(node)) visit(token, state, has_left);
    if (skip(node, state)) continue;
    for (std::uint32_t child = trie.children_begin(node); child < trie.children_end(node); ++child)
      for (const EdgeAutomaton::State target : automaton.after_byte(state, trie.byte({child})))
        open.push_back({{child}, target, has_left || !automaton.is_prefix(target)});
  }
}
template <class Skip, class Visit>
void walk_tokens(Budget& budget, const TokenTrie& trie, NodeId top, const EdgeAutomaton& automaton,
                 EdgeAutomaton::State from, Skip&& skip, Visit&& visit) {
  walk_tokens(budget, trie, {{top, from, !automaton.is_prefix(from)}}, automaton, skip, visit);
}

// What an added token adds to a text; nothing where its bytes are no UTF-8, as some that a byte-level decoder makes.
std::string_view text_of_added(const Tokenization& tokenization, std::size_t number);

constexpr auto kSkipNothing = [](NodeId, EdgeAutomaton::State) { return false; };

// The edges of a trie, by their bytes.
class TrieEdges {
 public:
  TrieEdges() : TrieEdges(TokenTrie()) {}
  explicit TrieEdges(const TokenTrie& trie);
  // The nodes to which edges of a byte lead.
  std::span<const std::uint32_t> nodes(std::uint8_t byte) const {
    return std::span(nodes_).subspan(begin_[byte], begin_[byte + 1u] - begin_[byte]);
  }
  NodeId parent(NodeId node) const { return {parents_[node.value]}; }

 private:
  std::vector<std::uint32_t> parents_;
  std::vector<std::uint32_t> nodes_;  // all but the root
  std::array<std::uint32_t, 257> begin_{};
};

class EdgeDescents {
 public:
  using State = EdgeAutomaton::State;
  // A token, or the number of an added one, and the state after its last byte.
  struct Descent {
    std::uint32_t token;
    State state;
    friend auto operator<=>(const Descent&, const Descent&) = default;
  };

  EdgeDescents(const Tokenization& tokenization, bool has_hidden_space);

  // The node below which tokens are.  The space that a tokenizer puts before a text, and that its decoder takes away,
  // is no part of the text: its first token is below it.  Nothing where no token begins with it.
  std::optional<NodeId> top(bool after_hidden_space) const;
  // The tokens that leave the prefix from a state of it, or stand outside of it.
  std::vector<Descent> leaving(const EdgeAutomaton& automaton, State from, bool after_hidden_space,
                               Budget& budget) const;
  // The added tokens that leave the prefix, or stand outside of it; those that stay in it.
  std::vector<Descent> leaving_added(const EdgeAutomaton& automaton, State from, bool after_hidden_space,
                                     Budget& budget) const;
  std::vector<Descent> staying_added(const EdgeAutomaton& automaton, State from, bool after_hidden_space,
                                     Budget& budget) const;
  // The matches under way after one.
  AddedTokens::Open open_after(AddedTokens::Open open, std::size_t number) const {
    return open == AddedTokens::kNothing ? tokenization_.behind_added(number)
                                         : tokenization_.rules().added().after(open, number);
  }
  // What one adds to a text; after the hidden space without a space at its begin.
  std::string_view added_text(std::size_t number, bool after_hidden_space) const;

 private:
  std::vector<Descent> leaving(const TokenTrie& trie, const TrieEdges& edges, NodeId top,
                               const EdgeAutomaton& automaton, State from, Budget& budget) const;

  const Tokenization& tokenization_;
  TrieEdges token_edges_;
  std::array<TokenTrie, 2> names_;  // of the added tokens, by whether they stand after the hidden space
  std::array<TrieEdges, 2> name_edges_;
};

}  // namespace tokamata
