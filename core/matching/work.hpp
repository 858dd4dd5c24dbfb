// The frame around every call that works; see constraint.hpp.
#pragma once

#include "common/within.hpp"
#include "matching/constraint.hpp"

namespace tokamata {

template <class Task>
auto Constraint::work(const Limits& limits, const std::shared_ptr<const CancelToken>& cancel, const Deadline& deadline,
                      double& spent_seconds, Task&& task) {
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
      // Masks are given up here, and expressions in `collect`; never within a task, which may be reading them.  The eighth
      // is for the next task.
      trim_masks(limits_.memory_bytes - limits_.memory_bytes / 8);
      if (account_.bytes() > limits.memory_bytes) throw LimitExceeded("memory_bytes", static_cast<double>(limits.memory_bytes));
      return result;
    } catch (const LimitExceeded& error) {
      spent_seconds = budget.spent_seconds();
      // What the call had built is garbage now, and so is what earlier calls left behind: with
      // that given up, the same call may well fit.
      const bool full = error.limit == "states" || error.limit == "memory_bytes";
      if (full) collect();  // also where the call fails for good: nobody needs what it has made
      if (!full || retried) throw;
    } catch (const Cancelled&) {
      spent_seconds = budget.spent_seconds();
      throw;
    }
  }
}

}  // namespace tokamata
