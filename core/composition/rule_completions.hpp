// How few tokens finish a text of rules, and the masks within a budget there.
//
// Problem.  completions.hpp searches the states that tokens lead to until one accepts.  With rules they are without
// end: values nest, and names and elements that must differ are kept in the state.
// Example.  Llama 3.1, `{"b`: the shortest text that closes it is `":0}`, of three tokens; `":{}}` has two, `":{` and
// `}}`, and no token does it alone.
// How.  Branch and bound.  Every state has a text that closes it (closing_texts.hpp), so that a number of tokens that
// suffices is known from the start, at any depth.  A search by tokens looks for fewer: best first, by the tokens so far
// and those of the closing text of what is reached; what cannot be better than the best so far, by the length of its
// shortest text and of the longest token, is left out.
//   - Tokens are walked from the over-approximation of a state (Arena::approximations), where all that goes on in a string
//     is one state.  Of the tokens that lead to one of its states one is followed, and up to kAlike where they are within a
//     name or an element that must differ from others: what some of them begin may be taken.
//   - Where the search ends by itself, no fewer tokens suffice: always where two are found, which one walk shows.  It ends early after
//     kMostStates new states or kMostClasses token classes; then the number is the best that was found.
// What was found is remembered for all states on its way, so that no caller who follows it gets a larger number.
//
// Masks hold a token if the closing text after it has few enough tokens.  That is decided once for all tokens that lead
// to one state of the over-approximation; where that state's text may be refused, since a name or an element is there
// already, tokens are examined one by one, up to kMostAsked of them, or need room for the bytes that make it differ.
// So a mask may lack tokens after which only another text would fit, and never has one that leads astray.
//
// Source.  Land and Doig, 1960.  Cost.  The closing text, linear in the depth and made once; at most a few walks of the
// token classes.  Not taken: A* alone, whose bounds say little of strings and nothing of brackets that come in tokens
// of several; weighted push-down systems (Reps, Schwoon, Jha and Melski, 2005), exact at any depth, at the cost of
// a table for each rule and node of the vocabulary's trie.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/memory_account.hpp"
#include "composition/closing_texts.hpp"
#include "composition/token_automaton.hpp"

namespace tokamata {

// A text under way in a search by tokens: how many it may have in all, and how many it has.
struct OpenText {
  TokenCount estimate, written;
  std::size_t node;  // where the search keeps it

  // The best on top; of equals the one that has written most, then the first.
  bool operator<(const OpenText& other) const {
    if (estimate != other.estimate) return estimate > other.estimate;
    return written != other.written ? written < other.written : node > other.node;
  }
};

class RuleCompletions {
 public:
  using Configuration = TokenAutomaton::Configuration;

  explicit RuleCompletions(TokenAutomaton& automaton) : automaton_(automaton), texts_(automaton) {}

  // Whether the texts of a state are finished by what is here.
  bool serves(StateId state, Budget& budget) {
    return automaton_.is_approximated(state) && automaton_.automaton().node(state).spellable_by_bytes() &&
           texts_.tokens(state, budget) != kNoTokens;
  }

  // Few tokens that lead to an accepted text.
  std::vector<TokenId> shortest(Configuration configuration, Budget& budget);
  TokenCount tokens_needed(Configuration configuration, Budget& budget) { return shortest(configuration, budget).size(); }
  // Tokens after which at most `left` - 1 more suffice.
  std::vector<std::uint32_t> tokens_within(Configuration configuration, TokenCount left, Budget& budget);

  ClosingTexts& texts() { return texts_; }

  // Bytes that make a name or an element differ from those that are there.
  static constexpr TokenCount kSpare = 4;

  void clear();

 private:
  static constexpr std::size_t kMostStates = 1 << 15, kMostClasses = 1 << 17;
  static constexpr std::size_t kAlike = 64;
  static constexpr std::size_t kMostAsked = 256;

  struct Step {
    TokenId token;
    StateId target;
    TokenCount tokens;  // at most, since what follows may have been found to be shorter
  };
  class Search;
  // So many suffice, as far as that is known without a search.
  TokenCount known(StateId state, Budget& budget);
  Step first_step(Configuration configuration, Budget& budget);
  // Of a state from which a way was found: the tokens on it.
  TokenCount length(StateId state) const;
  std::vector<bool> ambiguous(StateId state, Budget& budget);

  TokenAutomaton& automaton_;
  ClosingTexts texts_;
  counted::unordered_map<std::uint32_t, Step> found_;
  std::optional<Step> found_at_start_;
};

}  // namespace tokamata
