// What edits a repair may make, where it may make them, and what each of them costs.
//
// Problem.  A repair reads the broken text from left to right.  At each position it keeps a byte, inserts a byte,
// removes one, puts one in place of another, or takes a *rewrite*: a span of the text that becomes other bytes at a
// price of its own.  What an edit means depends on where it stands: `//` begins a comment between two members, and not
// within a string.
// How.  Edits are the arcs of a weighted transducer from broken texts to repaired ones.  Its states are *modes*.  A
// byte that is kept or inserted leads to a mode, and so do the bytes that a rewrite writes, unless it names the mode
// that it leads to.  Each mode has its own costs of single bytes, and a rewrite may be taken in some modes only.  A
// byte is kept for nothing, unless the mode has a price for it, or the byte is in *doubt*: it looks as if it did not
// mean itself.  Where the text is *firm*, because it looks right, edits of single bytes cost more.
// Rewrites, doubts and firm bytes belong to one text.  The caller finds them, with patterns that may look around, so
// that the search needs no patterns.
// Example.  On  {'a':1,}  the rewrites may be  1..2 → "  and  3..4 → "  (other quotes), and  6..7 → nothing (comma at
// the end).  The first leads from the mode outside of strings to that within single quotes, where the second may be
// taken.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tokamata {

using EditCost = std::uint32_t;
// Of an edit that may not be made.
inline constexpr EditCost kNoEdit = ~EditCost{0};

using ByteCosts = std::array<EditCost, 256>;

// A state of the transducer of edits.
using Mode = std::uint8_t;
using ModeSet = std::uint16_t;  // a bit for each
inline constexpr std::size_t kMostModes = 16;
inline constexpr ModeSet kAllModes = 0xFFFF;
inline constexpr Mode kStartMode = 0;

// The costs of edits of single bytes in one mode.
struct ModeCosts {
  ByteCosts prepend;  // by byte written, before the first byte of the text
  ByteCosts insert;   // by byte written, between two bytes of the text
  ByteCosts append;   // by byte written, after the last byte of the text; of the empty text too
  ByteCosts remove;   // by byte of the text
  ByteCosts replace;  // by byte written, in place of one of the text
  ByteCosts keep;     // by byte of the text

  const ByteCosts& inserting(std::size_t position, std::size_t length) const {
    return position == length ? append : position == 0 ? prepend : insert;
  }
};

// What the edits of all texts have in common.  It does not change once made.
struct EditMachine {
  using Next = std::vector<std::array<Mode, 256>>;  // by mode and byte: the mode that it leads to

  Next after;                    // a byte that is kept, or written by a rewrite
  Next inserted;                 // a byte that is inserted, or written in place of another
  std::vector<ModeCosts> costs;  // by mode

  // The modes that single bytes may lead to from some modes, and these.
  ModeSet reachable(ModeSet from) const {
    std::array<ModeSet, kMostModes> leads{};
    for (std::size_t mode = 0; mode < costs.size(); ++mode)
      for (const Next* const next : {&after, &inserted})
        for (const Mode target : (*next)[mode]) leads[mode] |= static_cast<ModeSet>(1u << target);
    for (ModeSet before = 0; before != from;) {
      before = from;
      for (std::size_t mode = 0; mode < costs.size(); ++mode)
        if ((before >> mode) & 1) from |= leads[mode];
    }
    return from;
  }
};

// Of all modes of a machine.
struct LeastCosts {
  EditCost append = kNoEdit;
  EditCost write = kNoEdit;   // a byte anywhere
  EditCost change = kNoEdit;  // an insertion or a removal that is not free

  LeastCosts() = default;
  explicit LeastCosts(const EditMachine& machine) {
    for (const ModeCosts& mode : machine.costs) {
      append = std::min(append, *std::ranges::min_element(mode.append));
      write =
          std::min({write, append, *std::ranges::min_element(mode.insert), *std::ranges::min_element(mode.prepend)});
      for (const ByteCosts* const costs : {&mode.insert, &mode.remove})
        for (const EditCost cost : *costs)
          if (cost > 0) change = std::min(change, cost);
    }
  }
};

struct Rewrite {
  static constexpr Mode kByWritten = 0xFF;  // it leads where the bytes that it writes lead

  std::uint32_t begin, end;  // the span; an empty one writes something, or leads to another mode
  std::string written;
  EditCost cost;
  ModeSet within = kAllModes;  // the modes in which it may be taken
  Mode then = kByWritten;      // the mode that it leads to

  bool may_be_taken(Mode mode) const { return (within >> mode) & 1; }
};

struct EditModel {
  std::shared_ptr<const EditMachine> machine;
  std::vector<Rewrite> rewrites;  // by their beginnings
  // By mode and position: the cost of keeping the byte; empty: there are none.
  std::vector<std::vector<EditCost>> doubts;
  // By position: what it costs more to remove or replace the byte, or to insert one before it; empty: nothing.
  std::vector<EditCost> firm;

  const ModeCosts& costs(Mode mode) const { return machine->costs[mode]; }
  EditCost firmness(std::size_t position) const { return position < firm.size() ? firm[position] : 0; }
  // kNoEdit where the byte may not be kept.
  std::uint64_t keeping(Mode mode, std::size_t position, std::uint8_t byte) const {
    const EditCost base = costs(mode).keep[byte];
    if (base == kNoEdit || mode >= doubts.size() || doubts[mode].empty()) return base;
    return std::uint64_t{base} + doubts[mode][position];
  }
  Mode after(Mode mode, std::uint8_t kept) const { return machine->after[mode][kept]; }
  Mode inserted(Mode mode, std::uint8_t written) const { return machine->inserted[mode][written]; }
  Mode after(Mode mode, const Rewrite& rewrite) const {
    if (rewrite.then != Rewrite::kByWritten) return rewrite.then;
    for (const char byte : rewrite.written) mode = after(mode, static_cast<std::uint8_t>(byte));
    return mode;
  }
};

// What one edge of the search does.  The least number comes first where two are alike.
enum class EditKind : std::uint8_t { Keep, Rewrite, Remove, Insert, Replace };

struct EditStep {
  EditKind kind;
  std::uint32_t operand;  // Insert, Replace: the byte written; Rewrite: its number
};

// With its rewrites in their order; of those that begin at one position, the order stays.
inline std::shared_ptr<const EditModel> shared_model(EditModel model) {
  if (!std::ranges::is_sorted(model.rewrites, {}, &Rewrite::begin))
    std::ranges::stable_sort(model.rewrites, {}, &Rewrite::begin);
  return std::make_shared<const EditModel>(std::move(model));
}

// The text, or the model, is not one that can be searched.
struct BadEditModel : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

}  // namespace tokamata
