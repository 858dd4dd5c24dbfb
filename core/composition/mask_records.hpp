// Masks of a token automaton and the bytes that reach their states: taken from one automaton, put back into another.
//
// Problem.  A process has computed thousands of states and masks; the next one begins with none.  The states are
// expressions of an arena, which are large and refer to rules and tables.  Only the constraint itself says what they
// mean.
// How.  A state is recorded as the bytes that lead to it from the start, or from a state that was recorded before it.
// These are found by a breadth-first search over the transitions that are known.  Another automaton of the same
// constraint reads the bytes and is in the same state.  So no record can bring it into a state that does not exist, and
// all transitions are exact.
// Example.  [a-z]{1,9}= of which "ab=" was read:   0: ""  1: 0 + "a"  2: 1 + "b"  3: 2 + "=", each with the number of
// its mask.
// States share masks.  A mask is recorded once, and put back where the automaton looks for it: at the clipped state, or
// at that of the over-approximation, so that states which were not recorded find it too.  With it goes what the
// automaton knows about it:  what its tokens leave to be written, which of them the exact state must judge, and the
// questions that lead to it in the memo of stacks (stack_memo.hpp).
// Cost.  Of a record: a search of the graph, once; of reading: a derivative for each byte, the tables of terminals and
// rules as a text needs them.  10,000 states of a JSON schema: benchmarks/results/kept.md.
// Rejected.  Expressions and transitions as they are in memory: a thousand times as large as the constraint, and each
// index in them would have to be checked.  Tokens in place of bytes: several tokens lead along the same bytes, and
// finding one for each state is a walk of the vocabulary.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "composition/mask.hpp"
#include "composition/stack_memo.hpp"
#include "composition/token_automaton.hpp"

namespace tokamata {

struct MaskRecords {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct State {
    std::uint32_t parent = 0;       // a state before it; of the start state, itself
    std::uint32_t symbols_end = 0;  // its own begin where those of the state before it end
    std::uint32_t mask = kNone;
    std::uint64_t most_after = 0;  // TokenAutomaton::most_after
    bool holds = false;            // the mask is its own, and not that of a clipped or over-approximated state
  };
  struct Shared {
    MaskPtr mask;
    bool is_at_states = false;  // it is only known to be the mask of the states that are recorded with it
    std::uint64_t most_after = 0;
    std::vector<std::uint32_t> unverified = {};
    std::vector<StackMemo::Question> questions = {};
  };

  std::vector<State> states;           // each after its parent
  std::vector<std::uint32_t> symbols;  // Symbol::value
  std::vector<Shared> masks;
  std::uint32_t start_mask = kNone;  // of the empty text, where the first token may have other bytes

  std::span<const std::uint32_t> symbols_of(std::size_t state) const {
    const std::uint32_t begin = state == 0 ? 0 : states[state - 1].symbols_end;
    return std::span(symbols).subspan(begin, states[state].symbols_end - begin);
  }
};

// Reads and changes what a token automaton keeps.  One thread at a time, as for the automaton.
class MaskRecorder {
 public:
  explicit MaskRecorder(TokenAutomaton& automaton)
      : operands_(automaton.operands()), rule_masks_(automaton.rule_masks()), memo_(rule_masks_.memo()) {}

  // Of an automaton whose states were freed before, masks are only known to be those of the states that have them.
  MaskRecords records(bool had_collection) const;

  // The states of the records, as many as there is room for before the automaton has so many states and bytes; nothing
  // if a record leads to no state.
  std::optional<std::vector<StateId>> walk(const MaskRecords& records, std::size_t most_states, std::size_t most_bytes,
                                           Budget& budget);
  // Whether each mask has the stop tokens where its state is accepted, and has none elsewhere.
  bool are_accepted(const MaskRecords& records, std::span<const StateId> states) const;
  // Puts back their masks, as many as there is room for, and counts the states that get one.
  void install(const MaskRecords& records, std::span<const StateId> states, std::size_t most_bytes, std::size_t& count,
               Budget& budget);
  // Of masks that are given back: rows that several of them share, which the vocabulary does not have.
  void hold(SharedWords row) { memo_.keep_row(std::move(row)); }

 private:
  std::optional<StateId> derived_holder(StateId state, Budget& budget);
  MaskPtr numbered(const MaskRecords::Shared& shared);
  void put(StateId holder, const MaskRecords::Shared& shared, Budget& budget);

  Operands& operands_;
  RuleMasks& rule_masks_;
  MaskMemo& memo_;
};

}  // namespace tokamata
