// Texts in parts whose tokens differ from those of the parts one by one.
//
// Problem.  A template writes `user\n`, a text of somebody, and `\n`.  Are the tokens of the whole those of the parts,
// for every text?
// Example.  Llama 3.1: the text `\n1` makes them differ, since `\n\n` is one token.  After a control token no text does.
// How.  Pre-tokens are encoded independently.  So the tokens are the same where the pre-tokens are, and the normalizer
// leaves the whole as it is.  Two hypotheses of the tokenizer read the same bytes: one reads the whole, one each part,
// and begins anew at each *seam*.  The search looks for a text after which
//   - they have ended a pre-token at different places within a part: `different`;
//   - a pre-token of the whole goes on over a seam: `joined`.  Whether a token does then too is a question about edges
//     (edge_search.hpp); within a pre-token of byte-pair encoding the tokens on both sides of an edge are those of
//     the sides alone, since each pair of neighbours is (merges.hpp);
//   - the parts are stable, and the whole is not: a mark composes over a seam, or an added token appears: `unstable`.
// Where nothing of this is found, the tokens are the same.  What is found is a candidate: its tokens are to be compared.
// Cost.  Pairs of guesses, by places in a code point and states of the parts: some ten thousand nodes of 256 bytes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "canonical/edge_automaton.hpp"
#include "canonical/tokenization.hpp"
#include "common/limits.hpp"

namespace tokamata {

struct SeamText {
  std::string text;
  std::vector<std::uint32_t> seams;  // offsets
};

struct SeamTexts {
  std::vector<SeamText> different;  // the shortest first
  std::optional<SeamText> joined, unstable;
};

// `parts`: an automaton whose edges are the seams.  `before`: what stands before the first part.  At most `most_texts` different ones are given, which end in
// different nodes of the search.  Ends with LimitExceeded where more than `most_nodes` nodes are met.
SeamTexts texts_with_seams(const Tokenization& tokenization, const EdgeAutomaton& parts, Before before,
                           std::size_t most_texts, std::size_t most_nodes, Budget& budget);

}  // namespace tokamata
