// Numbers of things that are kept elsewhere, found by what the things are: four bytes and a little for each.
//
// Open addressing with linear probing.  The caller says whether number n is what it looks for (`is_same(n)`), and, where
// the table grows, what the hash of number n is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tokamata {

class NumberTable {
 public:
  template <class IsSame>
  std::optional<std::uint32_t> find(std::uint64_t hash, IsSame&& is_same) const {
    if (slots_.empty()) return std::nullopt;
    for (std::size_t at = hash & (slots_.size() - 1); slots_[at] != 0; at = (at + 1) & (slots_.size() - 1))
      if (is_same(slots_[at] - 1)) return slots_[at] - 1;
    return std::nullopt;
  }

  // Makes room for one number more.
  template <class HashOf>
  void reserve_one(HashOf&& hash_of) {
    if (4 * (count_ + 1) > 3 * slots_.size()) grow(hash_of);
  }
  // A number that is not in the table, which has room: this does not fail, so that the thing may be kept just before.
  void add(std::uint32_t number, std::uint64_t hash) {
    put(number, hash);
    ++count_;
  }

  void clear() {
    slots_ = {};
    count_ = 0;
  }
  std::size_t memory_bytes() const { return slots_.capacity() * sizeof(std::uint32_t); }

 private:
  void put(std::uint32_t number, std::uint64_t hash) {
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = number + 1;
  }

  template <class HashOf>
  void grow(HashOf&& hash_of) {
    std::vector<std::uint32_t> before(slots_.empty() ? 16 : 2 * slots_.size(), 0);
    before.swap(slots_);
    for (const std::uint32_t slot : before)
      if (slot != 0) put(slot - 1, hash_of(slot - 1));
  }

  std::vector<std::uint32_t> slots_;  // number + 1, or 0; as many as a power of two
  std::size_t count_ = 0;
};

}  // namespace tokamata
