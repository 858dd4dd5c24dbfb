#include "canonical/show.hpp"

#include "vocabulary/show.hpp"

namespace tokamata {

std::string show(const Hypothesis& hypothesis, std::uint8_t marks, const Tokenization& tokenization) {
  std::string text = "guess " + std::to_string(hypothesis.guess);
  if (hypothesis.place != CodePoints::kBetween)
    text += ", within a code point (place " + std::to_string(hypothesis.place) + ")";
  if (hypothesis.edge == Hypothesis::Edge::Border) text += ", at a border of pre-tokens";
  else if (hypothesis.pieces == Pieces::kSettled) text += ", inside a pre-token, settled";
  else text += ", inside a pre-token, pieces " + std::to_string(hypothesis.pieces.value);
  return text + (tokenization.may_end(hypothesis, marks) ? " (may end)" : "");
}

std::string show(const CanonicalState& state, const Tokenization& tokenization) {
  std::string text;
  if (state.is_start) text += "at the start\n";
  else text += "after " + show(tokenization.vocabulary().bytes(state.last)) + "\n";
  if (state.starter != 0 || state.marks != 0)
    text += "starter " + std::to_string(state.starter) + ", marks " + std::to_string(state.marks) + "\n";
  if (state.open != AddedTokens::kNothing) text += "added tokens under way: " + std::to_string(state.open.value) + "\n";
  for (const Hypothesis& hypothesis : state.hypotheses) text += show(hypothesis, state.marks, tokenization) + "\n";
  return text;
}

}  // namespace tokamata
