// A memo of bounded size: the oldest values are dropped first.
//
// Problem.  Some of what was computed is wanted again soon, and would fill the memory if all of it were kept: masks
// within a budget, sets of tokens of 33 kB each, segments.
// How.  A map, and its keys in the order in which they came.  Each value has a weight, its bytes or 1; after a value is
// added, older ones are dropped until the sum is within the bound.  The newest always stays.
// Contract.  A value is added after it was computed, so that the memo keeps whole values alone; where adding throws,
// nothing has changed.  What is to outlive its place in the memo is held by shared pointers.  With a counted map, what
// the memo allocates is counted, and Kept counts shared values (memory_account.hpp).  What is never dropped needs no
// memo but a map, and memoized().
// Rejected: to keep by last use.  Each look-up would write, and the sequences here (positions of a text, groups of
// states) come back soon or not at all.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "common/memory_account.hpp"
#include "common/mutex.hpp"

namespace tokamata {

// `Map` does not move its keys.
template <class Map>
class BoundedMemo {
 public:
  using Key = typename Map::key_type;
  using Value = typename Map::mapped_type;

  explicit BoundedMemo(std::size_t most) : most_(most) {}

  // Null if the key is missing.  Valid until the value is dropped.
  template <class Wanted>
  const Value* find(const Wanted& key) const {
    const auto known = values_.find(key);
    return known == values_.end() ? nullptr : &known->second;
  }
  // Keeps a value, and returns it; or the value that was kept before.
  const Value& keep(Key key, Value value, std::size_t weight = 1) {
    if (const Value* const known = find(key)) return *known;
    order_.push_back({nullptr, weight});  // first, since it may fail: what has no place would never go
    try {
      order_.back().key = &values_.emplace(std::move(key), std::move(value)).first->first;
    } catch (...) {
      order_.pop_back();
      throw;
    }
    weight_ += weight;
    while (weight_ > most_ && order_.size() > 1) drop_oldest();
    return values_.find(*order_.back().key)->second;
  }
  void drop_oldest() {
    weight_ -= order_.front().weight;
    values_.erase(values_.find(*order_.front().key));
    order_.pop_front();
  }
  const Value& oldest() const { return values_.find(*order_.front().key)->second; }
  std::size_t size() const { return values_.size(); }
  std::size_t weight() const { return weight_; }
  void clear() {
    release(values_);
    release(order_);
    weight_ = 0;
  }

 private:
  struct Place {
    const Key* key;
    std::size_t weight;
  };
  using PlaceAllocator = typename std::allocator_traits<typename Map::allocator_type>::template rebind_alloc<Place>;

  std::size_t most_, weight_ = 0;
  Map values_;
  std::deque<Place, PlaceAllocator> order_;  // oldest first
};

// One that threads share.  A value lives as long as someone holds it.  Two threads may compute the same value at the
// same time: both get the one that was kept first.
template <class Key, class Value>
class SharedMemo {
 public:
  using Ptr = std::shared_ptr<const Value>;

  explicit SharedMemo(std::size_t most) : most_(most), values_(most) {}

  // Null if the key is missing.
  Ptr find(const Key& key) const {
    const std::lock_guard lock(mutex_);
    const Ptr* const known = values_.find(key);
    return known ? *known : nullptr;
  }
  // Keeps a value, and returns it; or the value that was kept before.  A value above the bound is not kept.
  Ptr keep(const Key& key, Ptr value, std::size_t weight = 1) {
    const std::lock_guard lock(mutex_);
    return weight > most_ ? value : values_.keep(key, std::move(value), weight);
  }
  // The value of the key; `make()` computes it if it is missing.
  template <class Make>
  Ptr get(const Key& key, Make&& make) {
    if (Ptr known = find(key)) return known;
    return keep(key, std::make_shared<const Value>(make()));
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return values_.size();
  }
  std::size_t weight() const {
    const std::lock_guard lock(mutex_);
    return values_.weight();
  }

 private:
  const std::size_t most_;
  mutable Mutex mutex_;
  BoundedMemo<std::unordered_map<Key, Ptr>> values_;
};

}  // namespace tokamata
