// Which states of a number automaton live, and how many bytes they are away from an accepted text.
//
// Problem.  A budget of tokens asks for the length of a shortest rest.  A search through states would meet as many
// as a modulus is large: multiples of 123,456,789 have nine digits before the first that is one.
// Example.  Of these multiples, after 5: one digit more has ten numbers to choose from, two digits a hundred; the
// first that are enough are those that reach one, and each is one question to Magnitudes::reaches.
// How.  The rest has one of few shapes: more digits, maybe a point and digits, maybe an exponent.  What an exponent
// of so many bytes can say is one or two ranges, and a range of scales is one question.  Shapes are asked in
// the order of their lengths; where lengths may be large (bounds of hundreds of digits) by halving, since more
// digits reach what fewer do.
// Cost.  Some ten questions, for most states one.

#include <algorithm>
#include <string_view>

#include "json/number_automaton.hpp"

namespace tokamata::json {

namespace {

constexpr std::int32_t kMostWholeLead = 15;  // floats from 1e16 on are written with an exponent
constexpr std::int32_t kMostZeros = 3;       // and those below 1e-4
constexpr std::uint32_t kFar = 4 * kFarOff;  // longer than any rest

struct Shape {
  std::uint32_t length;  // of the exponent, with its mark
  std::int32_t least, most;
};
constexpr Shape kAnyShapes[] = {{0, 0, 0},   {2, 0, 9},    {3, 0, 99},   {3, -9, 0},   {4, 0, 999},
                                {4, -99, 0}, {5, 0, 9999}, {5, -999, 0}, {6, -9999, 0}};
constexpr Shape kPlainShapes[] = {{4, 16, 99}, {4, -99, -5}, {5, 100, 308}, {5, -324, -100}};

// The least number from `least` on for which `holds`, which once true stays so.
template <class Predicate>
std::uint32_t first_that(std::uint32_t least, Predicate holds) {
  std::uint32_t below = least, step = 1;
  while (below < kFar && !holds(below)) {
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

// ---- life ---------------------------------------------------------------------------------------

bool NumberAutomaton::lives(const State& state) const {
  const auto lives_after = [&](char c) {
    const std::optional<State> next = after(state, c);
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

bool NumberAutomaton::fraction_lives(const State& state) const {
  const Digits& digits = state.digits;
  const Magnitudes& numbers = real(state);
  const bool is_point = state.phase == Phase::Point;
  if (is_any()) {
    const bool may_live = digits.begun ? numbers.reaches(digits, least_exponent(digits), kMostExponent)
                                       : numbers.has_zero() || numbers.reaches(digits, least_place(state),
                                                                               kMostExponent - digits.point - 1);
    if (!may_live || !is_short_of_zeros(state) || accepts(state)) return may_live;
    return std::ranges::any_of(std::string_view("123456789e0"), [&](char c) {
      const std::optional<State> next = after(state, c);
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
std::int32_t NumberAutomaton::least_place(const State& state) const {
  return bounds_zeros_ ? -kMostExponent - state.digits.point - 1 - (kMostZerosInRow - state.zeros) : -kFarOff;
}

// Whether a fraction with one digit before the point may become one with an exponent.
bool NumberAutomaton::has_plain_exponent(const State& state) const {
  const Magnitudes::Exponents allowed = real(state).exponents(state.digits);
  const bool may_end = state.phase == Phase::Fraction && state.ending == Ending::Digit;
  return std::ranges::any_of(kPlainShapes, [&](const Shape& shape) {
    return (may_end && allowed.meet(shape.least, shape.most)) ||
           real(state).reaches(state.digits, shape.least, shape.most, {.grows = true});
  });
}

bool NumberAutomaton::accepts(const State& state) const {
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

// How many digits an exponent still needs.  Plain ones have two, or three of which the first is not 0.
std::optional<std::uint32_t> NumberAutomaton::exponent_rest(const State& state) const {
  const std::uint32_t fewest = is_any() ? 1 : 2, most = is_any() ? 4 : 3;
  std::int32_t low = state.exponent, size = 1;
  for (std::uint32_t count = state.count; count <= most; ++count, low *= 10, size *= 10) {
    const bool is_third = !is_any() && count == 3;
    const std::int32_t least = std::max({low, state.least, is_third ? 100 : 0});
    if (count >= fewest && least <= std::min(low + size - 1, state.most)) return count - state.count;
  }
  return std::nullopt;
}

// ---- distances ----------------------------------------------------------------------------------

std::uint32_t NumberAutomaton::distance(std::uint32_t state) {
  if (distances_[state] == kUnknown) {
    const std::uint32_t found = accepting_[state] ? 0 : measured(state);
    distances_[state] = found;
  }
  return distances_[state];
}

std::uint32_t NumberAutomaton::measured(std::uint32_t number) {
  const State state = states_[number];  // a copy: states move when there are more
  const auto best_after = [&](std::string_view characters) {
    std::uint32_t best = kFar;
    for (const char c : characters)
      if (const std::uint32_t next = step(number, static_cast<std::uint8_t>(c)); next != kDead)
        best = std::min(best, distance(next) + 1);
    return best;
  };
  switch (state.phase) {
    case Phase::Start:
    case Phase::Minus: return best_after("0123456789-");
    case Phase::Zero: return best_after(".");
    case Phase::Integer: return is_any() && has_real_ ? any_rest(state) : integer_rest(state);
    case Phase::Point:
    case Phase::Fraction:
      if (is_short_of_zeros(state)) return best_after("0123456789e");
      return is_any() ? any_rest(state) : plain_fraction_rest(state);
    case Phase::Mark: return best_after("0123456789-+");
    default: return exponent_rest(state).value_or(kFar);
  }
}

// Whether the rest of a number in any spelling may have exactly so many bytes.
bool NumberAutomaton::any_rest_has(const State& state, std::uint32_t length) const {
  const Digits& digits = state.digits;
  const Magnitudes& numbers = real(state);
  return std::ranges::any_of(kAnyShapes, [&](const Shape& shape) {
    const auto [exponent, least, most] = shape;
    if (exponent > length) return false;
    const std::int32_t rest = narrow(length - exponent);
    // How many of them may stand before the point.
    const std::int32_t before = is_natural() && digits.begun && least < 0 ? kMostLeadBelow - digits.lead : kFarOff;
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
    const std::int32_t zeros = bounds_zeros_ ? std::min(rest - 1, kMostZerosInRow - state.zeros) : rest - 1;
    return numbers.reaches(digits, least - digits.point - 1 - zeros, most - digits.point - 1,
                           {.digits = rest, .weight = least - digits.point - rest});
  });
}

// What has a rest of some length has one that is two longer, for which .0 or e0 or zeros are enough.
std::uint32_t NumberAutomaton::any_rest(const State& state) const {
  const std::uint32_t last = first_that(1, [&](std::uint32_t length) {
    return any_rest_has(state, length) || (length > 1 && any_rest_has(state, length - 1));
  });
  return last;
}

// The fraction of a number that has one digit before the point and will have an exponent, where that is shorter
// than what is known.
std::uint32_t NumberAutomaton::plain_exponent_rest(const State& state, std::uint32_t best) const {
  const Magnitudes& numbers = real(state);
  const Digits& digits = state.digits;
  const bool is_integer = state.phase == Phase::Integer;
  const Magnitudes::Exponents allowed = numbers.exponents(digits);
  for (const Shape& shape : kPlainShapes) {
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
std::uint32_t NumberAutomaton::integer_rest(const State& state) const {
  const Digits& digits = state.digits;
  std::uint32_t best = kFar;
  if (has_whole_ && whole(state).reaches(digits, 0, kFarOff))
    best = first_that(1, [&](std::uint32_t length) { return whole(state).reaches(digits, 0, narrow(length)); });
  if (!has_real_) return best;
  for (std::int32_t before = 0; before <= kMostWholeLead - digits.lead; ++before)
    for (std::int32_t behind = 1; behind <= Magnitudes::kFloatDigits; ++behind) {
      const auto length = static_cast<std::uint32_t>(before + 1 + behind);
      if (length >= best) break;
      if (real(state).reaches(digits, before, before, {.digits = before + behind})) best = length;
    }
  return digits.lead == 0 ? plain_exponent_rest(state, best) : best;
}

std::uint32_t NumberAutomaton::plain_fraction_rest(const State& state) const {
  const Digits& digits = state.digits;
  const Magnitudes& numbers = real(state);
  const bool is_point = state.phase == Phase::Point;
  if (is_point && !digits.begun && numbers.has_zero()) return 1;
  std::uint32_t best = kFar;
  for (std::int32_t more = 1; more <= Magnitudes::kFloatDigits + kMostZeros && best == kFar; ++more) {
    const bool found =
        digits.begun
            ? digits.lead <= kMostWholeLead && numbers.reaches(digits, 0, 0, {.digits = more, .grows = !is_point})
            : numbers.reaches(digits, -kMostZeros - 1, -digits.point - 1, {.weight = -digits.point - more});
    if (found) best = static_cast<std::uint32_t>(more);
  }
  return state.may_have_exponent ? plain_exponent_rest(state, best) : best;
}

}  // namespace tokamata::json
