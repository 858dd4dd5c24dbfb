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
void tighten(std::optional<std::string>& bound, bool& exclusive, const std::optional<std::string>& other,
             bool other_exclusive, int sign) {
  if (!other) return;
  const int order = bound ? sign * compare(*other, *bound) : 1;
  if (order > 0) {
    bound = other;
    exclusive = other_exclusive;
  } else if (order == 0) {
    exclusive = exclusive || other_exclusive;
  }
}

const Modulus kOne{1, 0};

Decimal magnitude_of(const std::string& number) { return SignedDecimal::parse(number, "number").magnitude; }

// What all numbers of a term are multiples of.
std::optional<Modulus> multiple_of(const NumberTerm& term) {
  const bool is_integral = term.integral || term.digits_only;
  if (!term.range.multiple_of) return is_integral ? std::optional(kOne) : std::nullopt;
  const Modulus modulus = Modulus::parse(*term.range.multiple_of);
  return is_integral ? modulus.on_grid(0) : modulus;
}

// Whether a number is a multiple of one of those that no number of the term is.
bool is_denied(const NumberTerm& term, const Decimal& number) {
  return std::ranges::any_of(term.not_multiples,
                             [&](const std::string& other) { return Modulus::parse(other).divides(number); });
}

// Whether a side of zero, up to a bound, has a multiple that is not denied.  Of some multiples in a row, fewer are
// denied.
bool has_multiple(const NumberTerm& term, const Modulus& modulus, Decimal low, bool is_included,
                  const std::optional<Decimal>& high, bool is_high_included) {
  // Of numbers in a row that are multiples of one of four above 1: 2 to 10, of 2, 3, 5 and 7 (Jacobsthal's function
  // less one).
  constexpr int kMostInRow = 9;
  for (int i = 0; i <= kMostInRow; ++i) {
    low = ceil_multiple(low, is_included, modulus);
    is_included = false;
    if (high && (*high < low || (low == *high && !is_high_included))) return false;
    if (!is_denied(term, low)) return true;
  }
  return true;
}

// As far as that is plain to see; of what is not seen here an automaton would have to try all spellings.
bool is_empty(const NumberTerm& term) {
  const NumberRange& range = term.range;
  const std::optional<Modulus> modulus = multiple_of(term);
  if (modulus && std::ranges::any_of(term.not_multiples,
                                     [&](const std::string& other) { return Modulus::parse(other).divides(*modulus); }))
    return true;
  if (range.minimum && range.maximum) {
    const int order = compare(*range.minimum, *range.maximum);
    if (order > 0 || (order == 0 && (range.exclusive_minimum || range.exclusive_maximum ||
                                     is_denied(term, magnitude_of(*range.minimum)))))
      return true;
  }
  if (term.not_multiples.empty() || !modulus) return false;
  // On each side of zero, which is a multiple of all: from the bound that is nearer to it.
  for (const bool is_below : {false, true}) {
    const auto& near = is_below ? range.maximum : range.minimum;
    const auto& far = is_below ? range.minimum : range.maximum;
    const bool is_near_included = is_below ? !range.exclusive_maximum : !range.exclusive_minimum;
    const bool is_far_included = is_below ? !range.exclusive_minimum : !range.exclusive_maximum;
    std::optional<Decimal> high;
    if (far) {
      const SignedDecimal bound = SignedDecimal::parse(*far, "bound");
      if (bound.magnitude.is_zero() || bound.is_negative != is_below) continue;
      high = bound.magnitude;
    }
    Decimal low;
    bool is_included = false;
    if (near) {
      const SignedDecimal bound = SignedDecimal::parse(*near, "bound");
      if (!bound.magnitude.is_zero() && bound.is_negative == is_below) {
        low = bound.magnitude;
        is_included = is_near_included;
      }
    }
    if (has_multiple(term, *modulus, std::move(low), is_included, high, is_far_included)) return false;
  }
  return true;
}

// Adds what no number of a term is a multiple of, unless others say so.
void deny(counted::vector<std::string>& not_multiples, const std::string& number) {
  const Modulus modulus = Modulus::parse(number);
  if (std::ranges::any_of(not_multiples,
                          [&](const std::string& known) { return Modulus::parse(known).divides(modulus); }))
    return;
  std::erase_if(not_multiples, [&](const std::string& known) { return modulus.divides(Modulus::parse(known)); });
  not_multiples.push_back(number);
}

