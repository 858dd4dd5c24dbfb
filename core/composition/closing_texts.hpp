// A short text that closes each state of rules, and how few tokens spell it.
//
// Problem.  From a state of rules the states without end that tokens lead to cannot be searched, but one way to an
// accepted text is nearly forced: to write what is still required, and then all brackets.
// Example.  After  [[{"a  the text is  ":0}]] ; with the tokens  ":  0  }]  ]  it takes four.
// How.  Each byte of the text brings the state nearer to its end: of the bytes that may come, in order, the first one
// that lowers the length that the expression knows of (ExpressionNode::spelled).  Where none does, since that length
// has bytes to spare (a name that differs from all others), a search by bytes finds the nearest state that is lower.
// The step of a state depends on the state alone, so that texts that meet go on alike, and a text that is as long
// as the input is deep is made once.  Tokens are counted from the end: one more than after the best of the tokens
// that the text begins with.
// Cost.  A few derivatives for each byte of a text, and as many steps in the trie as its tokens have bytes; each state
// once.  Not taken: texts that are longer and need fewer tokens; rule_completions.hpp searches some of those.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/memory_account.hpp"
#include "composition/token_automaton.hpp"

namespace tokamata {

// Tokens, counted; kNoTokens where no number suffices or none is known.
using TokenCount = std::uint64_t;
inline constexpr TokenCount kNoTokens = ~TokenCount{0};

class ClosingTexts {
 public:
  explicit ClosingTexts(TokenAutomaton& automaton) : automaton_(automaton) {}

  // What a state that does not accept goes on with.
  struct Step {
    std::uint8_t byte;       // of the text
    bool is_unverified;      // the text was made from an over-approximation, and may not be accepted
    StateId next;            // after the byte
    TokenId token;           // the first of the fewest tokens of the text
    StateId target;          // after the token
    TokenCount tokens;
  };
  // Valid until the next call.  Every byte of the pattern must be a token.
  const Step& step(StateId state, Budget& budget);
  // The tokens of its text: 0 where it accepts, kNoTokens where no text was found.
  TokenCount tokens(StateId state, Budget& budget) { return accepts(state) ? 0 : step(state, budget).tokens; }
  // Whether the state's text was made from an over-approximation.
  bool is_unverified(StateId state, Budget& budget) {
    return accepts(state) ? automaton_.automaton().node(state).unverified : step(state, budget).is_unverified;
  }

  void clear() { release(steps_); }

 private:
  struct Byte {
    StateId from;
    std::uint8_t byte;
    StateId to;
  };
  bool accepts(StateId state) const { return automaton_.automaton().accepting(state); }
  bool is_known(StateId state) const { return accepts(state) || steps_.contains(state.value); }
  template <class Visit>
  void for_each_byte(StateId state, Budget& budget, Visit&& visit);
  bool descend(std::vector<Byte>& text, StateId from, Budget& budget);
  bool detour(std::vector<Byte>& text, StateId from, Budget& budget);
  Step spelled(const Byte& first) const;

  TokenAutomaton& automaton_;
  counted::unordered_map<std::uint32_t, Step> steps_;
};

}  // namespace tokamata
