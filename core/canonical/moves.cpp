#include "canonical/moves.hpp"

#include <algorithm>

#include "composition/kinds_walk.hpp"
#include "composition/trie_walk.hpp"

namespace tokamata {

std::optional<StateId> pattern_step(TokenAutomaton& pattern, TokenAutomaton::Place place, TokenId token, Budget& budget) {
  if (place.at_start && pattern.vocabulary(true).bytes(token).empty() && !pattern.vocabulary(false).bytes(token).empty())
    return pattern.edge(place.state, budget);
  return pattern.step(place, token, budget);
}

LoopRests::LoopRests(ByteAutomaton& automaton, const ClassLoop& loop, std::size_t longest, Budget& budget) {
  Arena& arena = automaton.arena();
  const ExpressionNode head = arena.node(loop.repetition);  // a copy: the arena grows
  const bool is_repetition = head.kind == Kind::Repetition;
  const ExpressionId body = is_repetition ? head.body() : loop.repetition;
  const Count least = is_repetition ? head.minimum : 1, most = loop.rounds;
  is_endless_ = most == kUnbounded && least <= 1;
  const std::size_t lengths = is_endless_ ? 1 : std::min<std::size_t>(longest, most);
  for (std::size_t length = 1; length <= lengths; ++length) {
    const Count used = static_cast<Count>(length);
    const ExpressionId rest = arena.repeat(body, least > used ? least - used : 0, most == kUnbounded ? kUnbounded : most - used);
    states_.push_back(automaton.state_of(arena.concatenate(rest, loop.tail), budget));
  }
}

void Moves::add(StateId target, std::span<const std::uint32_t> tokens) {
  if (tokens.empty()) return;
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  if (!runs_.empty() && runs_.back().target == target)
    runs_.back().end = tokens_.size();
  else
    runs_.push_back({target, tokens_.size()});
}

Moves::Moves(TokenAutomaton& pattern, TokenAutomaton::Place place, bool& walks_are_long, Budget& budget) {
  constexpr std::size_t kLongWalk = 4096;  // nodes; as in token_automaton.cpp
  const Vocabulary& vocabulary = pattern.vocabulary(place.at_start);
  const TokenTrie& trie = vocabulary.trie();
  if (walks_are_long) {
    walk_kinds(pattern, place, budget, [&](StateId target, const TokenKind& kind) { add(target, kind.tokens); });
  } else {
    std::size_t nodes = 0;
    walk_trie(trie, TokenTrie::root(), pattern.automaton(), place.state, budget, [&](NodeId node, StateId state) {
      ++nodes;
      const std::uint32_t begin = trie.node(node).tokens_begin, end = trie.own_end(node);
      if (begin == end) return true;
      const StateId target = pattern.edge(state, budget);
      if (pattern.spellable(target, budget)) add(target, trie.order().subspan(begin, end - begin));
      return true;
    });
    walks_are_long = nodes > kLongWalk;
  }
  // The first token of a text may lose its space to the decoder, and all of itself.
  if (!place.at_start) return;
  for (std::uint32_t token = 0; token < vocabulary.token_count(); ++token)
    if (vocabulary.bytes({token}).empty() && !pattern.vocabulary(false).bytes({token}).empty())
      add(pattern.edge(place.state, budget), std::span(&token, 1));
}

Moves::Moves(TokenAutomaton& pattern, const Factors& factors, Budget& budget) {
  const TokenTrie& trie = pattern.vocabulary(false).trie();
  struct Below {
    Moves& moves;
    TokenAutomaton& pattern;
    const TokenTrie& trie;
    Budget& budget;

    void enter(NodeId from, StateId start) {
      if (start == ByteAutomaton::kDead) return;
      walk_trie(trie, from, pattern.automaton(), start, budget, [&](NodeId node, StateId state) {
        const std::uint32_t begin = trie.node(node).tokens_begin;
        moves.add(state, trie.order().subspan(begin, trie.own_end(node) - begin));
        return true;
      });
    }
    void count_node() {}
  } below{*this, pattern, trie, budget};
  for (const ClassLoop& loop : factors.loops) {
    if (loop.tail == Arena::kEpsilon) continue;
    const LeavingWalk leaving(pattern.automaton().arena(), loop);
    if (!leaving.is_idle()) walk_leaving(trie, pattern.automaton(), loop, leaving, budget, below);
  }
  if (!factors.others.empty()) below.enter(TokenTrie::root(), pattern.automaton().state_of_any(factors.others, budget));
}

}  // namespace tokamata
