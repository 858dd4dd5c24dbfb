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
  switch (n.kind) {
    case Kind::Concatenation:
    case Kind::Guarded: parts.insert(parts.end(), {{n.first}, {n.second}}); break;
    case Kind::Union:
    case Kind::Intersection: parts.insert(parts.end(), pool.items(n).begin(), pool.items(n).end()); break;
    case Kind::Repetition:
    case Kind::Complement:
    case Kind::LookAhead:
    case Kind::LookBehind:
    case Kind::Scope:
    case Kind::Terminal: parts.push_back(n.body()); break;
    default: break;
  }
}

}  // namespace tokamata
