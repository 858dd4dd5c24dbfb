// Distinct types for the numbers that name things, so that one cannot be passed for another.
#pragma once

#include <cstdint>
#include <functional>

namespace tokamata {

template <class Tag>
struct Id {
  std::uint32_t value = 0;

  friend bool operator==(Id, Id) = default;
  friend auto operator<=>(Id, Id) = default;
};

using ExpressionId = Id<struct ExpressionTag>;  // a normal form in an Arena
using StateId = Id<struct StateTag>;            // a state of a ByteAutomaton
using NodeId = Id<struct NodeTag>;              // a node of a TokenTrie
using TokenId = Id<struct TokenTag>;            // an entry of the vocabulary, a column of the logits

}  // namespace tokamata
