#include "matching/progress.hpp"

#include <algorithm>

namespace tokamata {

Progress progress(const std::shared_ptr<Constraint>& constraint, std::span<const TokenId> tokens,
                  std::span<const std::size_t> ends) {
  Progress found;
  found.at_start = static_cast<std::int64_t>(Matcher(constraint).tokens_to_close());
  found.needed.assign(tokens.size(), Progress::kRefused);
  std::size_t at = 0;
  for (const std::size_t end : ends) {
    Matcher matcher(constraint);
    for (; at < end && matcher.advance(tokens[at]); ++at) {
      found.needed[at] = static_cast<std::int64_t>(matcher.tokens_to_close());
      if (!constraint->vocabulary().is_stop(tokens[at])) continue;
      std::fill(found.needed.begin() + static_cast<std::ptrdiff_t>(at + 1),
                found.needed.begin() + static_cast<std::ptrdiff_t>(end), Progress::kStopped);
      break;
    }
    at = end;
  }
  return found;
}

}  // namespace tokamata
