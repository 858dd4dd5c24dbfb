#include "composition/regular_masks.hpp"

#include <algorithm>

#include "composition/mask_walk.hpp"

namespace tokamata {

RegularMasks::RegularMasks(TokenSteps& steps, RuleWalkContext& context, RuleMaskMaker& maker, MaskMemo& masks,
                           MaskWriter& writer)
    : steps_(steps),
      liveness_(steps.liveness()),
      operands_(steps.operands()),
      vocabulary_(operands_.vocabulary()),
      automaton_(operands_.automaton()),
      maker_(maker),
      loops_(context.loops),
      work_(context.work),
      masks_(masks),
      writer_(writer) {}

MaskPtr RegularMasks::make(TokenConfiguration configuration, Budget& budget, VerifiedTokens* verified) {
  const bool loops_help = !without_loops(configuration, budget);
  if (!loops_help && has_terminal_mask(configuration.state)) {
    work_.counts.note(MaskWork::Maker::Segments);
    RuleMask made = maker_.make(automaton_.expression(configuration.state), TokenTrie::root(), budget, verified);
    return writer_.of_bits(configuration.state, std::move(made.bits));
  }
  if (!loops_help && walks_are_long_) return mask_by_classes(configuration, budget, verified);
  if (!configuration.at_start)
    if (MaskPtr mask = factored_mask(configuration.state, budget, verified)) return mask;
  work_.counts.note(MaskWork::Maker::Walk);
  MaskPtr mask;
  with_walk(configuration.at_start, budget, [&](auto& walk, std::uint64_t& most) {
    const HandOver hand_over(verified, [&](VerifiedTokens& to) {
      to.add_ranges(walk.ranges(), operands_.vocabulary(configuration.at_start).trie().order());
      to.note_most(most);
    });
    run_resumably(walk, configuration, most);
    if (!loops_help) walks_are_long_ |= walk.nodes() > kLongWalk;
    std::vector<TokenId> controls;
    for (const TokenId token : operands_.controls()) {
      const std::optional<StateId> target = steps_.step(configuration, token, budget);
      if (!target) continue;
      controls.push_back(token);
      most = std::max(most, most_from(*target));
    }
    if (!configuration.at_start) masks_.note_most_after(configuration.state, most);
    mask =
        writer_.of_ranges(configuration.at_start, walk.ranges(), controls, automaton_.accepting(configuration.state));
  });
  budget.check();
  return mask;
}

// Hands the task a walk of the trie, and the most that a state met by it needs.
template <class Task>
void RegularMasks::with_walk(bool at_start, Budget& budget, Task&& task) {
  std::uint64_t most = 0;
  const auto describe = [&](StateId state) {
    const StateId behind = operands_.edge(state, budget);
    const bool can_finish = liveness_.spellable(behind, budget);
    if (can_finish) most = std::max(most, most_from(behind));
    return WalkState{loops_.of(state, budget), can_finish};
  };
  MaskWalk walk(operands_.vocabulary(at_start).trie(), automaton_, budget, describe);
  task(walk, most);
  work_.counts.nodes += walk.nodes();
}

// Runs a walk of a whole trie, or the rest of it where the same one was stopped before.
template <class Walk>
void RegularMasks::run_resumably(Walk& walk, TokenConfiguration from, std::uint64_t& most) {
  try {
    if (stopped_ && stopped_->configuration == from) {
      most = std::max(most, stopped_->most);
      PausedWalk before = std::move(stopped_->walk);
      stopped_.reset();
      walk.go_on(std::move(before));
    } else {
      walk.run(from.state);
    }
  } catch (const LimitExceeded&) {
    stopped_ = {from, walk.paused(), most};
    throw;
  }
}

// The tokens that are of the class alone, however many code points of it.
MaskCache::TokensPtr RegularMasks::inside(const ClassLoop& loop, Budget& budget) {
  MaskCache& shared = vocabulary_.shared_masks();
  if (MaskCache::TokensPtr known = shared.find(loop.key)) return known;
  const StateId state = automaton_.unbounded(loop.repetition, budget);
  MaskCache::TokensPtr tokens;
  with_walk(false, budget, [&](auto& walk, auto&) {
    std::uint64_t unused = 0;
    run_resumably(walk, {state, false}, unused);
    const MaskPtr mask = writer_.of_ranges(false, walk.ranges(), {}, false);
    tokens = std::make_shared<const MaskCache::Tokens>(MaskCache::Tokens{mask->bits.row(), mask->open_tokens});
  });
  TOKAMATA_CHECK(count_bits(tokens->words) == tokens->count, "a shared set knows how many tokens it has");
  shared.keep(loop.key, tokens);
  return tokens;
}

// Of those, the ones that have no more code points than the loop has rounds.
void RegularMasks::add_inside(const ClassLoop& loop, Mask& mask, Budget& budget) {
  const MaskCache::TokensPtr all = inside(loop, budget);
  const bool is_first = mask.bits.size() == 0;
  if (loop.rounds >= vocabulary_.trie().longest()) {
    if (is_first) {
      mask.bits = MaskBits(all->words);
      mask.open_tokens = all->count;
      return;
    }
    unite_bits(mask.bits.words(), all->words);
  } else {
    const MaskCache::TokensPtr fitting = vocabulary_.short_tokens(loop.rounds);
    if (is_first) mask.bits = MaskBits(Words(all->words.size()));
    Words& words = mask.bits.words();
    for (std::size_t i = 0; i < words.size(); ++i) words[i] |= all->words[i] & fitting->words[i];
  }
  mask.open_tokens = mask.bits.count();
}

std::optional<Factors> RegularMasks::factors(StateId state) {
  constexpr std::size_t kMostFactored = 8;  // alternatives
  const ExpressionId expression = automaton_.expression(state);
  if (!operands_.is_spelled_by_bytes() || automaton_.node(state).constrained || !operands_.controls().empty() ||
      automaton_.arena().pool().alternatives(expression).size() > kMostFactored)
    return std::nullopt;
  Factors factors = factors_of(automaton_.arena(), expression);
  if (factors.loops.empty()) return std::nullopt;
  return factors;
}

// Null where no alternative of the state is a loop over a wide class.
MaskPtr RegularMasks::factored_mask(StateId state, Budget& budget, VerifiedTokens* verified) {
  std::optional<Factors> factors_of_state = factors(state);
  if (!factors_of_state) return nullptr;
  auto& [loops, others] = *factors_of_state;
  work_.counts.note(MaskWork::Maker::Factors);
  const bool is_short = without_loops({state, false}, budget);
  auto mask = std::make_shared<Mask>();
  mask->serial = masks_.take_serial();
  const HandOver hand_over_loops(verified, [&](VerifiedTokens& to) {
    if (mask->bits.size() > 0) to.add(mask->bits);
    to.note_most(VerifiedTokens::kEndless);
  });
  for (const ClassLoop& loop : loops) add_inside(loop, *mask, budget);
  with_walk(false, budget, [&](auto& walk, auto&) {
    const HandOver hand_over(verified,
                             [&](VerifiedTokens& to) { to.add_ranges(walk.ranges(), vocabulary_.trie().order()); });
    for (const ClassLoop& loop : loops) {
      if (loop.tail == Pool::kEpsilon) continue;
      const LeavingWalk leaving(automaton_.arena(), loop);
      if (!leaving.is_idle()) walk_leaving(vocabulary_.trie(), automaton_, loop, leaving, budget, walk);
    }
    if (!others.empty()) walk.run(automaton_.state_of_any(std::move(others), budget));
    if (is_short) walks_are_long_ |= walk.nodes() > kLongWalk;
    const std::span<const std::uint32_t> order = vocabulary_.trie().order();
    Words& words = mask->bits.words();
    for (const TokenRange& range : walk.ranges())
      for (std::uint32_t i = range.begin; i < range.end; ++i) {
        std::uint32_t& word = words[order[i] / 32];
        const std::uint32_t bit = 1u << (order[i] % 32);
        mask->open_tokens += (word & bit) == 0;
        word |= bit;
      }
  });
  mask->set_bits = mask->open_tokens;
  if (automaton_.accepting(state)) add_stops(vocabulary_, *mask);
  budget.check();
  return mask;
}

// Whether a state without rules begins with a terminal.  Then its mask may be made of segments, as those of rules are:
// other constraints have made them already, or they are made from those of a terminal without bounds.
bool RegularMasks::has_terminal_mask(StateId state) const {
  const ExpressionNode& node = automaton_.node(state);
  if (node.rules || node.constrained || node.open || node.behind || !operands_.is_spelled_by_bytes() ||
      !operands_.controls().empty())
    return false;
  const Pool& pool = automaton_.arena().pool();
  const ExpressionId expression = automaton_.expression(state);
  return std::ranges::any_of(pool.alternatives(expression), [&](ExpressionId alternative) {
    return pool.node(pool.split(alternative).head).kind == Kind::Terminal;
  });
}

// Where a state has no loops (those of `([a-z]{4})*` are short, and where lookaround and the like are in
// play there may be none), a walk of the trie of tokens would meet the same few token classes again
// and again.  The first such walk shows whether it is long; mostly the states after this one do have
// loops, and it is not.
bool RegularMasks::without_loops(TokenConfiguration configuration, Budget& budget) {
  const auto is_long = [&](const Loop& loop) { return loop.rounds >= vocabulary_.trie().longest(); };
  return !configuration.at_start && std::ranges::none_of(loops_.of(configuration.state, budget), is_long);
}

MaskPtr RegularMasks::mask_by_classes(TokenConfiguration configuration, Budget& budget, VerifiedTokens* verified) {
  work_.counts.note(MaskWork::Maker::Classes);
  std::vector<std::uint32_t> tokens;
  std::uint64_t most = 0;
  const HandOver hand_over(verified, [&](VerifiedTokens& to) {
    to.add(tokens);
    to.note_most(most);
  });
  PausedClassWalk walk;
  if (stopped_in_classes_ && stopped_in_classes_->configuration == configuration) {
    walk = std::move(stopped_in_classes_->walk);
    tokens = std::move(stopped_in_classes_->tokens);
    most = stopped_in_classes_->most;
    stopped_in_classes_.reset();
  }
  const auto visit = [&](StateId target, const TokenClass& token_class) {
    tokens.insert(tokens.end(), token_class.tokens.begin(), token_class.tokens.end());
    most = std::max(most, most_from(target));
  };
  try {
    walk_classes(steps_, configuration, budget, visit, walk);
  } catch (const LimitExceeded&) {
    if (walk.has_begun()) stopped_in_classes_ = {configuration, walk, tokens, most};
    throw;
  }
  masks_.note_most_after(configuration.state, most);
  budget.check();
  return writer_.of_tokens(configuration, tokens, automaton_.accepting(configuration.state));
}

// What a state needs, and whatever its loops lead to: back to itself where it is constrained, or into a
// code point, whose other bytes may have to be written one by one.
std::uint64_t RegularMasks::most_from(StateId state) const {
  constexpr std::uint64_t kLongestRest = 3;
  const ExpressionNode& node = automaton_.node(state);
  if (!node.constrained)
    return operands_.is_spelled_by_bytes() ? TokenLiveness::endless_if_capped(node.worst) : TokenLiveness::kEndless;
  const std::uint64_t most = liveness_.room(state).at_most;
  return most == TokenLiveness::kEndless ? TokenLiveness::kEndless : most + kLongestRest;
}

}  // namespace tokamata
