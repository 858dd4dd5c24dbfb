// Where the tokens lead in the pattern, from one place: listed once, for all hypotheses about the text.
//
// Problem.  Four hypotheses stand after a token, and each asks where every token leads.  That is a matter of the
// pattern alone.
// Example.  `history` after `his`:  t → 5, to → 6, tory → accepted.
// How.  A walk of the trie of tokens in step with the pattern; the tokens below a node that all stay inside an
// endless loop, and so lead to the same state, are one run of the trie's order.  Where that is long, the next ones go
// by kinds of tokens (class_trie.hpp).  Where the state is a loop over a wide class, what stays inside the class is
// known without a walk (factored_mask.hpp), and only what leaves it is listed.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "common/memory_account.hpp"
#include "composition/token_automaton.hpp"

namespace tokamata {

// Where one token leads.  The first token of a text may lose its space to the decoder, and all of itself: then the
// text is still empty, but no longer at its start.
std::optional<StateId> pattern_step(TokenAutomaton& pattern, TokenAutomaton::Configuration place, TokenId token,
                                    Budget& budget);

// What is left of a loop over a class, and after it, after so many code points of the class.
class LoopRests {
 public:
  LoopRests(ByteAutomaton& automaton, const ClassLoop& loop, std::size_t longest, Budget& budget);

  // After all numbers alike, since the loop has no bounds left.
  bool is_endless() const { return is_endless_; }
  // Numbers that are distinguished, from 1 on: of those up to `longest`, what the loop takes; 1 where it is endless.
  std::size_t lengths() const { return states_.size(); }
  StateId after(std::size_t length) const { return states_[is_endless_ ? 0 : length - 1]; }

 private:
  bool is_endless_;
  std::vector<StateId> states_;
};

class TokenTransitions {
 public:
  // All of a place; `walks_are_long` is what earlier walks of the pattern have shown, and this one does.
  TokenTransitions(TokenAutomaton& pattern, TokenAutomaton::Configuration place, bool& walks_are_long, Budget& budget);
  // Those that leave the loops of a state.
  TokenTransitions(TokenAutomaton& pattern, const Factors& factors, Budget& budget);

  struct Run {
    StateId target;
    // They may lead elsewhere besides, where an alternative of the state reads them in another way.
    bool is_partial;
    std::span<const std::uint32_t> tokens;
  };
  // Several may have the same target.
  const counted::vector<Run>& runs() const { return runs_; }

 private:
  void add(StateId target, std::span<const std::uint32_t> tokens, bool is_partial = false);
  class Below;

  counted::vector<Run> runs_;
  counted::vector<std::uint32_t> no_text_;  // tokens that have none at the start of a text
};

}  // namespace tokamata
