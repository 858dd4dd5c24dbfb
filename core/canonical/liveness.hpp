// Whether some canonical sequence continues from a token to a text that the pattern accepts.
//
// Problem.  The pattern and the tokenizer may both allow a token that leads nowhere.  With the pattern `ab` and the
// merge ab, some text of the pattern begins with `a`, but no canonical sequence of it does.
// How.  After a border between pre-tokens, a witness is a text (text_liveness.hpp).  The same holds after a token that
// no merge joins with anything.  Inside a pre-token the next token matters: the pattern must allow it, it must be able
// to follow the last token, and it must be live itself.  A search down the trie looks for such a token; tokens that
// bring the pattern nearest to its end come first.  Tokens once found live in a pair of states are tried before any
// search.
//
//     Llama 3.1, pattern [a-z]+: after `th` the text may end, since no letter need follow.  The state is live by the
//     border, and so are all tokens that lead to it.  [a-z]{3}: after `th` exactly one letter must follow, inside the
//     pre-token.  The search looks for a letter x that BPE does not merge, th|x.
//
// Token edges.  Where the pattern asks where tokens begin and end (TEXT_TOKEN), a text alone is no witness: `ab` has
// two tokens in one tokenizer and one in another.  From a state that still sees edges, the search goes on over tokens,
// across borders and over added tokens too.  Its configurations are then those of the tokenizer's hypotheses, before
// which the pattern has passed an edge each.  Once the pattern has read its last edge, a text is a witness again.
//
// Source: 001's CartesianMerge (algorithms 5 and 6), computed lazily and with borders; the search finds its relevant
// product states.  Cost: mostly one look-up; otherwise a search, whose answers are all kept.
#pragma once

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "canonical/text_liveness.hpp"
#include "common/best_first.hpp"
#include "common/memory_account.hpp"

namespace tokamata {

class Liveness {
 public:
  // The configuration after a token: inside a pre-token, or at a border, which forgets the token.
  struct Node {
    StateId state;
    TokenId last;
    Pieces::State pieces;
    TextState text;
    Hypothesis::Edge edge = Hypothesis::Edge::Inside;
    friend bool operator==(const Node&, const Node&) = default;
  };

  Liveness(TokenAutomaton& pattern, const Tokenization& tokenization)
      : pattern_(pattern), tokenization_(tokenization), text_(pattern, tokenization) {}

  TextLiveness& text() { return text_; }

  // That differs between the states of pieces that a state stands for (Pieces::projected).
  static constexpr TokenCount kUnsure = kEndless - 2;

  // How many tokens suffice, by the first witness found; kDead if there is none.
  TokenCount bound(const Node& node, Budget& budget);
  // The same if the pre-token ends here; independent of the last token.
  TokenCount bound_at_border(StateId state, const TextState& text, Budget& budget);
  // The same after a border, which a guess stands for.
  TokenCount bound_after_border(StateId state, const TextState& text, Budget& budget);
  // The same after an added token that leaves these matches open.
  TokenCount bound_after(const AddedTransition& transition, AddedTokens::Open open, Budget& budget);
  // The same by a further token: inside the pre-token, or after a border.
  TokenCount bound_by_token(const Node& node, Budget& budget);

  using Witnesses = counted::vector<std::pair<TokenId, TokenCount>>;
  static constexpr std::size_t kMostWitnesses = 8;
  // Tokens that were found live in a pair of states.
  Witnesses witnesses(StateId state, const TextState& text) const {
    const auto known = witnesses_.find({state, text});
    return known == witnesses_.end() ? Witnesses() : known->second;
  }

  void clear();

 private:
  struct NodeHash {
    std::size_t operator()(const Node& node) const;
  };
  class Search;
  struct Below {
    std::uint32_t from;  // index of the node
    NodeId place;        // in the trie
    StateId state;
    TextState text;  // after the bytes down to `place`
  };
  // By the bytes that the pattern still needs and the tokens so far, which may be those of a loop; of equals the latest
  // first.
  using Open = Frontier<Estimated<Below>, counted::vector<Estimated<Below>>>;
  // A node that a search has met: from which other one, by which token, and after how many.
  struct Met {
    Node node;
    std::uint32_t from;
    TokenId by;
    std::uint32_t tokens = 0;
  };
  // Buffers that searches reuse: most end after a step.
  struct Scratch {
    counted::vector<Met> nodes;
    Visited<Node, NodeHash> met;
    Open open;
  };
  TokenCount search_border(StateId state, const TextState& text, Budget& budget);
  TokenCount bound_before_parting(StateId state, const TextState& text, Budget& budget);
  TokenCount bound_by_text(const Node& node, Budget& budget);
  TokenCount by_witness(const Node& node) const;
  Node projected(const Node& node) const;
  bool is_dead_by_text(const Node& node, Budget& budget);
  bool sees_edges(StateId state) const { return pattern_.automaton().node(state).edges; }

  TokenAutomaton& pattern_;
  const Tokenization& tokenization_;
  TextLiveness text_;
  counted::unordered_map<TextLiveness::Pair, TokenCount, TextLiveness::PairHash> borders_;
  counted::unordered_map<Node, TokenCount, NodeHash> known_;
  counted::unordered_map<TextLiveness::Pair, Witnesses, TextLiveness::PairHash> witnesses_;
  Scratch scratch_;
};

}  // namespace tokamata
