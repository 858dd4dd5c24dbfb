#include "composition/token_steps.hpp"

#include <algorithm>

#include "common/sort_unique.hpp"
#include "composition/trie_walk.hpp"

namespace tokamata {

TokenSteps::Reading TokenSteps::read(StateId state, std::string_view text, Budget& budget) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const StateId next = automaton_.next(state, static_cast<std::uint8_t>(text[i]), budget);
    if (!liveness_.lives(next, budget)) return {i, state};
    state = next;
  }
  return {text.size(), state};
}

ByteSet TokenSteps::live_bytes(StateId state, Budget& budget) {
  ByteSet live;
  for (unsigned value = 0; value < 256; ++value) {
    const auto byte = static_cast<std::uint8_t>(value);
    if (liveness_.lives(automaton_.next(state, byte, budget), budget)) live.add(byte);
  }
  return live;
}

std::optional<StateId> TokenSteps::step(TokenConfiguration configuration, TokenId token, Budget& budget) {
  const std::string_view text = operands_.vocabulary(configuration.at_start).bytes(token);
  StateId target;
  if (!text.empty()) {
    const Reading reading = read(configuration.state, text, budget);
    if (reading.length < text.size()) return std::nullopt;
    target = reading.state;
  } else {
    const std::optional<Symbol> control = operands_.control_symbol(token);
    if (!control) return std::nullopt;
    target = automaton_.next(configuration.state, *control, budget);
  }
  target = operands_.edge(target, budget);
  if (!liveness_.spellable(target, budget)) return std::nullopt;
  return target;
}

std::optional<std::optional<StateId>> TokenSteps::try_step(TokenConfiguration configuration, TokenId token) const {
  const std::string_view text = operands_.vocabulary(configuration.at_start).bytes(token);
  if (text.empty() || operands_.uses_edges()) return std::nullopt;
  StateId state = configuration.state;
  for (const char byte : text) {
    const std::optional<StateId> next = automaton_.try_next(state, static_cast<std::uint8_t>(byte));
    if (!next) return std::nullopt;
    if (*next == ByteAutomaton::kDead) return std::optional<StateId>();
    state = *next;
  }
  const std::optional<bool> is_spellable = liveness_.is_known_spellable(state);
  if (!is_spellable) return std::nullopt;
  return *is_spellable ? std::optional(state) : std::optional<StateId>();
}

ClassTrie& TokenSteps::class_trie(bool at_start) {
  std::optional<ClassTrie>& trie = at_start ? start_class_trie_ : class_trie_;
  if (!trie) trie.emplace(operands_.vocabulary(at_start).trie(), automaton_);
  return *trie;
}

void TokenSteps::clear() {
  class_trie_.reset();
  start_class_trie_.reset();
}

// ---- forced text ------------------------------------------------------------------------------

bool TokenSteps::lives_below(NodeId node, StateId state, const TokenTrie& trie, Budget& budget) {
  bool lives = false;
  walk_trie(trie, node, automaton_, state, budget, [&](NodeId id, StateId reached) {
    lives = lives || (trie.own_end(id) != trie.node(id).tokens_begin &&
                      liveness_.spellable(operands_.edge(reached, budget), budget));
    return !lives;
  });
  return lives;
}

// The text so far may have been cut into tokens in many ways; each leaves its own node of the trie
// open, in a state of its own where the pattern sees edges.  A byte is possible where some open node
// has a live token on that way.
std::string TokenSteps::forced_text(TokenConfiguration configuration, Budget& budget) {
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
    for (std::uint32_t i = 0; i < operands_.controls().size(); ++i)
      if (liveness_.spellable(operands_.edge(automaton_.next(at.state, Symbol::control(i), budget), budget), budget))
        return true;
    return false;
  };
  std::vector<Open> open{
      {TokenTrie::root(), &operands_.vocabulary(configuration.at_start).trie(), configuration.state}};
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
      const StateId state = operands_.edge(at.state, budget);
      if (liveness_.spellable(state, budget))
        open.push_back({TokenTrie::root(), &operands_.vocabulary().trie(), state});
    }
    sort_unique(open);
  }
  return text;
}

}  // namespace tokamata
