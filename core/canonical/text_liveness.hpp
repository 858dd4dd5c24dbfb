// Whether some text goes on from here, as such: the pattern accepts it, and a hypothesis allows it.
//
// Problem.  After a border between pre-tokens a witness is a text alone: whatever it is, the tokenizer cuts it
// in some way.  Only the guesses that are still open bind it.  So the question is whether the languages of two
// automata over bytes meet, the pattern's and that of the hypothesis.
// Example.  Llama 3.1, pattern `.*parallel.*`, after a border that was guessed to stand before no letter:
// `.parallel` is such a text; after `.` nothing binds any more, and what the pattern asks for will do.
// How.  A search of the pairs of states: by bytes, by ends of pre-tokens that are guessed between them, and by
// added tokens.  Best first, by what the pattern still needs (A*); it ends as soon as a pair is *unbound*: the
// guess is free, and the pattern reads nothing that meets a mark or begins an added token.  Added tokens are many
// and seldom needed, so that only every so often a pair has its turn with them.
// Rules have texts without end, and each of their states has some (expression/rules.hpp).  Mostly nothing in them is
// forced that the tokenizer would not leave as it is: no language distinguishes each byte of a control token's content
// from all others, no name spells it, and none asks for code points that normal forms change, so that another text will
// do.  Then a pair is unbound where the guess is free.  So it is in a grammar, which distinguishes most bytes, where a
// short text that completes the state, brackets mostly (closing_texts.hpp), lacks a byte of each such content.
// Elsewhere, as where a constant spells a control token, the pair is searched to the end, unless there may be none.
// Where values nest, the pairs that can be reached may be infinitely many, and none of them an end.  So a search that
// has met more than `kMostMet` pairs, one of them with a free guess, *supposes* that the text lives.  That may be
// wrong; a later mask is empty then.
//
// Answers are a function of the pair alone.  Let S be all pairs that can be reached from a pair.  The pair is
//   live      if S holds an end;
//   supposed  if S holds none, but more than kMostMet pairs, and one with a free guess;
//   dead      otherwise.
// Nothing in that depends on an order, or on earlier calls.  What is known of others is used
// as far as it follows:
//   - Who can reach a pair that is live or supposed is so too: S holds all that the other one reaches.
//   - Of a supposition nothing follows for the pairs that were met: they may be dead.  It is kept for its own pair.
//   - Below a pair that is known to be dead there is no end, so that it need not be opened.  But what can be reached
//     from it counts.  Dead pairs are kept with a bound on that number; where a search ends without an answer, and the
//     sum of the bounds leaves it open whether there are more than kMostMet, it is done again and opens all.
// Source: Hart, Nilsson and Raphael, 1968, for the order.  Cost: a few pairs where an answer is yes, all that can
// be reached where it is no; every answer is kept.  Rejected: breadth first, which meets each place inside each
// code point of a wide class (24,000 pairs in the example).
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "canonical/added_transitions.hpp"
#include "canonical/tokenization.hpp"
#include "common/best_first.hpp"
#include "common/memory_account.hpp"
#include "common/visited.hpp"
#include "composition/closing_texts.hpp"
#include "composition/completions.hpp"
#include "composition/token_automaton.hpp"

namespace tokamata {

// How many tokens suffice to come to an accepted text: kDead where none does, kEndless where some number does
// that is not known.  A text needs no more tokens than it has bytes.
constexpr TokenCount kDead = ~TokenCount{0};
constexpr TokenCount kEndless = kDead - 1;
constexpr TokenCount more(TokenCount count, TokenCount by) { return count >= kEndless - by ? count : count + by; }

class TextLiveness {
 public:
  using Pair = std::pair<StateId, TextState>;
  struct PairHash {
    std::size_t operator()(const Pair& pair) const;
  };

  TextLiveness(TokenAutomaton& pattern, const Tokenization& tokenization)
      : pattern_(pattern),
        tokenization_(tokenization),
        added_(pattern, tokenization),
        closing_texts_(pattern.operands()) {}

  TokenCount bound(StateId state, const TextState& text, Budget& budget);

  // Whether every text of a state but the empty one may follow there: the text state is free, and nothing in the texts
  // meets a mark or is an added token; with rules, as many texts as are wanted may (see above).
  bool takes_all(StateId state, const TextState& text);
  // Whether a state that `accept` takes, and all of whose texts may follow, is reached from there by at most one byte.
  template <class Accept>
  bool leads_to_all(StateId state, const TextState& text, Accept&& accept, Budget& budget) {
    if (accept(state) && takes_all(state, text)) return true;
    ByteAutomaton& bytes = pattern_.automaton();
    for (unsigned turn = 0; turn < 256; ++turn) {
      const auto byte = static_cast<std::uint8_t>(turn + kFirstByte);
      TextState after = text;
      if (!tokenization_.rules().read(after, byte) || !may_be_unbound(after)) continue;
      budget.step();
      const StateId target = bytes.next(state, byte, budget);
      if (target != ByteAutomaton::kDead && accept(target) && takes_all(target, after)) return true;
    }
    return false;
  }

  AddedTransitions& added() { return added_; }

  void clear();

 private:
  class Search;
  // A pair that a search has met, and how it came to it.
  struct Met {
    Pair pair;
    std::uint32_t from;    // number of the pair before
    TokenCount by;         // tokens from there, at most
    std::uint64_t so_far;  // bytes and added tokens from the start
  };
  struct Turn {
    std::uint32_t number;
    unsigned turn;  // of its bytes, or kWhole
  };
  // By the length of a whole text; of equals the last one offered first.
  using Open = Frontier<Estimated<Turn>, counted::vector<Estimated<Turn>>>;
  // The lists of one search after another: most meet a pair or two, and would allocate more than they look at.
  struct Scratch {
    counted::vector<Met> met;
    Visited<Pair, PairHash> numbers;
    Open open;
    counted::vector<std::uint32_t> late;
  };

  TokenCount shortest_of(StateId state) const;
  bool is_unbound(StateId state, const TextState& text, Budget& budget);
  bool may_be_unbound(const TextState& text) const;
  bool is_calm(StateId state) { return !pattern_.automaton().node(state).nullable && reads_calmly(state); }
  bool reads_calmly(StateId state);
  bool is_free(StateId state, const TextState& text) const;
  bool rules_are_harmless();
  bool find_harmless() const;
  const ByteSet& closing_bytes(ExpressionId expression, Budget& budget);
  bool closes_calmly(StateId state, Budget& budget);

  static constexpr std::size_t kMostMet = 1 << 15;
  static constexpr unsigned kTurns = 2 * 256, kWhole = kTurns + 1, kFirstByte = '!';

  struct Known {
    TokenCount count;
    // Of a dead pair: no more pairs than this can be reached, and whether one of those may have a free guess.
    std::uint32_t reached = 0;
    bool may_be_free = false;
  };

  TokenAutomaton& pattern_;
  const Tokenization& tokenization_;
  AddedTransitions added_;
  counted::unordered_map<Pair, Known, PairHash> known_;
  enum class Calm : std::uint8_t { Unknown, Yes, No };
  counted::vector<Calm> calm_;  // by state
  Scratch scratch_;
  Calm harmless_ = Calm::Unknown;
  ClosingTexts closing_texts_;
  counted::unordered_map<std::uint32_t, ByteSet> closing_bytes_;  // by expression
  std::optional<std::vector<ByteSet>> contents_;                  // the bytes of control tokens' contents
};

}  // namespace tokamata
