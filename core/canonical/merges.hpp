// Byte-pair encoding inside one pre-token: which token may stand after which.
//
// Problem.  A sequence of tokens is what BPE makes of its own text if and only if every two neighbours
// are (001, algorithm 4).  For two tokens that is a question about their merge trees alone: does some
// merge across the border between them happen before both sides have grown up?
//
//     left token  abc = (a (b c))     right token  de = (d e)       border  c|d
//     right spine of the left:  abc, bc, c          left spine of the right:  de, d
//
// Pieces that can stand at the border at one time are nodes of these spines.  A merge (x, y) of rank r
// needs both pieces to be there, and happens at the time T = max(r, E(x), E(y)), where E(v) is the
// largest rank in the tree of v: when v comes into being.  It destroys the border unless x or y has been
// taken up into its parent before:
//
//     x is still there   if   T < E(parent of x),   or   T = E(parent) = E(x) > E(y)  and  r < R(parent)
//     y is still there   if   T < E(parent of y),   or   T = E(parent) and (E(y) < T or E(other) = T or r <= R(parent))
//
// with R(v) the rank of the last merge of v, `other` the part that y is joined with, and parents of whole
// tokens infinitely late.  The second cases are ties.  Equal ranks are merged from left to right, so that
// on the left the parent goes first and on the right the border does.  A parent of lower rank than its
// child follows the child at once (E(parent) = E(child)), unless it waits for the other part; then the
// ranks themselves decide.
//
// Forbidden sets.  Number the tokens by a tour of the forest in which the parent of a token is its left
// child: those that have y on their left spine are then neighbours.  With the children of y in order of
// descending (E, whether they wait, R), those from which y is still there come first: each merge forbids one
// run of neighbours, the same after every token that has x on its right spine and lets it be there.
//
//     BPE with (a,b) (b,c) (ab,c):   after a:  b, bc refused     after ab:  c refused
//
// Two tokens with the same parts at their ends forbid the same: of the 262,144 sets of Gemma 3, with six
// million runs, 75,000 are distinct, with two million.
//
// Source: 001, section 4; the comparison by the ranks on two spines is known from rust-gems' `bpe`.
// Cost: the tour is sorting; each merge is examined once for every token on whose right spine its left part
// is still there.  Not taken: a simulation per pair, and a mask per token (4 GB).
#pragma once

#include <cstdint>
#include <ranges>
#include <span>
#include <vector>

#include "canonical/merge_rules.hpp"
#include "common/bits.hpp"
#include "common/ids.hpp"

namespace tokamata {

// For each token, the tokens that its text is cut into before any merge; none where it has a part that is no
// token, so that it is never made.
struct AtomLists {
  std::vector<std::uint32_t> offsets{0};  // one more than there are tokens
  std::vector<std::uint32_t> atoms;

  std::size_t size() const { return offsets.size() - 1; }
  std::span<const std::uint32_t> operator[](std::size_t token) const {
    return std::span(atoms).subspan(offsets[token], offsets[token + 1] - offsets[token]);
  }
};

// `begin` to before `end`, in the order of the tour.
struct TourRange {
  std::uint32_t begin, end;
};

// What is kept of the merges of a tokenizer.
struct MergeTables {
  // Tokens that BPE makes of their own text, in the order of the tour.
  std::vector<std::uint32_t> tour;
  // For each token, the number of the set that it forbids; set s is ranges[set_offsets[s]] and what follows.
  std::vector<std::uint32_t> sets;
  std::vector<std::uint32_t> set_offsets;
  std::vector<std::uint32_t> ranges;  // packed, in order, apart or one after the other
  // Tokens that BPE does not make of their text, in order, and what it makes of it instead.
  std::vector<std::uint32_t> unmade;
  std::vector<std::uint32_t> part_offsets;
  std::vector<std::uint32_t> parts;
};

// Raises std::length_error for more tokens than MergeTables distinguishes, 4,194,304.
MergeTables make_merge_tables(std::span<const Merge> merges, const AtomLists& atoms);

class Merges {
 public:
  static constexpr std::uint32_t kNone = MergeRules::kNone;

  // Raises std::invalid_argument for tables that contradict each other.
  explicit Merges(MergeTables tables);
  Merges(std::span<const Merge> merges, const AtomLists& atoms) : Merges(make_merge_tables(merges, atoms)) {}

  std::size_t token_count() const { return tables_.sets.size(); }
  // Whether BPE makes this token of its own text.
  bool is_made(TokenId token) const { return position_[token.value] != kNone; }
  // What BPE makes of its text instead; nothing where that has a part that is no token.
  std::vector<std::uint32_t> made_of(TokenId token) const;
  // Whether the right token may stand after the left one; both are made.
  bool may_follow(TokenId left, TokenId right) const;
  // Of some tokens that are made, those after which this one may stand.
  Words before(TokenId right, const Words& tokens) const;
  // The tokens that may not stand after this one, as ranges.
  auto forbidden(TokenId left) const { return packed(left) | std::views::transform(unpacked); }
  // The number of the set of these: tokens that forbid the same have the same.
  std::uint32_t forbidden_set(TokenId left) const { return tables_.sets[left.value]; }
  // How many those are.
  std::uint32_t forbidden_count(TokenId left) const { return counts_[tables_.sets[left.value]]; }
  // Token by place in the tour.
  const std::vector<std::uint32_t>& tour() const { return tables_.tour; }
  std::size_t memory_bytes() const;

  // A range in 32 bits: its begin, and its size less one in the lower ones.
  static constexpr unsigned kSizeBits = 10;
  static constexpr std::uint32_t kMostSize = 1u << kSizeBits;
  static constexpr std::uint32_t kMostTokens = 1u << (32 - kSizeBits);
  static TourRange unpacked(std::uint32_t range) {
    const std::uint32_t begin = range >> kSizeBits;
    return {begin, begin + (range & (kMostSize - 1)) + 1};
  }

 private:
  // Whether a set of tokens that are forbidden holds the one that has this place in the tour.
  bool holds(std::uint32_t set, std::uint32_t place) const;
  std::span<const std::uint32_t> packed(TokenId left) const { return packed_set(tables_.sets[left.value]); }
  std::span<const std::uint32_t> packed_set(std::uint32_t set) const {
    return std::span(tables_.ranges)
        .subspan(tables_.set_offsets[set], tables_.set_offsets[set + 1] - tables_.set_offsets[set]);
  }

  MergeTables tables_;
  std::vector<std::uint32_t> position_;  // in the tour
  std::vector<std::uint32_t> counts_;    // by set
};

}  // namespace tokamata
