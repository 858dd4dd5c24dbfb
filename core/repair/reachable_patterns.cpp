#include "repair/reachable_patterns.hpp"

#include <algorithm>
#include <utility>

namespace tokamata {

ReachablePatterns::ReachablePatterns(BytePatterns patterns, std::vector<Modes> modes)
    : patterns_(std::move(patterns)), modes_(std::move(modes)) {
  if (modes_.size() != patterns_.size()) throw std::invalid_argument("not as many modes as patterns");
}

std::vector<BytePatterns::Found> ReachablePatterns::found(std::string_view text, const EditMachine& machine,
                                                          ModeSet led, std::size_t most, Budget& budget) const {
  ModeSet reached = machine.reachable(static_cast<ModeSet>(led | 1u << kStartMode));
  std::vector<BytePatterns::Found> all;
  BytePatterns::Selection done = patterns_.none();
  for (;;) {
    BytePatterns::Selection next = patterns_.none();
    bool is_any = false;
    for (std::size_t number = 0; number < modes_.size(); ++number) {
      const std::uint64_t bit = std::uint64_t{1} << (number % 64);
      if ((modes_[number].within & reached) == 0 || (done[number / 64] & bit)) continue;
      next[number / 64] |= bit;
      done[number / 64] |= bit;
      is_any = true;
    }
    if (!is_any) break;
    const std::vector<BytePatterns::Found> more = patterns_.found(text, next, most - all.size(), budget);
    for (const BytePatterns::Found& one : more)
      if (const Mode then = modes_[one.pattern].then; then != Rewrite::kByWritten)
        reached |= static_cast<ModeSet>(1u << then);
    reached = machine.reachable(reached);
    const auto middle = static_cast<std::ptrdiff_t>(all.size());
    all.insert(all.end(), more.begin(), more.end());
    std::inplace_merge(all.begin(), all.begin() + middle, all.end(),
                       [](const BytePatterns::Found& one, const BytePatterns::Found& other) {
                         return std::pair(one.begin, one.pattern) < std::pair(other.begin, other.pattern);
                       });
  }
  return all;
}

}  // namespace tokamata
