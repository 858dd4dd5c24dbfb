// What an automaton of numbers has to know of a text, and where each byte leads.
//
// How.  A state is what matters of the text so far: the part of JSON's grammar of numbers that it is in, and what
// number_magnitudes.hpp remembers of its digits; then the exponents that are allowed, a range, and what was
// read of one.  What no longer matters is forgotten, so that states are few: where there are no bounds, the
// number of digits is not counted, but in the plain spelling, where 17 of them are enough.
//    states reached   any spelling, no bounds: 13     plain: 95, most of them for the 17 digits
//                     natural: 118, most of them for the zeros in a row
// Whether a state lives is asked of the arithmetic.
// Source.  The usual digit-by-digit comparison and residue automata, joined; the questions are ours.
// Cost.  About a microsecond for a state.
#pragma once

#include <memory>
#include <optional>

#include "json/number_magnitudes.hpp"

namespace tokamata::json {

struct NumberState {
  enum class Phase : std::uint8_t { Dead, Start, Minus, Zero, Integer, Point, Fraction, Mark, Sign, Exponent };
  // Of a fraction, in the plain spelling: 1.5 may end, 1.50 not, 1.0 may.
  enum class Ending : std::uint8_t { Digit, OnlyZero, Zero };

  Phase phase = Phase::Dead;
  std::uint8_t side = 0;           // 1: below zero, where that makes a difference
  bool after_minus = false;        // Zero alone: -0 is not plain
  bool may_have_exponent = false;  // Point and Fraction, plain
  Ending ending = Ending::Digit;
  std::uint8_t zeros = 0;  // Fraction, natural: how many are its last digits
  std::uint8_t count = 0;  // digits of the exponent
  Digits digits = {};      // except of exponents
  // Mark: the exponents that are allowed; Sign and Exponent: without the sign.
  std::int32_t least = 0, most = 0;
  std::int32_t exponent = 0;  // what was read of it

  friend auto operator<=>(const NumberState&, const NumberState&) = default;
};

class NumberStates {
 public:
  using Phase = NumberState::Phase;
  using Ending = NumberState::Ending;
  static constexpr std::int32_t kMostExponent = 9'999;  // of any spelling: four digits
  // Of the natural one: zeros in a row in a fraction, and what the first digit of a number with an exponent below zero
  // stands for at most, 10^2.
  static constexpr std::uint8_t kMostZerosInRow = 32;
  static constexpr std::int32_t kMostLeadBelow = 2;
  static constexpr std::int32_t kMostWholeLead = 15;  // in plain spelling: floats from 1e16 on have an exponent
  static constexpr std::int32_t kMostZeros = 3;       // and those below 1e-4

  // Exponents that are written with so many bytes.
  struct Shape {
    std::uint32_t length;  // of the exponent, with its mark
    std::int32_t least, most;
  };
  static constexpr Shape kAnyShapes[] = {{0, 0, 0},   {2, 0, 9},    {3, 0, 99},   {3, -9, 0},   {4, 0, 999},
                                         {4, -99, 0}, {5, 0, 9999}, {5, -999, 0}, {6, -9999, 0}};
  static constexpr Shape kPlainShapes[] = {{4, 16, 99}, {4, -99, -5}, {5, 100, 308}, {5, -324, -100}};

  explicit NumberStates(std::shared_ptr<const NumberSet> set);

  const NumberSet& set() const { return *set_; }
  const std::shared_ptr<const NumberSet>& shared_set() const { return set_; }
  bool has_whole() const { return has_whole_; }
  bool has_real() const { return has_real_; }
  // with or without the bounds of the natural one
  bool is_any() const { return set_->spelling() != Spelling::Plain; }
  bool is_natural() const { return set_->spelling() == Spelling::Natural; }
  bool bounds_zeros() const { return bounds_zeros_; }
  const Magnitudes& real(const NumberState& s) const { return *real_[s.side]; }
  const Magnitudes& whole(const NumberState& s) const { return *whole_[s.side]; }
  template <class Visit>
  void visit_magnitudes(Visit&& visit) const {
    for (const auto* sides : {whole_, real_})
      for (const int side : {0, 1})
        if (sides[side]) visit(*sides[side]);
  }
  // Whether a number below zero is in the set.
  bool has_negative() const { return (has_whole_ ? *whole_[1] : *real_[1]).has_positive(); }

  std::optional<NumberState> after(const NumberState& state, char c) const;
  // Whether some number of the set is spelled so.
  bool lives(const NumberState& state) const;
  bool accepts(const NumberState& state) const;
  // Forgets what no longer matters.
  void normalize(NumberState& state) const;

  // How many digits an exponent still needs.
  std::optional<std::uint32_t> exponent_rest(const NumberState& state) const;
  // Whether the zeros that may still come are too few for what the arithmetic says to hold: then what follows is asked.
  bool is_short_of_zeros(const NumberState& s) const {
    return bounds_zeros_ && s.phase == Phase::Fraction && s.zeros + zeros_of_multiples_ + 1 > kMostZerosInRow;
  }

 private:
  // The least exponent that may follow these digits.
  std::int32_t least_exponent(const Digits& digits) const {
    return is_natural() && digits.begun && digits.lead > kMostLeadBelow ? 0 : -kMostExponent;
  }
  const Magnitudes& either(const NumberState& s) const { return has_whole_ ? whole(s) : real(s); }
  std::optional<NumberState> after_digit(const NumberState& state, unsigned digit) const;
  std::optional<NumberState> with_mark(const NumberState& state) const;
  std::optional<NumberState> with_sign(const NumberState& state, bool is_minus) const;
  bool fraction_lives(const NumberState& state) const;
  std::int32_t least_place(const NumberState& state) const;
  bool has_plain_exponent(const NumberState& state) const;
  void normalize_digits(NumberState& state) const;
  void normalize_exponent(NumberState& state) const;
  void normalize_plain_exponent(NumberState& state) const;

  std::shared_ptr<const NumberSet> set_;
  bool has_whole_, has_real_;
  std::optional<Magnitudes> whole_[2], real_[2];
  bool sides_are_equal_ = false;
  bool bounds_zeros_ = false;
  std::uint32_t zeros_of_multiples_ = 0;
};

}  // namespace tokamata::json
