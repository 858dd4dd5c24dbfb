// What tokens do to states: the steps of the composition, one token or one text at a time.
//
// Example.  [a-z]+ with the tokens  ab  and  1 : a step by  ab  leads to [a-z]*, and none by  1 .
// How.  The bytes of a token are read by the byte automaton; the state after them must be spellable
// (token_liveness.hpp), so that no step leads to a dead end.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "composition/class_trie.hpp"
#include "composition/operands.hpp"
#include "composition/token_liveness.hpp"

namespace tokamata {

class TokenSteps {
 public:
  // Of what outlives it.
  TokenSteps(Operands& operands, TokenLiveness& liveness)
      : operands_(operands), liveness_(liveness), automaton_(operands.automaton()) {}

  // The state after a token that is not a stop token; nothing if the token is not allowed.
  std::optional<StateId> step(TokenConfiguration configuration, TokenId token, Budget& budget);
  // The same from memos only; nothing if they do not suffice.
  std::optional<std::optional<StateId>> try_step(TokenConfiguration configuration, TokenId token) const;

  // How many bytes of a text are read before the state is dead, and the state after them.
  struct Reading {
    std::size_t length;
    StateId state;
  };
  Reading read(StateId state, std::string_view text, Budget& budget);
  // The bytes that lead to a live state.
  ByteSet live_bytes(StateId state, Budget& budget);

  // The longest text that every accepted continuation begins with.
  std::string forced_text(TokenConfiguration configuration, Budget& budget);

  // The token classes that the pattern distinguishes, computed at the first use.
  ClassTrie& class_trie(bool at_start);

  Operands& operands() { return operands_; }
  TokenLiveness& liveness() { return liveness_; }

  // Frees the token classes, which are computed again where they are needed.
  void clear();

 private:
  bool lives_below(NodeId node, StateId state, const TokenTrie& trie, Budget& budget);

  Operands& operands_;
  TokenLiveness& liveness_;
  ByteAutomaton& automaton_;
  std::optional<ClassTrie> class_trie_;
  std::optional<ClassTrie> start_class_trie_;
};

}  // namespace tokamata
