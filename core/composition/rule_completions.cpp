#include "composition/rule_completions.hpp"

#include <algorithm>
#include <unordered_set>

#include "composition/class_walk.hpp"

namespace tokamata {

// ---- the search -------------------------------------------------------------------------------

class RuleCompletions::Search {
 public:
  Search(RuleCompletions& completions, Budget& budget)
      : automaton_(completions.automaton_), completions_(completions), budget_(budget) {}

  // The tokens of the best way from a configuration, each with the state that it leads to, up to one whose rest is
  // known; how many tokens it has in all.
  struct Found {
    std::vector<std::pair<TokenId, StateId>> way;
    TokenCount tokens;
  };
  Found run(Configuration configuration) {
    nodes_.push_back({configuration, 0, 0, {}});
    best_ = configuration.at_start ? kNoTokens : completions_.known(configuration.state, budget_);
    most_states_ = automaton_.automaton().state_count() + kMostStates;
    open_.add({best_, 0, 0});
    while (!open_.empty() && has_room()) {
      const std::size_t next = open_.take().node;
      if (may_be_better(nodes_[next])) expand(next);
    }
    Found found{{}, best_};
    for (std::size_t at = best_node_; at != 0; at = nodes_[at].before)
      found.way.emplace_back(nodes_[at].token, nodes_[at].configuration.state);
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

  bool has_room() const { return classes_ < kMostClasses && automaton_.automaton().state_count() < most_states_; }

  // No token finishes a text that does not accept in less than one.
  bool may_be_better(const Node& node) const {
    const TokenCount least = node.configuration.at_start ? 1 : automaton_.room(node.configuration.state).at_least;
    return node.written + least < best_;
  }

  void expand(std::size_t from) {
    const Configuration configuration = nodes_[from].configuration;
    const Configuration approximation = automaton_.approximated(configuration, budget_);
    std::unordered_map<std::uint32_t, std::size_t> followed;  // by state of the over-approximation
    walk_classes(automaton_.steps(), approximation, budget_, [&](StateId reached, const TokenClass& token_class) {
      ++classes_;
      std::size_t& count = followed[reached.value];
      if (count == kMostAlike || !has_room()) return;
      const TokenId token{*std::ranges::min_element(token_class.tokens)};
      const std::optional<StateId> target =
          approximation.state == configuration.state ? reached : automaton_.step(configuration, token, budget_);
      if (!target) return;
      const TokenCount rest = add({{*target, false}, nodes_[from].written + 1, from, token});
      const bool is_kept = automaton_.automaton().node(*target).by_byte && rest > 1;
      count = is_kept ? count + 1 : kMostAlike;
    });
  }

  // Returns how many tokens are known to suffice from there.
  TokenCount add(const Node& node) {
    const TokenCount rest = completions_.known(node.configuration.state, budget_);
    if (!lowers(written_, node.configuration.state.value, node.written)) return rest;
    const TokenCount all = rest == kNoTokens ? kNoTokens : node.written + rest;
    if (all >= best_ && !may_be_better(node)) return rest;
    nodes_.push_back(node);
    open_.add({all, node.written, nodes_.size() - 1});
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
  Frontier<OpenText> open_;
  std::unordered_map<std::uint32_t, TokenCount> written_;  // by state
  TokenCount best_ = kNoTokens;
  std::size_t best_node_ = 0;
  std::size_t classes_ = 0;
  std::size_t most_states_ = 0;
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
  const auto is_kept = [&] {
    return found_.contains(at.value) && length(at) <= tokens && (!steps.empty() || !configuration.at_start);
  };
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
    if (i == 0 && configuration.at_start) found_at_start_ = first;
    else found_.insert_or_assign(steps[i].first.value, steps[i].second);
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
    walk_classes(automaton_.steps(), approximation, budget, [&](StateId reached, const TokenClass& token_class) {
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

// The tokens that fit by the over-approximation, and those that the exact state must judge.
RuleCompletions::Fitting RuleCompletions::fitting(StateId state, TokenCount left, Budget& budget) {
  const StateId approximation = automaton_.approximated({state, false}, budget).state;
  TokenCount spare = approximation == state ? 0 : kSpare;
  // Where the state needs more than that, it repeats what it reads: a name between tags of its own.  So may each byte
  // of a token.
  const TokenCount own = texts_.tokens(state, budget), approximated = texts_.tokens(approximation, budget);
  if (spare > 0 && own != kNoTokens && approximated != kNoTokens && own > approximated + kSpare)
    spare = own - approximated + static_cast<TokenCount>(automaton_.vocabulary(false).trie().longest());
  const std::shared_ptr<const Endings> endings = endings_.of(approximation, budget);
  const auto needed = [&](const Ending& ending) { return texts_.spelled().tokens(ending.text); };
  const auto fits = [&](const Ending& ending, TokenCount more) {
    return needed(ending) <= left - 1 && needed(ending) + more <= left - 1;
  };
  if (std::ranges::all_of(endings->all, [&](const Ending& ending) { return fits(ending, spare); }))
    return {{}, true, {}, {}};
  const std::size_t words = automaton_.vocabulary(false).words();
  Fitting found{Words(words), false, Words(words), {}};
  Words judged(words);  // by the first ending of each
  std::optional<Words> is_ambiguous;
  for (const Ending& ending : endings->all) {
    const bool is_sure = fits(ending, spare);
    const bool may_fit = is_sure || fits(ending, 0);
    if (may_fit && !is_sure && !is_ambiguous) is_ambiguous = ambiguous_tokens(automaton_.operands(), state, budget);
    const bool are_alike = ending.inside != 0;
    Words* doubtful = nullptr;
    if (may_fit && !is_sure && ending.is_unverified)
      doubtful = &found.doubtful.emplace_back(ending.text, are_alike, Words(words)).tokens;
    const auto judge = [&](std::size_t word, std::uint32_t bits) {
      bits &= ~judged[word];
      judged[word] |= bits;
      if (!may_fit) return;
      const std::uint32_t along = is_sure ? 0 : bits & (*is_ambiguous)[word];
      found.along[word] |= along;
      (doubtful ? *doubtful : found.tokens)[word] |= bits & ~along;
    };
    for (const std::uint32_t token : ending.tokens.listed) judge(token / 32, 1u << (token % 32));
    if (!ending.tokens.is_listed())
      for (std::size_t word = 0; word < words; ++word) judge(word, (*ending.tokens.bits)[word]);
  }
  return found;
}

// The same at the start of a text whose first token may have other bytes: by a walk, since there is one such mask for
// each text.
RuleCompletions::Fitting RuleCompletions::fitting_at_start(Configuration configuration, TokenCount left,
                                                           Budget& budget) {
  const std::size_t words = automaton_.vocabulary(true).words();
  Fitting found{Words(words), false, Words(words), {}};
  const Configuration approximation = automaton_.approximated(configuration, budget);
  const bool is_exact = approximation.state == configuration.state;
  walk_classes(automaton_.steps(), approximation, budget, [&](StateId target, const TokenClass& token_class) {
    const TokenCount needed = texts_.tokens(target, budget);
    if (needed > left - 1) return;
    const bool is_sure = is_exact || needed + kSpare <= left - 1;
    for (const std::uint32_t token : token_class.tokens) set_bit(is_sure ? found.tokens : found.along, token);
  });
  return found;
}

// Tokens that may begin a text of their own.
const Words& RuleCompletions::beginning_tokens() {
  if (beginning_tokens_) return *beginning_tokens_;
  const Vocabulary& vocabulary = automaton_.vocabulary(false);
  const Arena& arena = automaton_.automaton().arena();
  const ByteSet beginnings = arena.separators() | arena.openers();
  Words found(vocabulary.words());
  for (const std::uint32_t token : vocabulary.trie().order())
    if (std::ranges::any_of(vocabulary.bytes({token}),
                            [&](char byte) { return beginnings.contains(static_cast<std::uint8_t>(byte)); }))
      set_bit(found, token);
  return beginning_tokens_.emplace(std::move(found));
}

// Whether the closing text after alike tokens is the one that is expected: after the first and the last of them, and so
// after all.
bool RuleCompletions::are_closed(const Doubtful& alike, Configuration configuration, Budget& budget) {
  std::optional<std::uint32_t> first, last;
  for_each_bit(alike.tokens, [&](std::uint32_t token) {
    if (!first) first = token;
    last = token;
  });
  const auto is_closed_after = [&](std::uint32_t token) {
    const std::optional<StateId> target = automaton_.step(configuration, {token}, budget);
    return target && texts_.tokens(*target, budget) != kNoTokens && texts_.text(*target, budget).id == alike.text;
  };
  return first && is_closed_after(*first) && is_closed_after(*last);
}

// Adds those of the first doubtful tokens that leave enough room.
void RuleCompletions::add_closed(Words& tokens, const Words& doubtful, std::size_t most, Configuration configuration,
                                 TokenCount left, Budget& budget) {
  std::size_t asked = 0;
  for_each_bit(doubtful, [&](std::uint32_t token) {
    if (asked++ >= most) return;
    const auto target = automaton_.step(configuration, {token}, budget);
    if (target && texts_.tokens(*target, budget) <= left - 1) set_bit(tokens, token);
  });
}

MaskPtr RuleCompletions::mask_within(Configuration configuration, TokenCount left, Budget& budget) {
  const std::size_t words = automaton_.vocabulary(configuration.at_start).words();
  if (left == 0) return automaton_.mask_of_row(configuration, Words(words));
  const MaskPtr whole = automaton_.mask(configuration, budget);
  Fitting found = configuration.at_start ? fitting_at_start(configuration, left, budget)
                                         : fitting(configuration.state, left, budget);
  if (found.are_all) return whole;
  const Words allowed = whole->bits.row();
  const auto restrict_to = [words](Words& tokens, const Words& others) {
    for (std::size_t word = 0; word < words; ++word) tokens[word] &= others[word];
  };
  restrict_to(found.tokens, allowed);
  restrict_to(found.along, allowed);
  add_closed(found.tokens, found.along, kMostAlong, configuration, left, budget);
  for (Doubtful& doubtful : found.doubtful) {
    restrict_to(doubtful.tokens, allowed);
    if (doubtful.are_alike) {
      Words others = doubtful.tokens;
      restrict_to(others, beginning_tokens());
      for (std::size_t word = 0; word < words; ++word) doubtful.tokens[word] &= ~others[word];
      if (are_closed(doubtful, configuration, budget)) {
        for (std::size_t word = 0; word < words; ++word) found.tokens[word] |= doubtful.tokens[word];
        doubtful.tokens = std::move(others);
      }
    }
    add_closed(found.tokens, doubtful.tokens, kMostBefore, configuration, left, budget);
  }
  if (!automaton_.automaton().accepting(configuration.state)) {
    if (!configuration.at_start && texts_.tokens(configuration.state, budget) <= left)
      set_bit(found.tokens, texts_.step(configuration.state, budget).token.value);
    if (count_bits(found.tokens) == 0 && tokens_needed(configuration, budget) <= left)
      set_bit(found.tokens, first_step(configuration, budget).token.value);
  }
  return automaton_.mask_of_row(configuration, std::move(found.tokens));
}

void RuleCompletions::clear() {
  texts_.clear();
  endings_.clear();
  release(found_);
  release(to_close_);
  found_at_start_.reset();
  beginning_tokens_.reset();
}

}  // namespace tokamata
