// What a walk of rules works with, reused by the walks after it.
//
// Problem.  A mask is made in microseconds, and a third of that would be spent on allocating what its walk notes.
// How.  A walk borrows buffers, and they are emptied when they are lent.  A walk that needs the segment of a part has
// another walk make it, with buffers of its own.  So there are as many as walks nest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "common/best_first.hpp"
#include "common/hash.hpp"
#include "common/memory_account.hpp"
#include "common/visited.hpp"
#include "composition/mask_builder.hpp"
#include "composition/rests.hpp"
#include "vocabulary/token_trie.hpp"

namespace tokamata {

// A node of the vocabulary's trie, or of the remainders of a segment.
struct Spot {
  const TokenTrie* trie;
  NodeId node;
  bool operator==(const Spot&) const = default;

  // So few tokens are followed sooner than a segment is looked up.  Below runs of dashes or brackets each node has a
  // few: a segment for each would be 60 of them, one within the other.
  static constexpr std::uint32_t kMostOfSmall = 4;
  bool is_small() const {
    const TokenTrie::Node& here = trie->node(node);
    return here.tokens_end - here.tokens_begin <= kMostOfSmall;
  }
  std::span<const std::uint32_t> own() const { return trie->own(node); }
  std::span<const std::uint8_t> bytes_below() const { return trie->bytes_below(node); }
  bool is_last() const { return bytes_below().empty(); }
  // Whether one of some bytes is below.
  bool intersects(const ByteSet& bytes) const {
    return std::ranges::any_of(bytes_below(), [&](std::uint8_t byte) { return bytes.contains(byte); });
  }
  std::optional<Spot> below(std::uint8_t byte) const {
    const NodeId child = trie->child(node, byte);
    if (child == TokenTrie::root()) return std::nullopt;
    return Spot{trie, child};
  }
};

struct RuleWalkBuffers : CountedObject {
  // Tries in the order in which alternatives reach them: they move from one to the remainders of its segments, and
  // never back.  Children have larger numbers than the nodes above them.
  struct Position {
    std::uint32_t trie;
    NodeId node;
    auto operator<=>(const Position&) const = default;
  };
  struct Waiting {
    Position position;
    RestId rest;
    auto operator<=>(const Waiting&) const = default;
  };
  struct Alternative {
    Spot spot;
    ExpressionId head;
    RestId rest;
    bool is_segment = false;  // a part of a grammar that is followed by its segment
  };
  struct Head {
    ExpressionId expression;
    std::uint32_t fork;  // after it
    bool is_segment;
  };
  struct Part {
    ExpressionId expression;
    RestId after;
    bool is_whole;  // what it begins with may be a segment, since it was not unfolded at this spot
  };
  struct Opened {
    Spot spot;
    ExpressionId expression;
    RestId rest;
    bool operator==(const Opened&) const = default;
  };
  struct OpenedHash {
    std::uint64_t operator()(const Opened& o) const {
      const std::uint64_t spot = mix(reinterpret_cast<std::uintptr_t>(o.spot.trie), o.spot.node.value);
      return mix(spot, (std::uint64_t{o.expression.value} << 32) | o.rest.value);
    }
  };

  // For rows of so many words.
  RuleWalkBuffers(Arena& arena, Beginnings& beginnings, std::size_t words) : rests(arena, beginnings), builder(words) {}

  void clear() {
    rests.clear();
    builder.clear();
    opened.clear();
    opened_rests.clear();
    alternatives.clear();
    parts.clear();
    tries.clear();
    walked.clear();
    waiting.clear();
  }

  Rests rests;
  MaskBuilder builder;                        // of the tokens that were found
  Visited<Opened, OpenedHash> opened;         // many alternatives continue with the same rest of an outer value
  Rests::Met opened_rests;                    // at the spot that is being opened
  Rests::Met met;                             // what a search along a rest has met
  counted::vector<Alternative> alternatives;  // to be followed
  counted::vector<Part> parts;                // of the expression that is being split
  counted::vector<std::string_view> names;
  counted::vector<const TokenTrie*> tries;  // in the order of positions
  std::map<Position, std::vector<ExpressionId>> walked;
  // Where readings are opened together: what waits at each position; and at the position that is being opened, the fork
  // after each head, and the heads to be followed.
  Frontier<Waiting, counted::vector<Waiting>> waiting;  // by position
  VisitedMap<std::uint32_t, std::uint32_t, NumberHash> fork_after;
  counted::vector<Head> heads;
};

// Lends buffers to walks.
class RuleWalkPool {
 public:
  // Of what outlives it; for rows of so many words.
  RuleWalkPool(Arena& arena, Beginnings& beginnings, std::size_t words)
      : arena_(arena), beginnings_(beginnings), words_(words) {}

  class Lease {
   public:
    explicit Lease(RuleWalkPool& pool) : pool_(pool), buffers_(pool.take()) {}
    ~Lease() { pool_.free_.push_back(std::move(buffers_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    RuleWalkBuffers& operator*() const { return *buffers_; }
    RuleWalkBuffers* operator->() const { return buffers_.get(); }

   private:
    RuleWalkPool& pool_;
    std::unique_ptr<RuleWalkBuffers> buffers_;
  };

 private:
  // There is room for it to be given back without a new block.
  std::unique_ptr<RuleWalkBuffers> take() {
    if (free_.empty()) {
      free_.reserve(++lent_at_most_);
      return std::make_unique<RuleWalkBuffers>(arena_, beginnings_, words_);
    }
    std::unique_ptr<RuleWalkBuffers> taken = std::move(free_.back());
    free_.pop_back();
    taken->clear();
    return taken;
  }

  Arena& arena_;
  Beginnings& beginnings_;
  const std::size_t words_;
  std::size_t lent_at_most_ = 0;  // at once
  counted::vector<std::unique_ptr<RuleWalkBuffers>> free_;
};

}  // namespace tokamata
