// The thought before an answer: where it ends, and how much of a budget it may take.
//
// Problem.  A budget of n tokens leaves room for the *shortest* answer.  A model that thinks as long as it may then has
// room for no other: 20 tokens give  Klee was a painter …</think>{"name":"","born":1}.
// Example.  The shortest answer takes 8 tokens, and 14 are reserved.  With 20 tokens left, the mask within the thought
// is that of 20 - (14 - 8) = 14 tokens: after each of its tokens, the end tag and 8 tokens more still fit in 13.  So
// when the end tag is written, 14 tokens or more are left.  From then on, masks get the whole budget.
// How.  The state of a tracker says whether the thought is open: an automaton of the texts in which a thought has
// ended.  While it is open, the mask of a text with `left` tokens to write, of which `written` were written before, is
// that of
//     min( left - (answer - shortest),  most - written + least )   tokens:
//   shortest  tokens that masks take to suffice for an answer, from the end of the end tag on;
//   answer    tokens to reserve for it;
//   most      tokens that the thought may have, with its tags;
//   least     the fewest such tokens after one that completes the end tag.  That one may begin the answer, as
//             `>{"` does, so this may be less than `shortest`.
// A mask of m tokens has those after which m - 1 tokens suffice.  So the budget falls by one with each token, and stays
// sufficient.  After `most` tokens a thought that is open would need more than `least` tokens, but has no more; so it
// is not open.  If the budget is too small at the start, the thought is as short as can be, and the rest is the
// answer's.  With canonical tokenization texts need more tokens than is known here, so a thought may have to end some
// tokens earlier.  Without a number, `answer` is that of a typical text, cut greedily into the longest tokens, and at
// most three quarters of the budget.  Without a text it is twice `shortest`, or kRoom more.
// Cost.  While the thought is open, a step of the tracker for each token.  Where the budget is ample, masks are those
// without a budget.  Elsewhere the lengths are found once per constraint: for JSON and grammars those of closing texts,
// else by a search; and for `most`, after each token that completes a tag.
// Rejected.  A count of tokens in the pattern: 380 ms for a first mask with the tokens of Llama 3.1, where this takes 1
// ms; and it is not available with canonical tokenization.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "composition/completions.hpp"
#include "composition/token_automaton.hpp"

namespace tokamata {

// What is known of a thought before it is compiled.
struct ThoughtPlan {
  std::shared_ptr<const Expression> ended;  // the texts that begin with a thought and its end tag, whatever follows
  std::string end;                          // the end tag as it is spelled; empty if it is a control token alone
  TokenCount most = kNoTokens;
  TokenCount answer = 0;  // 0: that of a typical text
  std::string typical;
  bool is_canonical = false;  // the tokens are
};

class Thought {
 public:
  static constexpr StateId kEnded{~std::uint32_t{0}};

  // `tokens` are those of the constraint whose texts begin with the thought, and `completions` its completions.
  Thought(const ThoughtPlan& plan, TokenAutomaton& tokens, Completions& completions,
          const std::shared_ptr<const Vocabulary>& vocabulary,
          const std::shared_ptr<const Vocabulary>& start_vocabulary,
          const TokenAutomaton::ControlTokens& control_tokens, const Limits& limits,
          const std::shared_ptr<const CancelToken>& cancel);

  // The states of the tracker, or kEnded.  `token` is one that may follow an open thought.
  StateId start() const;
  StateId step(StateId state, TokenId token, bool at_start, Budget& budget);
  std::optional<StateId> try_step(StateId state, TokenId token, bool at_start) const;

  // Whether a thought has a bound of its own.
  bool is_bounded() const { return most_ != kNoTokens; }
  // The budget of masks within an open thought; kNoTokens: none.  `left` more tokens may follow after `written`.
  TokenCount within(TokenCount left, TokenCount written, Budget& budget);
  // A number that is not larger, without a search.
  TokenCount surely_within(TokenCount left, TokenCount written) const;

 private:
  static constexpr TokenCount kRoom = 8;
  struct Lengths {
    TokenCount shortest, least;
  };
  TokenCount within(TokenCount left, TokenCount written, const Lengths& lengths) const;
  TokenCount spare(TokenCount total, TokenCount shortest) const;
  Lengths measured(Budget& budget);
  std::optional<StateId> border_state(Budget& budget);
  std::optional<TokenCount> tokens_after(StateId state, Budget& budget);
  TokenCount least_after(StateId border, TokenCount shortest, Budget& budget);

  TokenAutomaton& tokens_;
  Completions& completions_;
  TokenAutomaton tracker_;
  const std::string end_;
  const bool is_canonical_;
  const TokenCount most_, answer_, typical_;
  std::optional<Lengths> lengths_;  // once they were needed
};

}  // namespace tokamata
