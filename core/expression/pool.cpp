#include "expression/pool.hpp"

#include <algorithm>

#include "common/hash.hpp"

namespace tokamata {

Pool::Pool(const Leaves& leaves, std::uint32_t depth_limit) : leaves_(leaves), depth_limit_(depth_limit) {
  intern({.kind = Kind::Empty, .text = true});
  intern({.kind = Kind::Epsilon, .nullable = true, .text = true, .spelled = 0});
  intern({.kind = Kind::Stub,
          .text = true,
          .spelled = ExpressionNode::kUnspelled - 1,
          .worst = ExpressionNode::kUnspelled - 1});
  intern({.kind = Kind::Everything, .nullable = true, .spelled = 0});
}

// ---- hash-consing -----------------------------------------------------------------------------

std::uint64_t Pool::hash_of(const ExpressionNode& node, std::span<const ExpressionId> items) const {
  std::uint64_t hash = mix(static_cast<std::uint64_t>(node.kind) + 1, node.minimum);
  hash = mix(hash, node.maximum);
  if (node.has_items()) {
    for (ExpressionId item : items) hash = mix(hash, item.value);
    return hash;
  }
  return mix(hash, node.payload.bits());
}

bool Pool::same(const ExpressionNode& a, std::span<const ExpressionId> a_items, const ExpressionNode& b) const {
  if (a.kind != b.kind || a.minimum != b.minimum || a.maximum != b.maximum) return false;
  if (!a.has_items()) return a.payload == b.payload;
  return std::ranges::equal(a_items, items(b));
}

// Whether the parts of a node that is to be made are there already, and those of a set in order.
bool Pool::is_whole(const ExpressionNode& node, std::span<const ExpressionId> items) const {
  const auto is_there = [this](ExpressionId part) { return part.value < nodes_.size(); };
  if (node.has_items()) {
    const auto is_nested = [&](ExpressionId item) { return nodes_[item.value].kind == node.kind || item == kEmpty; };
    return items.size() > 1 && is_strictly_sorted(items) && std::ranges::all_of(items, is_there) &&
           std::ranges::none_of(items, is_nested);
  }
  switch (facts_of(node.kind).holds) {
    case Holds::Pair: return is_there(node.head()) && is_there(node.tail());
    case Holds::Body: return is_there(node.body());
    default: return true;
  }
}

ExpressionId Pool::intern(ExpressionNode node, std::span<const ExpressionId> items) {
  TOKAMATA_CHECK(is_whole(node, items),
                 "the parts of an expression are there, and alternatives are flat, sorted and unique");
  if (node.depth > depth_limit_) throw LimitExceeded("depth", depth_limit_);
  const std::uint64_t hash = hash_of(node, items);
  if (const auto known = index_.find(hash, [&](std::uint32_t number) { return same(node, items, nodes_[number]); }))
    return {*known};
  index_.reserve(1);
  const ExpressionId id{static_cast<std::uint32_t>(nodes_.size())};
  if (node.has_items()) {
    node.payload = Payload::items(static_cast<std::uint32_t>(items_.size()), static_cast<std::uint32_t>(items.size()));
    items_.insert(items_.end(), items.begin(), items.end());
  }
  if (node.shape == 0) node.shape = static_cast<std::uint32_t>(hash >> 32) | 1;
  node.firsts = firsts_of(node, items);
  nodes_.push_back(node);
  index_.add(id.value, hash);
  return id;
}

// Problem.  Of the sixty parts at the end of an expression of Java, where any operator may follow at any level, a byte
// is read by one or two.  A derivative that looks into each of them costs twenty times what the two cost.
// How.  Each node knows its first bytes, folded into one word; what cannot begin with a byte is passed by.  A superset:
// what may be skipped, as far as the structure says, is skipped; rules may begin with any byte.
std::uint64_t Pool::firsts_of(const ExpressionNode& n, std::span<const ExpressionId> parts) const {
  constexpr std::uint64_t kAny = ~std::uint64_t{0};
  if (n.behind) return kAny;
  if (facts_of(n.kind).reads == Reads::Nothing) return 0;
  std::uint64_t firsts = 0;
  switch (n.kind) {
    case Kind::ControlToken: return 0;
    case Kind::Bytes:
    case Kind::CodePoints:
    case Kind::Strings: return leaves_.first_bytes(n).folded();
    case Kind::Terminal:
    case Kind::Scope:
    case Kind::Repetition: return node(n.body()).firsts;
    case Kind::Guarded: return node(n.core()).firsts;
    case Kind::Union:
      for (const ExpressionId part : parts) firsts |= node(part).firsts;
      return firsts;
    case Kind::Intersection:
      firsts = kAny;
      for (const ExpressionId part : parts) firsts &= node(part).firsts;
      return firsts;
    case Kind::Concatenation: {
      const ExpressionNode& head = node(n.head());
      const bool is_skipped = head.nullable || head.open || head.constrained || head.edges || head.commits;
      return head.firsts | (is_skipped ? node(n.tail()).firsts : 0);
    }
    default: return kAny;  // Everything, Until, Language, OneToken, Complement, Rule
  }
}

// ---- reading ----------------------------------------------------------------------------------

std::optional<ExpressionId> Pool::strings_within(const ExpressionNode& n) const {
  if (n.kind != Kind::Intersection || n.open || n.behind || n.edges) return std::nullopt;
  for (const ExpressionId item : items(n))
    if (node(item).kind == Kind::Strings) return item;
  return std::nullopt;
}

}  // namespace tokamata
