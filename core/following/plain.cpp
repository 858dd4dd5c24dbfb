#include "following/plain.hpp"

#include <map>
#include <unordered_map>
#include <utility>

#include "composition/class_walk.hpp"
#include "expression/show.hpp"

namespace tokamata {

MaskPtr PlainFollower::known_mask(const Place& place, TokenCount left) const {
  if (left != kNoTokens) return completions_.try_mask(place.at, left);
  const MaskPtr* const known = automaton_.known_mask(place.at);
  return known ? *known : nullptr;
}

MaskPtr PlainFollower::mask(const Place& place, TokenCount left, Budget& budget, VerifiedTokens* verified) {
  return left == kNoTokens ? automaton_.mask(place.at, budget, verified)
                           : completions_.mask(place.at, left, budget, verified);
}

bool PlainFollower::is_known_ample(const Place& place, TokenCount left) const {
  return completions_.is_ample(place.at, left);
}

bool PlainFollower::is_ample(const Place& place, TokenCount left, Budget& budget) {
  return completions_.is_ample(place.at, left, budget);
}

std::optional<Step> PlainFollower::step(const Place& place, TokenId token, Budget& budget) {
  const std::optional<StateId> target = automaton_.step(place.at, token, budget);
  return target ? std::optional(Step{token, *target}) : std::nullopt;
}

std::optional<std::optional<Step>> PlainFollower::known_step(const Place& place, TokenId token) const {
  const std::optional<std::optional<StateId>> target = automaton_.steps().try_step(place.at, token);
  if (!target) return std::nullopt;
  return *target ? std::optional(Step{token, **target}) : std::optional<Step>();
}

bool PlainFollower::accepts(const Place& place) const { return automaton_.automaton().accepting(place.at.state); }

bool PlainFollower::lives(const Place& place, Budget& budget) { return automaton_.spellable(place.at, budget); }

std::vector<TokenId> PlainFollower::shortest(const Place& place, Budget& budget) {
  return completions_.shortest(place.at, budget);
}

TokenCount PlainFollower::needed(const Place& place, Budget& budget) {
  return completions_.tokens_needed(place.at, budget);
}

TokenCount PlainFollower::sufficient(const Place& place, Budget& budget) {
  return completions_.tokens_to_close(place.at, budget);
}

TokenCount PlainFollower::closing(const Place& place, Budget& budget) {
  return completions_.is_of_rules(place.at, budget) ? completions_.tokens_of_closing_text(place.at, budget) : 0;
}

std::string PlainFollower::forced(const Place& place, Budget& budget) {
  return automaton_.steps().forced_text(place.at, budget);
}

std::string PlainFollower::show(const Place& place) {
  const std::string about = place.at.at_start ? ", at the start" : "";
  return show_state(automaton_.automaton(), place.at.state, about + (accepts(place) ? ", accepting" : ""));
}

// ---- transitions ------------------------------------------------------------------------------

namespace {

// Classes of tokens, of which each is one in the middle of a text and one as the first of a text.
class ClassTransitions final : public Transitions {
 public:
  ClassTransitions(TokenAutomaton& automaton, bool has_start_rule, Budget& budget)
      : automaton_(automaton), class_of_token_(automaton.vocabulary(false).width(), -1) {
    const std::vector<std::int64_t> none(class_of_token_.size(), 0);
    const std::vector<std::int64_t> nodes = nodes_by_token(false, budget);
    const std::vector<std::int64_t> start_nodes = has_start_rule ? nodes_by_token(true, budget) : none;
    std::map<std::pair<std::int64_t, std::int64_t>, std::int32_t> known;
    for (std::size_t token = 0; token < nodes.size(); ++token) {
      if (nodes[token] == 0 && start_nodes[token] == 0) continue;
      const auto [place, is_new] =
          known.try_emplace({nodes[token], start_nodes[token]}, static_cast<std::int32_t>(known.size()));
      class_of_token_[token] = place->second;
      if (!is_new) continue;
      if (nodes[token]) by_node_[nodes[token]].push_back(place->second);
      if (start_nodes[token]) by_start_node_[start_nodes[token]].push_back(place->second);
    }
  }

  void visit(const Place& place, Budget& budget, const Visit& visit) override {
    const Lists& lists = place.at.at_start ? by_start_node_ : by_node_;
    walk_class_trie(automaton_.steps(), place.at, budget, [&](StateId target, const TokenClass& token_class) {
      visit({{}, target}, lists.at(token_class.number));
    });
  }
  std::vector<std::int32_t> class_of_token() && override { return std::move(class_of_token_); }

 private:
  using Lists = std::unordered_map<std::int64_t, std::vector<std::int32_t>>;  // by number of a TokenClass

  // The root, at which no token ends, has the number 0: it stands for no class.
  std::vector<std::int64_t> nodes_by_token(bool at_start, Budget& budget) {
    std::vector<std::int64_t> nodes(class_of_token_.size(), 0);
    ClassTrie& trie = automaton_.steps().class_trie(at_start);
    trie.open_all(budget);
    for (std::uint32_t node = 0; node < trie.node_count(); ++node)
      for (const std::uint32_t token : trie.open({node}, budget).tokens) nodes[token] = node;
    for (std::size_t i = 0; i < automaton_.controls().size(); ++i)
      nodes[automaton_.controls()[i].value] = -1 - static_cast<std::int64_t>(i);
    return nodes;
  }

  TokenAutomaton& automaton_;
  std::vector<std::int32_t> class_of_token_;
  Lists by_node_, by_start_node_;
};

}  // namespace

std::unique_ptr<Transitions> PlainFollower::transitions(Budget& budget) {
  return std::make_unique<ClassTransitions>(automaton_, automaton_.has_start_rule(), budget);
}

}  // namespace tokamata
