// Texts of at least so many tokens.
//
// Problem.  A host asks for at least k tokens before the text ends.  To forbid the stop tokens alone leads into dead
// ends:  after  no  of  yes|no  nothing but a stop token can follow.  So a token is allowed only if at least k - 1 more
// tokens can follow it, and at most b - 1 where there is a budget of b.
// Example.  {"a": [0-9]+}  with k = 20, after  {"a": 7 : a digit is allowed, and  }  is not.
// How.  A search, depth first, for a path of k tokens to a state that can be completed with those that are left.  Every
// byte that is a token leads on, and every control token; where these do not decide, all tokens do.  Of the states that
// are reached, those come first whose texts need about as many bytes as before: inside a string or a number a text can
// stay as long as it likes, so mostly the search never turns back.  A state whose completion has k tokens already is a
// goal at once.  Without a budget, so is a state that is met again on its own path: it is endless, as are all before
// it.  So is one whose structure shows a text that is long enough (long_texts.hpp).
// Whatever is found is kept for all states of the path, so one who follows it finds it again: a mask is empty only
// where the one before it was.
// Exactness.  What is allowed is proven by a path.  What is not, by a search of all that can be reached, or it is given
// up after kMostNodes states (more, where many tokens are to follow), or kMostClasses classes of tokens: then a mask
// may lack tokens.  Where a name is written that must differ from others, each text of it has states of its own.  There
// one of the bytes that are alike is followed, and a mask has at most kMostAsked tokens.
// Cost.  A step for each byte, for each state of a path; a path for each state that tokens lead to.
// Rejected: forbidding the stop tokens alone; the length of the longest text, which says nothing where there is a
// budget.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/bounded_memo.hpp"
#include "common/hash.hpp"
#include "common/memory_account.hpp"
#include "composition/completions.hpp"
#include "composition/long_texts.hpp"
#include "composition/token_automaton.hpp"

namespace tokamata {

// How many more tokens a text may have, a stop token not counted.
struct TokenBounds {
  TokenCount least = 0;
  TokenCount most = kNoTokens;

  TokenBounds after_one() const { return {least - (least > 0), most - (most != kNoTokens)}; }
  auto operator<=>(const TokenBounds&) const = default;
};

class LongCompletions {
 public:
  using Configuration = TokenAutomaton::Configuration;

  LongCompletions(TokenAutomaton& automaton, Completions& completions)
      : automaton_(automaton), completions_(completions) {}

  // The tokens after which a text can be completed within the bounds, of which `least` is at least 1.  try_mask returns
  // null if the mask is not known yet.
  MaskPtr try_mask(Configuration configuration, TokenBounds bounds) const {
    const Kept<Mask>* const known = masks_.find(std::pair(configuration, bounds));
    return known ? known->shared() : nullptr;
  }
  MaskPtr mask(Configuration configuration, TokenBounds bounds, Budget& budget, VerifiedTokens* verified = nullptr);
  // Whether there are such tokens.
  bool has_any(Configuration configuration, TokenBounds bounds, Budget& budget) {
    return configuration.at_start ? !tokens_within(configuration, bounds, budget).empty()
                                  : lasts(configuration.state, bounds, budget);
  }
  // Tokens that complete a text, as many as the bounds ask for; nothing where no such text was found.
  std::optional<std::vector<TokenId>> completion(Configuration configuration, TokenBounds bounds, Budget& budget);

  // Whether a text can be completed within the bounds, both of which may be 0.
  bool lasts(StateId state, TokenBounds bounds, Budget& budget);

  // Whether it is certain that no text can be completed so.  False where the pattern has rules, whose search may be
  // given up, and where it was.
  bool surely_lacks(StateId state, TokenBounds bounds, Budget& budget);

  // Some text has at least so many bytes, as far as the structure of a state shows; LongTexts::kEndless: any number.
  std::uint64_t longest_text(StateId state) { return long_texts_.longest(state); }

  struct Next {
    TokenId token;
    StateId state;
  };
  // Where single bytes and control tokens lead, one of each place; the last one is to be tried first.  The reference is
  // good until `clear`.
  const counted::vector<Next>& next_by_bytes(StateId state, Budget& budget);

  // Forgets everything that depends on the numbers of states.
  void clear() {
    release(known_);
    release(endless_);
    release(next_);
    masks_.clear();
    long_texts_.clear();
  }

 private:
  static constexpr std::size_t kMostNodes = 1 << 16, kMostNodesEver = 1 << 18, kMostClasses = 1 << 17, kMostAsked = 64,
                               kMostRepeats = 1 << 10;
  // nodes that a state counts for in whose front each byte makes a new one
  static constexpr std::size_t kByByte = 64;

  struct Place {
    StateId state;
    TokenBounds bounds;
    bool operator==(const Place&) const = default;
  };
  struct PlaceHash {
    std::size_t operator()(const Place& place) const {
      return mix(mix(place.bounds.least, place.bounds.most), place.state.value);
    }
  };
  class Search;

  // `lasts` where no search is needed.
  std::optional<bool> decided(const Place& place, Budget& budget);
  // The tokens of a completion of which each step is known; kNoTokens if there is none.
  TokenCount tokens_needed(StateId state, Budget& budget);
  const std::vector<TokenId>& short_tokens();
  // Whether each byte leads to a state of its own: the text of a name is remembered.
  bool is_by_byte(StateId state) const {
    return automaton_.automaton().node(state).by_byte && automaton_.operands().is_approximated(state);
  }
  std::vector<std::uint32_t> tokens_within(Configuration configuration, TokenBounds bounds, Budget& budget,
                                           VerifiedTokens* verified = nullptr);
  // What leads on to a completion that `lasts` has found.
  Next next(StateId state, TokenBounds bounds, Budget& budget);
  template <class Nexts>
  void sort_by_need(StateId state, Nexts& next) const;
  // Whether the structure of a state shows that a text can go on for so many tokens.
  bool is_long(StateId state, TokenBounds bounds) {
    return bounds.most == kNoTokens && automaton_.is_spelled_by_bytes() && long_texts_.longest(state) >= bounds.least;
  }
  // Whether what single bytes do not reach is not to be reached at all: more tokens than bytes a text never has.
  bool bytes_decide(const Place& place) const;

  TokenAutomaton& automaton_;
  Completions& completions_;
  LongTexts long_texts_{automaton_.automaton()};
  std::vector<TokenId> short_tokens_;  // one for each byte that is a token, and the control tokens
  counted::unordered_map<Place, std::optional<Next>, PlaceHash> known_;  // what leads on; nothing if nothing does
  counted::unordered_set<std::uint32_t> endless_;  // states from which texts go on as long as one likes
  counted::unordered_map<std::uint32_t, counted::vector<Next>> next_;  // of next_by_bytes, by state
  static constexpr std::size_t kMostMasks = 64;
  BoundedMemo<counted::map<std::pair<Configuration, TokenBounds>, Kept<Mask>>> masks_{kMostMasks};
};

}  // namespace tokamata
