#include "composition/completions.hpp"

#include <algorithm>
#include <deque>

#include "common/sort_unique.hpp"
#include "composition/class_walk.hpp"

namespace tokamata {

// ---- what a state can become ------------------------------------------------------------------

const counted::vector<StateId>& Completions::targets(StateId state, Budget& budget) {
  if (const auto place = targets_.find(state.value); place != targets_.end()) return place->second;
  counted::vector<StateId> found;
  walk_classes(automaton_.steps(), {state, false}, budget, [&](StateId target, auto) {
    if (found.empty() || found.back() != target) found.push_back(target);
  });
  sort_unique(found);
  found.shrink_to_fit();
  return targets_.emplace(state.value, std::move(found)).first->second;
}

Completions::Known& Completions::known(StateId state) {
  const auto [place, is_new] = known_.try_emplace(state.value);
  if (is_new) {
    const TokenAutomaton::Room room = automaton_.room(state);
    place->second = {room.at_least, room.at_most};
  }
  return place->second;
}

// ---- distances --------------------------------------------------------------------------------

bool Completions::finishes_within(StateId state, TokenCount limit, Budget& budget) {
  const Known about = known(state);
  if (about.at_most <= limit) return true;
  if (about.at_least > limit) return false;
  return search_within(state, limit, budget);
}

// Breadth first to the depth of the limit; a state met again was met with more room before.
bool Completions::search_within(StateId start, TokenCount limit, Budget& budget) {
  Route before{{start.value, start}};
  std::vector<StateId> layer{start};
  for (TokenCount depth = 0; depth < limit && !layer.empty(); ++depth) {
    const TokenCount room = limit - depth - 1;
    std::vector<StateId> next;
    for (StateId state : layer) {
      for (StateId target : targets(state, budget)) {
        budget.step();
        if (!before.emplace(target.value, state).second) continue;
        const Known about = known(target);
        if (about.at_most <= room) {
          TokenCount needed = about.at_most;
          for (StateId at = target; at != start;) {
            at = before.at(at.value);
            known(at).at_most = std::min(known(at).at_most, ++needed);
          }
          return true;
        }
        if (about.at_least <= room) next.push_back(target);
      }
    }
    layer = std::move(next);
  }
  known(start).at_least = std::max(known(start).at_least, limit + 1);
  return false;
}

// The states of a shortest way to an accepting one, the configuration itself left out.
std::vector<StateId> Completions::shortest_route(Configuration configuration, Budget& budget) {
  if (automaton_.automaton().accepting(configuration.state)) return {};
  Route before;
  std::deque<StateId> open;
  const auto reach = [&](StateId from, StateId target) {
    budget.step();
    if (before.emplace(target.value, from).second) open.push_back(target);
  };
  std::vector<StateId> first;
  walk_classes(automaton_.steps(), configuration, budget, [&](StateId target, auto) { first.push_back(target); });
  // of no state: at the start of a text the configuration is more than its state
  constexpr StateId kStart{~std::uint32_t{0}};
  for (StateId target : first) reach(kStart, target);
  while (!open.empty()) {
    const StateId state = open.front();
    open.pop_front();
    if (automaton_.automaton().accepting(state)) {
      std::vector<StateId> route;
      TokenCount needed = 0;
      for (StateId at = state; at != kStart; at = before.at(at.value)) {
        route.push_back(at);
        known(at) = {needed, needed};
        ++needed;
      }
      if (!configuration.at_start) known(configuration.state) = {needed, needed};
      std::ranges::reverse(route);
      return route;
    }
    for (StateId target : targets(state, budget)) reach(state, target);
  }
  return {};  // not spellable: the caller has seen to that
}

TokenCount Completions::tokens_needed(Configuration configuration, Budget& budget) {
  if (is_of_rules(configuration, budget)) return of_rules_.tokens_needed(configuration, budget);
  if (!configuration.at_start)
    if (const Known about = known(configuration.state); about.at_least == about.at_most) return about.at_least;
  return shortest_route(configuration, budget).size();
}

std::vector<TokenId> Completions::shortest(Configuration configuration, Budget& budget) {
  if (is_of_rules(configuration, budget)) return of_rules_.shortest(configuration, budget);
  std::vector<TokenId> tokens;
  for (const StateId goal : shortest_route(configuration, budget)) {
    std::optional<std::uint32_t> least;
    walk_classes(automaton_.steps(), configuration, budget, [&](StateId target, const TokenClass& token_class) {
      if (target == goal)
        least = std::min(least.value_or(token_class.tokens.front()), *std::ranges::min_element(token_class.tokens));
    });
    tokens.push_back({*least});
    configuration = {goal, false};
  }
  return tokens;
}

// ---- masks ------------------------------------------------------------------------------------

bool Completions::is_ample(Configuration configuration, TokenCount left) const {
  const TokenCount most = automaton_.most_after(configuration);
  return left > 0 && most + spare(configuration.state, most) <= left - 1;
}

// What masks of rules are made of does not know what a name must differ from.
TokenCount Completions::spare(StateId state, TokenCount most) const {
  const bool has_any = automaton_.automaton().node(state).rules && most < kNoTokens - RuleCompletions::kSpare;
  return has_any ? RuleCompletions::kSpare : 0;
}

bool Completions::is_ample(Configuration configuration, TokenCount left, Budget& budget) {
  if (!is_ample(configuration, left) && !automaton_.known_mask(configuration)) automaton_.mask(configuration, budget);
  return is_ample(configuration, left);
}

MaskPtr Completions::try_mask(Configuration configuration, TokenCount left) const {
  if (is_ample(configuration, left)) {
    const MaskPtr* mask = automaton_.known_mask(configuration);
    return mask ? *mask : nullptr;
  }
  const Kept<Mask>* const known = narrow_.find(std::pair(configuration, left));
  return known ? known->shared() : nullptr;
}

MaskPtr Completions::mask(Configuration configuration, TokenCount left, Budget& budget, VerifiedTokens* verified) {
  if (MaskPtr known = try_mask(configuration, left)) return known;
  if (is_ample(configuration, left)) return automaton_.mask(configuration, budget, verified);
  {
    // Of the mask without a budget, tokens are those of this one too if it is ample for all of them.
    std::optional<VerifiedTokens> found;
    if (verified && left > 0 && !configuration.at_start) found.emplace(verified->words());
    const HandOver hand_over(found ? verified : nullptr, [&](VerifiedTokens& to) {
      if (found->most() != VerifiedTokens::kEndless &&
          found->most() + spare(configuration.state, found->most()) <= left - 1)
        to.add_row(found->row());
    });
    if (!automaton_.known_mask(configuration)) automaton_.mask(configuration, budget, found ? &*found : nullptr);
  }
  if (is_ample(configuration, left)) return automaton_.mask(configuration, budget);
  MaskPtr mask = build_mask(configuration, left, budget, verified);
  narrow_.keep({configuration, left}, Kept(mask));
  return mask;
}

MaskPtr Completions::build_mask(Configuration configuration, TokenCount left, Budget& budget,
                                VerifiedTokens* verified) {
  if (is_of_rules(configuration, budget)) return of_rules_.mask_within(configuration, left, budget, verified);
  std::vector<std::uint32_t> tokens;
  const HandOver hand_over(verified, [&](VerifiedTokens& to) { to.add(tokens); });
  if (left > 0) {
    PausedClassWalk walk;
    if (stopped_ && stopped_->configuration == configuration && stopped_->left == left) {
      walk = std::move(stopped_->walk);
      tokens = std::move(stopped_->tokens);
      stopped_.reset();
    }
    const auto visit = [&](StateId target, const TokenClass& token_class) {
      if (finishes_within(target, left - 1, budget))
        tokens.insert(tokens.end(), token_class.tokens.begin(), token_class.tokens.end());
    };
    try {
      walk_classes(automaton_.steps(), configuration, budget, visit, walk);
    } catch (const LimitExceeded&) {
      if (walk.has_begun()) stopped_ = {configuration, left, walk, tokens};
      throw;
    }
  }
  return automaton_.mask_of(configuration, tokens);
}

bool Completions::knows_texts(StateId state) const {
  const ExpressionNode& node = automaton_.automaton().node(state);
  return automaton_.is_spelled_by_bytes() && !node.constrained && node.spellable_by_bytes();
}

std::vector<Completions::ClosingChoice> Completions::closing_choices(Configuration configuration, Budget& budget) {
  std::vector<ClosingChoice> choices;
  const StateId state = configuration.state;
  ClosingTexts& texts = of_rules_.texts();
  if (!knows_texts(state) || texts.tokens(state, budget) == kNoTokens) return choices;
  const TokenTrie& trie = automaton_.vocabulary(configuration.at_start).trie();
  NodeId at = TokenTrie::root();
  for (StateId from = state; !automaton_.automaton().accepting(from);) {
    const ClosingTexts::Step step = texts.step(from, budget);
    at = trie.child(at, step.byte);
    if (at == TokenTrie::root()) break;
    from = step.next;
    const TokenCount rest = texts.tokens(from, budget);
    for (const std::uint32_t token : trie.own(at)) choices.push_back({{token}, rest});
  }
  return choices;
}

// Where the closing text is not known, one of its bytes is found sooner than all of it.
std::optional<TokenId> Completions::closing_token(Configuration configuration, TokenCount left, bool is_of_text,
                                                  Budget& budget) {
  const StateId state = configuration.state;
  if (automaton_.automaton().accepting(state)) return std::nullopt;
  if (!is_of_text && !configuration.at_start && knows_texts(state) && !of_rules_.texts().is_known(state))
    if (const auto first = of_rules_.texts().first_byte(state, budget)) {
      const ExpressionNode& after = automaton_.automaton().node(first->second);
      const TokenTrie& trie = automaton_.vocabulary(false).trie();
      const auto own = trie.own(trie.child(TokenTrie::root(), first->first));
      const bool fits = left == kNoTokens || (!after.by_byte && after.spelled + spare(first->second, 0) < left);
      if (after.spellable_by_bytes() && fits && !own.empty()) return TokenId{*std::ranges::min_element(own)};
    }
  const std::vector<ClosingChoice> choices = closing_choices(configuration, budget);
  if (const auto best = std::ranges::min_element(choices, {}, &ClosingChoice::rest); best != choices.end())
    return best->rest < left ? std::optional(best->token) : std::nullopt;
  const std::vector<TokenId> tokens = shortest(configuration, budget);
  return !tokens.empty() && tokens.size() <= left ? std::optional(tokens.front()) : std::nullopt;
}

// ---- memory -----------------------------------------------------------------------------------

void Completions::clear() {
  stopped_.reset();
  release(known_);
  of_rules_.clear();
  release(targets_);
  narrow_.clear();
}

}  // namespace tokamata
