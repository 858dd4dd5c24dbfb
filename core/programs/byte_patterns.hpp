// Where some patterns of bytes match in a text: all patterns in one pass.
//
// Problem.  The costs of a text are found by some three hundred patterns, each of which `re` would search for from the first
// byte to the last: half of the time until the first answer.  Most of them can begin at few bytes of a text alone.
// Example.  A name without quotes begins with a letter, after a blank, a comma or a bracket.  In  {a: "no", b: 1}  four
// positions are tried: those of a, n of "no" is not (a quote comes before it), b, and no other.
// How.  A pattern comes as a program.  The bytes that it may begin with, those that may stand before it, and those that
// may come second are read off the program: the quote of  "(?=\s*[,:}])  is followed by a blank or one of these.
// At each position three look-ups, by the byte before it, by its own and by the next one, give the patterns that may
// begin there, as bits.  Those alone are run, by a Backtracker.  What a match needs is read off too: without a  (  in
// the text no call is looked for.  As with `finditer`, a match begins at or after the end of the last one of the same
// pattern.  Programs have no groups and no backreferences, and what they repeat is never empty, where implementations
// of backtracking differ most.
//
// Cost.  Three look-ups for each byte, and what backtracking costs where a pattern may begin.
// Source.  Sets of first bytes: Go's and RE2's prefilters, here for all patterns at once.
// Not taken.  One program for all patterns: their matches overlap, and each has a position of its own.
//
// Contract.  It does not change once made: any thread may call `found`, which may end with LimitExceeded, Cancelled or
// std::bad_alloc.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "common/byte_set.hpp"
#include "common/limits.hpp"
#include "programs/backtracker.hpp"

namespace tokamata {

class BytePatterns {
 public:
  struct Found {
    std::uint32_t pattern, begin, end;
  };

  // Each program reads at least one byte.  Ends with std::invalid_argument if a Backtracker cannot run one (program.hpp).
  BytePatterns(const std::vector<Program>& patterns, std::vector<ByteSet> sets);

  // Some of the patterns, a bit for each.
  using Selection = std::vector<std::uint64_t>;
  std::size_t size() const { return steps_.programs.size(); }
  Selection none() const { return Selection(words_, 0); }

  // All matches of some patterns by position, of one position by pattern; LimitExceeded (memory_bytes) if there are
  // more than `most`.
  std::vector<Found> found(std::string_view text, const Selection& among, std::size_t most, Budget& budget) const;

 private:
  friend class StreamedPatterns;
  class Seconds;
  class Befores;
  class Need;
  using Nexts = Backtracker::Nexts;
  static constexpr unsigned kMostNeeded = 8;  // bytes of a set that is looked for in the text
  static constexpr std::size_t kNone = Backtracker::kNone;

  static Nexts nexts_of(const ByteSet& set);
  std::uint32_t number_of(const Nexts& nexts);
  using Numbers = std::map<Program, std::uint32_t>;  // of the bodies of lookaheads; alike ones have one
  void add(const Program& program, Numbers& lookaheads);
  std::vector<Backtracker::Step> steps_of(const Program& program, Seconds& nexts, Numbers& lookaheads);
  std::vector<ByteSet> needs_of(const Program& program) const;

  Backtracker::Steps steps_;
  std::size_t words_;                                            // of 64 patterns each
  std::vector<std::uint64_t> by_first_, by_second_, by_before_;  // by byte, of each word
  // by pattern: its matches need a byte of each set in the text
  std::vector<std::vector<ByteSet>> needs_;
};

}  // namespace tokamata
