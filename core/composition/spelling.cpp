// Which states can still be finished in tokens.
//
// Problem.  A state may be alive over bytes and dead over tokens: with the tokens {ab, c} the
// pattern `ab|ad` allows no token that begins `ad`, and `abd` cannot be finished after ab.
// A mask must not lead there.
// Example.  Tokens {aa, b}: in `a*b` every state is spellable; in `(aa)*ab` none is.
// How.  A state that accepts, or accepts a text of bytes that are tokens of their own, is
// spellable (a flag that the expression carries).  Otherwise its successors are searched until one
// is found that is, first those with the least sum of the steps so far and the least that is still
// needed; if none is, everything reached is dead for good.  In `[a-z ]{20,30}` & the parts of a text
// that goes straight to some part of 20 letters; breadth first it would list all shorter ones.
// Where all bytes of the pattern are tokens, as with every byte-level tokenizer, and no edges of
// tokens are used, successors by bytes give the same answer as successors by tokens.
// States of listed rules within a regular language may be no end of them.  A search that finds nothing soon leaves it
// to expression/rule_products.hpp; mostly it does, and a limit on the length of a text has many states to be measured.
// Cost.  Nothing for patterns without intersection, complement and lookaround where all bytes are
// tokens; a row of transitions per state searched where they are; a walk of the trie per state
// elsewhere; each once.
// Not taken: deciding it on bytes alone, which is wrong as soon as a byte is missing.

#include <queue>
#include <unordered_map>

#include "composition/language_masks.hpp"
#include "composition/token_automaton.hpp"
#include "composition/trie_walk.hpp"
#include "expression/shortest_text.hpp"

namespace tokamata {

namespace {
constexpr std::size_t kSearchedBeforeMeasuring = 200;  // states
}

bool TokenAutomaton::spellable(StateId state, Budget& budget) {
  const ExpressionNode& node = automaton_.node(state);
  if (node.nullable || node.spellable_by_bytes()) return true;
  const Spelling known = data(state).spelling;
  if (known != Spelling::Unknown) return known == Spelling::Yes;
  return search_spelling(state, budget);
}

bool TokenAutomaton::spellable(Configuration configuration, Budget& budget) {
  if (!configuration.at_start) return spellable(configuration.state, budget);
  if (automaton_.accepting(configuration.state)) return true;
  for (StateId target : token_targets(configuration.state, start_vocabulary_->trie(), budget))
    if (spellable(target, budget)) return true;
  for (std::uint32_t control = 0; control < controls_.size(); ++control)
    if (spellable(edge(automaton_.next(configuration.state, Symbol::control(control), budget), budget), budget))
      return true;
  return false;
}

bool TokenAutomaton::lives(StateId state, Budget& budget) {
  if (state == ByteAutomaton::kDead) return false;
  return !lives_by_bytes_ || !automaton_.node(state).constrained || spellable(state, budget);
}

// Control tokens and edges are not text; where a pattern has them, what cannot be spelled may be the
// fault of the vocabulary.
bool TokenAutomaton::is_empty(Budget& budget) {
  if (!controls_.empty() || uses_edges_) return false;
  return lives_by_bytes_ ? !spellable(automaton_.start(), budget) : !shortest_text(automaton_, budget);
}

std::vector<StateId> TokenAutomaton::successors(StateId state, Budget& budget) {
  std::vector<StateId> targets;
  if (lives_by_bytes_) {
    for (const std::uint8_t byte : automaton_.byte_classes()) targets.push_back(automaton_.next(state, byte, budget));
  } else {
    targets = token_targets(state, vocabulary_->trie(), budget);
  }
  for (std::uint32_t control = 0; control < controls_.size(); ++control)
    targets.push_back(edge(automaton_.next(state, Symbol::control(control), budget), budget));
  return targets;
}

std::vector<StateId> TokenAutomaton::token_targets(StateId state, const TokenTrie& trie, Budget& budget) {
  std::vector<StateId> targets;
  walk_trie(trie, TokenTrie::root(), automaton_, state, budget, [&](NodeId id, StateId reached) {
    if (trie.own_end(id) != trie.node(id).tokens_begin) targets.push_back(edge(reached, budget));
    return true;
  });
  std::ranges::sort(targets);
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  return targets;
}

// Where parts of a text are intersected with something else, the text itself shows one way on: what comes after the
// first place where the part stands.  It is followed in the other conjuncts alone, whose states are few, and each of
// which is reached from many parts.
bool TokenAutomaton::lives_along_text(StateId state, Budget& budget) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 14;
  Arena& arena = automaton_.arena();
  const auto [head, tail] = arena.split(automaton_.expression(state));
  const ExpressionNode& node = arena.node(head);
  if (!lives_by_bytes_ || node.kind != Kind::Intersection || node.open || node.behind ||
      !arena.node(tail).spellable_by_bytes())
    return false;
  std::optional<std::string_view> rest;
  std::vector<ExpressionId> others;
  for (const ExpressionId item : arena.items(node)) {
    const ExpressionNode& part = arena.node(item);
    const auto continuation =
        part.kind == Kind::Strings ? arena.string_automaton(part).continuation(part.second) : std::nullopt;
    if (continuation && !rest) rest = continuation;
    else others.push_back(item);
  }
  if (!rest) return false;
  StateId other = automaton_.state_of(arena.intersect(others), budget);
  for (std::size_t i = 0; i <= std::min(rest->size(), kMostBytes) && other != ByteAutomaton::kDead; ++i) {
    budget.step();
    const bool is_between_code_points = i == rest->size() || !is_continuation((*rest)[i]);
    if (is_between_code_points && automaton_.accepting(other)) {
      data(state).spelling = Spelling::Yes;
      data(state).at_most = std::min<std::uint64_t>(data(state).at_most, i + arena.node(tail).spelled);
      return true;
    }
    if (i < rest->size()) other = automaton_.next(other, static_cast<std::uint8_t>((*rest)[i]), budget);
  }
  return false;
}

