// How many tokens a text still needs, and which tokens leave enough room.
//
// Problem.  Generation ends after n tokens, and what it has written by then must be accepted.  So a
// token may come only if some accepted text follows it in the tokens that are left.
// Example.  `[a-z]{500,}` with 40 tokens left, of at most 16 letters each: any token of letters may
// come while 39 · 16 letters or more suffice; with 32 left only those of 12 letters or more.
// How.  Let D(s) be the least number of tokens from a state s to an accepting one.
//   - An expression knows a shortest text of its own, in bytes, and a bound on that of everything it can
//     become (ExpressionNode::shortest, worst).  Where each byte is a token, D is at most that many; and
//     no token is longer than the longest.  Mostly this decides: where the bound on everything is within
//     what is left, the mask is the one without a budget, at the cost of a comparison.
//   - Between these bounds D is searched breadth first, over token classes (class_trie.hpp), and
//     remembered; it is never guessed.
//   - States of rules are finished by rule_completions.hpp.
// Source.  002 has no budgets; D is the distance in its composed automaton.  Cost.  One comparison
// where room is ample; else one walk over the token classes for the mask, and for each state between
// the bounds a search whose states are remembered.  Masks in narrow room are kept, 64 of them.
// Not taken: D from bytes alone (a bound, wrong between), and D for all states (they may be endless).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/memory_account.hpp"
#include "composition/rule_completions.hpp"
#include "composition/token_automaton.hpp"

namespace tokamata {

class Completions {
 public:
  using Configuration = TokenAutomaton::Configuration;

  explicit Completions(TokenAutomaton& automaton) : automaton_(automaton), of_rules_(automaton) {}

  // The tokens after which at most `left` - 1 more lead to an accepted text, and the stop tokens where the
  // text is accepted.  Null from try_mask where it is not known yet.
  MaskPtr try_mask(Configuration configuration, TokenCount left) const;
  MaskPtr mask(Configuration configuration, TokenCount left, Budget& budget);

  // D of a configuration that is spellable.
  TokenCount tokens_needed(Configuration configuration, Budget& budget);
  // As many tokens that lead to an accepted text, the least by id among those of one class.
  std::vector<TokenId> shortest(Configuration configuration, Budget& budget);

  // Whether a configuration holds rules, whose completions are no exact distances: rule_completions.hpp.
  bool is_of_rules(Configuration configuration, Budget& budget) { return of_rules_.serves(configuration.state, budget); }
  RuleCompletions& of_rules() { return of_rules_; }

  // Forgets all that depends on the numbers of states.
  void clear();

 private:
  struct Known {
    TokenCount at_least = 0;
    TokenCount at_most = ~TokenCount{0};
  };
  using Route = std::unordered_map<std::uint32_t, StateId>;  // by state: the one before it

  const counted::vector<StateId>& targets(StateId state, Budget& budget);
  Known& known(StateId state);
  bool finishes_within(StateId state, TokenCount limit, Budget& budget);
  bool search_within(StateId state, TokenCount limit, Budget& budget);
  std::vector<StateId> shortest_route(Configuration configuration, Budget& budget);
  bool is_ample(Configuration configuration, TokenCount left) const;
  MaskPtr build_mask(Configuration configuration, TokenCount left, Budget& budget);

  TokenAutomaton& automaton_;
  RuleCompletions of_rules_;
  counted::unordered_map<std::uint32_t, Known> known_;
  counted::unordered_map<std::uint32_t, counted::vector<StateId>> targets_;

  struct Narrow {
    Configuration configuration;
    TokenCount left;
    Kept<Mask> mask;
  };
  counted::deque<Narrow> narrow_;  // masks in narrow room, oldest first
};

}  // namespace tokamata
