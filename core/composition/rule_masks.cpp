// Masks of states that hold rules: terminals by their parts, all else by a walk, and what the sketch cannot judge
// by asking.  Part of TokenAutomaton.
//
// Problem.  Every place of a JSON text is a state of its own, and most are met once; a walk of the vocabulary for
// each would cost a hundred times what is new about it.
// How.  A state is taken apart into its alternatives, with the rules in front unfolded.  Those that begin with a
// terminal are its part (vocabulary/terminal_part.hpp) and a walk of the remainders; all others are walked together, and
// most of their bytes lead nowhere at once.
// A mask is made of the *sketch* of a state (expression/rules.hpp), which many states share; tokens that end where the
// sketch is suspect, or that spell what the state itself refuses, are then asked for one by one.

#include <algorithm>
#include <functional>

#include "composition/token_automaton.hpp"

namespace tokamata {

const TerminalPart& TokenAutomaton::terminal_part(ExpressionId terminal, Budget& budget) {
  if (const auto known = terminal_parts_.find(terminal.value); known != terminal_parts_.end()) return *known->second;
  const ExpressionId body = automaton_.arena().node(terminal).body();
  const std::string key = automaton_.arena().structure(body);
  std::shared_ptr<const TerminalPart> part = key.empty() ? nullptr : vocabulary_->shared_terminals().find(key);
  if (!part) {
    part = std::make_shared<const TerminalPart>(make_terminal_part(terminal, budget));
    if (!key.empty()) part = vocabulary_->shared_terminals().keep(key, std::move(part));
  }
  return *terminal_parts_.emplace(terminal.value, std::move(part)).first->second;
}

TerminalPart TokenAutomaton::make_terminal_part(ExpressionId terminal, Budget& budget) {
  TerminalPart part;
  std::vector<NodeId> ends;
  const auto describe = [&](StateId state) { return WalkState{loops(state, budget), true}; };
  const auto visit = [&](NodeId node, StateId state) {
    if (automaton_.accepting(state)) ends.push_back(node);
  };
  MaskWalk walk(vocabulary_->trie(), automaton_, budget, describe, visit);
  walk.run(automaton_.state_of(terminal, budget));
  part.inside = make_mask(*vocabulary_, walk.ranges(), {}, false)->words;
  add_remainders(vocabulary_->trie(), ends, part);
  return part;
}

// Sets the bits of the tokens whose remainders live in the tail.
void TokenAutomaton::add_leaving(const TerminalPart& part, ExpressionId tail, RuleMask& mask, Budget& budget) {
  struct Frame {
    std::uint32_t child, end;
    StateId state;
  };
  const auto take = [&](const TerminalPart::Node& node, StateId state) {
    if (node.tokens_begin == node.tokens_end) return;
    const bool is_suspect = automaton_.node(state).suspect;
    for (std::uint32_t i = node.tokens_begin; i < node.tokens_end; ++i) {
      const std::uint32_t token = part.tokens[i];
      mask.words[token / 32] |= 1u << (token % 32);
      if (is_suspect) mask.suspects.push_back(token);
    }
  };
  const StateId start = automaton_.state_of(tail, budget);
  if (automaton_.node(start).suspect) take(part.nodes[0], start);
  std::vector<Frame> frames(1, {part.nodes[0].children_begin, part.nodes[0].children_end, start});
  while (!frames.empty()) {
    Frame& frame = frames.back();
    if (frame.child == frame.end) {
      frames.pop_back();
      continue;
    }
    const TerminalPart::Node& node = part.nodes[frame.child++];
    const StateId state = automaton_.next(frame.state, node.byte, budget);
    if (state == ByteAutomaton::kDead) continue;
    budget.step();
    take(node, state);
    if (node.children_begin != node.children_end) frames.push_back({node.children_begin, node.children_end, state});
  }
}

TokenAutomaton::RuleMask TokenAutomaton::make_rule_mask(StateId state, Budget& budget) {
  RuleMask mask;
  std::vector<ExpressionId> others;
  for (const ExpressionId alternative : automaton_.arena().unfolded(automaton_.expression(state), budget)) {
    const ExpressionNode n = automaton_.arena().node(alternative);
    const bool is_pair = n.kind == Kind::Concatenation;
    const ExpressionId head = is_pair ? n.head() : alternative;
    if (automaton_.arena().node(head).kind != Kind::Terminal) {
      if (alternative != Arena::kEpsilon) others.push_back(alternative);
      continue;
    }
    const TerminalPart& part = terminal_part(head, budget);
    if (mask.words.empty())
      mask.words = part.inside;
    else
      std::ranges::transform(mask.words, part.inside, mask.words.begin(), std::bit_or());
    if (is_pair) add_leaving(part, n.tail(), mask, budget);
  }
  if (mask.words.empty()) mask.words.assign(vocabulary_->words(), 0);
  if (others.empty()) return mask;
  const std::span<const std::uint32_t> order = vocabulary_->trie().order();
  // Loops take tokens without looking at them; where tokens are suspect, they are looked at.
  const auto describe = [&](StateId at) {
    return WalkState{automaton_.node(at).suspect ? std::span<const Loop>() : std::span<const Loop>(loops(at, budget)), true};
  };
  const auto visit = [&](NodeId node, StateId at) {
    if (!automaton_.node(at).suspect) return;
    const TokenTrie& trie = vocabulary_->trie();
    for (std::uint32_t own = trie.node(node).tokens_begin; own < trie.own_end(node); ++own) mask.suspects.push_back(order[own]);
  };
  MaskWalk walk(vocabulary_->trie(), automaton_, budget, describe, visit);
  walk.run(automaton_.state_of_any(std::move(others), budget));
  for (const TokenRange& range : walk.ranges())
    for (std::uint32_t i = range.begin; i < range.end; ++i) mask.words[order[i] / 32] |= 1u << (order[i] % 32);
  return mask;
}

MaskPtr TokenAutomaton::rule_mask(StateId state, Budget& budget) {
  const ExpressionId sketch = automaton_.arena().sketched(automaton_.expression(state), budget);
  const StateId holder = automaton_.clipped(automaton_.state_of(sketch, budget), budget);
  if (!data(holder).mask) {
    RuleMask made = make_rule_mask(holder, budget);
    auto mask = std::make_shared<Mask>();
    mask->serial = next_serial_++;
    mask->words = std::move(made.words);
    mask->set_bits = mask->open_tokens = count_bits(mask->words);
    if (automaton_.accepting(holder)) add_stops(*vocabulary_, *mask);
    if (!made.suspects.empty()) suspects_.insert_or_assign(holder.value, std::move(made.suspects));
    remember(holder, std::move(mask));
  }
  std::vector<std::uint32_t> refused;
  const auto ask = [&](std::uint32_t token) {
    if ((data(holder).mask->words[token / 32] >> (token % 32)) & 1)
      if (!step({state, false}, {token}, budget)) refused.push_back(token);
  };
  if (state != holder) {
    if (const auto known = suspects_.find(holder.value); known != suspects_.end())
      for (const std::uint32_t token : std::vector<std::uint32_t>(known->second)) ask(token);
    ask_refused(state, ask, budget);
  }
  data(state).mask_state = holder;
  if (refused.empty()) return data(holder).mask;
  std::ranges::sort(refused);
  refused.erase(std::unique(refused.begin(), refused.end()), refused.end());
  auto mask = std::make_shared<Mask>(*data(holder).mask);
  mask->serial = next_serial_++;
  for (const std::uint32_t token : refused) mask->words[token / 32] &= ~(1u << (token % 32));
  mask->open_tokens -= refused.size();
  mask->set_bits -= refused.size();
  data(state).mask_state = state;
  remember(state, mask);
  return mask;
}

// Asks for every token that begins with what some rule in front of the state refuses.
template <class Ask>
void TokenAutomaton::ask_refused(StateId state, Ask&& ask, Budget& budget) {
  Arena& arena = automaton_.arena();
  const TokenTrie& trie = vocabulary_->trie();
  const ExpressionId expression = automaton_.expression(state);
  const auto all = arena.alternatives(expression);
  for (const ExpressionId alternative : std::vector<ExpressionId>(all.begin(), all.end())) {
    const ExpressionNode n = arena.node(alternative);
    const ExpressionNode head = n.kind == Kind::Concatenation ? arena.node(n.head()) : n;
    if (head.kind != Kind::Rule) continue;
    for (const std::string& text : arena.rules(head).refused(head.rule(), arena, budget)) {
      NodeId node = TokenTrie::root();
      bool is_there = true;
      for (std::size_t i = 0; is_there && i < text.size(); ++i) {
        const auto byte = static_cast<std::uint8_t>(text[i]);
        is_there = false;
        for (std::uint32_t child = trie.children_begin(node); child < trie.children_end(node) && !is_there; ++child) {
          if (trie.byte(child) != byte) continue;
          node = {child};
          is_there = true;
        }
      }
      if (!is_there) continue;
      for (std::uint32_t i = trie.node(node).tokens_begin; i < trie.node(node).tokens_end; ++i) ask(trie.order()[i]);
    }
  }
}

}  // namespace tokamata
