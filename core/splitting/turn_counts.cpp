#include "splitting/turn_counts.hpp"

#include "common/hash.hpp"

namespace tokamata {

std::size_t TurnCounts::Hash::operator()(const Entry& entry) const {
  return mix(mix(entry.turns + 1, entry.outer), 2 * entry.is_empty + entry.is_free);
}

std::uint32_t TurnCounts::push(const Entry& entry) {
  const auto [place, is_new] = known_.try_emplace(entry, static_cast<std::uint32_t>(entries_.size()));
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
std::uint32_t TurnCounts::with_text(std::uint32_t counts) {
  if (counts == kNone || !entries_[counts].is_empty) return counts;
  std::vector<Entry> chain;
  for (; counts != kNone && entries_[counts].is_empty; counts = entries_[counts].outer) chain.push_back(entries_[counts]);
  for (auto inner = chain.rbegin(); inner != chain.rend(); ++inner)
    counts = push({counts, inner->turns, false, inner->is_free});
  return counts;
}

// Once a repetition may end, turns only use up what its maximum allows.
TurnCounts::Comparable TurnCounts::comparable(std::uint32_t counts) {
  if (!entries_[counts].is_free) return {counts, 0};
  if (groups_[counts] == kNone) {
    Entry group = entries_[counts];
    group.turns = kUnbounded;
    const std::uint32_t number = push(group);
    groups_[counts] = number;
  }
  return {groups_[counts], entries_[counts].turns};
}

}  // namespace tokamata
