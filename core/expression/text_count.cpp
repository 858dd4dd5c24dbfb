#include "expression/text_count.hpp"

#include <algorithm>
#include <unordered_map>

namespace tokamata {

namespace {

// Calls `visit(byte, what follows)` for each byte after which something lives, or for those of some bytes, as long as
// it returns true: whether something lives may take a search.
template <class Visit>
void visit_derivatives(Arena& arena, ExpressionId expression, Budget& budget, const ByteSet* among, Visit&& visit) {
  const std::optional<ByteSet> leaf = arena.derivatives().leaf_bytes(expression, budget);
  std::optional<ExpressionId> target;  // of the byte class
  for (unsigned value = 0; value < 256; ++value) {
    const auto byte = static_cast<std::uint8_t>(value);
    if (arena.leaves().class_borders().contains(byte)) target.reset();
    if ((among && !among->contains(byte)) || (leaf && !leaf->contains(byte))) continue;
    if (!target) {
      budget.step();
      target = arena.derivatives().derivative(expression, byte, budget);
      if (*target != Pool::kEmpty && arena.derivatives().terminal(*target, budget) == Pool::kEmpty)
        target = Pool::kEmpty;
    }
    if (*target != Pool::kEmpty && !visit(byte, *target)) return;
  }
}

}  // namespace

std::uint64_t count_texts(Arena& arena, ExpressionId expression, std::uint64_t most, Budget& budget,
                          const ByteSet* among) {
  if (arena.derivatives().terminal(expression, budget) == Pool::kEmpty) return 0;
  std::unordered_map<std::uint32_t, std::uint64_t> ways{{expression.value, 1}};
  std::uint64_t found = 0;
  while (!ways.empty()) {
    std::unordered_map<std::uint32_t, std::uint64_t> longer;
    std::uint64_t further = 0;
    for (const auto& [at, count] : ways) {
      if (arena.pool().node({at}).nullable) found = std::min(most, found + count);
      if (found >= most) return most;
      if (ExpressionId{at} == Pool::kEpsilon) continue;
      visit_derivatives(arena, {at}, budget, among, [&](std::uint8_t, ExpressionId target) {
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

std::vector<std::string> some_texts(Arena& arena, ExpressionId expression, std::size_t most, Budget& budget) {
  std::vector<std::string> texts;
  if (arena.derivatives().terminal(expression, budget) == Pool::kEmpty) return texts;
  std::vector<std::pair<std::string, ExpressionId>> open{{"", expression}};
  for (std::size_t i = 0; i < open.size() && texts.size() < most; ++i) {
    const auto [text, at] = std::move(open[i]);
    if (arena.pool().node(at).nullable) texts.push_back(text);
    if (at != Pool::kEpsilon)
      visit_derivatives(arena, at, budget, nullptr, [&](std::uint8_t byte, ExpressionId target) {
        open.emplace_back(text + static_cast<char>(byte), target);
        return true;
      });
  }
  return texts;
}

}  // namespace tokamata
