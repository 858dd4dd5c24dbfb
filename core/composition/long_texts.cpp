#include "composition/long_texts.hpp"

#include <algorithm>

namespace tokamata {

namespace {

using Length = std::optional<std::uint64_t>;

Length sum(Length one, Length other) {
  if (!one || !other) return std::nullopt;
  return *one > LongTexts::kEndless - *other ? LongTexts::kEndless : *one + *other;
}

std::uint64_t times(Count count, std::uint64_t length) {
  if (length == 0) return 0;
  if (count == kUnbounded || length > LongTexts::kEndless / count) return LongTexts::kEndless;
  return count * length;
}

}  // namespace

Length LongTexts::length_of(ExpressionId expression) {
  if (const auto known = lengths_.find(expression.value); known != lengths_.end()) return known->second;
  const Length made = made_length(expression);
  lengths_.emplace(expression.value, made);
  return made;
}

Length LongTexts::made_length(ExpressionId expression) {
  const Pool& pool = automaton_.arena().pool();
  const ExpressionNode n = pool.node(expression);
  if (n.constrained || n.shortest >= kNoLength) return std::nullopt;
  switch (n.kind) {
    case Kind::Concatenation: {
      Length all = 0;
      for (ExpressionId rest = expression; rest != Pool::kEpsilon && all; rest = pool.split(rest).tail)
        all = sum(all, length_of(pool.split(rest).head));
      return all;
    }
    case Kind::Union: {
      Length most;
      // nothing is the least
      for (const ExpressionId item : pool.items(n)) most = std::max(most, length_of(item));
      return most;
    }
    case Kind::Repetition: {
      const Length body = length_of(n.body());
      return body ? Length(times(n.maximum, *body)) : Length(n.shortest);
    }
    case Kind::Terminal: return length_of(n.body());
    case Kind::Until:
    case Kind::Everything: return kEndless;
    default: return n.shortest;
  }
}

std::vector<ExpressionId> LongTexts::rules_in_front(ExpressionId expression) const {
  const Pool& pool = automaton_.arena().pool();
  std::vector<ExpressionId> rules, parts{expression};
  if (pool.node(expression).constrained) return rules;
  while (!parts.empty()) {
    const ExpressionId part = parts.back();
    const ExpressionNode& n = pool.node(part);
    parts.pop_back();
    if (!n.rules) continue;
    switch (n.kind) {
      case Kind::Rule: rules.push_back(part); break;
      case Kind::Concatenation: parts.push_back(n.head()); break;
      case Kind::Repetition: parts.push_back(n.body()); break;
      case Kind::Union: parts.insert(parts.end(), pool.items(n).begin(), pool.items(n).end()); break;
      default: break;
    }
  }
  return rules;
}

bool LongTexts::repeats(ExpressionId rule, std::string_view bytes, Budget& budget) {
  Arena& arena = automaton_.arena();
  ExpressionId left = rule;
  for (const char byte : bytes) {
    budget.step();
    left = arena.derivatives().derivative(left, Symbol(static_cast<std::uint8_t>(byte)), budget);
    if (left == Pool::kEmpty) return false;
  }
  const std::vector<ExpressionId> rules = rules_in_front(left);
  return std::ranges::find(rules, rule) != rules.end();
}

}  // namespace tokamata
