#include "matching/batch.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>

namespace tokamata {

std::vector<std::exception_ptr> fill_masks(std::span<Matcher* const> matchers, std::span<std::uint32_t* const> rows,
                                           unsigned threads, std::span<const std::optional<TokenCount>> budgets) {
  constexpr std::size_t kLongestRun = 32;      // so that a batch of one constraint is shared out too
  constexpr std::size_t kWorthAThread = 1 << 18;  // words to copy, where nothing else is to be done

  const auto budget = [&](std::size_t i) { return budgets.empty() ? std::nullopt : budgets[i]; };
  const auto known_mask = [&](std::size_t i) -> MaskPtr {
    if (!budget(i)) return matchers[i]->try_mask();
    MaskPtr known = matchers[i]->try_mask_within(*budget(i), false);
    return known && known->set_bits ? known : nullptr;  // an empty one is an error that mask_within throws
  };
  std::vector<std::exception_ptr> errors(matchers.size());
  std::vector<std::size_t> order(matchers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return matchers[i]->constraint().get(); });
  std::vector<std::size_t> runs;  // where each begins in `order`
  std::size_t unknown = 0, words = 0;
  for (std::size_t at = 0; at < order.size(); ++at) {
    const Matcher& matcher = *matchers[order[at]];
    const bool same = at > 0 && matcher.constraint() == matchers[order[at - 1]]->constraint();
    if (!same || at - runs.back() == kLongestRun) runs.push_back(at);
    unknown += known_mask(order[at]) == nullptr;
    words += matcher.constraint()->vocabulary().words();
  }
  runs.push_back(order.size());

  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    while (true) {
      const std::size_t run = next.fetch_add(1, std::memory_order_relaxed);
      if (run + 1 >= runs.size()) return;
      for (std::size_t at = runs[run]; at < runs[run + 1]; ++at) {
        const std::size_t i = order[at];
        try {
          MaskPtr mask = known_mask(i);
          if (!mask) mask = budget(i) ? matchers[i]->mask_within(*budget(i), false) : matchers[i]->mask();
          mask->bits.write(rows[i]);
        } catch (...) {
          errors[i] = std::current_exception();
        }
      }
    }
  };
  const bool is_large = unknown > 1 || words > kWorthAThread;
  const std::size_t most = std::min<std::size_t>(threads, runs.size() - 1);
  std::vector<std::jthread> others;
  for (std::size_t i = 1; is_large && i < most; ++i) {
    try {
      others.emplace_back(work);
    } catch (const std::system_error&) {
      break;  // the system has no thread to give: those that there are do the work
    }
  }
  work();
  others.clear();  // joins them
  return errors;
}

}  // namespace tokamata
