// Where some patterns of bytes match in a text that goes on: what is certain, and what is still open.
//
// Problem.  A text arrives in pieces.  A pattern that looks ahead, or whose match may become longer, cannot be judged
// before the bytes that it reads are there; all others can.  Patterns are to be tried once, not once for each piece.
// Example.  "'(?=\s*:)"  in  'a'  is open at the second quote; after  'a':  it matches there, and the first quote
// fails.
// How.  A trial of a pattern at a position notes whether it has read where the text ends (backtracker.hpp).  If it has
// not, no continuation changes its result.  Otherwise the position is *open*, and tried again when more is there.  As
// with `finditer` a match begins at or after the end of the last one of its pattern: while an earlier position is open,
// a later one that would match is open as well, and one that fails has failed.
// A pattern may stay open for long: the end of a comment that never comes.  It is tried again when the bytes since its
// position have grown by a quarter, so that all trials of one position together take time in proportion to the text.
// Cost.  That of BytePatterns::found, and five trials where a pattern stays open.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "programs/byte_patterns.hpp"

namespace tokamata {

class StreamedPatterns {
 public:
  struct Open {
    std::uint32_t pattern, position;
  };

  // `patterns` must outlive it.
  explicit StreamedPatterns(const BytePatterns& patterns);

  // The matches that have become certain.  `text` is what has arrived by now, with what had arrived before as its
  // beginning.  May end with LimitExceeded, Cancelled or std::bad_alloc; then it may not be fed again.
  std::vector<BytePatterns::Found> feed(std::string_view text, Budget& budget);
  // Where a pattern may still match, from a position on; by pattern, not by position.
  std::vector<Open> open(std::size_t from) const;

 private:
  struct Pending {
    std::size_t position;
    std::size_t tried;  // the length of the text then
  };
  struct OfPattern {
    std::size_t end = 0;           // of its last match
    std::vector<Pending> pending;  // by position
  };
  enum class Trial : std::uint8_t { Fails, Matches, Open };

  Trial tried(Backtracker& run, std::size_t pattern, std::size_t position, std::size_t& end) const;
  void try_again(Backtracker& run, std::size_t pattern, std::size_t length, std::vector<BytePatterns::Found>& all);

  const BytePatterns& patterns_;
  std::vector<OfPattern> state_;
  std::vector<std::uint32_t> with_pending_;
  std::size_t read_ = 0;
};

}  // namespace tokamata
