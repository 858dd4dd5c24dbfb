// How many texts a language has, and which: the part of Arena for who wants to know whether there are enough.
//
// Problem.  Three elements that must differ are to be had of [a-c] & [b-z]; are there so many?
// How.  All texts at once, byte by byte: each expression reached, and in how many ways.  All that is reached lives, and
// different ways lead to different texts, so that the ways of one length are a lower bound for the texts.
// Example.  (ab|cd)*, at least 5: 1 way of length 0, which ends; 2 of length 1, of length 2, both end; 4 of length 3,
// and 3 + 4 are enough.
// Cost.  Derivatives of as many expressions as requested; where the language is finite, of no more than it has.

#include <algorithm>

#include "expression/arena.hpp"

namespace tokamata {

// Calls `visit(byte, what follows)` for each byte after which something lives, or for those of some bytes, as long as
// it returns true: whether something lives may take a search.
template <class Visit>
void Arena::visit_derivatives(ExpressionId expression, Budget& budget, const ByteSet* among, Visit&& visit) {
  const std::optional<ByteSet> leaf = leaf_bytes(expression, budget);
  std::optional<ExpressionId> target;  // of the byte class
  for (unsigned value = 0; value < 256; ++value) {
    const auto byte = static_cast<std::uint8_t>(value);
    if (class_borders().contains(byte)) target.reset();
    if ((among && !among->contains(byte)) || (leaf && !leaf->contains(byte))) continue;
    if (!target) {
      budget.step();
      target = derivative(expression, byte, budget);
      if (*target != kEmpty && terminal(*target, budget) == kEmpty) target = kEmpty;
    }
    if (*target != kEmpty && !visit(byte, *target)) return;
  }
}

std::uint64_t Arena::count_texts(ExpressionId expression, std::uint64_t most, Budget& budget, const ByteSet* among) {
  if (terminal(expression, budget) == kEmpty) return 0;
  std::unordered_map<std::uint32_t, std::uint64_t> ways{{expression.value, 1}};
  std::uint64_t found = 0;
  while (!ways.empty()) {
    std::unordered_map<std::uint32_t, std::uint64_t> longer;
    std::uint64_t further = 0;
    for (const auto& [at, count] : ways) {
      if (node({at}).nullable) found = std::min(most, found + count);
      if (found >= most) return most;
      if (ExpressionId{at} == kEpsilon) continue;
      visit_derivatives({at}, budget, among, [&](std::uint8_t, ExpressionId target) {
        longer[target.value] += count;
        further = std::min(most, further + count);
        return found + further < most;
      });
      if (found + further >= most) return most;
    }
    ways = std::move(longer);
  }
  return found;
}

std::vector<std::string> Arena::some_texts(ExpressionId expression, std::size_t most, Budget& budget) {
  std::vector<std::string> texts;
  if (terminal(expression, budget) == kEmpty) return texts;
  std::vector<std::pair<std::string, ExpressionId>> open{{"", expression}};
  for (std::size_t i = 0; i < open.size() && texts.size() < most; ++i) {
    const auto [text, at] = std::move(open[i]);
    if (node(at).nullable) texts.push_back(text);
    if (at != kEpsilon)
      visit_derivatives(at, budget, nullptr, [&](std::uint8_t byte, ExpressionId target) {
        open.emplace_back(text + static_cast<char>(byte), target);
        return true;
      });
  }
  return texts;
}

}  // namespace tokamata
