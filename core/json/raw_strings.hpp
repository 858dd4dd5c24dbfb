// The strings of sets of values, each as its own text: without quotes, in no spelling but its characters.
//
// Problem.  ValueSets keeps strings as they are spelled in JSON.  Between tags a string is its own text.
// How.  The set is worked out over languages of texts (set_evaluation.hpp): what speaks of other types holds of every
// string.
#pragma once

#include <unordered_map>
#include <vector>

#include "json/value_sets.hpp"

namespace tokamata::json {

// The algebra of SetEvaluation.
class RawTexts {
 public:
  using Result = ExpressionId;
  static constexpr bool kDeniesMore = false;

  RawTexts(const SetFormulas& formulas, StringTexts& texts) : formulas_(formulas), texts_(texts) {}

  ExpressionId everything(const Work& work) { return languages(work).all(); }
  ExpressionId nothing() const { return Pool::kEmpty; }
  ExpressionId all(const std::vector<ExpressionId>& texts, const Work& work) {
    return languages(work).intersect(texts);
  }
  ExpressionId any(const std::vector<ExpressionId>& texts, const Work& work) { return languages(work).unite(texts); }
  ExpressionId one(const std::vector<ExpressionId>& wanted, const std::vector<ExpressionId>& denied, const Work& work) {
    return languages(work).one(wanted, denied);
  }
  ExpressionId complement(ExpressionId texts, const Work& work) { return languages(work).complement(texts); }
  ExpressionId of_leaf(ValueNode node, bool wanted, const Work& work);

  void forget_expressions() { all_.reset(); }

 private:
  Languages languages(const Work& work);

  const SetFormulas& formulas_;
  StringTexts& texts_;
  std::optional<ExpressionId> all_;
};

class RawStrings {
 public:
  explicit RawStrings(ValueSets& sets)
      : evaluation_(sets.formulas(), RawTexts(sets.formulas(), sets.texts()), depth_) {}

  // kEmpty where it shows that there are none; `all` where it shows that there are all.
  ExpressionId texts(SetId set, const Work& work) {
    return memoized(texts_, set.value, [&] { return evaluation_.of(set, work); });
  }
  ExpressionId all(const Work& work) { return evaluation_.algebra().everything(work); }

  void forget_expressions() {
    release(texts_);
    evaluation_.forget();
    evaluation_.algebra().forget_expressions();
  }

 private:
  std::uint32_t depth_ = 0;
  SetEvaluation<RawTexts> evaluation_;
  counted::unordered_map<std::uint32_t, ExpressionId> texts_;  // by set
};

}  // namespace tokamata::json
