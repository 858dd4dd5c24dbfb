// Intersection, complement and lookaround, in normal form.
//
// Problem.  All of them keep a language regular, yet none is local: what a lookahead allows depends
// on everything that follows, what a lookbehind allows on everything before.  Rewriting A(?=B)C as
// A·(B·any ∩ C) is wrong as soon as it stands in a repetition or an alternative:
// (?:a(?!a)|b)* must refuse aa.
// How.  A derivative knows the whole continuation K of the place that it has reached.  There
//   (?=B)·K   is   K in which everything that follows is also in B·everything: K under a *guard*,
//   (?<=B)·K  is   K or nothing, according to whether what was read so far is in everything·B.
// After a byte, K under a guard is the derivative of K under the derivative of the guard, alternative
// by alternative (derivative.cpp); guards that hold whatever comes vanish.
// Example.  (?:a(?!a)|b)*, call it R.  After a: (?!a)·R.  After another a the guard, ~(a·everything),
// becomes ~everything: nothing is left.  After b it becomes everything, and R remains.
// A scope ends both: in Scope(foo\b)·bar the \b sees no further than foo.
// Source.  Lookaheads as universal branches: Berglund, van der Merwe and van Litsenborgh 2021; the
// rest is Brzozowski 1964.  Why the states are finitely many: an alternative is a continuation of the
// pattern, with the lookbehinds in it at one of finitely many states each, under a set of guards, each
// the derivative of one of finitely many languages.
// Cost.  Sets of guards may be many, 2^n at worst for n lookaheads that overlap; Limits bound them.
// Not taken: explicit alternating automata (a second kind of engine), and rewriting.

#include <algorithm>

#include "expression/forms.hpp"

