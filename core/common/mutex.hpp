// A lock that a forked process can still use, or that says why it cannot.
//
// Problem.  fork() copies the memory of a process, but only the thread that called it.  A lock that another thread held
// stays locked in the child for ever, and what it guards may be half changed.
// How.  Every Mutex is in a list.  Before a fork, `Fork::prepare` takes all that it gets within kPatience: what they
// guard is whole, and after the fork parent and child release them.  The others, whose threads are in the middle of
// long work, are *orphaned* in the child: there each use throws Orphaned, and their owner is never destroyed, since its
// parts may be half changed.
// Example.  Thread A fills a mask of constraint 1 for a second; thread B forks.  In the child, constraint 2 works as
// before; a matcher of constraint 1 throws at once, where it used to wait for ever.
// Cost.  An entry in a list for each mutex, and the number of the thread that holds it.
// Not taken.  Waiting until all threads have left the engine: a fork would take as long as the longest call.
// pthread_atfork: Python calls its own functions around its forks alone, on every system that has them.
//
// A thread that asks for a mutex which it holds itself has been interrupted by a handler of signals (interruption.hpp),
// and would wait for itself: lock() throws HeldBySelf.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace tokamata {

// The process was forked while another thread worked on this.
struct Orphaned : std::runtime_error {
  Orphaned() : std::runtime_error("forked while another thread worked on this") {}
};
struct HeldBySelf : std::runtime_error {
  HeldBySelf() : std::runtime_error("the call that was interrupted works on this") {}
};

class Mutex {
 public:
  using Clock = std::chrono::steady_clock;
  // What the mutex is a part of, so that it can be kept; may be none.
  using Owner = std::function<std::shared_ptr<const void>()>;

  explicit Mutex(Owner owner = {});
  ~Mutex();
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock();
  bool try_lock();
  bool try_lock_until(Clock::time_point end);
  // The same as lock(), for waits that may be long: throws Interrupted if the thread is interrupted meanwhile.
  void lock_interruptibly();
  void unlock();

 private:
  friend class Fork;

  void refuse_where_hopeless() const;
  bool taken(bool is_locked);

  std::timed_mutex mutex_;
  std::atomic<std::thread::id> holder_{};
  bool is_orphaned_ = false;  // set while the process has one thread
  Owner owner_;
  Mutex *before_ = nullptr, *after_ = nullptr;  // in the list of all
};

// What is called around a fork, by the thread that forks.
class Fork {
 public:
  static constexpr std::chrono::milliseconds kPatience{50};

  static void prepare();
  static void in_parent();
  static void in_child();
};

}  // namespace tokamata
