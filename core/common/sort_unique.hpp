// A list as a set: in order, each value once.
#pragma once

#include <algorithm>

namespace tokamata {

template <class List>
void sort_unique(List& list) {
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace tokamata
