#include "composition/closed_form.hpp"

#include <map>
#include <unordered_map>
#include <utility>

#include "composition/class_walk.hpp"

namespace tokamata {

namespace {

// Classes of tokens, of which each is one in the middle of a text and one as the first of a text.
class TokenClasses {
 public:
  TokenClasses(TokenAutomaton& automaton, bool has_start_rule)
      : class_of_token(automaton.vocabulary(false).width(), -1) {
    const std::vector<std::int64_t> none(class_of_token.size(), 0);
    const std::vector<std::int64_t> nodes = nodes_by_token(automaton, false);
    const std::vector<std::int64_t> start_nodes = has_start_rule ? nodes_by_token(automaton, true) : none;
    std::map<std::pair<std::int64_t, std::int64_t>, std::int32_t> known;
    for (std::size_t token = 0; token < nodes.size(); ++token) {
      if (nodes[token] == 0 && start_nodes[token] == 0) continue;
      const auto [place, is_new] =
          known.try_emplace({nodes[token], start_nodes[token]}, static_cast<std::int32_t>(known.size()));
      class_of_token[token] = place->second;
      if (!is_new) continue;
      if (nodes[token]) by_node_[nodes[token]].push_back(place->second);
      if (start_nodes[token]) by_start_node_[start_nodes[token]].push_back(place->second);
    }
  }

  const std::vector<std::int32_t>& of(const TokenClass& one, bool at_start) const {
    return (at_start ? by_start_node_ : by_node_).at(one.number);
  }

  std::vector<std::int32_t> class_of_token;

 private:
  using Lists = std::unordered_map<std::int64_t, std::vector<std::int32_t>>;  // by number of a TokenClass

  // The root, at which no token ends, has the number 0: it stands for no class.
  static std::vector<std::int64_t> nodes_by_token(TokenAutomaton& automaton, bool at_start) {
    std::vector<std::int64_t> nodes(automaton.vocabulary(at_start).width(), 0);
    ClassTrie& trie = automaton.class_trie(at_start);
    trie.open_all();
    for (std::uint32_t node = 0; node < trie.node_count(); ++node)
      for (const std::uint32_t token : trie.open({node}).tokens) nodes[token] = node;
    for (std::size_t i = 0; i < automaton.controls().size(); ++i)
      nodes[automaton.controls()[i].value] = -1 - static_cast<std::int64_t>(i);
    return nodes;
  }

  Lists by_node_, by_start_node_;
};

}  // namespace

ClosedForm closed_form(TokenAutomaton& automaton, Budget& budget) {
  using Configuration = TokenAutomaton::Configuration;
  const bool has_start_rule = automaton.start().at_start;
  TokenClasses classes(automaton, has_start_rule);

  ClosedForm result;
  std::vector<Configuration> places{automaton.start()};
  std::unordered_map<std::uint32_t, std::int32_t> numbers;  // of the states in mid-text
  if (!has_start_rule) numbers.emplace(automaton.start().state.value, 0);
  for (std::size_t at = 0; at < places.size(); ++at) {
    const Configuration configuration = places[at];
    result.offsets.push_back(static_cast<std::int64_t>(result.targets.size()));
    result.accepting.push_back(automaton.automaton().accepting(configuration.state));
    walk_class_trie(automaton, configuration, budget, [&](StateId target, const TokenClass& token_class) {
      const auto [known, is_new] = numbers.try_emplace(target.value, static_cast<std::int32_t>(places.size()));
      if (is_new) places.push_back({target, false});
      for (const std::int32_t joint : classes.of(token_class, configuration.at_start)) {
        budget.step();
        result.classes.push_back(joint);
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
