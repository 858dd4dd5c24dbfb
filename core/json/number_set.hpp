// Sets of JSON numbers, as a schema describes them, in exact decimals.
//
// A text is in the set if its value is (between the bounds, a multiple, an integer) and it is spelled as the
// set asks for.  Spellings:
//   plain   what Python's json.dumps writes: integers of any length, -?(0|[1-9][0-9]*) except -0; and what
//           repr says of a float: 1.0, -0.0, 123.456 between 1e-4 and 1e16, 1.5e+22 and 1e-07 beyond, with at most
//           17 significant digits and exponents from -324 to 308.
//   any     all that JSON allows: -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,4})?, so that 1, 1.0, 1e0 and 10e-1
//           are the same value.  Digits before the exponent are not counted: a state for each number of
//           digits would cost every model its shared masks, to spare some the choice of idling.
//   natural any of these, but at most 32 zeros stand in a row in a fraction, and at most three digits before the point
//           where the exponent is below zero: no one writes 1000000e-6, and a model that is kept to numbers up to
//           5 must not go on with zeros.  Which texts these are is the same for all sets, so that sets can be united
//           and denied; but where all numbers of a set begin with that many zeros, all are written in any spelling.
//
// Refused when a set is made, never answered wrongly: bounds of more than 400 significant digits or with
// exponents of more than four, multiples of more than 18 significant digits.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "expression/leaf_automaton.hpp"
#include "json/style.hpp"

namespace tokamata::json {

// A number that is not negative: d.ddd… · 10^lead.  No digits are zero; neither the first nor the last is 0.
struct Decimal {
  std::string digits;
  std::int64_t lead = 0;

  bool is_zero() const { return digits.empty(); }
  // Of digits whose last stands for 10^weight; zeros at both ends are dropped.
  static Decimal of(std::string digits, std::int64_t weight);
  friend bool operator==(const Decimal&, const Decimal&) = default;
  friend std::strong_ordering operator<=>(const Decimal& a, const Decimal& b);
};

struct SignedDecimal {
  Decimal magnitude;
  bool is_negative = false;  // never of zero

  // "0.01", "-5", "1e-7", "1E400".  Throws std::invalid_argument, which calls the number by `name`.
  static SignedDecimal parse(std::string_view text, const char* name);
};

// All multiples of factor · 10^weight; 10 does not divide the factor.
struct Modulus {
  std::uint64_t factor = 1;  // below 10^18
  std::int64_t weight = 0;
  friend bool operator==(const Modulus&, const Modulus&) = default;

  // Of a number above zero.  Throws std::invalid_argument for others, and for more than 18 significant digits.
  static Modulus parse(std::string_view text);
  // A number that `parse` reads.
  std::string text() const { return std::to_string(factor) + "e" + std::to_string(weight); }

  // What is a multiple of both this and 10^grid.
  Modulus on_grid(std::int64_t grid) const;
  // Whether a number is a multiple; whether all multiples of another modulus are.
  bool divides(const Decimal& number) const;
  bool divides(const Modulus& other) const;
  // What is a multiple of both; nothing where that has too many digits.
  std::optional<Modulus> common(const Modulus& other) const;
};

// The least multiple that is at least `bound` (or above it, where that is excluded), and the greatest that
// is at most it; the latter may be zero.
Decimal ceil_multiple(const Decimal& bound, bool included, const Modulus& modulus);
Decimal floor_multiple(const Decimal& bound, bool included, const Modulus& modulus);

class NumberSet final : public LeafLanguage {
 public:
  struct Bound {
    SignedDecimal value;
    bool included = true;
  };
  struct Description {
    std::optional<std::string> minimum = {}, maximum = {}, multiple_of = {};
    bool exclusive_minimum = false, exclusive_maximum = false;
    bool integral = false;     // the value is an integer: 1.0 is one
    bool digits_only = false;  // written as an optional minus and digits alone
    Spelling spelling = Spelling::Plain;
    bool is_unsigned = false;  // without a minus: no -0 where there are no negative numbers
  };

  explicit NumberSet(const Description& description);

  const std::optional<Bound>& minimum() const { return minimum_; }
  const std::optional<Bound>& maximum() const { return maximum_; }
  // Of the values, integral or not.
  const std::optional<Modulus>& modulus() const { return modulus_; }
  bool digits_only() const { return digits_only_; }
  Spelling spelling() const { return spelling_; }
  bool is_unsigned() const { return is_unsigned_; }
  // Equal for equal descriptions, however their numbers are written.
  const std::string& key() const override { return key_; }
  std::unique_ptr<LeafAutomaton> make_automaton() const override;

 private:
  std::optional<Bound> minimum_, maximum_;
  std::optional<Modulus> modulus_;
  bool digits_only_, is_unsigned_;
  Spelling spelling_;
  std::string key_;
};

}  // namespace tokamata::json
