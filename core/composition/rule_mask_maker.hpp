// Masks of expressions with rules: terminals by their segments, everything else by a walk.
//
// Problem.  In a JSON text nearly every position has a state of its own.  A walk of the vocabulary for each would cost
// a hundred times as much as what is new in it.
// How.  The expression is split into its alternatives, with the rules at the front unfolded.  Each alternative is
// followed down the trie as long as some token continues with it; most end at their first byte.  A terminal is not
// followed: its
// *segment* (vocabulary/segment.hpp) is computed once.  The segment contains the trie of what tokens spell after the
// terminal, and whatever follows the terminal is followed down that trie in the same way.
// Grammars are ambiguous: a token of sixteen brackets may have 2^16 readings.  So with rules that are joined
// (Rules::joins) all readings that reach one node of the trie are opened together.  What several of them begin with is
// followed once, before a *fork*: the list of what may follow it.
// Example.  {"a": "x|  in an object with members a and b: most tokens are in the segment of the rest of a string.  Its
// remainders are those of  ",  "}  ","b  …, of which  ,  and  }  and  ,"b  match what follows.
// Cost.  A few microseconds, and one or two for each alternative that some token continues with.
// Source of forks: the graph-structured stack, Tomita 1985; and Scott and Johnstone 2010 (GLL), whose order of work is
// by position as it is here.
// Rejected: one walk of the trie with all alternatives in step (it makes a state of the byte automaton for every byte);
// a memo by the part of an expression that was read (docs/studies.md: finding that part is most of the work); the union
// of readings as an expression (a node for each element of each stack: 2 GB for a Java file).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "common/hash.hpp"
#include "common/ids.hpp"
#include "common/limits.hpp"
#include "common/memory_account.hpp"
#include "common/visited.hpp"
#include "composition/mask_builder.hpp"
#include "composition/rule_segments.hpp"
#include "composition/spelled_texts.hpp"
#include "composition/stack_memo.hpp"
#include "expression/arena.hpp"
#include "vocabulary/token_trie.hpp"

namespace tokamata {

class RuleEndings;
struct Ending;
struct Endings;

struct RuleMask {
  static constexpr std::uint64_t kEndless = ~std::uint64_t{0};
  MaskBits bits;
  std::vector<std::uint32_t> unverified;  // tokens that the exact state must judge
  // the most bytes that any token leaves to be written; or kEndless: not known
  std::uint64_t most = 0;

  void note(std::uint64_t bytes) {
    most = bytes + 1 >= ExpressionNode::kUnspelled || most == kEndless ? kEndless : std::max(most, bytes);
  }
};

// Computes masks by following alternatives from nodes of tries.
//
// Punctuation, blanks, names and strings are followed down the trie directly, without states: no token contains most of
// the bytes that they need.  Terminals have segments, and what follows a terminal is followed down the trie of
// remainders.  All other alternatives are walked with the byte automaton.
//
// One maker serves all masks of an automaton in turn, and reuses its buffers.
class RuleMaskMaker : public CountedObject {
 public:
  // Of what outlives it.
  explicit RuleMaskMaker(RuleWalkContext& context);
  ~RuleMaskMaker();
  RuleMaskMaker(const RuleMaskMaker&) = delete;
  RuleMaskMaker& operator=(const RuleMaskMaker&) = delete;

  // The tokens below a node of the vocabulary's trie with which the expression, read from there, may continue.
  RuleMask make(ExpressionId expression, NodeId from, Budget& budget);
  // Whether the last mask depends on nothing but what `read` says of each expression.  Where a choice is applied, all
  // that follows is joined, and alternatives that begin alike are merged without being split.
  bool notes_all() const { return notes_reads() && walked_.empty() && !applies_choice_; }
  StackMemo::Read read(ExpressionId expression) const {
    return read_.find(expression.value).value_or(StackMemo::Read{});
  }
  // The segment of a part; null if it has none.  It makes the segments that it needs, each by a maker of its own.
  std::shared_ptr<const RulesSegment> make_segment(ExpressionId part, const TokenTrie& trie, NodeId node, Follow follow,
                                                   Budget& budget);
  // In place of the mask of an expression, and in place of what stays inside a part that has a segment: the tokens by
  // the closing texts after them (rule_endings.hpp), in any order.
  std::vector<Ending> make_endings(ExpressionId expression, RuleEndings& endings, Budget& budget);
  std::vector<Ending> make_part_endings(ExpressionId part, const TokenTrie& trie, NodeId node, Follow follow,
                                        RuleEndings& endings, Budget& budget);

 private:
  RuleMask made(ExpressionId expression, NodeId from, Budget& budget);
  struct RestTag;
  using RestId = Id<RestTag>;
  static constexpr RestId kNothing{0}, kExit{1};  // kExit: the end of the part whose segment is made

