#include "json/value_parts.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "json/leaves.hpp"

namespace tokamata::json {

namespace {

constexpr std::uint8_t kSimple = kNull | kFalse | kTrue;

// One member of each.
template <class Whole, class Member>
std::vector<Member> each(const std::vector<Whole>& all, Member Whole::* member) {
  std::vector<Member> found;
  found.reserve(all.size());
  for (const Whole& one : all) found.push_back(one.*member);
  return found;
}

// What exactly one of some sets has: one after the other, with what none so far has and what one has.
template <class Set>
Set exactly_one(const std::vector<Set>& wanted, const std::vector<Set>& denied, const Set& all, const Set& nothing) {
  Set none_has = all, one_has = nothing;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto without = static_cast<Set>(~denied[i]);
    one_has = static_cast<Set>((one_has & without) | (none_has & wanted[i]));
    none_has = static_cast<Set>(none_has & without);
  }
  return one_has;
}

}  // namespace

// ---- strings ----------------------------------------------------------------------------------

StringPart StringParts::of(TextLengths lengths, const Work& work) const {
  const ExpressionId language = texts_.of_lengths(lengths, work);
  return {language, std::move(lengths)};
}

StringPart StringParts::all(const std::vector<StringPart>& parts, const Work& work) const {
  TextLengths lengths = TextLengths::all();
  std::vector<ExpressionId> others;
  for (const StringPart& part : parts) {
    if (part.lengths) lengths = lengths & *part.lengths;
    else others.push_back(part.language);
  }
  if (others.empty() || lengths == TextLengths::none()) return of(std::move(lengths), work);
  others.push_back(texts_.of_lengths(lengths, work));
  return of(texts_.languages(work).intersect(std::move(others)));
}

StringPart StringParts::any(const std::vector<StringPart>& parts, const Work& work) const {
  TextLengths lengths = TextLengths::none();
  std::vector<ExpressionId> others;
  for (const StringPart& part : parts) {
    if (part.lengths) lengths = lengths | *part.lengths;
    else others.push_back(part.language);
  }
  if (others.empty() || lengths == TextLengths::all()) return of(std::move(lengths), work);
  others.push_back(texts_.of_lengths(lengths, work));
  return of(texts_.languages(work).unite(std::move(others)));
}

StringPart StringParts::one(const std::vector<StringPart>& wanted, const std::vector<StringPart>& denied,
                            const Work& work) const {
  if (!std::ranges::all_of(wanted, [](const StringPart& part) { return part.lengths.has_value(); }))
    return of(texts_.languages(work).one(each(wanted, &StringPart::language), each(denied, &StringPart::language)));
  std::vector<TextLengths> lengths;
  for (const StringPart& part : wanted) lengths.push_back(*part.lengths);
  return of(exactly_one(lengths, lengths, TextLengths::all(), TextLengths::none()), work);
}

StringPart StringParts::complement(const StringPart& part, const Work& work) const {
  return part.lengths ? of(~*part.lengths, work) : of(texts_.languages(work).complement(part.language));
}

// ---- numbers ----------------------------------------------------------------------------------

NumberPart NumberParts::of(NumberTerms terms, const Work& work) const {
  const ExpressionId language = language_of(terms, work);
  return {language, std::move(terms)};
}

Languages NumberParts::languages(const Work& work) {
  if (!all_) all_ = language_of(NumberTerms::all(), work);
  return {*all_, work};
}

ExpressionId NumberParts::language_of(const NumberTerms& terms, const Work& work, bool is_unsigned) const {
  std::vector<ExpressionId> alternatives;
  const auto texts = [&](const NumberRange& range, bool integral, bool digits_only, bool without_minus) {
    return work.arena.add(*number_texts(range, integral, digits_only, spelling_, without_minus), work.budget);
  };
  for (const NumberTerm& term : terms.terms()) {
    ExpressionId numbers = texts(term.range, term.integral, term.digits_only, is_unsigned);
    for (const std::string& number : term.not_multiples) {
      NumberRange multiples;
      multiples.multiple_of = number;
      std::vector<ExpressionId> both{numbers, work.arena.forms().complement(texts(multiples, false, false, false))};
      numbers = work.arena.forms().intersect(both);
    }
    alternatives.push_back(numbers);
  }
  return work.arena.forms().unite(alternatives);
}

