// A text under way: the tokens so far, and the state after each of them.
//
// Contract.
//   - `advance(t)` is true if and only if bit t of `mask()` is set; where it is false, or where a
//     call throws, nothing has changed.
//   - `rollback(n)` takes back the last n tokens that advance accepted, stop tokens included.
//   - After a stop token only stop tokens are allowed.
//   - Lifetimes.  A matcher shares its constraint and owns its steps.  A mask stays as it is, whatever becomes of the
//     matcher and of the constraint's memory.  A compaction renumbers the states in the steps; no caller sees these.
//   - Locks.  Every member but `constraint` takes the lock of the constraint, so that matchers of one constraint, or
//     one matcher, may be used from several threads.  The members named try_ never wait and never work: where the lock is
//     held, or the answer is not known, they return nothing.
//   - Errors.  A member that works may throw LimitExceeded, Cancelled or std::bad_alloc.  The work counts against
//     Limits::seconds all the same, and what it made may stay for the next call.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "matching/constraint.hpp"

namespace tokamata {

// Why a token is refused, or that it is not.
struct Explanation {
  enum class Verdict {
    Allowed,
    Padding,      // no such token; a column of the logits alone
    NotText,      // a control token, or one without bytes
    StopTooSoon,  // a stop token, where the text is not accepted
    AfterStop,    // a token that the pattern could read, after a stop token
    Byte,         // the byte at `offset` cannot come there; `expected` could
    Unspellable,  // all its bytes fit, but no tokens lead on from there to an accepted text
    // Where only the tokenizer's own tokens are admitted, and the token is none there:
    NeverMade,    // the tokenizer's model never writes it
    Merge,        // it would be joined with what stands before it, or with a part of that
    PreToken,     // the pre-tokenizer cuts the text elsewhere
    Normalizer,   // the normalizer changes the text
    AddedToken,   // the text would be cut out as an added token
    DeadEnd,      // it is one, but none that leads on to an accepted text
  };
  Verdict verdict;
  std::size_t offset = 0;  // into the bytes of the token
  ByteSet expected;        // what could come at `offset`
  std::vector<TokenId> expected_tokens = {};  // control tokens that could come in the token's place; where `offset` is 0
};

class Matcher {
 public:
  explicit Matcher(std::shared_ptr<Constraint> constraint);
  // After a context of tokens, where only canonical tokenizations are admitted.  Throws ContextNotCanonical,
  // and NotCanonical where no canonical sequence goes on from it.
  Matcher(std::shared_ptr<Constraint> constraint, std::span<const TokenId> context);
  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;
  std::unique_ptr<Matcher> fork();

  MaskPtr try_mask();  // null: not known yet, or the lock is held
  MaskPtr mask();
  // The tokens after which an accepted text of at most `tokens` - 1 more tokens exists; with
  // `count_stop` one of them is for the stop token.  Throws BudgetTooSmall where there is no such text; then
  // try_mask_within gives a mask without a bit.
  MaskPtr try_mask_within(TokenCount tokens, bool count_stop);
  MaskPtr mask_within(TokenCount tokens, bool count_stop);
  // As few tokens as possible that lead to an accepted text, without a stop token.
  std::vector<TokenId> shortest_completion();
  std::optional<bool> try_advance(TokenId token);
  bool advance(TokenId token);
  // Returns false, and does nothing, where fewer than `count` tokens were advanced.
  bool rollback(std::size_t count);

  bool is_accepting();
  bool is_finished();
  std::vector<TokenId> tokens();
  std::string text();
  std::string forced_text();
  std::vector<TokenId> forced_tokens();
  Explanation explain(TokenId token);

  const std::shared_ptr<Constraint>& constraint() const { return constraint_; }

 private:
  TokenAutomaton& automaton() { return constraint_->automaton_; }
  History& steps() { return *steps_; }
  const History& steps() const { return *steps_; }
  StateId state() const { return steps().back().state; }
  bool stopped() const { return state() == Step::kStopped; }
  TokenAutomaton::Configuration configuration() const { return {state(), has_start_rule_ && steps().size() == 1}; }
  Completions& completions() { return constraint_->completions_; }
  MaskPtr current_mask(Budget& budget);
  CanonicalAutomaton* canonical() { return constraint_->canonical_ ? &*constraint_->canonical_ : nullptr; }
  const CanonicalState& canonical_state() const { return steps().back().canonical; }
  bool accepts_here();
  std::vector<TokenId> live_controls(Budget& budget);  // the control tokens of the pattern that can come next
  std::optional<Step> next_step(TokenAutomaton::Configuration at, const CanonicalState& state, TokenId token, Budget& budget);

  std::shared_ptr<Constraint> constraint_;
  std::shared_ptr<History> steps_;
  bool has_start_rule_;
  double spent_seconds_;
};

}  // namespace tokamata
