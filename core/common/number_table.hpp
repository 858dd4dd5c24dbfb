// Numbers of things that are kept elsewhere, found by what the things are: eight bytes and a little for each.
//
// Open addressing with linear probing.  A slot holds half of the hash beside the number, so that the thing itself,
// which is mostly not in the cache, is compared only where that half is the same, and growing does not visit the
// things.  The caller says whether number n is the one wanted (`is_same(n)`).  Hashes are to be well mixed (hash.hpp).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/memory_account.hpp"

namespace tokamata {

class NumberTable {
 public:
  template <class IsSame>
  std::optional<std::uint32_t> find(std::uint64_t hash, IsSame&& is_same) const {
    if (slots_.empty()) return std::nullopt;
    const auto half = static_cast<std::uint32_t>(hash);
    for (std::size_t at = half & (slots_.size() - 1); slots_[at].number != kFree; at = (at + 1) & (slots_.size() - 1))
      if (slots_[at].half == half && is_same(slots_[at].number)) return slots_[at].number;
    return std::nullopt;
  }

  // Makes room for so many numbers more.
  void reserve(std::size_t more) {
    if (4 * (count_ + more) > 3 * slots_.size()) grow(more);
  }
  // A number that is not in the table, which has room: this does not fail, so that the thing may be kept just before.
  void add(std::uint32_t number, std::uint64_t hash) {
    put({number, static_cast<std::uint32_t>(hash)});
    ++count_;
  }

  void clear() {
    slots_ = {};
    count_ = 0;
  }

 private:
  static constexpr std::uint32_t kFree = ~std::uint32_t{0};
  struct Slot {
    std::uint32_t number = kFree, half = 0;
  };

  void grow(std::size_t more) {
    constexpr std::size_t kLeast = 16;
    counted::vector<Slot> before(std::bit_ceil(std::max(kLeast, 2 * (count_ + more))));
    before.swap(slots_);
    for (const Slot& slot : before)
      if (slot.number != kFree) put(slot);
  }
  void put(Slot slot) {
    std::size_t at = slot.half & (slots_.size() - 1);
    while (slots_[at].number != kFree) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }

  counted::vector<Slot> slots_;  // as many as a power of two
  std::size_t count_ = 0;
};

// The number of a thing among all of its sort; a new one is added to them and to their index.
template <class T>
std::uint32_t number_in(counted::vector<T>& all, NumberTable& index, const T& wanted, std::uint64_t hash) {
  if (const auto known = index.find(hash, [&](std::uint32_t number) { return all[number] == wanted; })) return *known;
  const auto number = static_cast<std::uint32_t>(all.size());
  index.reserve(1);
  all.push_back(wanted);
  index.add(number, hash);
  return number;
}

}  // namespace tokamata
