#include "repair/byte_patterns.hpp"

#include <bit>

#include "repair/pattern_run.hpp"

namespace tokamata {

BytePatterns::BytePatterns(std::vector<Pattern> patterns, std::vector<ByteSet> sets)
    : patterns_(std::move(patterns)), sets_(std::move(sets)), words_((patterns_.size() + 63) / 64) {
  by_first_.assign(256 * words_, 0);
  by_before_.assign((kStart + 1) * words_, 0);
  for (std::size_t number = 0; number < patterns_.size(); ++number) {
    const Pattern& pattern = patterns_[number];
    if (pattern.program.empty() || pattern.program.back().op != Op::Match) throw std::invalid_argument("a program without an end");
    for (const auto& [op, a, b, c] : pattern.program) {
      if (op > Op::NotBoundary) throw std::invalid_argument("an instruction that does not exist");
      if (op == Op::Byte || op == Op::Run ? a >= sets_.size() : a >= pattern.program.size()) throw std::invalid_argument("an operand that does not exist");
    }
    const std::uint64_t bit = std::uint64_t{1} << (number % 64);
    for (std::size_t byte = 0; byte < 256; ++byte) {
      if (pattern.first.contains(static_cast<std::uint8_t>(byte))) by_first_[byte * words_ + number / 64] |= bit;
      if (pattern.before.contains(static_cast<std::uint8_t>(byte))) by_before_[byte * words_ + number / 64] |= bit;
    }
    if (pattern.begins_text) by_before_[kStart * words_ + number / 64] |= bit;
  }
}

std::vector<BytePatterns::Found> BytePatterns::found(std::string_view text, std::size_t most, Budget& budget) const {
  Run run(sets_, text, budget);
  std::vector<Found> all;
  std::vector<std::size_t> ends(patterns_.size(), 0);  // by pattern, of the last match
  for (std::size_t position = 0; position < text.size(); ++position) {
    if (position % Run::kStepsOfACheck == Run::kStepsOfACheck - 1) budget.check();
    const std::size_t before = position == 0 ? kStart : static_cast<std::uint8_t>(text[position - 1]);
    const std::uint64_t* const by_before = &by_before_[before * words_];
    const std::uint64_t* const by_first = &by_first_[static_cast<std::uint8_t>(text[position]) * words_];
    for (std::size_t word = 0; word < words_; ++word) {
      for (std::uint64_t left = by_before[word] & by_first[word]; left != 0; left &= left - 1) {
        const std::size_t number = 64 * word + static_cast<std::size_t>(std::countr_zero(left));
        if (position < ends[number]) continue;
        const std::optional<std::size_t> end = run.matched(patterns_[number].program, 0, position);
        if (!end) continue;
        if (all.size() == most) throw LimitExceeded("memory_bytes", static_cast<double>(budget.limits().memory_bytes));
        all.push_back({static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(*end)});
        ends[number] = *end;
      }
    }
  }
  return all;
}

}  // namespace tokamata
