// What ends the work of a thread from outside, besides its cancel token: a signal such as Ctrl-C, or the end of the
// process.
//
// The engine knows of neither.  The bindings set an Interruption for a thread that works; every Budget asks it, and so
// do the waits for a lock that may be held for long.  A thread without one is never interrupted.
//
// Threads that the engine starts (matching/batch) work for the thread that started them: they are interrupted when that
// one is, by a RelayedInterruption.
#pragma once

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace tokamata {

// A token was cancelled, or the thread was interrupted; what the call was made on is unchanged.
struct Cancelled : std::runtime_error {
  Cancelled() : std::runtime_error("cancelled") {}

 protected:
  explicit Cancelled(const char* why) : std::runtime_error(why) {}
};
struct Interrupted : Cancelled {
  Interrupted() : Cancelled("interrupted") {}
};

class Interruption {
 public:
  using Clock = std::chrono::steady_clock;
  // How long a wait may last until the thread asks again.
  static constexpr std::chrono::milliseconds kPatience{20};

  virtual ~Interruption() = default;
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // Throws Interrupted if the work is to end.
  virtual void check(Clock::time_point now) = 0;

  // Of this thread; null: nothing interrupts it.
  static Interruption* current() { return current_; }
  static void check_current(Clock::time_point now) {
    if (current_) current_->check(now);
  }

  // While it lives, this thread has an interruption; afterwards the one before.
  class Set {
   public:
    explicit Set(Interruption* interruption) : before_(std::exchange(current_, interruption)) {}
    ~Set() { current_ = before_; }
    Set(const Set&) = delete;
    Set& operator=(const Set&) = delete;

   private:
    Interruption* before_;
  };

 protected:
  Interruption() = default;

 private:
  static inline constinit thread_local Interruption* current_ = nullptr;
};

// Of a thread that works for another one: it ends once `is_over` is set.
class RelayedInterruption final : public Interruption {
 public:
  explicit RelayedInterruption(const std::atomic<bool>& is_over) : is_over_(is_over) {}
  void check(Clock::time_point) override {
    if (is_over_.load(std::memory_order_relaxed)) throw Interrupted();
  }

 private:
  const std::atomic<bool>& is_over_;
};

}  // namespace tokamata
