// The pieces of longest match (MaxMatch, BERT's WordPiece): of each word always the longest token that fits.
//
// Problem.  A word is begun by a token without a mark, and gone on with by tokens that are written with one
// (`##ing`).  Which token stands at a place is decided by the text after it: it must be the longest that
// fits.  So a token binds what may follow it.
// Example.  Tokens  a, ab, abcd, ##b, ##c, ##cd, ##d.  After `a` no ##b may follow, since `ab` is longer.
// After `ab` may ##c, as long as no d follows: `abcd` would be longer.  ##cd may not, at once.
// How.  A token that is the beginning of longer ones leaves its node of the trie of tokens behind, *pending*:
// none of what is below that node may be read.  Every further token takes each pending node along its bytes;
// where one comes to the end of a token the step is refused, and where it falls out of the trie it is
// settled.  A piece state is the set of pending nodes:
//
//     a       {a}                 of the trie of first tokens
//     ab      {ab}
//     ab ##c  {abc, ##c}          abc waits for a d; so does ##c, since there is ##cd
//     ab ##c ##b  {}              both are settled
//
// A word may end anywhere: its end settles all that is pending.  The first token of a word is looked up as
// it is written, so that the word `##b` is the token ##b where a word may have such a beginning; it comes back
// as the same text at the start of a text alone.
// Masks.  What lives after a token depends on what is pending for few tokens: those that a pending node
// forbids, and those that it outlasts (`carried`).  All others are shared by all states.
// Source: Song, Salcianu, Song, Dopson and Zhou, Fast WordPiece Tokenization, 2021, whose failure trie
// settles the same from the other side (tokamata.tokenization.papers.failure_trie).
// Cost: the bytes of a token times the pending nodes, one or two as a rule; of each node, once, a walk of
// what its subtrie and the tokens with marks have in common.  Not taken: states numbered in advance, which
// are the nodes of a trie of pairs.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>

#include "canonical/pieces.hpp"
#include "common/mutex.hpp"
#include "vocabulary/vocabulary.hpp"

namespace tokamata {

class LongestMatchPieces final : public Pieces {
 public:
  enum class Role : std::uint8_t { None, Begins, Continues };

  // `roles[t]`: what token t does in a word.  A token that begins one has a space before its text.  `mark`: what
  // those that continue one are written with, where a word can have that beginning; empty where none can.
  // Throws std::invalid_argument where a token cannot have its role.
  LongestMatchPieces(const Vocabulary& vocabulary, std::vector<Role> roles, const std::string& mark);

  std::optional<State> begin(TokenId token) const override;
  std::optional<State> follow(State state, TokenId, TokenId token) const override { return extend(state, token); }
  std::optional<State> extend(State state, TokenId token) const override;
  bool may_finish(State) const override { return true; }
  bool ends_anywhere() const override { return true; }
  bool may_go_on(State) const override { return goes_on_; }
  void forbid(State state, TokenId last, const Words& kept, const Words& all, Words& words) const override;
  const Words& settled(bool begins) const override { return begins ? settled_begun_ : settled_following_; }
  Words before(TokenId) const override { return following_; }
  State alike(State) const override { return kNothing; }
  std::vector<std::uint32_t> carried(State state, TokenId) const override;
  const Words& beginning() const override { return beginning_; }
  const Words& following() const override { return following_; }
  std::size_t memory_bytes() const override;

 private:
  using Node = Id<struct PendingTag>;  // of `first_`; from `first_.node_count()` on, of `rest_`
  using Set = std::vector<Node>;
  static inline constinit const State kNothing{};  // kSettled: nothing is pending
  static inline constinit const State kNever{~std::uint32_t{0}};

  struct Below {
    struct Run {
      std::uint32_t begin, end;  // in the order of `rest_`
    };
    std::vector<Run> forbidden;
    std::vector<std::uint32_t> carried;
  };

  struct Place {
    const TokenTrie* trie;
    NodeId node;
  };
  Place place(Node node) const;
  void find_states(const TokenTrie& trie, std::uint32_t offset, std::vector<State>& states);
  State number_of(Set set) const;
  const Set& set_of(State state) const;
  const Below& below(Node node) const;

  std::vector<std::string> rest_texts_;  // by token, without the mark
  TokenTrie first_, rest_;
  Words beginning_, following_, settled_begun_, settled_following_;
  bool goes_on_ = false;
  std::vector<State> begun_, continued_;  // by token: what it leaves pending by itself
  mutable Mutex mutex_;
  mutable std::deque<Set> sets_;  // by state; never moved
  mutable std::map<Set, State> numbers_;
  mutable std::unordered_map<Node, Below> below_;
};

}  // namespace tokamata
