// Memoizes a value after it was computed.
//
// Problem.  A call may end at any point: at a limit, by a CancelToken, or for lack of memory.  An entry that was
// inserted before its computation would then stay, empty or half filled, and the next caller would take it for the
// value.
// How.  The value is computed first, then inserted.  If the computation throws, nothing has changed.  It holds no
// iterator and no reference, so it may use the same container for other keys, and even for this one.
// Maps do not move their values: a returned reference is valid until the entry is erased.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace tokamata {

// The value of the key; `make()` computes it if it is missing.
template <class Map, class Key, class Make>
typename Map::mapped_type& memoized(Map& map, Key&& key, Make&& make) {
  if (const auto known = map.find(key); known != map.end()) return known->second;
  typename Map::mapped_type made = make();
  return map.emplace(std::forward<Key>(key), std::move(made)).first->second;
}

// The number of a key; keys are numbered in the order in which they are first met.  For a new key, `append(number)`
// adds it to some lists at that index, overwriting what an earlier call that threw may have left there.
template <class Map, class Key, class Append>
typename Map::mapped_type numbered(Map& numbers, Key&& key, Append&& append) {
  if (const auto known = numbers.find(key); known != numbers.end()) return known->second;
  const typename Map::mapped_type number{static_cast<std::uint32_t>(numbers.size())};
  append(number);
  numbers.emplace(std::forward<Key>(key), number);
  return number;
}

// Stores a value at index `place` of a list that has `place` values, or more after an earlier call that threw.
template <class List, class Value>
void put_at(List& list, std::size_t place, Value&& value) {
  if (place < list.size()) list[place] = std::forward<Value>(value);
  else list.push_back(std::forward<Value>(value));
}

}  // namespace tokamata
