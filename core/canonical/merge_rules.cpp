#include "canonical/merge_rules.hpp"

#include <bit>

namespace tokamata {

MergeRules::MergeRules(std::span<const Merge> merges)
    : shift_(static_cast<unsigned>(std::countl_zero(std::bit_ceil(2 * merges.size() + 2) - 1))),
      slots_(std::bit_ceil(2 * merges.size() + 2), Merge{kNone, kNone, kNone, 0}) {
  for (const Merge& merge : merges)
    if (Merge& slot = slots_[slot_of(merge.left, merge.right)]; slot.left == kNone) slot = merge;
}

void MergeEncoder::offer(const std::vector<std::uint32_t>& parts, std::uint32_t at) {
  if (at == MergeRules::kNone || next_[at] == MergeRules::kNone) return;
  const Merge* merge = rules_.find(parts[at], parts[next_[at]]);
  if (!merge) return;
  possible_.add({merge->rank, at, merge->left, merge->right, merge->result});
}

void MergeEncoder::encode(std::vector<std::uint32_t>& parts, std::size_t until) {
  constexpr std::uint32_t kNone = MergeRules::kNone;
  const auto size = static_cast<std::uint32_t>(parts.size());
  next_.resize(size);
  previous_.resize(size);
  for (std::uint32_t i = 0; i < size; ++i) {
    next_[i] = i + 1 < size ? i + 1 : kNone;
    previous_[i] = i > 0 ? i - 1 : kNone;
  }
  possible_.clear();
  for (std::uint32_t i = 0; i < size; ++i) offer(parts, i);
  for (std::size_t left = size; left > until && !possible_.empty();) {
    const Possible merge = possible_.take();
    if (parts[merge.at] != merge.left || next_[merge.at] == kNone || parts[next_[merge.at]] != merge.right) continue;
    const std::uint32_t gone = next_[merge.at];
    parts[merge.at] = merge.result;
    parts[gone] = kNone;
    next_[merge.at] = next_[gone];
    if (next_[gone] != kNone) previous_[next_[gone]] = merge.at;
    --left;
    offer(parts, previous_[merge.at]);
    offer(parts, merge.at);
  }
  std::erase(parts, kNone);
}

}  // namespace tokamata
