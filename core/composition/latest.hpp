// The latest few results of something that is asked again soon: each by its key, the oldest given up first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <utility>

#include "common/memory_account.hpp"

namespace tokamata {

template <class Key, class Value>
class Latest {
 public:
  // Null where it is not known.
  std::shared_ptr<const Value> find(const Key& key) const {
    const auto known = std::ranges::find(kept_, key, &std::pair<Key, Kept<Value>>::first);
    return known == kept_.end() ? nullptr : known->second.shared();
  }
  void keep(const Key& key, std::shared_ptr<const Value> value) {
    kept_.emplace_back(key, Kept<Value>(std::move(value)));
    if (kept_.size() > kMostKept) kept_.pop_front();
  }
  void clear() { release(kept_); }

 private:
  static constexpr std::size_t kMostKept = 64;
  counted::deque<std::pair<Key, Kept<Value>>> kept_;  // oldest first
};

}  // namespace tokamata
