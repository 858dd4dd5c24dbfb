// Which tokens the model of a tokenizer writes for one pre-token, decided token by token.
//
// A *piece state* stands for the tokens of the pre-token so far, as far as they decide what may follow.  A pre-token
// consists of one token that begins it, and of tokens that follow.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/bits.hpp"
#include "common/byte_set.hpp"
#include "common/ids.hpp"

namespace tokamata {

// States are compared by their numbers.  What is known of a state is kept as long as some copy of it, and its number is
// given to no other.
struct PieceState {
  std::uint32_t value = 0;
  std::shared_ptr<const void> held;  // null where nothing has to be kept

  constexpr PieceState() = default;
  constexpr explicit PieceState(std::uint32_t number) : value(number) {}
  PieceState(std::uint32_t number, std::shared_ptr<const void> kept) : value(number), held(std::move(kept)) {}
  friend bool operator==(const PieceState& a, const PieceState& b) { return a.value == b.value; }
  friend auto operator<=>(const PieceState& a, const PieceState& b) { return a.value <=> b.value; }
};

class Pieces {
 public:
  using State = PieceState;
  static inline constinit const State kSettled{};  // only the last token decides what may follow
  // After a state that stands for several (`projected`): whether the token may follow differs between these.
  static inline constinit const State kTied{~std::uint32_t{0} - 1};

  virtual ~Pieces() = default;
  virtual std::optional<State> begin(TokenId token) const = 0;
  // `last` is the token before `token`.
  virtual std::optional<State> follow(State state, TokenId last, TokenId token) const = 0;
  // The same without the condition on the last token.
  virtual std::optional<State> extend(State state, TokenId token) const = 0;
  // Whether the pre-token may end here.
  virtual bool may_finish(State state) const = 0;
  // Whether that is so in all states: then what lives by the border of its pre-token lives after any pieces.
  virtual bool ends_anywhere() const { return false; }
  // Whether any token may follow.
  virtual bool may_go_on(State state) const = 0;
  // Sets `words` to `all` without the tokens that may not follow `last`.  Tokens in `kept`, and tokens that follow no
  // token at all, are not examined.
  virtual void forbid(State state, TokenId last, const Words& kept, const Words& all, Words& words) const = 0;
  // The tokens that lead to kSettled: by beginning a pre-token, or by following in kSettled.
  virtual const Words& settled(bool begins) const = 0;
  // The following tokens that no merge joins with another token; empty if there are none.
  virtual const Words& apart() const { return none_; }
  // The tokens that lead on to `token` in kSettled.
  virtual Words before(TokenId token) const = 0;
  // The representative of a state, by which mask segments are kept.  States with one representative agree on
  // `may_finish` and on which tokens are live, except for tokens that `forbid` clears and those in `carried`.
  virtual State alike(State state) const { return state; }
  // A state that stands for this one and others, of which all is true that is true of it; the same state if there is
  // none.  After it, what may follow one of them and not another leads to kTied.
  virtual State projected(const State& state, TokenId) const { return state; }
  // A state after which all may follow that may follow one of those which a projected state stands for, and nothing
  // leads to kTied; the same state if there is none.  What is dead after it is dead after all of them.
  virtual State relaxed(const State& state, TokenId) const { return state; }
  // Whether any text may go on after here, whatever its pieces are.
  virtual bool is_apart(const State& state, TokenId last) const {
    return state == kSettled && !apart().empty() && has_bit(apart(), last.value);
  }
  // The bytes with which every piece begins that has them: before one of these, any text goes on after any pieces.
  virtual ByteSet only_first() const { return {}; }
  // A representative after which the same tokens may follow, with the same exceptions.
  virtual State alike_behind(State state) const { return state; }
  // The tokens that may follow and lead to another state than from `alike(state)`, from which as much is live at least.
  // `last` is the token before them.
  virtual std::vector<std::uint32_t> carried(State, TokenId) const { return {}; }
  // Whether `token` may follow `last` in kSettled, and leads to the state to which it leads from others: what was found
  // to live after `token` lives after these two.
  virtual bool leads_on(TokenId last, TokenId token) const { return follow(kSettled, last, token).has_value(); }
  // The tokens that may begin a pre-token, and those that may follow in one, as bits.
  virtual const Words& beginning() const = 0;
  virtual const Words& following() const = 0;
  virtual std::size_t memory_bytes() const = 0;

 private:
  Words none_;
};

}  // namespace tokamata
