#include "composition/long_completions.hpp"

#include <algorithm>
#include <cstdlib>
#include <unordered_set>

#include "common/check.hpp"
#include "composition/class_walk.hpp"

namespace tokamata {

// ---- what leads on ----------------------------------------------------------------------------

const std::vector<TokenId>& LongCompletions::short_tokens() {
  if (!short_tokens_.empty()) return short_tokens_;
  const TokenTrie& trie = automaton_.vocabulary(false).trie();
  for (std::uint32_t child = trie.children_begin(TokenTrie::root()); child < trie.children_end(TokenTrie::root());
       ++child)
    if (const auto own = trie.own({child}); !own.empty()) short_tokens_.push_back({own.front()});
  short_tokens_.insert(short_tokens_.end(), automaton_.controls().begin(), automaton_.controls().end());
  return short_tokens_;
}

// Those whose texts need about as many bytes as before come last.  Names that are remembered come first: each byte of
// one makes a new state, and all of them are the beginning of a name that can end.
template <class Nexts>
void LongCompletions::sort_by_need(StateId state, Nexts& next) const {
  const ByteAutomaton& automaton = automaton_.automaton();
  const std::int64_t before = automaton.node(state).shortest;
  std::ranges::stable_sort(next, std::ranges::greater(), [&](const Next& one) {
    return std::pair(is_by_byte(one.state), std::abs(automaton.node(one.state).shortest - before));
  });
}

const counted::vector<LongCompletions::Next>& LongCompletions::next_by_bytes(StateId state, Budget& budget) {
  if (const auto known = next_.find(state.value); known != next_.end()) return known->second;
  counted::vector<Next> next;
  std::unordered_set<std::uint32_t> met;
  const auto try_token = [&](TokenId token) {
    budget.step();
    const std::optional<StateId> target = automaton_.step({state, false}, token, budget);
    if (target && met.insert(target->value).second) next.push_back({token, *target});
  };
  const StateId approximation =
      is_by_byte(state) ? automaton_.operands().approximated({state, false}, budget).state : state;
  if (approximation != state)
    for (const Next& alike : counted::vector<Next>(next_by_bytes(approximation, budget))) try_token(alike.token);
  else
    for (const TokenId token : short_tokens()) try_token(token);
  sort_by_need(state, next);
  next.shrink_to_fit();
  return next_.emplace(state.value, std::move(next)).first->second;
}

bool LongCompletions::bytes_decide(const Place& place) const {
  return place.bounds.most == kNoTokens && automaton_.is_spelled_by_bytes();
}

// ---- the search -------------------------------------------------------------------------------

TokenCount LongCompletions::tokens_needed(StateId state, Budget& budget) {
  const Configuration configuration{state, false};
  if (completions_.is_of_rules(configuration, budget)) return completions_.of_rules().texts().tokens(state, budget);
  return completions_.tokens_needed(configuration, budget);
}

std::optional<bool> LongCompletions::decided(const Place& place, Budget& budget) {
  const auto [least, most] = place.bounds;
  if (least == 0 && most == kNoTokens) return true;
  if (least > most) return false;
  if (most == kNoTokens && endless_.contains(place.state.value)) return true;
  if (is_long(place.state, place.bounds)) return true;
  if (const auto known = known_.find(place); known != known_.end()) return known->second.has_value();
  const TokenCount needed = tokens_needed(place.state, budget);
  if (needed > most) return false;
  if (needed >= least) return true;
  return std::nullopt;
}

class LongCompletions::Search {
 public:
  Search(LongCompletions& completions, Budget& budget) : completions_(completions), budget_(budget) {}

  bool run(const Place& start) {
    most_nodes_ = std::clamp<TokenCount>(2 * kByByte * start.bounds.least, kMostNodes, kMostNodesEver);
    enter(start);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      if (frame.next.empty() && !frame.has_walked) walk(frame);
      if (frame.next.empty()) {
        leave();
        continue;
      }
      frame.at = frame.next.back();
      frame.next.pop_back();
      const Place place{frame.at.state, frame.place.bounds.after_one()};
      if (place.bounds.most == kNoTokens && (leads_back(place.state) || repeats_rule(place.state))) {
        note_path();
        for (const Frame& on_path : frames_) completions_.endless_.insert(on_path.place.state.value);
        completions_.endless_.insert(place.state.value);
        return true;
      }
      const std::optional<bool> is_goal = completions_.decided(place, budget_);
      if (is_goal == true) {
        note_path();
        return true;
      }
      if (!is_goal && met_.insert(place).second) {
        nodes_ += completions_.is_by_byte(place.state) ? kByByte : 1;
        if (nodes_ > most_nodes_) is_cut_ = true;
        else enter(place);
      }
    }
    return false;
  }
  // Whether it was given up, so that what was not found may be there.
  bool is_cut() const { return is_cut_; }

