// Why a token is refused, and what may follow instead.
#pragma once

#include <string>
#include <vector>

#include "following/follower.hpp"

namespace tokamata {

struct Explanation {
  Verdict verdict;
  std::size_t offset = 0;  // into the bytes of the token
  ByteSet expected;        // what could come at `offset`
  // control tokens that may stand here instead; empty unless `offset` is 0
  std::vector<TokenId> expected_tokens = {};
  // at `offset`: strings that must come before all others, such as required names
  std::vector<std::string> awaited = {};
};

// Explains what `follower` says of tokens; `pattern` is what it follows.
class Explainer {
 public:
  Explainer(Follower& follower, TokenAutomaton& pattern, const Place& place, Budget& budget)
      : follower_(follower), pattern_(pattern), place_(place), budget_(budget) {}

  Explanation stop_token();
  // Of a token that is no stop token.
  Explanation token(TokenId token);

 private:
  bool follows(TokenId token) { return follower_.step(place_, token, budget_).has_value(); }
  std::vector<TokenId> live_controls();  // the control tokens of the pattern that may follow

  Follower& follower_;
  TokenAutomaton& pattern_;
  const Place place_;
  Budget& budget_;
};

}  // namespace tokamata
