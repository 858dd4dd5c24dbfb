// What is made once for a key, and kept once it is made.
//
// Problem.  A call may end at any point: a limit is passed, a token cancels it, memory fails.  An entry that is made before
// the work for it stays behind then, empty or half filled, and the next who asks takes it for the answer.
// How.  First the value, then the entry.  Where the work throws, nothing has changed.  No iterator and no reference is held
// while it runs, so that it may ask the same container for other keys, and even for this one.
// Maps keep their values where they are: what is returned stays good until the entry is erased.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace tokamata {

// The value of the key; `make()` gives it where it is not there.
template <class Map, class Key, class Make>
typename Map::mapped_type& memoized(Map& map, Key&& key, Make&& make) {
  if (const auto known = map.find(key); known != map.end()) return known->second;
  typename Map::mapped_type made = make();
  return map.emplace(std::forward<Key>(key), std::move(made)).first->second;
}

// The number of a thing, where things are numbered in the order in which they are met; `append(number)` puts a new one
// at that place of some lists, and does not mind what an earlier call that threw has left there.
template <class Map, class Key, class Append>
typename Map::mapped_type numbered(Map& numbers, Key&& key, Append&& append) {
  if (const auto known = numbers.find(key); known != numbers.end()) return known->second;
  const typename Map::mapped_type number{static_cast<std::uint32_t>(numbers.size())};
  append(number);
  numbers.emplace(std::forward<Key>(key), number);
  return number;
}

// Puts a value at a place of a list that has as many values before it, or was left with more.
template <class List, class Value>
void put_at(List& list, std::size_t place, Value&& value) {
  if (place < list.size())
    list[place] = std::forward<Value>(value);
  else
    list.push_back(std::forward<Value>(value));
}

}  // namespace tokamata
