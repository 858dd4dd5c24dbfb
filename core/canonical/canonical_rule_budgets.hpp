// How few of the tokenizer's own tokens finish a text of rules, and which leave enough room.
//
// Problem.  As composition/rule_completions.hpp has it, for canonical sequences alone.  The closing text of a state has
// one canonical tokenization at most after the tokens so far, and may have none: after `["c":[` of Llama 3.1 no
// canonical sequence goes on with `]}`, since `[]` is a token; `]` after a line break does.
// How.  Branch and bound again, over pairs of the pattern's state and the tokenizer's.  What is known to suffice is
// the canonical tokenization of the closing text: a search down that text, the longest tokens first, of which each
// pair of states is remembered.  Tokens are followed as the over-approximation groups them, of each group those with the
// least ids.
// Masks ask the tokens of small groups one by one.  Of a large group they ask those with the least ids, and take all of
// it where each of them has kSpare tokens of room; the few among the rest that close less well have that room.
// Cost.  A step of the tokenizer for each token of a closing text, once for each pair of states; of a search, kMostPairs
// such texts at most.  Not taken: the exact search of canonical_budgets.hpp, which recursion makes endless.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "canonical/canonical_configuration.hpp"
#include "canonical/tokenization.hpp"
#include "composition/rule_completions.hpp"

namespace tokamata {

class CanonicalRuleBudgets {
 public:
  using Configuration = TokenAutomaton::Configuration;

  CanonicalRuleBudgets(TokenAutomaton& pattern, const Tokenization& tokenization, RuleCompletions& completions)
      : pattern_(pattern), tokenization_(tokenization), completions_(completions) {}

  bool serves(Configuration place, Budget& budget) { return completions_.serves(place.state, budget); }
  // Few tokens that lead to an accepted text; nothing where the search ends early and has found none.
  std::optional<std::vector<TokenId>> shortest(Configuration place, const CanonicalState& state, Budget& budget);
  // Of the tokens of a mask, those after which at most `left` - 1 more suffice.
  std::vector<std::uint32_t> tokens_within(Configuration place, const CanonicalState& state, TokenCount left, const Words& allowed,
                                           Budget& budget);

  void clear();

 private:
  static constexpr std::size_t kMostPairs = 1 << 11, kMostClasses = 1 << 17, kMostStates = 1 << 15;
  static constexpr std::size_t kAlike = 24;  // tokens that are followed, or asked, of a large group
  static constexpr std::size_t kMostTries = 1 << 12;  // dead ends of one closing text
  static constexpr TokenCount kSpare = 8;

  // What goes on from a pair of states.
  struct Step {
    TokenId token;
    StateId target;
    CanonicalState after;
    TokenCount tokens;  // at most, since what follows may have been found to be shorter
  };
  struct Level;
  class Search;
  using Groups = std::vector<std::vector<std::uint32_t>>;  // tokens that lead to one over-approximated state
  bool accepts(StateId state, const CanonicalState& canonical) const {
    return pattern_.automaton().accepting(state) && tokenization_.may_end(canonical);
  }
  Groups groups(Configuration place, const Words& allowed, std::size_t& kinds, Budget& budget);
  // Tokens of the closing text: kNoTokens where none are canonical.
  TokenCount closing(StateId state, const CanonicalState& canonical, Budget& budget);
  TokenCount known(StateId state, const CanonicalState& canonical, Budget& budget);
  // The tokens that are known to go on from a pair of states.
  std::vector<TokenId> rest_of(StateId state, CanonicalState canonical) const;
  Level level(StateId state, CanonicalState canonical, Budget& budget);
  std::optional<std::pair<StateId, CanonicalState>> target(Configuration place, const CanonicalState& state, TokenId token, Budget& budget);

  TokenAutomaton& pattern_;
  const Tokenization& tokenization_;
  RuleCompletions& completions_;
  ConfigurationMap<Step> closed_;  // of closing texts
  ConfigurationMap<Step> found_;   // on ways that a search has found
};

}  // namespace tokamata
