#include "composition/mask_memo.hpp"

#include <algorithm>

namespace tokamata {

const MaskPtr* MaskMemo::find(TokenConfiguration configuration) const {
  if (configuration.at_start) return start_mask_ ? &start_mask_.shared() : nullptr;
  const Known* const known = known_.find(configuration.state);
  const Known* const holder = known ? known_.find(known->holder) : nullptr;
  return holder && holder->mask ? &holder->mask.shared() : nullptr;
}

void MaskMemo::keep(StateId holder, MaskPtr mask) {
  TOKAMATA_CHECK(is_counted(operands_.vocabulary(), *mask), "a mask that is kept knows how many tokens it allows");
  Known& known = known_[holder];
  holders_.push_back(holder);
  known.mask = Kept(std::move(mask));
}

const MaskPtr& MaskMemo::keep_start(MaskPtr mask) {
  TOKAMATA_CHECK(is_counted(operands_.vocabulary(true), *mask), "a mask that is kept knows how many tokens it allows");
  start_mask_ = Kept(std::move(mask));
  return start_mask_.shared();
}

void MaskMemo::keep_row(SharedWords row) {
  held_rows_.push_back(Kept(std::make_shared<const HeldRow>(HeldRow{std::move(row)})));
}

void MaskMemo::trim(std::size_t limit) {
  // The newest mask stays: it is the one that is most likely requested next.
  while (holders_.size() > 1 && Charge::bytes() > limit) {
    known_[holders_.front()].mask = {};
    holders_.pop_front();
    oldest_serial_ = held(holders_.front())->serial;
  }
}

MaskMemo::Taken MaskMemo::take(std::span<StateId* const> states) {
  Taken masks;
  for (StateId* state : states)
    if (const MaskPtr* mask = find({*state, false})) masks.emplace_back(*mask, state);
  known_.clear();
  release(holders_);
  return masks;
}

void MaskMemo::put_back(Taken masks) {
  std::ranges::sort(masks, {}, [](const auto& kept) { return kept.first->serial; });
  StateId holder{};
  for (const auto& [mask, state] : masks) {  // those that share a mask are neighbours now
    if (holders_.empty() || held(holder) != mask) keep(holder = *state, mask);
    share(*state, holder);
  }
  oldest_serial_ = masks.empty() ? next_serial_ : masks.front().first->serial;
}

}  // namespace tokamata
