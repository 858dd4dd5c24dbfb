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
// program's own sums to each start and to here, which decide these.  No two texts share such a state.  So it is
// *projected* to one without sums, which stands for all that have the same leads: there a near tie leads to kTied, and
// all that is found without one is true of each.  kSettled is the one that leaves what its last token leaves by itself.
// And from a state that decides each near tie for the token that is asked about, a search shows that others are dead:
// by their own sums, it would be through states without end.
// How near a tie is: two paths from one place on, of `additions` scores each, round each of them by half a unit in the
// last place at most (`step_`).  After kMostAdditions the leads are read from the sums again.
// SentencePiece adds float32 over the whole text, and beyond kBound subtracts the sum to here from all sums that are
// not used yet.  What an arc from a start before here adds up to is rounded first, and lessened then (`Start::less`).
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
  // What the program adds up.  `scores[t]`: the score of token t; empty where sums do not round, so that whole numbers
  // decide what they do.  `units`: whole numbers in 1.
  struct Floats {
    std::vector<double> scores;
    double unknown = 0;  // of a code point without a piece
    double units = 1;
    bool are_single = false;  // float32, over a whole text; otherwise float64
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
  State relaxed(const State& state, TokenId last) const override;
  bool is_apart(const State& state, TokenId last) const override { return front_of(state, last).starts.empty(); }
  ByteSet only_first() const override { return only_first_; }
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
  static constexpr std::uint32_t kMostAdditions = 32;
  static constexpr std::uint32_t kMostRelaxed = 256;  // of float32
  static constexpr double kBound = 100'000;
  // So that sums of this many tokens are as exact as `step` says, and that no sum is lessened twice.
  static constexpr double kHighestFloat = 1 << 13, kMostTokens = 1 << 15, kMostAhead = 1 << 15;
  static constexpr std::size_t kMostEffectBytes = 64 << 20;

  // A place within a piece: the sum to where the piece begins.
  struct Reached {
    NodeId node;
    Score lead;
  };
  // A start from which a later arc may end after here.
  struct Start {
    NodeId node;
    Score lead;               // within a token: the sum to the start
    double sum = 0;           // the program's
    double less = 0;          // is subtracted from what its arcs add up to
    bool is_carried = false;  // within a token: its sum may be that of an arc from before the token
    friend auto operator<=>(const Start&, const Start&) = default;
  };
  using Starts = std::vector<Start>;  // in their order
  // What a text leaves pending.
  struct Front {
    Starts starts;
    double sum = 0;  // the program's, to here
    bool has_sums = false;
    bool is_own = true;           // whether the last token leaves it by itself
    bool is_relaxed = false;      // whether near ties are decided for whatever token is asked about
    std::uint32_t additions = 0;  // to each start and to here, from where all paths part, at most
    friend auto operator<=>(const Front&, const Front&) = default;
  };
  // What a token leaves by itself.
  struct Own {
    Front front;
    // Whether the program's sums decide within the token as whole numbers do, whatever is before it.
    bool is_plain = true;
    std::vector<std::vector<double>> arcs;  // the scores from the token's start to each start of `front`
  };
  // Tokens to which a pending node does something: from which lead on, in order, and the token.
  struct Touched {
    std::vector<Score> from;
    std::vector<std::uint32_t> tokens;
  };
  struct Effects {
    Touched forbidden;
    Touched carried;  // those that leave more than they do by themselves
  };
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
  enum class Rank : std::uint8_t { Refused, Tied, Best };  // in order
  // A token against the other arcs that end where it does.
  struct Standing {
    Rank rank;
    Score ahead;  // the best of them, less the token, by whole numbers; kNoPiece where there are none
  };
  Standing read(Front& front, TokenId token) const;
  void read_byte(Front& front, TokenId token) const;
  // The best arc that ends where the starts were read to; `at` is that of its start, starts.size() where there is none.
  struct Arc {
    std::size_t at;
    double sum;
  };
  Arc best_arc(std::span<const Start> starts) const;
  // The start of what follows; where the sum is subtracted, the starts before it are lessened.
  Start begin_here(Starts& starts, Score lead, double sum) const;
  std::optional<State> state_after(Front front, TokenId token) const;
  bool is_pending(const Start& start) const;
  void read_leads(Front& front) const;
  void relax(Front& front) const;
  bool sums_round() const { return !floats_.scores.empty(); }
  double rounded(double sum) const { return floats_.are_single ? static_cast<double>(static_cast<float>(sum)) : sum; }
  // By how much a sum may differ from what whole numbers say, for each score in it, where sums are up to `highest`.
  Score step(double highest) const;
  // The same for the difference of two sums of so many scores, and one more, from one place on.
  static Score width(std::uint32_t additions, Score step) { return 2 * (Score{additions} + 1) * step; }
  Score width_of(const Front& front, const Start& start) const;
  const Front& front_of(const State& state, TokenId last) const;
  const Own& own(TokenId token) const;
  void find_arcs(Own& own, TokenId token) const;
  bool meets(std::span<const Start> starts, TokenId token) const;
  Score best(std::string_view text) const;
  Score least_lead(NodeId node) const;
  Score find_least_lead(NodeId node) const;
  std::shared_ptr<const Effects> effects(NodeId node) const;

  std::shared_ptr<const Vocabulary> vocabulary_;
  const TokenTrie& trie_;      // of the vocabulary: some of its tokens are no pieces
  std::vector<Score> scores_;  // by token
  Floats floats_;
  std::uint32_t longest_ = 0;  // code points of a piece
  double highest_ = 0;         // of the scores, without their signs
  Score step_ = 0;             // the largest
  Score widest_ = 0;
  Sets sets_;
  std::vector<std::pair<Score, std::uint32_t>> close_;  // tokens, by how far they are ahead of others
  ByteSet only_first_;
  Words beginning_;            // those of the best that are so with the sums of a pre-token's first token
  std::vector<bool> is_byte_;  // by token
  mutable Mutex mutex_;
  std::unique_ptr<Fronts> fronts_;
  const Own nothing_;
  mutable std::unordered_map<std::uint32_t, Own> own_;      // by token
  mutable std::unordered_map<std::uint32_t, Score> leads_;  // by node
  using EffectsMemo = SharedMemo<std::uint32_t, Effects>;   // by node
  mutable EffectsMemo effects_{kMostEffectBytes};
};

}  // namespace tokamata
