// The live tokens after one hypothesis, in one state of the pattern, whatever the last token was.
//
// Problem.  Which tokens are live in a pair of states does not depend on the last token, which only forbids some of
// them.  So a mask is a union over the hypotheses without the forbidden tokens, and the segments of the union are worth
// keeping.
// How.  Segments are put together from loops over classes of code points, as in composition/factored_mask.hpp.  The
// tokens that stay inside a class, after a guess, are found once for all constraints; all of them are live if the loop
// can continue after a border from each configuration they lead to.  Tokens that leave the class are listed
// (token_transitions.hpp) and judged one by one.  Tokens that lead to the same configuration are equally live if their
// witness begins at a border.
//
// Alternatives that begin with a terminal of a rule use the groups of terminal_exits.hpp; the tokens that continue
// after the terminal are found by a walk of the remainders.  Half of all tokens are a blank and a word, and in a
// program blanks may stand nearly everywhere: so blanks and the terminal after them are one terminal, whose groups all
// states share.
//
// A segment does not depend on the text before it.  If the tokenizer's normal form makes a token depend on the mark or
// starter before it, or a match of an added token is open, the difference is computed for each such *touch*.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "canonical/liveness.hpp"
#include "canonical/terminal_exits.hpp"
#include "canonical/token_transitions.hpp"
#include "common/bits.hpp"
#include "common/memory_account.hpp"

namespace tokamata {

class MaskSegments {
 public:
  struct Key {
    StateId state;
    bool at_start;
    std::uint16_t guess, place;
    Hypothesis::Edge edge;
    Pieces::State pieces;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  // What the text before changes in a segment.
  struct Touch {
    std::uint16_t starter;
    std::uint8_t marks;
    AddedTokens::Open open;
    friend auto operator<=>(const Touch&, const Touch&) = default;
  };

  MaskSegments(TokenAutomaton& pattern, const Tokenization& tokenization, Liveness& liveness)
      : pattern_(pattern), tokenization_(tokenization), liveness_(liveness), terminals_(pattern, tokenization) {}

  // Tokens that do not live by the border of their pre-token, but by its pieces: as bits, empty where there are none.
  // `unsure`: those of them that live after some states that their segment stands for, and not after others.
  struct ByPieces {
    Words tokens;
    std::vector<std::uint32_t> unsure;
  };
  // Adds a segment to `words`, and to `by_pieces`; returns the most tokens that any token of it needs after it.
  TokenCount add(const Key& key, const Touch& touch, Words& words, ByPieces& by_pieces, Budget& budget);
  // The same for the added tokens that may follow where a stretch of text ends.
  // `ends`: those of the text before (TextRules::ends_of).
  TokenCount add_added(TokenAutomaton::Configuration place, std::uint8_t ends, AddedTokens::Open open, Words& words,
                       Budget& budget);
  // How many tokens suffice after one token, which follows `last`, or any token.
  TokenCount bound_after(const Key& key, const Touch& touch, std::optional<TokenId> last, TokenId token,
                         Budget& budget);
  // All transitions of a configuration.
  const TokenTransitions& transitions(TokenAutomaton::Configuration place, Budget& budget);

  void clear();

 private:
  // Tokens as sets that others share, or as a list.
  struct MaskSegment {
    counted::vector<SharedWords> shared;
    counted::vector<std::uint32_t> words;  // empty where there are none
    counted::vector<std::uint32_t> listed;
    counted::vector<std::uint32_t> asked;              // of which it must be asked each time
    counted::vector<std::uint32_t> by_pieces, unsure;  // as in ByPieces, of them all
    bool has_meeting = false;                          // of those that live only where the normal form lets them stand
    TokenCount most = 0;
  };
  struct Touched {
    counted::vector<std::uint32_t> live, dead, unsure;
    TokenCount most = 0;
  };
  struct AddedSegment {
    counted::vector<std::uint32_t> tokens;
    TokenCount most = 0;
  };
  class Judge;
  const MaskSegment& segment(const Key& key, Budget& budget);
  MaskSegment make(const Key& key, Budget& budget);
  MaskSegment made(const Key& key, Budget& budget);  // all but what the judge takes as a list
  const Touched& touched(const Key& key, const Touch& touch, Budget& budget);
  const std::optional<Factors>& factors(StateId state);
  const TokenTransitions& leaving(StateId state, const Factors& factors, Budget& budget);
  void add_loop(MaskSegment& segment, Judge& judge, const Key& key, const ClassLoop& loop, Budget& budget);
  void judge_alone(Judge& judge, const Key& key, TokenId token, Budget& budget);
  void judge_group(MaskSegment& segment, Judge& judge, const Key& key, StateId state, const TextState& text,
                   Words& group, Budget& budget);
  Tokenization::InsideClassPtr inside_class(const Key& key, const ClassLoop& loop, Budget& budget);
  template <class Visit>
  std::vector<ExpressionId> for_each_terminal(ExpressionId expression, Budget& budget, Visit&& visit);
  void add_rules(MaskSegment& segment, Judge& judge, const Key& key, Budget& budget);
  void add_terminal(MaskSegment& segment, Judge& judge, const Key& key, ExpressionId terminal, ExpressionId tail,
                    Budget& budget);
  std::vector<ExpressionId> without_joined(MaskSegment& segment, Judge& judge, const Key& key, ExpressionId blanks,
                                           ExpressionId tail, Budget& budget);

  TokenAutomaton& pattern_;
  const Tokenization& tokenization_;
  Liveness& liveness_;
  TerminalExitsMaker terminals_;
  counted::map<Key, MaskSegment> segments_;
  // those that segments share words of
  counted::unordered_map<const Tokenization::InsideClass*, Kept<Tokenization::InsideClass>> inside_class_;
  counted::map<std::pair<Key, Touch>, Touched> touched_;
  counted::map<std::tuple<StateId, bool, std::uint8_t, AddedTokens::Open>, AddedSegment> added_;
  Words scratch_;
  bool walks_are_long_ = false;
  // Of the place of the last call: all hypotheses after a token need the same.
  std::optional<std::pair<StateId, bool>> transitions_of_;
  std::optional<TokenTransitions> transitions_;
  std::optional<StateId> factors_of_, leaving_of_;
  std::optional<Factors> factors_;
  std::optional<TokenTransitions> leaving_;
};

}  // namespace tokamata
