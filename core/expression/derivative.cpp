// Derivatives: what an expression becomes when a symbol has been read.
//
// Problem.  From the normal form of a state, the normal form of the next one.
// Example.  d_a( (ab|ac){2,3} ) = b·(ab|ac){1,2} | c·(ab|ac){1,2}.
// Source.  Brzozowski 1964; the result is collected as a set of alternatives with their
// continuation carried along (Antimirov 1996), so that unions are distributed over what follows
// and equal continuations meet.  Lookaround: boolean.cpp.
// Cost.  The nodes at the front of the expression, and a sort of the alternatives found.  Where the
// expression has many alternatives, one is often what follows a part of another that may be
// skipped; what was derived once with the same continuation is not derived again, so that the
// nodes count once and not once per alternative.
// Not taken: one memo entry per subexpression and byte; the rows of ByteAutomaton remember whole
// states, and a second memo below them cost more than it saved on the patterns measured.

#include "expression/arena.hpp"

namespace tokamata {

ExpressionId Derivatives::derivative(ExpressionId expression, Symbol symbol, Budget& budget) {
  constexpr std::size_t kMany = 8;
  if (symbol == Symbol::edge()) return at_edge(expression, budget);
  Derivation run{symbol, budget, alternatives(expression).size() > kMany || (node(expression).rules && joins_rules())};
  std::vector<ExpressionId> out;
  derive_into(expression, kEpsilon, run, out);
  return unite(out);
}

// Pushes what `expression · tail` becomes where `expression` is what reads the symbol.
void Derivatives::derive_into(ExpressionId expression, ExpressionId tail, Derivation& run,
                              std::vector<ExpressionId>& out) {
  while (true) {
    run.budget.step();
    if (!may_read(expression, run)) return;
    const ExpressionNode n = node(expression);  // a copy: nodes move when the arena grows
    switch (n.kind) {
      case Kind::Empty:
      case Kind::Epsilon:
      case Kind::Stub:
      case Kind::LookAhead:
      case Kind::LookBehind:
      case Kind::Commit:
      case Kind::Unverified: return;
      case Kind::Terminal:
        if (const ExpressionId rest = derive_terminal(n, run); rest != kEmpty)
          out.push_back(concatenate(rest, advanced(tail, run.symbol, run.budget)));
        return;
      case Kind::Rule:
        if (run.symbol.is_byte())
          if (const ExpressionId rest = rules(n).derivative(n.rule(), run.symbol.byte(), arena(), run.budget);
              rest != kEmpty)
            distribute(rest, advanced(tail, run.symbol, run.budget), out);
        if (!run.symbol.is_byte() && !n.text)
          if (const auto body = rules(n).unfolded(n.rule(), arena(), run.budget))
            if (const ExpressionId rest = derivative(*body, run.symbol, run.budget); rest != kEmpty)
              distribute(rest, advanced(tail, run.symbol, run.budget), out);
        return;
      case Kind::Everything:
      case Kind::Bytes:
      case Kind::CodePoints:
      case Kind::Strings:
      case Kind::Until:
      case Kind::Language:
      case Kind::ControlToken:
      case Kind::OneToken:
        if (const ExpressionId rest = derive_leaf(n, expression, run.symbol); rest != kEmpty)
          out.push_back(concatenate(rest, advanced(tail, run.symbol, run.budget)));
        return;
      case Kind::Intersection:
      case Kind::Complement:
      case Kind::Scope:
      case Kind::Guarded:
        if (const ExpressionId rest = derive_closed(n, run); rest != kEmpty)
          distribute(rest, advanced(tail, run.symbol, run.budget), out);
        return;
      case Kind::Repetition: {
        const Count minimum = n.minimum == 0 ? 0 : n.minimum - 1;
        const Count maximum = n.maximum == kUnbounded ? kUnbounded : n.maximum - 1;
        tail = pair(repeat(n.body(), minimum, maximum), tail);
        expression = n.body();
        continue;
      }
      case Kind::Union: {
        if (tail != kEpsilon && is_derived_whole(n, expression, run)) return derive_union(expression, tail, run, out);
        // By index: the items may move while they are being derived.
        for (std::uint32_t i = 0; i < n.second; ++i)
          if (may_read(item(n, i), run) && run.is_first(item(n, i), tail)) derive_into(item(n, i), tail, run, out);
        return;
      }
      case Kind::Concatenation: {
        // within the body of a rule: the choice is made after the symbol
        if (node(n.head()).kind == Kind::Commit) {
          std::vector<ExpressionId> rests;
          derive_into(n.tail(), tail, run, rests);
          for (const ExpressionId rest : rests) out.push_back(concatenate(n.head(), rest));
          return;
        }
        if (may_read(n.head(), run)) derive_into(n.head(), pair(n.tail(), tail), run, out);
        if (!may_read(n.tail(), run)) return;
        const ExpressionId guard = condition(n.head());
        if (guard == kEmpty) return;
        if (guard != kEverything) return derive_guarded(n.tail(), tail, guard, run, out);
        if (!run.is_first(n.tail(), tail)) return;
        expression = n.tail();
        if (node(expression).commits) {  // after a head that is skipped: the choice is made for all that follows
          expression = settled(concatenate(expression, tail));
          tail = kEpsilon;
        }
        continue;
      }
    }
  }
}

// Problem.  (50,000 words){2,3} meets its words again after every token that ends one, each time with something else
// beside them, and would derive all of them once more.  And a grammar of ten levels of operators, each of which may end
// in three ways, meets the innermost level by 3^10 ways, each with another tail.
// How.  What becomes of a large union by itself is remembered, and stays one alternative in front of its tail as long
// as it is large.  Example.  By a, words·t becomes (words without their a)·t; by ab, the union of the few that are left
// is distributed over t.  A union of rules stays in front of its tail once it was met with several; not sooner, since
// rules that are distributed meet others that they can be joined with (Rules::joins).  Where what follows decides
// (lookaround, choices), each alternative is derived with its tail.
bool Derivatives::is_apart(const ExpressionNode& n) {
  return n.kind == Kind::Union && !n.constrained && !n.open && !n.behind && !n.edges && !n.commits && !n.waits &&
         !n.by_byte;
}

bool Derivatives::is_derived_whole(const ExpressionNode& n, ExpressionId expression, Derivation& run) {
  constexpr std::uint32_t kMany = 64;
  return is_apart(n) && (n.rules ? run.is_crowded(expression) : n.second > kMany);
}

void Derivatives::derive_union(ExpressionId expression, ExpressionId tail, const Derivation& run,
                               std::vector<ExpressionId>& out) {
  const std::uint64_t key = (std::uint64_t{expression.value} << 32) | run.symbol.value;
  Derivation own{run.symbol, run.budget, true};
  ExpressionId rest;
  if (const auto known = union_derivatives_.find(key); known != union_derivatives_.end()) {
    rest = known->second;
  } else {
    std::vector<ExpressionId> alternatives;
    const ExpressionNode n = node(expression);
    for (std::uint32_t i = 0; i < n.second; ++i) derive_into(item(n, i), kEpsilon, own, alternatives);
    rest = unite(alternatives);
    union_derivatives_.emplace(key, rest);
  }
  if (rest == kEmpty) return;
  tail = advanced(tail, run.symbol, run.budget);
  if (const ExpressionNode& made = node(rest); made.rules || is_derived_whole(made, rest, own))
    out.push_back(concatenate(rest, tail));
  else distribute(rest, tail, out);
}

// What was begun is a union of alternatives that were begun: none is the head of a concatenation, where
// the edge of a token would not find it.
void Derivatives::distribute(ExpressionId begun, ExpressionId tail, std::vector<ExpressionId>& out) {
  const auto given = alternatives(begun);
  for (const ExpressionId alternative : std::vector<ExpressionId>(given.begin(), given.end()))
    out.push_back(concatenate(alternative, tail));
}

// The same under a guard; what was met without one, or under another, is met again.
void Derivatives::derive_guarded(ExpressionId expression, ExpressionId tail, ExpressionId guard, const Derivation& run,
                                 std::vector<ExpressionId>& out) {
  const ExpressionId rest_of_guard = settled(derivative(guard, run.symbol, run.budget));
  if (rest_of_guard == kEmpty) return;
  Derivation own{run.symbol, run.budget, run.remember};
  std::vector<ExpressionId> alternatives;
  derive_into(expression, tail, own, alternatives);
  for (ExpressionId alternative : alternatives) out.push_back(guarded(alternative, rest_of_guard));
}

ExpressionId Derivatives::derive_leaf(const ExpressionNode& leaf, ExpressionId expression, Symbol symbol) {
  if (leaf.kind == Kind::Everything) return expression;
  if (leaf.kind == Kind::ControlToken) return symbol == Symbol::control(leaf.first) ? kEpsilon : kEmpty;
  if (!symbol.is_byte()) return kEmpty;
  const std::uint8_t byte = symbol.byte();
  switch (leaf.kind) {
    case Kind::Bytes: return byte_set(leaf).contains(byte) ? kEpsilon : kEmpty;
    case Kind::CodePoints: {
      const CodePointAutomaton& code_points = automaton(leaf);
      for (auto t = code_points.begin(leaf.second); t != code_points.end(leaf.second); ++t)
        if (t->low <= byte && byte <= t->high) return automaton_state(leaf.first, t->target);
      return kEmpty;
    }
    case Kind::Strings:
      for (const auto& t : strings_[leaf.first].automaton->transitions(leaf.second))
        if (t.byte == byte) return strings_state(leaf.first, t.target);
      return kEmpty;
    case Kind::Until: return derive_until(leaf, byte);
    case Kind::Language: return language_state(leaf.first, languages_[leaf.first].automaton->step(leaf.second, byte));
    default: {  // OneToken
      const bool reads = leaf.second != static_cast<std::uint32_t>(Phase::BeforeEdge) && byte_set(leaf).contains(byte);
      return reads ? one_token(leaf.first, Phase::Inside) : kEmpty;
    }
  }
}

// Of what sees its own text alone, or stands where nothing follows.  Choices that are made inside are made for all
// that follows inside.
ExpressionId Derivatives::derive_closed(const ExpressionNode& n, const Derivation& run) {
  switch (n.kind) {
    case Kind::Intersection: {
      std::vector<ExpressionId> parts;
      for (std::uint32_t i = 0; i < n.second; ++i) {
        parts.push_back(derive_part(item(n, i), run));
        if (parts.back() == kEmpty) return kEmpty;
      }
      return intersect(parts);
    }
    case Kind::Complement: return complement(settled(derivative(n.body(), run.symbol, run.budget)));
    case Kind::Scope: return scope(settled(derivative(n.body(), run.symbol, run.budget)));
    default: {  // Guarded
      const ExpressionId guard = settled(derivative(n.guard(), run.symbol, run.budget));
      return guard == kEmpty ? kEmpty : guarded(settled(derivative(n.core(), run.symbol, run.budget)), guard);
    }
  }
}

// Problem.  {1,64} octets of an address go through the same labels of a host name with every number of octets that are
// left:  100 states of the one and 40 of the other are met in 4,000 intersections, each of which would derive both of
// its parts.
// How.  What becomes of a part is remembered where that is several alternatives; of others it is sooner derived than
// found.
// Cost.  An entry for each part and byte that is met, which are fewer than the intersections.
ExpressionId Derivatives::derive_part(ExpressionId part, const Derivation& run) {
  constexpr std::uint32_t kSeveral = 3;
  if (const ExpressionNode& n = node(part); n.kind != Kind::Union || n.second < kSeveral)
    return settled(derivative(part, run.symbol, run.budget));
  const std::uint64_t key = (std::uint64_t{part.value} << 32) | run.symbol.value;
  if (const auto known = part_derivatives_.find(key); known != part_derivatives_.end()) return known->second;
  const ExpressionId result = settled(derivative(part, run.symbol, run.budget));
  part_derivatives_.emplace(key, result);
  return result;
}

// What waits in the continuation, after one more symbol was read before it: its lookbehinds have
// moved on.  A scope that has not begun has seen nothing.
ExpressionId Derivatives::advanced(ExpressionId waiting, Symbol symbol, Budget& budget) {
  std::vector<ExpressionId> spine;  // concatenations met on the way down the tails
  const auto key = [&](ExpressionId expression) { return (std::uint64_t{expression.value} << 32) | symbol.value; };
  ExpressionId result;
  while (true) {
    const ExpressionNode n = node(waiting);
    if (!n.behind) {
      result = waiting;
      break;
    }
    if (const auto known = advanced_.find(key(waiting)); known != advanced_.end()) {
      result = known->second;
      break;
    }
    budget.step();
    if (n.kind == Kind::Concatenation) {
      spine.push_back(waiting);
      waiting = n.tail();
      continue;
    }
    result = advanced_node(n, symbol, budget);
    advanced_.emplace(key(waiting), result);
    break;
  }
  for (auto place = spine.rbegin(); place != spine.rend(); ++place) {
    result = concatenate(advanced(node(*place).head(), symbol, budget), result);
    advanced_.emplace(key(*place), result);
  }
  return result;
}

ExpressionId Derivatives::advanced_node(const ExpressionNode& n, Symbol symbol, Budget& budget) {
  switch (n.kind) {
    case Kind::LookBehind: return look_behind(derivative(n.body(), symbol, budget));
    case Kind::LookAhead: return look_ahead(advanced(n.body(), symbol, budget));
    case Kind::Complement: return complement(advanced(n.body(), symbol, budget));
    case Kind::Repetition: {
      const ExpressionId body = advanced(n.body(), symbol, budget);
      note_same_position(body.value, n.first);
      return repeat(body, n.minimum, n.maximum);
    }
    case Kind::Guarded: return guarded(advanced(n.core(), symbol, budget), advanced(n.guard(), symbol, budget));
    default: {  // Union, Intersection
      std::vector<ExpressionId> parts;
      for (std::uint32_t i = 0; i < n.second; ++i) parts.push_back(advanced(item(n, i), symbol, budget));
      return n.kind == Kind::Union ? unite(parts) : intersect(parts);
    }
  }
}

// ---- the edges of tokens ----------------------------------------------------------------------

// What an expression becomes at the edge between two tokens, at the beginning and at the end of a
// text.  Most take no notice.  A OneToken waits for an edge, then reads bytes, then ends at the next:
// one edge may end one and begin another.
ExpressionId Derivatives::at_edge(ExpressionId expression, Budget& budget) {
  if (!node(expression).edges) return expression;
  std::vector<ExpressionId> out;
  const auto given = alternatives(expression);
  for (ExpressionId alternative : std::vector<ExpressionId>(given.begin(), given.end())) {
    budget.step();
    const auto [first, tail] = split(alternative);
    const ExpressionNode head = node(first);
    if (head.kind == Kind::OneToken) {
      if (head.second == static_cast<std::uint32_t>(Phase::Inside)) out.push_back(at_edge(tail, budget));
      else out.push_back(concatenate(one_token(head.first, Phase::AtEdge), tail));
    } else if (head.edges && is_closed(head.kind)) {
      const ExpressionId reached = closed_at_edge(head, budget);
      distribute(reached, tail, out);
      begin_tokens_behind(reached, tail, kEpsilon, budget, out);
    } else {
      out.push_back(alternative);
      begin_tokens(alternative, kEpsilon, budget, out);
    }
  }
  return unite(out);
}

// Pushes the alternatives of `expression · tail` in which a token begins here.
void Derivatives::begin_tokens(ExpressionId expression, ExpressionId tail, Budget& budget,
                               std::vector<ExpressionId>& out) {
  budget.step();
  const ExpressionNode n = node(expression);
  if (!n.edges) return;
  switch (n.kind) {
    case Kind::OneToken: out.push_back(concatenate(one_token(n.first, Phase::AtEdge), tail)); return;
    case Kind::Union:
      for (std::uint32_t i = 0; i < n.second; ++i) begin_tokens(item(n, i), tail, budget, out);
      return;
    case Kind::Repetition: {
      const Count minimum = n.minimum == 0 ? 0 : n.minimum - 1;
      const Count maximum = n.maximum == kUnbounded ? kUnbounded : n.maximum - 1;
      return begin_tokens(n.body(), pair(repeat(n.body(), minimum, maximum), tail), budget, out);
    }
    case Kind::Concatenation: {
      begin_tokens(n.head(), pair(n.tail(), tail), budget, out);
      return begin_tokens_behind(n.head(), n.tail(), tail, budget, out);
    }
    default:
      if (is_closed(n.kind)) distribute(closed_at_edge(n, budget), tail, out);
  }
}

// Those of `expression · tail` where `head`, before it, matches nothing.
void Derivatives::begin_tokens_behind(ExpressionId head, ExpressionId expression, ExpressionId tail, Budget& budget,
                                      std::vector<ExpressionId>& out) {
  const ExpressionId guard = condition(head);
  if (guard == kEmpty) return;
  std::vector<ExpressionId> alternatives;
  begin_tokens(expression, tail, budget, alternatives);
  for (ExpressionId alternative : alternatives) out.push_back(guarded(alternative, guard));
}

ExpressionId Derivatives::closed_at_edge(const ExpressionNode& n, Budget& budget) {
  switch (n.kind) {
    case Kind::Intersection: {
      std::vector<ExpressionId> parts;
      for (std::uint32_t i = 0; i < n.second; ++i) parts.push_back(at_edge(item(n, i), budget));
      return intersect(parts);
    }
    case Kind::Complement: return complement(at_edge(n.body(), budget));
    case Kind::Scope: return scope(at_edge(n.body(), budget));
    default: {  // Guarded
      const ExpressionId guard = at_edge(n.guard(), budget);
      return guarded(at_edge(n.core(), budget), guard);
    }
  }
}

// ---- whole rows -------------------------------------------------------------------------------

// Most bytes lead nowhere from a literal or a class; to ask for them one by one costs ten times as much.
std::optional<ByteSet> Derivatives::leaf_bytes(ExpressionId expression, Budget& budget) {
  constexpr std::size_t kMany = 64;
  const auto all = alternatives(expression);
  if (all.size() > kMany) return std::nullopt;
  ByteSet bytes;
  for (ExpressionId at : std::vector<ExpressionId>(all.begin(), all.end())) {
    while (true) {
      const auto [head, tail] = split(at);
      const ExpressionNode leaf = node(head);
      if (const std::optional<ExpressionId> strings = strings_within(leaf); strings) bytes |= first_bytes(*strings);
      else if (leaf.kind == Kind::Rule) bytes |= rules(leaf).first_bytes(leaf.rule(), arena(), budget);
      else if (leaf.rules || leaf.constrained || leaf.open ||
               (leaf.kind == Kind::Terminal && node(leaf.body()).constrained) || leaf.kind == Kind::ControlToken ||
               leaf.kind == Kind::Commit)
        return std::nullopt;
      else bytes |= first_bytes(head);
      if (!leaf.nullable || tail == kEpsilon) break;
      at = tail;
      if (node(at).kind == Kind::Union) return std::nullopt;
    }
  }
  return bytes;
}

}  // namespace tokamata
