// The closing text after each token that a state of rules allows: what masks within a budget are made of.
//
// Problem.  Within a budget a token is allowed if the closing text after it (closing_texts.hpp) has few enough tokens.
// 120,000 tokens may follow in a string; a walk that finds the state after each takes 20 ms.
// How.  A walk of rules (rule_walk.hpp) follows the alternatives of a state down the trie, and knows of each token
// what is to be written after it: something inside a terminal, or nothing, and then the rest of the alternative.  So it
// can say by which text each token is closed.  These texts are composed as the expressions are.  Let c(L) be the least
// of the shortest texts of a language, in the order of bytes:
//      c(L·M) = c(L)·c(M)        c(L | M) = the first of c(L) and c(M), a shorter text before a longer one
// Where a token has several readings, what may follow is the union of them, and so the first of their texts is that of
// the state that it leads to.
// Example.  {"a": "x|  with  "b": …  required: after the tokens inside the string the text is  ","b":0} , with 4
// tokens; after \u00  it is  00","b":0} ; after  ",  it is  "b":0} .  With 4 tokens left, a token may be  ",  but no
// letter.
// Cost.  As that of a mask, once for each over-approximation; then a pass over the texts, of which there are 5 to 100,
// for each number of tokens left.  The latest states are kept.
// Rejected: a bound that adds up the tokens of the parts, since tokens cross the borders: `"}]}` may be one.  Lengths
// in bytes: a required name of 15 bytes is 4 tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "common/bounded_memo.hpp"
#include "common/memory_account.hpp"
#include "composition/closing_texts.hpp"
#include "composition/mask.hpp"
#include "composition/part_at.hpp"
#include "composition/rule_segments.hpp"
#include "composition/trie_walk.hpp"
#include "vocabulary/terminal_endings.hpp"

namespace tokamata {

// Tokens after which the closing text is the same.
struct Ending {
  SpelledId text;
  bool is_unverified;  // an over-approximation says so, and the exact state may not
  TokenSet tokens;
  // 0; or the terminal that all of them stay inside, before an end in which no other text begins that must differ from
  // what they are a part of.  Of these tokens, those that no earlier text goes along are all allowed, or none is.
  std::uint32_t inside = 0;
};

struct Endings {
  std::vector<Ending> all;

  std::size_t memory_bytes() const {
    std::size_t bytes = shared_block_bytes<Endings>() + block_bytes_of(all);
    for (const Ending& ending : all) bytes += block_bytes_of(ending.tokens.listed);
    return bytes;  // rows belong to the vocabulary, mostly
  }
};

class RuleEndings {
 public:
  // Of what outlives it.
  RuleEndings(RuleWalkContext& context, ClosingTexts& texts);

  // Those of the over-approximation of a state, in the order of their texts.  A token has the first in which it is.
  std::shared_ptr<const Endings> of(StateId approximation, Budget& budget);

  // For the walk: of the tokens that stay inside a terminal, or inside a part of a grammar, which begins at a node of
  // a trie.
  const Endings& of_terminal(ExpressionId terminal, const TokenTrie& trie, NodeId node, Follow follow, Budget& budget);
  const Endings& of_part(ExpressionId part, const TokenTrie& trie, NodeId node, Follow follow, Budget& budget);
  ClosingTexts& texts() { return texts_; }

  void clear();

 private:
  // Those that a walk finds, which `run(walk)` runs.
  template <class Run>
  std::shared_ptr<Endings> collected(Budget& budget, Run&& run);
  TerminalEndings walked(ExpressionId terminal, const TokenTrie& trie, NodeId node, Budget& budget);
  std::shared_ptr<const TerminalEndings> terminal_endings(ExpressionId terminal, const TokenTrie& trie, NodeId node,
                                                          Follow follow, Budget& budget);
  std::optional<TerminalEndings> by_another(ExpressionId terminal, NodeId node, Follow follow, Budget& budget);
  SpelledId text_after(ExpressionId terminal, std::string_view bytes, Budget& budget);

  using TokensByState = std::unordered_map<std::uint32_t, std::vector<std::uint32_t>>;
  // The last walk of a trie that was stopped before its end, which the same walk goes on with.
  struct Stopped {
    PartAt at;
    std::vector<TrieFrame> frames;
    TokensByState by_state;
  };

  RuleWalkContext& context_;
  ByteAutomaton& automaton_;
  const Vocabulary& vocabulary_;
  ClosingTexts& texts_;
  counted::unordered_map<PartAt, Kept<Endings>, PartAt::Hash> of_terminals_, of_parts_;
  std::optional<Stopped> stopped_;
  static constexpr std::size_t kMostStates = 64;
  BoundedMemo<counted::unordered_map<StateId, Kept<Endings>>> of_states_{kMostStates};
};

}  // namespace tokamata
