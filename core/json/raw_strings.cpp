#include "json/raw_strings.hpp"

#include "expression/expression.hpp"

namespace tokamata::json {

Languages RawTexts::languages(const Work& work) {
  if (!all_) all_ = work.arena.add(*Expression::text(), work.budget);
  return {*all_, work};
}

ExpressionId RawTexts::of_leaf(ValueNode node, bool, const Work& work) {
  const ExpressionId all = everything(work);
  return std::visit(Overloaded{
                        [&](const ValueTable::Types& n) { return n.mask & kString ? all : Pool::kEmpty; },
                        [&](const ValueTable::String& n) { return texts_.unspelled(n.language, work); },
                        [&](const ValueTable::StringLength& n) {
                          const ExpressionPtr character = Expression::code_points({{0, 0x10FFFF}});
                          return work.arena.forms().repeat(work.arena.add(*character, work.budget), n.minimum,
                                                           n.maximum);
                        },
                        [&](const auto&) { return all; },
                    },
                    formulas_.table().node(node));
}

}  // namespace tokamata::json
