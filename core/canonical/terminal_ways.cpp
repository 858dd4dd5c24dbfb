#include "canonical/terminal_ways.hpp"

#include <algorithm>
#include <optional>
#include <queue>
#include <set>
#include <unordered_map>

#include "composition/trie_walk.hpp"

namespace tokamata {

namespace {
constexpr std::size_t kFew = 512;          // tokens that are listed rather than kept as bits
constexpr std::size_t kMostOpened = 4096;  // pairs of one search for a way out
}  // namespace

// ---- where tokens leave a terminal --------------------------------------------------------------

TerminalWaysMaker::StepsPtr TerminalWaysMaker::steps(ExpressionId terminal, const std::string& key, Budget& budget) {
  if (const auto known = steps_.find(terminal.value); known != steps_.end()) return known->second;
  if (!key.empty())
    if (StepsPtr known = tokenization_.terminal_steps().find(key)) return known;
  ByteAutomaton& bytes = pattern_.automaton();
  const TokenTrie& trie = tokenization_.vocabulary().trie();
  Tokenization::TerminalSteps made;
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;
  walk_trie(trie, TokenTrie::root(), bytes, bytes.state_of(terminal, budget), budget, [&](NodeId node, StateId state) {
    for (std::uint32_t i = trie.node(node).tokens_begin; i < trie.own_end(node); ++i) {
      const std::uint32_t token = trie.order()[i];
      if (!has_bit(tokenization_.possible(), token)) continue;
      const auto [number, is_new] = numbers.try_emplace(state.value, static_cast<std::uint32_t>(made.samples.size()));
      if (is_new) made.samples.push_back(token);
      made.tokens.emplace_back(token, number->second);
    }
    return true;
  });
  auto result = std::make_shared<const Tokenization::TerminalSteps>(std::move(made));
  if (!key.empty()) return tokenization_.terminal_steps().keep(key, std::move(result));
  bytes_ += result->tokens.size() * sizeof result->tokens[0];
  return steps_.emplace(terminal.value, std::move(result)).first->second;
}

// ---- how a code point is ended ------------------------------------------------------------------

const TerminalWaysMaker::Endings& TerminalWaysMaker::endings(StateId state, std::uint16_t guess, std::uint16_t place, int most,
                                                             KnownEndings& known, Budget& budget) {
  const auto key = std::tuple(state, guess, place);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  Endings found;
  for (unsigned value = 0x80; value < 0xC0 && most > 0; ++value) {
    const auto byte = static_cast<std::uint8_t>(value);
    const std::optional<TokenId> token = tokenization_.byte_token(byte);
    if (!token) continue;
    budget.step();
    const StateId reached = pattern_.automaton().next(state, byte, budget);
    TextState after{guess, place, TextState::kAnyStarter};
    if (reached == ByteAutomaton::kDead || !tokenization_.read(after, *token)) continue;
    if (after.place == CodePoints::kBetween) {
      found.push_back({*token, reached, after.guess});
      continue;
    }
    for (const Ending& next : endings(reached, after.guess, after.place, most - 1, known, budget))
      if (tokenization_.pieces().follow(0, *token, next.token)) {
        found.push_back({*token, next.state, next.guess});
        break;
      }
  }
  return known.emplace(key, std::move(found)).first->second;
}

// ---- ways out -----------------------------------------------------------------------------------

class TerminalWaysMaker::Maker {
 public:
  Maker(TerminalWaysMaker& all, std::uint16_t guess, Hypothesis::Edge edge, Budget& budget)
      : all_(all), bytes_(all.pattern_.automaton()), tokenization_(all.tokenization_), rules_(tokenization_.rules()),
        budget_(budget), is_border_(edge == Hypothesis::Edge::Border), landing_(tokenization_.landing(guess, CodePoints::kBetween)) {}

