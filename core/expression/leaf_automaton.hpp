// A regular language that brings an automaton of its own, as a leaf of expressions.
//
// Problem.  Some sets of texts have small automata that no small expression describes: the multiples of 0.01 between
// two bounds, say.  As a union of classes they would be thousands of alternatives.
// How.  The engine sees such a set through two interfaces.  A LeafLanguage is what a pattern holds: immutable, shared
// by threads.  A LeafAutomaton is what one arena makes of it: deterministic over bytes, its states made as they are
// requested.  An expression is then a language and a state.
//
// Contract of the automaton.
//   - Every state but kDead leads to acceptance: a byte that leads nowhere leads to kDead.
//   - All texts are valid UTF-8.
//   - Equal states of equal languages have equal keys, in whichever automata; distinct languages have distinct keys.
// Example.  Implementation: json/number_automaton.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "common/byte_set.hpp"
#include "common/memory_account.hpp"

namespace tokamata {

class LeafAutomaton : public CountedObject {
 public:
  static constexpr std::uint32_t kDead = 0;

  LeafAutomaton() = default;
  LeafAutomaton(const LeafAutomaton&) = delete;
  LeafAutomaton& operator=(const LeafAutomaton&) = delete;
  virtual ~LeafAutomaton() = default;

  // kDead where the language is empty.
  virtual std::uint32_t start() const = 0;
  virtual std::uint32_t step(std::uint32_t state, std::uint8_t byte) = 0;
  virtual bool accepting(std::uint32_t state) const = 0;
  // The bytes that do not lead to kDead.
  virtual ByteSet next_bytes(std::uint32_t state) = 0;
  // How many bytes a shortest text from here to acceptance has.  Not of kDead.
  virtual std::uint32_t distance(std::uint32_t state) = 0;
  // No state is further away from acceptance.
  virtual std::uint32_t most_missing() const = 0;

  // The bytes of its texts; of these, the ones that a shortest text may need, and the ones that may lead elsewhere than
  // the bytes beside them.
  virtual ByteSet bytes() const = 0;
  virtual ByteSet needed_bytes() const = 0;
  virtual ByteSet lone_bytes() const = 0;

  virtual std::string key(std::uint32_t state) const = 0;
  // An automaton of the same language with no state but the first ones; and a state of such a one, in this one.
  virtual std::unique_ptr<LeafAutomaton> anew() const = 0;
  virtual std::uint32_t adopt(const LeafAutomaton& other, std::uint32_t state) = 0;
};

class LeafLanguage {
 public:
  LeafLanguage() = default;
  virtual ~LeafLanguage() = default;
  virtual std::unique_ptr<LeafAutomaton> make_automaton() const = 0;
  // Equal for equal languages alone, of whichever implementation.
  virtual const std::string& key() const = 0;

 protected:
  LeafLanguage(const LeafLanguage&) = default;
  LeafLanguage& operator=(const LeafLanguage&) = default;
};

}  // namespace tokamata
