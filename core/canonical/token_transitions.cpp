#include "canonical/token_transitions.hpp"

#include <algorithm>
#include <unordered_map>

#include "common/memoized.hpp"
#include "composition/class_walk.hpp"
#include "composition/trie_walk.hpp"

namespace tokamata {

std::optional<StateId> pattern_step(TokenAutomaton& pattern, TokenAutomaton::Configuration place, TokenId token,
                                    Budget& budget) {
  if (place.at_start && pattern.vocabulary(true).bytes(token).empty() &&
      !pattern.vocabulary(false).bytes(token).empty())
    return pattern.edge(place.state, budget);
  return pattern.step(place, token, budget);
}

LoopRests::LoopRests(ByteAutomaton& automaton, const ClassLoop& loop, std::size_t longest, Budget& budget) {
  Arena& arena = automaton.arena();
  const ExpressionNode head = arena.pool().node(loop.repetition);  // a copy: the arena grows
  const bool is_repetition = head.kind == Kind::Repetition;
  const ExpressionId body = is_repetition ? head.body() : loop.repetition;
  const Count least = is_repetition ? head.minimum : 1, most = loop.rounds;
  is_endless_ = most == kUnbounded && least <= 1;
  const std::size_t lengths = is_endless_ ? 1 : std::min<std::size_t>(longest, most);
  for (std::size_t length = 1; length <= lengths; ++length) {
    const Count used = static_cast<Count>(length);
    const ExpressionId rest =
        arena.forms().repeat(body, least > used ? least - used : 0, most == kUnbounded ? kUnbounded : most - used);
    states_.push_back(automaton.state_of(arena.forms().concatenate(rest, loop.tail), budget));
  }
}

void TokenTransitions::add(StateId target, std::span<const std::uint32_t> tokens, bool is_partial) {
  if (tokens.empty()) return;
  if (!runs_.empty()) {
    Run& last = runs_.back();
    if (last.target == target && last.is_partial == is_partial &&
        last.tokens.data() + last.tokens.size() == tokens.data()) {
      last.tokens = {last.tokens.data(), last.tokens.size() + tokens.size()};
      return;
    }
  }
  runs_.push_back({target, is_partial, tokens});
}

TokenTransitions::TokenTransitions(TokenAutomaton& pattern, TokenAutomaton::Configuration place, bool& walks_are_long,
                                   Budget& budget) {
  const Vocabulary& vocabulary = pattern.vocabulary(place.at_start);
  const TokenTrie& trie = vocabulary.trie();
  if (walks_are_long) {
    walk_classes(pattern.steps(), place, budget,
                 [&](StateId target, const TokenClass& token_class) { add(target, token_class.tokens); });
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
      no_text_.push_back(token);
  add(pattern.edge(place.state, budget), no_text_);
}

// The walks of what leaves a loop.
class TokenTransitions::Below {
 public:
  Below(TokenTransitions& transitions, TokenAutomaton& pattern, Budget& budget)
      : transitions_(transitions), pattern_(pattern), trie_(pattern.vocabulary(false).trie()), budget_(budget) {}

  void enter(NodeId from, StateId start) {
    if (start == ByteAutomaton::kDead) return;
    walk_trie(trie_, from, pattern_.automaton(), start, budget_, [&](NodeId node, StateId state) {
      const std::uint32_t begin = trie_.node(node).tokens_begin, own_end = trie_.own_end(node),
                          end = trie_.node(node).tokens_end;
      transitions_.add(state, trie_.order().subspan(begin, own_end - begin));
      if (end - own_end < kLeastForALoop) return true;
      for (const Endless& loop : endless(state)) {
        if (!trie_.below(trie_.node(node)).is_subset_of(loop.whole)) continue;
        transitions_.add(loop.target, trie_.order().subspan(own_end, end - own_end), true);
        return false;
      }
      return true;
    });
  }
  void count_node() {}

 private:
  struct Endless {
    ByteSet whole;
    StateId target;
  };

  const std::vector<Endless>& endless(StateId state) {
    return memoized(endless_, state.value, [&] {
      std::vector<Endless> found;
      if (const std::optional<Factors> factors = pattern_.factors(state))
        for (const ClassLoop& loop : factors->loops)
          if (const LoopRests rests(pattern_.automaton(), loop, 1, budget_); rests.is_endless())
            found.push_back({loop.whole, rests.after(1)});
      return found;
    });
  }

  TokenTransitions& transitions_;
  TokenAutomaton& pattern_;
  const TokenTrie& trie_;
  Budget& budget_;
  std::unordered_map<std::uint32_t, std::vector<Endless>> endless_;
};

TokenTransitions::TokenTransitions(TokenAutomaton& pattern, const Factors& factors, Budget& budget) {
  Below below(*this, pattern, budget);
  const TokenTrie& trie = pattern.vocabulary(false).trie();
  for (const ClassLoop& loop : factors.loops) {
    if (loop.tail == Pool::kEpsilon) continue;
    const LeavingWalk leaving(pattern.automaton().arena(), loop);
    if (!leaving.is_idle()) walk_leaving(trie, pattern.automaton(), loop, leaving, budget, below);
  }
  if (!factors.others.empty()) below.enter(TokenTrie::root(), pattern.automaton().state_of_any(factors.others, budget));
}

}  // namespace tokamata
