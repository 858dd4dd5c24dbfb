// What is made once and shared by many threads, at most so many, or of so much weight; the oldest go first, and
// whoever holds one keeps it.
//
// Two threads may make the same value at once; the first one kept is what both are given.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace tokamata {

template <class Key, class Value>
class Memo {
 public:
  using Ptr = std::shared_ptr<const Value>;

  explicit Memo(std::size_t most) : most_(most) {}

  // Null where it is not there.
  Ptr find(const Key& key) const {
    const std::lock_guard lock(mutex_);
    const auto known = values_.find(key);
    return known == values_.end() ? nullptr : known->second;
  }

  // What is kept under the key: the value, or one that was there before.  What is too heavy by itself is not kept.
  Ptr keep(const Key& key, Ptr value, std::size_t weight = 1) {
    const std::lock_guard lock(mutex_);
    if (weight > most_) return value;
    if (const auto known = values_.find(key); known != values_.end()) return known->second;
    order_.push_back({nullptr, weight});  // first, since it may fail: what has no place would never go
    Ptr kept = value;
    try {
      order_.back().key = &values_.emplace(key, std::move(value)).first->first;  // keys of a map stay where they are
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

  // The value of the key, made by `make()` where it is not there.
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
  mutable std::mutex mutex_;
  std::unordered_map<Key, Ptr> values_;
  std::deque<Place> order_;
};

}  // namespace tokamata
