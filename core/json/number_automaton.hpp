// A set of numbers as a deterministic automaton over the bytes of their spellings, made lazily.
//
// Problem.  Which bytes may follow what a model has written of a number, without dead ends: a byte leads to a
// state only if some number of the set is spelled so.
// Example.  Integers from 12 to 115: after 1 may come 0, 1, …, 9, but not the end; after 11 there may come 0, …, 5
// or the end; after 2 a digit must come, and after 20 nothing.
// How.  A state is what matters of the text so far: the part of the grammar that it is in, and what
// number_magnitudes.hpp remembers of its digits; then the exponents that are allowed, a range, and what was
// read of one.  What no longer matters is forgotten, so that states are few: where there are no bounds, the
// number of digits is not counted, but in the plain spelling, where 17 of them are enough.
//    states reached   any spelling, no bounds: 13     plain: 95, most of them for the 17 digits
//                     natural: 118, most of them for the zeros in a row
// Whether a state lives is asked of the arithmetic.  So is how many bytes it is away from an accepted text: each
// shape that the rest may have (digits, a point, digits, an exponent of so many bytes) is one question.
// Source.  The usual digit-by-digit comparison and residue automata, joined and made lazily; the questions are
// ours.  Cost.  About a microsecond for a state, and some shapes more where its distance is asked.
// Not taken: intersections of one automaton for each bound and the modulus, whose dead ends only a search
// finds, through as many states as the modulus is large.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/byte_set.hpp"
#include "common/memory_account.hpp"
#include "json/number_magnitudes.hpp"

namespace tokamata::json {

class NumberAutomaton final : public LeafAutomaton {
 public:
  static constexpr std::int32_t kMostExponent = 9'999;  // of any spelling: four digits
  // Of the natural one: zeros in a row in a fraction, and what the first digit of a number with an exponent below zero
  // stands for at most, 10^2.
  static constexpr std::uint8_t kMostZerosInRow = 32;
  static constexpr std::int32_t kMostLeadBelow = 2;

  explicit NumberAutomaton(std::shared_ptr<const NumberSet> set);

  const NumberSet& set() const { return *set_; }
  // kDead where the set is empty.
  std::uint32_t start() const override { return start_; }
  std::uint32_t step(std::uint32_t state, std::uint8_t byte) override;
  bool accepting(std::uint32_t state) const override { return accepting_[state]; }
  // The bytes that lead on.
  ByteSet next_bytes(std::uint32_t state) override;

  // How many bytes a shortest text from here to acceptance has, and the text.  Not of kDead.
  std::uint32_t distance(std::uint32_t state) override;
  std::string shortest(std::uint32_t state);
  // No state is further away from acceptance.
  std::uint32_t most_missing() const override;

  // The bytes that its texts are made of; of these, the ones that a shortest text may need.
  ByteSet bytes() const override;
  ByteSet needed_bytes() const override;
  ByteSet lone_bytes() const override;
  // Whether no state distinguishes the digits 1 to 9.
  bool has_equal_digits() const;

  // Equal for equal states of equal sets, in whichever automata.
  std::string key(std::uint32_t state) const override;
  std::unique_ptr<LeafAutomaton> anew() const override { return std::make_unique<NumberAutomaton>(set_); }
  std::uint32_t adopt(const LeafAutomaton& other, std::uint32_t state) override {
    return intern(static_cast<const NumberAutomaton&>(other).states_[state]);
  }

  std::size_t state_count() const { return states_.size(); }
  // Whether a number below zero is in the set.
  bool has_negative() const { return (has_whole_ ? *whole_[1] : *real_[1]).has_positive(); }

 private:
  enum class Phase : std::uint8_t { Dead, Start, Minus, Zero, Integer, Point, Fraction, Mark, Sign, Exponent };
  // Of a fraction, in the plain spelling: 1.5 may end, 1.50 not, 1.0 may.
  enum class Ending : std::uint8_t { Digit, OnlyZero, Zero };
  struct State {
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

    friend auto operator<=>(const State&, const State&) = default;
  };
  struct Range {
    std::int32_t least, most;
  };
  static constexpr std::size_t kSymbols = 16;  // ten digits, - + . e E, and all else
  static constexpr std::uint32_t kUnknown = ~std::uint32_t{0};

  // with or without the bounds of the natural one
  bool is_any() const { return set_->spelling() != Spelling::Plain; }
  bool is_natural() const { return set_->spelling() == Spelling::Natural; }
  // The least exponent that may follow these digits.
  std::int32_t least_exponent(const Digits& digits) const {
    return is_natural() && digits.begun && digits.lead > kMostLeadBelow ? 0 : -kMostExponent;
  }
  // Whether the zeros that may still come are too few for what the arithmetic says to hold: then what follows is asked.
  bool is_short_of_zeros(const State& s) const {
    return bounds_zeros_ && s.phase == Phase::Fraction && s.zeros + zeros_of_multiples_ + 1 > kMostZerosInRow;
  }
  const Magnitudes& real(const State& s) const { return *real_[s.side]; }
  const Magnitudes& whole(const State& s) const { return *whole_[s.side]; }
  const Magnitudes& either(const State& s) const { return has_whole_ ? whole(s) : real(s); }

  // number_automaton.cpp: states and transitions.
  std::uint32_t intern(const State& state);
  std::uint32_t settled(State state);
  std::optional<State> after(const State& state, char c) const;
  std::optional<State> after_digit(const State& state, unsigned digit) const;
  std::optional<State> with_mark(const State& state) const;
  std::optional<State> with_sign(const State& state, bool is_minus) const;
  void normalize(State& state) const;
  void normalize_digits(State& state) const;
  void normalize_exponent(State& state) const;
  void normalize_plain_exponent(State& state) const;

  // number_distances.cpp: which states live, accept, and how far they are from that.
  bool lives(const State& state) const;
  bool fraction_lives(const State& state) const;
  std::int32_t least_place(const State& state) const;
  bool accepts(const State& state) const;
  bool has_plain_exponent(const State& state) const;
  std::optional<std::uint32_t> exponent_rest(const State& state) const;
  std::uint32_t measured(std::uint32_t state);
  std::uint32_t integer_rest(const State& state) const;
  std::uint32_t plain_fraction_rest(const State& state) const;
  bool any_rest_has(const State& state, std::uint32_t length) const;
  std::uint32_t any_rest(const State& state) const;
  std::uint32_t plain_exponent_rest(const State& state, std::uint32_t best) const;

  std::shared_ptr<const NumberSet> set_;
  bool has_whole_, has_real_;
  std::optional<Magnitudes> whole_[2], real_[2];
  bool sides_are_equal_ = false;
  bool bounds_zeros_ = false;
  std::uint32_t zeros_of_multiples_ = 0;
  counted::map<State, std::uint32_t> numbers_;
  counted::vector<State> states_;
  counted::vector<std::array<std::uint32_t, kSymbols>> rows_;
  counted::vector<bool> accepting_;
  counted::vector<std::uint32_t> distances_;
  std::uint32_t start_ = kDead;
};

}  // namespace tokamata::json
