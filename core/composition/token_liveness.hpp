// Which states can still be finished in tokens.
//
// Problem.  A state may be alive over bytes and dead over tokens: with the tokens {ab, c} the
// pattern `ab|ad` allows no token that begins `ad`, and `abd` cannot be finished after ab.
// A mask must not lead there.
// Example.  Tokens {aa, b}: in `a*b` every state is spellable; in `(aa)*ab` none is.
// How.  A state that accepts, or accepts a text of bytes that are tokens of their own, is
// spellable (a flag that the expression carries).  Otherwise its successors are searched until one
// is found that is, first those with the least sum of the steps so far and the least that is still
// needed; if none is, everything reached is dead for good.  In `[a-z ]{20,30}` & the parts of a text
// that goes straight to some part of 20 letters; breadth first it would list all shorter ones.
// Where all bytes of the pattern are tokens, as with every byte-level tokenizer, and no edges of
// tokens are used, successors by bytes give the same answer as successors by tokens.
// States of listed rules within a regular language may be no end of them.  A search that finds nothing soon leaves it
// to expression/rule_products.hpp; mostly it does, and a limit on the length of a text has many states to be measured.
// Cost.  Nothing for patterns without intersection, complement and lookaround where all bytes are
// tokens; a row of transitions per state searched where they are; a walk of the trie per state
// elsewhere; each once.
// Not taken: deciding it on bytes alone, which is wrong as soon as a byte is missing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "composition/operands.hpp"
#include "composition/state_table.hpp"

namespace tokamata {

class LanguageLiveness;

// A state is spellable if tokens lead from it to an accepted text.
class TokenLiveness {
 public:
  // Of operands that outlive it.
  explicit TokenLiveness(Operands& operands);
  ~TokenLiveness();

  // Whether some accepted text can be reached in tokens from a state after an edge.
  bool spellable(StateId state, Budget& budget);
  // The same for a text that may be empty still.
  bool spellable(TokenConfiguration configuration, Budget& budget);
  // The same as far as it is known; it computes nothing.
  std::optional<bool> is_known_spellable(StateId state) const;
  // Whether bytes that follow may complete a token of an accepted text: false only where no text follows.
  bool lives(StateId state, Budget& budget);
  // Whether the pattern surely accepts no text at all, whatever the vocabulary can spell.
  bool is_empty(Budget& budget);

  // Bounds on the number of tokens to an accepted text, without a search.
  static constexpr std::uint64_t kEndless = ~std::uint64_t{0};
  struct Room {
    std::uint64_t at_least, at_most;
  };
  Room room(StateId state) const;
  // Notes that so many tokens suffice.
  void note_at_most(StateId state, std::uint64_t tokens) {
    known_[state].at_most = std::min(known_[state].at_most, tokens);
  }
  // A length where sums of lengths end may stand for any that is longer.
  static std::uint64_t endless_if_capped(std::uint32_t length) {
    return length + 1 >= ExpressionNode::kUnspelled ? kEndless : length;
  }

  // What is known of states of rules within a regular language; made at the first use.
  LanguageLiveness& in_languages();

  // To be called before states get other numbers.
  void clear();

 private:
  enum class Spelling : std::uint8_t { Unknown, Yes, No };
  struct Known {
    Spelling spelling = Spelling::Unknown;
    std::uint64_t at_most = kEndless;  // tokens to an accepted text, where a search has met this state
  };

  bool lives_along_text(StateId state, Budget& budget);
  std::optional<bool> lives_in_language(StateId state, Budget& budget);
  std::optional<bool> measured_spelling(StateId state, Budget& budget);
  bool search_spelling(StateId state, Budget& budget);
  std::vector<StateId> successors(StateId state, Budget& budget);
  std::vector<StateId> token_targets(StateId state, const TokenTrie& trie, Budget& budget);

  Operands& operands_;
  ByteAutomaton& automaton_;
  StateTable<Known> known_;
  std::unique_ptr<LanguageLiveness> in_languages_;
};

}  // namespace tokamata
