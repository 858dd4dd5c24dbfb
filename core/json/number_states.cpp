#include "json/number_states.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace tokamata::json {

NumberStates::NumberStates(std::shared_ptr<const NumberSet> set)
    : set_(std::move(set)), has_whole_(set_->digits_only() || !is_any()), has_real_(!set_->digits_only()) {
  for (const int side : {0, 1}) {
    if (has_whole_) whole_[side].emplace(*set_, side == 1, Magnitudes::Grid::Whole);
    if (has_real_) real_[side].emplace(*set_, side == 1, is_any() ? Magnitudes::Grid::Dense : Magnitudes::Grid::Float);
  }
  bounds_zeros_ = is_natural() && has_real_;
  for (const int side : {0, 1}) {
    if (!has_real_) break;
    bounds_zeros_ = bounds_zeros_ && real_[side]->zeros_in_common() + 1 < kMostZerosInRow;
    zeros_of_multiples_ = std::max(zeros_of_multiples_, real_[side]->zeros_of_multiples());
  }
  sides_are_equal_ = whole_[0] == whole_[1] && real_[0] == real_[1];
}

// ---- transitions --------------------------------------------------------------------------------

std::optional<NumberState> NumberStates::after(const NumberState& state, char c) const {
  if (c >= '0' && c <= '9') return after_digit(state, static_cast<unsigned>(c - '0'));
  switch (c) {
    case '-':
      if (state.phase == Phase::Start && !set_->is_unsigned()) return NumberState{.phase = Phase::Minus, .side = 1};
      return state.phase == Phase::Mark ? with_sign(state, true) : std::nullopt;
    case '+': return state.phase == Phase::Mark ? with_sign(state, false) : std::nullopt;
    case '.': {
      if (!has_real_ || (state.phase != Phase::Zero && state.phase != Phase::Integer)) return std::nullopt;
      NumberState next{.phase = Phase::Point, .side = state.side, .digits = state.digits};
      next.may_have_exponent = !is_any() && state.phase == Phase::Integer && state.digits.lead == 0;
      return next;
    }
    case 'e': return with_mark(state);
    default: return is_any() ? with_mark(state) : std::nullopt;  // E
  }
}

std::optional<NumberState> NumberStates::after_digit(const NumberState& state, unsigned digit) const {
  NumberState next = state;
  switch (state.phase) {
    case Phase::Start:
    case Phase::Minus:
      next.phase = digit == 0 ? Phase::Zero : Phase::Integer;
      next.after_minus = digit == 0 && state.phase == Phase::Minus;
      break;
    case Phase::Integer: next.digits.lead = std::min(next.digits.lead + 1, kFarOff); break;
    case Phase::Point:
    case Phase::Fraction:
      next.digits.point = std::min(next.digits.point + 1, kFarOff);
      if (!next.digits.begun) next.digits.lead = digit == 0 ? 0 : -next.digits.point;
      if (!is_any())
        next.ending = digit != 0 ? Ending::Digit : state.phase == Phase::Point ? Ending::OnlyZero : Ending::Zero;
      if (bounds_zeros_) {
        if (digit == 0 && state.zeros == kMostZerosInRow) return std::nullopt;
        next.zeros = digit == 0 ? static_cast<std::uint8_t>(state.zeros + 1) : 0;
      }
      next.phase = Phase::Fraction;
      break;
    case Phase::Mark: {
      if (!is_any()) return std::nullopt;
      const std::optional<NumberState> with_plus = with_sign(state, false);
      return with_plus ? after_digit(*with_plus, digit) : std::nullopt;
    }
    case Phase::Sign:
    case Phase::Exponent:
      next.phase = Phase::Exponent;
      next.exponent = 10 * state.exponent + static_cast<std::int32_t>(digit);
      ++next.count;
      return next;
    default: return std::nullopt;
  }
  if (next.digits.begun || digit != 0) {
    next.digits.begun = true;
    either(next).append(next.digits, digit);
  }
  return next;
}

std::optional<NumberState> NumberStates::with_mark(const NumberState& state) const {
  if (!has_real_) return std::nullopt;
  const bool is_fraction = state.phase == Phase::Fraction;
  const bool may_end = is_any() ? is_fraction || state.phase == Phase::Integer || state.phase == Phase::Zero
                                : (is_fraction && state.may_have_exponent && state.ending == Ending::Digit) ||
                                      (state.phase == Phase::Integer && state.digits.lead == 0);
  if (!may_end) return std::nullopt;
  const auto [least, most] = real(state).exponents(state.digits);
  return NumberState{
      .phase = Phase::Mark, .least = is_any() ? std::max(least, least_exponent(state.digits)) : least, .most = most};
}

