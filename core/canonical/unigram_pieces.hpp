// The pieces of a Unigram model: the segmentation of a pre-token with the highest sum of scores.
//
// Problem.  Viterbi's algorithm finds, for each position of a pre-token, the best segmentation of the text before it:
// the arc that ends there with the highest sum; of equal ones the arc that begins first.  A token may follow others if
// it is this arc at its own end.  A prefix of a best segmentation is one too, so a pre-token may end anywhere.
// Example.  Scores  a -1, b -2, c -3, ab -2, bc -3, cab -4.  After `a`, the token `b` ends where `ab` ends, whose sum is
// -2 instead of -3: it may not follow.  After `a`, `bc` may: -4 is higher than -5 of `ab c`.  And `b` waits for nothing,
// but `c` for `ab`.
// How.  What follows depends on the text before in one way: by a *crossing* arc, which begins before the last token's
// end and ends after it.  A *pending* start is a node of the trie, the text from the start to here, with its *lead*: the
// sum of the best segmentation to the start, less the sum to here.  A piece state is the list of pending starts, by
// their starts:
//
//     a          {a, lead 1}                 may still become `ab`
//     c a        {ca, lead 4; a, lead 1}     or `cab`
//     c          {c, lead 3}                 only `cab` begins so
//
// What can win nowhere is not pending: below each node, the least lead with which some arc wins against the best
// segmentation of the text after the last token is searched once.  So few starts are pending, and most tokens leave
// what they leave by themselves: this is state kSettled.
// Masks.  A crossing arc forbids the tokens whose sums it beats, or ties with.  For each node and token there is a least
// lead from which on this is so; lists of them are made once for each node that is pending, and sorted.  They hold only
// what the highest lead that the node can have reaches.
// Sums.  The program adds floats.  Where its sums are exact, whole numbers decide the same (multiples of the fraction
// that all scores are multiples of).  Where they round, whole numbers decide all but near ties, and a state also has the
// program's own sums to each start and to here, which decide these.  No two words share such a state.  So it is
// *projected* to one without sums, which stands for all that have the same leads: there a near tie leads to kTied, and
// all that is found without one is true of each.  kSettled is the one that leaves what its last token leaves by itself.
// Source: Kudo, Subword Regularization, 2018, for the model; own for masks.  "Differences of the last positions" is the
// locality that Xu (004, section 11) leaves open.
// Cost.  A token: its bytes times the pending starts, one or two as a rule.  Lists: for each node, once, a walk of what
// its subtrie and the tokens have in common.  States that nobody has are dropped.  Not taken: sums alone as states.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "canonical/pieces.hpp"
#include "common/bounded_memo.hpp"
#include "common/mutex.hpp"
#include "vocabulary/vocabulary.hpp"

namespace tokamata {

class UnigramPieces final : public Pieces {
 public:
  using Score = std::int64_t;
  static constexpr Score kNoPiece = INT64_MIN;
  static constexpr Score kHighest = Score{1} << 40;  // of a score, without its sign

  // Sets of tokens that take a while to find.
  struct Sets {
    Words best;   // the pieces that are the best segmentations of their own texts, and byte tokens
    Words close;  // of them those of which rounding decides whether they are
    Words apart;  // of them those that leave nothing pending by themselves
  };
  // What the program adds up.  `scores[t]`: the score of token t as a float64; empty where sums do not round, so that
  // whole numbers decide what they do.  `units`: whole numbers in 1.
  struct Floats {
    std::vector<double> scores;
    double unknown = 0;  // of a code point without a piece
    double units = 1;
  };
  // `scores[t]`: kNoPiece where the model does not have token t.  `byte_tokens` write code points that are in no piece.
  // Both throw std::invalid_argument where two pieces have one text, a score is too high, or a piece is not UTF-8.
  static Sets find_sets(std::shared_ptr<const Vocabulary> vocabulary, std::vector<Score> scores, Floats floats,
                        const std::vector<std::uint32_t>& byte_tokens);
  UnigramPieces(std::shared_ptr<const Vocabulary> vocabulary, std::vector<Score> scores, Floats floats,
                const std::vector<std::uint32_t>& byte_tokens, Sets sets);
  ~UnigramPieces() override;