NumberPart NumberParts::all(const std::vector<NumberPart>& parts, const Work& work) {
  NumberTerms terms = NumberTerms::all();
  for (const NumberPart& part : parts) terms = terms & part.terms;
  if (terms.is_known()) return of(std::move(terms), work);
  return {languages(work).intersect(each(parts, &NumberPart::language)), std::move(terms)};
}

NumberPart NumberParts::any(const std::vector<NumberPart>& parts, const Work& work) {
  NumberTerms terms = NumberTerms::none();
  for (const NumberPart& part : parts) terms = terms | part.terms;
  return {languages(work).unite(each(parts, &NumberPart::language)), std::move(terms)};
}

NumberPart NumberParts::one(const std::vector<NumberPart>& wanted, const std::vector<NumberPart>& denied,
                            const Work& work) {
  NumberTerms terms = exactly_one(each(wanted, &NumberPart::terms), each(denied, &NumberPart::terms),
                                  NumberTerms::all(), NumberTerms::none());
  if (terms.is_known()) return of(std::move(terms), work);
  return {languages(work).one(each(wanted, &NumberPart::language), each(denied, &NumberPart::language)),
          std::move(terms)};
}

NumberPart NumberParts::complement(const NumberPart& part, const Work& work) {
  NumberTerms terms = ~part.terms;
  if (terms.is_known()) return of(std::move(terms), work);
  return {languages(work).complement(part.language), std::move(terms)};
}

bool NumberParts::has_negative(const NumberPart& part, const Work& work) const {
  if (part.terms.is_known())
    return std::ranges::any_of(part.terms.terms(), [](const NumberTerm& term) {
      return has_negative_number(term.range, term.integral, term.digits_only);
    });
  const ExpressionId after_minus = work.arena.derivatives().derivative(part.language, '-', work.budget);
  if (after_minus == Pool::kEmpty) return true;  // or nothing is lost
  NumberRange below_zero;
  below_zero.maximum = "0";
  below_zero.exclusive_maximum = true;
  std::vector<ExpressionId> both{part.language, language_of(NumberTerms::of({below_zero}), work)};
  return work.arena.derivatives().terminal(work.arena.forms().intersect(both), work.budget) != Pool::kEmpty;
}

ExpressionId NumberParts::without_idle_minus(const NumberPart& part, const Work& work) const {
  if (spelling_ != Spelling::Natural || part.language == Pool::kEmpty || has_negative(part, work)) return part.language;
  if (part.terms.is_known()) return language_of(part.terms, work, true);
  std::vector<ExpressionId> both{part.language, language_of(NumberTerms::all(), work, true)};
  return work.arena.forms().intersect(both);
}

// ---- all types --------------------------------------------------------------------------------

ValueParts PartsAlgebra::everything(const Work& work) {
  return {kSimple, strings_.everything(work), numbers_.everything(work), Formulas<ArrayTag>::kTrue,
          Formulas<ObjectTag>::kTrue};
}

ValueParts PartsAlgebra::nothing() const {
  return {0, strings_.nothing(), numbers_.nothing(), Formulas<ArrayTag>::kFalse, Formulas<ObjectTag>::kFalse};
}

ValueParts PartsAlgebra::all(const std::vector<ValueParts>& parts, const Work& work) {
  const auto simple = each(parts, &ValueParts::simple);
  return {std::accumulate(simple.begin(), simple.end(), kSimple, std::bit_and<std::uint8_t>()),
          strings_.all(each(parts, &ValueParts::strings), work), numbers_.all(each(parts, &ValueParts::numbers), work),
          arrays_.all(each(parts, &ValueParts::arrays)), objects_.all(each(parts, &ValueParts::objects))};
}