namespace tokamata {

// ---- normal forms -----------------------------------------------------------------------------

ExpressionId Forms::wrap(Kind kind, ExpressionId body) {
  const ExpressionNode& b = node(body);
  const bool looks = kind == Kind::LookAhead || kind == Kind::LookBehind;
  return intern({.kind = kind,
                 .nullable = kind == Kind::Complement ? !b.nullable : b.nullable,
                 .open = kind != Kind::Scope && (looks || b.open),
                 .behind = kind == Kind::LookBehind || (kind != Kind::Scope && b.behind),
                 .constrained = true,
                 .edges = b.edges,
                 .text = looks || (kind == Kind::Scope && b.text),
                 .spelled = kind == Kind::Scope ? b.spelled : ExpressionNode::kUnspelled,
                 .shortest = kind == Kind::Scope ? b.shortest : 0,
                 .depth = b.depth + 1,
                 .first = body.value});
}

ExpressionId Forms::complement(ExpressionId body) {
  if (body == kEmpty) return kEverything;
  if (body == kEverything) return kEmpty;
  if (node(body).kind == Kind::Complement) return node(body).body();
  return wrap(Kind::Complement, body);
}

ExpressionId Forms::look_ahead(ExpressionId rest) {
  if (rest == kEmpty) return kEmpty;
  return rest == kEverything ? kEpsilon : wrap(Kind::LookAhead, rest);
}

ExpressionId Forms::look_behind(ExpressionId prefix) {
  if (prefix == kEmpty) return kEmpty;
  return prefix == kEverything ? kEpsilon : wrap(Kind::LookBehind, prefix);
}

ExpressionId Forms::scope(ExpressionId body) { return node(body).open ? wrap(Kind::Scope, body) : body; }

bool Forms::is_all_text(ExpressionId expression) const {
  constexpr unsigned kFirstBytes = 128 + 0xF4 - 0xC2 + 1;  // of all code points
  const ExpressionNode& n = node(expression);
  if (n.kind != Kind::Repetition || n.minimum != 0 || n.maximum != kUnbounded) return false;
  const ExpressionNode& body = node(n.body());
  return body.kind == Kind::CodePoints && body.second == automaton(body).start() &&
         automaton(body).full_blocks().size() == kFirstBytes;
}

ExpressionId Forms::intersect(std::vector<ExpressionId>& given) {
  std::vector<ExpressionId> flat;
  for (const ExpressionId& item : given) {
    const auto parts = conjuncts(item);
    flat.insert(flat.end(), parts.begin(), parts.end());
  }
  given.clear();
  std::ranges::sort(flat);
  flat.erase(std::unique(flat.begin(), flat.end()), flat.end());
  std::erase(flat, kEverything);
  if (flat.empty()) return kEverything;
  if (flat.front() == kEmpty) return kEmpty;

  // All texts beside something that is text says nothing.
  if (std::ranges::any_of(flat, [&](ExpressionId item) { return node(item).text && !is_all_text(item); }))
    std::erase_if(flat, [&](ExpressionId item) { return is_all_text(item); });
  if (std::ranges::any_of(flat, [&](ExpressionId item) { return counts_characters(node(item)); })) {
    join_counts_of_characters(flat);
    drop_counts_of_characters(flat);
    if (flat.front() == kEmpty) return kEmpty;
  }
  // x and not x; x and not x or y; text and no text.
  const auto is_denied = [&](ExpressionId item) {
    if (node(item).kind != Kind::Complement) return false;
    const ExpressionId body = node(item).body();
    return std::ranges::any_of(alternatives(body), [&](ExpressionId x) {
      if (is_all_text(x)) return std::ranges::any_of(flat, [&](ExpressionId other) { return node(other).text; });
      return std::ranges::binary_search(flat, x);
    });
  };
  if (std::ranges::any_of(flat, is_denied)) return kEmpty;
  // Nothing remains to be read; but what is open, or waits for the edge of a token, is not decided yet.
  const auto is_undecided = [&](ExpressionId item) { return node(item).open || node(item).edges; };
  if (flat.front() == kEpsilon && std::ranges::none_of(flat, is_undecided)) {
    const bool all = std::ranges::all_of(flat, [&](ExpressionId item) { return node(item).nullable; });
    return all ? kEpsilon : kEmpty;
  }
  if (flat.size() == 1) return flat[0];

  ExpressionNode result{.kind = Kind::Intersection};
  result.nullable = result.constrained = true;
  for (ExpressionId item : flat) {
    const ExpressionNode& n = node(item);
    result.nullable &= n.nullable;
    result.open |= n.open;
    result.behind |= n.behind;
    result.edges |= n.edges;
    result.text |= n.text;
    result.windowed |= counts_characters(n) && n.maximum > reach_;
    result.shortest = std::max(result.shortest, n.shortest);
    result.depth = std::max(result.depth, n.depth + 1);
  }
  result.windowed &= !result.open && !result.behind && !result.edges;
  return intern(result, flat);
}

// What `expression` continues with, as far as all of it is also in `guard`.  Distributed over its
// alternatives, so that the guards of each are a set and not a formula.
ExpressionId Forms::guarded(ExpressionId expression, ExpressionId guard) {
  if (guard == kEverything) return expression;
  if (expression == kEmpty || guard == kEmpty) return kEmpty;
  const ExpressionNode n = node(expression);
  if (n.kind == Kind::Union) {
    std::vector<ExpressionId> alternatives;
    for (std::uint32_t i = 0; i < n.second; ++i) alternatives.push_back(guarded(item(n, i), guard));
    return unite(alternatives);
  }
  if (n.kind == Kind::Guarded) {
    std::vector<ExpressionId> guards{n.guard(), guard};
    return guarded(n.core(), intersect(guards));
  }
  const ExpressionNode& g = node(guard);
  return intern({.kind = Kind::Guarded,
                 .nullable = n.nullable && g.nullable,
                 .open = true,  // where it matches nothing, the guard is about what follows
                 .behind = n.behind || g.behind,
                 .constrained = true,
                 .edges = n.edges || g.edges,
                 .text = n.text,
                 .shortest = std::max(n.shortest, g.shortest),
                 .depth = std::max(n.depth, g.depth) + 1,
                 .first = expression.value,
                 .second = guard.value});
}

// ---- what is empty under a condition ----------------------------------------------------------

// What must be true of all that follows for `expression` to match nothing here.  Lookbehinds are
// decided: their prefix is what was read so far.
ExpressionId Forms::condition(ExpressionId expression) {
  const ExpressionNode n = node(expression);  // a copy: nodes move when the arena grows
  if (!n.open) return n.nullable ? kEverything : kEmpty;
  switch (n.kind) {
    case Kind::LookAhead: return n.body();
    case Kind::LookBehind: return condition(n.body());
    case Kind::Complement: return complement(condition(n.body()));
    case Kind::Repetition: return n.minimum == 0 ? kEverything : kEmpty;  // see repeat_conditional
    case Kind::Concatenation:
    case Kind::Guarded: {
      const ExpressionId first = condition(n.head());
      if (first == kEmpty) return kEmpty;
      std::vector<ExpressionId> both{first, n.kind == Kind::Guarded ? n.guard() : condition(n.tail())};
      return intersect(both);
    }
    case Kind::Union:
    case Kind::Intersection: {
      std::vector<ExpressionId> conditions;
      for (std::uint32_t i = 0; i < n.second; ++i) conditions.push_back(condition(item(n, i)));
      return n.kind == Kind::Union ? unite(conditions) : intersect(conditions);
    }
    default: return kEmpty;  // leaves are not open
  }
}

// The part of a pattern that reads nothing: lookarounds and epsilon alone.
ExpressionId Forms::empty_part(ExpressionId expression) {
  const ExpressionNode n = node(expression);
  if (!n.open) return n.nullable ? kEpsilon : kEmpty;
  switch (n.kind) {
    case Kind::LookAhead:
    case Kind::LookBehind: return expression;
    case Kind::Repetition: return n.minimum == 0 ? kEpsilon : kEmpty;
    case Kind::Concatenation: {
      const ExpressionId first = empty_part(n.head());
      return first == kEmpty ? kEmpty : concatenate(first, empty_part(n.tail()));
    }
    case Kind::Union: {
      std::vector<ExpressionId> parts;
      for (std::uint32_t i = 0; i < n.second; ++i) parts.push_back(empty_part(item(n, i)));
      if (std::ranges::find(parts, kEpsilon) != parts.end()) return kEpsilon;
      return unite(parts);
    }
    case Kind::Intersection:
    case Kind::Complement: {
      std::vector<ExpressionId> both{kEpsilon, expression};
      return intersect(both);
    }
    default: return kEmpty;
  }
}

// Problem.  In (\b|a){2,3} a round may be empty where there is a border and nowhere else; the
// derivative of a repetition knows rounds that read something alone.
// How.  With x for such rounds and c for an empty one: either there are enough rounds that read, or
// at one place c holds, and the missing rounds are all there:
//   (c|x){m,n}  =  x{m,n}  |  x{0}·c·x{0,m-1}  |  x{1}·c·x{0,m-2}  |  …  |  x{m-1}·c
// Example.  (\b|a){2,3}  =  a{2,3} | \b·a{0,1} | a·\b.
// Cost.  m alternatives; two where there is no upper bound, since then x*·c·x* covers them.
ExpressionId Forms::repeat_conditional(ExpressionId body, ExpressionId when_empty, Count minimum, Count maximum,
                                       Budget& budget) {
  if (when_empty == kEpsilon) minimum = 0;
  std::vector<ExpressionId> ways{repeat(body, minimum, maximum)};
  if (minimum > 0 && maximum == kUnbounded) {
    const ExpressionId any = minimum == 1 ? kEpsilon : repeat(body, 0, kUnbounded);
    ways.push_back(concatenate(any, concatenate(when_empty, any)));
  } else {
    for (Count before = 0; before < minimum; ++before) {
      budget.step();
      const ExpressionId after = repeat(body, 0, minimum - 1 - before);
      ways.push_back(concatenate(repeat(body, before, before), concatenate(when_empty, after)));
    }
  }
  return unite(ways);
}

}  // namespace tokamata
