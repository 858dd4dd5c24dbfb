// Where the tokens lead in the pattern, from one place: listed once, for all hypotheses about the text.
//
// Problem.  Four hypotheses stand behind a token, and each asks where every token leads.  That is a matter of the
// pattern alone.
// Example.  `history` after `his`:  t → 5, to → 6, tory → accepted.
// How.  A walk of the trie of tokens in step with the pattern.  Where that is long, the next ones go by kinds of
// tokens (class_trie.hpp).  Where the state is a loop over a wide class, what stays inside the class is known
// without a walk (factored_mask.hpp), and only what leaves it is listed.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "composition/token_automaton.hpp"

namespace tokamata {

// Where one token leads.  The first token of a text may lose its space to the decoder, and all of itself: then the
// text is still empty, but no longer at its start.
std::optional<StateId> pattern_step(TokenAutomaton& pattern, TokenAutomaton::Place place, TokenId token, Budget& budget);

// What is left of a loop over a class, and behind it, after so many code points of the class.
class LoopRests {
 public:
  LoopRests(ByteAutomaton& automaton, const ClassLoop& loop, std::size_t longest, Budget& budget);

  // After all numbers alike, since the loop has no bounds left.
  bool is_endless() const { return is_endless_; }
  // Numbers that are told apart, from 1 on: of those up to `longest`, what the loop takes; 1 where it is endless.
  std::size_t lengths() const { return states_.size(); }
  StateId behind(std::size_t length) const { return states_[is_endless_ ? 0 : length - 1]; }

 private:
  bool is_endless_;
  std::vector<StateId> states_;
};

class Moves {
 public:
  // All of a place; `walks_are_long` is what earlier walks of the pattern have shown, and this one does.
  Moves(TokenAutomaton& pattern, TokenAutomaton::Place place, bool& walks_are_long, Budget& budget);
  // Those that leave the loops of a state.
  Moves(TokenAutomaton& pattern, const Factors& factors, Budget& budget);

  // `visit(target, tokens)`, several times for the same target.
  template <class Visit>
  void for_each(Visit&& visit) const {
    std::size_t begin = 0;
    for (const Run& run : runs_) {
      visit(run.target, std::span(tokens_).subspan(begin, run.end - begin));
      begin = run.end;
    }
  }

 private:
  struct Run {
    StateId target;
    std::size_t end;  // of its tokens
  };
  void add(StateId target, std::span<const std::uint32_t> tokens);

  std::vector<Run> runs_;
  std::vector<std::uint32_t> tokens_;
};

}  // namespace tokamata
