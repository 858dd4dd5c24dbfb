// The cheapest way to end an array, over what remains after each element (Dijkstra).
#pragma once

#include <queue>

#include "json/array_formulas.hpp"
#include "json/value_sets.hpp"

namespace tokamata::json {

// Elements are taken of sets that are usable.  Where there is a way, calls `done(formula, bytes that it still needs)`
// for the formulas on it.
template <class IsUsable, class Done>
std::optional<std::uint32_t> ArrayFormulas::search(ArrayId f, IsUsable&& is_usable, Done&& done, const Work& work,
                                                   const ElementLength* length_of) {
  using Open = std::pair<std::uint32_t, std::uint32_t>;  // length, formula
  struct Best {
    std::uint32_t length, from;
  };
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
  std::unordered_map<std::uint32_t, Best> best{{f.value, {0, f.value}}};
  open.emplace(0, f.value);
  while (!open.empty()) {
    const auto [so_far, at] = open.top();
    open.pop();
    if (best.at(at).length < so_far) continue;
    work.budget.step();
    if (accepts({at})) {
      for (std::uint32_t on_way = at;; on_way = best.at(on_way).from) {
        done(ArrayId{on_way}, so_far - best.at(on_way).length);
        if (on_way == f.value) return so_far;
      }
    }
    const Branches next = branches({at}, work);
    for (const Branch<ArrayTag>& branch : *next) {
      if (!is_usable(branch.value)) continue;
      const std::optional<std::uint32_t> element =
          length_of ? (*length_of)(branch.value) : sets_.some_length(branch.value, work);
      if (!element) continue;
      const std::uint32_t length = capped_sum(so_far, *element, length_of ? 0 : 1);
      const auto [place, is_new] = best.try_emplace(branch.rest.value, Best{length, at});
      if (!is_new && place->second.length <= length) continue;
      place->second = {length, at};
      open.emplace(length, branch.rest.value);
    }
  }
  return std::nullopt;
}

}  // namespace tokamata::json
