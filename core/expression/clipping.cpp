#include "expression/clipping.hpp"

namespace tokamata {

ExpressionId Clipping::clip_repetition(const ExpressionNode& n) {
  const ExpressionId body = clip(n.body());
  if (n.minimum > reach_) return forms_.pair(forms_.repeat(body, 0, kUnbounded), Pool::kStub);
  const bool past_reach = n.maximum != kUnbounded && n.maximum > reach_;
  return forms_.repeat(body, n.minimum, past_reach ? kUnbounded : n.maximum);
}

ExpressionId Clipping::clip(ExpressionId expression) {
  std::vector<ExpressionId> spine;  // concatenations met on the way down the tails
  ExpressionId rest = expression;
  ExpressionId result;
  while (true) {
    if (!pool_.node(rest).counts_past_reach && !pool_.node(rest).windowed) {
      result = rest;
      break;
    }
    if (const auto known = clipped_.find(rest.value); known != clipped_.end()) {
      result = known->second;
      break;
    }
    const ExpressionNode n = pool_.node(rest);
    if (n.kind == Kind::Concatenation) {
      spine.push_back(rest);
      rest = n.tail();
      continue;
    }
    if (n.kind == Kind::Union) {
      std::vector<ExpressionId> clipped;
      for (std::uint32_t i = 0; i < n.item_count(); ++i) clipped.push_back(clip(pool_.item(n, i)));
      result = forms_.unite(clipped);
    } else if (n.kind == Kind::Terminal) {
      const ExpressionId body = clip(n.body());
      const bool is_sure = !pool_.node(body).constrained;
      result = forms_.terminal_of(body, is_sure ? pool_.node(body).spelled : n.spelled,
                                  is_sure ? pool_.node(body).shortest : n.shortest);
    } else if (n.kind == Kind::Intersection) {
      const std::optional<StringBounds::Beside> beside = bounds_.beside_bounds(n);
      const bool is_far = beside && beside->most > std::uint64_t{reach_} + pool_.node(beside->other).worst;
      result = is_far ? clip(beside->other) : rest;
    } else {
      result = clip_repetition(n);
    }
    clipped_.emplace(rest.value, result);
    break;
  }
  for (auto place = spine.rbegin(); place != spine.rend(); ++place) {
    result = forms_.concatenate(clip(pool_.node(*place).head()), result);
    clipped_.emplace(place->value, result);
  }
  return result;
}

}  // namespace tokamata
