// Leaves in normal form: literals, classes of code points, strings, phrases, languages, control tokens.
//
// Example.  [a-zé] is an automaton over the bytes of UTF-8; é alone is two bytes, one after the other.
// How.  Automata are kept once each (leaves.hpp); a leaf is an automaton and a state of it, unless a smaller expression
// says the same.  All bytes that a pattern distinguishes are noted on the way.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "expression/forms.hpp"

namespace tokamata {

class LeafForms {
 public:
  LeafForms(Pool& pool, Leaves& leaves, Forms& forms) : pool_(pool), leaves_(leaves), forms_(forms) {}

  // The control tokens that a name stands for, any one of them; for patterns added later.  A name that is missing
  // stands for itself.
  using Aliases = std::map<std::string, std::vector<std::string>>;
  void join_control_tokens(Aliases aliases) { aliases_ = std::move(aliases); }

  // ---- parts of patterns ----

  ExpressionId literal(const std::string& bytes, Budget& budget);
  ExpressionId code_points(const std::shared_ptr<const CodePointAutomaton>& automaton) {
    return automaton_state(leaves_.add_automaton(automaton), automaton->start());
  }
  ExpressionId strings(const std::shared_ptr<const StringAutomaton>& automaton) {
    return strings_state(leaves_.add_strings(automaton), StringAutomaton::start());
  }
  ExpressionId until(const std::shared_ptr<const PhraseSearch>& search) {
    return until_state(leaves_.add_search(search), 0);
  }
  ExpressionId language(const std::shared_ptr<const LeafLanguage>& language);
  ExpressionId control_tokens(const std::string& name);
  ExpressionId one_token(const ByteSet& set);

  // ---- after some of a text ----

  // A OneToken waits for the edge where its token begins, then for a byte of it, then for more bytes or the next edge.
  enum class Phase : std::uint32_t { BeforeEdge, AtEdge, Inside };
  ExpressionId one_token(std::uint32_t set, Phase phase);
  // The derivative by a byte or a control token.
  ExpressionId derivative(const ExpressionNode& leaf, ExpressionId expression, Symbol symbol);

 private:
  ExpressionId automaton_state(std::uint32_t automaton, std::uint32_t state);
  ExpressionId strings_state(std::uint32_t automaton, std::uint32_t state);
  ExpressionId until_state(std::uint32_t search, std::uint32_t position);
  ExpressionId language_state(std::uint32_t automaton, std::uint32_t state);
  ExpressionId control_token(std::uint32_t number);
  ExpressionId after_phrase(const ExpressionNode& leaf, std::uint8_t byte);

  Pool& pool_;
  Leaves& leaves_;
  Forms& forms_;
  Aliases aliases_;
};

}  // namespace tokamata
