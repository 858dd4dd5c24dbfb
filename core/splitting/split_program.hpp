// What says to a splitter which parts a text has, in which order, and which of several ways to cut it is preferred.
//
// A program is a list of instructions, as of a Pike VM; a thread runs through it beside the text:
//
//   Part      reads the longest text of a leaf that lets all the rest match; `lazy`: the shortest
//   Fork      goes on after it; where that fails, at `target`
//   Jump      goes on at `target`
//   Mark      notes the position in the text under a number
//   Enter     begins a repetition: no turn is done yet
//   Loop      begins a turn if fewer than `high` are done, and leaves to `target` if `low` are; the turn is preferred,
//             `lazy`: leaving
//   Again     one turn is done; goes back to the Loop at `target`.  A turn that read nothing counts while `low` turns
//   are
//             not done; after that it ends the repetition (as in `re`), or, `drops_empty`, is not taken (as in ECMA-262)
//   Leave     ends a repetition
//   Look      goes on where the program at `target` accepts a text from here on (`behind`: one that ends here), or,
//             `negated`, where it accepts none
//   Accept    the end
//
// Example: `text_until("</think>") + json_schema(s)` is
//
//   0 Mark 0   1 Part until   2 Mark 1   3 Mark 2   4 Part json   5 Mark 3   6 Accept
#pragma once

#include <cstdint>
#include <vector>

#include "expression/expression.hpp"

namespace tokamata {

struct SplitInstruction {
  enum class Op : std::uint8_t { Part, Fork, Jump, Mark, Enter, Loop, Again, Leave, Look, Accept };

  Op op = Op::Accept;
  bool lazy = false;         // of Part and Loop
  bool behind = false;       // of Look
  bool negated = false;      // of Look
  bool drops_empty = false;  // of Again
  std::uint32_t number = 0;  // of a Part, the leaf; of a Mark, what is noted
  std::uint32_t target = 0;
  Count low = 0;  // of a Loop
  Count high = 0;
};

struct SplitProgram {
  std::vector<ExpressionPtr> leaves;
  std::vector<SplitInstruction> code;

  // Throws std::invalid_argument unless every number names something and the end is reached.
  void check() const;
};

}  // namespace tokamata
