// The masks of many matchers at once, on several threads.
//
// Matchers of constraints that share their states share a lock, and so they are kept together: a thread takes a run of
// matchers that stand on the same states, and other threads take other runs.  Which thread takes which
// is left to chance; the masks do not depend on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include "matching/matcher.hpp"

namespace tokamata {

// Writes the mask of matchers[i] to rows[i], which has room for it; where budgets[i] is a number, the mask of
// mask_within.  `budgets` has an entry for each matcher, or none.  Result: the error of each matcher whose mask
// could not be made, null for the others; the rows of failed matchers are untouched.  The deadline is one for all of
// them.  With OnDeadline::Some, rows are what is known by then (Matcher::some_mask); is_whole[i] says whether rows[i] is
// the mask.
std::vector<std::exception_ptr> fill_masks(std::span<Matcher* const> matchers, std::span<std::uint32_t* const> rows,
                                           unsigned threads, std::span<const std::optional<TokenCount>> budgets = {},
                                           const Deadline& deadline = {}, OnDeadline on_deadline = OnDeadline::Error,
                                           std::span<std::uint8_t> is_whole = {});

// The draft of a matcher, and where its masks go: a row for the text, then one for each node.
struct DraftRows {
  Draft draft;
  std::optional<TokenCount> budget;
  std::uint32_t* rows;
  std::vector<bool> legal = {};  // the result, by node
  std::vector<bool> whole = {};  // by row
};
// Writes the masks of all drafts; the rows of what is not legal are zero.  Result: as above.
std::vector<std::exception_ptr> fill_draft_masks(std::span<Matcher* const> matchers, std::span<DraftRows> drafts,
                                                 unsigned threads, bool count_stop, const Deadline& deadline = {},
                                                 OnDeadline on_deadline = OnDeadline::Error);

}  // namespace tokamata
