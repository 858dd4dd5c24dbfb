// The patterns of rewrites and doubts that matter in a text: those of modes that can be reached in it.
//
// Problem.  Half of the patterns belong to modes that a text never enters: what closes a string in backticks, where
// there is none.  They match at every quote, so that most of what is found can never be taken.
// Example.  {"a": 1,}  has no rewrite that leads to a string in single quotes, so no pattern of that mode is run.
// How.  A mode is reached from the first one by bytes, and by rewrites that were found.  The patterns of all modes that
// are known to be reached are run; where what they find leads to more modes, the patterns of these are run as well.
// Cost.  That of BytePatterns::found, once for most texts.
// Not taken.  To leave out afterwards what cannot be taken: the patterns take more time than what they find.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "programs/byte_patterns.hpp"
#include "repair/edit_model.hpp"

namespace tokamata {

class ReachablePatterns {
 public:
  // Where the matches of a pattern count, and the mode that they lead to.
  struct Modes {
    ModeSet within;
    Mode then;
  };

  // Ends with std::invalid_argument as BytePatterns does, or if there are not as many modes as patterns.
  ReachablePatterns(BytePatterns patterns, std::vector<Modes> modes);

  const BytePatterns& patterns() const { return patterns_; }
  const Modes& modes(std::uint32_t pattern) const { return modes_[pattern]; }

  // As BytePatterns::found, without matches that count in no mode that is reached.  `led`: modes that other rewrites
  // lead to.
  std::vector<BytePatterns::Found> found(std::string_view text, const EditMachine& machine, ModeSet led,
                                         std::size_t most, Budget& budget) const;

 private:
  BytePatterns patterns_;
  std::vector<Modes> modes_;
};

}  // namespace tokamata
