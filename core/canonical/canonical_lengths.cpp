#include "canonical/canonical_lengths.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "canonical/token_transitions.hpp"
#include "common/check.hpp"

namespace tokamata {

std::vector<ConfigurationKey> CanonicalLengths::apart(Configuration place, const CanonicalState& state) {
  std::vector<ConfigurationKey> all;
  for (const auto edge : {Hypothesis::Edge::Border, Hypothesis::Edge::Inside})
    for (const Hypothesis& hypothesis : state.hypotheses)
      if (hypothesis.edge == edge)
        all.push_back({place.state, place.at_start,
                       CanonicalState{.hypotheses = {hypothesis},
                                      .last = edge == Hypothesis::Edge::Inside ? state.last : TokenId{},
                                      .starter = state.starter,
                                      .marks = state.marks,
                                      .open = state.open,
                                      .is_start = state.is_start}});
  return all;
}

// ---- the search -------------------------------------------------------------------------------

std::optional<bool> CanonicalLengths::decided(const Place& place, Budget& budget) {
  const auto [least, most] = place.bounds;
  const Configuration at{place.at.state, place.at.at_start};
  const bool is_bounded = most != kNoTokens;
  if (least > most) return false;
  if (!is_bounded && least == 0) return true;
  if (is_known_to_last(place)) return true;
  if (known_.contains(place)) return false;
  if (!is_bounded && grows(place, budget)) return true;
  // With rules, the fewest tokens are no bound but those of a text that was found.
  const TokenCount at_least =
      pattern_.automaton().node(at.state).rules ? pattern_.room(at.state).at_least : automaton_.at_least(at, budget);
  if (at_least > most) return false;
  if (!is_bounded && at_least >= least) return true;
  if (least == 0) return automaton_.suffices(at, place.at.canonical, most, budget);
  if (!at.at_start && any_.surely_lacks(at.state, place.bounds, budget)) return false;
  return std::nullopt;
}

bool CanonicalLengths::is_known_to_last(const Place& place) const {
  if (place.bounds.most == kNoTokens)
    if (const auto known = longest_.find(place.at); known != longest_.end() && known->second >= place.bounds.least)
      return true;
  const auto known = known_.find(place);
  return known != known_.end() && known->second.has_value();
}

// By the bytes of a text, after a border.
bool CanonicalLengths::grows(const Place& place, Budget& budget) {
  const Hypothesis& hypothesis = place.at.canonical.hypotheses.front();
  if (hypothesis.edge != Hypothesis::Edge::Border || place.at.at_start) return false;
  if (pattern_.automaton().node(place.at.state).edges) return false;
  const std::uint64_t longest_token = std::max<std::size_t>(pattern_.vocabulary(false).trie().longest(), 1);
  TokenCount tokens = 0;
  const auto is_long = [&](StateId state) {
    const std::uint64_t bytes = any_.longest_text(state);
    const TokenCount has = bytes == LongTexts::kEndless ? kNoTokens : bytes / longest_token;
    tokens = has;
    return has >= place.bounds.least;
  };
  if (!automaton_.leads_to_all(place.at.state, place.at.canonical, hypothesis, is_long, budget)) return false;
  longest_.insert_or_assign(place.at, tokens);  // of the last state, which was taken
  return true;
}

class CanonicalLengths::Search {
 public:
  Search(CanonicalLengths& lengths, Budget& budget) : all_(lengths), budget_(budget) {}

  // What is found is kept for all configurations of the path.  The start need not be: each token of a mask has one of
  // its own, which is found again by a step.
  bool run(const Place& start, bool keeps_start) {
    keeps_start_ = keeps_start;
    enter(start);
    while (!frames_.empty()) {
      if (!frames_.back().targets.empty()) {
        if (follows(frames_.size() - 1)) return true;
      } else if (!advance(frames_.back())) {
        leave();
      }
    }
    return false;
  }

 private:
  struct Frame {
    Place place;
    const counted::vector<LongCompletions::Next>* few;  // by tokens of single bytes
    CanonicalBudgets::TransitionsPtr all = nullptr;     // by all, once these have led to nothing
    std::size_t left = 0;                               // of either; the last one is tried first
    std::vector<ConfigurationKey> targets = {};         // of the token that is tried
    TokenId token = {};
    ConfigurationKey at = {};  // the target that is tried
  };

