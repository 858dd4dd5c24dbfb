// The loops of states (loops.hpp), each found once.
#pragma once

#include "common/memory_account.hpp"
#include "composition/loops.hpp"
#include "composition/operands.hpp"
#include "composition/state_table.hpp"
#include "composition/token_liveness.hpp"

namespace tokamata {

class StateLoops {
 public:
  // Of what outlives it.
  StateLoops(Operands& operands, TokenLiveness& liveness)
      : operands_(operands), liveness_(liveness), automaton_(operands.automaton()), known_(operands.automaton()) {}

  // The code points that a state can read repeatedly.  The reference is good until the next call; the loops
  // themselves stay where they are until `clear`.
  const counted::vector<Loop>& of(StateId state, Budget& budget);
  // Whether a terminal is text of nearly any characters, which may end after nearly each of them, and which its
  // expression does not show to be so: a complement.  Its segment would have all that may follow any character.
  bool is_free_text(ExpressionId terminal, Budget& budget);

  // To be called when states get other numbers.
  void clear() { known_.clear(); }

 private:
  struct Known {
    counted::vector<Loop> loops;
    bool is_known = false;
  };
  bool leads_back(StateId state, Budget& budget);

  Operands& operands_;
  TokenLiveness& liveness_;
  ByteAutomaton& automaton_;
  StateTable<Known> known_;
};

}  // namespace tokamata
