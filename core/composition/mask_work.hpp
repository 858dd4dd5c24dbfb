// How masks came about: what was done for them, counted.
//
// Problem.  A mask takes 0.1 µs or 100 ms.  Which of the ways to make one was taken, and what did it cost?
// Example.  After `{"a": ` of a schema:  1 by segments, 9 segments found, 2 made, 310 nodes.
// How.  An automaton counts all that it does; what one mask took is the difference of two of its counts.
// Cost.  An addition for each mask, segment and walk, and the clock twice for what takes microseconds.
// Not taken.  A switch: what is always counted can be shown after the fact, and costs nothing that can be measured.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tokamata {

struct MaskWork {
  enum class Maker : std::uint8_t {
    Walk,       // a walk of the vocabulary's trie with the byte automaton
    Classes,    // by token classes
    Factors,    // loops over wide classes, which many constraints share, and a walk of what leaves them
    Segments,   // segments of terminals, and of parts of rules
    StackMemo,  // that of an expression which begins alike
    Union,      // the union of the masks of several readings
    Language,   // rules within a regular language
    Canonical,  // hypotheses of the tokenizer
  };
  static constexpr std::array<std::string_view, 8> kMakers{"walk",       "classes", "factors",  "segments",
                                                           "stack memo", "union",   "language", "canonical"};

  std::array<std::uint64_t, kMakers.size()> masks{};  // made, or found again where the maker is a memo
  std::uint64_t known = 0;                            // masks that their own state had
  std::uint64_t alike = 0;                            // that a state which is alike had
  std::uint64_t segments_found = 0, segments_made = 0;
  std::uint64_t states = 0;                                         // of the byte automaton
  std::uint64_t nodes = 0;                                          // of tries that were walked
  std::uint64_t alternatives = 0;                                   // of rules that were followed
  std::uint64_t unverified = 0;                                     // tokens that the exact state had to judge
  double seconds = 0, segment_seconds = 0, unverified_seconds = 0;  // of all, and of two parts

  void note(Maker maker) { ++masks[static_cast<std::size_t>(maker)]; }
  // What was done since an earlier count of the same automaton.
  MaskWork since(const MaskWork& before) const {
    MaskWork made = *this;
    for (std::size_t maker = 0; maker < masks.size(); ++maker) made.masks[maker] -= before.masks[maker];
    for (const auto count : {&MaskWork::known, &MaskWork::alike, &MaskWork::segments_found, &MaskWork::segments_made,
                             &MaskWork::nodes, &MaskWork::alternatives, &MaskWork::unverified})
      made.*count -= before.*count;
    made.states -= std::min(states, before.states);  // they may have been freed
    for (const auto time : {&MaskWork::seconds, &MaskWork::segment_seconds, &MaskWork::unverified_seconds})
      made.*time -= before.*time;
    return made;
  }
};

// Adds the time of its life to a count, unless one around it does so already.
class TimeOfPart {
 public:
  TimeOfPart(double& seconds, bool& is_running)
      : seconds_(seconds), is_running_(is_running), is_outermost_(!is_running) {
    if (!is_outermost_) return;
    is_running_ = true;
    begin_ = Clock::now();
  }
  ~TimeOfPart() {
    if (!is_outermost_) return;
    is_running_ = false;
    seconds_ += std::chrono::duration<double>(Clock::now() - begin_).count();
  }
  TimeOfPart(const TimeOfPart&) = delete;
  TimeOfPart& operator=(const TimeOfPart&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double& seconds_;
  bool& is_running_;
  const bool is_outermost_;
  Clock::time_point begin_;
};

// What an automaton has done for masks, which all who make them add to.
class CountedWork {
 public:
  MaskWork counts;

  TimeOfPart time_mask() { return {counts.seconds, makes_mask_}; }
  TimeOfPart time_segment() { return {counts.segment_seconds, makes_segment_}; }
  TimeOfPart time_unverified() { return {counts.unverified_seconds, judges_tokens_}; }

 private:
  bool makes_mask_ = false, makes_segment_ = false, judges_tokens_ = false;  // at present
};

}  // namespace tokamata
