#include "composition/token_liveness.hpp"

#include <algorithm>

#include "common/best_first.hpp"
#include "common/sort_unique.hpp"
#include "composition/language_liveness.hpp"
#include "composition/trie_walk.hpp"
#include "expression/shortest_text.hpp"

namespace tokamata {

namespace {
constexpr std::size_t kSearchedBeforeMeasuring = 200;  // states
}

TokenLiveness::TokenLiveness(Operands& operands)
    : operands_(operands), automaton_(operands.automaton()), known_(operands.automaton()) {}
TokenLiveness::~TokenLiveness() = default;

LanguageLiveness& TokenLiveness::in_languages() {
  if (!in_languages_) in_languages_ = std::make_unique<LanguageLiveness>(operands_, *this);
  return *in_languages_;
}

void TokenLiveness::clear() {
  in_languages_.reset();
  known_.clear();
}

bool TokenLiveness::spellable(StateId state, Budget& budget) {
  const ExpressionNode& node = automaton_.node(state);
  if (node.nullable || node.spellable_by_bytes()) return true;
  const Spelling known = known_[state].spelling;
  if (known != Spelling::Unknown) return known == Spelling::Yes;
  return search_spelling(state, budget);
}

bool TokenLiveness::spellable(TokenConfiguration configuration, Budget& budget) {
  if (!configuration.at_start) return spellable(configuration.state, budget);
  if (automaton_.accepting(configuration.state)) return true;
  for (StateId target : token_targets(configuration.state, operands_.vocabulary(true).trie(), budget))
    if (spellable(target, budget)) return true;
  for (std::uint32_t control = 0; control < operands_.controls().size(); ++control)
    if (spellable(operands_.edge(automaton_.next(configuration.state, Symbol::control(control), budget), budget),
                  budget))
      return true;
  return false;
}

std::optional<bool> TokenLiveness::is_known_spellable(StateId state) const {
  const ExpressionNode& node = automaton_.node(state);
  if (node.nullable || node.spellable_by_bytes()) return true;
  const Known* const known = known_.find(state);
  if (!known || known->spelling == Spelling::Unknown) return std::nullopt;
  return known->spelling == Spelling::Yes;
}

bool TokenLiveness::lives(StateId state, Budget& budget) {
  if (state == ByteAutomaton::kDead) return false;
  return !operands_.is_spelled_by_bytes() || !automaton_.node(state).constrained || spellable(state, budget);
}

// Control tokens and edges are not text; where a pattern has them, what cannot be spelled may be the
// fault of the vocabulary.
bool TokenLiveness::is_empty(Budget& budget) {
  if (!operands_.controls().empty() || operands_.uses_edges()) return false;
  return operands_.is_spelled_by_bytes() ? !spellable(automaton_.start(), budget) : !shortest_text(automaton_, budget);
}

std::vector<StateId> TokenLiveness::successors(StateId state, Budget& budget) {
  std::vector<StateId> targets;
  if (operands_.is_spelled_by_bytes()) {
    for (const std::uint8_t byte : automaton_.byte_classes()) targets.push_back(automaton_.next(state, byte, budget));
  } else {
    targets = token_targets(state, operands_.vocabulary().trie(), budget);
  }
  for (std::uint32_t control = 0; control < operands_.controls().size(); ++control)
    targets.push_back(operands_.edge(automaton_.next(state, Symbol::control(control), budget), budget));
  return targets;
}

std::vector<StateId> TokenLiveness::token_targets(StateId state, const TokenTrie& trie, Budget& budget) {
  std::vector<StateId> targets;
  walk_trie(trie, TokenTrie::root(), automaton_, state, budget, [&](NodeId id, StateId reached) {
    if (trie.own_end(id) != trie.node(id).tokens_begin) targets.push_back(operands_.edge(reached, budget));
    return true;
  });
  sort_unique(targets);
  return targets;
}

// Where parts of a text are intersected with something else, the text itself shows one way on: what comes after the
// first place where the part stands.  It is followed in the other conjuncts alone, whose states are few, and each of
// which is reached from many parts.
bool TokenLiveness::lives_along_text(StateId state, Budget& budget) {
  constexpr std::size_t kLongestFollowed = std::size_t{1} << 14;  // bytes of the text
  Arena& arena = automaton_.arena();
  const auto [head, tail] = arena.pool().split(automaton_.expression(state));
  const ExpressionNode& node = arena.pool().node(head);
  if (!operands_.is_spelled_by_bytes() || node.kind != Kind::Intersection || node.open || node.behind ||
      !arena.pool().node(tail).spellable_by_bytes())
    return false;
  std::optional<std::string_view> rest;
  std::vector<ExpressionId> others;
  for (const ExpressionId item : arena.pool().items(node)) {
    const ExpressionNode& part = arena.pool().node(item);
    const auto continuation =
        part.kind == Kind::Strings ? arena.leaves().string_automaton(part).continuation(part.state()) : std::nullopt;
    if (continuation && !rest) rest = continuation;
    else others.push_back(item);
  }
  if (!rest) return false;
  StateId other = automaton_.state_of(arena.forms().intersect(others), budget);
  for (std::size_t i = 0; i <= std::min(rest->size(), kLongestFollowed) && other != ByteAutomaton::kDead; ++i) {
    budget.step();
    const bool is_between_code_points = i == rest->size() || !is_continuation((*rest)[i]);
    if (is_between_code_points && automaton_.accepting(other)) {
      known_[state].spelling = Spelling::Yes;
      known_[state].at_most = std::min<std::uint64_t>(known_[state].at_most, i + arena.pool().node(tail).spelled);
      return true;
    }
    if (i < rest->size()) other = automaton_.next(other, static_cast<std::uint8_t>((*rest)[i]), budget);
  }
  return false;
}

// Whether a state of listed rules within a regular language lives; nothing if it is another one.
std::optional<bool> TokenLiveness::measured_spelling(StateId state, Budget& budget) {
  if (!operands_.is_spelled_by_bytes() || !operands_.controls().empty() || !automaton_.arena().rule_sets().any_joins())
    return std::nullopt;
  const auto length = automaton_.text_length(state, budget);
  if (!length) return std::nullopt;
  Known& known = known_[state];
  known.spelling = *length == kNoLength ? Spelling::No : Spelling::Yes;
  if (*length < kNoLength) known.at_most = std::min(known.at_most, endless_if_capped(*length));
  return *length < kNoLength;
}

// Whether a state of rules within a regular language lives; nothing where only a search can tell.
std::optional<bool> TokenLiveness::lives_in_language(StateId state, Budget& budget) {
  if (automaton_.node(state).kind != Kind::Intersection) return std::nullopt;
  const std::optional<bool> lives = in_languages().lives(state, budget);
  if (lives) known_[state].spelling = *lives ? Spelling::Yes : Spelling::No;
  return lives;
}

bool TokenLiveness::search_spelling(StateId state, Budget& budget) {
  if (const std::optional<bool> lives = lives_in_language(state, budget)) return *lives;
  if (lives_along_text(state, budget)) return true;
  struct NoEdge {};
  Arrivals<StateId, NoEdge> arrivals(state);
  Frontier<Estimated<StateId>> open;
  open.add({0, 0, state});
  std::size_t searched = 0;
  const auto note_way_to = [&](StateId alive, std::uint64_t needed) {
    for (StateId back = alive;; back = arrivals.steps().at(back).from) {
      known_[back].spelling = Spelling::Yes;
      known_[back].at_most = std::min(known_[back].at_most, needed);
      if (back == state) return;
      if (needed != kEndless) ++needed;
    }
  };
  while (!open.empty()) {
    budget.step();
    if (++searched == kSearchedBeforeMeasuring)
      if (const auto lives = measured_spelling(state, budget)) return *lives;
    const auto [estimate, steps, current] = open.take();
    if (current != state)
      if (const std::optional<bool> lives = lives_in_language(current, budget)) {
        if (!*lives) continue;
        note_way_to(current, room(current).at_most);
        return true;
      }
    for (StateId target : successors(current, budget)) {
      if (target == ByteAutomaton::kDead) continue;
      const ExpressionNode& node = automaton_.node(target);
      const Spelling known = known_[target].spelling;
      if (node.nullable || node.spellable_by_bytes() || known == Spelling::Yes) {
        const std::uint64_t needed = room(target).at_most;
        note_way_to(current, needed == kEndless ? kEndless : needed + 1);
        return true;
      }
      if (known != Spelling::Unknown || !arrivals.reach(current, {}, target)) continue;
      const std::uint64_t least =
          operands_.is_spelled_by_bytes() ? automaton_.node(target).shortest : room(target).at_least;
      open.add({steps + 1 + least, steps + 1, target});
    }
  }
  for (const auto& [dead, step] : arrivals.steps()) known_[dead].spelling = Spelling::No;
  return false;
}

// ---- bounds -----------------------------------------------------------------------------------

TokenLiveness::Room TokenLiveness::room(StateId state) const {
  const ExpressionNode& node = automaton_.node(state);
  if (node.nullable) return {0, 0};
  const std::uint64_t longest = std::max<std::uint64_t>(operands_.vocabulary().trie().longest(), 1);
  const std::uint64_t at_least = std::max<std::uint64_t>((node.shortest + longest - 1) / longest, 1);
  const Known* const known = known_.find(state);
  std::uint64_t at_most = known ? known->at_most : kEndless;
  if (node.spellable_by_bytes()) at_most = std::min(at_most, endless_if_capped(std::max(node.spelled, 1u)));
  return {at_least, at_most};
}

}  // namespace tokamata