  // A node of the vocabulary's trie, or of the remainders of a segment.
  struct Spot {
    const TokenTrie* trie;
    NodeId node;
    bool operator==(const Spot&) const = default;
  };
  // Tries in the order in which alternatives reach them: they move from one to the remainders of its segments, and
  // never back.  Children have larger numbers than the nodes above them.
  struct Position {
    std::uint32_t trie;
    NodeId node;
    auto operator<=>(const Position&) const = default;
  };
  struct Waiting {
    Position position;
    RestId rest;
    auto operator<=>(const Waiting&) const = default;
  };
  // What follows an alternative: a list of expressions, so that no concatenation is added to the arena; or a fork,
  // whose `next` is kNothing.
  struct Rest {
    static constexpr std::uint32_t kNoFork = ~std::uint32_t{0};
    ExpressionId first;
    RestId next;
    std::uint32_t fork = kNoFork;
    bool is_measured = false;                 // the following are only known once its forks are complete
    std::optional<ExpressionId> joined = {};  // with all that follows, once it was computed
    bool is_unverified = false;               // somewhere
    bool begins_unverified = false;           // at its first byte
    std::uint64_t spelled = 0;                // bytes, as for expressions
    ByteSet begins = {};                      // a superset of the bytes that it may begin with
    bool waits = false;                       // for a choice, somewhere
    std::optional<ClosingText> text = {};     // the closing text
  };
  struct Fork {
    std::optional<RestId> first;  // of what may follow; mostly there is no other
    std::vector<RestId> others;
    bool is_closed = false;  // it was read before all were known, and gets no more
    bool is_passed = false;  // what may follow was split where the fork is: what comes to it later is split as well

    void add(RestId rest) {
      if (first) others.push_back(rest);
      else first = rest;
    }
    template <class Visit>
    void for_each(Visit&& visit) const {
      if (first) visit(*first);
      std::ranges::for_each(others, visit);
    }
  };
  struct Alternative {
    Spot spot;
    ExpressionId head;
    RestId rest;
    bool is_segment = false;  // a part of a grammar that is followed by its segment
  };
  struct Head {
    ExpressionId expression;
    std::uint32_t fork;  // after it
    bool is_segment;
  };
  struct Part {
    ExpressionId expression;
    RestId after;
    bool is_whole;  // what it begins with may be a segment, since it was not unfolded at this spot
  };
  struct Opened {
    Spot spot;
    ExpressionId expression;
    RestId rest;
    bool operator==(const Opened&) const = default;
  };
  struct OpenedHash {
    std::uint64_t operator()(const Opened& o) const {
      const std::uint64_t spot = mix(reinterpret_cast<std::uintptr_t>(o.spot.trie), o.spot.node.value);
      return mix(spot, (std::uint64_t{o.expression.value} << 32) | o.rest.value);
    }
  };

  // A maker that is at work leaves the segments that it needs to another one.
  class Busy {
   public:
    explicit Busy(bool& is_busy) : is_busy_(is_busy) { is_busy_ = true; }
    ~Busy() { is_busy_ = false; }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    bool& is_busy_;
  };
  void begin_segment(ExpressionId part, const TokenTrie& trie, NodeId node, Follow follow, Budget& budget);
  void follow_all();
  void walk_all();
  void clear();

  Position position(Spot spot);
  static std::optional<Spot> below(Spot spot, std::uint8_t byte);
  static std::span<const std::uint8_t> bytes_below(Spot spot) { return spot.trie->bytes_below(spot.node); }
  // Whether one of some bytes is below a spot.
  static bool intersects(const ByteSet& bytes, Spot spot) {
    return std::ranges::any_of(bytes_below(spot), [&](std::uint8_t byte) { return bytes.contains(byte); });
  }
  static bool is_last(Spot spot) { return bytes_below(spot).empty(); }

  RestId put(ExpressionId first, RestId next);
  template <class IsKnown, class Compute>
  void compute_along(RestId rest, IsKnown&& is_known, Compute&& compute);
  const Rest& measured(RestId rest);
  template <class Visit>
  void for_each_part(RestId rest, bool closes, Visited<std::uint32_t, NumberHash>& met, Visit&& visit);
  ExpressionId joined(ExpressionId first, RestId rest);
  void open(Spot spot, RestId rest);
  void open_after(const TokenTrie& remainders, std::optional<Spot> trunk, RestId rest);
  void split_parts(Spot spot);
  void open_union(Spot spot, const Part& part);
  void open_head(Spot spot, ExpressionId head, ExpressionId tail, const Part& part);
  void unfold(ExpressionId head, RestId after);
  void open_parts(Spot spot, RestId rest, bool is_whole);
  void open_together(Spot spot);
  void open_split(Spot spot);
  bool may_have_segment(Spot spot, ExpressionId head);
  bool has_body(const ExpressionNode& n);
  static Follow follow_of(const Rest& rest) {
    return rest.begins.intersects(kWordBytes) ? Follow::AnyByte : Follow::NoWord;
  }
  std::pair<std::uint32_t, bool> fork_after(ExpressionId head);
  RestId put_fork(std::uint32_t fork);
  bool may_begin(const ExpressionNode& n) const;
  bool may_begin(ExpressionId expression, RestId rest);
  bool is_unverified(ExpressionId expression) const;

