#include "json/number_set.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace tokamata::json {

namespace {

constexpr std::size_t kMostDigits = 400;  // significant ones
constexpr std::size_t kMostExponentDigits = 4;
constexpr std::size_t kMostModulusDigits = 18;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The digits at the front of a text, which are cut off.
std::string_view take_digits(std::string_view& text) {
  const auto end = static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
  const std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  return digits;
}

std::uint64_t power_of(std::uint64_t prime, std::uint64_t number, std::int64_t most) {
  std::uint64_t power = 1;
  for (; most > 0 && number % prime == 0; --most) {
    number /= prime;
    power *= prime;
  }
  return power;
}

// What 10^weight goes into a number how often, and what is left.
struct Quotient {
  std::string digits;  // of the whole part, from its first on, less the zeros; "" is zero
  std::size_t zeros;   // that follow: 12 in multiples of 10^-30000 has as many
  bool has_rest;

  std::string whole() const { return digits + std::string(zeros, '0'); }
};
Quotient quotient_of(const Decimal& number, std::int64_t weight) {
  if (number.lead < weight) return {"", 0, !number.is_zero()};
  const auto length = static_cast<std::size_t>(number.lead - weight + 1);
  std::string digits = number.digits.substr(0, length);
  const std::size_t zeros = length - digits.size();
  return {std::move(digits), zeros, number.digits.size() > length};
}

// Of a · b in numbers below 10^18, without 128 bits: by the bits of b.
std::uint64_t product_modulo(std::uint64_t a, std::uint64_t b, std::uint64_t factor) {
  std::uint64_t product = 0;
  for (a %= factor; b > 0; b >>= 1) {
    if (b & 1) product = (product + a) % factor;
    a = 2 * a % factor;
  }
  return product;
}

// The zeros by squares: a bound may have tens of thousands of them.
std::uint64_t remainder_of(const Quotient& number, std::uint64_t factor) {
  std::uint64_t rest = 0;  // below 10^18, so that ten times as much is below 2^64
  for (const char digit : number.digits) rest = (10 * rest + static_cast<std::uint64_t>(digit - '0')) % factor;
  if (rest == 0) return 0;
  std::uint64_t power = 10 % factor;
  for (std::size_t zeros = number.zeros; zeros > 0; zeros >>= 1) {
    if (zeros & 1) rest = product_modulo(rest, power, factor);
    power = product_modulo(power, power, factor);
  }
  return rest;
}

void subtract(std::string& digits, std::uint64_t number) {
  for (auto digit = digits.rbegin(); number > 0 && digit != digits.rend(); ++digit) {
    const auto less = static_cast<int>(number % 10);
    number /= 10;
    int rest = *digit - '0' - less;
    if (rest < 0) {
      rest += 10;
      ++number;
    }
    *digit = static_cast<char>('0' + rest);
  }
}

void increase(std::string& digits, std::uint64_t number) {
  for (auto digit = digits.rbegin(); number > 0 && digit != digits.rend(); ++digit) {
    number += static_cast<std::uint64_t>(*digit - '0');
    *digit = static_cast<char>('0' + static_cast<char>(number % 10));
    number /= 10;
  }
  if (number > 0) digits.insert(0, std::to_string(number));
}

}  // namespace

// ---- decimals -----------------------------------------------------------------------------------

Decimal Decimal::of(std::string digits, std::int64_t weight) {
  const std::size_t first = digits.find_first_not_of('0');
  if (first == std::string::npos) return {};
  const std::size_t last = digits.find_last_not_of('0');
  const std::int64_t lead = weight + static_cast<std::int64_t>(digits.size() - 1 - first);
  return {digits.substr(first, last - first + 1), lead};
}

std::strong_ordering operator<=>(const Decimal& a, const Decimal& b) {
  if (a.is_zero() || b.is_zero()) return !a.is_zero() <=> !b.is_zero();
  if (a.lead != b.lead) return a.lead <=> b.lead;
  return a.digits <=> b.digits;  // as texts: what is shorter is followed by zeros
}

SignedDecimal SignedDecimal::parse(std::string_view text, const char* name) {
  const auto refuse = [&](const char* why) {
    constexpr std::size_t kMostShown = 60;
    const std::string shown =
        text.size() > kMostShown ? std::string(text.substr(0, kMostShown)) + "…" : std::string(text);
    throw std::invalid_argument(std::string(name) + ": " + shown + " " + why);
  };
  std::string_view rest = text;
  const auto take = [&](char letter) {
    if (rest.empty() || rest[0] != letter) return false;
    rest.remove_prefix(1);
    return true;
  };
  const bool is_negative = take('-');
  std::string digits(take_digits(rest));
  if (digits.empty()) refuse("is no JSON number");
  std::int64_t weight = 0;
  if (take('.')) {
    const std::string_view fraction = take_digits(rest);
    if (fraction.empty()) refuse("is no JSON number");
    digits += fraction;
    weight = -static_cast<std::int64_t>(fraction.size());
  }
  std::int64_t exponent = 0;
  if (take('e') || take('E')) {
    const bool is_below = take('-');
    if (!is_below) take('+');
    std::string_view given = take_digits(rest);
    if (given.empty()) refuse("is no JSON number");
    given.remove_prefix(std::min(given.find_first_not_of('0'), given.size()));
    if (given.size() > kMostExponentDigits) refuse("has an exponent of more than four digits");
    for (const char digit : given) exponent = 10 * exponent + (digit - '0');
    if (is_below) exponent = -exponent;
  }
  if (!rest.empty()) refuse("is no JSON number");
  Decimal magnitude = Decimal::of(std::move(digits), weight + exponent);
  if (magnitude.digits.size() > kMostDigits) refuse("has more than 400 significant digits");
  // Zeros that are no significant digits can be as many as an exponent says.
  if (magnitude.lead > 10'500 || magnitude.lead < -10'500) refuse("has an exponent of more than four digits");
  const bool below_zero = is_negative && !magnitude.is_zero();
  return {std::move(magnitude), below_zero};
}

