// What is known of states, by their numbers: a list that grows with the automaton.
#pragma once

#include "common/check.hpp"
#include "common/memory_account.hpp"
#include "expression/byte_automaton.hpp"

namespace tokamata {

// `Entry` as it is made says that nothing is known.
template <class Entry>
class StateTable {
 public:
  explicit StateTable(const ByteAutomaton& automaton) : automaton_(automaton) {}

  // Good until the next call.
  Entry& operator[](StateId state) {
    TOKAMATA_CHECK(state.value < automaton_.state_count(), "a state is one of the automaton's");
    if (state.value >= entries_.size()) entries_.resize(automaton_.state_count());
    return entries_[state.value];
  }
  // Null where nothing was noted of this state or a later one.
  const Entry* find(StateId state) const { return state.value < entries_.size() ? &entries_[state.value] : nullptr; }
  // To be called when states get other numbers.
  void clear() { release(entries_); }

 private:
  const ByteAutomaton& automaton_;
  counted::deque<Entry> entries_;  // nothing is moved where it grows, which would take as long as a mask
};

}  // namespace tokamata
