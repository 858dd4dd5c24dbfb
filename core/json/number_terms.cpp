#include "json/number_terms.hpp"

#include <algorithm>

#include "json/number_set.hpp"

namespace tokamata::json {

namespace {

// Below zero, at zero, above it: how one decimal compares with another.
int compare(const std::string& a, const std::string& b) {
  const SignedDecimal x = SignedDecimal::parse(a, "bound"), y = SignedDecimal::parse(b, "bound");
  if (x.is_negative != y.is_negative) return x.is_negative ? -1 : 1;
  if (x.magnitude == y.magnitude) return 0;
  return (x.magnitude < y.magnitude) != x.is_negative ? -1 : 1;
}

// The tighter of two bounds; `sign`: 1 for minima, -1 for maxima.
void tighten(std::optional<std::string>& bound, bool& exclusive, const std::optional<std::string>& other, bool other_exclusive, int sign) {
  if (!other) return;
  const int order = bound ? sign * compare(*other, *bound) : 1;
  if (order > 0) {
    bound = other;
    exclusive = other_exclusive;
  } else if (order == 0) {
    exclusive = exclusive || other_exclusive;
  }
}

bool is_empty(const NumberTerm& term) {
  if (term.fractional && (term.integral || term.digits_only)) return true;
  const NumberRange& range = term.range;
  if (!range.minimum || !range.maximum) return false;
  const int order = compare(*range.minimum, *range.maximum);
  return order > 0 || (order == 0 && (range.exclusive_minimum || range.exclusive_maximum));
}

// Nothing where both ask for multiples.
std::optional<NumberTerm> both(const NumberTerm& a, const NumberTerm& b) {
  if (a.range.multiple_of && b.range.multiple_of && *a.range.multiple_of != *b.range.multiple_of) return std::nullopt;
  NumberTerm term = a;
  tighten(term.range.minimum, term.range.exclusive_minimum, b.range.minimum, b.range.exclusive_minimum, 1);
  tighten(term.range.maximum, term.range.exclusive_maximum, b.range.maximum, b.range.exclusive_maximum, -1);
  if (!term.range.multiple_of) term.range.multiple_of = b.range.multiple_of;
  term.integral = a.integral || b.integral;
  term.digits_only = a.digits_only || b.digits_only;
  term.fractional = a.fractional || b.fractional;
  return term;
}

}  // namespace

std::optional<bool> NumberTerms::has(const std::string& canonical) const {
  if (!terms_) return std::nullopt;
  const Decimal digits = SignedDecimal::parse(canonical, "number").magnitude;
  const bool is_integer = digits.is_zero() || digits.lead + 1 >= static_cast<std::int64_t>(digits.digits.size());
  bool is_certain = true;
  for (const NumberTerm& term : *terms_) {
    NumberTerm both = term;  // it and the number
    NumberRange& range = both.range;
    tighten(range.minimum, range.exclusive_minimum, canonical, false, 1);
    tighten(range.maximum, range.exclusive_maximum, canonical, false, -1);
    if (is_empty(both) || compare(*range.minimum, canonical) != 0 || compare(*range.maximum, canonical) != 0) continue;
    if (is_integer ? term.fractional : term.integral || term.digits_only) continue;
    if (!term.range.multiple_of) return true;
    is_certain = false;
  }
  return is_certain ? std::optional(false) : std::nullopt;
}

bool NumberTerms::is_integer() const {
  if (!terms_ || terms_->size() != 1) return false;
  const NumberRange& range = terms_->front().range;
  if (!range.minimum || !range.maximum || range.multiple_of || terms_->front().fractional || compare(*range.minimum, *range.maximum) != 0) return false;
  const Decimal digits = SignedDecimal::parse(*range.minimum, "bound").magnitude;
  return digits.is_zero() || (digits.lead < 16 && digits.lead + 1 >= static_cast<std::int64_t>(digits.digits.size()));
}

bool NumberTerms::is_endless() const {
  return terms_ && std::ranges::any_of(*terms_, [](const NumberTerm& term) {
    return !term.fractional && (!term.range.minimum || !term.range.maximum);
  });
}

NumberTerms NumberTerms::operator&(const NumberTerms& other) const {
  if ((terms_ && terms_->empty()) || (other.terms_ && other.terms_->empty())) return none();
  if (!terms_ || !other.terms_ || terms_->size() * other.terms_->size() > kMost) return unknown();
  counted::vector<NumberTerm> found;
  for (const NumberTerm& a : *terms_)
    for (const NumberTerm& b : *other.terms_) {
      std::optional<NumberTerm> term = both(a, b);
      if (!term) return unknown();
      if (!is_empty(*term)) found.push_back(std::move(*term));
    }
  return NumberTerms(std::move(found));
}

NumberTerms NumberTerms::operator|(const NumberTerms& other) const {
  if (!terms_ || !other.terms_ || terms_->size() + other.terms_->size() > kMost) return unknown();
  counted::vector<NumberTerm> found = *terms_;
  found.insert(found.end(), other.terms_->begin(), other.terms_->end());
  return NumberTerms(std::move(found));
}

NumberTerms NumberTerms::operator~() const {
  if (!terms_) return unknown();
  NumberTerms result = all();
  for (const NumberTerm& term : *terms_) {
    if (term.digits_only || term.range.multiple_of) return unknown();
    NumberTerms outside = none();
    if (term.integral || term.fractional) {
      NumberTerm others;
      (term.integral ? others.fractional : others.integral) = true;
      outside = of(others);
    }
    if (term.range.minimum) {
      NumberRange below;
      below.maximum = term.range.minimum;
      below.exclusive_maximum = !term.range.exclusive_minimum;
      outside = outside | of({below});
    }
    if (term.range.maximum) {
      NumberRange above;
      above.minimum = term.range.maximum;
      above.exclusive_minimum = !term.range.exclusive_maximum;
      outside = outside | of({above});
    }
    result = result & outside;
  }
  return result;
}

}  // namespace tokamata::json