// ---- multiples ----------------------------------------------------------------------------------

// lcm(factor · 10^weight, 10^grid): what the factor has of 2 and 5 may be in 10^grid already.
Modulus Modulus::on_grid(std::int64_t grid) const {
  if (weight >= grid) return *this;
  const std::uint64_t twos = power_of(2, factor, grid - weight), fives = power_of(5, factor, grid - weight);
  return {factor / twos / fives, grid};
}

Modulus Modulus::parse(std::string_view text) {
  const auto [magnitude, is_negative] = SignedDecimal::parse(text, "multiple_of");
  if (is_negative || magnitude.is_zero()) throw std::invalid_argument("multiple_of: must be greater than zero");
  if (magnitude.digits.size() > kMostModulusDigits)
    throw std::invalid_argument("multiple_of: has more than 18 significant digits");
  return {std::stoull(magnitude.digits), magnitude.lead - static_cast<std::int64_t>(magnitude.digits.size()) + 1};
}

bool Modulus::divides(const Decimal& number) const {
  if (number.is_zero()) return true;
  const Quotient quotient = quotient_of(number, weight);
  return !quotient.has_rest && remainder_of(quotient, factor) == 0;
}

bool Modulus::divides(const Modulus& other) const {
  return divides(Decimal::of(std::to_string(other.factor), other.weight));
}

// 12 · 10^-1 and 1.5: of 120 · 10^-2 and 150 · 10^-2 it is 600 · 10^-2, which is 6 · 10^0.
std::optional<Modulus> Modulus::common(const Modulus& other) const {
  const Modulus& coarse = weight >= other.weight ? *this : other;
  const Modulus& fine = weight >= other.weight ? other : *this;
  if (coarse.weight - fine.weight > static_cast<std::int64_t>(kMostModulusDigits)) return std::nullopt;
  std::uint64_t number = coarse.factor;
  const auto multiply = [&](std::uint64_t by) {
    constexpr std::uint64_t kMostFactor = 999'999'999'999'999'999;
    if (number > kMostFactor / by) return false;
    number *= by;
    return true;
  };
  for (std::int64_t i = fine.weight; i < coarse.weight; ++i)
    if (!multiply(10)) return std::nullopt;
  if (!multiply(fine.factor / std::gcd(number, fine.factor))) return std::nullopt;
  std::int64_t least = fine.weight;
  for (; number % 10 == 0; number /= 10) ++least;
  return Modulus{number, least};
}

Decimal ceil_multiple(const Decimal& bound, bool included, const Modulus& modulus) {
  const Quotient quotient = quotient_of(bound, modulus.weight);
  const std::uint64_t rest = remainder_of(quotient, modulus.factor);
  if (rest == 0 && !quotient.has_rest && included) return bound;
  std::string digits = quotient.whole();
  increase(digits, modulus.factor - rest);
  return Decimal::of(std::move(digits), modulus.weight);
}

Decimal floor_multiple(const Decimal& bound, bool included, const Modulus& modulus) {
  const Quotient quotient = quotient_of(bound, modulus.weight);
  std::uint64_t rest = remainder_of(quotient, modulus.factor);
  if (rest == 0 && !quotient.has_rest && included) return bound;
  // The bound itself is a multiple and excluded; where it is not zero, it is one factor at least.
  if (rest == 0 && !quotient.has_rest) rest = bound.is_zero() ? 0 : modulus.factor;
  std::string digits = quotient.whole();
  subtract(digits, rest);
  return Decimal::of(std::move(digits), modulus.weight);
}

// ---- sets ---------------------------------------------------------------------------------------

namespace {

std::optional<NumberSet::Bound> bound_of(const std::optional<std::string>& text, bool excluded, const char* name) {
  if (!text) return std::nullopt;
  return NumberSet::Bound{SignedDecimal::parse(*text, name), !excluded};
}

std::string shown(const std::optional<NumberSet::Bound>& bound) {
  if (!bound) return "none";
  const auto& [value, included] = *bound;
  return (value.is_negative ? "-" : "") + value.magnitude.digits + "e" + std::to_string(value.magnitude.lead) +
         (included ? "" : "!");
}

}  // namespace

NumberSet::NumberSet(const Description& given)
    : minimum_(bound_of(given.minimum, given.exclusive_minimum, "minimum")),
      maximum_(bound_of(given.maximum, given.exclusive_maximum, "maximum")),
      digits_only_(given.digits_only),
      is_unsigned_(given.is_unsigned),
      spelling_(given.spelling) {
  if (given.multiple_of) modulus_ = Modulus::parse(*given.multiple_of);
  // Digits alone are integers.
  if (given.integral || given.digits_only) modulus_ = modulus_.value_or(Modulus{}).on_grid(0);
  key_ = shown(minimum_) + " " + shown(maximum_) + " ";
  if (modulus_) key_ += std::to_string(modulus_->factor) + "e" + std::to_string(modulus_->weight);
  key_ += digits_only_ ? " digits" : "";
  key_ += spelling_ == Spelling::Any ? " any" : spelling_ == Spelling::Natural ? " natural" : "";
  key_ += is_unsigned_ ? " unsigned" : "";
}

}  // namespace tokamata::json