ValueParts PartsAlgebra::any(const std::vector<ValueParts>& parts, const Work& work) {
  const auto simple = each(parts, &ValueParts::simple);
  return {std::accumulate(simple.begin(), simple.end(), std::uint8_t{0}, std::bit_or<std::uint8_t>()),
          strings_.any(each(parts, &ValueParts::strings), work), numbers_.any(each(parts, &ValueParts::numbers), work),
          arrays_.any(each(parts, &ValueParts::arrays)), objects_.any(each(parts, &ValueParts::objects))};
}

ValueParts PartsAlgebra::one(const std::vector<ValueParts>& wanted, const std::vector<ValueParts>& denied,
                             const Work& work) {
  const std::vector<std::uint8_t> simple = each(wanted, &ValueParts::simple);
  return {exactly_one<std::uint8_t>(simple, simple, kSimple, 0),
          strings_.one(each(wanted, &ValueParts::strings), each(denied, &ValueParts::strings), work),
          numbers_.one(each(wanted, &ValueParts::numbers), each(denied, &ValueParts::numbers), work),
          arrays_.one(each(wanted, &ValueParts::arrays)), objects_.one(each(wanted, &ValueParts::objects))};
}

ValueParts PartsAlgebra::complement(const ValueParts& parts, const Work& work) {
  return {static_cast<std::uint8_t>(kSimple & ~parts.simple), strings_.complement(parts.strings, work),
          numbers_.complement(parts.numbers, work), arrays_.negate(parts.arrays), objects_.negate(parts.objects)};
}

// What it says of one type; of all others nothing.
ValueParts PartsAlgebra::of_leaf(ValueNode id, bool wanted, const Work& work) {
  ValueParts parts = everything(work);
  std::visit(
      Overloaded{
          [&](const ValueTable::Types& n) {
            parts.simple &= n.mask;
            if (!(n.mask & kString)) parts.strings = strings_.nothing();
            if (!(n.mask & kNumber)) parts.numbers = numbers_.nothing();
            if (!(n.mask & kArray)) parts.arrays = ArrayFormulas::kFalse;
            if (!(n.mask & kObject)) parts.objects = ObjectFormulas::kFalse;
          },
          [&](const ValueTable::Integral&) {
            const bool digits_only = wanted && formulas_.spelling() != Spelling::Any;
            parts.numbers = numbers_.of(NumberTerms::of({{}, true, digits_only}), work);
          },
          [&](const ValueTable::Number& n) { parts.numbers = numbers_.of(NumberTerms::of({n.range}), work); },
          [&](const ValueTable::String& n) { parts.strings = strings_.of(texts_.spelled(n.language, wanted, work)); },
          [&](const ValueTable::StringLength& n) {
            parts.strings = strings_.of(TextLengths::of(n.minimum, n.maximum), work);
          },
          [&](const ValueTable::Items&) { parts.arrays = arrays_.items(id); },
          [&](const ValueTable::ArrayLength& n) { parts.arrays = arrays_.length(n.minimum, n.maximum); },
          [&](const ValueTable::Contains& n) {
            parts.arrays = arrays_.contains(formulas_.set_of(n.value), n.minimum, n.maximum);
          },
          [&](const ValueTable::Unique&) { parts.arrays = arrays_.unique(); },
          [&](const ValueTable::Property& n) { parts.objects = objects_.property(n.name, formulas_.set_of(n.value)); },
          [&](const ValueTable::Matching& n) { parts.objects = objects_.matching(n.names, formulas_.set_of(n.value)); },
          [&](const ValueTable::Others&) { parts.objects = objects_.others(id); },
          [&](const ValueTable::Has& n) { parts.objects = objects_.has(n.name); },
          [&](const ValueTable::PropertyCount& n) { parts.objects = objects_.count(n.minimum, n.maximum); },
          [](const auto&) {},
      },
      formulas_.table().node(id));
  return parts;
}

}  // namespace tokamata::json
