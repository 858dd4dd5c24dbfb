// Masks of rules that are also in a regular language: JSON in ASCII alone, JSON on one line.
//
// Problem.  A state of J & L holds a state of the rules J and one of the language L.  Rules keep what was written, so
// that a walk of the vocabulary makes a state of each byte of each token: a million of them, for one mask.
// How.  The mask of J is known (rule_masks.hpp), and what L does to each token is found by one walk, which many states
// share.  A token that both allow is allowed if one text ends both.  That of J is its closing text (closing_texts.hpp),
// and rule_endings.hpp gives it for all tokens at once.  So with s a state of J, and q one of L:
//      a token t is allowed if  J allows it at s,  and  L reads  t · c  from q,  where c is the closing text after s ·
//      t
// Closing texts are made of the bytes that L can read, so that few are in vain.  Where that text is one of an
// over-approximation alone, the state itself reads it.  Tokens that are left, since L refuses their closing text, are
// judged along their bytes.
// Example.  {"a": "x|  & ASCII: after  y  the text is  "} , after  é  there is none; all tokens but those are allowed
// at once.
// Cost.  That of a mask, of the endings, and a walk of the vocabulary for each state of L, of which an alphabet has one
// and some inside of code points.  Rejected: the restriction put into each string of the rules (it is one of texts, and
// the rules know values; a language that counts or looks for a word is none of strings).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/bounded_memo.hpp"
#include "common/memory_account.hpp"
#include "composition/language_liveness.hpp"
#include "composition/rule_endings.hpp"
#include "composition/rule_masks.hpp"

namespace tokamata {

// Contract.  It is given up when the states get other numbers.
class LanguageMasks : public CountedObject {
 public:
  // Of what outlives it.
  LanguageMasks(TokenSteps& steps, RuleMasks& rule_masks);

  // The state whose mask a state has, which is known now; nothing if it is no such state, or the mask is to be made by
  // a walk.
  std::optional<StateId> mask_state(StateId state, Budget& budget);

 private:
  static constexpr std::size_t kMostTargets = 250;   // states of the language after one token
  static constexpr std::size_t kMostRead = 1 << 12;  // tokens whose closing text is read by the state itself
  static constexpr std::size_t kMostJudged = 256;    // tokens of which it is asked how much they leave to be written

  // Where each token leads in the language: its number among the states, from 1 on; 0 if to none that lives.
  struct Targets {
    std::vector<StateId> states;
    std::vector<std::uint8_t> of_token;
    std::size_t memory_bytes() const {
      return shared_block_bytes<Targets>() + block_bytes_of(states) + block_bytes_of(of_token);
    }
  };
  struct Shared {
    StateId of_rules, approximation, language;
    auto operator<=>(const Shared&) const = default;
  };

  std::shared_ptr<const Targets> targets(StateId language, Budget& budget);
  RuleEndings& endings(ClosingTexts& texts);

  TokenSteps& steps_;
  Operands& operands_;
  ByteAutomaton& automaton_;
  LanguageLiveness& languages_;
  RuleMasks& rule_masks_;
  counted::unordered_map<std::uint32_t, bool> has_many_targets_;  // languages
  static constexpr std::size_t kMostLanguages = 64;
  BoundedMemo<counted::unordered_map<StateId, Kept<Targets>>> targets_{kMostLanguages};
  counted::map<Shared, StateId> shared_;                                 // whose mask it is
  std::map<const ClosingTexts*, std::unique_ptr<RuleEndings>> endings_;  // by their texts
};

}  // namespace tokamata
