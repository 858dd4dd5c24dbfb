// The tokens that live after one hypothesis, in one state of the pattern, whatever the last token was.
//
// Problem.  What lives in a pair of states does not depend on the last token: that only forbids some of it.  So a
// mask is a union over the hypotheses, less what may not stand after the last token, and the segments of the union
// are worth keeping.
// How.  As masks are put together from loops over classes of code points (composition/factored_mask.hpp), so are
// these.  What stays inside a class, after a guess, is found once for all constraints; it lives as a whole if the
// loop can go on at a border from wherever it lands.  What leaves the class is listed (token_transitions.hpp) and judged token by
// token; tokens that land alike in the text and in the pattern live alike, if they do so by the border.
//
// What begins with a terminal of a rule is taken in the groups of terminal_exits.hpp, and what goes on after the terminal
// by a walk of the remainders.
//
// A segment says nothing of the text before.  Where the tokenizer's normal form makes a token depend on the mark or
// starter before it, or an added token is under way, what changes is recomputed for each such *touch*.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "canonical/liveness.hpp"
#include "canonical/token_transitions.hpp"
#include "canonical/terminal_exits.hpp"
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
  // What the text before adds to a segment, and takes from it.
  struct Touch {
    std::uint16_t starter;
    std::uint8_t marks;
    AddedTokens::Open open;
    friend auto operator<=>(const Touch&, const Touch&) = default;
  };

  MaskSegments(TokenAutomaton& pattern, const Tokenization& tokenization, Liveness& liveness)
      : pattern_(pattern), tokenization_(tokenization), liveness_(liveness), terminals_(pattern, tokenization) {}

  // Adds a segment to `words`; returns the most tokens that any token of it needs after it.
  TokenCount add(const Key& key, const Touch& touch, Words& words, Budget& budget);
  // The same for the added tokens, where the text before them may end.
  TokenCount add_added(TokenAutomaton::Configuration place, AddedTokens::Open open, Words& words, Budget& budget);
  // How many tokens suffice after one token.
  TokenCount bound_after(const Key& key, const Touch& touch, TokenId token, Budget& budget);
  // All transitions of a place.
  const TokenTransitions& transitions(TokenAutomaton::Configuration place, Budget& budget);

  void clear();

 private:
  // Tokens as sets that others share, or as a list.
  struct MaskSegment {
    counted::vector<std::shared_ptr<const Words>> shared;
    counted::vector<std::uint32_t> words;  // empty where there are none
    counted::vector<std::uint32_t> listed;
    counted::vector<std::uint32_t> asked;  // of which it must be asked each time
    bool has_meeting = false;          // of those that live only where the normal form lets them stand
    TokenCount most = 0;
  };
  struct Touched {
    counted::vector<std::uint32_t> live, dead;
    TokenCount most = 0;
  };
  struct AddedSegment {
    counted::vector<std::uint32_t> tokens;
    TokenCount most = 0;
  };
  class Judge;
  const MaskSegment& segment(const Key& key, Budget& budget);
  MaskSegment make(const Key& key, Budget& budget);
  const Touched& touched(const Key& key, const Touch& touch, Budget& budget);
  const std::optional<Factors>& factors(StateId state);
  const TokenTransitions& leaving(StateId state, const Factors& factors, Budget& budget);
  void add_loop(MaskSegment& segment, Judge& judge, const Key& key, const ClassLoop& loop, Budget& budget);
  void judge_alone(Judge& judge, const Key& key, TokenId token, Budget& budget);
  void judge_group(MaskSegment& segment, Judge& judge, const Key& key, StateId state, const TextState& text, Words& group,
                   Budget& budget);
  Tokenization::WithinPtr within(const Key& key, const ClassLoop& loop, Budget& budget);
  void add_rules(MaskSegment& segment, Judge& judge, const Key& key, Budget& budget);
  void add_terminal(MaskSegment& segment, Judge& judge, const Key& key, ExpressionId terminal, ExpressionId tail, Budget& budget);

  TokenAutomaton& pattern_;
  const Tokenization& tokenization_;
  Liveness& liveness_;
  TerminalExitsMaker terminals_;
  counted::map<Key, MaskSegment> segments_;
  counted::unordered_map<const Tokenization::Within*, Kept<Tokenization::Within>> within_;  // those that segments share words of
  counted::map<std::pair<Key, Touch>, Touched> touched_;
  counted::map<std::tuple<StateId, bool, AddedTokens::Open>, AddedSegment> added_;
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
