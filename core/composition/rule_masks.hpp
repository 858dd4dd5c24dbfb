// Masks of states that hold rules, by their over-approximations, which many states share.
//
// Problem.  What a text has written decides what it may write much later (expression/rules.hpp), so no two states need
// be alike, though most of their masks are.
// How.  A state has the masks of its over-approximations, each made once (rule_mask_maker.hpp).  Tokens that begin with
// a text which an over-approximation refuses are taken out, as runs of the trie.  The state itself judges the tokens
// that are unverified (unverified.hpp).
// Example.  {"a": 1, "|  where any names may stand: the mask of any name, less the tokens that begin with  a" .
// Cost.  A look-up for each over-approximation, a few words for each run, and what unverified tokens cost.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "common/memory_account.hpp"
#include "composition/mask_memo.hpp"
#include "composition/mask_work.hpp"
#include "composition/mask_writer.hpp"
#include "composition/operands.hpp"
#include "composition/rule_mask_maker.hpp"
#include "composition/stack_memo.hpp"
#include "composition/token_steps.hpp"

namespace tokamata {

class RuleMasks {
 public:
  // Of what outlives it.
  RuleMasks(TokenSteps& steps, RuleWalkContext& context, RuleMaskMaker& maker, MaskMemo& memo, MaskWriter& writer);

  // The mask of a state for which Operands::has_rule_mask holds.
  const MaskPtr& of(StateId state, Budget& budget, VerifiedTokens* verified = nullptr);
  // The tokens among some that the state does not allow.
  std::vector<std::uint32_t> refused_tokens(StateId state, std::vector<std::uint32_t> unverified, Budget& budget);

  // What goes with the mask that a state holds: which tokens the exact state must judge, and the questions that lead to
  // it in the memo of stacks.
  std::vector<std::uint32_t> unverified(StateId holder) const;
  auto questions() const { return stack_memo_.questions(); }
  void note_unverified(StateId holder, std::span<const std::uint32_t> tokens);
  void note_questions(StateId holder, std::uint64_t most, std::span<const StackMemo::Question> questions);

  MaskMemo& memo() { return memo_; }
  MaskWriter& writer() { return writer_; }
  RuleWalkContext& context() { return context_; }

  // To be called when states get other numbers.
  void clear();

 private:
  struct NextControl {
    TokenId token;
    StateId target;
  };
  struct Holder {
    StateId state;             // whose mask it is
    std::uint64_t most_after;  // of the over-approximation that was given
  };

  void make(StateId state, Budget& budget, VerifiedTokens* verified);
  std::vector<NextControl> next_controls(StateId state, Budget& budget);
  Holder mask_of_approximation(ExpressionId approximation, Budget& budget, VerifiedTokens* verified);
  bool has_stack_memo(ExpressionId expression) const;
  std::optional<Holder> known_by_stack(ExpressionId expression);
  Holder united(StateId state, Budget& budget, VerifiedTokens* verified);
  // Of a mask that is held, the tokens that the exact state need not judge.
  void hand_over_held(StateId holder, VerifiedTokens& to);

  TokenSteps& steps_;
  Operands& operands_;
  const Vocabulary& vocabulary_;
  ByteAutomaton& automaton_;
  RuleWalkContext& context_;
  RuleMaskMaker& maker_;
  Beginnings& beginnings_;
  CountedWork& work_;
  MaskMemo& memo_;
  MaskWriter& writer_;
  StackMemo stack_memo_;
  // by the states whose masks are united; whose mask it is
  counted::map<counted::vector<StateId>, StateId> united_masks_;
  // by the state whose mask it is
  counted::unordered_map<std::uint32_t, counted::vector<std::uint32_t>> unverified_;
};

}  // namespace tokamata
