// The cheapest way to end an array, over what remains after each element (Dijkstra).
#pragma once

#include "common/best_first.hpp"
#include "json/array_formulas.hpp"
#include "json/value_sets.hpp"

namespace tokamata::json {

// Elements are taken of sets that are usable.  Where there is a way, calls `done(formula, bytes that it still needs)`
// for the formulas on it.
template <class IsUsable, class Done>
std::optional<std::uint32_t> ArrayFormulas::search(ArrayId f, IsUsable&& is_usable, Done&& done, const Work& work,
                                                   const ElementLength* length_of) {
  CheapestFirst<std::unordered_map<ArrayId, std::uint32_t>> open;  // lengths by formula
  std::unordered_map<ArrayId, ArrayId> reached_from;
  open.reach(f, 0);
  while (const auto next_open = open.take()) {
    const auto [so_far, at] = *next_open;
    work.budget.step();
    if (accepts(at)) {
      for (ArrayId on_path = at;; on_path = reached_from.at(on_path)) {
        done(on_path, so_far - open.costs().at(on_path));
        if (on_path == f) return so_far;
      }
    }
    const Branches next = branches(at, work);
    for (const Branch<ArrayTag>& branch : *next) {
      if (!is_usable(branch.value)) continue;
      const std::optional<std::uint32_t> element =
          length_of ? (*length_of)(branch.value) : sets_.some_length(branch.value, work);
      if (!element) continue;
      const std::uint32_t length = capped_sum(so_far, *element, length_of ? 0 : 1);
      if (open.reach(branch.rest, length)) reached_from.insert_or_assign(branch.rest, at);
    }
  }
  return std::nullopt;
}

}  // namespace tokamata::json
