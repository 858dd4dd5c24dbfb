#include "canonical/added_transitions.hpp"

#include <algorithm>

#include "canonical/token_transitions.hpp"
#include "composition/trie_walk.hpp"

namespace tokamata {

// TokenTransitions under way: distinguished by where they lead.
class AddedTransitions::Gathered {
 public:
  explicit Gathered(const Tokenization& tokenization) : tokenization_(tokenization) {}

  void add(StateId target, std::uint32_t number) {
    by_target_[{target, tokenization_.behind_added(number), tokenization_.added_kind(number)}].push_back(number);
  }
  void add(AddedTransition move) { transitions_.push_back(std::move(move)); }

  counted::vector<AddedTransition> transitions() && {
    for (auto& [where, numbers] : by_target_)
      transitions_.push_back({std::get<0>(where), std::get<1>(where),
                              std::make_shared<const std::vector<std::uint32_t>>(std::move(numbers))});
    return std::move(transitions_);
  }

 private:
  const Tokenization& tokenization_;
  std::map<std::tuple<StateId, AddedTokens::Open, std::uint16_t>, std::vector<std::uint32_t>> by_target_;
  counted::vector<AddedTransition> transitions_;
};

const counted::vector<AddedTransition>& AddedTransitions::of(TokenAutomaton::Configuration place, Budget& budget) {
  const auto key = std::pair(place.state, place.at_start);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  Gathered gathered(tokenization_);
  const auto one_by_one = [&](std::uint32_t number) {
    budget.step();
    if (const std::optional<StateId> target = pattern_step(pattern_, place, {tokenization_.added()[number]}, budget))
      gathered.add(*target, number);
  };
  const TokenTrie& trie = tokenization_.added_trie();
  const auto walk = [&](NodeId from, StateId start) {
    if (start == ByteAutomaton::kDead) return;
    walk_trie(trie, from, pattern_.automaton(), start, budget, [&](NodeId node, StateId state) {
      for (std::uint32_t i = trie.node(node).tokens_begin; i < trie.own_end(node); ++i) {
        const StateId target = pattern_.edge(state, budget);
        if (pattern_.spellable(target, budget)) gathered.add(target, trie.order()[i]);
      }
      return true;
    });
  };
  if (place.at_start) {
    for (std::uint32_t number = 0; number < tokenization_.added().size(); ++number) one_by_one(number);
  } else if (const std::optional<Factors> factors = pattern_.factors(place.state)) {
    struct Below {
      const decltype(walk)& enter;
      void count_node() {}
    } below{walk};
    for (const ClassLoop& loop : factors->loops) {
      add_loop(gathered, loop, budget);
      if (loop.tail == Pool::kEpsilon) continue;
      const LeavingWalk leaving(pattern_.automaton().arena(), loop);
      if (!leaving.is_idle()) walk_leaving(trie, pattern_.automaton(), loop, leaving, budget, below);
    }
    if (!factors->others.empty()) walk(TokenTrie::root(), pattern_.automaton().state_of_any(factors->others, budget));
  } else {
    walk(TokenTrie::root(), place.state);
    for (const TokenId control : pattern_.controls())
      if (const std::optional<std::size_t> number = tokenization_.added_number(control))
        one_by_one(static_cast<std::uint32_t>(*number));
  }
  counted::vector<AddedTransition> transitions = std::move(gathered).transitions();
  return known_.emplace(key, std::move(transitions)).first->second;
}

// Those inside the class lead to what is left of the loop after so many code points.
void AddedTransitions::add_loop(Gathered& gathered, const ClassLoop& loop, Budget& budget) {
  Tokenization::AddedInsideClassPtr inside = tokenization_.find_added_inside_class(loop.key);
  if (!inside) inside = tokenization_.make_added_inside_class(loop.key, pattern_.inside(loop, budget)->words);
  const LoopRests rests(pattern_.automaton(), loop, inside->longest, budget);
  for (const Tokenization::AddedInsideClass::Group& group : inside->groups)
    if (group.length <= rests.lengths() || rests.is_endless())
      gathered.add({rests.after(group.length), group.after, group.numbers});
}

}  // namespace tokamata
