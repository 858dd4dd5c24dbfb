// A map and a set that are filled and emptied again and again.
//
// Problem.  A mask of rules notes a dozen configurations that it has met, and is made in microseconds: the nodes of a
// std::unordered_set would take a third of that.
// How.  Open addressing; an entry holds the number of the round that wrote it, so that emptying the set is one step.
// Cost.  A probe or two for each insertion; the largest set that there was stays allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "common/hash.hpp"
#include "common/memory_account.hpp"

namespace tokamata {

// `Hash` gives 64 well mixed bits.
template <class Key, class Value, class Hash>
class VisitedMap {
 public:
  // The value of the key, which is the given one if the key was not there; and whether it was not.  The reference is
  // good until the next call.
  std::pair<Value&, bool> insert(const Key& key, const Value& value) {
    if (2 * (size_ + 1) > entries_.size()) grow();
    Entry& entry = entry_of(entries_, key);
    if (entry.round == round_) return {entry.value, false};
    entry = {key, value, round_};
    ++size_;
    return {entry.value, true};
  }
  std::optional<Value> find(const Key& key) const {
    if (!contains(key)) return std::nullopt;
    return entries_[place_of(entries_, key)].value;
  }
  bool contains(const Key& key) const { return size_ > 0 && entries_[place_of(entries_, key)].round == round_; }
  std::size_t size() const { return size_; }
  void clear() {
    ++round_;
    size_ = 0;
  }

 private:
  struct Entry {
    Key key{};
    [[no_unique_address]] Value value{};
    std::uint64_t round = 0;
  };

  // That of the key, or the free one where it belongs.
  std::size_t place_of(const counted::vector<Entry>& entries, const Key& key) const {
    std::size_t at = Hash()(key) & (entries.size() - 1);
    while (entries[at].round == round_ && !(entries[at].key == key)) at = (at + 1) & (entries.size() - 1);
    return at;
  }
  Entry& entry_of(counted::vector<Entry>& entries, const Key& key) const { return entries[place_of(entries, key)]; }
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

struct NoValue {};

template <class Key, class Hash>
class Visited : public VisitedMap<Key, NoValue, Hash> {
 public:
  // Whether it was not there.
  bool insert(const Key& key) { return VisitedMap<Key, NoValue, Hash>::insert(key, {}).second; }
};

// Of numbers, among them those of an Id.
struct NumberHash {
  std::uint64_t operator()(std::uint64_t number) const { return mix(0, number); }
};

}  // namespace tokamata
