// Which tokens a model makes of one pre-token, decided token by token.
//
// A *piece state* says what was written of the pre-token so far, as far as it matters.  A pre-token is begun
// by one token, which others follow; `may_finish` says whether the pre-token may be whole there.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/bits.hpp"
#include "common/ids.hpp"

namespace tokamata {

class Pieces {
 public:
  using State = Id<struct PieceTag>;
  static constexpr State kSettled{0};  // nothing before the last token matters any more

  virtual ~Pieces() = default;
  virtual std::optional<State> begin(TokenId token) const = 0;
  // `last` is the token before.
  virtual std::optional<State> follow(State state, TokenId last, TokenId token) const = 0;
  // The same except for what the last token forbids.
  virtual std::optional<State> extend(State state, TokenId token) const = 0;
  virtual bool may_finish(State state) const = 0;
  // Whether any token may follow.
  virtual bool may_go_on(State state) const = 0;
  // Sets `words` to `all` except for the tokens that may not follow, of those that are not in `kept` and may follow
  // something.
  virtual void forbid(State state, TokenId last, const Words& kept, const Words& all, Words& words) const = 0;
  // The tokens that lead to kSettled, where they begin a pre-token, or else where they follow in kSettled: what may
  // follow them is decided by themselves.
  virtual const Words& settled(bool begins) const = 0;
  // Of those that follow, the ones that no merge joins with anything; empty where there are none.
  virtual const Words& apart() const { return none_; }
  // The tokens after which a token may stand in kSettled.
  virtual Words before(TokenId token) const = 0;
  // States that may finish alike and after which the same tokens live, except for those that `forbid` clears and those that are `carried`,
  // have one that stands for them: the parts of masks are kept by it.
  virtual State alike(State state) const { return state; }
  // One after which the same tokens may follow, except for those that `forbid` clears and those that are carried.
  virtual State alike_behind(State state) const { return state; }
  // The tokens that may follow, and lead elsewhere than they do from `alike(state)`.
  virtual std::vector<std::uint32_t> carried(State) const { return {}; }
  // The tokens that may begin a pre-token, and those that may follow in one, as bits.
  virtual const Words& beginning() const = 0;
  virtual const Words& following() const = 0;
  virtual std::size_t memory_bytes() const = 0;

 private:
  Words none_;
};

}  // namespace tokamata