// Nothing where it has too many digits.
std::optional<NumberTerm> both(const NumberTerm& a, const NumberTerm& b) {
  NumberTerm term = a;
  tighten(term.range.minimum, term.range.exclusive_minimum, b.range.minimum, b.range.exclusive_minimum, 1);
  tighten(term.range.maximum, term.range.exclusive_maximum, b.range.maximum, b.range.exclusive_maximum, -1);
  if (!term.range.multiple_of) {
    term.range.multiple_of = b.range.multiple_of;
  } else if (b.range.multiple_of && *term.range.multiple_of != *b.range.multiple_of) {
    const std::optional<Modulus> common =
        Modulus::parse(*term.range.multiple_of).common(Modulus::parse(*b.range.multiple_of));
    if (!common) return std::nullopt;
    term.range.multiple_of = common->text();
  }
  term.integral = a.integral || b.integral;
  term.digits_only = a.digits_only || b.digits_only;
  for (const std::string& number : b.not_multiples) deny(term.not_multiples, number);
  return term;
}

// Whether all numbers of a term are in another one, as far as that is plain to see.
bool is_within(const NumberTerm& a, const NumberTerm& b) {
  if (b.digits_only && !a.digits_only) return false;
  const std::optional<Modulus> of_a = multiple_of(a), of_b = multiple_of(b);
  if (of_b && !(of_a && of_b->divides(*of_a))) return false;
  const auto denies = [&](const std::string& number) {
    return std::ranges::any_of(a.not_multiples, [&](const std::string& known) {
      return Modulus::parse(known).divides(Modulus::parse(number));
    });
  };
  if (!std::ranges::all_of(b.not_multiples, denies)) return false;
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
  const Decimal magnitude = magnitude_of(canonical);
  return std::ranges::any_of(*terms_, [&](const NumberTerm& term) {
    const NumberRange& range = term.range;
    const int from_low = range.minimum ? compare(canonical, *range.minimum) : 1,
              from_high = range.maximum ? compare(canonical, *range.maximum) : -1;
    if (from_low < 0 || (from_low == 0 && range.exclusive_minimum) || from_high > 0 ||
        (from_high == 0 && range.exclusive_maximum))
      return false;
    const std::optional<Modulus> modulus = multiple_of(term);
    return (!modulus || modulus->divides(magnitude)) && !is_denied(term, magnitude);
  });
}

bool NumberTerms::is_integer() const {
  if (!terms_ || terms_->size() != 1) return false;
  const NumberRange& range = terms_->front().range;
  if (!range.minimum || !range.maximum || range.multiple_of || !terms_->front().not_multiples.empty() ||
      compare(*range.minimum, *range.maximum) != 0)
    return false;
  const Decimal number = magnitude_of(*range.minimum);
  return kOne.divides(number) && number.lead < 16;
}

bool NumberTerms::is_endless() const {
  return terms_ && std::ranges::any_of(*terms_, [](const NumberTerm& term) {
           return term.not_multiples.empty() && (!term.range.minimum || !term.range.maximum);
         });
}

NumberTerms NumberTerms::operator&(const NumberTerms& other) const {
  if ((terms_ && terms_->empty()) || (other.terms_ && other.terms_->empty())) return none();
  if (!terms_ || !other.terms_) return unknown();
  counted::vector<NumberTerm> found;
  for (const NumberTerm& a : *terms_)
    for (const NumberTerm& b : *other.terms_) {
      std::optional<NumberTerm> term = both(a, b);
      if (!term || term->not_multiples.size() > kMostNotMultiples) return unknown();
      if (!is_empty(*term)) add_term(found, std::move(*term));
    }
  if (found.size() > kMostTerms) return unknown();
  return NumberTerms(std::move(found));
}

NumberTerms NumberTerms::operator|(const NumberTerms& other) const {
  if (!terms_ || !other.terms_) return unknown();
  counted::vector<NumberTerm> found = *terms_;
  for (const NumberTerm& term : *other.terms_) add_term(found, term);
  if (found.size() > kMostTerms) return unknown();
  return NumberTerms(std::move(found));
}

NumberTerms NumberTerms::operator~() const {
  if (!terms_) return unknown();
  NumberTerms result = all();
  for (const NumberTerm& term : *terms_) {
    if (term.digits_only) return unknown();
    NumberTerms outside = none();
    if (const std::optional<Modulus> modulus = multiple_of(term)) outside = of({{}, false, false, {modulus->text()}});
    for (const std::string& number : term.not_multiples) {
      NumberRange multiples;
      multiples.multiple_of = number;
      outside = outside | of({multiples});
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
