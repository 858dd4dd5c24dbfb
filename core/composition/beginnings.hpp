// What expressions with rules may begin with: a superset of the bytes, found once for each expression.
//
// Where a choice, a lookaround or an unverified text stands in front, any byte may come: to see further, the choice
// would have to be applied.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "common/memory_account.hpp"
#include "expression/arena.hpp"
#include "vocabulary/segment.hpp"

namespace tokamata {

class Beginnings {
 public:
  // Of an arena that outlives it.
  explicit Beginnings(Arena& arena) : arena_(arena) {}

  ByteSet of(ExpressionId expression);
  // What an expression begins with, as its mask asks for the segment of a terminal before it.
  Follow follow_of(ExpressionId expression) {
    return arena_.rule_sets().any_joins() && !of(expression).intersects(kWordBytes) ? Follow::NoWord : Follow::AnyByte;
  }

  // To be called when expressions get other numbers.
  void clear() { release(known_); }

 private:
  const ByteSet* known(ExpressionId expression) const;  // null: it is not

  Arena& arena_;
  counted::unordered_map<std::uint32_t, ByteSet> known_;  // by expression
};

}  // namespace tokamata
