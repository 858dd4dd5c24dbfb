// A shortest text whose canonical tokenization has certain token edges.
//
// Problem.  Does a token of the tokenizer's own ever cross the border of a text?  The texts where one does are a
// language over bytes and token edges (edge_automaton.hpp); the question is whether the tokenizer writes any of them.
// Example.  Llama 3.1 and the text `<|im_end|>` where it is no control token: ` <|im_end|>` has the token ` <`, which
// crosses the left border.
// How.  A search over states of the edge automaton, together with one hypothesis of the tokenizer (tokenization.hpp).
//   - Where edges do not matter a text is followed as such, whatever its tokens are: every text has some.  At the end
//     of a pre-token that is exact, since the tokens of a pre-token depend on nothing else.
//   - Where edges matter tokens are followed one by one, down the trie: a hypothesis, what its pieces are, and the
//     token before.
// Most of a text stands before the edges that matter, in the *prefix* (edge_prefix.hpp).  It is left by a byte where
// edges do not matter, or by a token (edge_descents.hpp), from one border at a time.  The fewest bytes that lead to
// acceptance are added to the cost of each text (A*).  A token that leaves the prefix as the third or a later one of its
// pre-token is searched last: backwards for the steps that may lead to it, then forwards through these steps.
// Where the answer is "none", most of the time would go by with tokens; whether texts alone forbid it is asked before
// (edge_relaxation.hpp).
// Two states of one hypothesis are compared by what they forbid (edge_places.hpp).
// Source.  Koo, Liu and He, 2024, for the composition; Hart, Nilsson and Raphael, 1968, for the estimates.
// Cost.  The prefix once; a literal text of ten bytes: 0.1 to 1 ms after that, for a vocabulary of 262,145.
// Rejected.  A mask of the engine for a pattern with edges: it asks of every token of the vocabulary whether it is live,
// and every text before the edges is a state of its own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "canonical/edge_automaton.hpp"
#include "canonical/edge_descents.hpp"
#include "canonical/edge_prefix.hpp"
#include "canonical/tokenization.hpp"
#include "common/limits.hpp"
#include "common/mutex.hpp"

namespace tokamata {

class EdgeSearch {
 public:
  // `has_hidden_space`: the tokenizer puts a space before a text, or has tokens of words with one, and its decoder takes
  // away the first one, so that it is no part of the text.
  EdgeSearch(std::shared_ptr<const Tokenization> tokenization, bool has_hidden_space);
  ~EdgeSearch();
  EdgeSearch(const EdgeSearch&) = delete;
  EdgeSearch& operator=(const EdgeSearch&) = delete;

  // A shortest one, unless its first token that matters stands third or later in a pre-token, or tokens go on after the
  // edges that matter: those are searched last.
  // Nothing where no text has such edges.  Ends with LimitExceeded where more than `most_nodes` nodes are met.
  std::optional<std::string> shortest(const EdgeAutomaton& automaton, Before before, std::size_t most_nodes,
                                      Budget& budget) const;
  // The canonical tokenization of a text; nothing where the tokenizer cannot write it, or its normalizer changes it.
  // After an added token no space is hidden.
  std::optional<std::vector<std::uint32_t>> tokens_of(std::string_view text, Before before, std::size_t most_nodes,
                                                      Budget& budget) const;

 private:
  EdgeReading reading(Before before) const;
  std::shared_ptr<const EdgePrefix> prefix_of(const EdgeAutomaton& automaton, const EdgeReading& reading,
                                              Budget& budget) const;

  std::shared_ptr<const Tokenization> tokenization_;
  bool has_hidden_space_;
  std::unique_ptr<const EdgeDescents> descents_;
  mutable Mutex mutex_;
  mutable std::shared_ptr<const EdgePrefix> any_text_;  // the prefix of most automata
};

}  // namespace tokamata
