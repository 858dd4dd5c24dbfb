// What a set of JSON values says, worked out in some Boolean algebra: of languages, of formulas about arrays, …
//
// Problem.  A set is a formula whose atoms are nodes of a table, and nodes are Boolean operations on nodes in turn.
// Example.  all(types(string or number), not(string of [a-z]*)), over the languages of strings: all of them less those
// of [a-z]*.
// How.  From the leaves up, once for each node.  What is denied somewhere above may have to be wider than what is wanted
// there: integers in digits alone, as one writes them, do not deny 1.0.  So a node may have two results.
// Cost.  Linear in the nodes that say something of the value itself.
#pragma once

#include <unordered_map>
#include <vector>

#include "common/memoized.hpp"
#include "common/within.hpp"
#include "json/set_formulas.hpp"
#include "json/work.hpp"

namespace tokamata::json {

// `Algebra` has a Result, everything, nothing, all, any, one, complement, and of_leaf(node, wanted) of the nodes that are
// no Boolean operation; kDeniesMore: whether a node has two results.
template <class Algebra>
class SetEvaluation {
 public:
  using Result = typename Algebra::Result;
  // `depth`: how deep the caller's recursion is.
  SetEvaluation(SetFormulas& formulas, Algebra algebra, std::uint32_t& depth)
      : formulas_(formulas), algebra_(std::move(algebra)), depth_(depth) {}

  Algebra& algebra() { return algebra_; }

  Result of(SetId set, const Work& work) { return of(set, true, work); }

  void forget() { release(results_); }

 private:
  Result of(SetId set, bool wanted, const Work& work) {
    const auto each = [&](bool as_wanted) {
      const auto operands = formulas_.operands(set);
      std::vector<Result> found;
      for (const SetId operand : std::vector<SetId>(operands.begin(), operands.end()))
        found.push_back(of(operand, as_wanted, work));
      return found;
    };
    switch (formulas_.operation(set)) {
      case Operation::True: return algebra_.everything(work);
      case Operation::False: return algebra_.nothing();
      case Operation::Atom: return of_node({formulas_.atom(set)}, wanted, work);
      case Operation::Not: return algebra_.complement(of(formulas_.body(set), !wanted, work), work);
      case Operation::All: return algebra_.all(each(wanted), work);
      case Operation::Any: return algebra_.any(each(wanted), work);
      default: return algebra_.one(each(wanted), each(!wanted), work);
    }
  }

  Result of_node(ValueNode node, bool wanted, const Work& work) {
    node = formulas_.table().resolved(node);
    wanted = wanted || !Algebra::kDeniesMore;
    return memoized(results_, (std::uint64_t{node.value} << 1) | (wanted ? 1 : 0), [&] {
      work.budget.step();
      const Within within(depth_, work.budget.limits().depth);
      return made(node, wanted, work);
    });
  }

  Result made(ValueNode id, bool wanted, const Work& work) {
    if (std::holds_alternative<ValueTable::Nested>(formulas_.table().node(id)))
      return of_node(formulas_.unfolded(id), wanted, work);
    const ValueTable::Node node = formulas_.table().node(id);  // a copy: nodes move when levels are unfolded
    const auto each = [&](const std::vector<ValueNode>& items, bool as_wanted) {
      std::vector<Result> found;
      for (const ValueNode item : items) found.push_back(of_node(item, as_wanted, work));
      return found;
    };
    if (std::holds_alternative<ValueTable::NoValue>(node)) return algebra_.nothing();
    if (const auto* n = std::get_if<ValueTable::AllOf>(&node)) return algebra_.all(each(n->items, wanted), work);
    if (const auto* n = std::get_if<ValueTable::AnyOf>(&node)) return algebra_.any(each(n->items, wanted), work);
    if (const auto* n = std::get_if<ValueTable::OneOf>(&node))
      return algebra_.one(each(n->items, wanted), each(n->items, !wanted), work);
    if (const auto* n = std::get_if<ValueTable::Negation>(&node))
      return algebra_.complement(of_node(n->body, !wanted, work), work);
    return algebra_.of_leaf(id, wanted, work);
  }

  SetFormulas& formulas_;
  Algebra algebra_;
  std::uint32_t& depth_;
  counted::unordered_map<std::uint64_t, Result> results_;  // by node, and whether wanted
};

}  // namespace tokamata::json
