// Where each class of equal tokens leads from a configuration, for budgets: a walk of the class trie.
//
// `visit(state, token_class)` is called for every class that leads to a state from which an accepted text can
// be reached, and for every control token that does.  The stack is explicit, since tokens may be long.
//
// Where a pattern distinguishes so many bytes that nearly each token is a class of its own, as JSON does, the trie of
// tokens itself is walked: the class trie of Llama 3.1 would have 227,000 nodes in place of 275,000, and takes 70 ms to
// be opened.
#pragma once

#include <span>
#include <vector>

#include "composition/class_trie.hpp"
#include "composition/token_steps.hpp"
#include "composition/trie_walk.hpp"

namespace tokamata {

// Nodes of the trie of tokens; opening the token classes costs about as much as walking ten times this.
constexpr std::size_t kLongWalk = 4096;
// Byte classes from which on the trie of tokens is walked in place of the class trie.
constexpr std::size_t kManyByteClasses = 100;

struct TokenClass {
  std::int64_t number;  // a node of the trie that was walked; -1 - i for the i-th control token
  std::span<const std::uint32_t> tokens;
};

template <class Visit>
void walk_controls(TokenSteps& steps, TokenConfiguration configuration, Budget& budget, Visit& visit) {
  for (std::uint32_t i = 0; i < steps.operands().controls().size(); ++i) {
    const TokenId& token = steps.operands().controls()[i];
    if (const std::optional<StateId> target = steps.step(configuration, token, budget))
      visit(*target, TokenClass{-1 - std::int64_t{i}, std::span<const std::uint32_t>(&token.value, 1)});
  }
}

// Where a walk of token classes stands, which goes on from there after it was stopped by its Budget.
struct PausedClassWalk {
  struct Frame {
    std::uint32_t child, end;
    StateId state;
  };
  std::vector<Frame> frames;         // of the class trie
  std::vector<TrieFrame> by_tokens;  // of the trie of tokens

  bool has_begun() const { return !frames.empty() || !by_tokens.empty(); }
};

template <class Visit>
void walk_class_trie(TokenSteps& steps, TokenConfiguration configuration, Budget& budget, Visit&& visit,
                     PausedClassWalk& paused) {
  ClassTrie& trie = steps.class_trie(configuration.at_start);
  auto& frames = paused.frames;
  if (frames.empty()) {
    const ClassTrie::Node root = trie.open(ClassTrie::root(), budget);
    frames.push_back({root.children_begin, root.children_end, configuration.state});
  }
  while (!frames.empty()) {
    const std::size_t last = frames.size() - 1;
    if (frames[last].child == frames[last].end) {
      frames.pop_back();
      continue;
    }
    const ClassNodeId child{frames[last].child};
    const StateId state = steps.operands().automaton().next(frames[last].state, trie.byte(child), budget);
    if (state != ByteAutomaton::kDead) {
      budget.step();
      const ClassTrie::Node node = trie.open(child, budget);
      if (!node.tokens.empty()) {
        const StateId target = steps.operands().edge(state, budget);
        if (steps.liveness().spellable(target, budget))
          visit(target, TokenClass{std::int64_t{child.value}, node.tokens});
      }
      frames.push_back({node.children_begin, node.children_end, state});
    }
    ++frames[last].child;
  }
  walk_controls(steps, configuration, budget, visit);
}

template <class Visit>
void walk_class_trie(TokenSteps& steps, TokenConfiguration configuration, Budget& budget, Visit&& visit) {
  PausedClassWalk from_the_start;
  walk_class_trie(steps, configuration, budget, visit, from_the_start);
}

template <class Visit>
void walk_classes(TokenSteps& steps, TokenConfiguration configuration, Budget& budget, Visit&& visit,
                  PausedClassWalk& paused) {
  if (steps.operands().automaton().byte_classes().size() < kManyByteClasses)
    return walk_class_trie(steps, configuration, budget, visit, paused);
  const TokenTrie& trie = steps.operands().vocabulary(configuration.at_start).trie();
  const auto enter = [&](NodeId node, StateId state) {
    const auto own = trie.own(node);
    if (node == TokenTrie::root() || own.empty()) return true;
    const StateId target = steps.operands().edge(state, budget);
    if (steps.liveness().spellable(target, budget)) visit(target, TokenClass{std::int64_t{node.value}, own});
    return true;
  };
  walk_trie(trie, TokenTrie::root(), steps.operands().automaton(), configuration.state, budget, enter,
            paused.by_tokens);
  walk_controls(steps, configuration, budget, visit);
}

template <class Visit>
void walk_classes(TokenSteps& steps, TokenConfiguration configuration, Budget& budget, Visit&& visit) {
  PausedClassWalk from_the_start;
  walk_classes(steps, configuration, budget, visit, from_the_start);
}

}  // namespace tokamata
