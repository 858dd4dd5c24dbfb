// Byte automata that are kept between the repairs by one pattern.
//
// Problem.  To repair a kilobyte of JSON takes a millisecond of search and another of derivatives, nearly all of which
// the repair before has made, too.  A program of 14 kB in Java takes 60 ms of them before its first mistake.
// How.  A search borrows an automaton of its pattern, and gives it back with all states and transitions that it has
// made.  Idle ones of all patterns are kept together, and the oldest goes first where they hold more than
// kMostIdleBytes.  A search that finds none idle, since another thread has it, makes one.
// Memory.  A borrowed automaton and its search charge to one account, so an automaton is not reused where it would take
// more than a quarter of what the search may have.
//
// Contract.
//   - Lifetimes.  What is borrowed may outlive its KeptAutomata.
//   - Locks.  Any thread may borrow and give back.  One thread at a time uses what is borrowed.
//   - Errors.  `borrow` may end with LimitExceeded, Cancelled or std::bad_alloc.  An automaton is whole after any error
//     (byte_automaton.hpp), so it may be given back.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "expression/byte_automaton.hpp"
#include "repair/writings.hpp"

namespace tokamata {

class KeptAutomaton : private Accounted {
 public:
  KeptAutomaton(const Expression& pattern, const Limits& limits, std::shared_ptr<const CancelToken> cancel)
      : depth_(limits.depth),
        automaton_(pattern, Arena::Aliases{}, ByteSet::range(0x00, 0xFF), 1, limits, std::move(cancel)) {
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

class KeptAutomata {
 public:
  static constexpr std::size_t kMostIdleBytes = std::size_t{128} << 20;  // of all patterns

  explicit KeptAutomata(ExpressionPtr pattern) : pattern_(std::move(pattern)) {}
  ~KeptAutomata();
  KeptAutomata(const KeptAutomata&) = delete;
  KeptAutomata& operator=(const KeptAutomata&) = delete;

  std::unique_ptr<KeptAutomaton> borrow(const Limits& limits, const std::shared_ptr<const CancelToken>& cancel);
  void give_back(std::unique_ptr<KeptAutomaton> borrowed) noexcept;

  // Of all patterns.
  static std::size_t idle_bytes();

 private:
  ExpressionPtr pattern_;
};

// A loan: it gives the automaton back, whatever happens.  As a base, its members are charged to the account of the
// automaton from the first to the last, as those of Accounted are.
class BorrowedAutomaton {
 public:
  BorrowedAutomaton(std::shared_ptr<KeptAutomata> from, const Limits& limits,
                    const std::shared_ptr<const CancelToken>& cancel)
      : from_(std::move(from)), begun_(Budget::Clock::now()), kept_(from_->borrow(limits, cancel)) {
    begin_charging();
  }
  ~BorrowedAutomaton() {
    end_charging();
    from_->give_back(std::move(kept_));
  }
  BorrowedAutomaton(const BorrowedAutomaton&) = delete;
  BorrowedAutomaton& operator=(const BorrowedAutomaton&) = delete;

  ByteAutomaton& automaton() const { return kept_->automaton(); }
  KeptAutomaton& kept() const { return *kept_; }
  MemoryAccount& account() const { return kept_->account(); }
  double age_seconds() const { return std::chrono::duration<double>(Budget::Clock::now() - begun_).count(); }

 protected:
  void begin_charging() { charge_.emplace(account()); }
  void end_charging() { charge_.reset(); }

 private:
  std::shared_ptr<KeptAutomata> from_;
  Budget::Clock::time_point begun_;
  std::unique_ptr<KeptAutomaton> kept_;
  std::optional<Charge> charge_;
};

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
