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
// as much after a token, all that lives in t lives (characters.cpp).
// Cost: linear in the part of the expression that counts past reach, once (memoized).

#include "expression/forms.hpp"

namespace tokamata {

ExpressionId Forms::clip_repetition(const ExpressionNode& n) {
  const ExpressionId body = clip(n.body());
  if (n.minimum > reach_) return pair(repeat(body, 0, kUnbounded), kStub);
  const bool past_reach = n.maximum != kUnbounded && n.maximum > reach_;
  return repeat(body, n.minimum, past_reach ? kUnbounded : n.maximum);
}

ExpressionId Forms::clip(ExpressionId expression) {
  std::vector<ExpressionId> spine;  // concatenations met on the way down the tails
  ExpressionId rest = expression;
  ExpressionId result;
  while (true) {
    if (!node(rest).counts_past_reach && !node(rest).windowed) {
      result = rest;
      break;
    }
    if (const auto known = clipped_.find(rest.value); known != clipped_.end()) {
      result = known->second;
      break;
    }
    const ExpressionNode n = node(rest);
    if (n.kind == Kind::Concatenation) {
      spine.push_back(rest);
      rest = n.tail();
      continue;
    }
    if (n.kind == Kind::Union) {
      std::vector<ExpressionId> clipped;
      for (std::uint32_t i = 0; i < n.second; ++i) clipped.push_back(clip(item(n, i)));
      result = unite(clipped);
    } else if (n.kind == Kind::Terminal) {
      const ExpressionId body = clip(n.body());
      const bool is_sure = !node(body).constrained;
      result = terminal_of(body, is_sure ? node(body).spelled : n.spelled, is_sure ? node(body).shortest : n.shortest);
    } else if (n.kind == Kind::Intersection) {
      const std::optional<Beside> beside = beside_bounds(n);
      const bool is_far = beside && beside->most > std::uint64_t{reach_} + node(beside->other).worst;
      result = is_far ? clip(beside->other) : rest;
    } else {
      result = clip_repetition(n);
    }
    clipped_.emplace(rest.value, result);
    break;
  }
  for (auto place = spine.rbegin(); place != spine.rend(); ++place) {
    result = concatenate(clip(node(*place).head()), result);
    clipped_.emplace(place->value, result);
  }
  return result;
}

}  // namespace tokamata
