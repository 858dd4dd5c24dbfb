// Byte-pair encoding itself: the merges of a tokenizer, and what they make of a text.
//
// Problem.  Of all neighbours that have a merge, those whose merge has the lowest rank are joined first, and
// among them the leftmost, until none are left.
// Example.  Merges (a,b) rank 0, (b,c) rank 1, (ab,c) rank 2:  a b c  becomes  ab c, and then  abc.
// How.  The merges that are possible stand in a heap by rank and place; one whose parts have changed since
// is passed over.  Merges are found by their pair in a table with open addressing: the half million of a
// large tokenizer are looked up four million times while its tables are made, each time at one place of
// memory.
// Cost: n log n for n parts; 32 to 64 bytes per merge.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/best_first.hpp"

namespace tokamata {

struct Merge {
  std::uint32_t left, right, result;
  std::uint32_t rank;
};

class MergeRules {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // A pair that has several merges has the first of them.  No token is kNone.
  explicit MergeRules(std::span<const Merge> merges);

  // The merge of a pair; nullptr where it has none.
  const Merge* find(std::uint32_t left, std::uint32_t right) const {
    const Merge& slot = slots_[slot_of(left, right)];
    return slot.left == kNone ? nullptr : &slot;
  }
  // All merges, each pair's once, in no order.
  template <class Visit>
  void each(Visit visit) const {
    for (const Merge& merge : slots_)
      if (merge.left != kNone) visit(merge);
  }

 private:
  // Where the pair is, or would be.
  std::size_t slot_of(std::uint32_t left, std::uint32_t right) const {
    const std::uint64_t mixed = ((std::uint64_t{left} << 32) | right) * 0x9E3779B97F4A7C15u;
    std::size_t place = static_cast<std::size_t>(mixed >> shift_);
    while (slots_[place].left != kNone && (slots_[place].left != left || slots_[place].right != right))
      place = (place + 1) & (slots_.size() - 1);
    return place;
  }

  unsigned shift_;
  std::vector<Merge> slots_;  // a power of two of them, at least half of them free: their left part is kNone
};

// Encodes one text after the other; what it works with is kept between them.
class MergeEncoder {
 public:
  explicit MergeEncoder(const MergeRules& rules) : rules_(rules) {}

  // Joins the parts of a text; stops where `until` parts are left, of which the next merge would make fewer.
  void encode(std::vector<std::uint32_t>& parts, std::size_t until = 1);

 private:
  struct Possible {
    std::uint32_t rank, at;
    std::uint32_t left, right, result;
    bool operator<(const Possible& other) const { return rank != other.rank ? rank < other.rank : at < other.at; }
  };
  void offer(const std::vector<std::uint32_t>& parts, std::uint32_t at);

  const MergeRules& rules_;
  std::vector<std::uint32_t> next_, previous_;  // of each part that is left, kNone at the ends
  Frontier<Possible> possible_;
};

}  // namespace tokamata
