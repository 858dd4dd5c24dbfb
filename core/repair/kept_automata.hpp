// Byte automata that are kept between the repairs by one pattern (loans.hpp), with all states and transitions that they
// have made.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "expression/byte_automaton.hpp"
#include "repair/loans.hpp"
#include "repair/writings.hpp"

namespace tokamata {

class KeptAutomaton : private Accounted {
 public:
  KeptAutomaton(const ExpressionPtr& pattern, const Limits& limits, std::shared_ptr<const CancelToken> cancel)
      : depth_(limits.depth),
        automaton_(*pattern, LeafForms::Aliases{}, ByteSet::range(0x00, 0xFF), 1, limits, std::move(cancel)) {
    end_charging();
  }
  ~KeptAutomaton() { begin_charging(); }

  ByteAutomaton& automaton() { return automaton_; }
  // Of a machine; the latest few are kept.
  std::shared_ptr<Writings> writings(const std::shared_ptr<const EditMachine>& machine) {
    for (const std::shared_ptr<Writings>& one : writings_)
      if (&one->machine() == machine.get()) return one;
    if (writings_.size() == kMostMachines) writings_.erase(writings_.begin());
    writings_.push_back(
        std::allocate_shared<Writings>(CountedAllocator<Writings>(), machine, automaton_.byte_classes()));
    return writings_.back();
  }
  // The state that its over-approximation starts in.
  StateId relaxed_start(Budget& budget);
  void keep_only(std::span<StateId* const> states) {
    automaton_.keep_only(states);
    relaxed_start_.reset();
  }
  // Of the automaton, and of the search that has borrowed it.
  MemoryAccount& account() { return account_; }
  // Whether a search with these limits may use it.
  bool fits(const Limits& limits) const {
    return depth_ == limits.depth && account_.bytes() <= limits.memory_bytes / 4 &&
           automaton_.state_count() <= limits.states / 4;
  }

 private:
  static constexpr std::size_t kMostMachines = 4;

  std::uint32_t depth_;
  ByteAutomaton automaton_;
  counted::vector<std::shared_ptr<Writings>> writings_;
  std::optional<StateId> relaxed_start_;
};

using KeptAutomata = Lender<KeptAutomaton, ExpressionPtr>;

class BorrowedAutomaton : public Loan<KeptAutomaton, ExpressionPtr> {
 public:
  using Loan::Loan;
  ByteAutomaton& automaton() const { return borrowed().automaton(); }
};

// A state that accepts at least what another accepts and forgets what was written; itself where nothing is kept.
StateId over_approximation(ByteAutomaton& automaton, StateId state, Budget& budget);

// Nothing if the pattern accepts a text; otherwise the length of its longest beginning with which some text of the
// pattern may begin.  Of the states on the way only the last is needed: the others go before they fill the limits.  May
// end with LimitExceeded, Cancelled or std::bad_alloc.
std::optional<std::size_t> refused_at(const std::shared_ptr<KeptAutomata>& automata, std::string_view text,
                                      const Limits& limits, const std::shared_ptr<const CancelToken>& cancel);

// Whether the pattern accepts a text.  A broken text is mostly refused by the over-approximation, which knows its
// states from other texts: the states of a pattern that remembers what is written are those of one text.
bool is_accepted(const std::shared_ptr<KeptAutomata>& automata, std::string_view text, const Limits& limits,
                 const std::shared_ptr<const CancelToken>& cancel);

}  // namespace tokamata
