// Masks put together from parts that other states and other constraints share.
//
// Problem.  `[a-z]+\.` and `[a-z]*` and `x|[a-z]{2,}-` all need to know which tokens are letters alone,
// which is a walk over 11,000 nodes of Gemma's trie, for each of their states.
// How.  The mask of a state is the union of those of its alternatives.  In an alternative C{m,n}·t, where
// C is a class of code points, a token either stays inside C, which depends on C and n alone and is kept
// with the vocabulary, or it goes on in t and has a code point that is not of C, or one more than n.
// For the latter the trie is walked along C, but only where such a code point, if t can read it, is still
// to come below (TokenTrie::below).
// Example.  `[a-z]+\.` after a letter, in 5 µs: the mask of [a-z] is copied; of the letters' subtrees those
// that have a full stop somewhere below are walked, 300 nodes.
// Why it is sound.  The parts are exact masks of languages whose union is that of the state, and a token
// that is allowed in one of them is allowed in the union: every byte of the pattern is a token, and
// nothing is constrained, so that what lives in an alternative lives in the state.
// Source.  002, section 2.5.1, keeps masks for wildcards; "adaptive" masks of XGrammar, Dong et al. 2024,
// keep what does not depend on the stack.  Cost.  A copy of a mask for each alternative of the kind,
// and the walks.  Not taken: lists of the nodes where a class can be left, by byte (3 ms to make).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "composition/mask_walk.hpp"
#include "expression/byte_automaton.hpp"
#include "vocabulary/vocabulary.hpp"

namespace tokamata {

// An alternative C{m,n}·t.
struct ClassLoop {
  ExpressionId repetition;
  ExpressionId tail;
  std::string key;  // of C
  ByteSet first;    // bytes that the code points of C begin with
  ByteSet whole;    // those of them whose code points are all in C
  Count rounds;     // n
};

// The alternatives of an expression, sorted into loops over wide classes and the rest.  An alternative
// that begins with something optional is two: with it, and without it.
struct Factors {
  std::vector<ClassLoop> loops;
  std::vector<ExpressionId> others;
};
Factors factors_of(Arena& arena, ExpressionId expression);

// Which subtrees of the trie may hold tokens that go on in the tail of a loop and are not inside its
// class.  Where the tail cannot begin with a code point of the class, it begins with another one, of
// those it can begin with.  Else such a token has some code point that the class does not hold, of
// those the tail can read anywhere, or more code points than the loop has rounds, one of which the tail
// begins with.
struct LeavingWalk {
  ByteSet worth_walking;
  ByteSet first_of_tail;
  bool counts_rounds;

  LeavingWalk(Arena& arena, const ClassLoop& loop);
  bool is_idle() const { return worth_walking.empty() && !counts_rounds; }
};

// Walks the trie along a class, and hands every place where the tail may begin on to `walk`.
template <class Walk>
void walk_leaving(const TokenTrie& trie, ByteAutomaton& automaton, const ClassLoop& loop, const LeavingWalk& leaving,
                  Budget& budget, Walk& walk) {
  struct Frame {
    std::uint32_t child, end;
    StateId state;
    Count begun;  // code points on the way
  };
  ByteSet marks = leaving.worth_walking;
  marks.add(TokenTrie::kIrregular);
  ByteSet firsts = leaving.first_of_tail;
  firsts.add(TokenTrie::kIrregular);
  const auto leads_out = [&](const TokenTrie::Node& node, Count begun) {
    const Count longest = node.height < TokenTrie::kHighest ? begun + node.height : kUnbounded;
    const ByteSet& below = trie.below(node);
    return (leaving.counts_rounds && longest > loop.rounds && below.intersects(firsts)) || below.intersects(marks);
  };
  const StateId tail = automaton.state_of(loop.tail, budget);
  std::vector<Frame> frames{{trie.children_begin(TokenTrie::root()), trie.children_end(TokenTrie::root()),
                             automaton.state_of(loop.repetition, budget), 0}};
  while (!frames.empty()) {
    Frame& frame = frames.back();
    if (frame.child == frame.end) {
      frames.pop_back();
      continue;
    }
    const NodeId child{frame.child++};
    const std::uint8_t edge = trie.byte(child);
    const auto [next_child, end, state, begun] = frame;
    const Count begun_here = begun + (edge < 0x80 || edge >= 0xC0);
    const bool out_below = leads_out(trie.node(child), begun_here);
    const bool is_out = leaving.worth_walking.contains(edge) || (leaving.counts_rounds && begun_here > loop.rounds);
    if (!out_below && !is_out) continue;
    if (automaton.accepting(state)) walk.enter(child, automaton.next(tail, edge, budget));
    if (!out_below) continue;
    const StateId next = automaton.next(state, edge, budget);
    if (next == ByteAutomaton::kDead) continue;
    budget.step();
    walk.count_node();
    frames.push_back({trie.children_begin(child), trie.children_end(child), next, begun_here});
  }
}

}  // namespace tokamata
