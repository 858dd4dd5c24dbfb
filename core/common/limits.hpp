// What a caller lets the engine spend, and the errors that say it was spent.
//
// A Budget is made at the start of every call that works and is asked at every step of every
// loop that can be long.  Asking costs an increment; the memory is examined once in 16 steps, the clock once in 4 where
// there is a deadline, and all else once in 256: the cancel token, what may interrupt the thread, and Limits::seconds.
// Reading the clock takes as long as a step or less.  A step may take a derivative of a large expression, so that 16 of
// them may be a quarter of a millisecond.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

#include "common/interruption.hpp"
#include "common/memory_account.hpp"

namespace tokamata {

struct Limits {
  std::size_t states = std::numeric_limits<std::size_t>::max();
  std::size_t memory_bytes = std::numeric_limits<std::size_t>::max();
  double seconds = std::numeric_limits<double>::infinity();
  std::uint32_t depth = 1000;
};

// Set by any thread; read by the ones that work.
class CancelToken {
 public:
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> cancelled_{false};
};

// When a call has to end, whatever is left of Limits::seconds; `seconds` is what its caller gave it.
struct Deadline {
  using Clock = std::chrono::steady_clock;

  Clock::time_point at = Clock::time_point::max();
  double seconds = std::numeric_limits<double>::infinity();

  static Deadline after(double seconds) {
    constexpr double kLongest = 1e9;  // beyond which a time point has no number
    if (!(seconds < kLongest)) return {};
    return {Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)),
            seconds};
  }
  bool is_set() const { return at != Clock::time_point::max(); }
  // The same, but with so much time from now on at least.
  Deadline at_least(Clock::duration time) const {
    return is_set() ? Deadline{std::max(at, Clock::now() + time), seconds} : *this;
  }
};

// `limit` is the name of the field of Limits that was passed, or "deadline_seconds"; `position` is an offset into the
// pattern, or -1 where none is known.
struct LimitExceeded : std::runtime_error {
  LimitExceeded(std::string limit_name, double bound_value, std::int64_t where = -1)
      : std::runtime_error("limit exceeded: " + limit_name),
        limit(std::move(limit_name)),
        bound(bound_value),
        position(where) {}
  std::string limit;
  double bound;
  std::int64_t position;
};

class Budget {
 public:
  using Clock = Deadline::Clock;

  // `spent_seconds` is what earlier calls on the same time budget used.  The memory is that of the account which the
  // thread charges to (memory_account.hpp).  Nothing is freed where it is looked at: it might be in use.
  Budget(const Limits& limits, std::shared_ptr<const CancelToken> cancel, double spent_seconds,
         const Deadline& deadline = {})
      : limits_(limits), cancel_(std::move(cancel)), spent_(spent_seconds), start_(Clock::now()) {
    set_deadline(deadline);
  }
  Budget(const Budget&) = delete;  // a copy's steps would count twice
  Budget& operator=(const Budget&) = delete;
  ~Budget() { steps_of_thread() += steps_; }

  // The steps of all calls of this thread that have ended: the work, which is the same in every run, unlike its time.
  // Tests bound it.
  static std::uint64_t& steps_of_thread() {
    static thread_local std::uint64_t steps = 0;
    return steps;
  }

  // One step of work.  A step may make a list of all alternatives of a state, so memory is looked at more often.
  void step() {
    if ((++steps_ & unasked_) != 0) return;
    if ((steps_ & 0xff) == 0) return check();
    if ((steps_ & 0xf) == 0) check_memory();
    if (deadline_.is_set()) check_deadline(Clock::now());
  }

  void check() const {
    if (cancel_ && cancel_->cancelled()) throw Cancelled();
    const Clock::time_point now = Clock::now();
    Interruption::check_current(now);
    if (spent_seconds(now) > limits_.seconds) throw LimitExceeded("seconds", limits_.seconds);
    check_deadline(now);
    check_memory();
  }
  void check_memory() const {
    if (Charge::bytes() > limits_.memory_bytes)
      throw LimitExceeded("memory_bytes", static_cast<double>(limits_.memory_bytes));
  }

  // From now on this is the deadline.
  void set_deadline(const Deadline& deadline) {
    deadline_ = deadline;
    unasked_ = deadline.is_set() ? 0x3 : 0xf;
  }
  bool has_deadline() const { return deadline_.is_set(); }

  double spent_seconds() const { return spent_seconds(Clock::now()); }
  const Limits& limits() const { return limits_; }

 private:
  void check_deadline(Clock::time_point now) const {
    if (now >= deadline_.at) throw LimitExceeded("deadline_seconds", deadline_.seconds);
  }
  double spent_seconds(Clock::time_point now) const {
    return spent_ + std::chrono::duration<double>(now - start_).count();
  }

  Limits limits_;
  std::shared_ptr<const CancelToken> cancel_;
  Deadline deadline_;
  double spent_;
  Clock::time_point start_;
  std::uint64_t steps_ = 0;
  std::uint64_t unasked_ = 0;  // bits of the number of a step at which something is asked: none is set
};

}  // namespace tokamata