  void enter(const Place& place) {
    budget_.step();
    const auto* const few = place.at.at_start ? nullptr : &all_.any_.next_by_bytes(followed(place.at), budget_);
    if (place.bounds.most == kNoTokens) on_path_.insert(place.at);
    frames_.push_back({.place = place, .few = few, .left = few ? few->size() : 0});
  }

  // The state whose tokens are tried.  Where each byte makes a state it is the over-approximation, and the state itself
  // is followed by each token as it is tried.
  StateId followed(const ConfigurationKey& at) {
    return all_.is_by_byte(at.state) ? all_.pattern_.operands().approximated({at.state, false}, budget_).state
                                     : at.state;
  }

  // Whether the next target of the last frame completes a text.  Enters it where that is to be found out.
  bool follows(std::size_t number) {
    Frame& frame = frames_[number];
    frame.at = std::move(frame.targets.back());
    frame.targets.pop_back();
    const Place place{frame.at, frame.place.bounds.after_one()};
    if (place.bounds.most == kNoTokens && on_path_.contains(place.at)) {
      note_path();
      for (const Frame& on_path : frames_) all_.longest_.insert_or_assign(on_path.place.at, kNoTokens);
      return true;
    }
    const std::optional<bool> is_goal = all_.decided(place, budget_);
    if (is_goal == true) {
      note_path();
      return true;
    }
    if (!is_goal) enter(place);
    return false;
  }

  // The targets of a further token; false where there is none.
  bool advance(Frame& frame) {
    if (frame.left == 0) {
      if (frame.all) return false;
      frame.all = all_.automaton_.transitions({followed(frame.place.at), frame.place.at.at_start}, budget_);
      frame.left = frame.all->size();
      return frame.left > 0;
    }
    budget_.step();
    --frame.left;
    StateId state{};
    if (frame.all)
      std::tie(frame.token, state) = std::pair((*frame.all)[frame.left].token, (*frame.all)[frame.left].target);
    else std::tie(frame.token, state) = std::pair((*frame.few)[frame.left].token, (*frame.few)[frame.left].state);
    if (!may_follow(frame)) return true;
    if (all_.is_by_byte(frame.place.at.state)) {
      const auto target = pattern_step(all_.pattern_, {frame.place.at.state, false}, frame.token, budget_);
      if (!target) return true;
      state = *target;
    }
    const TokenBounds bounds = frame.place.bounds.after_one();
    if (frame.all && all_.any_.surely_lacks(state, bounds, budget_)) return true;
    const std::optional<CanonicalState> after =
        all_.automaton_.tokenization().step(frame.place.at.canonical, frame.token);
    if (!after) return true;
    frame.targets = apart({state, false}, *after);
    std::erase_if(frame.targets, [&](const ConfigurationKey& target) {
      if (const auto known = all_.known_.find({target, bounds}); known != all_.known_.end()) return !known->second;
      return !all_.automaton_.lives({target.state, false}, target.canonical, budget_);
    });
    std::ranges::reverse(frame.targets);  // the first one is tried first
    return true;
  }

  // Whether the pieces allow the token that is tried: most do not, and that is known soonest.
  bool may_follow(const Frame& frame) const {
    const Tokenization& tokenization = all_.automaton_.tokenization();
    if (tokenization.added_number(frame.token)) return true;
    const CanonicalState& state = frame.place.at.canonical;
    const Hypothesis& hypothesis = state.hypotheses.front();
    const Pieces& pieces = tokenization.pieces();
    return hypothesis.edge == Hypothesis::Edge::Border
               ? pieces.begin(frame.token).has_value()
               : pieces.follow(hypothesis.pieces, state.last, frame.token).has_value();
  }

  void note_path() {
    for (std::size_t i = keeps_start_ ? 0 : 1; i < frames_.size(); ++i)
      all_.known_.insert_or_assign(frames_[i].place, Next{frames_[i].token, frames_[i].at});
  }

  // Nothing leads on from the last configuration.
  void leave() {
    if (frames_.back().place.bounds.most == kNoTokens) on_path_.erase(frames_.back().place.at);
    all_.known_.emplace(std::move(frames_.back().place), std::nullopt);
    frames_.pop_back();
  }

