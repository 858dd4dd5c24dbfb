// A finite set of strings as an explicit automaton: one of many strings, or any part of a long one.
//
// Problem.  A choice of 100,000 strings as a union would be 100,000 alternatives to derive at every
// byte; the substrings of a text of n bytes are n² / 2 strings.  Both have small automata.
// Example.  {ab, ac}:   0 --a--> 1,  1 --b--> 2,  1 --c--> 3;  2 and 3 accept.
//           Substrings of "aab":   0 --a--> 1 --a--> 2 --b--> 3,  1 --b--> 3,  0 --b--> 3;  all accept.
// Source.  A trie; the suffix automaton, Blumer et al. 1985 (at most 2n states, 3n transitions).
// Cost.  Choice: a sort, and linear in the bytes.  Substrings: linear times the alphabet at worst,
// since the transitions of a state are a list while they are made.
// Not taken: the minimal automaton of a choice; it saves masks that are equal, and costs more than
// the trie as a whole.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/limits.hpp"
#include "common/memory_account.hpp"

namespace tokamata {

class StringAutomaton {
 public:
  struct Transition {
    std::uint8_t byte;
    std::uint32_t target;
  };

  // Strings in any order, doubles too.
  static std::shared_ptr<const StringAutomaton> of_strings(std::vector<std::string_view> strings);
  // All substrings of a UTF-8 text that begin and end between two code points, the empty one too.  Refuses beforehand
  // what takes more memory than the limits allow.
  static std::shared_ptr<const StringAutomaton> of_substrings(std::string_view text, Budget& budget);

  // An automaton as it is: the transitions of state i end before offsets[i + 1].  For what stays below.
  static std::shared_ptr<const StringAutomaton> of_transitions(std::vector<std::uint32_t> offsets,
                                                               std::vector<Transition> transitions,
                                                               std::vector<bool> accepting);

  static constexpr std::uint32_t start() { return 0; }
  std::uint32_t state_count() const { return static_cast<std::uint32_t>(offsets_.size() - 1); }
  bool accepting(std::uint32_t state) const { return accepting_[state]; }
  std::size_t memory_bytes() const {
    return shared_block_bytes<StringAutomaton>() + block_bytes_of(transitions_) + block_bytes_of(offsets_) +
           block_bytes_of(ends_) + block_bytes(accepting_.capacity() / 8) + block_bytes(text_.capacity());
  }
  // In the order of their bytes.  Targets have greater numbers than their sources.
  std::span<const Transition> transitions(std::uint32_t state) const {
    return {transitions_.data() + offsets_[state], transitions_.data() + offsets_[state + 1]};
  }

  // Of substrings: what follows the first place in the text where those stand that lead to the state.
  std::optional<std::string_view> continuation(std::uint32_t state) const {
    return ends_.empty() ? std::nullopt : std::optional(std::string_view(text_).substr(ends_[state]));
  }

 private:
  bool is_in_order() const;

  std::vector<std::uint32_t> offsets_;
  std::vector<Transition> transitions_;
  std::vector<bool> accepting_;
  std::string text_;                 // of substrings
  std::vector<std::uint32_t> ends_;  // by state: where its first place in the text ends
};

}  // namespace tokamata
