// The two operands of the composition: the pattern as an automaton over bytes, and the vocabulary; and what follows
// from both together before any token is followed.
//
// Example.  [a-z]+ with a vocabulary that has each letter as a token: every byte of the pattern is a token, so what
// lives over bytes can be spelled.  Without the token  q  it cannot, after a text that only  q  can end.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/ids.hpp"
#include "common/limits.hpp"
#include "expression/byte_automaton.hpp"
#include "vocabulary/vocabulary.hpp"

namespace tokamata {

// A state of the byte automaton, and whether the text is still empty.
struct TokenConfiguration {
  StateId state;
  bool at_start;
  auto operator<=>(const TokenConfiguration&) const = default;
  struct Hash {
    std::size_t operator()(TokenConfiguration configuration) const {
      return std::hash<std::uint64_t>()((std::uint64_t{configuration.state.value} << 1) | configuration.at_start);
    }
  };
};

class Operands {
 public:
  // The ids of the control tokens that a pattern names; a name may stand for any one of several.
  using ControlTokens = std::map<std::string, std::vector<TokenId>>;

  // `start_vocabulary`, unless null, has the bytes of tokens at the start of a text (Llama 2 drops a space
  // there).  Throws std::invalid_argument if the pattern names a control token that is not among
  // `control_tokens`, or that is a text token or a stop token.
  Operands(const Expression& pattern, std::shared_ptr<const Vocabulary> vocabulary,
           std::shared_ptr<const Vocabulary> start_vocabulary, const ControlTokens& control_tokens,
           const Limits& limits, std::shared_ptr<const CancelToken> cancel);

  ByteAutomaton& automaton() { return automaton_; }
  const ByteAutomaton& automaton() const { return automaton_; }
  Arena& arena() { return automaton_.arena(); }
  const Arena& arena() const { return automaton_.arena(); }
  // Whether the first token of a text may have other bytes.
  bool has_start_rule() const { return start_vocabulary_ != nullptr; }
  const Vocabulary& vocabulary() const { return *vocabulary_; }
  const Vocabulary& vocabulary(bool at_start) const { return at_start ? *start_vocabulary_ : *vocabulary_; }
  const std::shared_ptr<const Vocabulary>& shared_vocabulary(bool at_start = false) const {
    return at_start ? start_vocabulary_ : vocabulary_;
  }

  // The control tokens that the pattern names, in the order of Symbol::control.
  const std::vector<TokenId>& controls() const { return controls_; }
  std::optional<Symbol> control_symbol(TokenId token) const;
  bool uses_edges() const { return uses_edges_; }
  // The state after a token edge.
  StateId edge(StateId state, Budget& budget) {
    return uses_edges_ ? automaton_.next(state, Symbol::edge(), budget) : state;
  }

  // Whether each byte that the pattern uses is a token.
  bool every_byte_is_token() const { return every_byte_is_token_; }
  // The same, and tokens are all that it sees: what lives over bytes can be spelled byte by byte.
  bool is_spelled_by_bytes() const { return is_spelled_by_bytes_; }
  // Whether all continuation bytes are tokens of their own.
  bool has_whole_leads() const { return has_whole_leads_; }

  // Whether a state holds rules, so that its mask is computed from its over-approximation (expression/rules.hpp).
  bool has_rule_mask(StateId state) const {
    const ExpressionNode& node = automaton_.node(state);
    return node.rules && is_spelled_by_bytes_ && !node.constrained;
  }
  // The same where bytes alone are read from there, so that all that is known of rules holds.
  bool is_approximated(StateId state) const {
    return has_rule_mask(state) && (controls_.empty() || automaton_.node(state).text);
  }
  // The configuration of the over-approximation of a state.
  TokenConfiguration approximated(TokenConfiguration configuration, Budget& budget);

 private:
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::shared_ptr<const Vocabulary> start_vocabulary_;
  ByteAutomaton automaton_;
  std::vector<TokenId> controls_;
  bool uses_edges_;
  bool every_byte_is_token_;
  bool is_spelled_by_bytes_;
  bool has_whole_leads_;
};

}  // namespace tokamata