std::optional<NumberState> NumberStates::with_sign(const NumberState& state, bool is_minus) const {
  NumberState next{.phase = Phase::Sign};
  // Of any spelling so many digits; of the plain one the exponents that floats are written with.
  using Exponents = Magnitudes::Exponents;
  const auto [least, most] = is_any() ? Exponents{0, kMostExponent} : is_minus ? Exponents{5, 324} : Exponents{16, 308};
  next.least = std::max(is_minus ? -state.most : state.least, least);
  next.most = std::min(is_minus ? -state.least : state.most, most);
  return next;
}

// ---- what can be forgotten ----------------------------------------------------------------------

void NumberStates::normalize(NumberState& state) const {
  if (sides_are_equal_ && state.phase != Phase::Minus) state.side = 0;
  if (is_any()) state.after_minus = false;
  switch (state.phase) {
    case Phase::Integer:
    case Phase::Point:
    case Phase::Fraction: return normalize_digits(state);
    case Phase::Mark:
      state.least = std::max(state.least, is_any() ? -kMostExponent : Magnitudes::kLeastFloat);
      state.most = std::min(state.most, is_any() ? kMostExponent : Magnitudes::kGreatestFloat);
      break;
    case Phase::Exponent: return normalize_exponent(state);
    default: break;
  }
}

// Where there are no bounds, no one asks how many digits stand before the point, except for plain spellings, up to
// 17, and natural ones, up to 3; without a modulus, no one asks how many stand after it, but while they may be those of
// a bound.
void NumberStates::normalize_digits(NumberState& state) const {
  const Magnitudes& numbers = either(state);
  Digits& digits = state.digits;
  const bool bounded = numbers.is_bounded(), has_modulus = numbers.has_modulus();
  const bool is_integer = state.phase == Phase::Integer;
  const bool counts_digits = has_real_ && !is_any();
  if (counts_digits && !is_integer && state.may_have_exponent) state.may_have_exponent = has_plain_exponent(state);
  const bool may_have_exponent = is_any() || state.may_have_exponent || (is_integer && digits.lead == 0);
  if (has_modulus && (!has_real_ || !may_have_exponent)) digits.slack = std::min(digits.slack, 0);
  if (is_integer) {
    const std::int32_t most = !has_real_      ? 0
                              : counts_digits ? Magnitudes::kFloatDigits - 1
                              : is_natural()  ? kMostLeadBelow + 1
                                              : 0;
    if (!bounded) digits.lead = std::min(digits.lead, most);
    return;
  }
  if (counts_digits) {
    if (!bounded && !has_modulus && digits.begun) digits.point += std::exchange(digits.lead, 0);
    return;
  }
  if (!bounded) digits.lead = is_natural() && digits.lead > kMostLeadBelow ? kMostLeadBelow + 1 : 0;
  if (has_modulus) return;
  if (!bounded) {
    digits.point = 0;
  } else if (digits.begun) {
    const std::int32_t needed = numbers.digits_that_matter(digits) - 1 - digits.lead;
    digits.point = std::min(digits.point, std::max({needed, -digits.lead, 0}));
  }
}

// An exponent that may go on in every way, or in none, needs no digits.
void NumberStates::normalize_exponent(NumberState& state) const {
  if (!is_any()) return normalize_plain_exponent(state);
  bool is_free = true, may_go_on = false;
  for (std::int32_t count = state.count, low = state.exponent, size = 1; count <= 4; ++count, low *= 10, size *= 10) {
    is_free = is_free && state.least <= low && low + size - 1 <= state.most;
    may_go_on = may_go_on || (count > state.count && state.least <= low + size - 1 && low <= state.most);
  }
  if (!is_free && may_go_on) return;
  if (!is_free) state.count = 4;
  state.least = state.exponent = 0;
  state.most = kMostExponent;
}

// Of two digits it matters whether they are enough and which third ones there are: as if they were 10.
void NumberStates::normalize_plain_exponent(NumberState& state) const {
  if (state.count < 2) return;
  const std::int32_t first = 10 * state.exponent;
  const bool may_go_on = state.count == 2 && std::max({first, state.least, 100}) <= std::min(first + 9, state.most);
  if (!may_go_on) {
    state.count = 3;
    state.exponent = state.least = state.most = 100;
    return;
  }
  state.least = accepts(state) ? 10 : std::max(state.least - first, 0) + 100;
  state.most = std::min(state.most - first, 9) + 100;
  state.exponent = 10;
}

// ---- life ---------------------------------------------------------------------------------------

