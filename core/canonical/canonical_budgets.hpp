// The fewest canonical tokens that complete a text, and masks within a budget.
//
// Problem.  That of composition/completions.hpp, for canonical sequences.  There each state of the pattern has a
// distance to its end.  Here the last token also decides what may follow, so a breadth-first search would meet every
// token in every state.
// How.  A depth-first search within the tokens that are left.  It skips transitions after which even tokens of any kind
// would not suffice (the distance there is a lower bound), and tries those first that bring the pattern nearest to its
// end.  A completion serves every last token that it may follow; failed bounds are kept.  The minimum is found by
// raising the bound step by step.
// Example.  Gemma 3, ` Surname: [A-Z][a-z]{2,10}`: four tokens are the least of any kind, and four are found at once.
// Source: iterative deepening A*, Korf, 1985.  Cost: one look-up if the first witness of liveness has few enough
// tokens; otherwise mostly a few transitions, and all of them if none suffices.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "canonical/canonical_configuration.hpp"
#include "canonical/canonical_rule_budgets.hpp"
#include "canonical/mask_segments.hpp"
#include "common/bounded_memo.hpp"
#include "common/memory_account.hpp"
#include "composition/completions.hpp"

namespace tokamata {

class CanonicalBudgets {
 public:
  using Configuration = TokenAutomaton::Configuration;

  CanonicalBudgets(TokenAutomaton& pattern, const Tokenization& tokenization, MaskSegments& segments,
                   AddedTransitions& added)
      : pattern_(pattern),
        tokenization_(tokenization),
        segments_(segments),
        added_(added),
        distances_(pattern),
        of_rules_(pattern, tokenization, distances_.of_rules()) {}

  // Whether so many tokens suffice, from a live configuration; `route` gets these tokens.
  bool suffices(Configuration place, const CanonicalState& state, TokenCount tokens, std::vector<TokenId>* route,
                Budget& budget);
  // A lower bound on the tokens that are needed.
  TokenCount at_least(Configuration place, Budget& budget);

  // The transitions of a configuration by tokens that stand in some canonical sequence; those nearest to the end first.
  struct Transition {
    TokenCount needed;  // at least, after it
    StateId target;
    TokenId token;
  };
  using TransitionsPtr = std::shared_ptr<const counted::vector<Transition>>;
  TransitionsPtr transitions(Configuration place, Budget& budget);

  // The tokens that the closing text of the pattern begins with, the longest first.
  std::vector<TokenId> closing_choices(Configuration place, Budget& budget) {
    std::vector<TokenId> tokens;
    for (const Completions::ClosingChoice& choice : distances_.closing_choices(place, budget))
      tokens.insert(tokens.begin(), choice.token);
    return tokens;
  }
  // For configurations with rules.
  CanonicalRuleBudgets& of_rules() { return of_rules_; }

  void clear();

 private:
  // The first step of a completion: the token, the configuration after it, and how many tokens suffice from there.
  struct Found {
    TokenId token;
    CanonicalState after;
    TokenCount needed;
  };
  struct Level;
  bool by_found(const Level& level) const;

  TokenAutomaton& pattern_;
  const Tokenization& tokenization_;
  MaskSegments& segments_;
  AddedTransitions& added_;
  Completions distances_;
  CanonicalRuleBudgets of_rules_;
  ConfigurationMap<TokenCount> at_least_;                   // where a search has failed
  ConfigurationMap<counted::vector<Found>> found_;          // by what is not the last token
  static constexpr std::size_t kMostTransitions = 4 << 20;  // of all places: 64 MB
  BoundedMemo<counted::unordered_map<Configuration, TransitionsPtr, Configuration::Hash>> transitions_{
      kMostTransitions};
};

}  // namespace tokamata
