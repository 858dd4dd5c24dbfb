// The frame around every call that works; see constraint.hpp.
#pragma once

#include "common/within.hpp"
#include "matching/matcher.hpp"

namespace tokamata {

template <class Task>
auto SharedConstraint::work(const Limits& limits, const std::shared_ptr<const CancelToken>& cancel,
                            const Deadline& deadline, double& spent_seconds, Task&& task) {
  const auto lock = locked(deadline);
  const Charge charge(account_);
  for (bool retried = false;; retried = true) {
    Budget budget(limits, cancel, spent_seconds, deadline);
    try {
      if (deadline.is_set()) budget.check();  // which short work never does
      auto result = [&] {
        is_working_ = true;
        const Undo done([this] { is_working_ = false; });
        return task(budget);
      }();
      spent_seconds = budget.spent_seconds();
      // Masks are given up here, and expressions in `collect`; never within a task, which may be reading them.  The
      // eighth is for the next task.
      trim_masks(most_bytes_ - most_bytes_ / 8);
      if (account_.bytes() > limits.memory_bytes)
        throw LimitExceeded("memory_bytes", static_cast<double>(limits.memory_bytes));
      return result;
    } catch (const LimitExceeded& error) {
      spent_seconds = budget.spent_seconds();
      const bool lacks_states = error.limit == "states", lacks_memory = error.limit == "memory_bytes";
      if (!lacks_states && !lacks_memory) throw;
      // What the call had built is garbage now, and so is what earlier calls left: with that given up, the same call
      // may well fit.  Where others allow more, it is theirs.
      const bool is_largest = lacks_states ? limits.states >= most_states_ : limits.memory_bytes >= most_bytes_;
      if (is_largest) collect();  // also where the call fails for good: nobody needs what it has made
      if (is_largest && !retried) continue;
      if (callers_ > 1) throw Crowded(error);
      throw;
    } catch (const Cancelled&) {
      spent_seconds = budget.spent_seconds();
      throw;
    }
  }
}

template <class Task>
auto Matcher::work(const Deadline& deadline, Task&& task) {
  struct Moved {};
  if (&states() != &constraint_->states()) move(deadline);
  while (true) {
    SharedConstraint& states = this->states();
    try {
      return states.work(constraint_->limits_, constraint_->cancel_, deadline, spent_seconds_, [&](Budget& budget) {
        if (&states != &this->states()) throw Moved();
        return task(budget);
      });
    } catch (const Moved&) {  // by another thread, while this one waited for the lock
    } catch (const Crowded&) {
      move(deadline);
    }
  }
}

}  // namespace tokamata
