// Which states can still be finished in tokens.
//
// Problem.  A state may be alive over bytes and dead over tokens: with the tokens {ab, c} the
// pattern `ab|ad` allows no token that begins `ad`, and `abd` cannot be finished after ab.
// A mask must not lead there.
// Example.  Tokens {aa, b}: in `a*b` every state is spellable; in `(aa)*ab` none is.
// How.  A state that accepts, or accepts a text of bytes that are tokens of their own, is
// spellable (a flag that the expression carries).  Otherwise its token successors are searched
// breadth first until one is found that is; if none is, everything reached is dead for good.
// Cost.  Nothing where all bytes of the pattern are tokens, as with every byte-level tokenizer;
// otherwise a walk of the trie per state searched, each once.
// Not taken: deciding it on bytes alone, which is wrong as soon as a byte is missing.

#include <unordered_map>

#include "composition/token_automaton.hpp"
#include "composition/trie_walk.hpp"

namespace tokamata {

bool TokenAutomaton::spellable(StateId state, Budget& budget) {
  const ExpressionNode& node = automaton_.node(state);
  if (node.nullable || node.spellable_by_bytes) return true;
  const Spelling known = data(state).spelling;
  if (known != Spelling::Unknown) return known == Spelling::Yes;
  return search_spelling(state, budget);
}

bool TokenAutomaton::spellable(Place place, Budget& budget) {
  if (!place.at_start) return spellable(place.state, budget);
  if (automaton_.accepting(place.state)) return true;
  for (StateId target : token_targets(place.state, start_vocabulary_->trie(), budget))
    if (spellable(target, budget)) return true;
  return false;
}

std::vector<StateId> TokenAutomaton::token_targets(StateId state, const TokenTrie& trie, Budget& budget) {
  std::vector<StateId> targets;
  walk_trie(trie, TokenTrie::root(), automaton_, state, budget, [&](NodeId id, StateId reached) {
    if (trie.own_end(id) != trie.node(id).tokens_begin) targets.push_back(reached);
    return true;
  });
  std::ranges::sort(targets);
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  return targets;
}

bool TokenAutomaton::search_spelling(StateId state, Budget& budget) {
  std::unordered_map<std::uint32_t, StateId> found_from;  // by state: the one that led to it
  std::deque<StateId> open{state};
  found_from.emplace(state.value, state);
  while (!open.empty()) {
    const StateId current = open.front();
    open.pop_front();
    for (StateId target : token_targets(current, vocabulary_->trie(), budget)) {
      const ExpressionNode& node = automaton_.node(target);
      const Spelling known = data(target).spelling;
      if (node.nullable || node.spellable_by_bytes || known == Spelling::Yes) {
        for (StateId back = current;; back = found_from.at(back.value)) {
          data(back).spelling = Spelling::Yes;
          if (back == state) return true;
        }
      }
      if (known == Spelling::Unknown && found_from.emplace(target.value, current).second) open.push_back(target);
    }
  }
  for (const auto& [dead, from] : found_from) data(StateId{dead}).spelling = Spelling::No;
  return false;
}

bool TokenAutomaton::lives_below(NodeId node, StateId state, const TokenTrie& trie, Budget& budget) {
  bool lives = false;
  walk_trie(trie, node, automaton_, state, budget, [&](NodeId id, StateId reached) {
    lives = lives || (trie.own_end(id) != trie.node(id).tokens_begin && spellable(reached, budget));
    return !lives;
  });
  return lives;
}

// The text so far may have been cut into tokens in many ways; each leaves its own node of the trie
// open.  A byte is possible where some open node has a live token on that way.
std::string TokenAutomaton::forced_text(Place place, Budget& budget) {
  std::string text;
  StateId state = place.state;
  struct Open {
    NodeId node;
    const TokenTrie* trie;
  };
  std::vector<Open> open{{TokenTrie::root(), &vocabulary(place.at_start).trie()}};
  bool at_edge = true;  // the text so far is a sequence of whole tokens
  while (!(at_edge && automaton_.accepting(state))) {
    std::optional<std::uint8_t> only;
    std::vector<Open> next_open;
    StateId next_state{};
    for (unsigned byte = 0; byte < 256; ++byte) {
      const StateId target = automaton_.next(state, static_cast<std::uint8_t>(byte), budget);
      if (target == ByteAutomaton::kDead) continue;
      std::vector<Open> reached;
      for (const Open& at : open)
        for (std::uint32_t child = at.trie->children_begin(at.node); child < at.trie->children_end(at.node); ++child)
          if (at.trie->byte(child) == byte && lives_below({child}, target, *at.trie, budget))
            reached.push_back({{child}, at.trie});
      if (reached.empty()) continue;
      if (only) return text;
      only = static_cast<std::uint8_t>(byte);
      next_open = std::move(reached);
      next_state = target;
    }
    if (!only) return text;  // nothing lives: the caller asked at a place that is not spellable
    text.push_back(static_cast<char>(*only));
    state = next_state;
    open.clear();
    at_edge = false;
    for (const Open& at : next_open) {
      if (at.trie->children_begin(at.node) != at.trie->children_end(at.node)) open.push_back(at);
      at_edge = at_edge || at.trie->own_end(at.node) != at.trie->node(at.node).tokens_begin;
    }
    at_edge = at_edge && spellable(state, budget);
    if (at_edge) open.push_back({TokenTrie::root(), &vocabulary_->trie()});
  }
  return text;
}

}  // namespace tokamata