  Tokenization::TerminalWays make(ExpressionId terminal, const Tokenization::TerminalSteps& steps) {
    find_states(terminal, steps);
    const Words& allowed = is_border_ ? tokenization_.pieces().beginning() : tokenization_.pieces().following();
    const Words& plain = tokenization_.plain(is_border_);
    for (const auto& [token, number] : steps.tokens) {
      const std::uint16_t landed = has_bit(allowed, token) ? landing_->target_of(token) : std::uint16_t{0};
      if (landed == 0) continue;
      const Landing::Target& target = landing_->targets()[landed - 1u];
      if (has_bit(tokenization_.meeting(), token)) {
        ways_.doubtful.push_back(token);
      } else if (target.place == CodePoints::kBetween) {
        const bool is_opening = has_bit(tokenization_.opening(), token);
        const AddedTokens::Open open =
            is_opening ? rules_.added().next(AddedTokens::kNothing, tokenization_.vocabulary().bytes({token})) : AddedTokens::kNothing;
        add(token, slot(number, landed, open));
      } else if (has_bit(plain, token)) {
        add_within(token, number, target);
      } else {
        ways_.doubtful.push_back(token);
      }
    }
    for (auto& group : ways_.groups) {
      if (group.listed.size() <= kFew) continue;
      group.words.assign(tokenization_.vocabulary().words(), 0);
      for (const std::uint32_t token : group.listed) set_bit(group.words, token);
      group.listed = {};
    }
    return std::move(ways_);
  }

 private:
  static constexpr std::uint32_t kNotAsked = ~std::uint32_t{0}, kNone = kNotAsked - 1;

  void find_states(ExpressionId terminal, const Tokenization::TerminalSteps& steps) {
    const StateId start = bytes_.state_of(terminal, budget_);
    for (const std::uint32_t sample : steps.samples) {
      StateId state = start;
      for (const char byte : tokenization_.vocabulary().bytes({sample})) state = bytes_.next(state, static_cast<std::uint8_t>(byte), budget_);
      states_.push_back(state);
    }
  }

  void add(std::uint32_t token, std::uint32_t group) {
    (group == kNone ? ways_.doubtful : ways_.groups[group].listed).push_back(token);
  }

  // The group of tokens that leave this of the terminal, and land there.
  std::uint32_t slot(std::uint32_t number, std::uint16_t landed, AddedTokens::Open open) {
    if (open == AddedTokens::kNothing && number == last_number_ && landed == last_landed_) return last_group_;
    const auto [known, is_new] = slots_.try_emplace(std::tuple(number, landed, open), kNone);
    if (is_new) {
      const Landing::Target& target = landing_->targets()[landed - 1u];
      known->second = group_of(states_[number], {target.guess, target.place, rules_.any_starter(), 0, open});
    }
    if (open == AddedTokens::kNothing) {
      last_number_ = number;
      last_landed_ = landed;
      last_group_ = known->second;
    }
    return known->second;
  }

  // A token that ends within a code point; single bytes may end it, if they may stand behind this token.
  void add_within(std::uint32_t token, std::uint32_t number, const Landing::Target& target) {
    const auto follows = [&](TokenId next) { return tokenization_.pieces().follow(0, {token}, next).has_value(); };
    for (const Ending& ending : all_.endings(states_[number], target.guess, target.place, 3, endings_, budget_)) {
      if (!follows(ending.token)) continue;
      const TextState text{ending.guess, CodePoints::kBetween, rules_.any_starter()};
      const auto [known, is_new] = ended_.try_emplace(std::pair(ending.state, ending.guess), kNone);
      if (is_new) known->second = group_of(ending.state, text);
      if (known->second != kNone) return add(token, known->second);
    }
    // Many are dead whatever follows: no token at all goes on from there.
    const LandingPtr beyond = tokenization_.landing(target.guess, target.place);
    if (std::ranges::any_of(beyond->listed(), [&](const auto& next) { return follows({next.first}); })) ways_.doubtful.push_back(token);
  }

  std::uint32_t group_of(StateId state, const TextState& text) {
    if (bytes_.accepting(state)) return group_number(text, true);
    const std::optional<TextState> exit = search(state, text);
    return exit ? group_number(*exit, false) : kNone;
  }

