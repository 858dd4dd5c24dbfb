#include "expression/lookaround.hpp"

#include <algorithm>

namespace tokamata {

// ---- normal forms -----------------------------------------------------------------------------

ExpressionId Lookaround::wrap(Kind kind, ExpressionId body) {
  const ExpressionNode& b = pool_.node(body);
  const bool looks = kind != Kind::Scope;
  return pool_.intern({.kind = kind,
                       .nullable = b.nullable,
                       .open = looks,
                       .behind = kind == Kind::LookBehind || (looks && b.behind),
                       .constrained = true,
                       .edges = b.edges,
                       .text = looks || b.text,
                       .spelled = looks ? ExpressionNode::kUnspelled : b.spelled,
                       .shortest = looks ? 0 : b.shortest,
                       .depth = b.depth + 1,
                       .payload = Payload::body(body)});
}

ExpressionId Lookaround::look_ahead(ExpressionId rest) {
  if (rest == Pool::kEmpty) return Pool::kEmpty;
  return rest == Pool::kEverything ? Pool::kEpsilon : wrap(Kind::LookAhead, rest);
}

ExpressionId Lookaround::look_behind(ExpressionId prefix) {
  if (prefix == Pool::kEmpty) return Pool::kEmpty;
  return prefix == Pool::kEverything ? Pool::kEpsilon : wrap(Kind::LookBehind, prefix);
}

ExpressionId Lookaround::scope(ExpressionId body) { return pool_.node(body).open ? wrap(Kind::Scope, body) : body; }

// Distributed over the alternatives of the expression, so that the guards of each are a set and not a formula.
ExpressionId Lookaround::guarded(ExpressionId expression, ExpressionId guard) {
  if (guard == Pool::kEverything) return expression;
  if (expression == Pool::kEmpty || guard == Pool::kEmpty) return Pool::kEmpty;
  const ExpressionNode n = pool_.node(expression);
  if (n.kind == Kind::Union) {
    std::vector<ExpressionId> alternatives;
    for (std::uint32_t i = 0; i < n.item_count(); ++i) alternatives.push_back(guarded(pool_.item(n, i), guard));
    return forms_.unite(alternatives);
  }
  if (n.kind == Kind::Guarded) {
    std::vector<ExpressionId> guards{n.guard(), guard};
    return guarded(n.core(), forms_.intersect(guards));
  }
  const ExpressionNode& g = pool_.node(guard);
  return pool_.intern({.kind = Kind::Guarded,
                       .nullable = n.nullable && g.nullable,
                       .open = true,  // where it matches nothing, the guard is about what follows
                       .behind = n.behind || g.behind,
                       .constrained = true,
                       .edges = n.edges || g.edges,
                       .text = n.text,
                       .shortest = std::max(n.shortest, g.shortest),
                       .depth = std::max(n.depth, g.depth) + 1,
                       .payload = Payload::pair(expression, guard)});
}

// ---- what is empty under a condition ----------------------------------------------------------

// Lookbehinds are decided: their prefix is what was read so far.
ExpressionId Lookaround::condition(ExpressionId expression) {
  const ExpressionNode n = pool_.node(expression);  // a copy: nodes move when the arena grows
  if (!n.open) return n.nullable ? Pool::kEverything : Pool::kEmpty;
  switch (n.kind) {
    case Kind::LookAhead: return n.body();
    case Kind::LookBehind: return condition(n.body());
    case Kind::Complement: return forms_.complement(condition(n.body()));
    case Kind::Repetition: return n.minimum == 0 ? Pool::kEverything : Pool::kEmpty;  // see repeat_conditional
    case Kind::Concatenation:
    case Kind::Guarded: {
      const ExpressionId first = condition(n.head());
      if (first == Pool::kEmpty) return Pool::kEmpty;
      std::vector<ExpressionId> both{first, n.kind == Kind::Guarded ? n.guard() : condition(n.tail())};
      return forms_.intersect(both);
    }
    case Kind::Union:
    case Kind::Intersection: {
      std::vector<ExpressionId> conditions;
      for (std::uint32_t i = 0; i < n.item_count(); ++i) conditions.push_back(condition(pool_.item(n, i)));
      return n.kind == Kind::Union ? forms_.unite(conditions) : forms_.intersect(conditions);
    }
    default: return Pool::kEmpty;  // leaves are not open
  }
}

ExpressionId Lookaround::empty_part(ExpressionId expression) {
  const ExpressionNode n = pool_.node(expression);
  if (!n.open) return n.nullable ? Pool::kEpsilon : Pool::kEmpty;
  switch (n.kind) {
    case Kind::LookAhead:
    case Kind::LookBehind: return expression;
    case Kind::Repetition: return n.minimum == 0 ? Pool::kEpsilon : Pool::kEmpty;
    case Kind::Concatenation: {
      const ExpressionId first = empty_part(n.head());
      return first == Pool::kEmpty ? Pool::kEmpty : forms_.concatenate(first, empty_part(n.tail()));
    }
    case Kind::Union: {
      std::vector<ExpressionId> parts;
      for (std::uint32_t i = 0; i < n.item_count(); ++i) parts.push_back(empty_part(pool_.item(n, i)));
      if (std::ranges::find(parts, Pool::kEpsilon) != parts.end()) return Pool::kEpsilon;
      return forms_.unite(parts);
    }
    case Kind::Intersection:
    case Kind::Complement: {
      std::vector<ExpressionId> both{Pool::kEpsilon, expression};
      return forms_.intersect(both);
    }
    default: return Pool::kEmpty;
  }
}

// Problem.  In (\b|a){2,3} a round may be empty where there is a border and nowhere else; the
// derivative of a repetition knows rounds that read something alone.
// How.  With x for such rounds and c for an empty one: either there are enough rounds that read, or
// at one place c holds, and the missing rounds are all there:
//   (c|x){m,n}  =  x{m,n}  |  x{0}·c·x{0,m-1}  |  x{1}·c·x{0,m-2}  |  …  |  x{m-1}·c
// Example.  (\b|a){2,3}  =  a{2,3} | \b·a{0,1} | a·\b.
// Cost.  m alternatives; two where there is no upper bound, since then x*·c·x* covers them.
ExpressionId Lookaround::repeat_conditional(ExpressionId body, ExpressionId when_empty, Count minimum, Count maximum,
                                            Budget& budget) {
  if (when_empty == Pool::kEpsilon) minimum = 0;
  std::vector<ExpressionId> ways{forms_.repeat(body, minimum, maximum)};
  if (minimum > 0 && maximum == kUnbounded) {
    const ExpressionId any = minimum == 1 ? Pool::kEpsilon : forms_.repeat(body, 0, kUnbounded);
    ways.push_back(forms_.concatenate(any, forms_.concatenate(when_empty, any)));
  } else {
    for (Count before = 0; before < minimum; ++before) {
      budget.step();
      const ExpressionId after = forms_.repeat(body, 0, minimum - 1 - before);
      ways.push_back(forms_.concatenate(forms_.repeat(body, before, before), forms_.concatenate(when_empty, after)));
    }
  }
  return forms_.unite(ways);
}

}  // namespace tokamata
