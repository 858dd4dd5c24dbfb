// Byte-pair encoding inside one pre-token: which token may stand behind which.
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
// descending (E, whether they wait, R), those from which y is still there come first: each merge forbids one range.
//
//     BPE with (a,b) (b,c) (ab,c):   after a:  b, bc refused     after ab:  c refused
//
// Source: 001, section 4; the comparison by the ranks on two spines is known from rust-gems' `bpe`.
// Cost: the tour is sorting; ranges are made once per token.  Not taken: a simulation per pair, and a
// mask per token (4 GB).
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "common/ids.hpp"

namespace tokamata {

struct Merge {
  std::uint32_t left, right, result;
  std::uint32_t rank;
};

// `begin` to before `end`, in the order of the tour.
struct TourRange {
  std::uint32_t begin, end;
};

class Merges {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // `atoms[t]`: the tokens that the text of token t is cut into before any merge; empty where there are
  // none, so that t is never made.  A pair that has several merges has the first of them.
  Merges(std::span<const Merge> merges, std::vector<std::vector<std::uint32_t>> atoms);

  // What BPE makes of a sequence of atoms.
  std::vector<std::uint32_t> encode(std::vector<std::uint32_t> atoms) const;

  // Whether BPE makes this token of its own text.
  bool is_made(TokenId token) const { return position_[token.value] != kNone; }
  // What BPE makes of its text instead.
  std::vector<std::uint32_t> made_of(TokenId token) const { return encode(atoms_[token.value]); }
  // Whether the right token may stand behind the left one; both are made.
  bool may_follow(TokenId left, TokenId right) const;
  // The tokens that may not stand behind this one.
  std::span<const TourRange> forbidden(TokenId left) const {
    return std::span(ranges_).subspan(offsets_[left.value], offsets_[left.value + 1] - offsets_[left.value]);
  }
  // How many those are.
  std::uint32_t forbidden_count(TokenId left) const { return counts_[left.value]; }
  // Token by place in the tour.
  const std::vector<std::uint32_t>& tour() const { return tour_; }
  std::size_t memory_bytes() const;

 private:
  struct Tree {
    std::uint32_t left = kNone, right = kNone;
    std::uint32_t rank = 0;   // of its last merge
    std::uint32_t latest = 0;  // 1 + the largest rank in it; 0 where it was not merged
  };
  struct Rule {
    std::uint32_t rank, result;
  };

  static std::uint64_t pair(std::uint32_t left, std::uint32_t right) { return (std::uint64_t{left} << 32) | right; }
  // Whether the right part of a token is made last.
  bool waits_for_sibling(std::uint32_t token) const { return trees_[trees_[token].right].latest == trees_[token].latest; }
  void grow_tree(std::uint32_t token);
  void walk_forest();
  void make_ranges(std::span<const Merge> merges);

  std::vector<std::vector<std::uint32_t>> atoms_;
  std::unordered_map<std::uint64_t, Rule> rules_;
  std::vector<Tree> trees_;
  std::vector<std::uint8_t> made_;
  std::vector<std::uint32_t> tour_;
  std::vector<std::uint32_t> position_;  // in the tour
  std::vector<std::uint32_t> child_offsets_;
  std::vector<std::uint32_t> children_;  // of the forest, by descending (latest, rank)
  std::vector<std::uint32_t> subtree_end_;
  std::vector<std::uint32_t> offsets_;
  std::vector<std::uint32_t> counts_;
  std::vector<TourRange> ranges_;
};

}  // namespace tokamata
