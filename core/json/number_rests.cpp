#include "json/number_rests.hpp"

#include <algorithm>

namespace tokamata::json {

namespace {

// The least number from `least` on for which `holds`, which once true stays so.
template <class Predicate>
std::uint32_t first_that(std::uint32_t least, Predicate holds) {
  std::uint32_t below = least, step = 1;
  while (below < NumberRests::kFar && !holds(below)) {
    least = below + 1;
    below += step;
    step *= 2;
  }
  while (least < below) {
    const std::uint32_t middle = least + (below - least) / 2;
    if (holds(middle)) below = middle;
    else least = middle + 1;
  }
  return below;
}

std::int32_t narrow(std::uint32_t number) { return static_cast<std::int32_t>(number); }

}  // namespace

std::uint32_t NumberRests::of(const NumberState& state) const {
  if (states_.is_any() && states_.has_real()) return any_rest(state);
  return state.phase == Phase::Integer ? integer_rest(state) : plain_fraction_rest(state);
}

// Whether the rest of a number in any spelling may have exactly so many bytes.
bool NumberRests::any_rest_has(const NumberState& state, std::uint32_t length) const {
  const Digits& digits = state.digits;
  const Magnitudes& numbers = states_.real(state);
  return std::ranges::any_of(NumberStates::kAnyShapes, [&](const NumberStates::Shape& shape) {
    const auto [exponent, least, most] = shape;
    if (exponent > length) return false;
    const std::int32_t rest = narrow(length - exponent);
    // How many of them may stand before the point.
    const std::int32_t before =
        states_.is_natural() && digits.begun && least < 0 ? NumberStates::kMostLeadBelow - digits.lead : kFarOff;
    if (before < 0) return false;
    if (state.phase == Phase::Integer) {
      if (rest <= before && numbers.reaches(digits, least + rest, most + rest, {.digits = rest})) return true;
      // A point among them, somewhere before the last.
      return rest >= 2 && numbers.reaches(digits, least, most + std::min(rest - 2, before), {.digits = rest - 1});
    }
    if (rest == 0 && state.phase == Phase::Point) return false;
    if (digits.begun) return numbers.reaches(digits, least, most, {.digits = rest});
    if (numbers.has_zero()) return true;
    // before its first digit
    const std::int32_t zeros =
        states_.bounds_zeros() ? std::min(rest - 1, NumberStates::kMostZerosInRow - state.zeros) : rest - 1;
    return numbers.reaches(digits, least - digits.point - 1 - zeros, most - digits.point - 1,
                           {.digits = rest, .weight = least - digits.point - rest});
  });
}

// What has a rest of some length has one that is two longer, for which .0 or e0 or zeros are enough.
std::uint32_t NumberRests::any_rest(const NumberState& state) const {
  return first_that(1, [&](std::uint32_t length) {
    return any_rest_has(state, length) || (length > 1 && any_rest_has(state, length - 1));
  });
}

// The fraction of a number that has one digit before the point and will have an exponent, where that is shorter
// than what is known.
std::uint32_t NumberRests::plain_exponent_rest(const NumberState& state, std::uint32_t best) const {
  const Magnitudes& numbers = states_.real(state);
  const Digits& digits = state.digits;
  const bool is_integer = state.phase == Phase::Integer;
  const Magnitudes::Exponents allowed = numbers.exponents(digits);
  for (const NumberStates::Shape& shape : NumberStates::kPlainShapes) {
    if (is_integer || (state.phase == Phase::Fraction && state.ending == Ending::Digit))
      if (allowed.meet(shape.least, shape.most)) best = std::min(best, shape.length);
    const std::uint32_t point = is_integer ? 1 : 0;
    for (std::int32_t more = 1; more < Magnitudes::kFloatDigits; ++more) {
      const std::uint32_t length = shape.length + point + static_cast<std::uint32_t>(more);
      if (length >= best) break;
      if (numbers.reaches(digits, shape.least, shape.most, {.digits = more, .grows = true})) best = length;
    }
  }
  return best;
}

// More digits; or more of them, a point, and others; or an exponent.
std::uint32_t NumberRests::integer_rest(const NumberState& state) const {
  const Digits& digits = state.digits;
  std::uint32_t best = kFar;
  if (states_.has_whole() && states_.whole(state).reaches(digits, 0, kFarOff))
    best = first_that(1, [&](std::uint32_t length) { return states_.whole(state).reaches(digits, 0, narrow(length)); });
  if (!states_.has_real()) return best;
  for (std::int32_t before = 0; before <= NumberStates::kMostWholeLead - digits.lead; ++before)
    for (std::int32_t behind = 1; behind <= Magnitudes::kFloatDigits; ++behind) {
      const auto length = static_cast<std::uint32_t>(before + 1 + behind);
      if (length >= best) break;
      if (states_.real(state).reaches(digits, before, before, {.digits = before + behind})) best = length;
    }
  return digits.lead == 0 ? plain_exponent_rest(state, best) : best;
}

std::uint32_t NumberRests::plain_fraction_rest(const NumberState& state) const {
  const Digits& digits = state.digits;
  const Magnitudes& numbers = states_.real(state);
  const bool is_point = state.phase == Phase::Point;
  if (is_point && !digits.begun && numbers.has_zero()) return 1;
  std::uint32_t best = kFar;
  for (std::int32_t more = 1; more <= Magnitudes::kFloatDigits + NumberStates::kMostZeros && best == kFar; ++more) {
    const bool found = digits.begun ? digits.lead <= NumberStates::kMostWholeLead &&
                                          numbers.reaches(digits, 0, 0, {.digits = more, .grows = !is_point})
                                    : numbers.reaches(digits, -NumberStates::kMostZeros - 1, -digits.point - 1,
                                                      {.weight = -digits.point - more});
    if (found) best = static_cast<std::uint32_t>(more);
  }
  return state.may_have_exponent ? plain_exponent_rest(state, best) : best;
}

}  // namespace tokamata::json
