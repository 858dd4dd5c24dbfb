// How long the texts of an expression can become, as far as its structure shows.
//
// Problem.  Whether a text of a million tokens follows is not to be found by a path of a million states.
// Examples.  [a-z]{0,1000000} counts; "{"[^"]*"}" loops;  s → "(" s ")" | "x"  nests: after "(" the rule s stands in
// front again, with ")" after it.
// How.  Two lower bounds, in bytes.
//   longest   adds, multiplies and compares the lengths of parts, a number of times that counts and is never walked.
//   repeats   reads the bytes of a path with a rule alone, as if nothing followed it.  Where the rule stands in front
//   of what
//             is left, s ⇒ w s u for the bytes w of the path: then s ⇒ wⁿ s uⁿ, so texts grow without end (the pumping lemma).
// What is constrained may have no text although its parts have, so it has no bound here.
// Cost.  `longest` once for each part; `repeats` a derivative for each byte.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/memory_account.hpp"
#include "expression/byte_automaton.hpp"

namespace tokamata {

class LongTexts {
 public:
  static constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

  explicit LongTexts(ByteAutomaton& automaton) : automaton_(automaton) {}

  // Some text has at least so many bytes.
  std::uint64_t longest(StateId state) { return length_of(automaton_.expression(state)).value_or(0); }
  // The rules with which some text of a state may begin; none where it is constrained.
  std::vector<ExpressionId> rules_in_front(StateId state) const { return rules_in_front(automaton_.expression(state)); }
  // Whether a rule stands in front of itself after these bytes.
  bool repeats(ExpressionId rule, std::string_view bytes, Budget& budget);

  void clear() { release(lengths_); }

 private:
  std::vector<ExpressionId> rules_in_front(ExpressionId expression) const;
  std::optional<std::uint64_t> length_of(ExpressionId expression);
  std::optional<std::uint64_t> made_length(ExpressionId expression);

  ByteAutomaton& automaton_;
  counted::unordered_map<std::uint32_t, std::optional<std::uint64_t>> lengths_;  // by expression
};

}  // namespace tokamata
