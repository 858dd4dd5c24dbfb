// The pieces of byte-pair encoding: neighbours that no merge tears apart (merges.hpp).
//
// Where a tokenizer takes a whole pre-token that is in its vocabulary without asking its merges
// (`ignore_merges`, and tiktoken always), two things change.  A token that merges never make can stand for a
// whole pre-token, alone.  And what merges make of that token's text is right only as long as the pre-token
// goes on: in Llama 3.1 the pieces ` j`, `eh`, `o` pass every pair, but ` jeho` is a token, so that the
// pre-token may not end after them.  A trie of such sequences says where one is complete.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <utility>

#include "canonical/merges.hpp"
#include "canonical/pieces.hpp"
#include "common/bounded_memo.hpp"

namespace tokamata {

class BytePairPieces final : public Pieces {
 public:
  // `in_model[t]`: whether token t is one of the model's.  `rest_is_written`: after a token, what its pre-token goes on
  // with has tokens of its own.  Words of masks: `words`.
  BytePairPieces(Merges merges, const std::vector<bool>& in_model, bool ignore_merges, bool rest_is_written,
                 std::size_t words);

  std::optional<State> begin(TokenId token) const override;
  std::optional<State> follow(State state, TokenId last, TokenId token) const override;
  std::optional<State> extend(State state, TokenId token) const override;
  bool may_finish(State state) const override { return state == kWhole || !complete_[state.value]; }
  bool may_go_on(State state) const override { return state != kWhole; }
  void forbid(State state, TokenId last, const Words& kept, const Words& all, Words& words) const override;
  // A place in the trie is like none, but where a sequence is complete, and for the tokens that go on in it.
  State alike(State state) const override { return state == kWhole || complete_[state.value] ? state : kElsewhere; }
  State alike_behind(State state) const override { return state == kWhole ? state : kElsewhere; }
  std::vector<std::uint32_t> carried(State state, TokenId) const override;
  const Words& settled(bool begins) const override { return begins ? settled_begun_ : following_; }
  const Words& apart() const override { return apart_; }
  Words before(TokenId token) const override;
  const Words& beginning() const override { return beginning_; }
  const Words& following() const override { return following_; }
  std::size_t memory_bytes() const override;
  const Merges& merges() const { return merges_; }

 private:
  static inline constinit const State kElsewhere{};  // kSettled: on no path of the trie
  static inline constinit const State kRoot{1};
  static inline constinit const State kWhole{~std::uint32_t{0}};  // a token that merges do not make
  static constexpr std::uint32_t kManyForbidden = 512;            // fewer are cleared one by one
  static constexpr std::size_t kMostAllowed = 512;                // masks that are kept

  State child(State node, std::uint32_t token) const {
    if (node == kElsewhere || (node == kRoot && !begins_path_[token])) return kElsewhere;
    const auto known = children_.find({node, token});
    return known == children_.end() ? kElsewhere : known->second;
  }
  bool made(TokenId token) const { return has_bit(following_, token.value); }
  void find_apart();

  Merges merges_;
  Words beginning_, following_, settled_begun_, apart_;
  std::map<std::pair<State, std::uint32_t>, State> children_;
  std::vector<bool> complete_;
  std::vector<bool> begins_path_;  // by token: whether the trie has it at its root
  using WordsPtr = std::shared_ptr<const Words>;
  WordsPtr allowed_behind(TokenId last) const;
  mutable SharedMemo<std::uint32_t, Words> allowed_{kMostAllowed};  // for sets that are large, by number
};

}  // namespace tokamata
