// How much a search for repairs prefers what is near the end of the input, for the sake of a first answer.
//
// How.  Anytime search as in ARA* (Likhachev, Gordon and Thrun 2003).  With a weight above 1, every symbol of the input
// that is unread adds to a node's place in the queue, so that the search follows its best attempt and returns to near
// alternatives only.  With each answer, and where there is none for some thousand steps, the excess of the weight is
// halved, and what was searched is used again; at 1 it is A* alone.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tokamata {

class SearchWeight {
 public:
  static constexpr std::uint32_t kOne = 100;  // weights are in hundredths

  explicit SearchWeight(std::uint32_t given) : now_(given), given_(given) {}

  std::uint32_t excess() const { return now_ - kOne; }
  // Whether an attempt with excess has had so many steps.
  bool is_tried(std::uint64_t steps, std::uint64_t most) const { return excess() > 0 && tried(steps) > most; }
  std::uint64_t tried(std::uint64_t steps) const { return steps - set_at_; }

  // `steps`: of the search so far.
  void begin(std::uint64_t steps) { set(given_, steps); }
  void raise(std::uint32_t weight, std::uint64_t steps) { set(std::max(given_, weight), steps); }
  // Half of the excess; an eighth of what is above the caller's weight.
  void lower(std::uint64_t steps) {
    constexpr std::uint32_t kLeastExcess = 25;
    const std::uint32_t lower = excess() / (now_ > given_ ? 8 : 2);
    set(kOne + (lower < kLeastExcess ? 0 : lower), steps);
  }
  // Whether there was any.
  bool drop_excess() {
    const bool had_excess = excess() > 0;
    now_ = kOne;
    return had_excess;
  }

 private:
  void set(std::uint32_t weight, std::uint64_t steps) {
    now_ = weight;
    set_at_ = steps;
  }

  std::uint32_t now_, given_;
  std::uint64_t set_at_ = 0;
};

}  // namespace tokamata
