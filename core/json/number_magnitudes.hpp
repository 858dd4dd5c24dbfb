// Which numbers begin with given digits: the arithmetic of number automata.
//
// Problem.  A model has written 12.3; may what it is writing still become a number of the set?  Since no state of
// an automaton may be a dead end, this is asked at every digit and must be exact.
// What is asked.  A prefix P of significant digits, the first of which will stand for 10^lead, becomes the
// numbers in [P, P+1) · 10^s for a scale s that may still move: digits before the point and exponents move it.
// Is one of them between the bounds, a multiple of the modulus, and on the grid of 10^g (the last digit that
// may be written)?  A sign asks two such questions, one with its bounds exchanged.
// Example.  Multiples of 7 up to 100, P = 9.  At scale 0 there is 9 alone, and 9 is no multiple; at scale 1
// the numbers from 90 to 99, and (-9·10) mod 7 = 1 < 10: there is 91.
// How.  For one scale: away from the bounds the least i with P·10^t + i a multiple is a residue, and must be below
// 10^t; where P is how a bound begins, the multiple next to the bound, inside, must begin with P too.
// For a range of scales: ten times a multiple is a multiple at the next scale, so that what lies between
// the bounds is alive at the largest scale if at any.  Three scales are examined: where the numbers have as many
// digits as the upper bound, where they have as many as the lower one, and the largest between.
// What a prefix remembers: how it compares with the digits of each bound, its residue, how many more zeros
// it has at its end than a multiple needs (`slack`), and where its point is.
// Cost.  At most three residues, and sometimes a long division of a bound.
#pragma once

#include <algorithm>
#include <cstdint>

#include "json/number_set.hpp"

namespace tokamata::json {

// Beyond all exponents, positions and numbers of digits that can make a difference.
inline constexpr std::int32_t kFarOff = 40'000;

// Digits against those of a bound: less, greater, or how many of them are the same so far.
using Comparison = std::int32_t;
inline constexpr Comparison kLess = -1, kGreater = -2;

// The significant digits of a number that were read.
struct Digits {
  bool begun = false;      // a digit other than 0 was read
  std::int32_t lead = 0;   // once begun: the first stands for 10^lead; before exponents
  std::int32_t point = 0;  // digits after the point
  std::int32_t slack = 0;  // times 10^e for e >= -slack, and only then, it is a multiple, if it ever is
  std::uint64_t residue = 0;
  Comparison low = 0, high = 0;

  friend auto operator<=>(const Digits&, const Digits&) = default;
};

// The numbers of a set that have one sign, without it.
class Magnitudes {
 public:
  // Which numbers can be written: all, those without a fraction, those of at most 17 digits that are in
  // the range of a float.
  enum class Grid : std::uint8_t { Dense, Whole, Float };
  static constexpr std::int32_t kFloatDigits = 17, kLeastFloat = -324, kGreatestFloat = 308;

  Magnitudes(const NumberSet& set, bool is_negative, Grid grid);

  bool has_zero() const { return has_zero_; }
  bool has_positive() const { return has_positive_; }
  bool is_bounded() const { return low_ || high_; }
  bool has_modulus() const { return modulus_.has_value(); }
  // All there are, or all integers.
  bool is_free() const { return !is_bounded() && !(modulus_ && *modulus_ != Modulus{}); }
  // Whether one digit of 1 to 9 is as good as another, where `with_exponents`, those of an exponent too.
  bool has_equal_digits(bool with_exponents) const {
    return !is_bounded() && !(modulus_ && (with_exponents || modulus_->factor != 1));
  }
  friend bool operator==(const Magnitudes&, const Magnitudes&) = default;

  // One more digit, whose position `lead` and `point` say already.
  void append(Digits& digits, unsigned digit) const;

  // What may still be written: `digits` more digits, none after 10^weight.
  struct Room {
    std::int32_t digits = 4 * kFarOff;
    std::int32_t weight = -4 * kFarOff;
    bool grows = false;  // the number itself does not count, something must be added to it
  };
  // Whether a number of the set begins so, times 10^e for an e from `least` to `most`.  For digits that have not
  // begun, these are the places of the first one.
  bool reaches(const Digits& digits, std::int32_t least, std::int32_t most, const Room& room) const;
  bool reaches(const Digits& digits, std::int32_t least, std::int32_t most) const {
    return reaches(digits, least, most, {});
  }

  // The exponents e for which the digits, times 10^e, are in the set, within bounds that matter to no one.
  struct Exponents {
    std::int32_t least, most;
    // Whether one of them is from `from` to `to`.  There may be none at all, between two others: 1.3 is too small for
    // 1.5e20 with e20, and too large with e21, so that these are from 21 to 20.
    bool meet(std::int32_t from, std::int32_t to) const { return std::max(least, from) <= std::min(most, to); }
  };
  Exponents exponents(const Digits& digits) const;
  bool contains(const Digits& digits) const;

  // How many digits, zeros at the end not counted, have to be remembered beside `low` and `high`, where
  // there is no modulus: those of bounds that they still are the beginning of, and one.  From 6 to 6.08 the zeros of
  // 6.00 matter, though they are not digits of 6: one more digit after them is below 6.08, and one after 6 is not.
  std::int32_t digits_that_matter(const Digits& digits) const;

  // The longest run of zeros in the digits that all numbers of the set begin with, where those are as many at least.
  std::size_t zeros_in_common() const;
  // No less than the digits of the modulus: how many zeros a multiple may need before its next other digit, where it
  // needs any.
  std::uint32_t zeros_of_multiples() const;

  // No less than any of its digits can be away from being a number of the set, if it can become one.
  std::uint32_t most_missing() const;

 private:
  struct Bound {
    Decimal value;
    bool included;
    friend bool operator==(const Bound&, const Bound&) = default;
  };

  void compare(Digits& digits, unsigned digit) const;
  bool reaches_at(const Digits& digits, std::int32_t scale, const Room& room) const;
  bool reaches_bound(const Digits& digits, std::int64_t lead, std::int64_t grid, bool is_low, const Room& room) const;
  bool has_multiple(const Digits& digits, std::int32_t scale, std::int64_t grid, bool grows) const;
  bool is_multiple_ever(const Digits& digits) const;
  std::int64_t grid_at(const Digits& digits, std::int32_t scale, const Room& room) const;
  Modulus modulus_on(std::int64_t grid) const { return modulus_ ? modulus_->on_grid(grid) : Modulus{1, grid}; }
  bool is_dense(std::int64_t grid) const { return !modulus_ && grid < -2 * kFarOff; }

  Grid grid_;
  bool has_zero_ = false, has_positive_ = false;
  std::optional<Bound> low_, high_;
  std::size_t apart_ = 1;  // how many digits distinguish the bounds
  std::optional<Modulus> modulus_;
  std::uint64_t coprime_ = 1;  // of the modulus, what is neither 2 nor 5
  std::uint32_t twos_ = 0, fives_ = 0;
};

}  // namespace tokamata::json
