// Derivatives: what an expression becomes when a symbol has been read.
//
// Problem.  From the normal form of a state, the normal form of the next one.
// Example.  d_a( (ab|ac){2,3} ) = b·(ab|ac){1,2} | c·(ab|ac){1,2}.
// Source.  Brzozowski 1964; the result is collected as a set of alternatives with their
// continuation carried along (Antimirov 1996), so that unions are distributed over what follows
// and equal continuations meet.  Lookaround: lookaround.hpp.
// Cost.  The nodes at the front of the expression, and a sort of the alternatives found.  Where the
// expression has many alternatives, one is often what follows a part of another that may be
// skipped; what was derived once with the same continuation is not derived again, so that the
// nodes count once and not once per alternative.
// Not taken: one memo entry per subexpression and byte; the rows of ByteAutomaton remember whole
// states, and a second memo below them cost more than it saved on the patterns measured.

#include "expression/derivatives.hpp"

#include <algorithm>

namespace tokamata {

ExpressionId Derivatives::derivative(ExpressionId expression, Symbol symbol, Budget& budget) {
  constexpr std::size_t kMostUnremembered = 8;  // alternatives: of fewer, none is often derived twice
  if (symbol == Symbol::edge()) return at_edge(expression, budget);
  Derivation run{symbol, budget,
                 pool_.alternatives(expression).size() > kMostUnremembered ||
                     (pool_.node(expression).rules && rule_sets_.any_joins())};
  std::vector<ExpressionId> out;
  derive_into(expression, Pool::kEpsilon, run, out);
  return forms_.unite(out);
}

// Pushes what `expression · tail` becomes where `expression` is what reads the symbol.
void Derivatives::derive_into(ExpressionId expression, ExpressionId tail, Derivation& run,
                              std::vector<ExpressionId>& out) {
  while (true) {
    run.budget.step();
    if (!may_read(expression, run)) return;
    const ExpressionNode n = pool_.node(expression);  // a copy: nodes move when the arena grows
    const auto push = [&](ExpressionId rest) {
      if (rest != Pool::kEmpty) out.push_back(forms_.concatenate(rest, advanced(tail, run.symbol, run.budget)));
    };
    const auto push_each = [&](ExpressionId rest) {
      if (rest != Pool::kEmpty) distribute(rest, advanced(tail, run.symbol, run.budget), out);
    };
    switch (facts_of(n.kind).reads) {
      case Reads::Nothing: return;
      case Reads::AsLeaf: return push(leaf_forms_.derivative(n, expression, run.symbol));
      case Reads::AsWhole: return push_each(derive_whole(n, run));
      case Reads::InParts: break;
    }
    switch (n.kind) {
      case Kind::Terminal: return push(derive_terminal(n, run));
      case Kind::Rule:
        if (run.symbol.is_byte())
          return push_each(rule_sets_.of(n).derivative(n.rule(), run.symbol.byte(), run.budget));
        if (!n.text)
          if (const auto body = rule_sets_.of(n).unfolded(n.rule(), run.budget))
            push_each(derivative(*body, run.symbol, run.budget));
        return;
      case Kind::Repetition: {
        const Count minimum = n.minimum == 0 ? 0 : n.minimum - 1;
        const Count maximum = n.maximum == kUnbounded ? kUnbounded : n.maximum - 1;
        tail = forms_.pair(forms_.repeat(n.body(), minimum, maximum), tail);
        expression = n.body();
        continue;
      }
      case Kind::Union: {
        if (tail != Pool::kEpsilon && is_derived_whole(n, expression, run))
          return derive_union(expression, tail, run, out);
        // By index: the items may move while they are being derived.
        for (std::uint32_t i = 0; i < n.item_count(); ++i)
          if (may_read(pool_.item(n, i), run) && run.is_first(pool_.item(n, i), tail))
            derive_into(pool_.item(n, i), tail, run, out);
        return;
      }
      case Kind::Concatenation: {
        // within the body of a rule: the choice is made after the symbol
        if (pool_.node(n.head()).kind == Kind::Commit) {
          std::vector<ExpressionId> rests;
          derive_into(n.tail(), tail, run, rests);
          for (const ExpressionId rest : rests) out.push_back(forms_.concatenate(n.head(), rest));
          return;
        }
        if (may_read(n.head(), run)) derive_into(n.head(), forms_.pair(n.tail(), tail), run, out);
        if (!may_read(n.tail(), run)) return;
        const ExpressionId guard = lookaround_.condition(n.head());
        if (guard == Pool::kEmpty) return;
        if (guard != Pool::kEverything) return derive_guarded(n.tail(), tail, guard, run, out);
        if (!run.is_first(n.tail(), tail)) return;
        expression = n.tail();
        if (pool_.node(expression).commits) {  // after a head that is skipped: the choice is made for all that follows
          expression = settled(forms_.concatenate(expression, tail));
          tail = Pool::kEpsilon;
        }
        continue;
      }
      default: return;
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
  constexpr std::uint32_t kMostDistributed = 64;  // alternatives of a union without rules
  return is_apart(n) && (n.rules ? run.is_crowded(expression) : n.item_count() > kMostDistributed);
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
    const ExpressionNode n = pool_.node(expression);
    for (std::uint32_t i = 0; i < n.item_count(); ++i) derive_into(pool_.item(n, i), Pool::kEpsilon, own, alternatives);
    rest = forms_.unite(alternatives);
    union_derivatives_.emplace(key, rest);
  }
  if (rest == Pool::kEmpty) return;
  tail = advanced(tail, run.symbol, run.budget);
  if (const ExpressionNode& made = pool_.node(rest); made.rules || is_derived_whole(made, rest, own))
    out.push_back(forms_.concatenate(rest, tail));
  else distribute(rest, tail, out);
}

// What was begun is a union of alternatives that were begun: none is the head of a concatenation, where
// the edge of a token would not find it.
void Derivatives::distribute(ExpressionId begun, ExpressionId tail, std::vector<ExpressionId>& out) {
  const auto given = pool_.alternatives(begun);
  for (const ExpressionId alternative : std::vector<ExpressionId>(given.begin(), given.end()))
    out.push_back(forms_.concatenate(alternative, tail));
}

// The same under a guard; what was met without one, or under another, is met again.
void Derivatives::derive_guarded(ExpressionId expression, ExpressionId tail, ExpressionId guard, const Derivation& run,
                                 std::vector<ExpressionId>& out) {
  const ExpressionId rest_of_guard = settled(derivative(guard, run.symbol, run.budget));
  if (rest_of_guard == Pool::kEmpty) return;
  Derivation own{run.symbol, run.budget, run.remember};
  std::vector<ExpressionId> alternatives;
  derive_into(expression, tail, own, alternatives);
  for (ExpressionId alternative : alternatives) out.push_back(lookaround_.guarded(alternative, rest_of_guard));
}

// Of what sees its own text alone, or stands where nothing follows.  Choices that are made inside are made for all
// that follows inside.
ExpressionId Derivatives::derive_whole(const ExpressionNode& n, const Derivation& run) {
  switch (n.kind) {
    case Kind::Intersection: {
      std::vector<ExpressionId> parts;
      for (std::uint32_t i = 0; i < n.item_count(); ++i) {
        parts.push_back(derive_part(pool_.item(n, i), run));
        if (parts.back() == Pool::kEmpty) return Pool::kEmpty;
      }
      return forms_.intersect(parts);
    }
    case Kind::Complement: return forms_.complement(settled(derivative(n.body(), run.symbol, run.budget)));
    case Kind::Scope: return lookaround_.scope(settled(derivative(n.body(), run.symbol, run.budget)));
    default: {  // Guarded
      const ExpressionId guard = settled(derivative(n.guard(), run.symbol, run.budget));
      return guard == Pool::kEmpty ? Pool::kEmpty
                                   : lookaround_.guarded(settled(derivative(n.core(), run.symbol, run.budget)), guard);
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
  constexpr std::uint32_t kFewestKept = 3;  // alternatives
  if (const ExpressionNode& n = pool_.node(part); n.kind != Kind::Union || n.item_count() < kFewestKept)
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
    const ExpressionNode n = pool_.node(waiting);
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
    result = forms_.concatenate(advanced(pool_.node(*place).head(), symbol, budget), result);
    advanced_.emplace(key(*place), result);
  }
  return result;
}

ExpressionId Derivatives::advanced_node(const ExpressionNode& n, Symbol symbol, Budget& budget) {
  switch (n.kind) {
    case Kind::LookBehind: return lookaround_.look_behind(derivative(n.body(), symbol, budget));
    case Kind::LookAhead: return lookaround_.look_ahead(advanced(n.body(), symbol, budget));
    case Kind::Complement: return forms_.complement(advanced(n.body(), symbol, budget));
    case Kind::Repetition: {
      const ExpressionId body = advanced(n.body(), symbol, budget);
      analyses_.note_same_position(body.value, n.body().value);
      return forms_.repeat(body, n.minimum, n.maximum);
    }
    case Kind::Guarded:
      return lookaround_.guarded(advanced(n.core(), symbol, budget), advanced(n.guard(), symbol, budget));
    default: {  // Union, Intersection
      std::vector<ExpressionId> parts;
      for (std::uint32_t i = 0; i < n.item_count(); ++i) parts.push_back(advanced(pool_.item(n, i), symbol, budget));
      return n.kind == Kind::Union ? forms_.unite(parts) : forms_.intersect(parts);
    }
  }
}

// ---- the edges of tokens ----------------------------------------------------------------------

// What an expression becomes at the edge between two tokens, at the beginning and at the end of a
// text.  Most take no notice.  A OneToken waits for an edge, then reads bytes, then ends at the next:
// one edge may end one and begin another.
ExpressionId Derivatives::at_edge(ExpressionId expression, Budget& budget) {
  if (!pool_.node(expression).edges) return expression;
  std::vector<ExpressionId> out;
  const auto given = pool_.alternatives(expression);
  for (ExpressionId alternative : std::vector<ExpressionId>(given.begin(), given.end())) {
    budget.step();
    const auto [first, tail] = pool_.split(alternative);
    const ExpressionNode head = pool_.node(first);
    if (head.kind == Kind::OneToken) {
      if (head.phase() == static_cast<std::uint32_t>(LeafForms::Phase::Inside)) out.push_back(at_edge(tail, budget));
      else out.push_back(forms_.concatenate(leaf_forms_.one_token(head.set(), LeafForms::Phase::AtEdge), tail));
    } else if (head.edges && facts_of(head.kind).reads == Reads::AsWhole) {
      const ExpressionId reached = whole_at_edge(head, budget);
      distribute(reached, tail, out);
      begin_tokens_behind(reached, tail, Pool::kEpsilon, budget, out);
    } else {
      out.push_back(alternative);
      begin_tokens(alternative, Pool::kEpsilon, budget, out);
    }
  }
  return forms_.unite(out);
}

// Pushes the alternatives of `expression · tail` in which a token begins here.
void Derivatives::begin_tokens(ExpressionId expression, ExpressionId tail, Budget& budget,
                               std::vector<ExpressionId>& out) {
  budget.step();
  const ExpressionNode n = pool_.node(expression);
  if (!n.edges) return;
  switch (n.kind) {
    case Kind::OneToken:
      out.push_back(forms_.concatenate(leaf_forms_.one_token(n.set(), LeafForms::Phase::AtEdge), tail));
      return;
    case Kind::Union:
      for (std::uint32_t i = 0; i < n.item_count(); ++i) begin_tokens(pool_.item(n, i), tail, budget, out);
      return;
    case Kind::Repetition: {
      const Count minimum = n.minimum == 0 ? 0 : n.minimum - 1;
      const Count maximum = n.maximum == kUnbounded ? kUnbounded : n.maximum - 1;
      return begin_tokens(n.body(), forms_.pair(forms_.repeat(n.body(), minimum, maximum), tail), budget, out);
    }
    case Kind::Concatenation: {
      begin_tokens(n.head(), forms_.pair(n.tail(), tail), budget, out);
      return begin_tokens_behind(n.head(), n.tail(), tail, budget, out);
    }
    default:
      if (facts_of(n.kind).reads == Reads::AsWhole) distribute(whole_at_edge(n, budget), tail, out);
  }
}

// Those of `expression · tail` where `head`, before it, matches nothing.
void Derivatives::begin_tokens_behind(ExpressionId head, ExpressionId expression, ExpressionId tail, Budget& budget,
                                      std::vector<ExpressionId>& out) {
  const ExpressionId guard = lookaround_.condition(head);
  if (guard == Pool::kEmpty) return;
  std::vector<ExpressionId> alternatives;
  begin_tokens(expression, tail, budget, alternatives);
  for (ExpressionId alternative : alternatives) out.push_back(lookaround_.guarded(alternative, guard));
}

ExpressionId Derivatives::whole_at_edge(const ExpressionNode& n, Budget& budget) {
  switch (n.kind) {
    case Kind::Intersection: {
      std::vector<ExpressionId> parts;
      for (std::uint32_t i = 0; i < n.item_count(); ++i) parts.push_back(at_edge(pool_.item(n, i), budget));
      return forms_.intersect(parts);
    }
    case Kind::Complement: return forms_.complement(at_edge(n.body(), budget));
    case Kind::Scope: return lookaround_.scope(at_edge(n.body(), budget));
    default: {  // Guarded
      const ExpressionId guard = at_edge(n.guard(), budget);
      return lookaround_.guarded(at_edge(n.core(), budget), guard);
    }
  }
}

// ---- whole rows -------------------------------------------------------------------------------

// Most bytes lead nowhere from a literal or a class; to ask for them one by one costs ten times as much.
std::optional<ByteSet> Derivatives::leaf_bytes(ExpressionId expression, Budget& budget) {
  constexpr std::size_t kMostLookedInto = 64;  // alternatives
  const auto all = pool_.alternatives(expression);
  if (all.size() > kMostLookedInto) return std::nullopt;
  ByteSet bytes;
  for (ExpressionId at : std::vector<ExpressionId>(all.begin(), all.end())) {
    while (true) {
      const auto [head, tail] = pool_.split(at);
      const ExpressionNode leaf = pool_.node(head);
      if (const std::optional<ExpressionId> strings = pool_.strings_within(leaf); strings)
        bytes |= analyses_.first_bytes(*strings);
      else if (leaf.kind == Kind::Rule) bytes |= rule_sets_.of(leaf).first_bytes(leaf.rule(), budget);
      else if (leaf.rules || leaf.constrained || leaf.open ||
               (leaf.kind == Kind::Terminal && pool_.node(leaf.body()).constrained) ||
               leaf.kind == Kind::ControlToken || leaf.kind == Kind::Commit)
        return std::nullopt;
      else bytes |= analyses_.first_bytes(head);
      if (!leaf.nullable || tail == Pool::kEpsilon) break;
      at = tail;
      if (pool_.node(at).kind == Kind::Union) return std::nullopt;
    }
  }
  return bytes;
}

// ---- choices ----------------------------------------------------------------------------------

ExpressionId Derivatives::committed(ExpressionId expression, std::uint32_t choice) {
  return committed_.replaced(
      expression, choice, [](const ExpressionNode& n) { return n.waits; },
      [&](const ExpressionNode& n) {
        return forms_.rule(n.source(), rule_sets_.of(n).remembering()->committed(n.rule(), choice));
      });
}

ExpressionId Derivatives::settled(ExpressionId expression) {
  const auto alternative_settled = [this](ExpressionId alternative) {
    while (true) {
      const ExpressionNode n = pool_.node(alternative);
      // nothing follows it
      if (n.kind == Kind::Commit) return n.choice() == Rules::kUnverified ? forms_.unverified_end() : Pool::kEpsilon;
      if (n.kind != Kind::Concatenation || pool_.node(n.head()).kind != Kind::Commit) return alternative;
      const std::uint32_t choice = pool_.node(n.head()).choice();
      const ExpressionId rest = committed(n.tail(), choice);
      alternative =
          forms_.rotated(choice == Rules::kUnverified ? forms_.concatenate(rest, forms_.unverified_end()) : rest);
    }
  };
  while (pool_.node(expression).commits) {
    if (expression == Pool::kEmpty) return Pool::kEmpty;
    std::vector<ExpressionId> settled_alternatives;
    const auto all = pool_.alternatives(expression);
    std::vector<ExpressionId> open(all.begin(), all.end());
    while (!open.empty()) {
      const ExpressionId alternative = forms_.rotated(open.back());
      open.pop_back();
      const auto [first, tail] = pool_.split(alternative);
      const ExpressionNode head = pool_.node(first);
      // each choice is one for what follows them all
      if (head.commits && head.kind == Kind::Union && tail != Pool::kEpsilon)
        for (std::uint32_t i = 0; i < head.item_count(); ++i)
          open.push_back(forms_.concatenate(pool_.item(head, i), tail));
      else settled_alternatives.push_back(alternative_settled(alternative));
    }
    expression = forms_.unite(settled_alternatives);
  }
  return expression;
}

// ---- terminals --------------------------------------------------------------------------------

// A terminal keeps a regular part whole: of T·K the derivative is T'·K, and not the alternatives of T with K
// after each.  So K is separated from what the part does to a vocabulary, which is the same for all K.
//
// Problem.  A terminal must be known to live, or to be empty, when it is made: what stands around it takes it
// for granted.  Where no intersection, complement or lookaround is in its body that shows; elsewhere a search
// by bytes decides.
// Example.  terminal([a-z]{3} & .*q.*) lives (aaq), terminal([a-z]{3} & [0-9]*) is kEmpty.
// How.  Best first, by the length of the shortest text of what is reached, as far as its parts show it; what
// was found alive or empty on the way is remembered for all bodies met, and a search that meets it ends there.  A bound
// beside a pattern needs no search where it has room for the pattern's shortest text (string_bounds.hpp).
// Cost.  A derivative for every byte class of every expression reached; mostly few, since the first way tried
// ends well.
ExpressionId Derivatives::terminal(ExpressionId body, Budget& budget) {
  const ExpressionNode n = pool_.node(body);
  if (body == Pool::kEmpty || body == Pool::kEpsilon || n.kind == Kind::Terminal) return body;
  if (!n.constrained) return forms_.terminal_of(body, n.spelled, n.shortest);
  const std::uint32_t length = length_of_some_text(body, budget);
  // The text found need not be one of single-byte tokens; where all bytes of the pattern are, it is.
  const bool is_spelled = leaves_.are_single_bytes();
  return length == kNoText ? Pool::kEmpty
                           : forms_.terminal_of(body, is_spelled ? length : ExpressionNode::kUnspelled, n.shortest);
}

ExpressionId Derivatives::derive_terminal(const ExpressionNode& n, const Derivation& run) {
  if (!run.symbol.is_byte()) return Pool::kEmpty;
  const std::uint64_t key = (std::uint64_t{n.body().value} << 32) | run.symbol.value;
  if (const auto known = terminal_derivatives_.find(key); known != terminal_derivatives_.end()) return known->second;
  const ExpressionId result = terminal(derivative(n.body(), run.symbol, run.budget), run.budget);
  terminal_derivatives_.emplace(key, result);
  return result;
}

// ---- characters -------------------------------------------------------------------------------

void Derivatives::note_character(ExpressionId character, Budget& budget) {
  if (forms_.characters().spelling().character == character) return;
  Characters::Spelling known;
  std::vector<ExpressionId> open{character};
  std::unordered_set<std::uint32_t> met;
  while (!open.empty()) {
    const ExpressionId at = open.back();
    open.pop_back();
    if (at == Pool::kEpsilon || !met.insert(at.value).second) continue;
    const FirstBytes first = first_byte_classes(at);
    const ByteSet representatives = first.representatives();
    ExpressionId rest = Pool::kEmpty;
    // Beyond ASCII, code points are read as a whole.
    for (unsigned value = first.bytes.next_member(0); value < 0x80; value = first.bytes.next_member(value + 1)) {
      const auto byte = static_cast<std::uint8_t>(value);
      if (representatives.contains(byte)) rest = derivative(at, byte, budget);
      if (rest == Pool::kEmpty) continue;
      if (at == character && rest == Pool::kEpsilon) {
        known.stand_for_themselves.add(byte);
        continue;
      }
      if (at == character) known.begin_escapes.add(byte);
      known.escape_steps.emplace(Characters::Spelling::step_key(at, byte), rest);
      open.push_back(rest);
    }
  }
  known.character = character;
  forms_.characters().note(std::move(known));
}

// ---- memory -----------------------------------------------------------------------------------

void Derivatives::forget() {
  for (auto* memo : {&union_derivatives_, &part_derivatives_, &advanced_, &terminal_derivatives_}) release(*memo);
  committed_.forget();
  release(texts_);
  release(least_lengths_);
  found_texts_ = {};
}

}  // namespace tokamata
