// What a matcher follows: the contract between a matcher and the automata that decide which tokens may come next.
//
// Problem.  A constraint may be followed with any tokenization or with the tokenizer's own, with a least number of
// tokens, and through a thought that has a bound.  Masks, budgets, drafts, forced text and explanations are wanted in
// each case, and in each combination.
// How.  A follower answers for a *place* of a text: a configuration of the pattern, and what else the tokens before it
// have decided.  Two followers compose the pattern with a vocabulary:
//   PlainFollower      any tokenization (composition/token_automaton.hpp);
//   CanonicalFollower  the tokenizer's own (canonical/canonical_automaton.hpp).
// Two more narrow another follower:
//   AtLeastFollower    texts of at least so many tokens;
//   ThinkingFollower   leaves room for the answer while the thought is open.
// Whatever concerns all of them is written once, over this contract: steps, drafts and preparation (matching/),
// explanations, the closed form, and forced text.
// Example.  `min_tokens` with a thought: ThinkingFollower → AtLeastFollower → PlainFollower.  A mask in the thought is
// that of the second one within the room that the first one leaves.
// Cost.  A virtual call for each question.  Rejected: templates, which compile all of matching/ twice, and a pointer
// that is null without canonical tokenization, which each member of the matcher had to ask for.
//
// Contract.
//   - The mask of a place has a bit for each token that `step` follows, and for the vocabulary's stop tokens if the
//     place is accepted.  Stop tokens are steps of the matcher and not of a follower.
//   - `left` is the number of tokens that may still come; kNoTokens: any number.  Then a mask has the tokens after
//     which left - 1 more complete an accepted text.
//   - Members whose names begin with `known` compute nothing: null means that the answer is not known.
//   - Locks.  None: one thread at a time, which holds the lock of the constraint; `start` and `oldest_serial` need
//     none.
//   - Errors.  A member with a Budget may end with LimitExceeded, Cancelled or std::bad_alloc, and may be called again.
//   - A Place refers to a step, and is good for as long as that is.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "canonical/tokenization.hpp"
#include "composition/long_completions.hpp"
#include "composition/token_automaton.hpp"
#include "following/thought.hpp"

namespace tokamata {

// One step of a text: a token, and the state after it.  The first step stands for the empty text and has no token.
struct Step {
  static constexpr StateId kStopped{~std::uint32_t{0}};  // after a stop token

  TokenId token;
  StateId state;                      // of the pattern
  CanonicalState canonical = {};      // of the tokenizer, with canonical tokenization
  StateId thought = Thought::kEnded;  // also where there is none
};

// Where a text stands.
struct Place {
  TokenAutomaton::Configuration at;
  const CanonicalState& canonical;
  StateId thought;
  TokenCount written;  // tokens before it

  static Place after(const Step& step, TokenCount written, bool at_start = false) {
    return {{step.state, at_start}, step.canonical, step.thought, written};
  }
  bool is_stopped() const { return at.state == Step::kStopped; }
  bool thinks() const { return thought != Thought::kEnded; }
};

// Why a token is refused, or Allowed.
enum class Verdict {
  Allowed,
  Padding,      // the vocabulary has no such token, only the logits have a column for it
  NotText,      // a control token, or a token without bytes
  StopTooSoon,  // a stop token, but the text is not accepted yet
  AfterStop,    // a token that the pattern allows, but after a stop token
  Byte,         // a byte may not follow
  Unspellable,  // all its bytes may follow, but no tokens lead from there to an accepted text
  // With canonical tokenization:
  NeverMade,   // the tokenizer's model never writes it
  Merge,       // the tokenizer would merge it with the token before it, or with a part of that token
  PreToken,    // the pre-tokenizer splits the text elsewhere
  Normalizer,  // the normalizer changes the text
  AddedToken,  // the text would become an added token
  DeadEnd,     // it is canonical, but no canonical sequence continues to an accepted text
  // With a least number of tokens:
  TooShort,  // the pattern allows it, but no text that is long enough continues with it
  // With a bound on the thought:
  TooMuchThought,  // the thought could not end in time
};

// The transitions of a whole automaton.  Tokens of one class lead alike from every place.
class Transitions {
 public:
  using Visit = std::function<void(Step, std::span<const std::int32_t> classes)>;

  virtual ~Transitions() = default;
  virtual void visit(const Place& place, Budget& budget, const Visit& visit) = 0;
  // By token, after all places were visited; -1 for tokens that lead nowhere.
  virtual std::vector<std::int32_t> class_of_token() && = 0;
};

class Follower {
 public:
  Follower() = default;
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;
  virtual ~Follower() = default;

