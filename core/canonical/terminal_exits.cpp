#include "canonical/terminal_exits.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "common/best_first.hpp"
#include "common/memoized.hpp"
#include "composition/trie_walk.hpp"

namespace tokamata {

namespace {
constexpr std::size_t kMostOpened = 4096;  // pairs of one search for an exit
constexpr std::uint64_t kGreed = 4;        // what a byte to come counts for one that is read, in a search
constexpr std::size_t kManyJudged = 1000;  // tokens that are near to a bound: more are no less work than all
}  // namespace

// ---- where tokens leave a terminal --------------------------------------------------------------

// The first bytes of the code points that lead from a state back to it.
const ByteSet& TerminalExitsMaker::loop(StateId state, Budget& budget) {
  if (const auto known = loops_.find(state); known != loops_.end()) return known->second;
  ByteSet taken;
  std::map<std::pair<StateId, int>, bool> known;
  for (unsigned value = 0; value < 0xF5; ++value) {
    const auto byte = static_cast<std::uint8_t>(value);
    const StateId target = pattern_.automaton().next(state, byte, budget);
    if (target == ByteAutomaton::kDead || (value >= 0x80 && value < 0xC2)) continue;
    const int more = value < 0x80 ? 0 : value < 0xE0 ? 1 : value < 0xF0 ? 2 : 3;
    // Not all bytes may stand after these four; whether the others are dead is left open.
    const bool is_narrow = value == 0xE0 || value == 0xED || value == 0xF0 || value == 0xF4;
    if (!is_narrow && returns(target, more, state, known, budget)) taken.add(byte);
  }
  return loops_.emplace(state, taken).first->second;
}

bool TerminalExitsMaker::returns(StateId from, int more, StateId to, std::map<std::pair<StateId, int>, bool>& known,
                                 Budget& budget) {
  if (more == 0) return from == to;
  if (from == ByteAutomaton::kDead) return false;
  if (const auto found = known.find({from, more}); found != known.end()) return found->second;
  ByteAutomaton& bytes = pattern_.automaton();
  bool all = true;
  for (unsigned value = 0x80; all && value < 0xC0; ++value) {
    const auto byte = static_cast<std::uint8_t>(value);
    if (value > 0x80 && bytes.byte_class(byte) == bytes.byte_class(static_cast<std::uint8_t>(value - 1))) continue;
    all = returns(bytes.next(from, byte, budget), more - 1, to, known, budget);
  }
  return known[{from, more}] = all;
}

TerminalExitsMaker::StepsPtr TerminalExitsMaker::steps(ExpressionId terminal, const std::string& key, Budget& budget) {
  if (const auto known = steps_.find(terminal.value); known != steps_.end()) return known->second.shared();
  if (!key.empty())
    if (StepsPtr known = tokenization_.terminal_steps().find(key)) return known;
  ByteAutomaton& bytes = pattern_.automaton();
  const Vocabulary& vocabulary = tokenization_.vocabulary();
  const TokenTrie& trie = vocabulary.trie();
  Tokenization::TerminalSteps made;
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> runs;  // by number: of the trie's order
  const StateId start = bytes.state_of(terminal, budget);
  // As much of a text as leads to the state: below a node that is all that is on the path to it, or more.
  const auto way_to = [&](StateId state, std::string_view text) {
    std::size_t length = 0;
    StateId at = start;
    for (std::size_t i = 0; i < text.size(); ++i) {
      at = bytes.next(at, static_cast<std::uint8_t>(text[i]), budget);
      if (at == state) length = i + 1;
    }
    return std::string(text.substr(0, length));
  };
  const auto add = [&](std::uint32_t begin, std::uint32_t end, StateId state) {
    if (begin == end) return;
    const auto [number, is_new] = numbers.try_emplace(state.value, static_cast<std::uint32_t>(runs.size()));
    if (is_new) {
      runs.emplace_back();
      made.samples.push_back(way_to(state, vocabulary.bytes({trie.order()[begin]})));
    }
    std::vector<std::pair<std::uint32_t, std::uint32_t>>& own = runs[number->second];
    if (!own.empty() && own.back().second == begin) own.back().second = end;
    else own.emplace_back(begin, end);
  };
  walk_trie(trie, TokenTrie::root(), bytes, start, budget, [&](NodeId node, StateId state) {
    const std::uint32_t begin = trie.node(node).tokens_begin, own_end = trie.own_end(node),
                        end = trie.node(node).tokens_end;
    add(begin, own_end, state);
    // A terminal at its root may be met once; where it is a loop, so is what stands below each byte.
    if (node == TokenTrie::root() || end - own_end < kLeastForALoop ||
        !trie.below(trie.node(node)).is_subset_of(loop(state, budget)))
      return true;
    add(own_end, end, state);
    return false;
  });
  const auto take = [&](std::uint32_t begin, std::uint32_t end, auto&& visit) {
    for (std::uint32_t i = begin; i < end; ++i) visit(trie.order()[i]);
  };
  for (std::uint32_t number = 0; number < runs.size(); ++number) {
    std::size_t count = 0;
    for (const auto& [begin, end] : runs[number]) count += end - begin;
    if (count <= TokenSet::most_listed(vocabulary.words())) {
      for (const auto& [begin, end] : runs[number])
        take(begin, end, [&](std::uint32_t token) {
          if (has_bit(tokenization_.possible(), token)) made.tokens.emplace_back(token, number);
        });
      continue;
    }
    Words& words = made.many.emplace_back(number, Words()).second;
    if (2 * count <= trie.order().size()) {
      words.assign(vocabulary.words(), 0);
      for (const auto& [begin, end] : runs[number])
        take(begin, end, [&](std::uint32_t token) { set_bit(words, token); });
    } else {
      words = vocabulary.text_words();
      std::uint32_t done = 0;
      for (const auto& [begin, end] : runs[number]) {
        take(done, begin, [&](std::uint32_t token) { clear_bit(words, token); });
        done = end;
      }
      take(done, static_cast<std::uint32_t>(trie.order().size()),
           [&](std::uint32_t token) { clear_bit(words, token); });
    }
    for (std::size_t i = 0; i < words.size(); ++i) words[i] &= tokenization_.possible()[i];
  }
  auto result = std::make_shared<const Tokenization::TerminalSteps>(std::move(made));
  if (!key.empty()) return tokenization_.terminal_steps().keep(key, std::move(result));
  return steps_.emplace(terminal.value, Kept(std::move(result))).first->second.shared();
}

// ---- how a code point is ended ------------------------------------------------------------------

const TerminalExitsMaker::Endings& TerminalExitsMaker::endings(StateId state, std::uint16_t guess, std::uint16_t place,
                                                               int most, KnownEndings& known, Budget& budget) {
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
      if (tokenization_.pieces().leads_on(*token, next.token)) {
        found.push_back({*token, next.state, next.guess});
        break;
      }
  }
  return known.emplace(key, std::move(found)).first->second;
}

