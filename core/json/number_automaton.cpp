#include "json/number_automaton.hpp"
#include "common/memoized.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace tokamata::json {

namespace {

constexpr std::string_view kCharacters = "0123456789-+.eE";

}  // namespace

NumberAutomaton::NumberAutomaton(std::shared_ptr<const NumberSet> set)
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
  intern({});  // kDead
  rows_[kDead].fill(kDead);
  start_ = settled({.phase = Phase::Start});
}

// ---- states -------------------------------------------------------------------------------------

std::uint32_t NumberAutomaton::intern(const State& state) {
  return numbered(numbers_, state, [&](std::uint32_t number) {
    auto row = decltype(rows_)::value_type();
    row.fill(kUnknown);
    row[kSymbols - 1] = kDead;
    put_at(states_, number, state);
    put_at(rows_, number, row);
    put_at(accepting_, number, accepts(state));
    put_at(distances_, number, kUnknown);
  });
}

std::uint32_t NumberAutomaton::settled(State state) {
  if (!lives(state)) return kDead;
  normalize(state);
  return intern(state);
}

std::uint32_t NumberAutomaton::step(std::uint32_t state, std::uint8_t byte) {
  const std::size_t symbol = std::min(kCharacters.find(static_cast<char>(byte)), kSymbols - 1);
  if (rows_[state][symbol] == kUnknown) {
    const std::optional<State> next = after(states_[state], static_cast<char>(byte));
    const std::uint32_t target = next ? settled(*next) : kDead;
    rows_[state][symbol] = target;
  }
  return rows_[state][symbol];
}

ByteSet NumberAutomaton::next_bytes(std::uint32_t state) {
  ByteSet bytes;
  for (const char c : kCharacters)
    if (step(state, static_cast<std::uint8_t>(c)) != kDead) bytes.add(static_cast<std::uint8_t>(c));
  return bytes;
}

// ---- transitions --------------------------------------------------------------------------------

std::optional<NumberAutomaton::State> NumberAutomaton::after(const State& state, char c) const {
  if (c >= '0' && c <= '9') return after_digit(state, static_cast<unsigned>(c - '0'));
  switch (c) {
    case '-':
      if (state.phase == Phase::Start && !set_->is_unsigned()) return State{.phase = Phase::Minus, .side = 1};
      return state.phase == Phase::Mark ? with_sign(state, true) : std::nullopt;
    case '+': return state.phase == Phase::Mark ? with_sign(state, false) : std::nullopt;
    case '.': {
      if (!has_real_ || (state.phase != Phase::Zero && state.phase != Phase::Integer)) return std::nullopt;
      State next{.phase = Phase::Point, .side = state.side, .digits = state.digits};
      next.may_have_exponent = !is_any() && state.phase == Phase::Integer && state.digits.lead == 0;
      return next;
    }
    case 'e': return with_mark(state);
    default: return is_any() ? with_mark(state) : std::nullopt;  // E
  }
}

std::optional<NumberAutomaton::State> NumberAutomaton::after_digit(const State& state, unsigned digit) const {
  State next = state;
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
      const std::optional<State> with_plus = with_sign(state, false);
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

std::optional<NumberAutomaton::State> NumberAutomaton::with_mark(const State& state) const {
  if (!has_real_) return std::nullopt;
  const bool is_fraction = state.phase == Phase::Fraction;
  const bool may_end = is_any() ? is_fraction || state.phase == Phase::Integer || state.phase == Phase::Zero
                                : (is_fraction && state.may_have_exponent && state.ending == Ending::Digit) ||
                                      (state.phase == Phase::Integer && state.digits.lead == 0);
  if (!may_end) return std::nullopt;
  const auto [least, most] = real(state).exponents(state.digits);
  return State{
      .phase = Phase::Mark, .least = is_any() ? std::max(least, least_exponent(state.digits)) : least, .most = most};
}

std::optional<NumberAutomaton::State> NumberAutomaton::with_sign(const State& state, bool is_minus) const {
  State next{.phase = Phase::Sign};
  next.least = is_minus ? -state.most : state.least;
  next.most = is_minus ? -state.least : state.most;
  const Range range = is_any() ? Range{0, kMostExponent} : is_minus ? Range{5, 324} : Range{16, 308};
  next.least = std::max(next.least, range.least);
  next.most = std::min(next.most, range.most);
  return next;
}

// ---- what can be forgotten ----------------------------------------------------------------------

void NumberAutomaton::normalize(State& state) const {
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
void NumberAutomaton::normalize_digits(State& state) const {
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
void NumberAutomaton::normalize_exponent(State& state) const {
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
void NumberAutomaton::normalize_plain_exponent(State& state) const {
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

// ---- what others ask ----------------------------------------------------------------------------

std::string NumberAutomaton::shortest(std::uint32_t state) {
  std::string text;
  while (!accepting(state)) {
    const std::uint32_t left = distance(state);
    for (const char c : kCharacters) {
      const std::uint32_t next = step(state, static_cast<std::uint8_t>(c));
      if (next == kDead || distance(next) + 1 != left) continue;
      text.push_back(c);
      state = next;
      break;
    }
  }
  return text;
}

std::uint32_t NumberAutomaton::most_missing() const {
  std::uint32_t most = 0;
  for (const auto* sides : {whole_, real_})
    for (const int side : {0, 1})
      if (sides[side]) most = std::max(most, sides[side]->most_missing());
  return most;
}

ByteSet NumberAutomaton::needed_bytes() const {
  ByteSet bytes = ByteSet::range('0', '9');
  bytes.add('-');
  for (const char c : {'.', '+', 'e'})
    if (has_real_) bytes.add(static_cast<std::uint8_t>(c));
  return bytes;
}

ByteSet NumberAutomaton::bytes() const {
  ByteSet bytes = needed_bytes();
  if (has_real_ && is_any()) bytes.add('E');
  return bytes;
}

// Digits are alike except 0 and 1 where no state distinguishes them: the first of them differs from what stands before
// it.
ByteSet NumberAutomaton::lone_bytes() const {
  return has_equal_digits() ? bytes().without(ByteSet::range('2', '9')) : bytes();
}

std::unique_ptr<LeafAutomaton> NumberSet::make_automaton() const {
  return std::make_unique<NumberAutomaton>(std::make_shared<const NumberSet>(*this));
}

bool NumberAutomaton::has_equal_digits() const {
  if (has_real_ && !is_any()) return false;  // e+16 is the least exponent
  for (const auto* sides : {whole_, real_})
    for (const int side : {0, 1})
      if (sides[side] && sides[side]->has_positive() && !sides[side]->has_equal_digits(has_real_)) return false;
  return true;
}

std::string NumberAutomaton::key(std::uint32_t number) const {
  const State& s = states_[number];
  std::string key = set_->key();
  for (const std::int64_t part :
       {std::int64_t(s.phase), std::int64_t(s.side), std::int64_t(s.after_minus), std::int64_t(s.may_have_exponent),
        std::int64_t(s.ending), std::int64_t(s.zeros), std::int64_t(s.count), std::int64_t(s.least),
        std::int64_t(s.most), std::int64_t(s.exponent), std::int64_t(s.digits.begun), std::int64_t(s.digits.lead),
        std::int64_t(s.digits.point), std::int64_t(s.digits.slack), static_cast<std::int64_t>(s.digits.residue),
        std::int64_t(s.digits.low), std::int64_t(s.digits.high)}) {
    key.push_back(' ');
    key += std::to_string(part);
  }
  return key;
}

}  // namespace tokamata::json
