// Programs: regular expressions, and what is built like them, whose alternatives have an order.
//
// Problem: the language of an expression does not say which of its matches is preferred, nor which part of a text each
// of its parts has read.  The order of its alternatives says so, and its quantifiers.
//
// A program is a list of instructions.  A thread runs through it beside the text:
//
//   Accept    the end of the program, or of what a Look reads
//   Read      reads one byte of a set
//   Run       reads `low` to `high` bytes of a set, as many as possible
//   Part      reads the longest text of a leaf that lets all the rest match; `lazy`: the shortest
//   Fork      goes on after it; where that fails, at `target`; `lazy`: at `target` first
//   Jump      goes on at `target`
//   Mark      notes the position in the text under a number
//   Enter     begins a repetition whose turns are counted: none is done yet
//   Loop      begins a turn if fewer than `high` are done, and leaves to `target` if `low` are; the turn is preferred,
//             `lazy`: leaving
//   Again     one turn is done; goes back to the Loop (or, where turns are not counted, the Fork) at `target`.  A turn
//             that read nothing counts while `low` turns are not done; after that it ends the repetition (as in `re`),
//             or, `drops_empty`, is not taken (as in ECMA-262)
//   Leave     ends a repetition whose turns are counted
//   Look      goes on at `target` where what follows it up to an Accept matches from here on (`behind`: what ends
//             here), or, `negated`, where it does not.  `low`: how far back what it reads begins, if that is fixed
//   TextStart and the rest: assertions about the bytes around the position
//
// Example: `text_until("</think>") + json_schema(s)` is
//
//   0 Mark 0   1 Part until   2 Mark 1   3 Mark 2   4 Part json   5 Mark 3   6 Accept
//
// Who runs them, and which instructions each knows:
//
//   Splitter      all threads at once, in linear time; Part, Mark, counted repetitions; no Read, Run, assertions
//   Backtracker   one thread after the other, for short matches over bytes; no Part, Mark, counted repetitions
//
// src/tokamata/patterns/regex/program.py compiles expressions to programs.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "common/lengths.hpp"

namespace tokamata {

struct Instruction {
  enum class Op : std::uint8_t {
    Accept,
    Read,
    Run,
    Part,
    Fork,
    Jump,
    Mark,
    Enter,
    Loop,
    Again,
    Leave,
    Look,
    TextStart,
    TextEnd,
    LastLineEnd,  // the end of the text, or its last line break
    LineStart,
    LineEnd,
    Boundary,  // of a word
    NotBoundary,
  };

  Op op = Op::Accept;
  bool lazy = false;         // of Part, Fork and Loop
  bool behind = false;       // of Look
  bool negated = false;      // of Look
  bool drops_empty = false;  // of Again
  std::uint32_t number = 0;  // of Read and Run, the set; of Part, the leaf; of Mark, what is noted
  std::uint32_t target = 0;
  Count low = 0;  // of Run, Loop and Look
  Count high = 0;
  friend auto operator<=>(const Instruction&, const Instruction&) = default;

  bool has_target() const;
};

using Program = std::vector<Instruction>;

// What a program may use: an executor, and the operands that are there.
struct ProgramLimits {
  bool (*knows)(Instruction::Op);  // the instructions that the executor runs
  std::size_t sets = 0;
  std::size_t leaves = 0;
};
// Throws std::invalid_argument unless the executor knows every instruction, every number and target names something,
// and the end is reached.
void check(const Program& program, const ProgramLimits& limits);

}  // namespace tokamata
