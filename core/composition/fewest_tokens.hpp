// The fewest tokens that lead from a place to an end, by branch and bound.
//
// Problem.  Tokens lead from a place to infinitely many others where values nest, so no search for the nearest end ends
// by itself.  But of each place some number of tokens is known that suffices, and one that is not enough.
// Example.  Llama 3.1, `{"b`: the closing text `":0}` has three tokens, so three is the first bound.  The search meets
// the place after `":{`, whose closing text `}}` is one token: two suffice.  No place needs less than one more token,
// so each that is reached by two is pruned.
// How.  Best first, by the tokens so far and those that are known to suffice.  A place is pruned where the tokens that
// it needs at least do not beat the best so far.  It is opened again if it is reached by fewer tokens.
// Source.  Land and Doig, 1960.  Cost.  That of opening a place, for each that may be better; the caller ends the search
// after so many.  If none is left, the result is exact.
// Rejected: A* alone, whose bounds are weak for strings and useless for tokens of several brackets; weighted push-down
// systems (Reps, Schwoon, Jha and Melski, 2005), which are exact at any depth, but need a table for each rule and node
// of the vocabulary's trie.
#pragma once

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/best_first.hpp"
#include "composition/spelled_texts.hpp"

namespace tokamata {

// `Counts` is a map from places to numbers of tokens.
template <class Place, class Counts = std::unordered_map<Place, TokenCount>>
class FewestTokens {
 public:
  // From one place to the next one on the way to an end.
  struct Step {
    TokenId token;
    Place target;
    TokenCount tokens;  // at most, since what follows may have been found to be shorter
  };
  struct Found {
    std::vector<Step> path;  // up to a place whose rest is known
    TokenCount tokens;       // of the path and that rest; kNoTokens where no end is known
  };

  // `known`: tokens that suffice from the start.  Ends early when `enough` suffice.
  FewestTokens(Place start, TokenCount known, TokenCount enough = 0) : best_(known), enough_(enough) {
    nodes_.push_back({std::move(start), 0, 0, {}});
    open_.add({best_, 0, 0});
  }

  // The graph has these members:
  //   known(place)              tokens that suffice; kNoTokens where none is known
  //   at_least(place)           no fewer suffice
  //   estimate(place, written)  in place of the whole, where none is known
  //   has_room()                whether the search may go on
  //   expand(place, offer)      calls `offer(token, target)`, which returns whether to go on
  template <class Graph>
  Found run(Graph& graph) {
    while (!open_.empty() && best_ > enough_ && graph.has_room()) {
      const std::size_t from = open_.take().node;
      if (!may_be_better(graph, nodes_[from])) continue;
      const Place place = nodes_[from].place;  // a copy: the list grows
      graph.expand(place, [&](TokenId token, Place target) {
        add(graph, {std::move(target), nodes_[from].written + 1, from, token});
        return best_ > enough_;
      });
    }
    Found found{{}, best_};
    TokenCount rest = best_ == kNoTokens ? 0 : best_ - nodes_[best_node_].written;
    for (std::size_t at = best_node_; at != 0; at = nodes_[at].before)
      found.path.push_back({nodes_[at].token, std::move(nodes_[at].place), ++rest});
    std::ranges::reverse(found.path);
    return found;
  }

 private:
  struct Node {
    Place place;
    TokenCount written;
    std::size_t before;
    TokenId token;
  };
  // The least estimate first; of equal ones the one with more tokens so far, then the first.
  struct Open {
    TokenCount estimate, written;
    std::size_t node;
    bool operator<(const Open& other) const {
      if (estimate != other.estimate) return estimate < other.estimate;
      return written != other.written ? written > other.written : node < other.node;
    }
  };

  template <class Graph>
  bool may_be_better(const Graph& graph, const Node& node) const {
    return node.written + graph.at_least(node.place) < best_;
  }
  template <class Graph>
  void add(Graph& graph, Node node) {
    if (!lowers(written_, node.place, node.written) || !may_be_better(graph, node)) return;
    const TokenCount rest = graph.known(node.place);
    const TokenCount all = rest == kNoTokens ? kNoTokens : node.written + rest;
    open_.add({all == kNoTokens ? graph.estimate(node.place, node.written) : all, node.written, nodes_.size()});
    nodes_.push_back(std::move(node));
    if (all >= best_) return;
    best_ = all;
    best_node_ = nodes_.size() - 1;
  }

  std::vector<Node> nodes_;
  Frontier<Open> open_;
  Counts written_;
  TokenCount best_, enough_;
  std::size_t best_node_ = 0;
};

}  // namespace tokamata
