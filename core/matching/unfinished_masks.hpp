// How much longer than its deadline a mask may take, so that in the end it is whole.
//
// Problem.  When time is up, walks are left where they are, and the next call goes on with them.  Other work cannot be
// left in the middle, such as a derivative of thousands of alternatives.  Where it takes longer than the deadline, each
// call would begin it anew, and no text would ever see the whole mask.
// How.  Places are counted whose mask was left unfinished.  From the third time on, a call may take twice as long as
// the time before, until the mask is whole or two milliseconds have not sufficed.  After that nothing is tried again.
// Example.  A deadline of 200 µs, work of 700 µs: calls of 200, 200, 400, and 700 µs, and from then on a look-up.
// Cost.  A number for each place; they are forgotten when there are too many.
// Rejected.  Such work without a deadline: the first call would be late.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "common/hash.hpp"
#include "common/limits.hpp"
#include "common/memory_account.hpp"

namespace tokamata {

class UnfinishedMasks {
 public:
  static constexpr double kMostSeconds = 0.002;

  // The deadline of the next call at a place, which is named by a hash; `deadline` is that of the caller.
  Deadline extended(std::uint64_t place, const Deadline& deadline) const {
    const auto known = times_.find(place);
    if (known == times_.end() || known->second < kTimesBefore || known->second > kMostTimes) return deadline;
    const double more = deadline.seconds * static_cast<double>((1u << (known->second - kTimesBefore + 1)) - 1);
    if (deadline.seconds + more > kMostSeconds) return deadline;
    const std::chrono::duration<double> time(more);
    return {deadline.at + std::chrono::duration_cast<Deadline::Clock::duration>(time), deadline.seconds};
  }
  void note_unfinished(std::uint64_t place) {
    if (times_.size() == kMostPlaces) times_.clear();
    std::uint8_t& times = times_[place];
    times = static_cast<std::uint8_t>(std::min<unsigned>(times + 1u, kMostTimes + 1u));
  }
  void note_whole(std::uint64_t place) { times_.erase(place); }

 private:
  static constexpr std::uint8_t kTimesBefore = 2, kMostTimes = 12;
  static constexpr std::size_t kMostPlaces = 4096;

  counted::unordered_map<std::uint64_t, std::uint8_t, NumberHash> times_;
};

}  // namespace tokamata
