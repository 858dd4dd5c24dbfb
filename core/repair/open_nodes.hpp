// A priority queue whose latest best entry waits outside of the heap.
//
// Problem.  A search that keeps byte after byte takes out what it has just put in: a node leads to the next one at the
// same cost, which is then the best.  In a heap both operations take O(log n).
// How.  The best of what was added since the last `pop` is held apart.  It is the next one in most steps, and then
// never enters the heap.
// Contract.  The order is that of Entry's <, whose greatest is the top; entries do not compare equal.  `push` and `pop`
// do not fail after `reserve_one`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "common/memory_account.hpp"

namespace tokamata {

template <class Entry>
class OpenNodes {
 public:
  bool empty() const { return heap_.empty() && !held_; }
  const Entry& top() const { return is_held_best() ? *held_ : heap_.front(); }

  // Makes room for one more entry.
  void reserve_one() {
    if (heap_.size() + 2 > heap_.capacity()) [[unlikely]]
      heap_.reserve(std::max<std::size_t>(64, 2 * heap_.size()));
  }
  void push(Entry entry) {
    if (held_ && *held_ < entry) std::swap(*held_, entry);
    if (held_) push_on_heap(entry);
    else held_ = entry;
  }
  Entry pop() {
    const Entry best = top();
    if (is_held_best()) {
      held_.reset();
    } else {
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.pop_back();
    }
    return best;
  }

  template <class Visit>
  void visit(Visit&& visit) const {
    for (const Entry& entry : heap_) visit(entry);
    if (held_) visit(*held_);
  }
  // Drops some entries and changes the order of the others.
  template <class IsDropped, class Change>
  void rebuild(IsDropped&& is_dropped, Change&& change) {
    if (held_) push_on_heap(*held_);
    held_.reset();
    std::erase_if(heap_, is_dropped);
    for (Entry& entry : heap_) change(entry);
    std::make_heap(heap_.begin(), heap_.end());
  }
  void clear() {
    heap_.clear();
    held_.reset();
  }

 private:
  bool is_held_best() const { return held_ && (heap_.empty() || heap_.front() < *held_); }
  void push_on_heap(const Entry& entry) {
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end());
  }

  counted::vector<Entry> heap_;
  std::optional<Entry> held_;
};

}  // namespace tokamata
