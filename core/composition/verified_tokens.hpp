// What is known of a mask that is being made, for a caller who takes that when time is up.
//
// Problem.  A caller may want some mask by a deadline rather than the whole one later.  What a maker of masks has found
// by then is lost with the call that is stopped.
// How.  A caller who wants it passes VerifiedTokens to the maker; all others pass null.  A maker that is left by an
// error hands out what it has verified until then (HandOver).  One that asks another maker for a mask of something
// else passes null, or tokens of its own, of which it hands on those that are right for its own mask.  So nothing costs
// anything until time is up, and nothing reaches a caller by accident.
// Example.  The mask of  [a-z]+x  is stopped at  m :  the tokens of letters before  m  are handed out.
// Contract.  Each token that is handed out is one of the whole mask.  Stop tokens are the matcher's to add.
// Rejected.  A row that all makers write to as they go: masks are put together from sets of which some tokens are taken
// out later.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "common/bits.hpp"
#include "common/within.hpp"
#include "composition/mask.hpp"

namespace tokamata {

class VerifiedTokens {
 public:
  static constexpr std::uint64_t kEndless = ~std::uint64_t{0};

  // For rows of so many words.
  explicit VerifiedTokens(std::size_t words) : row_(words) {}

  void add(std::uint32_t token) { set_bit(row_, token); }
  void add(std::span<const std::uint32_t> tokens) {
    for (const std::uint32_t token : tokens) set_bit(row_, token);
  }
  void add_row(const Words& row) { unite_bits(row_, row); }
  // Runs of an order of tokens; no more of them than are set in a few dozen microseconds, since time is up.
  template <class Ranges>
  void add_ranges(const Ranges& ranges, std::span<const std::uint32_t> order) {
    std::size_t left = kMostOfRanges;
    for (const auto& range : ranges) {
      const std::size_t count = std::min<std::size_t>(left, range.end - range.begin);
      add(order.subspan(range.begin, count));
      left -= count;
    }
  }
  void add(const MaskBits& bits) {
    if (const std::uint32_t* const row = bits.data()) {
      for (std::size_t i = 0; i < row_.size(); ++i) row_[i] |= row[i];
    } else if (!bits.base()) {
      for (const MaskBits::Word& word : bits.changed()) row_[word.place] |= word.bits;
    } else {
      unite_bits(row_, bits.row());
    }
  }
  void remove(std::uint32_t token) { clear_bit(row_, token); }
  void keep_only(const MaskBits& allowed) {
    const Words row = allowed.row();
    for (std::size_t i = 0; i < row_.size(); ++i) row_[i] &= row[i];
  }
  const Words& row() const { return row_; }
  std::size_t words() const { return row_.size(); }

  // The most tokens that are needed after any of these; kEndless: not known.
  void note_most(std::uint64_t tokens) { most_ = std::max(most_, tokens); }
  std::uint64_t most() const { return most_; }

 private:
  static constexpr std::size_t kMostOfRanges = 1 << 15;

  Words row_;
  std::uint64_t most_ = 0;
};

// Hands out what is verified where a scope is left by an error: calls `task(verified)`, if anybody wants it.
template <class Task>
class HandOver {
 public:
  HandOver(VerifiedTokens* verified, Task task) : on_error_(OfVerified{verified, std::move(task)}) {}

 private:
  struct OfVerified {
    VerifiedTokens* verified;
    Task task;
    void operator()() {
      if (verified) task(*verified);
    }
  };
  OnError<OfVerified> on_error_;
};

}  // namespace tokamata
