// What may follow an alternative that a walk of rules follows: lists of expressions that share their ends, and forks.
//
// Problem.  An alternative of a grammar stands before the rest of its rule, before the rest of the rule around that,
// and so on.  As expressions, each concatenation would be added to the arena; and where readings meet, a union of them
// would be a node for each element of each stack (2 GB for a Java file).
// How.  A *rest* is an expression and the rest after it.  What several readings begin with is followed once, before a
// *fork*: the list of what may follow it, which grows while readings are found.  A fork is *closed* where it was read
// before all were known; what comes later gets another fork.  It is *passed* where what may follow was split already;
// what comes later is split as well.
// Example.  After the operand of  a + b  stands  * c …  or  ) …: a fork of two rests.
// Source.  The graph-structured stack, Tomita 1985.
// Cost.  A look-up for each rest; what is known of a rest is computed once, the last part of it first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "common/hash.hpp"
#include "common/ids.hpp"
#include "common/memory_account.hpp"
#include "common/visited.hpp"
#include "composition/beginnings.hpp"
#include "expression/arena.hpp"

namespace tokamata {

using RestId = Id<struct RestTag>;

// A list of expressions; or a fork, whose `next` is Rests::kNothing.
struct Rest {
  static constexpr std::uint32_t kNoFork = ~std::uint32_t{0};
  ExpressionId first;
  RestId next;
  std::uint32_t fork = kNoFork;
  bool is_measured = false;                 // the following are only known once its forks are complete
  std::optional<ExpressionId> joined = {};  // with all that follows, once it was computed
  bool is_unverified = false;               // somewhere
  bool begins_unverified = false;           // at its first byte
  std::uint64_t spelled = 0;                // bytes, as for expressions
  ByteSet begins = {};                      // a superset of the bytes that it may begin with
  bool waits = false;                       // for a choice, somewhere

  bool is_fork() const { return fork != kNoFork; }
  Follow follow() const { return begins.intersects(kWordBytes) ? Follow::AnyByte : Follow::NoWord; }
};

class Rests {
 public:
  // kExit: the end of the part whose segment is made.
  static constexpr RestId kNothing{0}, kExit{1};

  // Of what outlives it.
  Rests(Arena& arena, Beginnings& beginnings) : arena_(arena), beginnings_(beginnings) { clear(); }
  // Forgets all rests but those two.
  void clear();

  // Good until the next rest is put.
  const Rest& operator[](RestId rest) const { return rests_[rest.value]; }
  RestId put(ExpressionId first, RestId next);
  void set_exit(const ByteSet& begins) { rests_[kExit.value].begins = begins; }

  std::uint32_t new_fork() {
    forks_.emplace_back();
    return static_cast<std::uint32_t>(forks_.size() - 1);
  }
  void add(std::uint32_t fork, RestId rest);
  bool is_closed(std::uint32_t fork) const { return forks_[fork].is_closed; }
  bool is_passed(std::uint32_t fork) const { return forks_[fork].is_passed; }
  // A rest that is the fork; or the only rest that it has, so far.
  RestId put_fork(std::uint32_t fork);
  RestId put_complete(std::uint32_t fork) { return forks_[fork].others.empty() ? *forks_[fork].first : put_fork(fork); }
  template <class Visit>
  void for_each_of(std::uint32_t fork, Visit&& visit) const {
    forks_[fork].for_each(visit);
  }

  // Of all that may follow, the most; to be called once the forks in it are complete.
  const Rest& measured(RestId rest);
  // All that may follow, as an expression.  The forks in it are closed.
  ExpressionId joined(ExpressionId first, RestId rest);
  // `visit(rest, first, next)` for what a rest begins with; for each of the alternatives if it is a fork, which may be
  // closed.  What was met before is left out.
  using Met = Visited<std::uint32_t, NumberHash>;
  template <class Visit>
  void for_each_part(RestId rest, bool closes, Met& met, Visit&& visit);
  // `visit(expression)` for all that a rest may begin with, past what may be empty.
  template <class Visit>
  void for_each_front(RestId rest, Visit&& visit);
  // Computes what `is_known` asks for, of a rest and of all that follows it, the last first.
  template <class IsKnown, class Compute>
  void compute_along(RestId rest, IsKnown&& is_known, Compute&& compute);

 private:
  struct Fork {
    std::optional<RestId> first;  // of what may follow; mostly there is no other
    std::vector<RestId> others;
    bool is_closed = false;
    bool is_passed = false;

    template <class Visit>
    void for_each(Visit&& visit) const {
      if (first) visit(*first);
      std::ranges::for_each(others, visit);
    }
  };
  void measure(Rest& at);
  bool is_unverified(ExpressionId expression) const;

  Arena& arena_;
  Beginnings& beginnings_;
  counted::vector<Rest> rests_;
  VisitedMap<std::uint64_t, RestId, NumberHash> ids_;  // by first and next
  counted::vector<Fork> forks_;
  counted::vector<RestId> along_,
      parts_of_;  // buffers of compute_along and for_each_part
  Met met_;       // of for_each_front
};

template <class Visit>
void Rests::for_each_part(RestId rest, bool closes, Met& met, Visit&& visit) {
  counted::vector<RestId>& open = parts_of_;
  open.assign(1, rest);
  while (!open.empty()) {
    const RestId at = open.back();
    open.pop_back();
    if (at == kNothing) continue;
    const Rest n = rests_[at.value];
    if (!met.insert(n.is_fork() ? ~n.fork : at.value)) continue;  // a fork may stand in many rests
    if (!n.is_fork()) {
      visit(at, n.first, n.next);
    } else {
      forks_[n.fork].is_closed |= closes;
      forks_[n.fork].is_passed = true;
      forks_[n.fork].for_each([&open](RestId next) { open.push_back(next); });
    }
  }
}

template <class Visit>
void Rests::for_each_front(RestId rest, Visit&& visit) {
  std::vector<RestId> open{rest};
  met_.clear();
  while (!open.empty()) {
    const RestId at = open.back();
    open.pop_back();
    if (at == kNothing || !met_.insert(at.value)) continue;
    const Rest& n = rests_[at.value];
    if (n.is_fork()) {
      forks_[n.fork].for_each([&open](RestId next) { open.push_back(next); });
      continue;
    }
    visit(n.first);
    if (arena_.pool().node(n.first).nullable) open.push_back(n.next);
  }
}

template <class IsKnown, class Compute>
void Rests::compute_along(RestId rest, IsKnown&& is_known, Compute&& compute) {
  counted::vector<RestId>& open = along_;
  open.assign(1, rest);
  while (!open.empty()) {
    const RestId at = open.back();
    const std::size_t before = open.size();
    const auto await = [&](RestId next) {
      if (!is_known(next)) open.push_back(next);
    };
    if (const Rest& n = rests_[at.value]; !n.is_fork()) await(n.next);
    else forks_[n.fork].for_each(await);
    if (open.size() > before) continue;
    if (!is_known(at)) compute(at);
    open.pop_back();
  }
}

}  // namespace tokamata
