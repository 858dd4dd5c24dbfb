// Derivatives: what an expression becomes when a byte has been read.
//
// Problem.  From the normal form of a state, the normal form of the next one.
// Example.  d_a( (ab|ac){2,3} ) = b·(ab|ac){1,2} | c·(ab|ac){1,2}.
// Source.  Brzozowski 1964; the result is collected as a set of alternatives with their
// continuation carried along (Antimirov 1996), so that unions are distributed over what follows
// and equal continuations meet.
// Cost.  The nodes at the front of the expression, and a sort of the alternatives found.  Where the
// expression has many alternatives, one is often what follows a part of another that may be
// skipped; what was derived once with the same continuation is not derived again, so that the
// nodes count once and not once per alternative.
// Not taken: one memo entry per subexpression and byte; the rows of ByteAutomaton remember whole
// states, and a second memo below them cost more than it saved on the patterns measured.

#include "expression/arena.hpp"

namespace tokamata {

ExpressionId Arena::derivative(ExpressionId expression, std::uint8_t byte, Budget& budget) {
  constexpr std::size_t kMany = 8;
  remember_derived_ = alternatives(expression).size() > kMany;
  if (!derived_.empty()) derived_ = {};  // clear() would keep the buckets of the largest, and visit them all
  std::vector<ExpressionId> out;
  derive_into(expression, byte, kEpsilon, out, budget);
  return unite(out);
}

bool Arena::first_derived(ExpressionId expression, ExpressionId tail) {
  return !remember_derived_ || derived_.insert((std::uint64_t{expression.value} << 32) | tail.value).second;
}

void Arena::derive_into(ExpressionId expression, std::uint8_t byte, ExpressionId tail,
                        std::vector<ExpressionId>& out, Budget& budget) {
  while (true) {
    budget.step();
    const ExpressionNode n = node(expression);  // a copy: nodes move when the arena grows
    switch (n.kind) {
      case Kind::Empty:
      case Kind::Epsilon:
      case Kind::Stub:
        return;
      case Kind::Bytes:
        if (byte_set(n).contains(byte)) out.push_back(tail);
        return;
      case Kind::CodePoints: {
        const CodePointAutomaton& code_points = automaton(n);
        for (auto t = code_points.begin(n.second); t != code_points.end(n.second); ++t)
          if (t->low <= byte && byte <= t->high) {
            out.push_back(concatenate(automaton_state(n.first, t->target), tail));
            return;
          }
        return;
      }
      case Kind::Repetition: {
        const Count minimum = n.minimum == 0 ? 0 : n.minimum - 1;
        const Count maximum = n.maximum == kUnbounded ? kUnbounded : n.maximum - 1;
        tail = pair(repeat(n.body(), minimum, maximum), tail);
        expression = n.body();
        continue;
      }
      case Kind::Union: {
        // By index: the items may move while they are being derived.
        for (std::uint32_t i = 0; i < n.second; ++i)
          if (first_derived(items_[n.first + i], tail)) derive_into(items_[n.first + i], byte, tail, out, budget);
        return;
      }
      case Kind::Concatenation: {
        derive_into(n.head(), byte, pair(n.tail(), tail), out, budget);
        if (!node(n.head()).nullable || !first_derived(n.tail(), tail)) return;
        expression = n.tail();
        continue;
      }
    }
  }
}

// The classes of Unicode begin with dozens of lead bytes, each with a rest of its own; asking for
// them one byte at a time, and for the many bytes that lead nowhere, costs ten times as much.
bool Arena::leaf_derivatives(ExpressionId expression, std::vector<LeafTarget>& targets) {
  const ExpressionNode n = node(expression);
  const bool is_pair = n.kind == Kind::Concatenation;
  const ExpressionNode leaf = is_pair ? node(n.head()) : n;
  const ExpressionId tail = is_pair ? n.tail() : kEpsilon;
  const auto after = [&](ExpressionId rest) { return rotated(concatenate(rest, tail)); };
  if (leaf.kind == Kind::Bytes) {
    const ByteSet set = byte_set(leaf);
    const ExpressionId target = after(kEpsilon);
    for (unsigned low = set.next_member(0), end; low < 256; low = set.next_member(end)) {
      end = set.next_non_member(low);
      targets.push_back({static_cast<std::uint8_t>(low), static_cast<std::uint8_t>(end - 1), target});
    }
    return true;
  }
  if (leaf.kind != Kind::CodePoints) return false;
  const CodePointAutomaton& code_points = automaton(leaf);
  for (auto t = code_points.begin(leaf.second); t != code_points.end(leaf.second); ++t)
    targets.push_back({t->low, t->high, after(automaton_state(leaf.first, t->target))});
  return true;
}

}  // namespace tokamata
