#include "json/raw_strings.hpp"

#include <algorithm>

#include "common/memoized.hpp"
#include "common/within.hpp"

namespace tokamata::json {

ExpressionId RawStrings::all(const Work& work) {
  if (!all_) all_ = work.arena.add(*Expression::text(), work.budget);
  return *all_;
}

ExpressionId RawStrings::intersect(std::vector<ExpressionId> texts, const Work& work) {
  std::erase(texts, all(work));
  if (texts.empty()) return all(work);
  return texts.size() == 1 ? texts[0] : work.arena.intersect(texts);
}

ExpressionId RawStrings::unite(std::vector<ExpressionId> texts, const Work& work) {
  if (std::ranges::find(texts, all(work)) != texts.end()) return all(work);
  return work.arena.unite(texts);
}

ExpressionId RawStrings::complement(ExpressionId texts, const Work& work) {
  if (texts == Arena::kEmpty) return all(work);
  if (texts == all(work)) return Arena::kEmpty;
  std::vector<ExpressionId> both{all(work), work.arena.complement(texts)};
  return work.arena.intersect(both);
}

// What exactly one of them has: one after the other, with what none so far has and what one has.
ExpressionId RawStrings::one(const std::vector<ExpressionId>& texts, const Work& work) {
  ExpressionId none_has = all(work), one_has = Arena::kEmpty;
  for (const ExpressionId own : texts) {
    if (own == Arena::kEmpty) continue;
    const ExpressionId without = complement(own, work);
    one_has = unite({intersect({one_has, without}, work), intersect({none_has, own}, work)}, work);
    none_has = intersect({none_has, without}, work);
  }
  return one_has;
}

ExpressionId RawStrings::texts(SetId set, const Work& work) {
  return memoized(sets_texts_, set.value, [&] { return of_set(set, work); });
}

ExpressionId RawStrings::of_set(SetId set, const Work& work) {
  work.budget.step();
  const Within within(depth_, work.budget.limits().depth);
  const Formulas<SetTag>& formulas = sets_.formulas();
  std::vector<ExpressionId> found;
  if (const Operation operation = formulas.operation(set); operation >= Operation::All) {
    const auto operands = formulas.operands(set);
    for (const SetId operand : std::vector<SetId>(operands.begin(), operands.end()))
      found.push_back(texts(operand, work));
  }
  switch (formulas.operation(set)) {
    case Operation::True: return all(work);
    case Operation::False: return Arena::kEmpty;
    case Operation::Atom: return of_node({formulas.atom(set)}, work);
    case Operation::Not: return complement(texts(formulas.body(set), work), work);
    case Operation::All: return intersect(std::move(found), work);
    case Operation::Any: return unite(std::move(found), work);
    default: return one(found, work);
  }
}

ExpressionId RawStrings::of_node(ValueNode node, const Work& work) {
  node = sets_.table().resolved(node);
  return memoized(node_texts_, node.value, [&] { return make(node, work); });
}

ExpressionId RawStrings::make(ValueNode id, const Work& work) {
  work.budget.step();
  const Within within(depth_, work.budget.limits().depth);
  const auto each = [&](const std::vector<ValueNode>& items) {
    std::vector<ExpressionId> found;
    for (const ValueNode item : std::vector<ValueNode>(items)) found.push_back(of_node(item, work));
    return found;
  };
  return std::visit(
      [&](const auto& n) {
        using N = std::decay_t<decltype(n)>;
        if constexpr (std::is_same_v<N, ValueTable::NoValue>) return Arena::kEmpty;
        else if constexpr (std::is_same_v<N, ValueTable::AllOf>) return intersect(each(n.items), work);
        else if constexpr (std::is_same_v<N, ValueTable::AnyOf>) return unite(each(n.items), work);
        else if constexpr (std::is_same_v<N, ValueTable::OneOf>) return one(each(n.items), work);
        else if constexpr (std::is_same_v<N, ValueTable::Negation>) return complement(of_node(n.body, work), work);
        else if constexpr (std::is_same_v<N, ValueTable::Types>) return n.mask & kString ? all(work) : Arena::kEmpty;
        else if constexpr (std::is_same_v<N, ValueTable::String>) return sets_.unspelled(n.language, work);
        else if constexpr (std::is_same_v<N, ValueTable::StringLength>) {
          const ExpressionId character = work.arena.add(*Expression::code_points({{0, 0x10FFFF}}), work.budget);
          return work.arena.repeat(character, n.minimum, n.maximum);
        } else return all(work);
      },
      sets_.table().node(id));
}

}  // namespace tokamata::json
