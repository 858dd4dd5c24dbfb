#include "programs/turn_counts.hpp"

#include "common/hash.hpp"

namespace tokamata {

std::size_t TurnCounts::Hash::operator()(const Entry& entry) const {
  return mix(mix(entry.turns + 1, entry.outer.value), 2 * entry.is_empty + entry.is_free);
}

CountsId TurnCounts::push(const Entry& entry) {
  const auto [place, is_new] = known_.try_emplace(entry, CountsId{static_cast<std::uint32_t>(entries_.size())});
  if (!is_new) return place->second;
  try {
    entries_.push_back(entry);
    groups_.push_back(kNone);
  } catch (...) {
    entries_.resize(groups_.size());
    known_.erase(place);
    throw;
  }
  return place->second;
}

// Where the innermost turn has read something, so have those around it.
CountsId TurnCounts::with_text(CountsId counts) {
  if (counts == kNone || !entries_[counts.value].is_empty) return counts;
  std::vector<Entry> chain;
  for (; counts != kNone && entries_[counts.value].is_empty; counts = entries_[counts.value].outer)
    chain.push_back(entries_[counts.value]);
  for (auto inner = chain.rbegin(); inner != chain.rend(); ++inner)
    counts = push({counts, inner->turns, false, inner->is_free});
  return counts;
}

// Once a repetition may end, turns only use up what its maximum allows.
TurnCounts::Comparable TurnCounts::comparable(CountsId counts) {
  if (!entries_[counts.value].is_free) return {counts, 0};
  if (groups_[counts.value] == kNone) {
    Entry group = entries_[counts.value];
    group.turns = kUnbounded;
    const CountsId number = push(group);
    groups_[counts.value] = number;
  }
  return {groups_[counts.value], entries_[counts.value].turns};
}

}  // namespace tokamata
