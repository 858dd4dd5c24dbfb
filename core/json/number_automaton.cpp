#include "json/number_automaton.hpp"

#include <algorithm>
#include <string_view>

#include "common/memoized.hpp"

namespace tokamata::json {

namespace {

constexpr std::string_view kCharacters = "0123456789-+.eE";

}  // namespace

NumberAutomaton::NumberAutomaton(std::shared_ptr<const NumberSet> set) : numbers_(std::move(set)) {
  intern({});  // kDead
  rows_[kDead].fill(kDead);
  start_ = settled({.phase = NumberState::Phase::Start});
}

// ---- states -------------------------------------------------------------------------------------

std::uint32_t NumberAutomaton::intern(const NumberState& state) {
  return numbered(index_, state, [&](std::uint32_t number) {
    auto row = decltype(rows_)::value_type();
    row.fill(kUnknown);
    row[kSymbols - 1] = kDead;
    put_at(states_, number, state);
    put_at(rows_, number, row);
    put_at(accepting_, number, numbers_.accepts(state));
    put_at(distances_, number, kUnknown);
  });
}

std::uint32_t NumberAutomaton::settled(NumberState state) {
  if (!numbers_.lives(state)) return kDead;
  numbers_.normalize(state);
  return intern(state);
}

std::uint32_t NumberAutomaton::step(std::uint32_t state, std::uint8_t byte) {
  const std::size_t symbol = std::min(kCharacters.find(static_cast<char>(byte)), kSymbols - 1);
  if (rows_[state][symbol] == kUnknown) {
    const std::optional<NumberState> next = numbers_.after(states_[state], static_cast<char>(byte));
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

// ---- distances ----------------------------------------------------------------------------------

std::uint32_t NumberAutomaton::distance(std::uint32_t state) {
  if (distances_[state] == kUnknown) {
    const std::uint32_t found = accepting_[state] ? 0 : measured(state);
    distances_[state] = found;
  }
  return distances_[state];
}

std::uint32_t NumberAutomaton::measured(std::uint32_t number) {
  const NumberState state = states_[number];  // a copy: states move when there are more
  using Phase = NumberState::Phase;
  const auto best_after = [&](std::string_view characters) {
    std::uint32_t best = NumberRests::kFar;
    for (const char c : characters)
      if (const std::uint32_t next = step(number, static_cast<std::uint8_t>(c)); next != kDead)
        best = std::min(best, distance(next) + 1);
    return best;
  };
  switch (state.phase) {
    case Phase::Start:
    case Phase::Minus: return best_after("0123456789-");
    case Phase::Zero: return best_after(".");
    case Phase::Mark: return best_after("0123456789-+");
    case Phase::Integer:
    case Phase::Point:
    case Phase::Fraction: return numbers_.is_short_of_zeros(state) ? best_after("0123456789e") : rests_.of(state);
    default: return numbers_.exponent_rest(state).value_or(NumberRests::kFar);
  }
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
  numbers_.visit_magnitudes([&](const Magnitudes& numbers) { most = std::max(most, numbers.most_missing()); });
  return most;
}

ByteSet NumberAutomaton::needed_bytes() const {
  ByteSet bytes = ByteSet::range('0', '9');
  bytes.add('-');
  for (const char c : {'.', '+', 'e'})
    if (numbers_.has_real()) bytes.add(static_cast<std::uint8_t>(c));
  return bytes;
}

ByteSet NumberAutomaton::bytes() const {
  ByteSet bytes = needed_bytes();
  if (numbers_.has_real() && numbers_.is_any()) bytes.add('E');
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
  if (numbers_.has_real() && !numbers_.is_any()) return false;  // e+16 is the least exponent
  bool are_equal = true;
  numbers_.visit_magnitudes([&](const Magnitudes& numbers) {
    are_equal = are_equal && (!numbers.has_positive() || numbers.has_equal_digits(numbers_.has_real()));
  });
  return are_equal;
}

std::string NumberAutomaton::key(std::uint32_t number) const {
  const NumberState& s = states_[number];
  std::string key = set().key();
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
