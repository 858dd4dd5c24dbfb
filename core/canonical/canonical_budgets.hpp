// How many of the tokenizer's own tokens a text still needs, and which lead there.
//
// Problem.  As composition/completions.hpp has it, for canonical sequences alone.  There each state of the pattern has
// a distance to its end; here what may follow depends on the last token too, and a search by breadth would meet
// every token in every state.
// How.  Depth first, with so many tokens as are left.  No transition is taken that is too long for tokens of any kind
// (the distance there is a bound from below), and of the others those that bring the pattern nearest to its end come
// first.  Ways that were found serve for every last token that they may stand after, and what was found to need
// more is kept.  As few tokens as possible are found by asking for more and more, from the bound on.
// Example.  Gemma 3, ` Surname: [A-Z][a-z]{2,10}`: four tokens are the least of any kind, and four are found at once.
// Source: iterative deepening A*, Korf, 1985.  Cost: one look-up where the first witness of liveness has few enough
// tokens; else mostly a few transitions, but all of them where none is short enough.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "canonical/canonical_configuration.hpp"
#include "canonical/canonical_rule_budgets.hpp"
#include "canonical/mask_segments.hpp"
#include "common/memory_account.hpp"
#include "composition/completions.hpp"

namespace tokamata {

class CanonicalBudgets {
 public:
  using Configuration = TokenAutomaton::Configuration;

  CanonicalBudgets(TokenAutomaton& pattern, const Tokenization& tokenization, MaskSegments& segments, AddedTransitions& added)
      : pattern_(pattern), tokenization_(tokenization), segments_(segments), added_(added), distances_(pattern),
        of_rules_(pattern, tokenization, distances_.of_rules()) {}

  // Whether so many tokens suffice, from a place that lives.  With `route`, which they are.
  bool suffices(Configuration place, const CanonicalState& state, TokenCount tokens, std::vector<TokenId>* route, Budget& budget);
  // No fewer than so many suffice.
  TokenCount at_least(Configuration place, Budget& budget);

  // For places that hold rules.
  CanonicalRuleBudgets& of_rules() { return of_rules_; }

  void clear();

 private:
  // Where tokens lead from a place, what is nearest to the end first.
  struct Transition {
    TokenCount needed;  // at least, after it
    StateId target;
    TokenId token;
  };
  using TransitionsPtr = std::shared_ptr<const counted::vector<Transition>>;
  TransitionsPtr transitions(Configuration place, Budget& budget);
  // What was found to lead on: the token, what stands after it, and how many tokens suffice from there.
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
  ConfigurationMap<TokenCount> at_least_;           // where a search has failed
  ConfigurationMap<counted::vector<Found>> found_;      // by what is not the last token
  counted::unordered_map<std::uint32_t, TransitionsPtr> transitions_;
  std::size_t transitions_kept_ = 0;  // in all of these lists
};

}  // namespace tokamata
