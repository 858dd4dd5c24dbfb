// The strings of sets of values, each as its own text: without quotes, in no spelling but its characters.
//
// Problem.  ValueSets keeps strings as they are spelled in JSON.  Between tags a string is its own text.
// How.  The formula of a set is evaluated over languages of texts, node by node: what speaks of other types holds of
// every string.
// Example.  all(types(string or number), not(string of [a-z]*)) is: all texts but those of [a-z]*.
// Cost.  Linear in the nodes that speak of the value itself, once for each set.
#pragma once

#include <unordered_map>
#include <vector>

#include "common/memory_account.hpp"
#include "json/value_sets.hpp"

namespace tokamata::json {

class RawStrings {
 public:
  explicit RawStrings(ValueSets& sets) : sets_(sets) {}

  // kEmpty where it shows that there are none; `all` where it shows that there are all.
  ExpressionId texts(SetId set, const Work& work);
  ExpressionId all(const Work& work);

  void forget_expressions() {
    release(sets_texts_);
    release(node_texts_);
    all_.reset();
  }

 private:
  ExpressionId of_set(SetId set, const Work& work);
  ExpressionId of_node(ValueNode node, const Work& work);
  ExpressionId make(ValueNode node, const Work& work);
  ExpressionId intersect(std::vector<ExpressionId> texts, const Work& work);
  ExpressionId unite(std::vector<ExpressionId> texts, const Work& work);
  ExpressionId complement(ExpressionId texts, const Work& work);
  ExpressionId one(const std::vector<ExpressionId>& texts, const Work& work);

  ValueSets& sets_;
  std::uint32_t depth_ = 0;
  std::optional<ExpressionId> all_;
  counted::unordered_map<std::uint32_t, ExpressionId> sets_texts_;  // by set
  counted::unordered_map<std::uint32_t, ExpressionId> node_texts_;  // by node
};

}  // namespace tokamata::json
