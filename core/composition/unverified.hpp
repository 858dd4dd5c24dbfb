// Unverified tokens of a mask, judged by the state itself.
//
// Problem.  The mask of an over-approximation leaves some tokens unverified (expression/rules.hpp).  Most of them close
// a name that an object does not declare, and go on: `":`, `": "`, `": {"` and 165 others of Llama 3.1's.  A derivative
// for each byte of each would take 0.7 ms, at every state within such a name.
// How.  Tokens are judged in the order of their bytes, so that bytes which several share are read once.  Where the
// state that was reached keeps nothing byte by byte any more (the name has ended), or where many tokens go on, its own
// over-approximations judge all that follows: a mask is made of them, below that node of the trie alone.  What is
// unverified in this mask is judged in turn.
// Example.  {"x-a|  with tokens  ":  ": "  ": {  b":  : two derivatives by `"` and `b"`; the mask of  :value,…  is made
// below the node of `"`, and the one token below `b"` is read by its bytes.
// Cost.  A derivative for each prefix in front of such a node, and there a mask of what tokens go on with.
// Not taken: the masks kept by the state reached and the node.  What a text has written is in that state, so that few
// are met twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "composition/mask_walk.hpp"
#include "composition/operands.hpp"
#include "composition/rule_mask_maker.hpp"
#include "composition/token_liveness.hpp"

namespace tokamata {

class UnverifiedTokens {
 public:
  // Tokens of a state for which Operands::has_rule_mask holds, or of one that holds rules within a language.
  UnverifiedTokens(TokenLiveness& liveness, Operands& operands, RuleMaskMaker& maker, std::vector<std::uint32_t> tokens,
                   Budget& budget);

  // Those among them that the state does not allow.
  std::vector<std::uint32_t> refused_by(StateId state) &&;

 private:
  static constexpr std::size_t kFewForMask = 4;  // cheaper by their bytes than by a mask
  // worth a mask at a state that has no other token in common with it
  static constexpr std::size_t kManyForMask = 64;

  // The tokens from `begin` to `end` begin with the same bytes, so many as `depth`, which lead to the state.
  struct Group {
    StateId state;
    std::size_t begin, end, depth;
    bool is_by_bytes;  // no mask is made of this state
  };

  std::string_view text(std::uint32_t token) const { return operands_.vocabulary().bytes({token}); }
  void judge(Group group);
  std::size_t judge_ended(const Group& group);
  bool is_worth_a_mask(const Group& group);
  void judge_by_mask(Group& group);
  std::vector<std::uint32_t> in_order(const std::vector<TokenRange>& ranges) const;

  TokenLiveness& liveness_;
  Operands& operands_;
  ByteAutomaton& automaton_;
  RuleMaskMaker& maker_;
  Budget& budget_;
  std::vector<std::uint32_t> tokens_, refused_;
  std::vector<Group> open_;
};

}  // namespace tokamata
