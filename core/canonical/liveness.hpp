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
  // The configuration after a token inside a pre-token.
  struct Node {
    StateId state;
    TokenId last;
    Pieces::State pieces;
    TextState text;
    friend bool operator==(const Node&, const Node&) = default;
  };

  Liveness(TokenAutomaton& pattern, const Tokenization& tokenization)
      : pattern_(pattern), tokenization_(tokenization), text_(pattern, tokenization) {}

  TextLiveness& text() { return text_; }

  // How many tokens suffice, by the first witness found; kDead if there is none.
  TokenCount bound(const Node& node, Budget& budget);
  // The same if the pre-token ends here; independent of the last token.
  TokenCount bound_at_border(StateId state, const TextState& text, Budget& budget);
  // The same if the pre-token continues.
  TokenCount bound_inside(const Node& node, Budget& budget);

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
  // By the bytes that the pattern still needs; of equals the latest first.
  using Open = Frontier<Estimated<Below>, counted::vector<Estimated<Below>>>;
  // Buffers that searches reuse: most end after a step.
  struct Scratch {
    counted::vector<std::pair<Node, std::uint32_t>> nodes;  // with the index of the node before
    Visited<Node, NodeHash> met;
    Open open;
  };
  TokenCount search_border(StateId state, const TextState& text, Budget& budget);
  TokenCount bound_by_text(const Node& node, Budget& budget);
  TokenCount by_witness(const Node& node) const;

  TokenAutomaton& pattern_;
  const Tokenization& tokenization_;
  TextLiveness text_;
  counted::unordered_map<TextLiveness::Pair, TokenCount, TextLiveness::PairHash> borders_;
  counted::unordered_map<Node, TokenCount, NodeHash> known_;
  counted::unordered_map<TextLiveness::Pair, Witnesses, TextLiveness::PairHash> witnesses_;
  Scratch scratch_;
};

}  // namespace tokamata