 private:
  struct Frame {
    Place place;
    std::vector<Next> next = {};  // the last one is tried first
    Next at = {};
    bool has_walked = false;
    std::vector<ExpressionId> rules = {};  // in front of it, and of no frame before it
  };

  void enter(const Place& place) {
    Frame frame{place};
    const counted::vector<Next>& next = completions_.next_by_bytes(place.state, budget_);
    frame.next.assign(next.begin(), next.end());
    std::ranges::stable_partition(
        frame.next, [&](const Next& one) { return !completions_.is_long(one.state, place.bounds.after_one()); });
    if (completions_.bytes_decide(place))
      for (const ExpressionId rule : completions_.long_texts_.rules_in_front(place.state))
        if (rules_.try_emplace(rule.value, frames_.size()).second) frame.rules.push_back(rule);
    frame.has_walked = completions_.bytes_decide(place) || completions_.is_by_byte(place.state);
    on_path_.insert(place.state.value);
    frames_.push_back(std::move(frame));
  }

  bool leads_back(StateId state) const { return on_path_.contains(state.value); }

  // Whether a rule in front of the state was in front of one on the path, and stays in front of itself.
  bool repeats_rule(StateId state) {
    if (!completions_.bytes_decide(frames_.front().place)) return false;
    for (const ExpressionId rule : completions_.long_texts_.rules_in_front(state)) {
      const auto known = rules_.find(rule.value);
      if (known == rules_.end() || asked_ == kMostRepeats) continue;
      ++asked_;
      std::string read;
      for (std::size_t at = known->second; at < frames_.size(); ++at)
        read += completions_.automaton_.vocabulary(false).bytes(frames_[at].at.token);
      if (completions_.long_texts_.repeats(rule, read, budget_)) return true;
    }
    return false;
  }

  void note_path() {
    for (const Frame& on_path : frames_) completions_.known_.insert_or_assign(on_path.place, on_path.at);
  }

  // All tokens, where single bytes have led to nothing.
  void walk(Frame& frame) {
    frame.has_walked = true;
    if (classes_ > kMostClasses) {
      is_cut_ = true;
      return;
    }
    std::unordered_set<std::uint32_t> met;
    walk_classes(completions_.automaton_.steps(), {frame.place.state, false}, budget_,
                 [&](StateId target, const TokenClass& token_class) {
                   ++classes_;
                   if (met.insert(target.value).second)
                     frame.next.push_back({{*std::ranges::min_element(token_class.tokens)}, target});
                 });
    completions_.sort_by_need(frame.place.state, frame.next);
  }

  // Nothing leads on from the last place.
  void leave() {
    if (!is_cut_) completions_.known_.emplace(frames_.back().place, std::nullopt);
    on_path_.erase(on_path_.find(frames_.back().place.state.value));
    for (const ExpressionId rule : frames_.back().rules) rules_.erase(rule.value);
    frames_.pop_back();
  }

  LongCompletions& completions_;
  Budget& budget_;
  std::vector<Frame> frames_;
  std::unordered_multiset<std::uint32_t> on_path_;        // states of the frames
  std::unordered_map<std::uint32_t, std::size_t> rules_;  // the first frame in front of which each is
  std::unordered_set<Place, PlaceHash> met_;
  std::size_t nodes_ = 0, most_nodes_ = kMostNodes, classes_ = 0, asked_ = 0;
  bool is_cut_ = false;
};

bool LongCompletions::lasts(StateId state, TokenBounds bounds, Budget& budget) {
  const Place place{state, bounds};
  if (const std::optional<bool> known = decided(place, budget)) return *known;
  return Search(*this, budget).run(place);
}

