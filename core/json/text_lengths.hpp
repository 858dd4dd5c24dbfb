// Sets of strings that are defined by their lengths alone, as ranges of them.
//
// Problem.  minLength and maxLength in several places, some of them denied, are an intersection of counts, in which the
// engine would have to search for a text after every character; together they are a few ranges.
// Example.  all(1..500, not 1..255) is 256..500.
// Cost.  Linear in the ranges.
#pragma once

#include <algorithm>
#include <vector>

#include "json/value_table.hpp"

namespace tokamata::json {

class TextLengths {
 public:
  struct Range {
    Count minimum, maximum;  // or kNoMaximum
    bool operator==(const Range&) const = default;
  };

  static TextLengths all() { return of(0, kNoMaximum); }
  static TextLengths none() { return {}; }
  static TextLengths of(Count minimum, Count maximum) {
    TextLengths made;
    if (minimum <= maximum) made.ranges_.push_back({minimum, maximum});
    return made;
  }

  const counted::vector<Range>& ranges() const { return ranges_; }  // in order, with gaps between them
  bool operator==(const TextLengths&) const = default;

  TextLengths operator~() const {
    TextLengths result;
    Count next = 0;
    for (const Range& range : ranges_) {
      if (range.minimum > next) result.ranges_.push_back({next, range.minimum - 1});
      if (range.maximum == kNoMaximum) return result;
      next = range.maximum + 1;
    }
    result.ranges_.push_back({next, kNoMaximum});
    return result;
  }
  TextLengths operator&(const TextLengths& other) const {
    TextLengths result;
    for (const Range& a : ranges_)
      for (const Range& b : other.ranges_)
        if (const Range both{std::max(a.minimum, b.minimum), std::min(a.maximum, b.maximum)};
            both.minimum <= both.maximum)
          result.ranges_.push_back(both);
    return result;
  }
  TextLengths operator|(const TextLengths& other) const { return ~(~*this & ~other); }

 private:
  counted::vector<Range> ranges_;
};

}  // namespace tokamata::json
