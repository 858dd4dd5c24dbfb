// Sets of numbers as unions of ranges, as far as they can be written so.
//
// Problem.  minimum 2 in one place and maximum 5 in another are two automata, whose intersection the engine would have
// to search for a text; together they are one range, whose automaton knows by arithmetic what lives.
// Example.  all(range 2.., not range 4..5) is the union of 2..4 less 4, and 5.. less 5.
// So are numbers that are no multiples of some others, although no automaton of their own accepts them: that multiples
// of 10 are multiples of 5 needs no search then, which would go through all spellings of numbers.
// Not written so: the complement of integers in digits alone; there the engine's complement is taken.
// Cost.  The product of the terms for an intersection, at most kMostTerms.
#pragma once

#include <optional>
#include <vector>

#include "json/value_table.hpp"

namespace tokamata::json {

struct NumberTerm {
  NumberRange range = {};
  bool integral = false;
  bool digits_only = false;
  counted::vector<std::string> not_multiples = {};  // of none of these; 1: no integer
};

// A union of terms; nothing where the set is none, or none is known.
class NumberTerms {
 public:
  static NumberTerms all() { return of({}); }
  static NumberTerms none() { return NumberTerms(counted::vector<NumberTerm>()); }
  static NumberTerms unknown() { return NumberTerms(std::nullopt); }
  static NumberTerms of(NumberTerm term) { return NumberTerms(counted::vector<NumberTerm>{std::move(term)}); }

  bool is_known() const { return terms_.has_value(); }
  const counted::vector<NumberTerm>& terms() const { return *terms_; }

  // Whether a number, in canonical form (canonical_value.hpp), is in the set; nothing where that is not known.
  std::optional<bool> has(const std::string& canonical) const;
  // Whether it is written as one number, a small integer.
  bool is_integer() const;
  // Surely without end, since there are integers of any length.
  bool is_endless() const;

  NumberTerms operator&(const NumberTerms& other) const;
  NumberTerms operator|(const NumberTerms& other) const;
  NumberTerms operator~() const;

 private:
  static constexpr std::size_t kMostTerms = 64, kMostNotMultiples = 4;
  explicit NumberTerms(std::optional<counted::vector<NumberTerm>> terms) : terms_(std::move(terms)) {}

  std::optional<counted::vector<NumberTerm>> terms_;
};

}  // namespace tokamata::json
