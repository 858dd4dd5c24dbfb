// The fewest tokens that complete a text of rules, and masks within a budget.
//
// Problem.  completions.hpp searches the states that tokens lead to until one accepts.  With rules there are infinitely
// many: values nest, and names and elements that must differ are kept in the state.
// Example.  Llama 3.1, `{"b`: the shortest text that closes it is `":0}`, of three tokens; `":{}}` has two, `":{` and
// `}}`, and no token does it alone.
// How.  Branch and bound (fewest_tokens.hpp).  Every state has a closing text (closing_texts.hpp), so an upper bound is
// known from the start, at any depth.  The lower bound is the length of its shortest text over that of the longest token.
//   - Tokens are walked from the over-approximation of a state (Arena::approximations), in which all positions within a
//     string are one state.  Of the tokens that lead to the same state, one is followed; up to kMostAlike inside a name
//     or an element that must differ from others, because some of their texts may be taken.
//   - If the search is exhausted, the result is exact.  This is so for two tokens, which one walk shows, unless that
//     makes too many states.  It stops early after kMostStates new states or kMostClasses token classes, and returns
//     the best number found.
// The result is kept for all states along the way, so that a caller who follows it never gets a larger number.
//
// A mask contains a token if the closing text after it has few enough tokens.  rule_endings.hpp says for all tokens at
// once which texts these are in the over-approximation.  Such a text may be refused, because a name or an element was
// written before.  Tokens that stay inside one terminal, with no text written before along their way, are refused
// alike, and two of them are examined for all.  Others are examined one by one, up to kMostAlong of those that go along
// a text written before, and kMostBefore of those before each closing text; the rest need room for the bytes that make
// the text differ.  So a mask may lack tokens, but it never contains a dead end.
//
// Cost.  The closing text, linear in the depth and made once; at most a few walks of the token classes.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/memory_account.hpp"
#include "composition/closing_texts.hpp"
#include "composition/fewest_tokens.hpp"
#include "composition/rule_endings.hpp"
#include "composition/token_automaton.hpp"

namespace tokamata {

class RuleCompletions {
 public:
  using Configuration = TokenAutomaton::Configuration;

  explicit RuleCompletions(TokenAutomaton& automaton)
      : automaton_(automaton), texts_(automaton.operands()), endings_(automaton.rule_context(), texts_) {}

  // Whether this class completes the texts of a state.
  bool serves(StateId state, Budget& budget) {
    return automaton_.operands().is_approximated(state) && automaton_.automaton().node(state).spellable_by_bytes() &&
           texts_.tokens(state, budget) != kNoTokens;
  }

  // The fewest tokens found that lead to an accepted text.
  std::vector<TokenId> shortest(Configuration configuration, Budget& budget);
  TokenCount tokens_needed(Configuration configuration, Budget& budget) {
    return shortest(configuration, budget).size();
  }
  // Tokens that suffice: those of the closing text; up to kNear, or of one token and the closing text after it.  Unlike
  // `shortest`, it depends on nothing that was searched before, and walks the token classes at most once.
  TokenCount tokens_to_close(StateId state, Budget& budget);
  // The mask of the tokens after which at most `left` - 1 more tokens suffice.
  MaskPtr mask_within(Configuration configuration, TokenCount left, Budget& budget, VerifiedTokens* verified = nullptr);

  ClosingTexts& texts() { return texts_; }

  // Bytes that make a name or an element differ from the earlier ones.
  static constexpr TokenCount kSpare = 4;

  void clear();

 private:
  static constexpr std::size_t kMostStates = 1 << 12, kMostClasses = 1 << 17;  // of a search: new states; token classes
  static constexpr std::size_t kMostAlike = 64;  // tokens to one state of the over-approximation that a search follows
  static constexpr TokenCount kNear = 64;        // an end that is so near may be found nearer by one walk
  // tokens that a mask reads one by one: along texts written before; before each closing text
  static constexpr std::size_t kMostAlong = 32, kMostBefore = 6;

  using Search = FewestTokens<Configuration, std::unordered_map<Configuration, TokenCount, Configuration::Hash>>;
  using Step = Search::Step;
  class Graph;
  // A number of tokens that suffices, without a search.
  TokenCount known(Configuration configuration, Budget& budget);
  Step first_step(Configuration configuration, Budget& budget);
  // The tokens of the completion that was found for a configuration.
  TokenCount length(Configuration configuration) const;
  // Tokens before a closing text, all of which it closes or none, if they are alike.
  struct Doubtful {
    SpelledId text;
    bool are_alike;
    Words tokens;
  };
  // What the over-approximation shows of the tokens that leave enough room.
  struct Fitting {
    Words tokens;
    bool are_all;  // that it allows
    Words along;   // those among them that go along a text written before, to be examined
    std::vector<Doubtful> doubtful;
  };
  Fitting fitting(StateId state, TokenCount left, Budget& budget);
  Fitting fitting_at_start(Configuration configuration, TokenCount left, Budget& budget);
  void add_closed(Words& tokens, const Words& doubtful, std::size_t most, Configuration configuration, TokenCount left,
                  Budget& budget);
  bool are_closed(const Doubtful& alike, Configuration configuration, Budget& budget);
  const Words& beginning_tokens();

  TokenAutomaton& automaton_;
  ClosingTexts texts_;
  RuleEndings endings_;
  counted::unordered_map<Configuration, Step, Configuration::Hash> found_;
  counted::unordered_map<std::uint32_t, TokenCount> to_close_;  // by state
  std::optional<Words> beginning_tokens_;
};

}  // namespace tokamata
