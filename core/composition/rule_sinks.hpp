// What a walk of rules (rule_walk.hpp) makes: a mask, the segment of a part of a grammar, or endings.
//
// A sink gets tokens in these ways.  `text(sink)` is the closing text after them; a sink that needs none does not call
// it.
//     add_own        tokens that end at a node, after which `spelled` more bytes are needed
//     add_reached    the same where a walk of the byte automaton has reached a state
//     add_terminal   those of the segment of a terminal
//     add_part       those of the segment of a part of a grammar
//     add_exit       a spot where the part may end whose segment is made
// A sink that takes runs (kTakesRuns) also gets tokens by `set`, and bounds by `note`, from walks that take whole runs
// of tokens.  To others, each token is given with the state that it leads to.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/memory_account.hpp"
#include "common/visited.hpp"
#include "composition/rests.hpp"
#include "composition/rule_endings.hpp"
#include "composition/rule_segments.hpp"
#include "composition/rule_walk_buffers.hpp"
#include "composition/stack_memo.hpp"
#include "composition/verified_tokens.hpp"
#include "vocabulary/segment.hpp"

namespace tokamata {

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

// What sinks of masks and of segments have in common.
class TokenSink {
 public:
  static constexpr bool kTakesRuns = true;
  using Alternative = RuleWalkBuffers::Alternative;

  explicit TokenSink(RuleWalkBuffers& buffers) : builder_(buffers.builder) {}

  void note(std::uint64_t bytes) { made_.note(bytes); }
  void set(std::uint32_t token, bool is_unverified) {
    builder_.add(token);
    if (is_unverified) made_.unverified.push_back(token);
  }
  template <class Text>
  void add_own(std::span<const std::uint32_t> tokens, bool is_unverified, std::uint64_t spelled, Text&&) {
    note(spelled);
    for (const std::uint32_t token : tokens) set(token, is_unverified);
  }
  // Its tokens are set as runs.
  template <class Text>
  void add_reached(std::span<const std::uint32_t> tokens, bool is_unverified, std::uint64_t spelled, Text&&) {
    constexpr std::uint64_t kLongestRest = 3;  // of a code point that a loop has begun
    note(spelled + kLongestRest);
    if (is_unverified) made_.unverified.insert(made_.unverified.end(), tokens.begin(), tokens.end());
  }
  void add_terminal(const Alternative& way, const std::shared_ptr<const Segment>& segment, Follow follow,
                    bool is_unverified, std::uint64_t most);
  void add_part(const Alternative& way, const RuleSegment& segment, Follow follow, const Rest& rest);

 protected:
  RuleMask made_;
  MaskBuilder& builder_;
};

// What was read of expressions while a mask was made, for the memo of stacks.
using ReadNotes = VisitedMap<std::uint32_t, StackMemo::Read, NumberHash>;

class MaskSink : public TokenSink {
 public:
  static constexpr bool kNotesReads = true;

  MaskSink(RuleWalkBuffers& buffers, ReadNotes& notes) : TokenSink(buffers), notes_(notes) { notes_.clear(); }

  void note_split(ExpressionId expression) { notes_.insert(expression.value, {}).first.is_split = true; }
  void note_avoided(ExpressionId expression, const ByteSet& bytes) {
    notes_.insert(expression.value, {}).first.avoided |= bytes;
  }
  void add_exit(Spot) {}  // a mask has none

  // Where the walk is left before its end: what it has found so far, and nothing else has to judge.
  void hand_over(VerifiedTokens& to) {
    VerifiedTokens found(to.words());
    found.add(builder_.take());
    for (const std::uint32_t token : made_.unverified) found.remove(token);
    to.add_row(found.row());
    to.note_most(made_.most);
  }

  RuleMask take() {
    made_.bits = builder_.take();
    return std::move(made_);
  }

 private:
  ReadNotes& notes_;
};

class SegmentSink : public TokenSink {
 public:
  static constexpr bool kNotesReads = false;

  using TokenSink::TokenSink;
  void add_exit(Spot spot) { exits_.push_back({spot.trie, spot.node}); }

  bool has_unverified() const { return !made_.unverified.empty(); }
  // Before bytes that `follow` names; a trunk is worth its while from so many tokens on.
  RuleSegment take(Follow follow, std::size_t much);

 private:
  std::vector<TokenTrie::Place> exits_;  // where the part may end
};

// Collects tokens by the closing texts after them.
class EndingSink {
 public:
  static constexpr bool kTakesRuns = false, kNotesReads = false;
  using Alternative = RuleWalkBuffers::Alternative;

  // Of what outlives it; the rests are those of the walk.
  EndingSink(RuleWalkContext& context, RuleEndings& endings, Rests& rests, Budget& budget);

  template <class Text>
  void add_own(std::span<const std::uint32_t> tokens, bool is_unverified, std::uint64_t, Text&& text) {
    if (!tokens.empty()) add(tokens, text(*this), is_unverified);
  }
  template <class Text>
  void add_reached(std::span<const std::uint32_t> tokens, bool is_unverified, std::uint64_t, Text&& text) {
    add(tokens, text(*this), is_unverified);
  }
  void add_terminal(const Alternative& way, const std::shared_ptr<const Segment>& segment, Follow follow,
                    bool is_unverified, std::uint64_t most);
  void add_part(const Alternative& way, const RuleSegment& segment, Follow follow, const Rest& rest);
  void add_exit(Spot) {}  // what stays inside a part does not depend on where it ends

  // The closing text of what follows, of a state, and of a state inside a part before what follows it.
  ClosingText text_of(RestId rest);
  ClosingText text_of(StateId state);
  ClosingText text_of(StateId inside, RestId rest);
  // The same after bytes that are to be written first.
  ClosingText text_after(std::string_view bytes, RestId rest);
  // After `depth` bytes of each of some names, of which the first has the number `first`: the rest of the one with
  // which the text is closed first.
  ClosingText text_of_names(const ExpressionNode& rule, std::span<const std::string_view> names, std::size_t first,
                            std::size_t depth, RestId rest);

  std::vector<Ending> take() { return std::move(made_); }

 private:
  bool is_known(RestId rest) const { return rest.value < of_rests_.size() && of_rests_[rest.value]; }
  ClosingText known(RestId rest) const { return *of_rests_[rest.value]; }
  void compute_text(RestId rest);
  void note(RestId rest, ClosingText text);
  void add(std::span<const std::uint32_t> tokens, ClosingText text, bool is_unverified, std::uint32_t inside = 0);
  void add_inside(const Endings& inside, RestId rest, bool is_unverified, bool is_front);

  Arena& arena_;
  const TokenTrie& vocabulary_;
  RuleEndings& endings_;
  ClosingTexts& texts_;
  Rests& rests_;
  Budget& budget_;
  std::vector<Ending> made_;
  VisitedMap<std::uint64_t, std::uint32_t, NumberHash> number_of_;  // by text, terminal, and whether it is unverified
  std::uint32_t insides_ = 0;                                       // terminals in front, counted
  std::vector<std::optional<ClosingText>> of_rests_;
};

}  // namespace tokamata
