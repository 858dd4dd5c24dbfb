// Canonical texts of at least so many tokens, and of at most so many.
//
// Problem.  That of composition/long_completions.hpp, for canonical sequences.  A text has one of these, so a text is
// long enough by its own tokens alone: `aaaa` may have four tokens of any kind, and only one that the tokenizer writes.
// Example.  Llama 3.1, `a{0,8}` with at least 3 tokens: `aaaa` is a token, so is `aa`, and the longest canonical
// sequences of up to eight letters have two tokens.  No text is long enough.
// How.  A search, depth first, for a path of as many tokens, each of which leads to a live configuration, to one that is
// completed with the tokens that are left.  A sequence is canonical by one run of the tokenizer's hypotheses
// (tokenization.hpp); so a configuration lasts if one of its hypotheses does, each followed by itself.  A hypothesis
// that stands at a border has forgotten the token before it: nearly all tokens of a mask have one, so that what was
// found after one of them serves the others.
// Tokens of single bytes are tried first, those that keep the pattern as far from its end as it was; then all others.
// Without a budget, a configuration that is met again on its own path is *endless*, as are all before it: each round
// of the path is one of tokens, so that the text grows in its canonical length.  A loop of the pattern alone shows
// nothing: `(?:the)*` may be written by ever longer tokens.  But no token has more than L bytes, so a text of n·L bytes
// has n tokens: where the hypothesis allows every text of the pattern, or does so after a byte, and the structure of
// the pattern shows one that long (long_texts.hpp), no path is searched.
// Exactness.  What is allowed is proven by a path.  What is not, by a search of all that can be reached, within Limits.
// A configuration that no sequence of any tokens can complete within the bounds is not entered; that is known from
// LongCompletions where the pattern has no rules.  Where a name is written that must differ from others, each text of it
// has states of its own: there a mask has at most kMostAsked tokens, as there.
// Cost.  A step of both automata for each token of a mask, and a search for each hypothesis that is new; a search
// mostly has as many steps as tokens are wanted, or as a loop has.
// Rejected.  A count of tokens in the pattern, `p & TEXT_TOKEN{n,}`: a state of the pattern for each number.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "canonical/canonical_automaton.hpp"
#include "canonical/canonical_configuration.hpp"
#include "common/bounded_memo.hpp"
#include "common/hash.hpp"
#include "common/memory_account.hpp"
#include "composition/long_completions.hpp"

namespace tokamata {

// Contract.  As for LongCompletions: configurations are live, and members may end with LimitExceeded, Cancelled or
// std::bad_alloc; what is kept is whole.  `clear` before states of the pattern get other numbers.
class CanonicalLengths {
 public:
  using Configuration = TokenAutomaton::Configuration;

  // Of what outlives it; `any` are the completions of the pattern with any tokenization.
  CanonicalLengths(TokenAutomaton& pattern, CanonicalAutomaton& automaton, LongCompletions& any)
      : pattern_(pattern), automaton_(automaton), any_(any) {}

  // The tokens after which a text can be completed within the bounds, of which `least` is at least 1.
  MaskPtr known_mask(Configuration place, const CanonicalState& state, TokenBounds bounds) const;
  MaskPtr mask(Configuration place, const CanonicalState& state, TokenBounds bounds, Budget& budget,
               VerifiedTokens* verified = nullptr);
  // Whether a text can be completed within the bounds, both of which may be 0.
  bool lasts(Configuration place, const CanonicalState& state, TokenBounds bounds, Budget& budget);
  // Tokens that complete a text, as many as the bounds ask for; nothing where no such text was found.
  std::optional<std::vector<TokenId>> completion(Configuration place, const CanonicalState& state, TokenBounds bounds,
                                                 Budget& budget);

  void clear();

 private:
  static constexpr std::size_t kMostAsked = 64;  // tokens of a mask that lead to states of their own

  // A configuration of one hypothesis, and the bounds on what follows.
  struct Place {
    ConfigurationKey at;
    TokenBounds bounds;
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct PlaceHash {
    std::size_t operator()(const Place& place) const {
      return mix(mix(place.bounds.least, place.bounds.most), ConfigurationHash()(place.at));
    }
  };
  struct Next {
    TokenId token;
    ConfigurationKey target;
  };
  class Search;

  // The configurations of the single hypotheses of a state, those at borders first.
  static std::vector<ConfigurationKey> apart(Configuration place, const CanonicalState& state);
  // `lasts` of one hypothesis; the second one where no search is needed.
  bool lasts(const Place& place, Budget& budget);
  std::optional<bool> decided(const Place& place, Budget& budget);
  bool is_known_to_last(const Place& place) const;
  bool grows(const Place& place, Budget& budget);
  bool is_by_byte(StateId state) const {
    return pattern_.automaton().node(state).by_byte && pattern_.operands().is_approximated(state);
  }

  TokenAutomaton& pattern_;
  CanonicalAutomaton& automaton_;
  LongCompletions& any_;
  counted::unordered_map<Place, std::optional<Next>, PlaceHash> known_;  // what leads on; nothing if nothing does
  ConfigurationMap<TokenCount> longest_;  // some canonical text has at least so many tokens; kNoTokens: any number
  static constexpr std::size_t kMostMasks = 16;
  BoundedMemo<counted::unordered_map<Place, Kept<Mask>, PlaceHash>> masks_{kMostMasks};
};

}  // namespace tokamata