// Whether a state of listed rules within a regular language lives; nothing if it is another one.
std::optional<bool> TokenAutomaton::measured_spelling(StateId state, Budget& budget) {
  if (!lives_by_bytes_ || !controls_.empty() || !automaton_.arena().joins_rules()) return std::nullopt;
  const auto length = automaton_.text_length(state, budget);
  if (!length) return std::nullopt;
  StateData& known = data(state);
  known.spelling = *length == kNoLength ? Spelling::No : Spelling::Yes;
  if (*length < kNoLength) known.at_most = std::min(known.at_most, endless_if_capped(*length));
  return *length < kNoLength;
}

// Whether a state of rules within a regular language lives; nothing where only a search can tell.
std::optional<bool> TokenAutomaton::lives_in_language(StateId state, Budget& budget) {
  if (automaton_.node(state).kind != Kind::Intersection) return std::nullopt;
  const std::optional<bool> lives = language_masks().lives(state, budget);
  if (lives) data(state).spelling = *lives ? Spelling::Yes : Spelling::No;
  return lives;
}

bool TokenAutomaton::search_spelling(StateId state, Budget& budget) {
  if (const std::optional<bool> lives = lives_in_language(state, budget)) return *lives;
  if (lives_along_text(state, budget)) return true;
  struct Open {
    std::uint64_t estimate, steps;
    StateId state;
    bool operator<(const Open& other) const {  // the best on top; of equals the one that has come further
      return estimate != other.estimate ? estimate > other.estimate : steps < other.steps;
    }
  };
  std::unordered_map<std::uint32_t, StateId> found_from;  // by state: the one that led to it
  std::priority_queue<Open> open;
  open.push({0, 0, state});
  found_from.emplace(state.value, state);
  std::size_t searched = 0;
  const auto note_way_to = [&](StateId alive, std::uint64_t needed) {
    for (StateId back = alive;; back = found_from.at(back.value)) {
      data(back).spelling = Spelling::Yes;
      data(back).at_most = std::min(data(back).at_most, needed);
      if (back == state) return;
      if (needed != kEndless) ++needed;
    }
  };
  while (!open.empty()) {
    budget.step();
    if (++searched == kSearchedBeforeMeasuring)
      if (const auto lives = measured_spelling(state, budget)) return *lives;
    const auto [estimate, steps, current] = open.top();
    open.pop();
    if (current != state)
      if (const std::optional<bool> lives = lives_in_language(current, budget)) {
        if (!*lives) continue;
        note_way_to(current, room(current).at_most);
        return true;
      }
    for (StateId target : successors(current, budget)) {
      if (target == ByteAutomaton::kDead) continue;
      const ExpressionNode& node = automaton_.node(target);
      const Spelling known = data(target).spelling;
      if (node.nullable || node.spellable_by_bytes() || known == Spelling::Yes) {
        const std::uint64_t needed = room(target).at_most;
        note_way_to(current, needed == kEndless ? kEndless : needed + 1);
        return true;
      }
      if (known != Spelling::Unknown || !found_from.emplace(target.value, current).second) continue;
      const std::uint64_t least = lives_by_bytes_ ? automaton_.node(target).shortest : room(target).at_least;
      open.push({steps + 1 + least, steps + 1, target});
    }
  }
  for (const auto& [dead, from] : found_from) data(StateId{dead}).spelling = Spelling::No;
  return false;
}

