#include "programs/streamed_patterns.hpp"

#include <algorithm>
#include <bit>

#include "common/sort_unique.hpp"

namespace tokamata {

StreamedPatterns::StreamedPatterns(const BytePatterns& patterns) : patterns_(patterns), state_(patterns.size()) {}

StreamedPatterns::Trial StreamedPatterns::tried(Backtracker& run, std::size_t pattern, std::size_t position,
                                                std::size_t& end) const {
  const std::optional<std::size_t> found = run.matched(pattern, position);
  if (run.has_touched_end()) return Trial::Open;
  if (!found) return Trial::Fails;
  end = *found;
  return Trial::Matches;
}

// The first open position of a pattern, and those after it where it is decided.
void StreamedPatterns::try_again(Backtracker& run, std::size_t pattern, std::size_t length,
                                 std::vector<BytePatterns::Found>& all) {
  constexpr std::size_t kShort = 64;
  OfPattern& state = state_[pattern];
  std::size_t done = 0;
  for (; done < state.pending.size(); ++done) {
    Pending& one = state.pending[done];
    if (one.position < state.end) continue;
    const std::size_t before = one.tried - one.position;
    if (before > kShort && length - one.position < before + before / 4) break;
    one.tried = length;
    std::size_t end = 0;
    const Trial trial = tried(run, pattern, one.position, end);
    if (trial == Trial::Open) break;
    if (trial == Trial::Fails) continue;
    all.push_back({static_cast<std::uint32_t>(pattern), static_cast<std::uint32_t>(one.position),
                   static_cast<std::uint32_t>(end)});
    state.end = end;
  }
  state.pending.erase(state.pending.begin(), state.pending.begin() + static_cast<std::ptrdiff_t>(done));
}

std::vector<BytePatterns::Found> StreamedPatterns::feed(std::string_view text, Budget& budget) {
  Backtracker run(patterns_.steps_, text, budget);
  std::vector<BytePatterns::Found> all;
  for (const std::uint32_t pattern : with_pending_) try_again(run, pattern, text.size(), all);
  for (std::size_t position = read_; position < text.size(); ++position) {
    if (position % Backtracker::kStepsOfACheck == Backtracker::kStepsOfACheck - 1) budget.check();
    const std::size_t before = position == 0 ? BytePatterns::kNone : static_cast<std::uint8_t>(text[position - 1]);
    const std::uint64_t* const by_before = &patterns_.by_before_[before * patterns_.words_];
    const std::uint64_t* const by_first =
        &patterns_.by_first_[static_cast<std::uint8_t>(text[position]) * patterns_.words_];
    for (std::size_t word = 0; word < patterns_.words_; ++word) {
      for (std::uint64_t left = by_before[word] & by_first[word]; left != 0; left &= left - 1) {
        const std::size_t number = 64 * word + static_cast<std::size_t>(std::countr_zero(left));
        OfPattern& state = state_[number];
        if (position < state.end) continue;
        std::size_t end = 0;
        const Trial trial = tried(run, number, position, end);
        if (trial == Trial::Fails) continue;
        if (trial == Trial::Open || !state.pending.empty()) {
          if (state.pending.empty()) with_pending_.push_back(static_cast<std::uint32_t>(number));
          state.pending.push_back({position, text.size()});
          continue;
        }
        all.push_back({static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(position),
                       static_cast<std::uint32_t>(end)});
        state.end = end;
      }
    }
  }
  read_ = text.size();
  std::erase_if(with_pending_, [&](std::uint32_t pattern) { return state_[pattern].pending.empty(); });
  sort_unique(with_pending_);
  return all;
}

std::vector<StreamedPatterns::Open> StreamedPatterns::open(std::size_t from) const {
  std::vector<Open> all;
  for (const std::uint32_t pattern : with_pending_) {
    const std::vector<Pending>& pending = state_[pattern].pending;
    for (auto at = std::ranges::lower_bound(pending, from, {}, &Pending::position); at != pending.end(); ++at)
      all.push_back({pattern, static_cast<std::uint32_t>(at->position)});
  }
  return all;
}

}  // namespace tokamata
