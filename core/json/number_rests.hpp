// How many bytes the text of a number is away from an accepted one.
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
#pragma once

#include "json/number_states.hpp"

namespace tokamata::json {

class NumberRests {
 public:
  explicit NumberRests(const NumberStates& states) : states_(states) {}

  static constexpr std::uint32_t kFar = 4 * kFarOff;  // longer than any rest

  // Of a live state within an integer, or after its point, that is no end.
  std::uint32_t of(const NumberState& state) const;

 private:
  using Phase = NumberState::Phase;
  using Ending = NumberState::Ending;

  bool any_rest_has(const NumberState& state, std::uint32_t length) const;
  std::uint32_t any_rest(const NumberState& state) const;
  std::uint32_t integer_rest(const NumberState& state) const;
  std::uint32_t plain_fraction_rest(const NumberState& state) const;
  std::uint32_t plain_exponent_rest(const NumberState& state, std::uint32_t best) const;

  const NumberStates& states_;
};

}  // namespace tokamata::json
