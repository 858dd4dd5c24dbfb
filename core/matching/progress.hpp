// How far a text stays viable along its tokens, and what it still needs after each of them.
//
// Problem.  Training wants more than one bit for a text that was written without masks: the first token that no
// accepted text continues, and how near to an end the text was at each token before it.
// Example.  [0-9]{2}  and the tokens  4  x  7: one token is still needed after  4,  x  is refused, and nothing is known
// of  7.
// How.  A matcher takes the tokens, and after each of them counts those that are still needed (completions.hpp): the
// fewest of regular patterns, a bound of rules.
// Cost.  A step and a distance for each token up to the first refused one.  Both are kept by state.
// Rejected: the search for the fewest tokens of rules.  It takes 10 ms for each state, a text that nests has a state
// for each token, and what it finds depends on earlier searches.
//
// Contract.
//   - Locks.  That of the constraint, for one token at a time; rows of one constraint gain nothing from threads.
//   - Errors.  LimitExceeded, Cancelled or std::bad_alloc.  Each row has `Limits::seconds` of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "matching/matcher.hpp"

namespace tokamata {

struct Progress {
  static constexpr std::int64_t kRefused = -1;  // this token, or one before it
  static constexpr std::int64_t kStopped = -2;  // a stop token came before this one: it belongs to no text

  std::int64_t at_start = 0;         // tokens that the empty text needs
  std::vector<std::int64_t> needed;  // after each token of each row, one row after another
};

// `ends` has for each row where it ends in `tokens`; it begins where the one before it ends.
Progress progress(const std::shared_ptr<Constraint>& constraint, std::span<const TokenId> tokens,
                  std::span<const std::size_t> ends);

}  // namespace tokamata