bool LongCompletions::surely_lacks(StateId state, TokenBounds bounds, Budget& budget) {
  if (automaton_.automaton().node(state).rules) return false;
  const Place place{state, bounds};
  if (const std::optional<bool> known = decided(place, budget)) return !*known;
  Search search(*this, budget);
  return !search.run(place) && !search.is_cut();
}

// ---- masks and completions --------------------------------------------------------------------

MaskPtr LongCompletions::mask(Configuration configuration, TokenBounds bounds, Budget& budget,
                              VerifiedTokens* verified) {
  if (MaskPtr known = try_mask(configuration, bounds)) return known;
  MaskPtr mask = automaton_.mask_of(configuration, tokens_within(configuration, bounds, budget, verified), false);
  masks_.keep({configuration, bounds}, Kept(mask));
  return mask;
}

std::vector<std::uint32_t> LongCompletions::tokens_within(Configuration configuration, TokenBounds bounds,
                                                          Budget& budget, VerifiedTokens* verified) {
  std::vector<std::uint32_t> tokens;
  const HandOver hand_over(verified, [&](VerifiedTokens& to) { to.add(tokens); });
  if (bounds.least > bounds.most) return tokens;
  const TokenBounds after = bounds.after_one();
  if (is_by_byte(configuration.state)) {
    const auto judge = [&](std::uint32_t token) {
      const std::optional<StateId> target = automaton_.step(configuration, {token}, budget);
      if (target && lasts(*target, after, budget)) tokens.push_back(token);
    };
    const Words allowed = automaton_.mask(configuration, budget)->bits.row();
    std::size_t asked = 0;
    for (std::uint32_t token = 0; token < automaton_.vocabulary(false).token_count() && asked < kMostAsked; ++token)
      if (has_bit(allowed, token) && ++asked) judge(token);
    if (!configuration.at_start && lasts(configuration.state, bounds, budget))
      if (const std::uint32_t token = next(configuration.state, bounds, budget).token.value;
          std::ranges::find(tokens, token) == tokens.end())
        judge(token);
    return tokens;
  }
  std::size_t asked = 0;
  walk_classes(automaton_.steps(), configuration, budget, [&](StateId target, const TokenClass& token_class) {
    if (is_by_byte(target) && ++asked > kMostAsked) return;
    if (lasts(target, after, budget)) tokens.insert(tokens.end(), token_class.tokens.begin(), token_class.tokens.end());
  });
  return tokens;
}

LongCompletions::Next LongCompletions::next(StateId state, TokenBounds bounds, Budget& budget) {
  const Place place{state, bounds};
  if (const auto known = known_.find(place); known != known_.end() && known->second) return *known->second;
  // an endless state, whose steps are not all known
  if (bounds.least > 0 && tokens_needed(state, budget) < bounds.least) {
    const bool is_found = Search(*this, budget).run(place);
    TOKAMATA_CHECK(is_found, "an endless state leads on");
    return *known_.at(place);
  }
  const Configuration configuration{state, false};
  if (completions_.is_of_rules(configuration, budget)) {
    const ClosingTexts::Step& step = completions_.of_rules().texts().step(state, budget);
    return {step.token, step.target};
  }
  const TokenId token = completions_.shortest(configuration, budget).front();
  return {token, *automaton_.step(configuration, token, budget)};
}

std::optional<std::vector<TokenId>> LongCompletions::completion(Configuration configuration, TokenBounds bounds,
                                                                Budget& budget) {
  std::vector<TokenId> tokens;
  const auto take = [&](const Next& next) {
    tokens.push_back(next.token);
    configuration = {next.state, false};
    bounds = bounds.after_one();
  };
  if (configuration.at_start) {
    const std::vector<std::uint32_t> first = tokens_within(configuration, bounds, budget);
    if (first.empty()) return std::nullopt;
    const TokenId token{*std::ranges::min_element(first)};
    take({token, *automaton_.step(configuration, token, budget)});
  }
  if (!lasts(configuration.state, bounds, budget)) return std::nullopt;
  while (bounds.least > 0 || !automaton_.automaton().accepting(configuration.state))
    take(next(configuration.state, bounds, budget));
  return tokens;
}

}  // namespace tokamata