  void set(std::uint32_t token, bool is_unverified);
  template <class MakeText>
  void add_own(Spot spot, bool is_unverified, std::uint64_t spelled, MakeText&& text);

  // Where endings are made: rule_endings_maker.cpp.
  ClosingText text_of(RestId rest);
  ClosingText text_of(StateId state);
  ClosingText text_of(StateId inside, RestId rest);
  ClosingText after_bytes(std::string_view bytes, ClosingText rest);
  void add_ending(std::span<const std::uint32_t> tokens, ClosingText text, bool is_unverified,
                  std::uint32_t inside = 0);
  void add_ended(const Alternative& way, const TokenTrie& remainders, const Rest& rest);
  void add_endings(const Endings& inside, RestId rest, bool is_unverified, bool is_front);
  ClosingText text_of_names(const ExpressionNode& rule, std::size_t low, std::size_t high, std::size_t depth,
                            RestId rest);

  void follow(const Alternative& way);
  bool notes_reads() const { return joins_ && !start_; }
  void note_none_of(RestId rest, const ByteSet& bytes);
  void follow_segment(const Alternative& way);
  bool follow_rules_segment(const Alternative& way);
  bool is_small(Spot spot) const;
  static bool is_regular(const ExpressionNode& head) {
    return !head.rules && !head.commits && !head.constrained && !head.open && !head.behind && !head.edges;
  }
  void follow_terminal(const Alternative& way);
  void follow_wide_terminal(const Alternative& way);
  bool follow_byte(const Alternative& way, const ExpressionNode& head);
  bool follow_repetition(const Alternative& way, const ExpressionNode& head);
  void follow_strings(const Alternative& way, const ExpressionNode& strings);
  bool follow_names(const Alternative& way, const ExpressionNode& rule);
  void walk(Spot spot, StateId state);
  void note_loops(StateId at);

  RuleWalkContext& context_;
  ByteAutomaton& automaton_;
  Arena& arena_;
  const TokenTrie& vocabulary_;
  Budget* budget_ = nullptr;  // of the current mask
  const bool joins_;          // whether the readings that reach one spot are opened together
  RuleMask mask_;
  MaskBuilder builder_;
  Visited<Opened, OpenedHash> opened_;  // many alternatives continue with the same rest of an outer value
  counted::vector<Rest> rests_;
  VisitedMap<std::uint64_t, RestId, NumberHash> rest_ids_;  // by first and next
  std::vector<RestId> along_, parts_of_;                    // buffers of compute_along and for_each_part
  Visited<std::uint32_t, NumberHash> met_;                  // what such a search has met
  Visited<std::uint32_t, NumberHash> opened_rests_;         // at the spot that is being opened
  counted::vector<Alternative> open_;
  counted::vector<Part> parts_;  // of the expression that is being split
  ByteSet below_;                // the bytes below the spot where it is split
  std::vector<std::string_view> names_;
  std::vector<const TokenTrie*> tries_;  // in the order of positions
  std::map<Position, std::vector<ExpressionId>> walked_;
  // Where readings are opened together: what waits at each position; all forks; and at the position that is being
  // opened, the fork after each head, and the heads to be followed.
  std::vector<Waiting> waiting_;  // a heap, the first position on top
  std::vector<Fork> forks_;
  VisitedMap<std::uint32_t, std::uint32_t, NumberHash> fork_after_;
  std::vector<Head> heads_;
  // Where a mask is made: what was read of expressions, and whether a choice was applied.
  VisitedMap<std::uint32_t, StackMemo::Read, NumberHash> read_;
  bool applies_choice_ = false;
  // Where a segment is made: where it begins, and where the part may end.
  std::optional<Spot> start_;
  std::vector<TokenTrie::Place> exits_;
  std::unique_ptr<RuleMaskMaker> inner_;  // makes the segments that this one needs
  bool is_busy_ = false;
  // Where endings are made.
  RuleEndings* endings_ = nullptr;
  std::vector<Ending> made_endings_;
  // by text, terminal, and whether it is unverified
  VisitedMap<std::uint64_t, std::uint32_t, NumberHash> ending_of_;
  std::uint32_t insides_ = 0;  // terminals in front, counted
};

// Computes what `is_known` asks for, of a rest and of all that follows it, the last first.
template <class IsKnown, class Compute>
void RuleMaskMaker::compute_along(RestId rest, IsKnown&& is_known, Compute&& compute) {
  std::vector<RestId>& open = along_;
  open.assign(1, rest);
  while (!open.empty()) {
    const RestId at = open.back();
    const std::size_t before = open.size();
    const auto await = [&](RestId next) {
      if (!is_known(rests_[next.value])) open.push_back(next);
    };
    if (const Rest& n = rests_[at.value]; n.fork == Rest::kNoFork) await(n.next);
    else forks_[n.fork].for_each(await);
    if (open.size() > before) continue;
    if (!is_known(rests_[at.value])) compute(rests_[at.value]);
    open.pop_back();
  }
}

}  // namespace tokamata
