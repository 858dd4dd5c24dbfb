// What the structure of an expression says, without a derivative of it: the bytes it begins with, the bytes in it, its
// key.
//
// Contract.  Answers are functions of the language's form alone; none makes a node.  They are supersets where they say
// so, and must not be requested of what is constrained, where the structure says too little.
// Cost.  Linear in the parts read; `first_bytes_within` is kept for each part.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>

#include "common/memory_account.hpp"
#include "expression/pool.hpp"

namespace tokamata {

class Analyses {
 public:
  Analyses(const Pool& pool, const Leaves& leaves) : pool_(pool), leaves_(leaves) {}

  // The bytes that an expression can begin with; not where it is constrained.
  ByteSet first_bytes(ExpressionId expression) const;
  // First bytes of all code points that an expression may read, anywhere in it; not where it is
  // constrained.
  ByteSet first_bytes_within(ExpressionId expression);

  // All of an expression as a key: equal keys, of whichever arenas, are of one language.  Empty where it would be
  // long, or where rules, lookarounds, tokens or edges are in it.
  std::string structure(ExpressionId expression) const;

  // Offset into the pattern of the repetition that occurs most among the alternatives, or -1.
  std::int64_t blame(ExpressionId expression) const;

  // Offsets into the pattern, by the body of a repetition.
  using Positions = counted::unordered_map<std::uint32_t, std::int64_t>;
  void note_position(std::uint32_t body, std::int64_t position) { positions_.try_emplace(body, position); }
  void note_same_position(std::uint32_t body, std::uint32_t other);
  Positions positions_after(std::span<const ExpressionId> moved, ExpressionId gone) const;
  void forget(Positions positions) {
    release(first_bytes_);
    positions_ = std::move(positions);
  }

 private:
  bool append_structure(ExpressionId expression, std::string& key) const;

  const Pool& pool_;
  const Leaves& leaves_;
  counted::unordered_map<std::uint32_t, ByteSet> first_bytes_;
  Positions positions_;
};

}  // namespace tokamata
