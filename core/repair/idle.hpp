// What was made for one owner and is not in use now, of all owners together; the oldest goes first.
//
// Contract.
//   - Locks.  Any thread may call any member.  What goes is destroyed outside of the lock.
//   - Errors.  `put` may end with std::bad_alloc; then what was given is gone.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>

#include "common/mutex.hpp"

namespace tokamata {

// `T` has an account(), which says how much it holds.
template <class T, class Owner>
class Idle {
 public:
  explicit Idle(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  std::unique_ptr<T> take(const Owner* owner) {
    const std::scoped_lock lock(mutex_);
    for (auto at = entries_.begin(); at != entries_.end(); ++at) {
      if (at->owner != owner) continue;
      std::unique_ptr<T> taken = std::move(at->idle);
      bytes_ -= at->bytes;
      entries_.erase(at);
      return taken;
    }
    return nullptr;
  }

  void put(const Owner* owner, std::unique_ptr<T> idle) {
    const std::size_t bytes = idle->account().bytes();
    if (bytes > most_bytes_) return;
    std::list<Entry> added, gone;
    added.push_back({owner, bytes, std::move(idle)});
    const std::scoped_lock lock(mutex_);
    entries_.splice(entries_.begin(), added);
    bytes_ += bytes;
    while (bytes_ > most_bytes_) {
      bytes_ -= entries_.back().bytes;
      gone.splice(gone.begin(), entries_, std::prev(entries_.end()));
    }
  }

  void drop(const Owner* owner) {
    while (take(owner)) {
    }
  }

  std::size_t bytes() {
    const std::scoped_lock lock(mutex_);
    return bytes_;
  }

 private:
  struct Entry {
    const Owner* owner;
    std::size_t bytes;
    std::unique_ptr<T> idle;
  };

  const std::size_t most_bytes_;
  Mutex mutex_;
  std::list<Entry> entries_;  // the latest first
  std::size_t bytes_ = 0;
};

}  // namespace tokamata
