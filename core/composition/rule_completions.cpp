#include "composition/rule_completions.hpp"

#include <algorithm>
#include <queue>
#include <unordered_set>

#include "composition/class_walk.hpp"
#include "composition/walk_texts.hpp"

namespace tokamata {

// ---- the search -------------------------------------------------------------------------------

class RuleCompletions::Search {
 public:
  Search(RuleCompletions& completions, Budget& budget)
      : automaton_(completions.automaton_), completions_(completions), budget_(budget) {}

  // The tokens of the best way from a configuration, each with the state that it leads to, up to one whose rest is known; how
  // many tokens it has in all.
  struct Found {
    std::vector<std::pair<TokenId, StateId>> way;
    TokenCount tokens;
  };
  Found run(Configuration configuration) {
    nodes_.push_back({configuration, 0, 0, {}});
    best_ = configuration.at_start ? kNoTokens : completions_.known(configuration.state, budget_);
    const std::size_t most_states = automaton_.automaton().state_count() + kMostStates;
    open_.push({best_, 0, 0});
    while (!open_.empty() && classes_ < kMostClasses && automaton_.automaton().state_count() < most_states) {
      const OpenText next = open_.top();
      open_.pop();
      if (may_be_better(nodes_[next.node])) expand(next.node);
    }
    Found found{{}, best_};
    for (std::size_t at = best_node_; at != 0; at = nodes_[at].before) found.way.emplace_back(nodes_[at].token, nodes_[at].configuration.state);
    std::ranges::reverse(found.way);
    return found;
  }

 private:
  struct Node {
    Configuration configuration;
    TokenCount written;
    std::size_t before;
    TokenId token;
  };

  // No token finishes a text that does not accept in less than one.
  bool may_be_better(const Node& node) const {
    const TokenCount least = node.configuration.at_start ? 1 : automaton_.room(node.configuration.state).at_least;
    return node.written + least < best_;
  }

  void expand(std::size_t from) {
    const Configuration configuration = nodes_[from].configuration;
    const Configuration approximation = automaton_.approximated(configuration, budget_);
    std::unordered_map<std::uint32_t, std::size_t> followed;  // by state of the over-approximation
    walk_classes(automaton_, approximation, budget_, [&](StateId reached, const TokenClass& token_class) {
      ++classes_;
      std::size_t& count = followed[reached.value];
      if (count == kAlike) return;
      const TokenId token{*std::ranges::min_element(token_class.tokens)};
      const std::optional<StateId> target = approximation.state == configuration.state ? reached : automaton_.step(configuration, token, budget_);
      if (!target) return;
      const TokenCount rest = add({{*target, false}, nodes_[from].written + 1, from, token});
      const bool is_kept = automaton_.automaton().node(*target).by_byte && rest > 1;
      count = is_kept ? count + 1 : kAlike;
    });
  }

  // Returns how many tokens are known to suffice from there.
  TokenCount add(const Node& node) {
    const TokenCount rest = completions_.known(node.configuration.state, budget_);
    const auto [known, is_new] = written_.try_emplace(node.configuration.state.value, node.written);
    if (!is_new && known->second <= node.written) return rest;
    known->second = node.written;
    const TokenCount all = rest == kNoTokens ? kNoTokens : node.written + rest;
    if (all >= best_ && !may_be_better(node)) return rest;
    nodes_.push_back(node);
    open_.push({all, node.written, nodes_.size() - 1});
    if (all < best_) {
      best_ = all;
      best_node_ = nodes_.size() - 1;
    }
    return rest;
  }

  TokenAutomaton& automaton_;
  RuleCompletions& completions_;
  Budget& budget_;
  std::vector<Node> nodes_;
  std::priority_queue<OpenText> open_;
  std::unordered_map<std::uint32_t, TokenCount> written_;  // by state
  TokenCount best_ = kNoTokens;
  std::size_t best_node_ = 0;
  std::size_t classes_ = 0;
};

// ---- few tokens -------------------------------------------------------------------------------

TokenCount RuleCompletions::known(StateId state, Budget& budget) {
  const auto found = found_.find(state.value);
  return found == found_.end() ? texts_.tokens(state, budget) : found->second.tokens;
}

RuleCompletions::Step RuleCompletions::first_step(Configuration configuration, Budget& budget) {
  if (configuration.at_start && found_at_start_) return *found_at_start_;
  if (!configuration.at_start)
    if (const auto known = found_.find(configuration.state.value); known != found_.end()) return known->second;
  const Search::Found found = Search(*this, budget).run(configuration);
  std::vector<std::pair<StateId, Step>> steps;
  TokenCount tokens = found.tokens;
  StateId at = configuration.state;
  // What was found before from a state is kept, unless this is shorter: a caller has that number.
  const auto is_kept = [&] { return found_.contains(at.value) && length(at) <= tokens && (!steps.empty() || !configuration.at_start); };
  for (const auto& [token, target] : found.way) {
    if (is_kept()) break;
    steps.emplace_back(at, Step{token, target, tokens--});
    at = target;
  }
  for (; !automaton_.automaton().accepting(at) && !found_.contains(at.value); at = steps.back().second.target) {
    const ClosingTexts::Step& step = texts_.step(at, budget);
    steps.emplace_back(at, Step{step.token, step.target, tokens--});
  }
  const Step first = steps.front().second;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i == 0 && configuration.at_start)
      found_at_start_ = first;
    else
      found_.insert_or_assign(steps[i].first.value, steps[i].second);
  }
  return first;
}

