// The mask of a state without rules: a walk of the whole vocabulary, which takes runs of tokens at loops.
//
// Problem.  Find every token whose bytes the byte automaton can read from the state, and after
// which the rest can be spelled.
// Example.  State `[a-z]{0,9}!`, tokens  a  ab  a!  b2 :  the walk goes down `a` (the loop a-z
// covers `b` below it, not `!`), takes `ab` whole, steps to `a!`, and dies at the 2 of `b2`.
// How.  Depth first over the trie, in step with the automaton; the result is a list of runs in
// the trie's order of tokens.  Before a child is entered, the loops of the state (loops.hpp) are
// asked whether they take the byte on the edge and everything below: then the whole run of tokens
// lives and nothing of it is walked.  Once it is entered, the loops of the new state are asked the
// same about what is below.
// Cost.  One step per node whose prefix lives and that no loop covers: 300 of Gemma's 600,390
// nodes for `(.|\n)*`, 5,000 for `[^"]*`, 11,000 for `[a-z]*`.
// A walk that is stopped by its Budget has done whole nodes: the node where it stopped is entered again when it goes on
// (`paused`, `go_on`).  So a walk that takes longer than any one call may take still comes to its end.
// Source: 002, algorithms 1 and 2; the trie walk of Guidance; the shortcut is ours.
// Not taken: a bit mask per byte class over the vocabulary (4 MB to combine per state).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/check.hpp"
#include "composition/loops.hpp"
#include "expression/byte_automaton.hpp"
#include "vocabulary/token_trie.hpp"

namespace tokamata {

struct TokenRange {  // in the trie's order
  std::uint32_t begin, end;
};

// What the walk needs to know of a state.  The loops stay where they are while the walk runs.
struct WalkState {
  std::span<const Loop> loops;
  bool spellable;
};

// Where a walk stands, for another walk of the same trie and automaton that goes on.  Good until states are renumbered.
struct PausedWalk {
  struct Frame {
    std::uint32_t child, end;
    StateId state;
    std::span<const Loop> loops;
  };
  std::vector<Frame> frames;
  std::vector<TokenRange> ranges;
  std::size_t nodes = 0;
};

struct NoVisit {
  void operator()(NodeId, StateId) const {}
};

// `describe(state)` gives the WalkState of a state that lives; `visit(node, state)` is called for every node that
// is not taken by a loop above it.  Where all states are spellable, which the type of `describe` says by AllSpellable,
// it is not called for leaves: their loops would be found by transitions that nothing reads.
template <class Describe, class Visit = NoVisit>
class MaskWalk {
 public:
  MaskWalk(const TokenTrie& trie, ByteAutomaton& automaton, Budget& budget, Describe describe, Visit visit = {})
      : trie_(trie), automaton_(automaton), budget_(budget), describe_(std::move(describe)), visit_(std::move(visit)) {}

  // All tokens, from the start of one.
  void run(StateId start) {
    frames_.push_back({trie_.children_begin(TokenTrie::root()), trie_.children_end(TokenTrie::root()), start,
                       describe_(start).loops});
    finish();
  }
  // The tokens whose bytes begin with those on the way to `node`, which have led to `state`.
  void enter(NodeId node, StateId state) {
    open(node, state);
    finish();
  }
  // The same, less the tokens that end at the node.
  void enter_below(NodeId node, StateId state) {
    frames_.push_back({trie_.children_begin(node), trie_.children_end(node), state, describe_(state).loops});
    finish();
  }
  // Where it stands, and to go on from there.
  PausedWalk paused() const { return {frames_, ranges_, nodes_}; }
  void go_on(PausedWalk paused) {
    frames_ = std::move(paused.frames);
    ranges_ = std::move(paused.ranges);
    nodes_ = paused.nodes;
    finish();
  }
  // What was found, in the trie's order where it was found by one call.
  const std::vector<TokenRange>& ranges() const { return ranges_; }
  // Nodes whose prefix lived and that no loop took, and those of other walks that are counted here.
  std::size_t nodes() const { return nodes_; }
  void count_node() { ++nodes_; }

 private:
  using Frame = PausedWalk::Frame;

  // A child is done once it was entered whole, so that it is entered again if that failed.
  void finish() {
    while (!frames_.empty()) {
      const std::size_t last = frames_.size() - 1;
      if (frames_[last].child == frames_[last].end) {
        frames_.pop_back();
        continue;
      }
      visit(frames_[last], NodeId{frames_[last].child});
      ++frames_[last].child;
    }
  }

  // `frame` is not touched once a new one was pushed.
  void visit(const Frame& frame, NodeId child) {
    const std::uint8_t edge = trie_.byte(child);
    const TokenTrie::Node& node = trie_.node(child);
    for (const Loop& loop : frame.loops)
      if (loop.bytes.contains(edge) && covers(loop, node, 1)) return add(node.tokens_begin, node.tokens_end);

    open(child, automaton_.next(frame.state, edge, budget_));
  }

  // The budget is asked, and states are made, before anything is noted.
  void open(NodeId child, StateId state) {
    if (state == ByteAutomaton::kDead) return;
    const TokenTrie::Node& node = trie_.node(child);
    const std::uint32_t own_end = trie_.own_end(child);
    const bool is_leaf = own_end == node.tokens_end;
    budget_.step();
    if constexpr (requires { typename Describe::AllSpellable; })
      if (is_leaf) {
        note(child, state);
        return add(node.tokens_begin, own_end);
      }
    const WalkState about = describe_(state);
    note(child, state);
    if (about.spellable) add(node.tokens_begin, own_end);
    if (is_leaf) return;
    for (const Loop& loop : about.loops)
      if (covers(loop, node, 0)) return add(own_end, node.tokens_end);
    frames_.push_back({trie_.children_begin(child), trie_.children_end(child), state, about.loops});
  }

  void note(NodeId child, StateId state) {
    ++nodes_;
    visit_(child, state);
  }

  // Whether the loop takes everything below the node, after `rounds` code points on the way to it.
  bool covers(const Loop& loop, const TokenTrie::Node& node, Count rounds) const {
    rounds = node.height < TokenTrie::kHighest ? rounds + node.height : trie_.longest();
    return rounds <= loop.rounds && trie_.below(node).is_subset_of(loop.bytes);
  }

  void add(std::uint32_t begin, std::uint32_t end) {
    if (begin == end) return;
    TOKAMATA_CHECK(begin < end && end <= trie_.order().size(), "a run of tokens is within the trie's order");
    if (!ranges_.empty() && ranges_.back().end == begin) ranges_.back().end = end;
    else ranges_.push_back({begin, end});
  }

  const TokenTrie& trie_;
  ByteAutomaton& automaton_;
  Budget& budget_;
  Describe describe_;
  Visit visit_;
  std::vector<Frame> frames_;
  std::vector<TokenRange> ranges_;
  std::size_t nodes_ = 0;
};

}  // namespace tokamata
