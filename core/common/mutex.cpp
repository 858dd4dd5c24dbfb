#include "common/mutex.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/interruption.hpp"

namespace tokamata {

namespace {

// All mutexes there are.  Neither list is destroyed at the end of the process, when threads may still work.
struct Register {
  std::mutex mutex;
  Mutex* first = nullptr;
  std::vector<Mutex*> taken;                           // by `prepare`
  std::vector<std::shared_ptr<const void>> kept = {};  // owners of what was orphaned

  static Register& of_all() {
    static Register& all = *new Register;
    return all;
  }
};

// The thread sanitizer of GCC 12 does not know the timed lock of pthread, and takes what follows it for races.
bool locked_until(std::timed_mutex& mutex, Mutex::Clock::time_point end) {
#ifdef __SANITIZE_THREAD__
  while (!mutex.try_lock()) {
    if (Mutex::Clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return true;
#else
  return mutex.try_lock_until(end);
#endif
}

}  // namespace

Mutex::Mutex(Owner owner) : owner_(std::move(owner)) {
  Register& all = Register::of_all();
  const std::lock_guard lock(all.mutex);
  after_ = std::exchange(all.first, this);
  if (after_) after_->before_ = this;
}

Mutex::~Mutex() {
  Register& all = Register::of_all();
  const std::lock_guard lock(all.mutex);
  (before_ ? before_->after_ : all.first) = after_;
  if (after_) after_->before_ = before_;
}

void Mutex::refuse_where_hopeless() const {
  if (is_orphaned_) throw Orphaned();
  if (holder_.load(std::memory_order_relaxed) == std::this_thread::get_id()) throw HeldBySelf();
}

bool Mutex::taken(bool is_locked) {
  if (is_locked) holder_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  return is_locked;
}

void Mutex::lock() {
  refuse_where_hopeless();
  mutex_.lock();
  taken(true);
}

bool Mutex::try_lock() {
  if (is_orphaned_ || holder_.load(std::memory_order_relaxed) == std::this_thread::get_id()) return false;
  return taken(mutex_.try_lock());
}

bool Mutex::try_lock_until(Clock::time_point end) {
  refuse_where_hopeless();
  while (true) {
    const Clock::time_point now = Clock::now();
    Interruption::check_current(now);
    const bool is_last = end - Interruption::kPatience <= now;
    if (taken(locked_until(mutex_, is_last ? end : now + Interruption::kPatience))) return true;
    if (is_last) return false;
  }
}

void Mutex::lock_interruptibly() {
  if (try_lock()) return;
  try_lock_until(Clock::time_point::max());
}

void Mutex::unlock() {
  holder_.store({}, std::memory_order_relaxed);
  mutex_.unlock();
}

// A thread that waits for the list may hold a mutex, so the list is let go between two attempts.
void Fork::prepare() {
  Register& all = Register::of_all();
  const Mutex::Clock::time_point end = Mutex::Clock::now() + kPatience;
  while (true) {
    all.mutex.lock();
    all.taken.clear();
    bool has_all = true;
    for (Mutex* one = all.first; one; one = one->after_) {
      if (one->try_lock()) all.taken.push_back(one);
      else has_all = has_all && one->is_orphaned_;
    }
    if (has_all || Mutex::Clock::now() >= end) return;
    for (Mutex* const one : all.taken) one->unlock();
    all.mutex.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void Fork::in_parent() {
  Register& all = Register::of_all();
  for (Mutex* const one : all.taken) one->unlock();
  all.taken.clear();
  all.mutex.unlock();
}

void Fork::in_child() {
  Register& all = Register::of_all();
  std::ranges::sort(all.taken);
  for (Mutex* one = all.first; one; one = one->after_) {
    if (std::ranges::binary_search(all.taken, one)) continue;
    one->is_orphaned_ = true;
    if (one->owner_)
      if (std::shared_ptr<const void> owner = one->owner_()) all.kept.push_back(std::move(owner));
  }
  in_parent();
}

}  // namespace tokamata
