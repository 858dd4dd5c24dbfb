// Whether it pays to follow parts of a grammar by their segments; otherwise they are unfolded where they begin.
// Problem.  What remains of the tokens after each part is a trie of its own, so readings that part before it do not
// meet again.  In  s: s? t? | t s t?  many parts begin at one place, and after each of them as many again.
// How.  Masks are made with segments as long as they open few spots, by and large; from then on parts are unfolded, and
// all readings of the same bytes meet at one spot.
// Cost.  At most 30,000 spots that were opened in vain, some 0.1 s, once for each constraint.
// Rejected: a bound on the segments of a mask, or on parts after each other.  Half of the segments are worse than all
// or none, and in Java, where few parts begin at one place, more than three of them stand one after another.
#pragma once

#include <cstdint>

namespace tokamata {

class SegmentPayoff {
 public:
  // While a mask is made that can be made once more.
  class Trial {
   public:
    explicit Trial(SegmentPayoff& segments) : segments_(segments) {
      segments_.spots_left_ += kSpotsOfMask;
      segments_.is_trial_ = segments_.pay_;
    }
    ~Trial() { segments_.is_trial_ = false; }
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;

   private:
    SegmentPayoff& segments_;
  };
  bool pay() const { return pay_; }
  // Counts a spot.  False if that is one too many for a mask that can be made once more: it is to be given up.
  [[nodiscard]] bool may_open_spot() {
    if (!is_trial_ || --spots_left_ > 0) return true;
    pay_ = false;
    return false;
  }

 private:
  // Where all is new, some masks of JSON and C open 10,000 spots; in programs of Java, a mask opens 180 on the average.
  static constexpr std::int64_t kSpotsAtFirst = 30'000, kSpotsOfMask = 1'000;
  std::int64_t spots_left_ = kSpotsAtFirst;
  bool pay_ = true, is_trial_ = false;
};

}  // namespace tokamata
