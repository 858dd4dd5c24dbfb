// Whether some canonical sequence goes on from a token to a text that the pattern accepts.
//
// Problem.  A token that the pattern allows, and the tokenizer too, may still lead nowhere: for the pattern `ab`
// and the merge ab, `a` is a token that some text goes on with, and no canonical text of the pattern.
// How.  After a border between pre-tokens a witness is a text alone (text_liveness.hpp), and so it is after a
// token that stands apart: no merge joins it with anything.  Inside a pre-token the next token matters: some token
// must be allowed by the pattern, stand after the last one, and live in turn.  That is a search of the tokens, down
// the trie, where what brings the pattern nearest to its end comes first.  Tokens once found to live in a pair of
// states are tried before any search.
//
//     Llama 3.1, pattern [a-z]+: after `th` the text may end (no letter need follow): alive by the border,
//     and so are all tokens that lead to this state.  [a-z]{3}: after `th` exactly one letter must follow,
//     inside the pre-token: some letter x is sought that BPE leaves apart, th|x.
//
// Source: the product is 001's CartesianMerge (algorithms 5 and 6), lazily and with borders; its relevant
// product states are what is searched here.  Cost: mostly one look-up; a search where nothing is known, of which
// all that it has settled is kept.
#pragma once

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "canonical/text_liveness.hpp"
#include "common/memory_account.hpp"

namespace tokamata {

class Liveness {
 public:
  // What stands after a token, the pre-token still open.
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

  // How many tokens suffice, as the first witness found has it; kDead where there is none.
  TokenCount bound(const Node& node, Budget& budget);
  // Where a pre-token may be whole: by what may come without another token of it, whatever the last one is.
  TokenCount bound_at_border(StateId state, const TextState& text, Budget& budget);
  // By its tokens.
  TokenCount bound_inside(const Node& node, Budget& budget);

  using Witnesses = counted::vector<std::pair<TokenId, TokenCount>>;
  static constexpr std::size_t kMostWitnesses = 8;
  // Tokens that were found to live in a pair of states, where they may stand.
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
  struct Entry {
    std::uint64_t estimate;  // bytes that the pattern still needs
    std::uint64_t order;     // the last one comes first
    std::uint32_t from;      // number of the node
    NodeId place;            // in the trie
    StateId state;
    TextState text;          // after the bytes on the way there
    bool operator<(const Entry& other) const {
      return estimate != other.estimate ? estimate > other.estimate : order < other.order;
    }
  };
  // The lists of one search after another: most end at once.
  struct Scratch {
    counted::vector<std::pair<Node, std::uint32_t>> nodes;  // and the number of the one before
    Visited<Node, NodeHash> met;
    counted::vector<Entry> open;
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