  CanonicalLengths& all_;
  Budget& budget_;
  std::vector<Frame> frames_;
  bool keeps_start_ = true;
  std::unordered_set<ConfigurationKey, ConfigurationHash> on_path_;
};

bool CanonicalLengths::lasts(const Place& place, Budget& budget) {
  if (const std::optional<bool> known = decided(place, budget)) return *known;
  const bool is_at_border = place.at.canonical.hypotheses.front().edge == Hypothesis::Edge::Border;
  return Search(*this, budget).run(place, is_at_border);
}

bool CanonicalLengths::lasts(Configuration place, const CanonicalState& state, TokenBounds bounds, Budget& budget) {
  const std::vector<ConfigurationKey> all = apart(place, state);
  return std::ranges::any_of(all, [&](const auto& at) { return is_known_to_last({at, bounds}); }) ||
         std::ranges::any_of(all, [&](const ConfigurationKey& at) {
           return automaton_.lives(place, at.canonical, budget) && lasts(Place{at, bounds}, budget);
         });
}

// ---- masks and completions --------------------------------------------------------------------

MaskPtr CanonicalLengths::known_mask(Configuration place, const CanonicalState& state, TokenBounds bounds) const {
  const Kept<Mask>* const known = masks_.find(Place{{place.state, place.at_start, state}, bounds});
  return known ? known->shared() : nullptr;
}

MaskPtr CanonicalLengths::mask(Configuration place, const CanonicalState& state, TokenBounds bounds, Budget& budget,
                               VerifiedTokens* verified) {
  if (MaskPtr known = known_mask(place, state, bounds)) return known;
  const MaskPtr all = bounds.most == kNoTokens ? automaton_.mask(place, state, budget)
                                               : automaton_.mask_within(place, state, bounds.most, budget);
  std::vector<std::uint32_t> tokens;
  const HandOver hand_over(verified, [&](VerifiedTokens& to) { to.add(tokens); });
  std::size_t asked = 0;
  const bool is_last = bounds.least == 1;  // whatever follows is long enough
  for_each_bit(all->bits.row(), [&](std::uint32_t token) {
    if (pattern_.vocabulary(false).is_stop({token})) return;
    if (is_last) tokens.push_back(token);
    if (is_last || (is_by_byte(place.state) && asked++ >= kMostAsked)) return;
    const std::optional<CanonicalState> after = automaton_.tokenization().step(state, {token});
    const std::optional<StateId> target = after ? pattern_step(pattern_, place, {token}, budget) : std::nullopt;
    if (!target || (is_by_byte(*target) && asked++ >= kMostAsked)) return;
    if (lasts({*target, false}, *after, bounds.after_one(), budget)) tokens.push_back(token);
  });
  MaskPtr mask = pattern_.mask_of(place, tokens, false);
  masks_.keep(Place{{place.state, place.at_start, state}, bounds}, Kept(mask));
  return mask;
}

std::optional<std::vector<TokenId>> CanonicalLengths::completion(Configuration place, const CanonicalState& state,
                                                                 TokenBounds bounds, Budget& budget) {
  for (const ConfigurationKey& start : apart(place, state)) {
    if (!automaton_.lives(place, start.canonical, budget) || !lasts(Place{start, bounds}, budget)) continue;
    std::vector<TokenId> tokens;
    Place at{start, bounds};
    while (at.bounds.least > 0) {
      auto known = known_.find(at);
      if (known == known_.end() || !known->second) {  // it was decided without a search
        const bool is_found = Search(*this, budget).run(at, true);
        TOKAMATA_CHECK(is_found, "a configuration that lasts leads on");
        known = known_.find(at);
      }
      tokens.push_back(known->second->token);
      at = {known->second->target, at.bounds.after_one()};
    }
    const std::vector<TokenId> rest = automaton_.shortest({at.at.state, at.at.at_start}, at.at.canonical, budget);
    tokens.insert(tokens.end(), rest.begin(), rest.end());
    return tokens;
  }
  return std::nullopt;
}

void CanonicalLengths::clear() {
  release(known_);
  release(longest_);
  masks_.clear();
}

}  // namespace tokamata