  std::uint32_t group_number(const TextState& text, bool is_at_border) {
    const auto [known, is_new] = group_numbers_.try_emplace(std::pair(text, is_at_border), static_cast<std::uint32_t>(ways_.groups.size()));
    if (is_new) ways_.groups.push_back({text, is_at_border, {}, {}});
    return known->second;
  }

  // Behind the border of a pre-token: the first end of the terminal that a text comes to, what is nearest first.
  std::optional<TextState> search(StateId start, const TextState& from) {
    struct Open {
      std::uint64_t estimate, order;
      StateId state;
      TextState text;
      bool operator<(const Open& other) const { return estimate != other.estimate ? estimate > other.estimate : order > other.order; }
    };
    std::priority_queue<Open> open;
    std::set<std::pair<StateId, TextState>> met;
    const auto offer = [&](StateId state, const TextState& text) {
      if (met.emplace(state, text).second) open.push({bytes_.node(state).shortest, met.size(), state, text});
    };
    const auto offer_ends = [&](StateId state, TextState text) {
      for (const std::uint16_t guess : rules_.ends(TextState(text).guess)) {
        text.guess = guess;
        offer(state, text);
      }
    };
    offer_ends(start, from);
    for (std::size_t opened = 0; !open.empty() && opened < kMostOpened; ++opened) {
      const Open here = open.top();
      open.pop();
      budget_.step();
      if (here.text.place == CodePoints::kBetween) offer_ends(here.state, here.text);
      for (unsigned value = 0; value < 256; ++value) {
        const auto byte = static_cast<std::uint8_t>(value);
        const StateId target = bytes_.next(here.state, byte, budget_);
        if (target == ByteAutomaton::kDead) continue;
        TextState after = here.text;
        if (!rules_.read(after, byte)) continue;
        if (bytes_.accepting(target) && after.place == CodePoints::kBetween) return after;
        offer(target, after);
      }
    }
    return std::nullopt;
  }

  TerminalWaysMaker& all_;
  ByteAutomaton& bytes_;
  const Tokenization& tokenization_;
  const TextRules& rules_;
  Budget& budget_;
  bool is_border_;
  LandingPtr landing_;
  std::vector<StateId> states_;
  Tokenization::TerminalWays ways_;
  std::map<std::tuple<std::uint32_t, std::uint16_t, AddedTokens::Open>, std::uint32_t> slots_;
  std::map<std::pair<StateId, std::uint16_t>, std::uint32_t> ended_;
  std::map<std::pair<TextState, bool>, std::uint32_t> group_numbers_;
  KnownEndings endings_;
  std::uint32_t last_number_ = kNotAsked, last_landed_ = 0, last_group_ = kNone;
};

const TerminalWaysMaker::WaysPtr& TerminalWaysMaker::ways(ExpressionId terminal, std::uint16_t guess, Hypothesis::Edge edge,
                                                          Budget& budget) {
  const auto own = std::tuple(terminal.value, guess, edge);
  if (const auto known = known_.find(own); known != known_.end()) return known->second;
  const Arena& arena = pattern_.automaton().arena();
  const std::string key = arena.structure(arena.node(terminal).body());
  std::string name = key;
  for (const std::uint32_t number : {std::uint32_t{guess}, std::uint32_t{edge == Hypothesis::Edge::Border}})
    name.append(reinterpret_cast<const char*>(&number), sizeof number);
  WaysPtr found = key.empty() ? nullptr : tokenization_.terminal_ways().find(name);
  if (!found) {
    found = std::make_shared<const Tokenization::TerminalWays>(Maker(*this, guess, edge, budget).make(terminal, *steps(terminal, key, budget)));
    if (key.empty())
      bytes_ += found->memory_bytes();
    else
      found = tokenization_.terminal_ways().keep(name, std::move(found));
  }
  bytes_ += 96;
  return known_.emplace(own, std::move(found)).first->second;
}

void TerminalWaysMaker::clear() {
  known_.clear();
  steps_.clear();
  bytes_ = 0;
}

}  // namespace tokamata
