#include "expression/string_bounds.hpp"

#include <algorithm>
#include <unordered_set>

namespace tokamata {

std::optional<StringBounds::Beside> StringBounds::beside_bounds(const ExpressionNode& n) {
  if (n.kind != Kind::Intersection) return std::nullopt;
  // a copy: items move when the arena grows
  const std::vector<ExpressionId> conjuncts(pool_.items(n).begin(), pool_.items(n).end());
  std::vector<ExpressionId> others;
  Count least = kUnbounded;
  for (const ExpressionId item : conjuncts) {
    if (characters_.is_mere_bound(item, conjuncts)) least = std::min(least, pool_.node(item).maximum);
    else others.push_back(item);
  }
  if (others.size() != 1 || least == kUnbounded) return std::nullopt;
  return Beside{others[0], least};
}

std::optional<StringBounds::Unbounded> StringBounds::without_bound(ExpressionId terminal) {
  const auto [head, tail] = pool_.split(pool_.node(terminal).body());
  const ExpressionNode n = pool_.node(head);
  const std::optional<std::uint8_t> end = leaves_.only_byte(pool_.node(pool_.split(tail).head));
  if (!end || characters_.spelling().stand_for_themselves.contains(*end)) return std::nullopt;
  ByteSet special = characters_.spelling().begin_escapes;
  special.add(*end);
  const auto unbounded = [&, rest = tail](ExpressionId string, Count sure, Count most) {
    const ExpressionNode loop = pool_.node(string);
    const bool is_loop = loop.kind == Kind::Repetition && loop.minimum == 0 && loop.maximum == kUnbounded;
    const ExpressionId body = forms_.concatenate(string, rest);
    return Unbounded{forms_.terminal_of(body, pool_.node(body).spelled, pool_.node(body).shortest), sure,
                     is_loop ? most : sure, most, special};
  };
  if (characters_.counts(n) && n.maximum != kUnbounded)
    return unbounded(forms_.repeat(n.body(), n.minimum, kUnbounded), n.maximum, n.maximum);
  const std::optional<Loosened> loosened = without_bounds(head, &ExpressionNode::worst);
  if (!loosened) return std::nullopt;
  return unbounded(loosened->expression, loosened->room, loosened->most);
}

// An intersection may begin with another one, such as a mailbox of 254 characters with a local part of 64.  What the
// inner one has without its bound ends its part as early as the worst rest says, so that the outer bound sees no
// difference.
std::optional<StringBounds::Loosened> StringBounds::without_bounds(ExpressionId expression,
                                                                   std::uint32_t ExpressionNode::* rest) {
  const ExpressionNode n = pool_.node(expression);
  if (n.kind == Kind::Concatenation) {
    const auto [head, tail] = pool_.split(expression);
    std::optional<Loosened> loosened = without_bounds(head, rest);
    if (loosened) loosened = Loosened{forms_.concatenate(loosened->expression, tail), loosened->room, kUnbounded};
    return loosened;
  }
  if (n.kind != Kind::Intersection) return std::nullopt;
  std::vector<ExpressionId> conjuncts(pool_.items(n).begin(), pool_.items(n).end());
  const auto others = std::ranges::stable_partition(
      conjuncts, [this](ExpressionId item) { return characters_.counts(pool_.node(item)); });
  if (others.size() != 1) return std::nullopt;
  Count room = kUnbounded;
  if (const std::optional<Loosened> within = without_bounds(conjuncts.back(), rest)) {
    conjuncts.back() = within->expression;
    room = within->room;
  }
  const ExpressionNode whole = pool_.node(forms_.intersect(conjuncts));
  const std::optional<Beside> beside = beside_bounds(whole);
  if (!beside || beside->most < pool_.node(beside->other).*rest) return std::nullopt;
  return Loosened{beside->other, std::min(room, beside->most - pool_.node(beside->other).*rest), beside->most};
}

// Whether it is an automaton of strings, or a small expression of one text, in each of its spellings, or a few texts.
bool StringBounds::is_of_few_texts(ExpressionId expression) const {
  if (pool_.node(expression).kind == Kind::Strings) return true;
  constexpr std::size_t kMostNodes = 1024;
  constexpr std::size_t kFewBytes = 8;  // as the two cases of a digit
  std::vector<ExpressionId> open{expression};
  std::unordered_set<std::uint32_t> met;
  while (!open.empty()) {
    const ExpressionId at = open.back();
    open.pop_back();
    if (!met.insert(at.value).second) continue;
    if (met.size() > kMostNodes) return false;
    const ExpressionNode& n = pool_.node(at);
    if (n.kind == Kind::Concatenation) {
      open.push_back(n.head());
      open.push_back(n.tail());
    } else if (n.kind == Kind::Union) {
      open.insert(open.end(), pool_.items(n).begin(), pool_.items(n).end());
    } else if (at != Pool::kEpsilon && !(n.kind == Kind::Bytes && leaves_.byte_set(n).size() <= kFewBytes)) {
      return false;
    }
  }
  return true;
}

std::optional<StringBounds::WithStrings> StringBounds::with_strings(ExpressionId terminal) {
  const auto [head, tail] = pool_.split(pool_.node(terminal).body());
  const ExpressionNode n = pool_.node(head);
  if (n.kind != Kind::Intersection || pool_.node(tail).nullable) return std::nullopt;
  std::vector<ExpressionId> strings, others;
  for (const ExpressionId item : pool_.items(n)) {
    const ExpressionNode& part = pool_.node(item);
    if (part.kind == Kind::Complement && is_of_few_texts(part.body())) strings.push_back(part.body());
    else others.push_back(item);
  }
  if (strings.empty() || others.empty()) return std::nullopt;
  const ExpressionId body = forms_.concatenate(forms_.intersect(others), tail);
  const ExpressionNode& next = pool_.node(pool_.split(tail).head);
  const ByteSet behind = next.kind == Kind::Bytes ? leaves_.byte_set(next) : ByteSet::range(0x00, 0xFF);
  return WithStrings{forms_.terminal_of(body, pool_.node(body).spelled, pool_.node(body).shortest), std::move(strings),
                     behind};
}

std::optional<Count> StringBounds::characters_but_for_some(ExpressionId expression) {
  const ExpressionNode n = pool_.node(expression);
  if (n.kind != Kind::Intersection) return std::nullopt;
  std::optional<Count> least;
  ByteSet free = characters_.spelling().stand_for_themselves & leaves_.single_bytes();
  for (const ExpressionId item : pool_.items(n)) {
    const ExpressionNode& part = pool_.node(item);
    if (characters_.counts(part) && part.maximum == kUnbounded) {
      least = std::max(least.value_or(0), part.minimum);
      continue;
    }
    if (part.kind != Kind::Complement) return std::nullopt;
    const ExpressionNode& body = pool_.node(part.body());
    if (!body.text || body.constrained || body.open || body.behind || body.edges || body.rules) return std::nullopt;
    free = free.without(analyses_.first_bytes_within(part.body()));
  }
  return free.empty() ? std::nullopt : least;
}

std::optional<std::uint32_t> StringBounds::length_without_search(ExpressionId expression) {
  const auto [head, tail] = pool_.split(expression);
  const ExpressionNode n = pool_.node(head);
  if (pool_.node(tail).constrained) return std::nullopt;
  // it is there
  const auto sure = [](std::uint64_t length) { return std::min<std::uint64_t>(length, kLongestLength); };
  if (const std::optional<Count> least = characters_but_for_some(head); least && *least < kUnbounded / 2)
    return capped_sum(sure(n.nullable ? 0 : std::max<Count>(*least, 1)), sure(pool_.node(tail).shortest));
  const std::optional<Loosened> loosened = without_bounds(head, &ExpressionNode::shortest);
  if (!loosened) return std::nullopt;
  return capped_sum(sure(pool_.node(loosened->expression).shortest), sure(pool_.node(tail).shortest));
}

}  // namespace tokamata
