// A set of numbers as a deterministic automaton over the bytes of their spellings, made lazily.
//
// Problem.  Which bytes may follow what a model has written of a number, without dead ends: a byte leads to a
// state only if some number of the set is spelled so.
// Example.  Integers from 12 to 115: after 1 may come 0, 1, …, 9, but not the end; after 11 there may come 0, …, 5
// or the end; after 2 a digit must come, and after 20 nothing.
// How.  States (number_states.hpp) are numbered when a byte first leads to them, and rows of transitions are filled
// when they are read.  How many bytes a state is away from an accepted text is arithmetic as well (number_rests.hpp).
// Not taken: intersections of one automaton for each bound and the modulus, whose dead ends only a search
// finds, through as many states as the modulus is large.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>

#include "common/byte_set.hpp"
#include "common/memory_account.hpp"
#include "json/number_rests.hpp"

namespace tokamata::json {

class NumberAutomaton final : public LeafAutomaton {
 public:
  explicit NumberAutomaton(std::shared_ptr<const NumberSet> set);

  const NumberSet& set() const { return numbers_.set(); }
  // kDead where the set is empty.
  std::uint32_t start() const override { return start_; }
  std::uint32_t step(std::uint32_t state, std::uint8_t byte) override;
  bool accepting(std::uint32_t state) const override { return accepting_[state]; }
  // The bytes that lead on.
  ByteSet next_bytes(std::uint32_t state) override;

  // How many bytes a shortest text from here to acceptance has, and the text.  Not of kDead.
  std::uint32_t distance(std::uint32_t state) override;
  std::string shortest(std::uint32_t state);
  // No state is further away from acceptance.
  std::uint32_t most_missing() const override;

  // The bytes that its texts are made of; of these, the ones that a shortest text may need.
  ByteSet bytes() const override;
  ByteSet needed_bytes() const override;
  ByteSet lone_bytes() const override;
  // Whether no state distinguishes the digits 1 to 9.
  bool has_equal_digits() const;

  // Equal for equal states of equal sets, in whichever automata.
  std::string key(std::uint32_t state) const override;
  std::unique_ptr<LeafAutomaton> anew() const override {
    return std::make_unique<NumberAutomaton>(numbers_.shared_set());
  }
  std::uint32_t adopt(const LeafAutomaton& other, std::uint32_t state) override {
    return intern(static_cast<const NumberAutomaton&>(other).states_[state]);
  }

  std::size_t state_count() const { return states_.size(); }

 private:
  static constexpr std::size_t kSymbols = 16;  // ten digits, - + . e E, and all else
  static constexpr std::uint32_t kUnknown = ~std::uint32_t{0};

  std::uint32_t intern(const NumberState& state);
  std::uint32_t settled(NumberState state);
  std::uint32_t measured(std::uint32_t state);

  NumberStates numbers_;
  NumberRests rests_{numbers_};
  counted::map<NumberState, std::uint32_t> index_;
  counted::vector<NumberState> states_;
  counted::vector<std::array<std::uint32_t, kSymbols>> rows_;
  counted::vector<bool> accepting_;
  counted::vector<std::uint32_t> distances_;
  std::uint32_t start_ = kDead;
};

}  // namespace tokamata::json
