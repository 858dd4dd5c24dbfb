// How canonical sequences leave a terminal after one hypothesis, whatever follows the terminal.
//
// Problem.  A mask inside a JSON string has a hundred thousand tokens, and each must lead to a canonical text: through
// the rest of the string, and through everything after it.  What follows differs at every position of every schema; the
// string does not.
// Example.  Llama 3.1, terminal "…" after its quote: after nearly every token the next text may be `"`, and then the
// pre-tokenizer is in a run of punctuation.  So all of these tokens are live if the continuation of the string is live
// from there: one question instead of 120,000.
// How.  Tokens that stay inside the terminal are distinguished by what is left of it and by where they land in the text
// (TerminalSteps, Landing).  For each such pair one exit is sought: the end of the token itself, where the terminal
// may end there, or a text after the border of a pre-token that ends the terminal.  Tokens with the same exit are
// one group.  Where a pre-token has no border (Gemma 3 has one for a whole text), the exit is by tokens of single bytes
// inside of it, for those tokens that the first of them may stand after.  A group whose exit leads nowhere, and tokens
// with none, are judged one by one by those who ask: so an exit is enough to live, and none of it is needed.
// Source: the terminals of vocabulary/segment.hpp; the summaries of push-down systems, Bouajjani, Esparza and
// Maler 1997, of which one entry is kept.
// Tokens are not examined one by one: below a node of the trie all lead back to a state that takes every code point
// there as a loop, and what lands alike is a set of bits (LandingSets), so that a group is mostly an intersection.
// A string with a bound is another terminal after each of its characters.  Its tokens have the exits of the same string
// without it, as far as a token and its exit have fewer code points than the bound lets through; the few others are
// examined again.  And what one search has found of the path to an end is known to the next: of a string of at least
// 300 characters each rest is a terminal of its own too.
// Cost.  A short walk of the trie for each terminal, and some passes over bits for each hypothesis, once for all
// constraints.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "canonical/text_liveness.hpp"
#include "canonical/tokenization.hpp"
#include "common/memory_account.hpp"
#include "composition/token_automaton.hpp"

namespace tokamata {

class TerminalExitsMaker {
 public:
  using ExitsPtr = Tokenization::TerminalExitsPtr;

  TerminalExitsMaker(TokenAutomaton& pattern, const Tokenization& tokenization)
      : pattern_(pattern), tokenization_(tokenization) {}

  // After a guess between code points, where a pre-token begins or goes on in state 0 of its pieces.
  const ExitsPtr& exits(ExpressionId terminal, std::uint16_t guess, Hypothesis::Edge edge, Budget& budget);

  // Tokens of single bytes that end the code point which is open, inside a pre-token, and where that leads.
  struct Ending {
    TokenId token;  // the first of them
    StateId state;
    std::uint16_t guess;
  };
  using Endings = std::vector<Ending>;
  using KnownEndings = std::map<std::tuple<StateId, std::uint16_t, std::uint16_t>, Endings>;
  const Endings& endings(StateId state, std::uint16_t guess, std::uint16_t place, int most, KnownEndings& known,
                         Budget& budget);

  void clear();

 private:
  using StepsPtr = Tokenization::TerminalStepsPtr;
  class Maker;
  StepsPtr steps(ExpressionId terminal, const std::string& key, Budget& budget);
  Tokenization::TerminalSteps steps_of(ExpressionId terminal, std::span<const std::uint32_t> tokens, Budget& budget);
  ExitsPtr judged_exits(Tokenization::TerminalExits made, ExpressionId terminal, std::span<const std::uint32_t> judged,
                        std::uint16_t guess, Hypothesis::Edge edge, Budget& budget);
  ExitsPtr exits_without(ExpressionId terminal, const StringBounds::WithStrings& with, std::uint16_t guess,
                         Hypothesis::Edge edge, Budget& budget);
  ExitsPtr bounded_exits(ExpressionId terminal, const StringBounds::Unbounded& unbounded, std::uint16_t guess,
                         Hypothesis::Edge edge, Budget& budget);
  const ByteSet& loop(StateId state, Budget& budget);
  bool returns(StateId from, int more, StateId to, std::map<std::pair<StateId, int>, bool>& known, Budget& budget);

  TokenAutomaton& pattern_;
  const Tokenization& tokenization_;
  counted::map<std::tuple<std::uint32_t, std::uint16_t, Hypothesis::Edge>, Kept<Tokenization::TerminalExits>> known_;
  counted::map<std::uint32_t, Kept<Tokenization::TerminalSteps>> steps_;  // of terminals that have no key
  counted::map<StateId, ByteSet> loops_;  // first bytes of the code points that lead from a state back to it
  // Where a text that goes on from a pair comes to the end of its terminal, and how many bytes that takes; nothing
  // where a search has found no such text.
  struct Arrival {
    TextState text;
    std::size_t length;
  };
  counted::unordered_map<TextLiveness::Pair, std::optional<Arrival>, TextLiveness::PairHash> arrivals_;
};

}  // namespace tokamata
