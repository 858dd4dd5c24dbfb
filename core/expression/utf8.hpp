// The UTF-8 encodings of a set of code points, as a minimal acyclic automaton over bytes.
//
// Problem.  Patterns speak of code points, the engine of bytes.  The class [é-ü] must become
// "C3, then A9 to BC"; the class "any code point" must refuse overlong forms and surrogates.
//
// Example.  {U+0041, U+00E9}:   0 --41--> final,  0 --C3--> 1 --A9--> final.
//
// Construction.  The code points that share a lead byte form a block of 64^k; a block is split
// by its next six bits into runs whose remainders are equal, and equal remainders share a state
// (hash-consing from the leaves up, which yields the minimal acyclic automaton directly; compare
// Daciuk et al. 2000).  Cost: linear in the number of ranges times four.
// Not taken: splitting every range into byte-range sequences and minimizing afterwards, which
// builds the large automaton first.
#pragma once

#include <cstdint>
#include <vector>

#include "common/byte_set.hpp"

namespace tokamata {

// Whether a byte of UTF-8 is not the first of its code point.
inline bool is_continuation(char byte) { return (static_cast<std::uint8_t>(byte) & 0xC0) == 0x80; }

// Inclusive, 0 to 0x10FFFF.
struct CodePointRange {
  std::uint32_t low;
  std::uint32_t high;
};

class CodePointAutomaton {
 public:
  // State numbers: 0 is the final state, `start()` the start.  The final state has no way on.
  static constexpr std::uint32_t kFinal = 0;

  struct Transition {
    std::uint8_t low;
    std::uint8_t high;
    std::uint32_t target;
    friend bool operator==(const Transition&, const Transition&) = default;
  };

  // Ranges may come in any order and overlap; surrogates and numbers past 0x10FFFF are dropped.
  explicit CodePointAutomaton(std::vector<CodePointRange> ranges);

  std::uint32_t start() const { return start_; }
  std::uint32_t state_count() const { return static_cast<std::uint32_t>(offsets_.size() - 1); }
  // The transitions of a state, in order of their bytes, disjoint.
  const Transition* begin(std::uint32_t state) const { return transitions_.data() + offsets_[state]; }
  const Transition* end(std::uint32_t state) const { return transitions_.data() + offsets_[state + 1]; }

  bool empty() const { return begin(start_) == end(start_); }

  // Bytes that stand for whole blocks: an ASCII byte in the set, or a lead byte all of whose
  // valid continuations are in it.
  const ByteSet& full_blocks() const { return full_blocks_; }

  // Equal automata accept equal sets, and the other way round.
  friend bool operator==(const CodePointAutomaton& a, const CodePointAutomaton& b) {
    return a.start_ == b.start_ && a.offsets_ == b.offsets_ && a.transitions_ == b.transitions_;
  }
  std::uint64_t hash() const { return hash_; }

 private:
  friend class CodePointAutomatonBuilder;
  std::vector<std::uint32_t> offsets_;
  std::vector<Transition> transitions_;
  std::uint32_t start_ = 0;
  ByteSet full_blocks_;
  std::uint64_t hash_ = 0;
};

}  // namespace tokamata
