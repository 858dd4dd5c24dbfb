// Which states of rules that are also in a regular language are live: JSON in ASCII alone, JSON on one line.
//
// Problem.  A state of J & L holds a state of the rules J and one of the language L.  Rules keep what was written, so a
// search of its successors has no end.
// How.  By the closing text of J's state (closing_texts.hpp), made of the bytes that L can read: if L accepts it too,
// the state is live.  Where L is an *alphabet*, C* for a set C of code points, a text is in it if all its parts are.
// So a state is dead if each way through its over-approximation has a part that needs another code point: a least fixed
// point over the parts that are found first; others are taken to be live.  Otherwise a search decides.
// Example.  {"a": "x|  & ASCII: the text is  "} , which is ASCII.  With a required name  é  that must be written as it
// is, no text is.
// Cost.  A closing text, and a pass over at most kMostParts parts, each once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "common/memory_account.hpp"
#include "composition/closing_texts.hpp"
#include "composition/operands.hpp"
#include "composition/token_liveness.hpp"

namespace tokamata {

// Contract.  It is given up when the states get other numbers.
class LanguageLiveness : public CountedObject {
 public:
  // Of what outlives it.
  LanguageLiveness(Operands& operands, TokenLiveness& liveness)
      : operands_(operands), liveness_(liveness), automaton_(operands.automaton()) {}

  // Whether the state is live; nothing if it is no such state, or only a search can tell.
  std::optional<bool> lives(StateId state, Budget& budget);

  // The two states that such a state holds; nothing if it is another one.
  struct Parts {
    StateId rules, language;
  };
  std::optional<Parts> parts(StateId state, Budget& budget);
  // The same where the rules have closing texts and over-approximations.
  std::optional<Parts> approximated_parts(StateId state, Budget& budget);
  // Closing texts of rules within a language, made of the bytes that it can read.
  ClosingTexts& texts(StateId language, Budget& budget);
  bool accepts(StateId language, std::string_view text, Budget& budget);

 private:
  static constexpr std::size_t kMostParts = 1 << 9;  // of an over-approximation; the others are taken to be live

  bool has_rules(ExpressionId expression, Budget& budget);
  // Whether the language is C*, for the code points C that it can read.
  bool is_alphabet(StateId language, Budget& budget);
  bool all_lead_back(StateId from, StateId language, unsigned missing, std::uint8_t low, std::uint8_t high,
                     Budget& budget);
  bool may_live(ExpressionId root, StateId alphabet, Budget& budget);

  Operands& operands_;
  TokenLiveness& liveness_;
  ByteAutomaton& automaton_;
  counted::unordered_map<std::uint32_t, bool> alphabets_;         // by language
  counted::unordered_map<std::uint32_t, bool> has_rules_;         // by expression
  counted::unordered_map<std::uint64_t, bool> may_live_;          // by expression and alphabet
  std::map<std::uint32_t, std::unique_ptr<ClosingTexts>> texts_;  // by alphabet; 0, of none
};

}  // namespace tokamata