  struct Start {
    CanonicalState canonical;
    bool at_start;  // the first token may have other bytes than in the middle of a text
  };
  // What a context of tokens leads to, which matters to a tokenizer.  Needs no lock.  Throws ContextNotCanonical.
  virtual Start start(std::span<const TokenId> context) const = 0;
  // The step for the empty text, after a start.
  virtual Step first_step(CanonicalState canonical) const = 0;
  // Whether some text may begin, at the start or after some context.
  virtual bool may_begin(Budget& budget) = 0;
  // Whether `may_begin` shows that a text begins after every context, so that nothing is left to ask at a start.
  virtual bool begins_everywhere() const = 0;

  virtual MaskPtr known_mask(const Place& place, TokenCount left) const = 0;
  // Where it is left by an error, `verified` has tokens of the mask, if that is not null (verified_tokens.hpp).
  virtual MaskPtr mask(const Place& place, TokenCount left, Budget& budget, VerifiedTokens* verified = nullptr) = 0;
  // A token of that mask, the first of a text that completes this one, found sooner than the mask; nothing where the
  // text may end here, or where none is known that is short enough.  `is_of_text`: as for Completions.
  virtual std::optional<TokenId> closing_token(const Place& place, TokenCount left, bool is_of_text,
                                               Budget& budget) = 0;
  // Whether it is known that the mask within `left` tokens is the one without a budget; the second one computes that
  // mask, which may show it.
  virtual bool is_known_ample(const Place&, TokenCount) const { return false; }
  virtual bool is_ample(const Place&, TokenCount, Budget&) { return false; }

  // Where a token that is no stop token leads, if it is allowed.
  virtual std::optional<Step> step(const Place& place, TokenId token, Budget& budget) = 0;
  // The same; the outer optional is null where it is not known.
  virtual std::optional<std::optional<Step>> known_step(const Place& place, TokenId token) const = 0;
  // Where a token leads that is written already, in whatever tokenization: the pattern goes on, and the canonical state
  // stays what it is.
  virtual std::optional<Step> written_step(const Place& place, TokenId token, Budget& budget) = 0;
  // Why `step` follows no token whose text the pattern allows.
  virtual Verdict refusal(const Place& place, TokenId token) const = 0;

  virtual bool accepts(const Place& place) const = 0;
  // Whether some sequence of tokens continues to an accepted text.
  virtual bool lives(const Place& place, Budget& budget) = 0;

  // The fewest tokens to an accepted text, their number, and a number that suffices, which needs no search where rules
  // nest.
  virtual std::vector<TokenId> shortest(const Place& place, Budget& budget) = 0;
  virtual TokenCount needed(const Place& place, Budget& budget) = 0;
  virtual TokenCount sufficient(const Place& place, Budget& budget) { return needed(place, budget); }
  // The least budget with which masks lead to the end for sure; 0 where `needed` is.
  virtual TokenCount closing(const Place&, Budget&) { return 0; }

  // The longest text that every continuation begins with.
  virtual std::string forced(const Place& place, Budget& budget) = 0;
  virtual std::unique_ptr<Transitions> transitions(Budget& budget) = 0;
  // The place as a person reads it.
  virtual std::string show(const Place& place) = 0;

  // Forgets what is kept by states of the pattern, which are about to be renumbered.
  virtual void clear() {}
  // Drops masks, oldest first, until the account holds no more than `limit` bytes.
  virtual void trim_masks(std::size_t limit) = 0;
  // Masks with a smaller serial have been dropped.
  virtual std::uint64_t oldest_serial() const = 0;
};

// A follower that also knows how many tokens texts may have: the one that AtLeastFollower narrows.  Of the bounds of a
// mask, and of what is known of one, `least` is at least 1.
class LongFollower : public Follower {
 public:
  // The tokens after which a text can be completed with so many tokens in all; no stop tokens.
  virtual MaskPtr known_long_mask(const Place& place, TokenBounds bounds) const = 0;
  virtual MaskPtr long_mask(const Place& place, TokenBounds bounds, Budget& budget, VerifiedTokens* verified) = 0;
  // Whether a text can be completed so, from a place that lives.
  virtual bool lasts(const Place& place, TokenBounds bounds, Budget& budget) = 0;
  // Tokens that complete a text so; nothing where no such text was found.
  virtual std::optional<std::vector<TokenId>> long_completion(const Place& place, TokenBounds bounds,
                                                              Budget& budget) = 0;
};

}  // namespace tokamata
