// How many tokens a text still needs, and which tokens leave enough room.
//
// Problem.  Generation ends after n tokens, and the text must be accepted by then.  So a token is allowed only if the
// tokens that are left after it can complete an accepted text.
// Example.  `[a-z]{500,}` with 40 tokens left, of at most 16 letters each: any token of letters is allowed, since 39 ·
// 16 letters suffice; with 32 left, only tokens of 12 letters or more are.
// How.  Let D(s) be the least number of tokens from a state s to an accepting one.
//   - An expression knows the length of its shortest text in bytes, and a bound on that of every expression that it can
//     become (ExpressionNode::shortest, worst).  If each byte is a token, D is at most that length; and it is at least
//     that length divided by the length of the longest token.  Mostly this decides: if the bound is within the tokens
//     left, the mask is the one without a budget, at the cost of a comparison.
//   - Between these bounds, a breadth-first search over token classes (class_trie.hpp) finds D exactly, and D is kept.
//   - States with rules are completed by rule_completions.hpp.
// Source.  002 has no budgets; D is the distance in its composed automaton.
// Cost.  One comparison if enough tokens are left.  Otherwise one walk over the token classes for the mask, and for
// each state between the bounds a search whose results are kept; with rules no walk, but about a mask
// (rule_endings.hpp).  The last 64 masks of such budgets are kept.
// Rejected: D from bytes alone (it is only a bound), and D for all states (there may be infinitely many).
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/bounded_memo.hpp"
#include "common/memory_account.hpp"
#include "composition/class_walk.hpp"
#include "composition/rule_completions.hpp"
#include "composition/token_automaton.hpp"

namespace tokamata {

class Completions {
 public:
  using Configuration = TokenAutomaton::Configuration;

  explicit Completions(TokenAutomaton& automaton) : automaton_(automaton), of_rules_(automaton) {}

  // The tokens after which at most `left` - 1 more lead to an accepted text, and the stop tokens if the text is
  // accepted.  try_mask returns null if the mask is not known yet.
  MaskPtr try_mask(Configuration configuration, TokenCount left) const;
  MaskPtr mask(Configuration configuration, TokenCount left, Budget& budget, VerifiedTokens* verified = nullptr);
  // Whether it is known that this is the mask without a budget; the second one computes that mask, which may show it.
  bool is_ample(Configuration configuration, TokenCount left) const;
  bool is_ample(Configuration configuration, TokenCount left, Budget& budget);

  // A token of that mask, the first of a text that completes the configuration; nothing where no such text is known to be
  // short enough.  Where bytes are tokens, the text is one that the expression knows, which needs no search.  Tokens
  // that are found one after another are those of one text if `is_of_text`; otherwise what is known soonest is
  // taken, which may be a single byte.
  std::optional<TokenId> closing_token(Configuration configuration, TokenCount left, bool is_of_text, Budget& budget);
  // The tokens that this text begins with, the shortest first, and how many tokens complete it after each; none where
  // the expression knows no text.
  struct ClosingChoice {
    TokenId token;
    TokenCount rest;
  };
  std::vector<ClosingChoice> closing_choices(Configuration configuration, Budget& budget);

  // D of a configuration that is spellable.
  TokenCount tokens_needed(Configuration configuration, Budget& budget);
  // Tokens that suffice: D; with rules a bound that needs no search.
  TokenCount tokens_to_close(Configuration configuration, Budget& budget) {
    if (configuration.at_start || !is_of_rules(configuration, budget)) return tokens_needed(configuration, budget);
    return of_rules_.tokens_to_close(configuration.state, budget);
  }
  // Tokens that suffice: D; with rules those of the closing text, by which masks within a budget are made.
  TokenCount tokens_of_closing_text(Configuration configuration, Budget& budget) {
    if (configuration.at_start || !is_of_rules(configuration, budget)) return tokens_needed(configuration, budget);
    return of_rules_.texts().tokens(configuration.state, budget);
  }
  // So many tokens that lead to an accepted text; of each token class, the token with the least id.
  std::vector<TokenId> shortest(Configuration configuration, Budget& budget);

  // Whether a configuration holds rules.  Their distances are bounds: rule_completions.hpp.
  bool is_of_rules(Configuration configuration, Budget& budget) {
    return of_rules_.serves(configuration.state, budget);
  }
  RuleCompletions& of_rules() { return of_rules_; }

  // Forgets everything that depends on the numbers of states.
  void clear();

 private:
  struct Known {
    TokenCount at_least = 0;
    TokenCount at_most = ~TokenCount{0};
  };
  using Route = std::unordered_map<std::uint32_t, StateId>;  // by state: the state before it

  const counted::vector<StateId>& targets(StateId state, Budget& budget);
  Known& known(StateId state);
  bool finishes_within(StateId state, TokenCount limit, Budget& budget);
  bool search_within(StateId state, TokenCount limit, Budget& budget);
  std::vector<StateId> shortest_route(Configuration configuration, Budget& budget);
  MaskPtr build_mask(Configuration configuration, TokenCount left, Budget& budget, VerifiedTokens* verified);
  TokenCount spare(StateId state, TokenCount most) const;
  bool knows_texts(StateId state) const;

  TokenAutomaton& automaton_;
  RuleCompletions of_rules_;
  counted::unordered_map<std::uint32_t, Known> known_;
  counted::unordered_map<std::uint32_t, counted::vector<StateId>> targets_;

  // The last walk that was stopped before its end, which the same walk goes on with.
  struct Stopped {
    Configuration configuration;
    TokenCount left;
    PausedClassWalk walk;
    std::vector<std::uint32_t> tokens;
  };
  std::optional<Stopped> stopped_;

  static constexpr std::size_t kMostNarrow = 64;
  // masks in narrow room
  BoundedMemo<counted::map<std::pair<Configuration, TokenCount>, Kept<Mask>>> narrow_{kMostNarrow};
};

}  // namespace tokamata
