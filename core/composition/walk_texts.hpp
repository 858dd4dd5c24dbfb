// Trees of texts (expression/rules.hpp) in step with the trie of a vocabulary, from a node: no further than tokens go.
//
// `entered(node)` is called for every node on the way of a text, those of the bytes before the tree included, and
// `marked(node, with_longer)` for what the tree marks.
#pragma once

#include <algorithm>
#include <vector>

#include "common/limits.hpp"
#include "expression/rules.hpp"
#include "vocabulary/token_trie.hpp"

namespace tokamata {

template <class Entered, class Marked>
void walk_texts(const TokenTrie& trie, NodeId from, const std::vector<TextsAfter>& all, Budget& budget,
                Entered&& entered, Marked&& marked) {
  struct Walk final : TextTree::Walk {
    Walk(const TokenTrie& t, NodeId from, Budget& b, Entered& e, Marked& m)
        : trie(t), budget(b), on_entering(e), on_mark(m), path{from} {}
    bool enter(std::uint8_t byte) override {
      budget.step();
      const auto bytes = trie.bytes_below(path.back());
      const auto place = std::ranges::lower_bound(bytes, byte);
      if (place == bytes.end() || *place != byte) return false;
      path.push_back({trie.children_begin(path.back()) + static_cast<std::uint32_t>(place - bytes.begin())});
      on_entering(path.back());
      return true;
    }
    void leave() override { path.pop_back(); }
    void mark(bool with_longer) override { on_mark(path.back(), with_longer); }

    const TokenTrie& trie;
    Budget& budget;
    Entered& on_entering;
    Marked& on_mark;
    std::vector<NodeId> path;
  };
  for (const TextsAfter& texts : all) {
    Walk walk(trie, from, budget, entered, marked);
    if (std::ranges::all_of(texts.lead, [&](char byte) { return walk.enter(static_cast<std::uint8_t>(byte)); }))
      texts.tree->walk(walk);
  }
}

}  // namespace tokamata
