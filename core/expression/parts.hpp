// The expressions that an expression is made of, for walks through all of it.
//
// Example.  a·(b | c)  has the parts  a  and  b | c.
#pragma once

#include <vector>

#include "expression/pool.hpp"

namespace tokamata {

// Adds them to `parts`.  Rules, commits and leaves have none.
inline void append_parts(const Pool& pool, ExpressionId expression, std::vector<ExpressionId>& parts) {
  const ExpressionNode& n = pool.node(expression);
  switch (facts_of(n.kind).holds) {
    case Holds::Pair: parts.insert(parts.end(), {n.head(), n.tail()}); break;
    case Holds::Items: parts.insert(parts.end(), pool.items(n).begin(), pool.items(n).end()); break;
    case Holds::Body: parts.push_back(n.body()); break;
    default: break;
  }
}

}  // namespace tokamata
