// A walk of an expression with rules down tries: terminals by their segments where that pays, the rest byte by byte.
//
// Problem.  In a JSON text nearly every position has a state of its own.  A walk of the vocabulary for each would cost
// a hundred times as much as what is new in it.
// How.  The expression is split into its alternatives, with the rules at the front unfolded.  Each alternative is
// followed down the trie as long as some token continues with it; most end at their first byte.  Of a terminal, the
// *segment* (vocabulary/segment.hpp) is computed once, where the trie below is not small.  The segment contains the
// trie of what tokens spell after the terminal, and whatever follows the terminal is followed down that trie in the
// same way.
// Grammars are ambiguous: a token of sixteen brackets may have 2^16 readings.  So with rules that are joined
// (Rules::joins) all readings that reach one node of the trie are opened together.  What several of them begin with is
// followed once, before a fork (rests.hpp).
// What is done with the tokens that are met is up to a *sink* (rule_sinks.hpp): a mask, the segment of a part of a
// grammar, or the closing text after each token.
// Example.  {"a": "x|  in an object with members a and b: most tokens are in the segment of the rest of a string.  Its
// remainders are those of  ",  "}  ","b  …, of which  ,  and  }  and  ,"b  match what follows.
// Cost.  A few microseconds, and one or two for each alternative that some token continues with.
// Source: Scott and Johnstone 2010 (GLL), whose order of work is by position as it is here.
// Rejected: one walk of the trie with all alternatives in step (it makes a state of the byte automaton for every byte);
// a memo by the part of an expression that was read (docs/studies.md: finding that part is most of the work).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "composition/loops.hpp"
#include "composition/rule_segments.hpp"
#include "composition/rule_walk_buffers.hpp"
#include "vocabulary/segment.hpp"

namespace tokamata {

// Punctuation, blanks, names and strings are followed down the trie directly, without states: no token contains most of
// the bytes that they need.  Terminals have segments, and what follows a terminal is followed down the trie of
// remainders.  All other alternatives are walked with the byte automaton.
//
// A walk is made for one job, and runs once.  It is defined for the sinks of rule_sinks.hpp.
template <class Sink>
class RuleWalk {
 public:
  // With buffers that were lent for it, and of what outlives it.
  RuleWalk(RuleWalkContext& context, RuleWalkBuffers& buffers, Sink& sink, Budget& budget);

  // Follows an expression from a node of the vocabulary's trie.  False where it was given up, since segments turned out
  // not to pay (segment_payoff.hpp).
  [[nodiscard]] bool run(ExpressionId expression, NodeId from);
  // The same for a part of a grammar from a node of a trie; the sink gets the spots where the part may end.
  // Alternatives that only a walk with the byte automaton can follow are left.
  [[nodiscard]] bool run_part(ExpressionId part, Spot start, Follow follow);
  // Whether there were such alternatives.
  bool has_walked() const { return !buffers_.walked.empty(); }
  // Whether a choice was applied.  Then all that follows it was joined, and alternatives that begin alike were merged
  // without being split.
  bool has_applied_choice() const { return has_applied_choice_; }

 private:
  using Alternative = RuleWalkBuffers::Alternative;
  using Part = RuleWalkBuffers::Part;
  using Position = RuleWalkBuffers::Position;
  enum class Followed : std::uint8_t { Yes, HasNoSegment, DoesNotPay };

  bool follow_all();
  void walk_all();
  Position position(Spot spot);

  // What may be read below a spot.
  void open(Spot spot, RestId rest);
  void open_after(const TokenTrie& remainders, std::optional<Spot> trunk, RestId rest);
  void split_parts(Spot spot);
  void open_union(Spot spot, const Part& part);
  void open_head(Spot spot, ExpressionId head, ExpressionId tail, const Part& part);
  void unfold(ExpressionId head, RestId after);
  void open_parts(Spot spot, RestId rest, bool is_whole);
  bool open_together(Spot spot);
  bool open_split(Spot spot);
  bool may_have_segment(Spot spot, ExpressionId head);
  bool has_body(const ExpressionNode& n);
  std::pair<std::uint32_t, bool> fork_after(ExpressionId head);
  bool may_begin(const ExpressionNode& n) const;
  bool may_begin(ExpressionId expression, RestId rest);

  // What an alternative reads.
  bool follow(const Alternative& way);
  bool follow_plain(const Alternative& way);
  void follow_segment(const Alternative& way);
  Followed follow_rules_segment(const Alternative& way);
  void follow_terminal(const Alternative& way);
  void follow_bytes_of_terminal(const Alternative& way);
  void follow_runs_of_terminal(const Alternative& way)
    requires Sink::kTakesRuns;
  bool follow_byte(const Alternative& way, const ExpressionNode& head);
  bool follow_repetition(const Alternative& way, const ExpressionNode& head);
  void follow_strings(const Alternative& way, const ExpressionNode& strings);
  bool follow_names(const Alternative& way, const ExpressionNode& rule);
  void add_after(const Alternative& way, const TokenTrie& remainders, const Rest& rest, bool inside_is_unverified);
  void walk(Spot spot, StateId state);
  void note_loops(StateId at)
    requires Sink::kTakesRuns;

  void note_split(ExpressionId expression) {
    if constexpr (Sink::kNotesReads)
      if (joins_) sink_.note_split(expression);
  }
  // Notes that a rest begins with none of some bytes: the choice between segments depends on that, and what is opened
  // at all.
  void note_none_of(RestId rest, const ByteSet& bytes) {
    if constexpr (Sink::kNotesReads)
      if (joins_) rests_.for_each_front(rest, [&](ExpressionId part) { sink_.note_avoided(part, bytes); });
  }

  RuleWalkContext& context_;
  ByteAutomaton& automaton_;
  Arena& arena_;
  const TokenTrie& vocabulary_;
  RuleWalkBuffers& buffers_;
  Rests& rests_;
  Sink& sink_;
  Budget& budget_;
  const bool joins_;  // whether the readings that reach one spot are opened together
  bool has_applied_choice_ = false;
  std::optional<Spot> start_;  // of a part
  ByteSet below_;              // the bytes below the spot where an expression is split
};

}  // namespace tokamata
