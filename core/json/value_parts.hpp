// A set of JSON values by types: a *part* is what it has of one type.
//
// Problem.  Under `allOf`, `anyOf`, `oneOf` and `not`, each type of values can be treated by itself.
// How.  null, false and true are bits; strings and numbers are regular languages, of which the engine knows intersection
// and complement; arrays and objects are formulas about their elements and members.  Where lengths define the strings,
// or ranges the numbers, the operations are arithmetic, and the language is made of the result: an intersection of
// counts or of ranges would be searched for a text after every byte.
// Example.  all(types(string or number), minLength 2): the strings of two characters or more, and all numbers.
#pragma once

#include <optional>
#include <vector>

#include "json/array_formulas.hpp"
#include "json/number_terms.hpp"
#include "json/object_formulas.hpp"
#include "json/string_texts.hpp"

namespace tokamata::json {

struct StringPart {
  ExpressionId language;               // spelled, without quotes; kEmpty where it shows that there is none
  std::optional<TextLengths> lengths;  // where these define it
};

class StringParts {
 public:
  explicit StringParts(StringTexts& texts) : texts_(texts) {}

  StringPart of(TextLengths lengths, const Work& work) const;
  StringPart of(ExpressionId language) const { return {language, std::nullopt}; }
  StringPart everything(const Work& work) const { return of(TextLengths::all(), work); }
  StringPart nothing() const { return {Pool::kEmpty, TextLengths::none()}; }
  StringPart all(const std::vector<StringPart>& parts, const Work& work) const;
  StringPart any(const std::vector<StringPart>& parts, const Work& work) const;
  StringPart one(const std::vector<StringPart>& wanted, const std::vector<StringPart>& denied, const Work& work) const;
  StringPart complement(const StringPart& part, const Work& work) const;

 private:
  StringTexts& texts_;
};

struct NumberPart {
  ExpressionId language;
  NumberTerms terms;  // where it is a union of ranges
};

class NumberParts {
 public:
  explicit NumberParts(Spelling spelling) : spelling_(spelling) {}

  // `terms` are known.
  NumberPart of(NumberTerms terms, const Work& work) const;
  NumberPart everything(const Work& work) { return {languages(work).all(), NumberTerms::all()}; }
  NumberPart nothing() const { return {Pool::kEmpty, NumberTerms::none()}; }
  NumberPart all(const std::vector<NumberPart>& parts, const Work& work);
  NumberPart any(const std::vector<NumberPart>& parts, const Work& work);
  NumberPart one(const std::vector<NumberPart>& wanted, const std::vector<NumberPart>& denied, const Work& work);
  NumberPart complement(const NumberPart& part, const Work& work);
  // The same where no number is below zero, in a spelling in which a minus would lead to -0 alone.  Not said by parts
  // that other sets are made of: what denies them must deny -0.
  ExpressionId without_idle_minus(const NumberPart& part, const Work& work) const;

  void forget_expressions() { all_.reset(); }

 private:
  Languages languages(const Work& work);
  bool has_negative(const NumberPart& part, const Work& work) const;
  ExpressionId language_of(const NumberTerms& terms, const Work& work, bool is_unsigned = false) const;

  Spelling spelling_;
  std::optional<ExpressionId> all_;
};

struct ValueParts {
  std::uint8_t simple;  // of kNull, kFalse, kTrue
  StringPart strings;
  NumberPart numbers;
  ArrayId arrays;
  ObjectId objects;
};

// The algebra of SetEvaluation that works on each part.
class PartsAlgebra {
 public:
  using Result = ValueParts;
  static constexpr bool kDeniesMore = true;

  PartsAlgebra(SetFormulas& formulas, StringTexts& texts, ArrayFormulas& arrays, ObjectFormulas& objects)
      : formulas_(formulas),
        texts_(texts),
        strings_(texts),
        numbers_(formulas.spelling()),
        arrays_(arrays),
        objects_(objects) {}

  NumberParts& numbers() { return numbers_; }

  ValueParts everything(const Work& work);
  ValueParts nothing() const;
  ValueParts all(const std::vector<ValueParts>& parts, const Work& work);
  ValueParts any(const std::vector<ValueParts>& parts, const Work& work);
  // `denied` are the same sets, each with all that it has to deny.
  ValueParts one(const std::vector<ValueParts>& wanted, const std::vector<ValueParts>& denied, const Work& work);
  ValueParts complement(const ValueParts& parts, const Work& work);
  // `wanted`: nothing above denies it.
  ValueParts of_leaf(ValueNode node, bool wanted, const Work& work);

 private:
  SetFormulas& formulas_;
  StringTexts& texts_;
  StringParts strings_;
  NumberParts numbers_;
  ArrayFormulas& arrays_;
  ObjectFormulas& objects_;
};

}  // namespace tokamata::json
