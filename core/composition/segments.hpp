// What terminals do to the vocabulary (vocabulary/segment.hpp), each computed once.
//
// Problem.  A string of at most 50 characters is a terminal of its own after each of them, and so is a name that is
// none of those that an object lists; a walk of the vocabulary for each takes a millisecond, or a hundred where there
// is a pattern beside.
// How.  The segment of the same string without its bound is made once for all.  It is right for tokens of few
// characters, and those of many are not in the bounded one; what lies between is judged token by token, in the order of
// their bytes, so that what two of them begin with is read once.  Of a string that must not be some others, the segment
// with those is right for all tokens but those that lie on the way of one, or end it.
// Example.  With 7 characters to come,  [a-z]*"  is right for  wordy  and for  word",  and  wordiest  is out; of
// ,"\n\n\n\n\n" the characters are counted.  Of names but  id  and  item ,  i ,  id ,  id"  and  it  are judged.
// Cost.  A walk of the vocabulary for each terminal without a bound, or with one of few characters; a copy for each
// other.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/memory_account.hpp"
#include "composition/mask_walk.hpp"
#include "composition/mask_work.hpp"
#include "composition/operands.hpp"
#include "composition/part_at.hpp"
#include "composition/state_loops.hpp"
#include "vocabulary/segment.hpp"

namespace tokamata {

// Whoever holds a segment keeps it.  The pointer that is returned stays where it is until `clear`.
class Segments {
 public:
  // Of what outlives it.
  Segments(Operands& operands, StateLoops& loops, CountedWork& work)
      : operands_(operands),
        vocabulary_(operands.vocabulary()),
        automaton_(operands.automaton()),
        loops_(loops),
        work_(work) {}

  // The segment of a terminal that begins at a node of the trie.
  const std::shared_ptr<const Segment>& of(ExpressionId terminal, NodeId node, Follow follow, Budget& budget);
  // The same where it begins at a node of the remainders of another segment.
  const std::shared_ptr<const Segment>& within(ExpressionId terminal, const TokenTrie& remainders, NodeId node,
                                               Follow follow, Budget& budget);
  // The tokens below a node that a terminal may treat otherwise than the one without its exclusions; nothing if these
  // are more than `most`.
  std::optional<std::vector<std::uint32_t>> tokens_along(const StringBounds::WithStrings& with, NodeId from,
                                                         std::size_t most, Budget& budget);

  // To be called when states get other numbers.  Segments stay with the vocabulary.
  void clear() {
    release(known_);
    stopped_.reset();
    forget_structures();
  }

 private:
  Segment make_segment(ExpressionId terminal, NodeId node, Follow follow, Budget& budget);
  Segment walked_segment(ExpressionId terminal, const TokenTrie& trie, NodeId node, Follow follow, Budget& budget);
  std::optional<Segment> bounded_segment(ExpressionId terminal, const StringBounds::Unbounded& unbounded,
                                         Budget& budget);
  std::optional<Segment> segment_without(ExpressionId terminal, const StringBounds::WithStrings& with, NodeId node,
                                         Budget& budget);
  std::optional<Segment> judged_segment(Segment made, ExpressionId terminal, NodeId node,
                                        std::vector<std::uint32_t> judged, Budget& budget);

  // Of what a terminal is made of, as Analyses has it; good until the next call.
  std::string_view structure(ExpressionId body);
  void forget_structures();

  Operands& operands_;
  const Vocabulary& vocabulary_;
  ByteAutomaton& automaton_;
  StateLoops& loops_;
  CountedWork& work_;
  // The last walk that was stopped before its end, which the same walk goes on with.
  struct Stopped {
    PartAt at;
    PausedWalk walk;
    std::vector<TokenTrie::Place> ends;
    std::uint32_t spelled;
  };
  std::optional<Stopped> stopped_;
  // and so the tries of remainders that keys point to
  counted::unordered_map<PartAt, Kept<Segment>, PartAt::Hash> known_;
  counted::unordered_map<std::uint32_t, counted::string> structures_;  // by expression; not many bytes
  std::size_t bytes_of_structures_ = 0;
};

}  // namespace tokamata
