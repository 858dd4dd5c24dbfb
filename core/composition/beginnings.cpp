#include "composition/beginnings.hpp"

#include <vector>

namespace tokamata {

// Parts first: the next questions are about them, and others share them.
ByteSet Beginnings::of(ExpressionId expression) {
  if (const ByteSet* const known = this->known(expression)) return *known;
  std::vector<ExpressionId> open{expression};
  while (!open.empty()) {
    const ExpressionId at = open.back();
    if (known(at)) {  // as a part of something else, meanwhile
      open.pop_back();
      continue;
    }
    const std::size_t before = open.size();
    ByteSet found;
    // What a part begins with; it is opened where that is not known.
    const auto add = [&](ExpressionId part) {
      if (const ByteSet* const known = this->known(part)) found |= *known;
      else open.push_back(part);
    };
    const ExpressionNode& n = arena_.pool().node(at);
    if (!n.rules && !n.constrained && !n.open && !n.commits && !n.unverified) {
      found = arena_.analyses().first_bytes(at);
    } else if (n.kind == Kind::Union) {
      for (const ExpressionId item : arena_.pool().items(n)) add(item);
    } else if (n.kind == Kind::Concatenation) {
      add(n.head());
      if (arena_.pool().node(n.head()).nullable) add(n.tail());
    } else if (n.kind == Kind::Repetition) {
      add(n.body());
    } else if (n.kind == Kind::Rule) {
      found = arena_.rule_sets().of(n).may_begin(n.rule());
    } else {
      found = ByteSet::range(0x00, 0xFF);
    }
    if (open.size() > before) continue;
    known_.emplace(at.value, found);
    open.pop_back();
  }
  return *known(expression);
}

const ByteSet* Beginnings::known(ExpressionId expression) const {
  const auto place = known_.find(expression.value);
  return place == known_.end() ? nullptr : &place->second;
}

}  // namespace tokamata
