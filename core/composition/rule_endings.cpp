#include "composition/rule_endings.hpp"

#include <algorithm>
#include <map>

#include "composition/rule_sinks.hpp"
#include "composition/rule_walk.hpp"
#include "composition/trie_walk.hpp"

namespace tokamata {

RuleEndings::RuleEndings(RuleWalkContext& context, ClosingTexts& texts)
    : context_(context),
      automaton_(context.operands.automaton()),
      vocabulary_(context.operands.vocabulary()),
      texts_(texts) {}

template <class Run>
std::shared_ptr<Endings> RuleEndings::collected(Budget& budget, Run&& run) {
  const RuleWalkPool::Lease buffers(context_.pool);
  EndingSink sink(context_, *this, buffers->rests, budget);
  RuleWalk<EndingSink> walk(context_, *buffers, sink, budget);
  [[maybe_unused]] const bool is_whole = run(walk);
  TOKAMATA_CHECK(is_whole, "masks alone are made to find out whether segments pay");
  return std::make_shared<Endings>(Endings{sink.take()});
}

std::shared_ptr<const Endings> RuleEndings::of(StateId approximation, Budget& budget) {
  if (const Kept<Endings>* const known = of_states_.find(approximation)) return known->shared();
  std::shared_ptr<Endings> made =
      collected(budget, [&](auto& walk) { return walk.run(automaton_.expression(approximation), TokenTrie::root()); });
  const SpelledTexts& spelled = texts_.spelled();
  std::ranges::sort(made->all, [&](const Ending& a, const Ending& b) {
    return a.text == b.text ? a.is_unverified > b.is_unverified : spelled.is_before(a.text, b.text);
  });
  return of_states_.keep(approximation, Kept<Endings>(std::move(made))).shared();
}

const Endings& RuleEndings::of_part(ExpressionId part, const TokenTrie& trie, NodeId node, Follow follow,
                                    Budget& budget) {
  const PartAt place{&trie, node, part};
  if (const auto known = of_parts_.find(place); known != of_parts_.end()) return *known->second;
  std::shared_ptr<const Endings> made =
      collected(budget, [&](auto& walk) { return walk.run_part(part, {&trie, node}, follow); });
  return *of_parts_.emplace(place, Kept<Endings>(std::move(made))).first->second;
}

// ---- terminals --------------------------------------------------------------------------------

const Endings& RuleEndings::of_terminal(ExpressionId terminal, const TokenTrie& trie, NodeId node, Follow follow,
                                        Budget& budget) {
  const PartAt place{&trie, node, terminal};
  if (const auto known = of_terminals_.find(place); known != of_terminals_.end()) return *known->second;
  auto made = std::make_shared<Endings>();
  const std::shared_ptr<const TerminalEndings> found = terminal_endings(terminal, trie, node, follow, budget);
  for (const TerminalEnding& ending : found->all)
    made->all.push_back({texts_.spelled().prepend(ending.text, SpelledTexts::kEmpty), false, ending.tokens});
  return *of_terminals_.emplace(place, Kept<Endings>(std::move(made))).first->second;
}

std::shared_ptr<const TerminalEndings> RuleEndings::terminal_endings(ExpressionId terminal, const TokenTrie& trie,
                                                                     NodeId node, Follow follow, Budget& budget) {
  const bool is_whole = &trie == &vocabulary_.trie();
  std::string key;
  if (is_whole)
    key = automaton_.arena().analyses().structure(automaton_.node(automaton_.state_of(terminal, budget)).body());
  if (!key.empty()) {
    key.append(reinterpret_cast<const char*>(&node.value), sizeof node.value);
    if (const auto& bytes = texts_.bytes())
      for (unsigned byte = 0; byte < 256; ++byte)
        if (!bytes->contains(static_cast<std::uint8_t>(byte))) key.push_back(static_cast<char>(byte));
    if (auto known = vocabulary_.known_endings(key)) return known;
  }
  std::optional<TerminalEndings> made;
  if (is_whole) made = by_another(terminal, node, follow, budget);
  if (!made) made = walked(terminal, trie, node, budget);
  auto shared = std::make_shared<const TerminalEndings>(*std::move(made));
  return key.empty() ? shared : vocabulary_.keep_endings(key, std::move(shared));
}

namespace {

TerminalEndings by_text(std::map<std::string, std::vector<std::uint32_t>> tokens, std::size_t words) {
  TerminalEndings made;
  for (auto& [text, listed] : tokens) made.all.push_back({text, TokenSet::of(std::move(listed), words)});
  return made;
}

}  // namespace

TerminalEndings RuleEndings::walked(ExpressionId terminal, const TokenTrie& trie, NodeId node, Budget& budget) {
  const PartAt place{&trie, node, terminal};
  TokensByState by_state;
  std::vector<TrieFrame> frames;
  {
    const StateId start = automaton_.state_of(terminal, budget);
    if (stopped_ && stopped_->at == place) {
      by_state = std::move(stopped_->by_state);
      frames = std::move(stopped_->frames);
      stopped_.reset();
    }
    const auto enter = [&](NodeId at, StateId state) {
      const auto own = trie.own(at);
      if (at != node && !own.empty()) {
        std::vector<std::uint32_t>& tokens = by_state[state.value];
        tokens.insert(tokens.end(), own.begin(), own.end());
      }
      return true;
    };
    try {
      walk_trie(trie, node, automaton_, start, budget, enter, frames);
    } catch (const LimitExceeded&) {
      if (!frames.empty()) stopped_ = {place, std::move(frames), std::move(by_state)};
      throw;
    }
  }
  std::map<std::string, std::vector<std::uint32_t>> tokens;
  for (auto& [state, found] : by_state) {
    const SpelledId text = texts_.text(StateId{state}, budget).id;
    if (text == SpelledTexts::kNone) continue;
    std::vector<std::uint32_t>& all = tokens[texts_.spelled().string(text)];
    all.insert(all.end(), found.begin(), found.end());
  }
  return by_text(std::move(tokens), vocabulary_.words());
}

SpelledId RuleEndings::text_after(ExpressionId terminal, std::string_view bytes, Budget& budget) {
  StateId state = automaton_.state_of(terminal, budget);
  for (const char byte : bytes) {
    budget.step();
    state = automaton_.next(state, static_cast<std::uint8_t>(byte), budget);
    if (state == ByteAutomaton::kDead) return SpelledTexts::kNone;
  }
  return texts_.text(state, budget).id;
}

// By those of a terminal that differs from it in what it does to some tokens alone: as for segments (segments.cpp), the
// string without its bound, or with the texts that it must not be.  Nothing if there is none, or if more than some are
// to be read.
std::optional<TerminalEndings> RuleEndings::by_another(ExpressionId terminal, NodeId node, Follow follow,
                                                       Budget& budget) {
  constexpr std::size_t kMostRead = 4000;  // tokens that are read one by one
  const TokenTrie& trie = vocabulary_.trie();
  Arena& arena = automaton_.arena();
  const std::shared_ptr<const Segment> segment = context_.segments.of(terminal, node, follow, budget);
  const Words inside = segment->inside.row(vocabulary_.words());
  Words judged(vocabulary_.words());
  ExpressionId other = terminal;
  if (const auto with = arena.string_bounds().with_strings(terminal)) {
    other = with->terminal;
    const std::optional<std::vector<std::uint32_t>> along =
        context_.segments.tokens_along(*with, node, kMostRead, budget);
    if (!along) return std::nullopt;
    for (const std::uint32_t token : *along) set_bit(judged, token);
  } else if (const auto unbounded =
                 node == TokenTrie::root() ? arena.string_bounds().without_bound(terminal) : std::nullopt) {
    other = unbounded->terminal;
    const MaskCache::TokensPtr sure = vocabulary_.short_tokens(unbounded->sure);
    for (std::size_t word = 0; word < judged.size(); ++word) judged[word] = inside[word] & ~sure->words[word];
  } else {
    return std::nullopt;
  }
  for (std::size_t word = 0; word < judged.size(); ++word) judged[word] &= inside[word];
  if (count_bits(judged) > kMostRead) return std::nullopt;
  const std::size_t depth = segment->inside.is_listed() && segment->inside.listed.empty() ? 0 : [&] {
    std::uint32_t some = 0;
    for_each_bit(inside, [&](std::uint32_t token) { some = token; });
    return trie.depth(node, vocabulary_.bytes({some}));
  }();
  std::map<std::string, std::vector<std::uint32_t>> tokens;
  for_each_bit(judged, [&](std::uint32_t token) {
    const SpelledId text = text_after(terminal, vocabulary_.bytes({token}).substr(depth), budget);
    if (text != SpelledTexts::kNone) tokens[texts_.spelled().string(text)].push_back(token);
  });
  Words gone(judged.size());
  for (std::size_t word = 0; word < gone.size(); ++word) gone[word] = ~inside[word] | judged[word];
  TerminalEndings made = *terminal_endings(other, trie, node, follow, budget);
  for (TerminalEnding& ending : made.all) ending.tokens.remove(gone);
  TerminalEndings of_judged = by_text(std::move(tokens), vocabulary_.words());
  std::ranges::move(of_judged.all, std::back_inserter(made.all));
  return made;
}

// ---- memory -----------------------------------------------------------------------------------

void RuleEndings::clear() {
  stopped_.reset();
  release(of_terminals_);
  release(of_parts_);
  of_states_.clear();
}

}  // namespace tokamata