  std::optional<State> begin(TokenId token) const override;
  std::optional<State> follow(State state, TokenId last, TokenId token) const override;
  std::optional<State> extend(State, TokenId token) const override {
    return has_bit(sets_.best, token.value) ? std::optional(kSettled) : std::nullopt;
  }
  State projected(const State& state, TokenId last) const override;
  bool is_apart(const State& state, TokenId last) const override { return front_of(state, last).empty(); }
  bool leads_on(TokenId last, TokenId token) const override;
  bool may_finish(State) const override { return true; }
  bool ends_anywhere() const override { return true; }
  bool may_go_on(State) const override { return true; }
  void forbid(State state, TokenId last, const Words& kept, const Words& all, Words& words) const override;
  const Words& settled(bool begins) const override { return begins ? beginning_ : sets_.best; }
  const Words& apart() const override { return sets_.apart; }
  Words before(TokenId token) const override;
  State alike(State) const override { return kSettled; }
  std::vector<std::uint32_t> carried(State state, TokenId last) const override;
  const Words& beginning() const override { return beginning_; }
  const Words& following() const override { return sets_.best; }
  std::size_t memory_bytes() const override;

 private:
  static constexpr Score kNever = INT64_MAX;  // no lead is as high
  static constexpr Score kTie = Score{1} << 9, kNear = 16;
  static constexpr std::size_t kMostEffectBytes = 16 << 20;

  // A start from which a later arc may end after here; of a lattice within a token, with the sum to the start.
  struct Start {
    NodeId node;
    Score lead;
    friend auto operator<=>(const Start&, const Start&) = default;
  };
  using Front = std::vector<Start>;  // in the order of the starts
  // The tokens that a pending node does something to: from which lead on, in order, and the token.
  struct Effects {
    std::vector<Score> from;
    std::vector<std::uint32_t> tokens;
  };
  enum class EffectKind : std::uint8_t { Forbidden, Carried };
  class EffectsMaker;
  class Fronts;

  // The score of the piece that ends at a node; kNoPiece where none does.
  Score score_at(NodeId node) const {
    for (const std::uint32_t token : trie_.own(node))
      if (scores_[token] != kNoPiece) return scores_[token];
    return kNoPiece;
  }
  bool has_longer(NodeId node) const { return trie_.children_begin(node) != trie_.children_end(node); }
  template <class AnyStart>
  Score best_sum(std::span<const AnyStart> starts) const;
  enum class Rank : std::uint8_t { Refused, Tied, Best };
  Rank read(Front& starts, TokenId token) const;
  bool is_pending(const Start& start) const;
  // What is pending, with the program's sums to the starts, and to here.
  struct Summed {
    Front front;
    std::vector<double> sums;
  };
  std::optional<Summed> read_sums(const Front& pending, std::span<const double> sums, TokenId token) const;
  std::optional<State> state_of(std::optional<Summed> after) const;
  bool has_sums(const State& state) const;
  bool is_near(const Front& a, const Front& b) const;
  bool sums_round() const { return !floats_.scores.empty(); }
  // Sums this close may be equal, or differ the other way around, as the program rounds them; leads this close count as
  // one.
  Score tie() const { return sums_round() ? kTie : 0; }
  Score near() const { return sums_round() ? kNear : 0; }
  const Front& front_of(const State& state, TokenId last) const;
  const Front& own(TokenId token) const;
  Score best(std::string_view text) const;
  Score least_lead(NodeId node) const;
  Score find_least_lead(NodeId node) const;
  std::shared_ptr<const Effects> effects(NodeId node, EffectKind kind) const;

  std::shared_ptr<const Vocabulary> vocabulary_;
  const TokenTrie& trie_;      // of the vocabulary: some of its tokens are no pieces
  std::vector<Score> scores_;  // by token
  Floats floats_;
  Sets sets_;
  Words beginning_;            // those of the best that are so with the sums of a pre-token's first token
  std::vector<bool> is_byte_;  // by token
  mutable Mutex mutex_;
  std::unique_ptr<Fronts> fronts_;
  const Front nothing_;
  mutable std::unordered_map<std::uint32_t, Front> own_;    // by token
  mutable std::unordered_map<std::uint32_t, Score> leads_;  // by node
  using EffectsMemo = SharedMemo<std::uint32_t, Effects>;   // by node
  mutable EffectsMemo forbidden_{kMostEffectBytes}, carried_{kMostEffectBytes};
};

}  // namespace tokamata
