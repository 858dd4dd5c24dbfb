#include "json/number_magnitudes.hpp"

#include <algorithm>

namespace tokamata::json {

namespace {

constexpr std::int64_t kLongestPower = 18;  // 10^18 is the longest that is kept as a number

std::uint64_t power_of_ten(std::int64_t exponent) {
  std::uint64_t power = 1;
  for (; exponent > 0; --exponent) power *= 10;
  return power;
}

// How often a prime goes into a number, `most` times at most; into 0 as often as one likes.
std::uint32_t valuation(std::uint64_t number, std::uint64_t prime, std::uint32_t most) {
  std::uint32_t count = 0;
  for (; count < most && number % prime == 0; ++count) number /= prime;
  return count;
}

Comparison compared(Comparison so_far, const Decimal& bound, unsigned digit) {
  if (so_far < 0) return so_far;
  const auto place = static_cast<std::size_t>(so_far);
  const unsigned other = place < bound.digits.size() ? static_cast<unsigned>(bound.digits[place] - '0') : 0;
  if (digit != other) return digit < other ? kLess : kGreater;
  return static_cast<Comparison>(std::min(place + 1, bound.digits.size()));
}

// How many significant digits there are, the zeros at the end too.
std::int64_t length_of(const Digits& digits) { return digits.begun ? std::int64_t{digits.lead} + digits.point + 1 : 0; }

char digit_of(const Decimal& number, std::size_t place) {
  return place < number.digits.size() ? number.digits[place] : '0';
}

// How many digits distinguish two numbers; 1 where their leads do, or nothing.
std::size_t digits_apart(const Decimal& a, const Decimal& b) {
  if (a.lead != b.lead || a == b) return 1;
  std::size_t place = 0;
  while (digit_of(a, place) == digit_of(b, place)) ++place;
  return place + 1;
}

bool share_digits(const Decimal& a, const Decimal& b, std::int64_t length) {
  const std::size_t most = std::min(static_cast<std::size_t>(length), std::max(a.digits.size(), b.digits.size()));
  for (std::size_t place = 0; place < most; ++place)
    if (digit_of(a, place) != digit_of(b, place)) return false;
  return true;
}

}  // namespace

Magnitudes::Magnitudes(const NumberSet& set, bool is_negative, Grid grid) : grid_(grid), modulus_(set.modulus()) {
  const auto& toward_zero = is_negative ? set.maximum() : set.minimum();
  const auto& away = is_negative ? set.minimum() : set.maximum();
  const auto is_beyond_zero = [&](const NumberSet::Bound& bound) {  // on this side of it
    return !bound.value.magnitude.is_zero() && bound.value.is_negative == is_negative;
  };
  if (modulus_) {
    twos_ = valuation(modulus_->factor, 2, 64);
    fives_ = valuation(modulus_->factor, 5, 64);
    coprime_ = modulus_->factor >> twos_;
    for (std::uint32_t i = 0; i < fives_; ++i) coprime_ /= 5;
  }
  if (toward_zero && is_beyond_zero(*toward_zero)) low_ = Bound{toward_zero->value.magnitude, toward_zero->included};
  has_zero_ = !low_ && !(toward_zero && toward_zero->value.magnitude.is_zero() && !toward_zero->included);
  if (away) {
    if (is_beyond_zero(*away)) {
      high_ = Bound{away->value.magnitude, away->included};
    } else {
      has_zero_ = has_zero_ && away->value.magnitude.is_zero() && away->included;
      return;  // nothing beyond zero
    }
  }
  has_positive_ = !(low_ && high_) || low_->value < high_->value ||
                  (low_->value == high_->value && low_->included && high_->included);
  if (low_ && high_) apart_ = digits_apart(low_->value, high_->value);
  const bool is_float = grid_ == Grid::Float;
  has_positive_ = reaches({},
                          is_float               ? kLeastFloat
                          : grid_ == Grid::Whole ? 0
                                                 : -kFarOff,
                          is_float ? kGreatestFloat : kFarOff);
}

// ---- digits that are read -----------------------------------------------------------------------

void Magnitudes::compare(Digits& digits, unsigned digit) const {
  if (low_) digits.low = compared(digits.low, low_->value, digit);
  if (high_) digits.high = compared(digits.high, high_->value, digit);
}

// Let the modulus be 2^i · 5^j · b · 10^k; one of i, j is zero.  Digits that end in another one than 0 are its
// multiple times 10^e where b goes into them and e is enough for what they lack of 2^i or 5^j.
void Magnitudes::append(Digits& digits, unsigned digit) const {
  compare(digits, digit);
  if (!modulus_) return;
  digits.residue = (10 * digits.residue + digit) % modulus_->factor;
  if (digit == 0) {
    if (digits.point == 0) digits.slack = std::min(digits.slack + 1, kFarOff);
    return;
  }
  const std::uint32_t lacking =
      std::max(twos_ - valuation(digits.residue, 2, twos_), fives_ - valuation(digits.residue, 5, fives_));
  digits.slack = -digits.point - static_cast<std::int32_t>(modulus_->weight) - static_cast<std::int32_t>(lacking);
}

bool Magnitudes::is_multiple_ever(const Digits& digits) const { return digits.residue % coprime_ == 0; }

Magnitudes::Exponents Magnitudes::exponents(const Digits& digits) const {
  Exponents result{-kFarOff, kFarOff};
  const Exponents none{0, -1};
  if (!digits.begun) return has_zero_ ? result : none;
  if (!has_positive_) return none;
  // Where there are as many digits as the bound has, they decide; all of them, if they are the same.
  const auto is_same = [](Comparison comparison, const Bound& bound) {
    return comparison >= 0 && static_cast<std::size_t>(comparison) == bound.value.digits.size();
  };
  if (low_) {
    const bool above = digits.low == kGreater || (is_same(digits.low, *low_) && low_->included);
    result.least = static_cast<std::int32_t>(low_->value.lead) - digits.lead + !above;
  }
  if (high_) {
    const bool below = digits.high == kLess || (digits.high >= 0 && (!is_same(digits.high, *high_) || high_->included));
    result.most = static_cast<std::int32_t>(high_->value.lead) - digits.lead - !below;
  }
  if (modulus_) {
    if (!is_multiple_ever(digits)) return none;
    result.least = std::max(result.least, -digits.slack);
  }
  return result;
}

bool Magnitudes::contains(const Digits& digits) const {
  const auto [least, most] = exponents(digits);
  return least <= 0 && 0 <= most;
}

std::int32_t Magnitudes::digits_that_matter(const Digits& digits) const {
  std::size_t most = 1;
  if (low_ && digits.low >= 0) most = std::max({most, low_->value.digits.size(), apart_});
  if (high_ && digits.high >= 0) most = std::max(most, high_->value.digits.size());
  return static_cast<std::int32_t>(most);
}

// ---- digits to come -----------------------------------------------------------------------------

bool Magnitudes::reaches(const Digits& digits, std::int32_t least, std::int32_t most, const Room& room) const {
  if (!has_positive_) return false;
  const std::int32_t lead = digits.begun ? digits.lead : 0;
  if (high_) {
    const auto scale = static_cast<std::int32_t>(high_->value.lead) - lead;
    if (least <= scale && scale <= most && reaches_at(digits, scale, room)) return true;
    most = std::min(most, scale - 1);
  }
  if (low_) {
    const auto scale = static_cast<std::int32_t>(low_->value.lead) - lead;
    if (least <= scale && scale <= most && reaches_at(digits, scale, room)) return true;
    least = std::max(least, scale + 1);
  }
  return least <= most && reaches_at(digits, most, room);
}

std::int64_t Magnitudes::grid_at(const Digits& digits, std::int32_t scale, const Room& room) const {
  const std::int64_t lead = std::int64_t{scale} + (digits.begun ? digits.lead : 0);
  const std::int64_t last = digits.begun ? std::int64_t{scale} - digits.point : lead + 1;  // of those read
  std::int64_t grid = std::max<std::int64_t>(room.weight, last - room.digits);
  if (grid_ == Grid::Whole) grid = std::max<std::int64_t>(grid, 0);
  if (grid_ == Grid::Float) grid = std::max<std::int64_t>(grid, lead - kFloatDigits + 1);
  return grid;
}

bool Magnitudes::reaches_at(const Digits& digits, std::int32_t scale, const Room& room) const {
  const std::int64_t lead = std::int64_t{scale} + (digits.begun ? digits.lead : 0);
  const std::int64_t grid = grid_at(digits, scale, room);
  if (low_ && lead < low_->value.lead) return false;
  if (high_ && lead > high_->value.lead) return false;
  const Comparison low = low_ && lead == low_->value.lead ? digits.low : kGreater;
  const Comparison high = high_ && lead == high_->value.lead ? digits.high : kLess;
  if (low == kLess || high == kGreater) return false;
  if (low >= 0) return reaches_bound(digits, lead, grid, true, room);
  if (high >= 0) return reaches_bound(digits, lead, grid, false, room);
  return has_multiple(digits, scale, grid, room.grows);
}

// The digits are how the lower bound begins; or they are above it, and are how the upper one begins.
bool Magnitudes::reaches_bound(const Digits& digits, std::int64_t lead, std::int64_t grid, bool is_low,
                               const Room& room) const {
  const Bound& bound = is_low ? *low_ : *high_;
  const std::int64_t length = length_of(digits);
  if (is_dense(grid)) {
    // Something lies right above the lower bound, since the set is not empty; the upper one itself is the
    // least number that begins with all its digits.
    return is_low || bound.included || static_cast<std::size_t>(digits.high) < bound.value.digits.size();
  }
  const Modulus modulus = modulus_on(grid);
  const auto begins = [&](const Decimal& number) {
    return number.lead == lead && !number.is_zero() && share_digits(number, bound.value, length);
  };
  Decimal next = is_low ? ceil_multiple(bound.value, bound.included, modulus)
                        : floor_multiple(bound.value, bound.included, modulus);
  if (!begins(next)) return false;
  if (room.grows && static_cast<std::int64_t>(next.digits.size()) <= length) {
    if (!is_low) return false;
    next = ceil_multiple(next, false, modulus);
    if (!begins(next)) return false;
  }
  return !is_low || !high_ || next < high_->value || (next == high_->value && high_->included);
}

// No bound is near.
bool Magnitudes::has_multiple(const Digits& digits, std::int32_t scale, std::int64_t grid, bool grows) const {
  if (is_dense(grid)) return true;
  const auto [factor, weight] = modulus_on(grid);
  const std::int64_t power = std::int64_t{scale} - (digits.begun ? digits.point : 0) - weight;
  // What is written is finer than the modulus already, and will be one only as it is.
  if (power < 0) return digits.begun && !grows && modulus_ && is_multiple_ever(digits) && scale + digits.slack >= 0;
  if (power > kLongestPower) return true;
  std::uint64_t rest = digits.begun ? digits.residue % factor : 1 % factor;
  for (std::int64_t i = 0; i < power; ++i) rest = 10 * rest % factor;
  std::uint64_t first = (factor - rest) % factor;
  if (grows && first == 0) first = factor;
  return first < (digits.begun ? 1 : 9) * power_of_ten(power);
}

std::size_t Magnitudes::zeros_in_common() const {
  if (!low_ || !high_ || low_->value.lead != high_->value.lead) return 0;
  const std::size_t length = low_->value == high_->value ? low_->value.digits.size() : apart_;
  std::size_t longest = 0, run = 0;
  for (std::size_t place = 0; place < length; ++place) {
    run = digit_of(low_->value, place) == '0' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

std::uint32_t Magnitudes::zeros_of_multiples() const {
  return modulus_ && modulus_->factor != 1 ? static_cast<std::uint32_t>(std::to_string(modulus_->factor).size()) : 0;
}

// Some 26 characters are enough for what the residue asks, a point, and an exponent; as many as a bound has
// digits to end up at it; and integers need as many as they are long.
std::uint32_t Magnitudes::most_missing() const {
  if (is_free()) return 6;  // 1.001 is an integer with e9999
  std::uint64_t most = 64;
  for (const auto& bound : {low_, high_})
    if (bound) most += bound->value.digits.size();
  if (low_) most += static_cast<std::uint64_t>(std::max<std::int64_t>(low_->value.lead, 0));
  if (modulus_) most += static_cast<std::uint64_t>(std::max<std::int64_t>(modulus_->weight, 0));
  return static_cast<std::uint32_t>(most);
}

}  // namespace tokamata::json
