// Clipping: forgetting counts that no token distinguishes.
//
// Problem.  `[a-z]{0,100000}` passes through 100,000 states, and each would need a mask of its
// own; but a token of at most `reach` bytes does not distinguish {0,99990} from {0,99989}.
// Example.  With reach 8:  x{0,500}·t becomes x*·t;  x{3,500}·t becomes x{3,}·t;
//           x{20,500}·t becomes x*·stub, since no token can finish twenty rounds.
// Why it is sound.  Every round of x takes a byte at least (a nullable x has minimum 0 and its
// empty rounds add nothing), so that no more than `reach` rounds begin within one token.  What
// lives after the token therefore lives in both, where liveness does not depend on counts: this
// holds where every byte of the pattern is a token of its own, and only there is it used.
// In c{0,500}&t, where t is of characters c, a text that is begun is ended within the worst of t: if the count leaves
// as much after a token, all that lives in t lives (characters.hpp).
// Cost: linear in the part of the expression that counts past reach, once (memoized).
#pragma once

#include <cstdint>
#include <unordered_map>

#include "common/memory_account.hpp"
#include "expression/string_bounds.hpp"

namespace tokamata {

class Clipping {
 public:
  Clipping(const Pool& pool, Forms& forms, StringBounds& bounds)
      : pool_(pool), forms_(forms), bounds_(bounds), reach_(forms.reach()) {}

  // An expression with the same mask, for every vocabulary whose longest token is `reach` bytes long, in which counts
  // beyond that reach are forgotten: x{0,n} becomes x*, and x{m,n}·t with m beyond reach becomes x*·stub.
  ExpressionId clip(ExpressionId expression);
  void forget() { release(clipped_); }

 private:
  ExpressionId clip_repetition(const ExpressionNode& node);

  const Pool& pool_;
  Forms& forms_;
  StringBounds& bounds_;
  const std::size_t reach_;
  counted::unordered_map<std::uint32_t, ExpressionId> clipped_;
};

}  // namespace tokamata
