// A deterministic automaton over tokens, as repairs of token sequences read it.
//
// Problem.  A repair may write any token that a state allows: 100,000 of them where a string goes on.
// How.  Tokens that lead from a state to the same state are one edge, with the least of them: no other leads to a cheaper
// repair, or to one that comes first among equals.  A token that is kept is found by its class.
// Example.  `ab?` with the tokens a, b, ab, A (which stands for `a` too): one edge 0 → 1 with `a`, for a and A.
// Each state knows the least and the most tokens to an end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/limits.hpp"

namespace tokamata {

// Contract.  State 0 is the start; every state is reached from there and leads to an accepted sequence.  Immutable once it is
// made, so any number of threads may read it.
class TokenEdges {
 public:
  // The transitions of state s are `classes` and `targets` from `offsets[s]` to `offsets[s + 1]`, each class once; the class of a
  // token without transitions is -1.  Throws std::invalid_argument if these are inconsistent.
  TokenEdges(std::span<const std::uint8_t> accepting, std::span<const std::int32_t> class_of_token, std::span<const std::int64_t> offsets,
             std::span<const std::int32_t> classes, std::span<const std::int32_t> targets, Budget& budget);

  struct Edge {
    std::uint32_t target, token;  // the least that leads there
  };
  static constexpr std::uint32_t kEndless = ~std::uint32_t{0};

  std::size_t state_count() const { return accepting_.size(); }
  std::size_t width() const { return class_of_token_.size(); }
  bool accepting(std::uint32_t state) const { return accepting_[state] != 0; }
  // Where a token leads, if it is allowed.
  std::optional<std::uint32_t> target(std::uint32_t state, std::uint32_t token) const;
  // One for each state that a token leads to, by token.
  std::span<const Edge> edges(std::uint32_t state) const {
    return {edges_.data() + edge_offsets_[state], edges_.data() + edge_offsets_[state + 1]};
  }
  // How many tokens lead to an end.
  std::uint32_t least(std::uint32_t state) const { return least_[state]; }
  std::uint32_t most(std::uint32_t state) const { return most_[state]; }  // kEndless: there is no bound

 private:
  struct Transition {
    std::int32_t token_class;
    std::uint32_t target;
  };
  void take_rows(std::span<const std::int64_t> offsets, std::span<const std::int32_t> classes, std::span<const std::int32_t> targets,
                 Budget& budget);
  void measure(Budget& budget);

  std::vector<std::uint8_t> accepting_;
  std::vector<std::int32_t> class_of_token_;
  std::vector<std::size_t> offsets_, edge_offsets_;
  std::vector<Transition> transitions_;  // of a state by class
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> least_, most_;
};

}  // namespace tokamata
