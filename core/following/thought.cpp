#include "following/thought.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace tokamata {

namespace {

// The tokens of a text that is cut from left to right, each time into the longest token that fits.
TokenCount greedy_length(std::string_view text, const TokenTrie& trie) {
  TokenCount count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) {
    std::size_t longest = 1;
    NodeId node = TokenTrie::root();
    for (std::size_t end = at; end < text.size(); ++end) {
      node = trie.child(node, static_cast<std::uint8_t>(text[end]));
      if (node == TokenTrie::root()) break;
      if (trie.node(node).tokens_begin < trie.own_end(node)) longest = end + 1 - at;
    }
    at += longest;
  }
  return count;
}

}  // namespace

Thought::Thought(const ThoughtPlan& plan, TokenAutomaton& tokens, Completions& completions,
                 const std::shared_ptr<const Vocabulary>& vocabulary,
                 const std::shared_ptr<const Vocabulary>& start_vocabulary,
                 const TokenAutomaton::ControlTokens& control_tokens, const Limits& limits,
                 const std::shared_ptr<const CancelToken>& cancel)
    : tokens_(tokens),
      completions_(completions),
      tracker_(*plan.ended, vocabulary, start_vocabulary, control_tokens, limits, cancel),
      end_(plan.end),
      is_canonical_(plan.is_canonical),
      most_(plan.most),
      answer_(plan.answer),
      typical_(greedy_length(plan.typical, vocabulary->trie())) {}

// ---- where it ends ----------------------------------------------------------------------------

StateId Thought::start() const {
  const StateId state = tracker_.start().state;
  return tracker_.automaton().accepting(state) ? kEnded : state;
}

StateId Thought::step(StateId state, TokenId token, bool at_start, Budget& budget) {
  const std::optional<StateId> next = tracker_.step({state, at_start}, token, budget);
  if (!next) return state;  // a first token of which the decoder leaves nothing
  return tracker_.automaton().accepting(*next) ? kEnded : *next;
}

std::optional<StateId> Thought::try_step(StateId state, TokenId token, bool at_start) const {
  const std::optional<std::optional<StateId>> next = tracker_.steps().try_step({state, at_start}, token);
  if (!next || !*next) return std::nullopt;
  return tracker_.automaton().accepting(**next) ? kEnded : **next;
}

// ---- how long it may be -----------------------------------------------------------------------

// What the reserve has beyond the shortest answer.
TokenCount Thought::spare(TokenCount total, TokenCount shortest) const {
  const auto beyond = [shortest](TokenCount answer) { return answer - std::min(answer, shortest); };
  if (answer_ > 0) return beyond(answer_);
  const TokenCount most = beyond(total / 4 * 3 + total % 4 * 3 / 4);
  return std::min(most, typical_ > 0 ? beyond(typical_) : std::max(shortest, kRoom));
}

TokenCount Thought::within(TokenCount left, TokenCount written, const Lengths& lengths) const {
  TokenCount room = left;
  if (left != kNoTokens) room -= std::min(left, spare(left + written, lengths.shortest));
  if (is_bounded()) room = std::min(room, most_ - std::min(most_, written) + lengths.least);
  return room;
}

TokenCount Thought::within(TokenCount left, TokenCount written, Budget& budget) {
  if (!lengths_) lengths_ = measured(budget);
  return within(left, written, *lengths_);
}

TokenCount Thought::surely_within(TokenCount left, TokenCount written) const {
  TokenCount room = left;
  if (left != kNoTokens) {
    const TokenCount most = answer_ > 0    ? answer_
                            : typical_ > 0 ? typical_
                                           : std::max(tokens_.room(tokens_.start().state).at_most, kRoom);
    room -= std::min(left, most);
  }
  return is_bounded() ? std::min(room, most_ - std::min(most_, written)) : room;
}

Thought::Lengths Thought::measured(Budget& budget) {
  const std::optional<StateId> border = border_state(budget);
  if (!border) return {0, 0};
  Lengths found;
  found.shortest = tokens_after(*border, budget).value_or(0);
  found.least = is_bounded() ? least_after(*border, found.shortest, budget) : 0;
  return found;
}

// Along a short text: the state of `tokens` where the end tag ends.  Nothing if no text begins here, but only after a
// context.
std::optional<StateId> Thought::border_state(Budget& budget) {
  TokenAutomaton::Configuration at = tokens_.start();
  StateId thought = tracker_.start().state;
  const auto is_ended = [&] { return tracker_.automaton().accepting(thought); };
  if (!tokens_.spellable(at, budget)) return std::nullopt;
  if (completions_.is_of_rules(at, budget)) {
    while (!is_ended()) {
      if (tokens_.automaton().accepting(at.state)) return std::nullopt;
      const ClosingTexts::Step step = completions_.of_rules().texts().step(at.state, budget);
      const char byte = static_cast<char>(step.byte);
      thought = tracker_.read(thought, {&byte, 1}, budget).state;
      at.state = step.next;
    }
    return at.state;
  }
  for (const TokenId token : completions_.shortest(at, budget)) {
    const std::string_view bytes = tokens_.vocabulary(at.at_start).bytes(token);
    const StateId before = thought;
    const std::optional<StateId> after = tracker_.step({thought, at.at_start}, token, budget),
                                 target = tokens_.step(at, token, budget);
    if (!after || !target) return std::nullopt;
    thought = *after;
    if (!is_ended()) {
      at = {*target, false};
      continue;
    }
    if (bytes.empty()) return target;
    thought = before;
    std::size_t inside = 0;
    while (!is_ended()) thought = tracker_.read(thought, bytes.substr(inside++, 1), budget).state;
    return tokens_.edge(tokens_.read(at.state, bytes.substr(0, inside), budget).state, budget);
  }
  return std::nullopt;
}

// The tokens that masks within the thought take to suffice for a rest of the answer.  They look for the fewest where a
// control token ends it, whatever the answer is.
std::optional<TokenCount> Thought::tokens_after(StateId state, Budget& budget) {
  const TokenAutomaton::Configuration at{state, false};
  if (!tokens_.spellable(at, budget)) return std::nullopt;
  const bool by_closing_texts = !is_canonical_ && completions_.is_of_rules(tokens_.start(), budget);
  return by_closing_texts ? completions_.tokens_of_closing_text(at, budget) : completions_.tokens_needed(at, budget);
}

// The fewest tokens after one that completes the end tag: `shortest`, or fewer if it begins the answer.
TokenCount Thought::least_after(StateId border, TokenCount shortest, Budget& budget) {
  TokenCount least = shortest;
  std::unordered_set<std::uint32_t> met;
  const auto note = [&](std::string_view answer) {
    const TokenAutomaton::Reading read = tokens_.read(border, answer, budget);
    if (answer.empty() || read.length < answer.size() || !met.insert(read.state.value).second) return;
    least = std::min(least, tokens_after(tokens_.edge(read.state, budget), budget).value_or(least));
  };
  const Vocabulary& vocabulary = tokens_.vocabulary(false);
  const std::string_view end = end_;
  for (std::uint32_t token = 0; token < vocabulary.token_count() && least > 0 && !end.empty(); ++token) {
    budget.step();
    const std::string_view bytes = vocabulary.bytes({token});
    if (bytes.empty()) continue;
    for (std::size_t from = end.find(bytes[0]); from < end.size(); from = end.find(bytes[0], from + 1))
      if (bytes.starts_with(end.substr(from))) note(bytes.substr(end.size() - from));
    if (const std::size_t place = bytes.find(end); place != bytes.npos) note(bytes.substr(place + end.size()));
  }
  return least;
}

}  // namespace tokamata
