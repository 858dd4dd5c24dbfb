#include "composition/rule_completions.hpp"

#include <algorithm>
#include <unordered_set>

#include "composition/class_walk.hpp"

namespace tokamata {

// ---- the search -------------------------------------------------------------------------------

// Of the states of rules, for the search.
class RuleCompletions::Graph {
 public:
  Graph(RuleCompletions& completions, Budget& budget)
      : completions_(completions),
        automaton_(completions.automaton_),
        budget_(budget),
        most_states_(automaton_.automaton().state_count() + kMostStates) {}

  bool has_room() const { return classes_ < kMostClasses && automaton_.automaton().state_count() < most_states_; }
  TokenCount known(Configuration place) { return completions_.known(place, budget_); }
  // No token finishes a text that does not accept in less than one.
  TokenCount at_least(Configuration place) const { return place.at_start ? 1 : automaton_.room(place.state).at_least; }
  TokenCount estimate(Configuration, TokenCount) const { return kNoTokens; }

  template <class Offer>
  void expand(Configuration place, Offer&& offer) {
    const Configuration approximation = automaton_.operands().approximated(place, budget_);
    std::unordered_map<std::uint32_t, std::size_t> followed;  // by state of the over-approximation
    walk_classes(automaton_.steps(), approximation, budget_, [&](StateId reached, const TokenClass& token_class) {
      ++classes_;
      std::size_t& count = followed[reached.value];
      if (count == kMostAlike || !has_room()) return;
      const TokenId token{*std::ranges::min_element(token_class.tokens)};
      const std::optional<StateId> target =
          approximation.state == place.state ? reached : automaton_.step(place, token, budget_);
      if (!target) return;
      const TokenCount rest = known({*target, false});
      offer(token, {*target, false});
      const bool is_kept = automaton_.automaton().node(*target).by_byte && rest > 1;
      count = is_kept ? count + 1 : kMostAlike;
    });
  }

 private:
  RuleCompletions& completions_;
  TokenAutomaton& automaton_;
  Budget& budget_;
  std::size_t classes_ = 0;
  std::size_t most_states_;
};

// ---- few tokens -------------------------------------------------------------------------------

TokenCount RuleCompletions::known(Configuration configuration, Budget& budget) {
  if (const auto found = found_.find(configuration); found != found_.end()) return found->second.tokens;
  return configuration.at_start ? kNoTokens : texts_.tokens(configuration.state, budget);
}

RuleCompletions::Step RuleCompletions::first_step(Configuration configuration, Budget& budget) {
  if (const auto known = found_.find(configuration); known != found_.end()) return known->second;
  Search search(configuration, known(configuration, budget));
  Graph graph(*this, budget);
  auto [path, tokens] = search.run(graph);
  // What was found before from a place is kept, unless this is shorter: a caller has that number.
  std::vector<std::pair<Configuration, Step>> steps;
  Configuration at = configuration;
  for (const Step& step : path) {
    if (found_.contains(at) && length(at) <= step.tokens) break;
    steps.emplace_back(at, step);
    at = step.target;
    --tokens;
  }
  while (!automaton_.automaton().accepting(at.state) && !found_.contains(at)) {
    const ClosingTexts::Step& step = texts_.step(at.state, budget);
    steps.emplace_back(at, Step{step.token, {step.target, false}, tokens--});
    at = steps.back().second.target;
  }
  for (const auto& [place, step] : steps) found_.insert_or_assign(place, step);
  return steps.front().second;
}

TokenCount RuleCompletions::length(Configuration configuration) const {
  TokenCount tokens = 0;
  for (; !automaton_.automaton().accepting(configuration.state); ++tokens)
    configuration = found_.at(configuration).target;
  return tokens;
}

std::vector<TokenId> RuleCompletions::shortest(Configuration configuration, Budget& budget) {
  std::vector<TokenId> tokens;
  while (!automaton_.automaton().accepting(configuration.state)) {
    const Step step = first_step(configuration, budget);
    tokens.push_back(step.token);
    configuration = step.target;
  }
  return tokens;
}

TokenCount RuleCompletions::tokens_to_close(StateId state, Budget& budget) {
  if (const auto known = to_close_.find(state.value); known != to_close_.end()) return known->second;
  TokenCount best = texts_.tokens(state, budget);
  const Configuration configuration{state, false};
  if (best <= kNear && best > automaton_.room(state).at_least) {
    const Configuration approximation = automaton_.operands().approximated(configuration, budget);
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
  const StateId approximation = automaton_.operands().approximated({state, false}, budget).state;
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
  const Configuration approximation = automaton_.operands().approximated(configuration, budget);
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
  const ByteSet beginnings = arena.rule_sets().separators() | arena.rule_sets().openers();
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

MaskPtr RuleCompletions::mask_within(Configuration configuration, TokenCount left, Budget& budget,
                                     VerifiedTokens* verified) {
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
  const HandOver hand_over(verified, [&](VerifiedTokens& to) { to.add_row(found.tokens); });
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
  beginning_tokens_.reset();
}

}  // namespace tokamata
