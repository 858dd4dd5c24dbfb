// Where some patterns of bytes match in a text: all patterns in one pass.
//
// Problem.  The costs of a text are found by some fifty patterns, each of which `re` would search for from the first
// byte to the last: half of the time until the first answer.  Most of them can begin at few bytes of a text alone.
// Example.  A name without quotes begins with a letter, after a blank, a comma or a bracket.  In  {a: "no", b: 1}  four
// positions are tried: those of a, n of "no" is not (a quote comes before it), b, and no other.
// How.  A pattern comes as a program.  It knows the bytes that it may begin with, and those that may stand before it.
// At each position three look-ups, by the byte before it, by its own and by the next one, give the patterns that may
// begin there, as bits.  Those alone are run.  What may come second is read off the program: the quote of
// "(?=\s*[,:}])  is followed by a blank or one of these.  So is what a match needs: without a  (  in the text no call
// is looked for.  A program is run as `re` runs a pattern: alternatives and repetitions in their order, the latest
// choice taken back first.  A run of a set whose bytes cannot begin what follows leaves no choice, and where the last
// run of a set ends is kept, so that a hundred thousand line breaks are not read again from each of them.  Patterns
// share lookaheads, such as what follows the end of a string, so the last outcome of each is kept with its position.
// As with `finditer`, a match begins at or after the end of the last one of the same pattern.  Programs are made from
// the syntax trees of regular expressions (src/tokamata/repair/byte_patterns.py).  They have no groups and no
// backreferences, and what they repeat is never empty, where implementations of backtracking differ most.
//
// Cost.  Three look-ups for each byte, and what backtracking costs where a pattern may begin.  Time and memory are
// bounded within a match too.
// Source.  Backtracking over a program: R. Cox, Regular expression matching: the virtual machine approach, 2009; sets
// of first bytes: Go's and RE2's prefilters, here for all patterns at once.
// Not taken.  A simulation of all threads (core/splitting): patterns look behind and ahead, and texts are short.
//
// Contract.  It does not change once made: any thread may call `found`, which may end with LimitExceeded, Cancelled or
// std::bad_alloc.
#pragma once

#include <array>
#include <bitset>
#include <compare>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "common/byte_set.hpp"
#include "common/limits.hpp"

namespace tokamata {

class BytePatterns {
 public:
  enum class Op : std::uint8_t {
    Match,  // the pattern, or the body of a lookaround, is read
    Byte,   // a byte of set a
    Run,    // from b to c bytes of set a, as many as possible
    // goes on at the next instruction; if that fails, at a; b and c are set by BytePatterns: what each may begin with
    Fork,
    LazyFork,   // goes on at a; if that fails, at the next instruction; b and c as of Fork
    Jump,       // goes on at a
    Ahead,      // the body, which follows, matches here; goes on at a
    NotAhead,   // it does not
    Behind,     // the body matches c bytes before
    NotBehind,  // it does not
    TextStart,
    TextEnd,
    LastLineEnd,  // the end of the text, or its last line break
    LineStart,
    LineEnd,
    Boundary,  // of a word
    NotBoundary,
  };
  struct Instruction {
    Op op;
    std::uint32_t a = 0, b = 0, c = 0;
    // of a run, set by BytePatterns: what follows it cannot begin with a byte of the set
    bool gives_none_back = false;
    friend auto operator<=>(const Instruction&, const Instruction&) = default;
  };
  struct Pattern {
    std::vector<Instruction> program;  // it reads at least one byte
    ByteSet first;                     // the bytes that a match may begin with
    ByteSet before;                    // those that may stand before it
    bool begins_text;                  // whether it may begin where no byte stands before it
  };
  struct Found {
    std::uint32_t pattern, begin, end;
  };

  // Ends with std::invalid_argument if a program leads out of itself or names a set that does not exist.
  BytePatterns(std::vector<Pattern> patterns, std::vector<ByteSet> sets);

  // Some of the patterns, a bit for each.
  using Selection = std::vector<std::uint64_t>;
  std::size_t size() const { return patterns_.size(); }
  Selection none() const { return Selection(words_, 0); }

  // All matches of some patterns by position, of one position by pattern; LimitExceeded (memory_bytes) if there are
  // more than `most`.
  std::vector<Found> found(std::string_view text, const Selection& among, std::size_t most, Budget& budget) const;

 private:
  friend class StreamedPatterns;
  class Run;
  class Seconds;
  class Befores;
  class Need;
  static constexpr unsigned kMostNeeded = 8;  // bytes of a set that is looked for in the text
  static constexpr std::size_t kNone = 256;   // instead of a byte before the first one, and after the last one

  // Of bytes, and kNone.
  using Nexts = std::bitset<kNone + 1>;

  static Nexts nexts_of(const ByteSet& set);
  std::uint32_t number_of(const Nexts& nexts);
  void number_lookaheads();

  std::vector<Pattern> patterns_;
  std::vector<ByteSet> sets_;
  std::vector<Nexts> nexts_;                                     // of the sides of forks
  std::size_t words_;                                            // of 64 patterns each
  std::vector<std::uint64_t> by_first_, by_second_, by_before_;  // by byte, of each word
  // by pattern: its matches need a byte of each set in the text
  std::vector<std::vector<ByteSet>> needs_;
  std::size_t lookaheads_ = 0;  // their number; alike ones have one
};

}  // namespace tokamata
