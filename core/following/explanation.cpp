#include "following/explanation.hpp"

#include <algorithm>

namespace tokamata {

std::vector<TokenId> Explainer::live_controls() {
  std::vector<TokenId> live;
  for (const TokenId token : pattern_.controls())
    if (follows(token)) live.push_back(token);
  return live;
}

Explanation Explainer::stop_token() {
  if (place_.is_stopped() || follower_.accepts(place_)) return {Verdict::Allowed, 0, {}};
  return {Verdict::StopTooSoon, 0, pattern_.steps().live_bytes(place_.at.state, budget_), live_controls()};
}

Explanation Explainer::token(TokenId token) {
  using enum Verdict;
  const Vocabulary& vocabulary = pattern_.vocabulary(false);
  const bool is_named = std::ranges::find(pattern_.controls(), token) != pattern_.controls().end();
  if (token.value >= vocabulary.token_count() && !is_named) return {Padding, 0, {}};
  const std::string_view text = pattern_.vocabulary(place_.at.at_start).bytes(token);
  // The decoder may take all of a text's first token away.
  const bool is_prefix = text.empty() && !vocabulary.bytes(token).empty();
  if (text.empty() && !is_named && !is_prefix) return {NotText, 0, {}};
  if (place_.is_stopped()) return {AfterStop, 0, {}};
  if (text.empty()) {
    if (!is_prefix && !pattern_.step(place_.at, token, budget_)) return {NotText, 0, {}};
    return {follows(token) ? Allowed : follower_.refusal(place_, token), 0, {}};
  }
  const TokenAutomaton::Reading reading = pattern_.read(place_.at.state, text, budget_);
  if (reading.length < text.size())
    return {Byte, reading.length, pattern_.steps().live_bytes(reading.state, budget_),
            reading.length == 0 ? live_controls() : std::vector<TokenId>(),
            pattern_.automaton().arena().fronts().awaited(pattern_.automaton().expression(reading.state), budget_)};
  const ByteSet expected = pattern_.steps().live_bytes(pattern_.edge(reading.state, budget_), budget_);
  if (!pattern_.step(place_.at, token, budget_)) return {Unspellable, reading.length, expected};
  return {follows(token) ? Allowed : follower_.refusal(place_, token), reading.length, expected};
}

}  // namespace tokamata
