// A short text that completes each state of rules, and the fewest tokens that spell it.
//
// Problem.  Tokens lead from a state of rules to infinitely many states, which cannot be searched.  But one text that
// completes it is nearly forced: everything that is still required, and then all brackets.
// Example.  After  [[{"a  the text is  ":0}]] ; with the tokens  ":  0  }]  ]  it takes four.
// How.  Where a state accepts the closing text of its over-approximation, which many states share, that is its own.
// Otherwise the next byte is the first one, in order, that lowers the length that the expression knows
// (ExpressionNode::spelled).  If no byte does, because that length includes spare bytes (for a name that differs from
// all others), a search by bytes finds the nearest state with a lower length.  The step depends on the state alone, so
// texts that reach one state continue alike, and a text as long as the input is deep is computed once.  Tokens are
// counted from the end: one more than after the best of the tokens that the text begins with.
// Cost.  A few derivatives for each byte of a text, and a step in the trie for each byte of its tokens; once per state.
// Rejected: longer texts of fewer tokens; rule_completions.hpp searches some of those.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/memory_account.hpp"
#include "composition/operands.hpp"
#include "composition/spelled_texts.hpp"

namespace tokamata {

class ClosingTexts {
 public:
  // `bytes`: those that the texts may be made of; where none is found, more may exist.
  explicit ClosingTexts(Operands& operands, std::optional<ByteSet> bytes = std::nullopt)
      : operands_(operands), automaton_(operands.automaton()), spelled_(operands.vocabulary().trie()), bytes_(bytes) {}

  // The next byte of the closing text of a state that does not accept, and its first token.
  struct Step {
    std::uint8_t byte;   // of the text
    bool is_unverified;  // the text was made from an over-approximation, and may not be accepted
    StateId next;        // after the byte
    TokenId token;       // the first of the fewest tokens of the text
    StateId target;      // after the token
    TokenCount tokens;
    SpelledId text;
  };
  // Valid until the next call.  Every byte of the pattern must be a token.
  const Step& step(StateId state, Budget& budget);
  // The first byte of the closing text, or, where that is not known yet, another one that brings the state nearer to its
  // end; with the state after it.  Nothing where the search of a text would find none at once.
  std::optional<std::pair<std::uint8_t, StateId>> first_byte(StateId state, Budget& budget);
  bool is_known(StateId state) const { return accepts(state) || steps_.contains(state.value); }
  // The tokens of the closing text: 0 if the state accepts, kNoTokens if no text was found.
  TokenCount tokens(StateId state, Budget& budget) { return accepts(state) ? 0 : step(state, budget).tokens; }
  // Whether the state's text was made from an over-approximation.
  bool is_unverified(StateId state, Budget& budget) {
    return accepts(state) ? automaton_.node(state).unverified : step(state, budget).is_unverified;
  }

  // The closing text of a state, and that of an expression by itself.
  ClosingText text(StateId state, Budget& budget) {
    const bool is_unverified = this->is_unverified(state, budget);
    return {accepts(state) ? SpelledTexts::kEmpty : steps_.at(state.value).text, is_unverified};
  }
  ClosingText text(ExpressionId expression, Budget& budget);
  ClosingText concatenated(ClosingText first, ClosingText rest) {
    return {spelled_.concatenate(first.id, rest.id), first.is_unverified || rest.is_unverified};
  }
  SpelledTexts& spelled() { return spelled_; }
  const std::optional<ByteSet>& bytes() const { return bytes_; }

  void clear() {
    release(steps_);
    release(of_parts_);
    spelled_.clear();
  }

 private:
  struct Byte {
    StateId from;
    std::uint8_t byte;
    StateId to;
  };
  // states of a search where the bytes are restricted: there may be no end
  static constexpr std::size_t kMostDetours = 256;
  bool accepts(StateId state) const { return automaton_.accepting(state); }
  template <class Visit>
  void for_each_byte(StateId state, Budget& budget, Visit&& visit);
  bool descend(std::vector<Byte>& text, StateId from, Budget& budget);
  bool detour(std::vector<Byte>& text, StateId from, Budget& budget);
  Step first_step(const Byte& first);

  Operands& operands_;
  ByteAutomaton& automaton_;
  SpelledTexts spelled_;
  const std::optional<ByteSet> bytes_;
  counted::unordered_map<std::uint32_t, Step> steps_;
  counted::unordered_map<std::uint32_t, ClosingText> of_parts_;  // by expression
};

}  // namespace tokamata
