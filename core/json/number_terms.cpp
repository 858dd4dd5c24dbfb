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

bool is_whole(const std::string& number) {
  const Decimal digits = SignedDecimal::parse(number, "number").magnitude;
  return digits.is_zero() || digits.lead + 1 >= static_cast<std::int64_t>(digits.digits.size());
}

// As far as that is plain to see; of what is not seen here an automaton would have to try all spellings.
bool is_empty(const NumberTerm& term) {
  const NumberRange& range = term.range;
  if (term.fractional && (term.integral || term.digits_only || (range.multiple_of && is_whole(*range.multiple_of)))) return true;
  if (!range.minimum || !range.maximum) return false;
  if (term.fractional && is_whole(*range.minimum) && compare(*range.minimum, *range.maximum) == 0) return true;
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

// Whether all numbers of a term are in another one, as far as that is plain to see.
bool is_within(const NumberTerm& a, const NumberTerm& b) {
  if ((b.integral && !a.integral) || (b.digits_only && !a.digits_only) || (b.fractional && !a.fractional)) return false;
  if (b.range.multiple_of && b.range.multiple_of != a.range.multiple_of) return false;
  NumberRange both = a.range;
  tighten(both.minimum, both.exclusive_minimum, b.range.minimum, b.range.exclusive_minimum, 1);
  tighten(both.maximum, both.exclusive_maximum, b.range.maximum, b.range.exclusive_maximum, -1);
  return both.minimum == a.range.minimum && both.maximum == a.range.maximum &&
         both.exclusive_minimum == a.range.exclusive_minimum && both.exclusive_maximum == a.range.exclusive_maximum;
}

// Adds a term to others, of which none is within another one.
void add_term(counted::vector<NumberTerm>& terms, NumberTerm term) {
  if (std::ranges::any_of(terms, [&](const NumberTerm& known) { return is_within(term, known); })) return;
  std::erase_if(terms, [&](const NumberTerm& known) { return is_within(known, term); });
  terms.push_back(std::move(term));
}

}  // namespace

std::optional<bool> NumberTerms::has(const std::string& canonical) const {
  if (!terms_) return std::nullopt;
  const bool is_integer = is_whole(canonical);
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
  return is_whole(*range.minimum) && SignedDecimal::parse(*range.minimum, "bound").magnitude.lead < 16;
}

bool NumberTerms::is_endless() const {
  return terms_ && std::ranges::any_of(*terms_, [](const NumberTerm& term) {
    return !term.fractional && (!term.range.minimum || !term.range.maximum);
  });
}

NumberTerms NumberTerms::operator&(const NumberTerms& other) const {
  if ((terms_ && terms_->empty()) || (other.terms_ && other.terms_->empty())) return none();
  if (!terms_ || !other.terms_) return unknown();
  counted::vector<NumberTerm> found;
  for (const NumberTerm& a : *terms_)
    for (const NumberTerm& b : *other.terms_) {
      std::optional<NumberTerm> term = both(a, b);
      if (!term) return unknown();
      if (!is_empty(*term)) add_term(found, std::move(*term));
    }
  if (found.size() > kMost) return unknown();
  return NumberTerms(std::move(found));
}

NumberTerms NumberTerms::operator|(const NumberTerms& other) const {
  if (!terms_ || !other.terms_) return unknown();
  counted::vector<NumberTerm> found = *terms_;
  for (const NumberTerm& term : *other.terms_) add_term(found, term);
  if (found.size() > kMost) return unknown();
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
