// The type of patterns, for those who hand them on; who makes or reads one includes expression.hpp.
#pragma once

#include <memory>

namespace tokamata {

class Expression;
using ExpressionPtr = std::shared_ptr<const Expression>;

}  // namespace tokamata