bool TokenAutomaton::lives_below(NodeId node, StateId state, const TokenTrie& trie, Budget& budget) {
  bool lives = false;
  walk_trie(trie, node, automaton_, state, budget, [&](NodeId id, StateId reached) {
    lives = lives || (trie.own_end(id) != trie.node(id).tokens_begin && spellable(edge(reached, budget), budget));
    return !lives;
  });
  return lives;
}

// The text so far may have been cut into tokens in many ways; each leaves its own node of the trie
// open, in a state of its own where the pattern sees edges.  A byte is possible where some open node
// has a live token on that way.
std::string TokenAutomaton::forced_text(Configuration configuration, Budget& budget) {
  std::string text;
  struct Open {
    NodeId node;
    const TokenTrie* trie;
    StateId state;
    auto operator<=>(const Open&) const = default;
  };
  const auto ends = [&](const Open& at) {
    if (at.node != TokenTrie::root()) return false;
    if (automaton_.accepting(at.state)) return true;
    for (std::uint32_t i = 0; i < controls_.size(); ++i)
      if (spellable(edge(automaton_.next(at.state, Symbol::control(i), budget), budget), budget)) return true;
    return false;
  };
  std::vector<Open> open{{TokenTrie::root(), &vocabulary(configuration.at_start).trie(), configuration.state}};
  while (std::ranges::none_of(open, ends)) {
    std::optional<std::uint8_t> only;
    std::vector<Open> reached;
    for (unsigned value = 0; value < 256; ++value) {
      const auto byte = static_cast<std::uint8_t>(value);
      std::vector<Open> after;
      for (const Open& at : open) {
        const StateId target = automaton_.next(at.state, byte, budget);
        if (target == ByteAutomaton::kDead) continue;
        for (std::uint32_t child = at.trie->children_begin(at.node); child < at.trie->children_end(at.node); ++child)
          if (at.trie->byte({child}) == byte && lives_below({child}, target, *at.trie, budget))
            after.push_back({{child}, at.trie, target});
      }
      if (after.empty()) continue;
      if (only) return text;
      only = byte;
      reached = std::move(after);
    }
    if (!only) return text;  // nothing lives: the caller asked at a configuration that is not spellable
    text.push_back(static_cast<char>(*only));
    open.clear();
    for (const Open& at : reached) {
      if (at.trie->children_begin(at.node) != at.trie->children_end(at.node)) open.push_back(at);
      if (at.trie->own_end(at.node) == at.trie->node(at.node).tokens_begin) continue;
      const StateId state = edge(at.state, budget);
      if (spellable(state, budget)) open.push_back({TokenTrie::root(), &vocabulary_->trie(), state});
    }
    std::ranges::sort(open);
    open.erase(std::unique(open.begin(), open.end()), open.end());
  }
  return text;
}

}  // namespace tokamata
