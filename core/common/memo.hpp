// A memo that threads share, bounded by the number or the weight of its values.  The oldest are dropped first; a value
// lives as long as someone holds it.
//
// Two threads may compute the same value at the same time.  Both get the one that was kept first.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "common/mutex.hpp"

namespace tokamata {

template <class Key, class Value>
class Memo {
 public:
  using Ptr = std::shared_ptr<const Value>;

  explicit Memo(std::size_t most) : most_(most) {}

  // Null if the key is missing.
  Ptr find(const Key& key) const {
    const std::lock_guard lock(mutex_);
    const auto known = values_.find(key);
    return known == values_.end() ? nullptr : known->second;
  }

  // Keeps a value, and returns it; or the value that was kept before.  A value above the weight limit is not kept.
  Ptr keep(const Key& key, Ptr value, std::size_t weight = 1) {
    const std::lock_guard lock(mutex_);
    if (weight > most_) return value;
    if (const auto known = values_.find(key); known != values_.end()) return known->second;
    order_.push_back({nullptr, weight});  // first, since it may fail: what has no place would never go
    Ptr kept = value;
    try {
      // keys of a map stay where they are
      order_.back().key = &values_.emplace(key, std::move(value)).first->first;
    } catch (...) {
      order_.pop_back();
      throw;
    }
    for (weight_ += weight; weight_ > most_; order_.pop_front()) {
      weight_ -= order_.front().weight;
      values_.erase(values_.find(*order_.front().key));
    }
    return kept;
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

 private:
  struct Place {
    const Key* key;
    std::size_t weight;
  };
  std::size_t most_;
  std::size_t weight_ = 0;
  mutable Mutex mutex_;
  std::unordered_map<Key, Ptr> values_;
  std::deque<Place> order_;
};

}  // namespace tokamata
