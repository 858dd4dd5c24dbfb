// What is kept between the calls for one owner: calls borrow it, and give it back.
//
// Problem.  To repair a kilobyte of JSON takes a millisecond of search and another of derivatives, nearly all of which
// the repair before has made, too.  A program of 14 kB in Java takes 60 ms of them before its first mistake.
// How.  What is idle is kept together, whoever owns it, and the oldest goes first where all hold more than
// kMostIdleBytes.  A call that finds none idle, since another thread has it, makes one.
// Memory.  What is borrowed and the work with it charge to one account, so it is not used again where it would take more
// than a quarter of what the work may have (`fits`).
//
// Contract.
//   - Lifetimes.  What is borrowed may outlive its owner.
//   - Locks.  Any thread may call any member.  One thread at a time uses what is borrowed.  What goes is destroyed
//     outside of the lock.
//   - Errors.  To borrow may end with LimitExceeded, Cancelled or std::bad_alloc.  What is given back is whole after any
//     error, or it goes.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

#include "common/limits.hpp"
#include "common/memory_account.hpp"
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

// Lends objects of `T`, each made of a source.  T has an account(), and fits(limits).
template <class T, class Source>
class Lender {
 public:
  static constexpr std::size_t kMostIdleBytes = std::size_t{128} << 20;  // of all owners

  explicit Lender(Source source) : source_(std::move(source)) {}
  ~Lender() { idle().drop(this); }
  Lender(const Lender&) = delete;
  Lender& operator=(const Lender&) = delete;

  std::unique_ptr<T> borrow(const Limits& limits, const std::shared_ptr<const CancelToken>& cancel) {
    std::unique_ptr<T> kept = idle().take(this);
    if (kept && kept->fits(limits)) return kept;
    kept.reset();
    return std::make_unique<T>(source_, limits, cancel);
  }
  void give_back(std::unique_ptr<T> borrowed) noexcept {
    try {
      idle().put(this, std::move(borrowed));
    } catch (const std::bad_alloc&) {
      // It goes instead: nothing but time is lost.
    }
  }

  // Of all owners.
  static std::size_t idle_bytes() { return idle().bytes(); }

 private:
  // Never destroyed: threads may still work when the process ends.
  static Idle<T, Lender>& idle() {
    static auto& of_all_owners = *new Idle<T, Lender>(kMostIdleBytes);
    return of_all_owners;
  }

  Source source_;
};

// A loan: it gives back what is borrowed, whatever happens.  As a base, its members are charged to the account of that
// from the first to the last, as those of Accounted are.
template <class T, class Source>
class Loan {
 public:
  Loan(std::shared_ptr<Lender<T, Source>> from, const Limits& limits, const std::shared_ptr<const CancelToken>& cancel)
      : from_(std::move(from)), begun_(Budget::Clock::now()), borrowed_(from_->borrow(limits, cancel)) {
    begin_charging();
  }
  ~Loan() {
    end_charging();
    from_->give_back(std::move(borrowed_));
  }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;

  T& borrowed() const { return *borrowed_; }
  MemoryAccount& account() const { return borrowed_->account(); }
  double age_seconds() const { return std::chrono::duration<double>(Budget::Clock::now() - begun_).count(); }

 protected:
  void begin_charging() { charge_.emplace(account()); }
  void end_charging() { charge_.reset(); }

 private:
  std::shared_ptr<Lender<T, Source>> from_;
  Budget::Clock::time_point begun_;
  std::unique_ptr<T> borrowed_;
  std::optional<Charge> charge_;
};

}  // namespace tokamata