bool NumberStates::lives(const NumberState& state) const {
  const auto lives_after = [&](char c) {
    const std::optional<NumberState> next = after(state, c);
    return next && lives(*next);
  };
  switch (state.phase) {
    case Phase::Dead: return false;
    case Phase::Start:
    case Phase::Minus: return std::ranges::any_of(std::string_view("0123456789-"), lives_after);
    case Phase::Zero: return accepts(state) || lives_after('.');
    case Phase::Integer: {
      const Digits& digits = state.digits;
      if (has_whole_ && whole(state).reaches(digits, 0, kFarOff)) return true;
      if (!has_real_) return false;
      if (is_any()) return real(state).reaches(digits, least_exponent(digits), kFarOff);
      if (digits.lead <= kMostWholeLead && real(state).reaches(digits, 0, kMostWholeLead - digits.lead)) return true;
      return digits.lead == 0 && std::ranges::any_of(kPlainShapes, [&](const Shape& shape) {
               return real(state).reaches(digits, shape.least, shape.most);
             });
    }
    case Phase::Point:
    case Phase::Fraction: return fraction_lives(state);
    case Phase::Mark: return lives_after('+') || lives_after('-') || lives_after('0') || lives_after('1');
    default: return exponent_rest(state).has_value();
  }
}

bool NumberStates::fraction_lives(const NumberState& state) const {
  const Digits& digits = state.digits;
  const Magnitudes& numbers = real(state);
  const bool is_point = state.phase == Phase::Point;
  if (is_any()) {
    const bool may_live = digits.begun ? numbers.reaches(digits, least_exponent(digits), kMostExponent)
                                       : numbers.has_zero() || numbers.reaches(digits, least_place(state),
                                                                               kMostExponent - digits.point - 1);
    if (!may_live || !is_short_of_zeros(state) || accepts(state)) return may_live;
    return std::ranges::any_of(std::string_view("123456789e0"), [&](char c) {
      const std::optional<NumberState> next = after(state, c);
      return next && lives(*next);
    });
  }
  if (accepts(state)) return true;
  if (!digits.begun)
    return (is_point && numbers.has_zero()) ||
           (digits.point <= kMostZeros && numbers.reaches(digits, -kMostZeros - 1, -digits.point - 1));
  if (digits.lead + digits.point >= Magnitudes::kFloatDigits) return false;
  if (is_point && digits.lead <= kMostWholeLead && numbers.contains(digits)) return true;
  if (digits.lead <= kMostWholeLead && numbers.reaches(digits, 0, 0, {.grows = true})) return true;
  return state.may_have_exponent && has_plain_exponent(state);
}

// Of a number that has not begun: the last place that its first digit can have.
std::int32_t NumberStates::least_place(const NumberState& state) const {
  return bounds_zeros_ ? -kMostExponent - state.digits.point - 1 - (kMostZerosInRow - state.zeros) : -kFarOff;
}

// Whether a fraction with one digit before the point may become one with an exponent.
bool NumberStates::has_plain_exponent(const NumberState& state) const {
  const Magnitudes::Exponents allowed = real(state).exponents(state.digits);
  const bool may_end = state.phase == Phase::Fraction && state.ending == Ending::Digit;
  return std::ranges::any_of(kPlainShapes, [&](const Shape& shape) {
    return (may_end && allowed.meet(shape.least, shape.most)) ||
           real(state).reaches(state.digits, shape.least, shape.most, {.grows = true});
  });
}

bool NumberStates::accepts(const NumberState& state) const {
  switch (state.phase) {
    case Phase::Zero:
      return has_whole_ ? whole(state).has_zero() && (is_any() || !state.after_minus) : real(state).has_zero();
    case Phase::Integer: return either(state).contains(state.digits);
    case Phase::Fraction:
      return state.ending != Ending::Zero && real(state).contains(state.digits) &&
             (is_any() || !state.digits.begun || state.digits.lead + state.digits.point < Magnitudes::kFloatDigits);
    case Phase::Exponent: return exponent_rest(state) == 0u;
    default: return false;
  }
}

// Plain ones have two, or three of which the first is not 0.
std::optional<std::uint32_t> NumberStates::exponent_rest(const NumberState& state) const {
  const std::uint32_t fewest = is_any() ? 1 : 2, most = is_any() ? 4 : 3;
  std::int32_t low = state.exponent, size = 1;
  for (std::uint32_t count = state.count; count <= most; ++count, low *= 10, size *= 10) {
    const bool is_third = !is_any() && count == 3;
    const std::int32_t least = std::max({low, state.least, is_third ? 100 : 0});
    if (count >= fewest && least <= std::min(low + size - 1, state.most)) return count - state.count;
  }
  return std::nullopt;
}

}  // namespace tokamata::json
