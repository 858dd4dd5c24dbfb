// Tokens that others propose: how many of them are allowed, and the mask after each.
//
// Problem.  A host that verifies k drafted tokens at once needs k + 1 masks.  To advance, fill and roll back takes 3 k
// calls, and leaves a matcher half way where one of them fails.
// Example.  For  [0-9]{2}  the chain  "1" "x" "2"  has the legal prefix "1": the rows after the text and after "1" are
// masks, those after "x" and "2" allow nothing.
// How.  The states after the nodes are kept beside the text, so the matcher never changes.  Whether a node is legal is
// a bit of the mask before it, which is made anyway.  A row that is not whole at the deadline has some of its tokens;
// what was not judged by then is not legal.
// Cost.  A mask and a step for each legal node, under one lock.
#include <algorithm>

#include "common/check.hpp"
#include "matching/matcher.hpp"
#include "matching/work.hpp"

namespace tokamata {

std::size_t Matcher::validate(std::span<const TokenId> tokens) {
  return work([&](Budget& budget) {
    std::optional<Step> last;
    for (std::size_t count = 0; count < tokens.size(); ++count) {
      std::optional<Step> next =
          next_step(last ? Place::after(*last, steps().size() - 1 + count) : here(), tokens[count], budget);
      if (!next) return count;
      last = std::move(next);
    }
    return tokens.size();
  });
}

DraftMasks Matcher::draft_masks(const Draft& draft, std::optional<TokenCount> tokens, bool count_stop,
                                const Deadline& deadline, OnDeadline on_deadline) {
  const std::size_t count = draft.tokens.size();
  TOKAMATA_CHECK(draft.parents.empty() || draft.parents.size() == count, "each node of a tree has a parent");
  const bool takes_some = on_deadline == OnDeadline::Some;
  return work(takes_some ? deadline.at_least(kGrace) : deadline, [&](Budget& budget) {
    DraftMasks made{std::vector<MaskPtr>(count + 1), std::vector<bool>(count, false), std::vector<bool>(count + 1)};
    std::vector<std::optional<Step>> steps(count);
    std::vector<TokenCount> depths(count + 1, 0);  // of the rows
    const auto place_after = [&](std::size_t node) {
      return Place::after(*steps[node], this->steps().size() - 1 + depths[node + 1]);
    };
    const auto make_mask = [&](std::size_t row, const Place& place) {
      const TokenCount depth = depths[row];
      const bool has_budget = tokens && !place.is_stopped();
      MadeMask mask{nullptr, true};
      if (!has_budget || *tokens >= depth + count_stop) {
        const TokenCount left = has_budget ? *tokens - depth - count_stop : kNoTokens;
        mask = takes_some ? some_mask_at(place, left, deadline, budget) : MadeMask{mask_at(place, left, budget), true};
      }
      made.whole[row] = mask.is_whole;
      if (mask.mask && (!has_budget || mask.mask->set_bits)) made.rows[row] = std::move(mask.mask);
    };
    make_mask(0, here());
    // Where time is up, what is left is not known to be legal.
    const auto judge = [&](std::size_t node) {
      const std::uint32_t parent = draft.parent(node);
      TOKAMATA_CHECK(parent == Draft::kNoNode || parent < node, "a node comes after its parent");
      const std::size_t row = parent == Draft::kNoNode ? 0 : parent + std::size_t{1};
      const TokenId token = draft.tokens[node];
      const MaskPtr& before = made.rows[row];
      made.whole[node + 1] = made.whole[row];
      if (!before || token.value >= constraint_->vocabulary().width() || !before->bits.contains(token.value)) return;
      steps[node] = next_step(parent == Draft::kNoNode ? here() : place_after(parent), token, budget);
      TOKAMATA_CHECK(steps[node] || states().has_read_masks_, "a token that the mask allows leads on");
      if (!steps[node]) return;  // a mask from a file allows what the constraint does not
      depths[node + 1] = depths[row] + 1;
      make_mask(node + 1, place_after(node));
      made.legal[node] = true;
    };
    for (std::size_t node = 0; node < count; ++node) {
      try {
        judge(node);
      } catch (const LimitExceeded& error) {
        if (!takes_some || error.limit != "deadline_seconds") throw;
        std::fill(made.whole.begin() + static_cast<std::ptrdiff_t>(node) + 1, made.whole.end(), false);
        break;
      }
    }
    return made;
  });
}

}  // namespace tokamata
