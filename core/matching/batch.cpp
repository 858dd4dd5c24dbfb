#include "matching/batch.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <semaphore>
#include <thread>

#include "common/check.hpp"
#include "common/interruption.hpp"

namespace tokamata {

namespace {

constexpr std::size_t kLongestRun = 32;         // so that a batch of one constraint is shared out too
constexpr std::size_t kWorthAThread = 1 << 18;  // words to copy, where nothing else is to be done

// The numbers of matchers, those that stand on the same states together, in runs.
struct Runs {
  std::vector<std::size_t> order, begins;

  explicit Runs(std::span<Matcher* const> matchers) : order(matchers.size()) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<const SharedConstraint*> states;
    for (const Matcher* const matcher : matchers) states.push_back(&matcher->states());
    std::ranges::stable_sort(order, std::less(), [&](std::size_t i) { return states[i]; });
    for (std::size_t at = 0; at < order.size(); ++at) {
      const bool same = at > 0 && states[order[at]] == states[order[at - 1]];
      if (!same || at - begins.back() == kLongestRun) begins.push_back(at);
    }
    begins.push_back(order.size());
  }
};

// Does the task for each matcher, a run on one thread.  Result: the error of each, or null.  The calling thread, which
// alone may have an interruption, looks for it until all threads are done; then it throws Interrupted, and there is no
// result.
template <class Task>
std::vector<std::exception_ptr> for_each_on_threads(const Runs& runs, std::size_t threads, Task&& task) {
  std::vector<std::exception_ptr> errors(runs.order.size());
  std::atomic<std::size_t> next{0};
  std::atomic<bool> is_over{false};
  const auto work = [&] {
    while (!is_over) {
      const std::size_t run = next.fetch_add(1, std::memory_order_relaxed);
      if (run + 1 >= runs.begins.size()) return;
      for (std::size_t at = runs.begins[run]; at < runs.begins[run + 1]; ++at) {
        const std::size_t i = runs.order[at];
        try {
          task(i);
        } catch (const Interrupted&) {
          is_over = true;
          return;
        } catch (...) {
          errors[i] = std::current_exception();
        }
      }
    }
  };
  const std::size_t most = std::min(threads, runs.begins.size() - 1);
  std::counting_semaphore<> done(0);
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < most; ++i) {
    try {
      others.emplace_back([&] {
        RelayedInterruption relayed(is_over);
        const Interruption::Set set(&relayed);
        work();
        done.release();
      });
    } catch (const std::system_error&) {
      break;  // the system has no thread to give: those that there are do the work
    }
  }
  work();
  for (std::size_t waits = others.size(); waits > 0;) {
    waits -= done.try_acquire_for(Interruption::kPatience);
    try {
      Interruption::check_current(Interruption::Clock::now());
    } catch (const Interrupted&) {
      is_over = true;
    }
  }
  others.clear();  // joins them
  if (is_over) throw Interrupted();
  return errors;
}

}  // namespace

std::vector<std::exception_ptr> fill_masks(std::span<Matcher* const> matchers, std::span<std::uint32_t* const> rows,
                                           unsigned threads, std::span<const std::optional<TokenCount>> budgets,
                                           const Deadline& deadline, OnDeadline on_deadline,
                                           std::span<std::uint8_t> is_whole) {
  const auto budget = [&](std::size_t i) { return budgets.empty() ? std::nullopt : budgets[i]; };
  const auto known_mask = [&](std::size_t i) -> MaskPtr {
    if (!budget(i)) return matchers[i]->try_mask();
    MaskPtr known = matchers[i]->try_mask_within(*budget(i), false);
    return known && known->set_bits ? known : nullptr;  // an empty one is an error that mask_within throws
  };
  TOKAMATA_CHECK(on_deadline == OnDeadline::Error || is_whole.size() == matchers.size(), "each row is told about");
  std::ranges::fill(is_whole, std::uint8_t{1});
  const Runs runs(matchers);
  std::size_t unknown = 0, words = 0;
  for (const std::size_t i : runs.order) {
    unknown += known_mask(i) == nullptr;
    words += matchers[i]->constraint()->vocabulary().words();
  }
  const bool is_large = unknown > 1 || words > kWorthAThread;
  return for_each_on_threads(runs, is_large ? threads : 1, [&](std::size_t i) {
    MaskPtr mask = known_mask(i);
    if (!mask && on_deadline == OnDeadline::Some) {
      const MadeMask made = matchers[i]->some_mask(budget(i), false, deadline);
      made.mask->bits.write(rows[i]);
      is_whole[i] = made.is_whole;
      return;
    }
    if (!mask) mask = budget(i) ? matchers[i]->mask_within(*budget(i), false, deadline) : matchers[i]->mask(deadline);
    mask->bits.write(rows[i]);
  });
}

std::vector<std::exception_ptr> fill_draft_masks(std::span<Matcher* const> matchers, std::span<DraftRows> drafts,
                                                 unsigned threads, bool count_stop, const Deadline& deadline,
                                                 OnDeadline on_deadline) {
  return for_each_on_threads(Runs(matchers), threads, [&](std::size_t i) {
    DraftMasks made = matchers[i]->draft_masks(drafts[i].draft, drafts[i].budget, count_stop, deadline, on_deadline);
    const std::size_t words = matchers[i]->constraint()->vocabulary().words();
    for (std::size_t row = 0; row < made.rows.size(); ++row) {
      std::uint32_t* const to = drafts[i].rows + row * words;
      if (made.rows[row]) made.rows[row]->bits.write(to);
      else std::fill_n(to, words, 0u);
    }
    drafts[i].legal = std::move(made.legal);
    drafts[i].whole = std::move(made.whole);
  });
}

}  // namespace tokamata
