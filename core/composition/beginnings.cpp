#include "composition/beginnings.hpp"

#include <algorithm>
#include <unordered_set>

namespace tokamata {

ByteSet Beginnings::of(ExpressionId expression) {
  if (expression.value < known_.size() && known_[expression.value]) return *known_[expression.value];
  ByteSet found;
  std::vector<ExpressionId> open{expression};
  std::unordered_set<std::uint32_t> met;
  while (!open.empty()) {
    const ExpressionId at = open.back();
    open.pop_back();
    if (!met.insert(at.value).second) continue;
    const ExpressionNode& n = arena_.pool().node(at);
    if (!n.rules && !n.constrained && !n.open && !n.commits && !n.unverified) {
      found |= arena_.analyses().first_bytes(at);
    } else if (n.kind == Kind::Union) {
      open.insert(open.end(), arena_.pool().items(n).begin(), arena_.pool().items(n).end());
    } else if (n.kind == Kind::Concatenation) {
      open.push_back(n.head());
      if (arena_.pool().node(n.head()).nullable) open.push_back(n.tail());
    } else if (n.kind == Kind::Repetition) {
      open.push_back(n.body());
    } else if (n.kind == Kind::Rule) {
      found |= arena_.rule_sets().of(n).may_begin(n.rule());
    } else {
      found = ByteSet::range(0x00, 0xFF);
    }
  }
  if (known_.size() <= expression.value) known_.resize(std::max<std::size_t>(expression.value + 1, 2 * known_.size()));
  return *(known_[expression.value] = found);
}

}  // namespace tokamata
