// The transitions of a configuration by added tokens.
//
// Problem.  Gemma 3 has 6,400 added tokens, and each may follow wherever a text may end.  Most are alike: they lead to
// the same state of the pattern, and leave no match of another added token open.
// How.  As for other tokens (mask_segments.hpp): those that stay inside a class of code points are found once for all
// constraints, by their number of code points; the others are walked in a trie of their own.  Added tokens that lead to
// the same state and leave the same matches open, and may stand after the same texts, are one transition.
// Example.  `(?s:.*)`: two transitions, the 32 tokens of line ends being apart in that further line ends may make them
// longer.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "canonical/tokenization.hpp"
#include "common/memory_account.hpp"
#include "composition/token_automaton.hpp"

namespace tokamata {

struct AddedTransition {
  StateId target;
  AddedTokens::Open after;  // where no match was under way before
  std::shared_ptr<const std::vector<std::uint32_t>> numbers;
};

class AddedTransitions {
 public:
  AddedTransitions(TokenAutomaton& pattern, const Tokenization& tokenization)
      : pattern_(pattern), tokenization_(tokenization) {}

  const counted::vector<AddedTransition>& of(TokenAutomaton::Configuration place, Budget& budget);

  // Calls `visit(after, numbers)` for the tokens of a transition that may follow a text with these ends
  // (TextRules::ends_of), while these matches are open.
  template <class Visit>
  void for_each_after(const AddedTransition& transition, std::uint8_t ends, AddedTokens::Open open,
                      Visit&& visit) const {
    if (!tokenization_.rules().may_precede(ends, transition.numbers->front())) return;
    if (open == AddedTokens::kNothing) {
      if (transition.after != AddedTokens::kDead)
        visit(transition.after, std::span<const std::uint32_t>(*transition.numbers));
      return;
    }
    const auto after = tokenization_.rules().added().after_all(open);
    const std::span<const std::uint32_t> numbers(*transition.numbers);
    for (std::size_t begin = 0, end = 0; begin < numbers.size(); begin = end) {
      const AddedTokens::Open common = (*after)[numbers[begin]];
      while (end < numbers.size() && (*after)[numbers[end]] == common) ++end;
      if (common != AddedTokens::kDead) visit(common, numbers.subspan(begin, end - begin));
    }
  }

  // Whether the text may end after the tokens of a transition.
  bool may_end_after(const AddedTransition& transition) const {
    return std::ranges::any_of(tokenization_.starts_after(transition.numbers->front()), [&](std::uint16_t guess) {
      return tokenization_.rules().may_end(TextState{.guess = guess});
    });
  }

  void clear() { release(known_); }

 private:
  class Gathered;
  void add_loop(Gathered& gathered, const ClassLoop& loop, Budget& budget);

  TokenAutomaton& pattern_;
  const Tokenization& tokenization_;
  counted::map<std::pair<StateId, bool>, counted::vector<AddedTransition>> known_;
};

}  // namespace tokamata
