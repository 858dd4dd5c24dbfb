#include "composition/closed_form.hpp"

#include <unordered_map>

#include "composition/kinds_walk.hpp"

namespace tokamata {

namespace {

// Classes of tokens: those of one kind in the middle of a text, and of one kind as the first of a text.
class TokenClasses {
 public:
  TokenClasses(TokenAutomaton& automaton, Completions& completions, bool has_start_rule)
      : class_of_token(automaton.vocabulary(false).width(), -1), of_kind_(kinds_of(automaton, completions.kinds(false))) {
    std::vector<std::uint32_t> start_kind(class_of_token.size(), 0);
    if (has_start_rule) {
      const ClassTrie& trie = completions.kinds(true);
      of_start_kind_ = kinds_of(automaton, trie);
      for_tokens(automaton, trie, [&](std::uint32_t kind, std::uint32_t token) { start_kind[token] = kind + 1; });
    }
    std::unordered_map<std::uint64_t, std::int32_t> known;
    std::vector<std::uint32_t> kind_of(class_of_token.size(), 0);
    for_tokens(automaton, completions.kinds(false), [&](std::uint32_t kind, std::uint32_t token) { kind_of[token] = kind + 1; });
    for (std::uint32_t token = 0; token < kind_of.size(); ++token) {
      if (kind_of[token] == 0 && start_kind[token] == 0) continue;
      const std::uint64_t key = (std::uint64_t{kind_of[token]} << 32) | start_kind[token];
      const auto [place, is_new] = known.try_emplace(key, static_cast<std::int32_t>(known.size()));
      class_of_token[token] = place->second;
      if (!is_new) continue;
      if (kind_of[token]) of_kind_[kind_of[token] - 1].push_back(place->second);
      if (start_kind[token]) of_start_kind_[start_kind[token] - 1].push_back(place->second);
    }
  }

  const std::vector<std::int32_t>& of(const TokenKind& kind, bool at_start) const {
    return at_start ? of_start_kind_[kind.number] : of_kind_[kind.number];
  }

  std::vector<std::int32_t> class_of_token;

 private:
  using Lists = std::vector<std::vector<std::int32_t>>;  // by number of a kind

  static Lists kinds_of(const TokenAutomaton& automaton, const ClassTrie& trie) {
    return Lists(trie.node_count() + automaton.controls().size());
  }
  template <class Visit>
  static void for_tokens(const TokenAutomaton& automaton, const ClassTrie& trie, Visit&& visit) {
    for (std::uint32_t node = 0; node < trie.node_count(); ++node)
      for (const std::uint32_t token : trie.tokens(node)) visit(node, token);
    for (std::uint32_t i = 0; i < automaton.controls().size(); ++i) visit(trie.node_count() + i, automaton.controls()[i].value);
  }

  Lists of_kind_, of_start_kind_;
};

}  // namespace

ClosedForm closed_form(TokenAutomaton& automaton, Completions& completions, Budget& budget) {
  using Place = TokenAutomaton::Place;
  const bool has_start_rule = automaton.start().at_start;
  TokenClasses classes(automaton, completions, has_start_rule);

  ClosedForm result;
  std::vector<Place> places{automaton.start()};
  std::unordered_map<std::uint32_t, std::int32_t> numbers;  // of the states in mid-text
  if (!has_start_rule) numbers.emplace(automaton.start().state.value, 0);
  for (std::size_t at = 0; at < places.size(); ++at) {
    const Place place = places[at];
    result.offsets.push_back(static_cast<std::int64_t>(result.targets.size()));
    result.accepting.push_back(automaton.automaton().accepting(place.state));
    walk_kinds(completions.kinds(place.at_start), automaton, place, budget, [&](StateId target, const TokenKind& kind) {
      const auto [known, is_new] = numbers.try_emplace(target.value, static_cast<std::int32_t>(places.size()));
      if (is_new) places.push_back({target, false});
      for (const std::int32_t token_class : classes.of(kind, place.at_start)) {
        budget.step();
        result.classes.push_back(token_class);
        result.targets.push_back(known->second);
      }
    });
    if (places.size() > budget.limits().states)
      throw LimitExceeded("states", static_cast<double>(budget.limits().states));
    const std::size_t bytes = (result.classes.capacity() + result.targets.capacity()) * sizeof(std::int32_t);
    if (bytes > budget.limits().memory_bytes)
      throw LimitExceeded("memory_bytes", static_cast<double>(budget.limits().memory_bytes));
  }
  result.offsets.push_back(static_cast<std::int64_t>(result.targets.size()));
  result.class_of_token = std::move(classes.class_of_token);
  return result;
}

}  // namespace tokamata
