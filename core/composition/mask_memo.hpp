// The masks of states that are kept, the oldest of which are dropped first.
//
// States share masks: one of them *holds* a mask, and others know whose it is.  So ten thousand positions of a JSON
// text have a few hundred masks.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "common/memory_account.hpp"
#include "composition/mask.hpp"
#include "composition/operands.hpp"
#include "composition/state_table.hpp"
#include "composition/token_liveness.hpp"

namespace tokamata {

class MaskMemo {
 public:
  // Of operands that outlive it.
  explicit MaskMemo(Operands& operands) : operands_(operands), known_(operands.automaton()) {}

  // The mask of a configuration; null where it is not known.
  const MaskPtr* find(TokenConfiguration configuration) const;
  // The mask that a state holds; null if it holds none.
  const MaskPtr& held(StateId holder) { return known_[holder].mask.shared(); }
  // Whose mask a state has, if it has one.
  StateId holder(StateId state) { return known_[state].holder; }

  void keep(StateId holder, MaskPtr mask);
  void share(StateId state, StateId holder) { known_[state].holder = holder; }
  // The mask of the empty text, where the first token may have other bytes.
  const MaskPtr& keep_start(MaskPtr mask);
  const MaskPtr& start_mask() const { return start_mask_.shared(); }
  // Keeps a row that masks which were read from a file share, and which the vocabulary does not have.
  void keep_row(SharedWords row);

  // A bound on the tokens that are needed after any token of a state's mask; kEndless: not known.
  std::uint64_t most_after(StateId state) const {
    const Known* const known = known_.find(state);
    return known ? known->most_after : TokenLiveness::kEndless;
  }
  void note_most_after(StateId state, std::uint64_t tokens) { known_[state].most_after = tokens; }

  // The number of the next mask that is made.
  std::uint64_t take_serial() { return next_serial_++; }
  // Masks with a smaller serial have been dropped.  It needs no lock.
  std::uint64_t oldest_serial() const { return oldest_serial_; }

  // Drops masks, oldest first, until the account holds no more than `limit` bytes or one mask is left.
  void trim(std::size_t limit);

  // Compaction: takes out the masks of some states and forgets the others; then the states get their new numbers, and
  // the masks are put back.
  using Taken = std::vector<std::pair<MaskPtr, StateId*>>;
  Taken take(std::span<StateId* const> states);
  void put_back(Taken masks);

 private:
  struct Known {
    StateId holder{~std::uint32_t{0}};
    Kept<Mask> mask;
    std::uint64_t most_after = TokenLiveness::kEndless;
  };
  struct HeldRow {
    SharedWords words;
    std::size_t memory_bytes() const { return shared_block_bytes<Words>() + block_bytes_of(*words); }
  };

  Operands& operands_;
  StateTable<Known> known_;
  Kept<Mask> start_mask_;
  counted::vector<Kept<HeldRow>> held_rows_;
  counted::deque<StateId> holders_;  // oldest first
  std::uint64_t next_serial_ = 0;
  std::atomic<std::uint64_t> oldest_serial_ = 0;  // read without the lock
};

}  // namespace tokamata
