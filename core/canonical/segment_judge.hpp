// How the tokens of a mask segment are judged, one after another (mask_segments.hpp).
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "canonical/mask_segments.hpp"

namespace tokamata {

// Adds to a segment each token that lives, one by one.  What lands alike in the text and in the pattern lives alike,
// if it does so by the border.
class MaskSegments::Judge {
 public:
  Judge(const Tokenization& tokenization, Liveness& liveness, MaskSegment& segment, const Key& key, Budget& budget)
      : tokenization_(tokenization),
        liveness_(liveness),
        segment_(segment),
        key_(key),
        budget_(budget),
        landing_(tokenization_.landing(key.guess, key.place)),
        is_border_(key.edge == Hypothesis::Edge::Border),
        allowed_(is_border_ ? tokenization_.pieces().beginning() : tokenization_.pieces().following()),
        plain_(tokenization_.plain(is_border_)),
        is_settled_(is_border_ || key.pieces == Pieces::kSettled) {}

  const Landing& landing() const { return *landing_; }
  bool may_stand(TokenId token) const {
    return has_bit(allowed_, token.value) && landing_->target_of(token.value) != 0 &&
           !(key_.at_start && tokenization_.is_never_first(token));
  }

  // Of tokens that lead to one state, takes those that live by the border.
  void judge_alike(std::span<const std::uint32_t> tokens, StateId target) {
    left_over_.clear();
    for (const std::uint32_t token : tokens) {
      if (!may_stand({token})) continue;
      const TokenCount count =
          is_settled_ && has_bit(plain_, token) ? at_border(target, landing_->target_of(token)) : kDead;
      if (count != kDead) take({token}, count, false);
      else left_over_.push_back(token);
    }
  }
  // The others, which may live in another way.
  std::span<const std::uint32_t> left_over() const { return left_over_; }

  void judge(TokenId token, StateId target) {
    if (!may_stand(token)) return;
    const std::optional<Pieces::State> after =
        is_border_ ? tokenization_.pieces().begin(token) : tokenization_.pieces().extend(key_.pieces, token);
    if (!after) return;
    const bool is_meeting = has_bit(tokenization_.meeting(), token.value);
    const bool is_plain = !has_bit(tokenization_.opening(), token.value) &&
                          (!is_meeting || key_.place == CodePoints::kBetween) &&
                          !has_bit(tokenization_.unsteady(), token.value);
    if (is_plain && tokenization_.pieces().may_finish(*after)) {
      const TokenCount count = at_border(target, landing_->target_of(token.value));
      if (count != kDead) return take(token, count, is_meeting);
    }
    if (is_meeting) {
      segment_.asked.push_back(token.value);
      return;
    }
    TextState text{.guess = key_.guess, .place = key_.place};
    if (!tokenization_.read(text, token)) return;
    const TokenCount count = liveness_.bound({target, token, *after, text}, budget_);
    if (count != kDead) take(token, count, false);
  }

 private:
  static constexpr TokenCount kNotAsked = kEndless - 1;

  // How many tokens suffice after those that land there in a state of the pattern.
  TokenCount at_border(StateId target, std::uint16_t number) {
    if (target_ != target) {
      target_ = target;
      counts_ = &by_state_[target.value];
      counts_->resize(landing_->targets().size(), kNotAsked);
    }
    TokenCount& count = (*counts_)[number - 1];
    if (count == kNotAsked) {
      const Landing::Target& place = landing_->targets()[number - 1];
      count =
          liveness_.bound_at_border(target, {place.guess, place.place, tokenization_.rules().any_starter()}, budget_);
    }
    return count;
  }

  void take(TokenId token, TokenCount count, bool is_meeting) {
    segment_.listed.push_back(token.value);
    segment_.most = std::max(segment_.most, count);
    segment_.has_meeting |= is_meeting;
  }

  const Tokenization& tokenization_;
  Liveness& liveness_;
  MaskSegment& segment_;
  Key key_;
  Budget& budget_;
  LandingPtr landing_;
  bool is_border_;
  const Words& allowed_;
  const Words& plain_;
  bool is_settled_;
  std::vector<std::uint32_t> left_over_;
  std::unordered_map<std::uint32_t, std::vector<TokenCount>> by_state_;
  StateId target_{~std::uint32_t{0}};  // the last one, and what is known of it
  std::vector<TokenCount>* counts_ = nullptr;
};

}  // namespace tokamata
