// The byte classes of one expression: which bytes it may begin with, and which of them it does not distinguish.
//
// Problem.  A search for a shortest text takes a derivative for each byte class.  The classes of a pattern are those of
// all its parts together: 137 for JSON, whose names distinguish all of ASCII, and 256 with a bytewise pattern beside.
// Most expressions distinguish five or ten.
// How.  A derivative reads the leaves at the front of an expression and nothing else.  So two bytes that no such leaf
// distinguishes have the same derivative.  The walk is that of derivatives.cpp: on through what may be skipped.
// Example.  [0-9A-Z]{8} & ~(00.*): the classes are 0, 1 to 9, A to Z; the rest leads nowhere.
// Cost.  Linear in the leaves at the front, less than a derivative of which nothing is remembered.
#pragma once

#include <cstddef>

#include "expression/lookaround.hpp"

namespace tokamata {

// The bytes that an expression may begin with, and how they fall into classes.
struct FirstBytes {
  ByteSet bytes;    // a superset of the bytes that may follow
  ByteSet borders;  // the bytes whose derivative may differ from that by the byte below

  // One byte of each class.
  ByteSet representatives() const;
};

class FirstByteClasses {
 public:
  FirstByteClasses(const Pool& pool, const Leaves& leaves, Lookaround& lookaround)
      : pool_(pool), leaves_(leaves), lookaround_(lookaround) {}

  // Where more than `most` nodes would be looked into, every byte is a class that may lead on.
  FirstBytes of(ExpressionId expression, std::size_t most = ~std::size_t{0});

 private:
  FirstBytes front(ExpressionId expression, std::size_t& most);

  const Pool& pool_;
  const Leaves& leaves_;
  Lookaround& lookaround_;
};

}  // namespace tokamata
