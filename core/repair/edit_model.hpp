// What edits a repair may make, and what each of them costs.
//
// A repair reads the broken text from left to right.  At each position it keeps a byte, inserts a byte, removes one, puts one
// in place of another, or takes a *rewrite*: a span of the text that becomes other bytes at a price of its own.  A byte is
// kept for nothing, unless it is in *doubt*: it looks as if it did not mean itself.
// Where the text is *firm*, because it looks right, edits of single bytes cost more.
// Rewrites, doubts and firm bytes belong to one text.  Who asks for a repair finds them, with patterns that may look around, so that the
// search needs no patterns.
// Example.  On  {'a':1,}  the rewrites may be  1..2 → "  and  3..4 → "  (other quotes), and  6..7 → nothing (comma at the end).
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace tokamata {

using EditCost = std::uint32_t;
// Of an edit that may not be made.
inline constexpr EditCost kNoEdit = ~EditCost{0};

using ByteCosts = std::array<EditCost, 256>;

struct Rewrite {
  std::uint32_t begin, end;  // the span, not empty
  std::string written;
  EditCost cost;
};

struct EditModel {
  ByteCosts prepend;  // by byte written, before the first byte of the text
  ByteCosts insert;   // by byte written, between two bytes of the text
  ByteCosts append;   // by byte written, after the last byte of the text; of the empty text too
  ByteCosts remove;   // by byte of the text
  ByteCosts replace;  // by byte written, in place of one of the text
  std::vector<Rewrite> rewrites;
  std::vector<EditCost> doubts;  // by position: the cost of keeping the byte; empty: there are none
  // By position: what it costs more to remove or replace the byte, or to insert one before it; empty: nothing.
  std::vector<EditCost> firm;

  EditCost firmness(std::size_t position) const { return position < firm.size() ? firm[position] : 0; }
  EditCost keeping(std::size_t position) const { return doubts.empty() ? 0 : doubts[position]; }
  const ByteCosts& inserting(std::size_t position, std::size_t length) const {
    return position == length ? append : position == 0 ? prepend : insert;
  }
};

// What one edge of the search does.  The least number comes first where two are alike.
enum class EditKind : std::uint8_t { Keep, Rewrite, Remove, Insert, Replace };

struct EditStep {
  EditKind kind;
  std::uint32_t operand;  // Insert, Replace: the byte written; Rewrite: its number
};

// The text, or the model, is not one that can be searched.
struct BadEditModel : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

}  // namespace tokamata