// ---- exits out -----------------------------------------------------------------------------------

class TerminalExitsMaker::Maker {
 public:
  Maker(TerminalExitsMaker& all, std::uint16_t guess, Hypothesis::Edge edge, Budget& budget)
      : all_(all),
        guess_(guess),
        bytes_(all.pattern_.automaton()),
        tokenization_(all.tokenization_),
        rules_(tokenization_.rules()),
        budget_(budget),
        is_border_(edge == Hypothesis::Edge::Border),
        landing_(tokenization_.landing(guess, CodePoints::kBetween)) {}

  Tokenization::TerminalExits make(ExpressionId terminal, const Tokenization::TerminalSteps& steps) {
    start_ = bytes_.state_of(terminal, budget_);
    for (const std::string& sample : steps.samples) states_.push_back(behind(sample));
    const Words& allowed = is_border_ ? tokenization_.pieces().beginning() : tokenization_.pieces().following();
    for (const auto& [token, number] : steps.tokens) {
      budget_.step();
      const std::uint16_t landed = has_bit(allowed, token) ? landing_->target_of(token) : std::uint16_t{0};
      if (landed != 0) add_one(token, number, landed);
    }
    if (!steps.many.empty()) {
      const Tokenization::LandingSetsPtr sets = tokenization_.landing_sets(guess_, is_border_);
      for (const auto& [number, words] : steps.many) add_many(number, words, *sets);
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      TokenSet& tokens = exits_.groups[i].tokens;
      tokens = TokenSet::of(std::move(tokens.listed), tokenization_.vocabulary().words(), std::move(rows_[i]));
    }
    return std::move(exits_);
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  static constexpr std::size_t kMostExits = 4;     // from one place, inside a pre-token
  static constexpr std::size_t kMostInside = 512;  // places of a search for them
  using Kind = Tokenization::TerminalExits::Group::Kind;
  // An exit for all tokens, or for those that a token may stand after.
  struct Exit {
    std::uint32_t group;
    std::optional<TokenId> first;
  };
  using Exits = std::vector<Exit>;

  bool may_take(const Exit& exit, std::uint32_t token) const {
    return !exit.first || (has_bit(tokenization_.pieces().settled(is_border_), token) &&
                           tokenization_.pieces().leads_on({token}, *exit.first));
  }

  StateId behind(std::string_view text) {
    StateId state = start_;
    for (const char byte : text) state = bytes_.next(state, static_cast<std::uint8_t>(byte), budget_);
    return state;
  }

  void add_one(std::uint32_t token, std::uint32_t number, std::uint16_t landed) {
    const Landing::Target& target = landing_->targets()[landed - 1u];
    if (has_bit(tokenization_.meeting(), token)) {
      exits_.doubtful.push_back(token);
    } else if (target.place == CodePoints::kBetween) {
      const bool is_opening = has_bit(tokenization_.opening(), token);
      const AddedTokens::Open open =
          is_opening ? rules_.added().next(AddedTokens::kNothing, tokenization_.vocabulary().bytes({token}))
                     : AddedTokens::kNothing;
      add(token, slot(number, landed, open));
    } else if (has_bit(tokenization_.plain(is_border_), token)) {
      add_within(token, behind(tokenization_.vocabulary().bytes({token})), target);
    } else {
      exits_.doubtful.push_back(token);
    }
  }

  void add_many(std::uint32_t number, const Words& words, const Tokenization::LandingSets& sets) {
    Words left(words.size());
    for (const auto& [landed, there] : sets.many) {
      for (std::size_t i = 0; i < words.size(); ++i) left[i] = words[i] & there[i];
      for (const Exit& exit : slot(number, landed, AddedTokens::kNothing)) {
        Words& own = rows_[exit.group];
        own.resize(words.size(), 0);
        if (!exit.first) {
          unite_bits(own, left);
          std::ranges::fill(left, 0);
          break;
        }
        const std::shared_ptr<const Words> before = tokenization_.before(*exit.first);
        const Words& settled = tokenization_.pieces().settled(is_border_);
        for (std::size_t i = 0; i < words.size(); ++i) {
          const std::uint32_t taken = left[i] & (*before)[i] & settled[i];
          own[i] |= taken;
          left[i] &= ~taken;
        }
      }
      for_each_bit(left, [&](std::uint32_t token) { exits_.doubtful.push_back(token); });
    }
    for (const auto& [token, landed] : sets.few)
      if (has_bit(words, token)) add(token, slot(number, landed, AddedTokens::kNothing));
    for_each_bit_of(
        words.size(), [&](std::size_t i) { return words[i] & sets.others[i]; },
        [&](std::uint32_t token) { add_one(token, number, landing_->target_of(token)); });
  }

  void add(std::uint32_t token, const Exits& exits) {
    const auto exit = std::ranges::find_if(exits, [&](const Exit& some) { return may_take(some, token); });
    (exit == exits.end() ? exits_.doubtful : exits_.groups[exit->group].tokens.listed).push_back(token);
  }

  // The exits out of tokens that leave this of the terminal, and land there.
  const Exits& slot(std::uint32_t number, std::uint16_t landed, AddedTokens::Open open) {
    return memoized(slots_, std::tuple(number, landed, open), [&] {
      const Landing::Target& target = landing_->targets()[landed - 1u];
      return exits_from(states_[number], {target.guess, target.place, rules_.any_starter(), 0, open});
    });
  }

  // A token that ends within a code point; single bytes may end it, if they may stand after this token.
  void add_within(std::uint32_t token, StateId state, const Landing::Target& target) {
    const auto follows = [&](TokenId next) { return tokenization_.pieces().leads_on({token}, next); };
    for (const Ending& ending : all_.endings(state, target.guess, target.place, 3, endings_, budget_)) {
      if (!follows(ending.token)) continue;
      const TextState text{ending.guess, CodePoints::kBetween, rules_.any_starter()};
      const Exits& exits = memoized(ended_, std::tuple(ending.state, ending.guess, ending.token),
                                    [&] { return exits_by_text(ending.state, text, 3); });
      if (!exits.empty()) return add(token, exits);
    }
    // Many are dead whatever follows: no token at all goes on from there.
    const LandingPtr beyond = tokenization_.landing(target.guess, target.place);
    if (std::ranges::any_of(beyond->listed(), [&](const auto& next) { return follows({next.first}); }))
      exits_.doubtful.push_back(token);
  }

  // `length` of a text that has led there.
  Exits exits_by_text(StateId state, const TextState& text, std::size_t length) {
    if (bytes_.accepting(state)) return {{group_number(text, Kind::Token, {}, length), std::nullopt}};
    const std::optional<Arrival> exit = search(state, text);
    if (!exit) return {};
    return {{group_number(exit->text, Kind::Text, {}, length + exit->length), std::nullopt}};
  }

  Exits exits_from(StateId state, const TextState& text) {
    Exits exits = exits_by_text(state, text, 0);
    return exits.empty() ? exits_inside(state, text) : exits;
  }

  std::uint32_t group_number(const TextState& text, Kind kind, TokenId last, std::size_t length) {
    const auto [known, is_new] =
        group_numbers_.try_emplace(std::tuple(text, kind, last), static_cast<std::uint32_t>(exits_.groups.size()));
    if (is_new) {
      exits_.groups.push_back({text, kind, last, 0, {}});
      rows_.emplace_back();
    }
    exits_.groups[known->second].length = std::max(exits_.groups[known->second].length, length);
    return known->second;
  }

  // By tokens of single bytes, breadth first.
  Exits exits_inside(StateId start, const TextState& from) {
    struct Place {
      StateId state;
      TextState text;
      TokenId first, last;
      std::size_t length;
    };
    Exits exits;
    std::vector<Place> open{{start, from, {}, {}, 0}};
    std::set<std::tuple<StateId, TextState, TokenId, TokenId>> met;
    for (std::size_t at = 0; at < open.size() && at < kMostInside && exits.size() < kMostExits; ++at) {
      const Place here = open[at];  // a copy: the list grows
      budget_.step();
      if (std::ranges::any_of(exits, [&](const Exit& exit) { return here.length > 0 && exit.first == here.first; }))
        continue;
      for (unsigned value = 0; value < 256 && exits.size() < kMostExits; ++value) {
        const auto byte = static_cast<std::uint8_t>(value);
        budget_.step();
        const std::optional<TokenId> token = tokenization_.byte_token(byte);
        const StateId target = token ? bytes_.next(here.state, byte, budget_) : ByteAutomaton::kDead;
        if (target == ByteAutomaton::kDead || (here.length > 0 && !tokenization_.pieces().leads_on(here.last, *token)))
          continue;
        Place after{target, here.text, here.length > 0 ? here.first : *token, *token, here.length + 1};
        if (!tokenization_.read(after.text, *token) || !met.emplace(target, after.text, after.first, *token).second)
          continue;
        if (bytes_.accepting(target) && after.text.place == CodePoints::kBetween)
          exits.push_back({group_number(after.text, Kind::Inside, *token, after.length), after.first});
        else open.push_back(after);
      }
    }
    return exits;
  }

  // Bytes to the end of the terminal: some number, if one is known, or the least.  Of numbers without one the least is
  // often 0.
  std::uint64_t rest_of(StateId state) {
    const ExpressionNode& node = bytes_.node(state);
    const std::uint32_t rest = node.spelled != ExpressionNode::kUnspelled ? node.spelled : node.shortest;
    return bytes_.accepting(state) ? 0 : std::max<std::uint64_t>(rest, 1);
  }

  // After the border of a pre-token: an end of the terminal that a text comes to; nearly the nearest (a weighted A*),
  // since the least number of bytes may be a bound that is far too low.  What is found at the end is known on the path
  // to it.
  std::optional<Arrival> search(StateId start, const TextState& from) {
    struct Met {
      TextLiveness::Pair pair;
      std::size_t came_from, length;
    };
    std::vector<Met> met;
    std::unordered_set<TextLiveness::Pair, TextLiveness::PairHash> numbers;
    Frontier<std::pair<std::uint64_t, std::size_t>> open;  // estimate, and the number of what was met
    const auto offer = [&](StateId state, const TextState& text, std::size_t came_from, std::size_t length) {
      if (!numbers.emplace(state, text).second) return;
      open.add({length + kGreed * rest_of(state), met.size()});
      met.push_back({{state, text}, came_from, length});
    };
    const auto offer_ends = [&](StateId state, const TextState& text, std::size_t came_from, std::size_t length) {
      for (const std::uint16_t guess : rules_.ends(text.guess)) {
        TextState behind = text;
        behind.guess = guess;
        offer(state, behind, came_from, length);
      }
    };
    const auto found = [&](std::size_t number, const TextState& text, std::size_t length) {
      const std::size_t whole = met[number].length + length;
      for (std::size_t at = number; at != kNone; at = met[at].came_from)
        all_.arrivals_.emplace(met[at].pair, Arrival{text, whole - met[at].length});
      return Arrival{text, whole};
    };
    offer_ends(start, from, kNone, 0);
    for (std::size_t opened = 0; !open.empty() && opened < kMostOpened; ++opened) {
      const std::size_t number = open.take().second;
      const auto [state, text] = met[number].pair;
      const std::size_t length = met[number].length;
      budget_.step();
      if (const auto known = all_.arrivals_.find(met[number].pair); known != all_.arrivals_.end()) {
        if (known->second) return found(number, known->second->text, known->second->length);
        continue;
      }
      if (text.place == CodePoints::kBetween) offer_ends(state, text, number, length);
      TextLiveness::Pair before = met[number].pair;  // bytes side by side often lead to the same pair
      for (unsigned value = 0; value < 256; ++value) {
        const auto byte = static_cast<std::uint8_t>(value);
        const StateId target = bytes_.next(state, byte, budget_);
        if (target == ByteAutomaton::kDead) continue;
        TextState after = text;
        if (!rules_.read(after, byte) || TextLiveness::Pair(target, after) == before) continue;
        if (bytes_.accepting(target) && after.place == CodePoints::kBetween) return found(number, after, 1);
        before = {target, after};
        offer(target, after, number, length + 1);
      }
    }
    for (const Met& at : met)
      if (open.empty() || at.came_from == kNone) all_.arrivals_.emplace(at.pair, std::nullopt);
    return std::nullopt;
  }

  TerminalExitsMaker& all_;
  std::uint16_t guess_;
  StateId start_{};
  ByteAutomaton& bytes_;
  const Tokenization& tokenization_;
  const TextRules& rules_;
  Budget& budget_;
  bool is_border_;
  LandingPtr landing_;
  std::vector<StateId> states_;
  Tokenization::TerminalExits exits_;
  std::vector<Words> rows_;  // by group: its tokens that come many at once; mostly empty
  std::map<std::tuple<std::uint32_t, std::uint16_t, AddedTokens::Open>, Exits> slots_;
  std::map<std::tuple<StateId, std::uint16_t, TokenId>, Exits> ended_;
  std::map<std::tuple<TextState, Kind, TokenId>, std::uint32_t> group_numbers_;
  KnownEndings endings_;
};

// ---- bounds -------------------------------------------------------------------------------------

// Of some tokens, those that stay inside the terminal.
Tokenization::TerminalSteps TerminalExitsMaker::steps_of(ExpressionId terminal, std::span<const std::uint32_t> tokens,
                                                         Budget& budget) {
  Tokenization::TerminalSteps made;
  ByteAutomaton& bytes = pattern_.automaton();
  const StateId start = bytes.state_of(terminal, budget);
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;
  for (const std::uint32_t token : tokens) {
    const std::string_view text = tokenization_.vocabulary().bytes({token});
    StateId state = start;
    for (std::size_t i = 0; i < text.size() && state != ByteAutomaton::kDead; ++i)
      state = bytes.next(state, static_cast<std::uint8_t>(text[i]), budget);
    if (state == ByteAutomaton::kDead) continue;
    budget.step();
    const auto [number, is_new] = numbers.try_emplace(state.value, static_cast<std::uint32_t>(made.samples.size()));
    if (is_new) made.samples.emplace_back(text);
    made.tokens.emplace_back(token, number->second);
  }
  return made;
}

// The exits of a terminal from those of another one, which differs in what it does to `judged` alone.
TerminalExitsMaker::ExitsPtr TerminalExitsMaker::judged_exits(Tokenization::TerminalExits made, ExpressionId terminal,
                                                              std::span<const std::uint32_t> judged,
                                                              std::uint16_t guess, Hypothesis::Edge edge,
                                                              Budget& budget) {
  Tokenization::TerminalExits rest =
      Maker(*this, guess, edge, budget).make(terminal, steps_of(terminal, judged, budget));
  std::ranges::move(rest.groups, std::back_inserter(made.groups));
  made.doubtful.insert(made.doubtful.end(), rest.doubtful.begin(), rest.doubtful.end());
  return std::make_shared<const Tokenization::TerminalExits>(std::move(made));
}

// The exits of a terminal that excludes some texts, by those of the terminal with them; nothing where too many tokens
// begin such a text.
TerminalExitsMaker::ExitsPtr TerminalExitsMaker::exits_without(ExpressionId terminal,
                                                               const StringBounds::WithStrings& with,
                                                               std::uint16_t guess, Hypothesis::Edge edge,
                                                               Budget& budget) {
  const std::optional<std::vector<std::uint32_t>> along =
      pattern_.segments().tokens_along(with, TokenTrie::root(), kManyJudged, budget);
  if (!along) return nullptr;
  Words is_judged(tokenization_.vocabulary().words(), 0);
  for (const std::uint32_t token : *along)
    if (has_bit(tokenization_.possible(), token)) set_bit(is_judged, token);
  std::vector<std::uint32_t> judged;
  for_each_bit(is_judged, [&](std::uint32_t token) { judged.push_back(token); });
  Tokenization::TerminalExits made = *exits(with.terminal, guess, edge, budget);
  for (Tokenization::TerminalExits::Group& group : made.groups) group.tokens.remove(is_judged);
  std::erase_if(made.doubtful, [&](std::uint32_t token) { return has_bit(is_judged, token); });
  return judged_exits(std::move(made), terminal, judged, guess, edge, budget);
}

// The exits of a string whose bound is far from most tokens and their exits out; nothing where it is near to many.
TerminalExitsMaker::ExitsPtr TerminalExitsMaker::bounded_exits(ExpressionId terminal,
                                                               const StringBounds::Unbounded& unbounded,
                                                               std::uint16_t guess, Hypothesis::Edge edge,
                                                               Budget& budget) {
  const Vocabulary& vocabulary = tokenization_.vocabulary();
  const ExitsPtr all = exits(unbounded.terminal, guess, edge, budget);
  if (unbounded.sure >= vocabulary.trie().longest() + all->longest()) return all;
  const MaskCache::TokensPtr special = vocabulary.tokens_with(unbounded.special);
  const auto may_be_inside = [&](std::uint32_t token) {
    return vocabulary.code_points_begun({token}) <= unbounded.most || has_bit(special->words, token);
  };
  std::vector<std::uint32_t> judged;
  const auto judge = [&](std::uint32_t token) {
    if (may_be_inside(token)) judged.push_back(token);
  };
  Tokenization::TerminalExits made;
  for (const Tokenization::TerminalExits::Group& group : all->groups) {
    const std::uint64_t most = unbounded.sure > group.length ? unbounded.sure - group.length : 0;
    TokenSet& own = made.groups.emplace_back(group).tokens;
    std::erase_if(own.listed, [&](std::uint32_t token) {
      const bool is_far = vocabulary.code_points_begun({token}) > most;
      if (is_far) judge(token);
      return is_far;
    });
    if (!own.is_listed()) {
      Words far = *own.bits;
      const MaskCache::TokensPtr near = vocabulary.short_tokens(most);
      for (std::size_t i = 0; i < far.size(); ++i) far[i] &= ~near->words[i];
      for_each_bit(far, judge);
      own.remove(far);
    }
    if (judged.size() > kManyJudged) return nullptr;
  }
  std::ranges::copy_if(all->doubtful, std::back_inserter(made.doubtful), may_be_inside);
  return judged_exits(std::move(made), terminal, judged, guess, edge, budget);
}

const TerminalExitsMaker::ExitsPtr& TerminalExitsMaker::exits(ExpressionId terminal, std::uint16_t guess,
                                                              Hypothesis::Edge edge, Budget& budget) {
  const auto own = std::tuple(terminal.value, guess, edge);
  if (const auto known = known_.find(own); known != known_.end()) return known->second.shared();
  Arena& arena = pattern_.automaton().arena();
  if (const std::optional<StringBounds::WithStrings> with = arena.string_bounds().with_strings(terminal))
    if (ExitsPtr found = exits_without(terminal, *with, guess, edge, budget)) {
      return known_.emplace(own, Kept(std::move(found))).first->second.shared();
    }
  if (const std::optional<StringBounds::Unbounded> unbounded = arena.string_bounds().without_bound(terminal))
    if (ExitsPtr found = bounded_exits(terminal, *unbounded, guess, edge, budget)) {
      return known_.emplace(own, Kept(std::move(found))).first->second.shared();
    }
  const std::string key = arena.analyses().structure(arena.pool().node(terminal).body());
  std::string name = key;
  for (const std::uint32_t number : {std::uint32_t{guess}, std::uint32_t{edge == Hypothesis::Edge::Border}})
    name.append(reinterpret_cast<const char*>(&number), sizeof number);
  ExitsPtr found = key.empty() ? nullptr : tokenization_.terminal_exits().find(name);
  if (!found) {
    found = std::make_shared<const Tokenization::TerminalExits>(
        Maker(*this, guess, edge, budget).make(terminal, *steps(terminal, key, budget)));
    if (!key.empty()) found = tokenization_.terminal_exits().keep(name, std::move(found));
  }
  return known_.emplace(own, Kept(std::move(found))).first->second.shared();
}

void TerminalExitsMaker::clear() {
  release(known_);
  release(steps_);
  release(loops_);
  release(arrivals_);
}

}  // namespace tokamata
