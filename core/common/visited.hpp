// A set that is filled and emptied again and again.
//
// Problem.  A mask of rules notes a dozen configurations that it has met, and is made in microseconds: the nodes of a
// std::unordered_set would take a third of that.
// How.  Open addressing; an entry holds the number of the round that wrote it, so that emptying the set is one step.
// Cost.  A probe or two for each insertion; the largest set that there was stays allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "common/memory_account.hpp"

namespace tokamata {

// `Hash` gives 64 well mixed bits.
template <class Key, class Hash>
class Visited {
 public:
  // Whether it was not there.
  bool insert(const Key& key) {
    if (2 * (size_ + 1) > entries_.size()) grow();
    Entry& entry = entry_of(entries_, key);
    if (entry.round == round_) return false;
    entry = {key, round_};
    ++size_;
    return true;
  }
  std::size_t size() const { return size_; }
  void clear() {
    ++round_;
    size_ = 0;
  }

 private:
  struct Entry {
    Key key{};
    std::uint64_t round = 0;
  };

  // That of the key, or the free one where it belongs.
  Entry& entry_of(counted::vector<Entry>& entries, const Key& key) const {
    std::size_t at = Hash()(key) & (entries.size() - 1);
    while (entries[at].round == round_ && !(entries[at].key == key)) at = (at + 1) & (entries.size() - 1);
    return entries[at];
  }
  void grow() {
    constexpr std::size_t kLeast = 64;
    counted::vector<Entry> larger(entries_.empty() ? kLeast : 2 * entries_.size());
    for (const Entry& entry : entries_)
      if (entry.round == round_) entry_of(larger, entry.key) = entry;
    entries_ = std::move(larger);
  }

  counted::vector<Entry> entries_;
  std::uint64_t round_ = 1;
  std::size_t size_ = 0;
};

}  // namespace tokamata
