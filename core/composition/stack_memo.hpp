// Masks of a grammar by the part of the stack that they depend on.
//
// Problem.  In a program nearly every position has a stack of its own, and most masks depend on its top alone: a token of
// `);` pops a call and a statement, and no token pops a function.
// How.  While a mask is made, the expressions that are split are noted; what is below them was never looked at.  The memo is a
// decision tree: each node names one expression to be split next, and an edge says what it was split into.  A leaf has the
// state whose mask it is.
// Example.  States  n·a·b·X  and  n·a·b·Y, where no token gets past b: both are split into n, a, b and a rest, and share a mask.
// Exactness.  The maker reads nothing of an expression but by splitting it, and what it may begin with: where no letter follows
// a segment, and where it begins with no byte below a place.  Then it notes what that was read from as if it were split.  So
// equal splits give equal masks.
// Cost.  A look-up for each expression that is split, mostly two to ten.  An expression that stands at several places is split
// once: written out as a tree, alternatives that share what follows them would have as many parts as there are ways through
// them.  Masks for which more than kMostSplits are split are not kept.
// docs/studies.md has why JSON has no such memo: there the rules at the top hold what was written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/hash.hpp"
#include "common/ids.hpp"
#include "common/memory_account.hpp"
#include "expression/arena.hpp"

namespace tokamata {

class StackMemo {
 public:
  struct Found {
    StateId holder;     // whose mask it is
    std::uint64_t most;  // the most bytes that any token leaves to be written; or `endless`
  };
  static constexpr std::uint64_t kEndless = ~std::uint64_t{0};

  // The mask of a state, by its expression.
  std::optional<Found> find(const Arena& arena, ExpressionId expression) const {
    if (nodes_.empty()) return std::nullopt;
    Splitting splitting(arena, expression);
    std::uint32_t at = root(arena, expression);
    while (splitting.count() < kMostSplits) {
      const Node& node = nodes_[at];
      if (node.is_leaf) return Found{node.holder, node.most == kEndless ? kEndless : node.most + splitting.rests().longest};
      if (!node.has_slot) return std::nullopt;
      const auto edge = edges_.find({at, splitting.split(node.slot)});
      if (edge == edges_.end()) return std::nullopt;
      at = edge->second;
    }
    return std::nullopt;
  }

  // Notes it.  `was_split(expression)` says what the maker has split.
  template <class WasSplit>
  void add(const Arena& arena, ExpressionId expression, const Found& found, WasSplit&& was_split) {
    Splitting splitting(arena, expression);
    if (nodes_.empty()) nodes_.assign(2, {});
    std::uint32_t at = root(arena, expression);
    while (true) {
      std::optional<std::uint32_t> slot;
      if (nodes_[at].has_slot)
        slot = nodes_[at].slot;
      else if (!nodes_[at].is_leaf)
        slot = splitting.next([&](ExpressionId open) { return was_split(open); });
      if (!slot) break;
      if (splitting.count() + 1 == kMostSplits) return;
      nodes_[at].has_slot = true;
      nodes_[at].slot = *slot;
      const Edge place{at, splitting.split(*slot)};
      auto edge = edges_.find(place);
      if (edge == edges_.end()) {
        nodes_.push_back({});  // first: an edge without its node would lead to the next one
        edge = edges_.emplace(place, static_cast<std::uint32_t>(nodes_.size() - 1)).first;
      }
      at = edge->second;
    }
    // No alternative leaves more than this, less its own rest.
    const std::uint64_t rest = splitting.rests().shortest;
    nodes_[at] = {.is_leaf = true, .holder = found.holder, .most = found.most == kEndless ? kEndless : found.most - std::min(found.most, rest)};
  }

  void clear() {
    release(nodes_);
    release(edges_);
  }

 private:
  static constexpr std::size_t kMostSplits = 256;

  struct Node {
    bool is_leaf = false, has_slot = false;
    std::uint32_t slot = 0;
    StateId holder{};
    std::uint64_t most = 0;
  };

  // An expression, and what it is split into: heads, and open slots for the rest.
  class Splitting {
   public:
    Splitting(const Arena& arena, ExpressionId expression) : arena_(arena), slots_{expression} {}

    // How many slots were split.
    std::size_t count() const { return split_.size(); }
    // Splits a slot, and says what it was: a number below 2^34.
    std::uint64_t split(std::uint32_t slot) {
      const ExpressionId open = slots_[slot];
      is_split_.resize(slots_.size());
      is_split_[slot] = true;
      const auto same = std::ranges::find(split_, open);
      const auto number = static_cast<std::uint64_t>(same - split_.begin());
      const bool is_known = same != split_.end();
      split_.push_back(open);
      if (is_known) return (std::uint64_t{3} << 32) | number;
      const ExpressionNode& n = arena_.node(open);
      if (n.kind == Kind::Concatenation) {
        slots_.push_back(n.tail());
        return (std::uint64_t{1} << 32) | n.head().value;
      }
      if (n.kind == Kind::Union) {
        slots_.insert(slots_.end(), arena_.items(n).begin(), arena_.items(n).end());
        return (std::uint64_t{2} << 32) | n.second;
      }
      has_ended_ = true;
      return open.value;
    }
    // The first open slot that was split; whatever is before it was not.
    template <class WasSplit>
    std::optional<std::uint32_t> next(WasSplit&& was_split) {
      is_split_.resize(slots_.size());
      for (; scanned_ < slots_.size(); ++scanned_)
        if (!is_split_[scanned_] && was_split(slots_[scanned_])) return scanned_;
      return std::nullopt;
    }
    // The bytes that the open slots need; none where an alternative has come to its end.
    struct Rests {
      std::uint64_t shortest = kEndless, longest = 0;
    };
    Rests rests() {
      is_split_.resize(slots_.size());
      Rests found;
      for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
        if (is_split_[slot]) continue;
        const std::uint64_t spelled = arena_.node(slots_[slot]).spelled;
        found = {std::min(found.shortest, spelled), std::max(found.longest, spelled)};
      }
      if (has_ended_ || found.shortest == kEndless) found.shortest = 0;
      return found;
    }

   private:
    const Arena& arena_;
    std::vector<ExpressionId> slots_;
    std::vector<bool> is_split_;
    std::vector<ExpressionId> split_;  // in the order in which they were split
    std::uint32_t scanned_ = 0;
    bool has_ended_ = false;
  };

  struct Edge {
    std::uint32_t node;
    std::uint64_t split;
    bool operator==(const Edge&) const = default;
  };
  struct EdgeHash {
    std::size_t operator()(const Edge& edge) const { return mix(edge.split, edge.node); }
  };

  // A text that may end has other masks: the first node is for those that may not.
  static std::uint32_t root(const Arena& arena, ExpressionId expression) { return arena.node(expression).nullable ? 1 : 0; }

  counted::vector<Node> nodes_;
  counted::unordered_map<Edge, std::uint32_t, EdgeHash> edges_;
};

}  // namespace tokamata
