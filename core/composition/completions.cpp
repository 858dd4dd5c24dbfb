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
  // What masks of rules are made of does not know what a name must differ from.
  const TokenCount spare =
      automaton_.automaton().node(configuration.state).rules && most < kNoTokens - RuleCompletions::kSpare
          ? RuleCompletions::kSpare
          : 0;
  return left > 0 && most + spare <= left - 1;
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

MaskPtr Completions::mask(Configuration configuration, TokenCount left, Budget& budget) {
  if (MaskPtr known = try_mask(configuration, left)) return known;
  if (is_ample(configuration, left, budget)) return automaton_.mask(configuration, budget);
  MaskPtr mask = build_mask(configuration, left, budget);
  narrow_.keep({configuration, left}, Kept(mask));
  return mask;
}

MaskPtr Completions::build_mask(Configuration configuration, TokenCount left, Budget& budget) {
  if (is_of_rules(configuration, budget)) return of_rules_.mask_within(configuration, left, budget);
  std::vector<std::uint32_t> tokens;
  if (left > 0) {
    walk_classes(automaton_.steps(), configuration, budget, [&](StateId target, const TokenClass& token_class) {
      if (finishes_within(target, left - 1, budget))
        tokens.insert(tokens.end(), token_class.tokens.begin(), token_class.tokens.end());
    });
  }
  return automaton_.mask_of(configuration, tokens);
}

// ---- memory -----------------------------------------------------------------------------------

void Completions::clear() {
  release(known_);
  of_rules_.clear();
  release(targets_);
  narrow_.clear();
}

}  // namespace tokamata