TokenCount RuleCompletions::length(StateId state) const {
  TokenCount tokens = 0;
  for (; !automaton_.automaton().accepting(state); ++tokens) state = found_.at(state.value).target;
  return tokens;
}

std::vector<TokenId> RuleCompletions::shortest(Configuration configuration, Budget& budget) {
  std::vector<TokenId> tokens;
  while (!automaton_.automaton().accepting(configuration.state)) {
    const Step step = first_step(configuration, budget);
    tokens.push_back(step.token);
    configuration = {step.target, false};
  }
  return tokens;
}

TokenCount RuleCompletions::tokens_to_close(StateId state, Budget& budget) {
  if (const auto known = to_close_.find(state.value); known != to_close_.end()) return known->second;
  TokenCount best = texts_.tokens(state, budget);
  const Configuration configuration{state, false};
  if (best <= kNear && best > automaton_.room(state).at_least) {
    const Configuration approximation = automaton_.approximated(configuration, budget);
    std::unordered_set<std::uint32_t> followed;  // states of the over-approximation
    walk_classes(automaton_, approximation, budget, [&](StateId reached, const TokenClass& token_class) {
      if (!followed.insert(reached.value).second || texts_.tokens(reached, budget) >= best - 1) return;
      const TokenId token{*std::ranges::min_element(token_class.tokens)};
      const std::optional<StateId> target = automaton_.step(configuration, token, budget);
      if (!target) return;
      if (const TokenCount rest = texts_.tokens(*target, budget); rest < best - 1) best = rest + 1;
    });
  }
  to_close_.emplace(state.value, best);
  return best;
}

// ---- masks ------------------------------------------------------------------------------------

// By token, whether it is on the path of a text that the over-approximation refuses or leaves unverified: what such a
// token leads to is not alike to what others do.
std::vector<bool> RuleCompletions::ambiguous(StateId state, Budget& budget) {
  const TokenTrie& trie = automaton_.vocabulary(false).trie();
  std::vector<bool> tokens(automaton_.vocabulary(false).width());
  const auto note = [&](std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t i = begin; i < end; ++i) tokens[trie.order()[i]] = true;
  };
  ByteAutomaton& automaton = automaton_.automaton();
  for (const Approximation& approximation : automaton.arena().approximations(automaton.expression(state), budget))
    for (const auto* texts : {&approximation.refused, &approximation.unverified})
      walk_texts(
          trie, *texts, budget, [&](NodeId node) { note(trie.node(node).tokens_begin, trie.own_end(node)); },
          [&](NodeId node, bool with_longer) {
            if (with_longer) note(trie.node(node).tokens_begin, trie.node(node).tokens_end);
          });
  return tokens;
}

std::vector<std::uint32_t> RuleCompletions::tokens_within(Configuration configuration, TokenCount left, Budget& budget) {
  struct Judged {
    TokenCount tokens;
    bool is_unverified;
  };
  std::vector<std::uint32_t> tokens, doubtful;
  if (left == 0) return tokens;
  const Words allowed = automaton_.mask(configuration, budget)->bits.row();
  const Configuration approximation = automaton_.approximated(configuration, budget);
  const bool is_exact = approximation.state == configuration.state;
  const std::vector<bool> is_ambiguous = is_exact ? std::vector<bool>(automaton_.vocabulary(false).width()) : ambiguous(configuration.state, budget);
  std::unordered_map<std::uint32_t, Judged> judged;
  walk_classes(automaton_, approximation, budget, [&](StateId target, const TokenClass& token_class) {
    auto known = judged.find(target.value);
    if (known == judged.end())
      known = judged.emplace(target.value, Judged{texts_.tokens(target, budget), texts_.is_unverified(target, budget)}).first;
    const auto [needed, is_unverified] = known->second;
    if (needed > left - 1) return;
    const bool is_ample = is_exact || needed + kSpare <= left - 1;
    for (const std::uint32_t token : token_class.tokens)
      if (has_bit(allowed, token)) (is_ample || (!is_unverified && !is_ambiguous[token]) ? tokens : doubtful).push_back(token);
  });
  std::ranges::sort(doubtful);
  if (doubtful.size() > kMostAsked) doubtful.resize(kMostAsked);
  for (const std::uint32_t token : doubtful)
    if (const auto target = automaton_.step(configuration, {token}, budget); target && texts_.tokens(*target, budget) <= left - 1)
      tokens.push_back(token);
  if (automaton_.automaton().accepting(configuration.state)) return tokens;
  if (!configuration.at_start && texts_.tokens(configuration.state, budget) <= left) tokens.push_back(texts_.step(configuration.state, budget).token.value);
  std::ranges::sort(tokens);
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  if (tokens.empty() && tokens_needed(configuration, budget) <= left) tokens.push_back(first_step(configuration, budget).token.value);
  return tokens;
}

void RuleCompletions::clear() {
  texts_.clear();
  release(found_);
  release(to_close_);
  found_at_start_.reset();
}

}  // namespace tokamata
