#include "composition/closing_texts.hpp"

#include <algorithm>

#include "common/best_first.hpp"

namespace tokamata {

const ClosingTexts::Step& ClosingTexts::step(StateId state, Budget& budget) {
  if (const auto known = steps_.find(state.value); known != steps_.end()) return known->second;
  std::vector<Byte> text;
  // The closing text of the over-approximation, where the state accepts it too: it is known for many states.
  const auto follow = [&](StateId from) {
    if (!operands_.is_approximated(from)) return false;
    const auto approximated = [&](StateId at) { return operands_.approximated({at, false}, budget).state; };
    StateId ahead = approximated(from);
    if (ahead == from || approximated(ahead) != ahead || tokens(ahead, budget) == kNoTokens) return false;
    const std::size_t begin = text.size();
    for (StateId at = from; at == from || !is_known(at); at = text.back().to) {
      const StateId next =
          accepts(ahead) ? ByteAutomaton::kDead : automaton_.next(at, steps_.at(ahead.value).byte, budget);
      if (next == ByteAutomaton::kDead) {
        text.resize(begin);
        return false;
      }
      budget.step();
      text.push_back({at, steps_.at(ahead.value).byte, next});
      ahead = steps_.at(ahead.value).next;
    }
    return true;
  };
  for (StateId at = state; !is_known(at); at = text.back().to)
    if (!follow(at) && !descend(text, at, budget) && !detour(text, at, budget)) {
      steps_.emplace(at.value, Step{0, true, at, {}, at, kNoTokens, SpelledTexts::kNone});
      break;
    }
  for (auto byte = text.rbegin(); byte != text.rend(); ++byte) steps_.emplace(byte->from.value, first_step(*byte));
  return steps_.at(state.value);
}

// `visit(byte, target)` for one byte of each class that may come; it says whether to go on.
template <class Visit>
void ClosingTexts::for_each_byte(StateId state, Budget& budget, Visit&& visit) {
  const std::optional<ByteSet> first =
      automaton_.arena().derivatives().leaf_bytes(automaton_.expression(state), budget);
  for (const std::uint8_t byte : automaton_.byte_classes()) {
    if ((first && !first->contains(byte)) || (bytes_ && !bytes_->contains(byte))) continue;
    budget.step();
    const StateId target = automaton_.next(state, byte, budget);
    if (target != ByteAutomaton::kDead && !visit(byte, target)) return;
  }
}

std::optional<std::pair<std::uint8_t, StateId>> ClosingTexts::first_byte(StateId state, Budget& budget) {
  if (const auto known = steps_.find(state.value); known != steps_.end())
    return known->second.tokens == kNoTokens ? std::nullopt
                                             : std::optional(std::pair(known->second.byte, known->second.next));
  std::vector<Byte> text;
  return descend(text, state, budget) ? std::optional(std::pair(text.front().byte, text.front().to)) : std::nullopt;
}

// One byte that brings the state nearer to its end.
bool ClosingTexts::descend(std::vector<Byte>& text, StateId from, Budget& budget) {
  const std::uint32_t length = automaton_.node(from).spelled;
  bool is_found = false;
  for_each_byte(from, budget, [&](std::uint8_t byte, StateId target) {
    is_found = automaton_.node(target).spelled < length || accepts(target);
    if (is_found) text.push_back({from, byte, target});
    return !is_found;
  });
  return is_found;
}

// The bytes to the nearest state that is nearer to its end, or is known: best first by the length of the whole.  A name
// that is kept has one length at every byte; that of its over-approximation says how far its end is, as after `\u`.
bool ClosingTexts::detour(std::vector<Byte>& text, StateId from, Budget& budget) {
  const std::uint32_t least = automaton_.node(from).spelled;
  const auto length = [&](StateId state) {
    const bool is_kept = operands_.is_approximated(state);
    return automaton_.node(is_kept ? operands_.approximated({state, false}, budget).state : state).spelled;
  };
  Arrivals<StateId, std::uint8_t> arrivals(from);
  Frontier<Estimated<StateId>> open;
  open.add({0, 0, from});
  std::size_t left = bytes_ ? kMostDetours : ~std::size_t{0};
  for (; !open.empty() && left > 0; --left) {
    const auto [estimate, so_far, state] = open.take();
    if (state != from && (automaton_.node(state).spelled < least || is_known(state))) {
      for (const auto& [before, byte, after] : arrivals.path_to(state)) text.push_back({before, byte, after});
      return true;
    }
    for_each_byte(state, budget, [&](std::uint8_t byte, StateId target) {
      if (arrivals.reach(state, byte, target)) open.add({so_far + 1 + length(target), so_far + 1, target});
      return true;
    });
  }
  return false;
}

// The first step of a text whose further steps are known.  Of equal numbers of tokens, the one with the longest first.
ClosingTexts::Step ClosingTexts::first_step(const Byte& first) {
  const TokenTrie& trie = operands_.vocabulary().trie();
  Step step{first.byte, false, first.to, {}, {}, kNoTokens, SpelledTexts::kNone};
  NodeId node = TokenTrie::root();
  std::uint8_t byte = first.byte;
  for (StateId at = first.to;;) {
    node = trie.child(node, byte);
    if (node == TokenTrie::root()) break;
    const auto known = accepts(at) ? steps_.end() : steps_.find(at.value);
    const TokenCount behind = accepts(at) ? 0 : known->second.tokens;
    const std::uint32_t own_begin = trie.node(node).tokens_begin, own_end = trie.own_end(node);
    if (behind == kNoTokens) break;
    if (own_begin != own_end && behind < step.tokens) {
      const auto own = trie.order().subspan(own_begin, own_end - own_begin);
      step.token = {*std::ranges::min_element(own)};
      step.target = at;
      step.tokens = behind + 1;
    }
    if (accepts(at)) break;
    byte = known->second.byte;
    at = known->second.next;
  }
  step.is_unverified =
      accepts(first.to) ? automaton_.node(first.to).unverified : steps_.at(first.to.value).is_unverified;
  step.text = spelled_.prepend(first.byte, accepts(first.to) ? SpelledTexts::kEmpty : steps_.at(first.to.value).text);
  return step;
}

// The closing text of a concatenation is that of its parts, which many expressions share.  It is not where a part sees
// what is around it, or waits for a choice.
ClosingText ClosingTexts::text(ExpressionId expression, Budget& budget) {
  Arena& arena = automaton_.arena();
  std::vector<ExpressionId> open;  // concatenations met on the way down the tails
  ClosingText made{SpelledTexts::kEmpty, false};
  for (ExpressionId at = expression; at != Pool::kEpsilon; at = arena.pool().node(at).tail()) {
    if (const auto known = of_parts_.find(at.value); known != of_parts_.end()) {
      made = known->second;
      break;
    }
    const ExpressionNode& n = arena.pool().node(at);
    if (n.kind == Kind::Concatenation && !n.constrained && !n.open && !n.behind && !n.waits && !n.commits) {
      open.push_back(at);
      continue;
    }
    made = text(automaton_.state_of(arena.derivatives().settled(at), budget), budget);
    of_parts_.emplace(at.value, made);
    break;
  }
  for (auto at = open.rbegin(); at != open.rend(); ++at) {
    made = concatenated(text(arena.pool().node(*at).head(), budget), made);
    of_parts_.emplace(at->value, made);
  }
  return made;
}

}  // namespace tokamata
