#include "composition/token_automaton.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>

#include "composition/class_walk.hpp"
#include "composition/language_masks.hpp"
#include "composition/mask_walk.hpp"
#include "composition/rule_endings.hpp"

namespace tokamata {

namespace {

constexpr ByteSet kContinuations = ByteSet::range(0x80, 0xBF);
constexpr std::uint8_t kCommonest[] = {' ', 'a', 'e'};  // of the characters of texts

// A name of its own for each token: the same under whatever names the pattern has for it.
std::string name_of(TokenId token) { return std::to_string(token.value); }

Arena::Aliases aliases_of(const TokenAutomaton::ControlTokens& control_tokens) {
  Arena::Aliases aliases;
  for (const auto& [name, tokens] : control_tokens)
    std::ranges::transform(tokens, std::back_inserter(aliases[name]), name_of);
  return aliases;
}

}  // namespace

TokenAutomaton::TokenAutomaton(const Expression& pattern, std::shared_ptr<const Vocabulary> vocabulary,
                               std::shared_ptr<const Vocabulary> start_vocabulary, const ControlTokens& control_tokens,
                               const Limits& limits, std::shared_ptr<const CancelToken> cancel)
    : vocabulary_(std::move(vocabulary)),
      start_vocabulary_(std::move(start_vocabulary)),
      automaton_(pattern, aliases_of(control_tokens), vocabulary_->single_bytes(),
                 std::max(vocabulary_->trie().longest(), start_vocabulary_ ? start_vocabulary_->trie().longest() : 0),
                 limits, std::move(cancel)),
      uses_edges_(automaton_.node(automaton_.start()).edges),
      every_byte_is_token_(automaton_.pattern_bytes().is_subset_of(vocabulary_->single_bytes())),
      lives_by_bytes_(every_byte_is_token_ && !uses_edges_),
      whole_leads_(kContinuations.is_subset_of(vocabulary_->single_bytes())) {
  std::map<std::string, TokenId> ids;
  for (const auto& [name, tokens] : control_tokens)
    for (const TokenId token : tokens) ids.emplace(name_of(token), token);
  for (const std::string& name : automaton_.control_tokens()) {
    const auto known = ids.find(name);
    if (known == ids.end() || known->second.value >= vocabulary_->width() || vocabulary_->is_stop(known->second) ||
        !vocabulary_->bytes(known->second).empty())
      throw std::invalid_argument("no control token of the vocabulary: " + name);
    controls_.push_back(known->second);
  }
  stop_mask_ = Kept(make_mask(*vocabulary_, {}, {}, true));
}

TokenAutomaton::~TokenAutomaton() = default;

std::optional<Symbol> TokenAutomaton::control_symbol(TokenId token) const {
  const auto place = std::ranges::find(controls_, token);
  if (place == controls_.end()) return std::nullopt;
  return Symbol::control(static_cast<std::uint32_t>(place - controls_.begin()));
}

TokenAutomaton::StateData& TokenAutomaton::data(StateId state) {
  TOKAMATA_CHECK(state.value < automaton_.state_count(), "a state is one of the automaton's");
  if (state.value >= data_.size()) data_.resize(std::max(automaton_.state_count(), 2 * data_.size()));
  return data_[state.value];
}

// ---- masks ------------------------------------------------------------------------------------

const MaskPtr* TokenAutomaton::known_mask(Configuration configuration) const {
  if (configuration.at_start) return start_mask_ ? &start_mask_.shared() : nullptr;
  if (configuration.state.value >= data_.size()) return nullptr;
  const StateId holder = data_[configuration.state.value].mask_state;
  if (holder.value >= data_.size()) return nullptr;
  const MaskPtr& mask = data_[holder.value].mask.shared();
  return mask ? &mask : nullptr;
}

const MaskPtr& TokenAutomaton::mask(Configuration configuration, Budget& budget) {
  if (const MaskPtr* known = known_mask(configuration)) {
    ++work_.known;
    return *known;
  }
  const TimeOfPart timed = timed_mask();
  if (configuration.at_start) {
    start_mask_ = Kept(build_mask(configuration, budget));
    TOKAMATA_CHECK(is_counted(*start_vocabulary_, *start_mask_.shared()),
                   "a mask that is kept knows how many tokens it allows");
    return start_mask_.shared();
  }
  if (has_rule_mask(configuration.state)) {
    remember_rule_mask(configuration.state, budget);
    return *known_mask(configuration);
  }
  if (automaton_.node(configuration.state).kind == Kind::Intersection)
    if (const std::optional<StateId> holder = language_masks().mask_state(configuration.state, budget)) {
      work_.note(MaskWork::Maker::Language);
      data(configuration.state).mask_state = *holder;
      return data(*holder).mask.shared();
    }
  // Clipping is sound where every byte of the pattern is a token of its own (clip.cpp).
  const StateId holder = every_byte_is_token_ ? automaton_.clipped(configuration.state, budget) : configuration.state;
  if (data(holder).mask) ++work_.alike;
  else remember(holder, build_mask({holder, false}, budget));
  data(configuration.state).mask_state = holder;
  return data(holder).mask.shared();
}

// Whether a state without rules begins with a terminal.  Then its mask may be made of segments, as those of rules are:
// other constraints have made them already, or they are made from those of a terminal without bounds.
bool TokenAutomaton::has_terminal_mask(StateId state) const {
  const ExpressionNode& node = automaton_.node(state);
  if (node.rules || node.constrained || node.open || node.behind || !lives_by_bytes_ || !controls_.empty())
    return false;
  const Arena& arena = automaton_.arena();
  const ExpressionId expression = automaton_.expression(state);
  return std::ranges::any_of(arena.alternatives(expression), [&](ExpressionId alternative) {
    return arena.node(arena.split(alternative).head).kind == Kind::Terminal;
  });
}

LanguageMasks& TokenAutomaton::language_masks() {
  if (!language_masks_) language_masks_ = std::make_unique<LanguageMasks>(*this);
  return *language_masks_;
}

void TokenAutomaton::remember(StateId state, MaskPtr mask) {
  TOKAMATA_CHECK(is_counted(*vocabulary_, *mask), "a mask that is kept knows how many tokens it allows");
  StateData& known = data(state);
  mask_states_.push_back(state);
  known.mask = Kept(std::move(mask));
}

void TokenAutomaton::trim_masks(std::size_t limit) {
  // The newest mask stays: it is the one that is most likely requested next.
  while (mask_states_.size() > 1 && Charge::bytes() > limit) {
    data_[mask_states_.front().value].mask = {};
    mask_states_.pop_front();
    oldest_serial_ = data_[mask_states_.front().value].mask->serial;
  }
}

MaskPtr TokenAutomaton::build_mask(Configuration configuration, Budget& budget) {
  const bool loops_help = !without_loops(configuration, budget);
  if (!loops_help && has_terminal_mask(configuration.state)) {
    work_.note(MaskWork::Maker::Segments);
    RuleMask made = rule_mask_maker().make(automaton_.expression(configuration.state), TokenTrie::root(), budget);
    return mask_with_stops(std::move(made.bits), configuration.state);
  }
  if (!loops_help && walks_are_long_) return mask_by_classes(configuration, budget);
  if (!configuration.at_start)
    if (MaskPtr mask = factored_mask(configuration.state, budget)) return mask;
  work_.note(MaskWork::Maker::Walk);
  MaskPtr mask;
  with_walk(configuration.at_start, budget, [&](auto& walk, std::uint64_t& most) {
    walk.run(configuration.state);
    if (!loops_help) walks_are_long_ |= walk.nodes() > kLongWalk;
    std::vector<TokenId> controls;
    for (const TokenId token : controls_) {
      const std::optional<StateId> target = step(configuration, token, budget);
      if (!target) continue;
      controls.push_back(token);
      most = std::max(most, most_from(*target));
    }
    if (!configuration.at_start) data(configuration.state).most_after = most;
    mask = make_mask(vocabulary(configuration.at_start), walk.ranges(), controls,
                     automaton_.accepting(configuration.state));
  });
  budget.check();
  return mask;
}

// Hands the task a walk of the trie, and the most that a state met by it needs.
template <class Task>
void TokenAutomaton::with_walk(bool at_start, Budget& budget, Task&& task) {
  std::uint64_t most = 0;
  const auto describe = [&](StateId state) {
    const StateId behind = edge(state, budget);
    const bool can_finish = spellable(behind, budget);
    if (can_finish) most = std::max(most, most_from(behind));
    return WalkState{loops(state, budget), can_finish};
  };
  MaskWalk walk(vocabulary(at_start).trie(), automaton_, budget, describe);
  task(walk, most);
  work_.nodes += walk.nodes();
}

// The tokens that are of the class alone, however many code points of it.
MaskCache::TokensPtr TokenAutomaton::inside(const ClassLoop& loop, Budget& budget) {
  MaskCache& shared = vocabulary_->shared_masks();
  if (MaskCache::TokensPtr known = shared.find(loop.key)) return known;
  const StateId state = automaton_.unbounded(loop.repetition, budget);
  MaskCache::TokensPtr tokens;
  with_walk(false, budget, [&](auto& walk, auto&) {
    walk.run(state);
    const MaskPtr mask = make_mask(*vocabulary_, walk.ranges(), {}, false);
    tokens = std::make_shared<const MaskCache::Tokens>(MaskCache::Tokens{mask->bits.row(), mask->open_tokens});
  });
  TOKAMATA_CHECK(count_bits(tokens->words) == tokens->count, "a shared set knows how many tokens it has");
  shared.keep(loop.key, tokens);
  return tokens;
}

// Of those, the ones that have no more code points than the loop has rounds.
void TokenAutomaton::add_inside(const ClassLoop& loop, Mask& mask, Budget& budget) {
  const MaskCache::TokensPtr all = inside(loop, budget);
  const bool is_first = mask.bits.size() == 0;
  if (loop.rounds >= vocabulary_->trie().longest()) {
    if (is_first) {
      mask.bits = MaskBits(all->words);
      mask.open_tokens = all->count;
      return;
    }
    unite_bits(mask.bits.words(), all->words);
  } else {
    const MaskCache::TokensPtr fitting = vocabulary_->short_tokens(loop.rounds);
    if (is_first) mask.bits = MaskBits(Words(all->words.size()));
    Words& words = mask.bits.words();
    for (std::size_t i = 0; i < words.size(); ++i) words[i] |= all->words[i] & fitting->words[i];
  }
  mask.open_tokens = mask.bits.count();
}

std::optional<Factors> TokenAutomaton::factors(StateId state) {
  constexpr std::size_t kMostParts = 8;
  const ExpressionId expression = automaton_.expression(state);
  if (!lives_by_bytes_ || automaton_.node(state).constrained || !controls_.empty() ||
      automaton_.arena().alternatives(expression).size() > kMostParts)
    return std::nullopt;
  Factors factors = factors_of(automaton_.arena(), expression);
  if (factors.loops.empty()) return std::nullopt;
  return factors;
}

// Null where no alternative of the state is a loop over a wide class.
MaskPtr TokenAutomaton::factored_mask(StateId state, Budget& budget) {
  std::optional<Factors> factors_of_state = factors(state);
  if (!factors_of_state) return nullptr;
  auto& [loops, others] = *factors_of_state;
  work_.note(MaskWork::Maker::Factors);
  const bool is_short = without_loops({state, false}, budget);
  auto mask = std::make_shared<Mask>();
  mask->serial = next_serial_++;
  for (const ClassLoop& loop : loops) add_inside(loop, *mask, budget);
  with_walk(false, budget, [&](auto& walk, auto&) {
    for (const ClassLoop& loop : loops) {
      if (loop.tail == Arena::kEpsilon) continue;
      const LeavingWalk leaving(automaton_.arena(), loop);
      if (!leaving.is_idle()) walk_leaving(vocabulary_->trie(), automaton_, loop, leaving, budget, walk);
    }
    if (!others.empty()) walk.run(automaton_.state_of_any(std::move(others), budget));
    if (is_short) walks_are_long_ |= walk.nodes() > kLongWalk;
    const std::span<const std::uint32_t> order = vocabulary_->trie().order();
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
  if (automaton_.accepting(state)) add_stops(*vocabulary_, *mask);
  budget.check();
  return mask;
}

const counted::vector<Loop>& TokenAutomaton::loops(StateId state, Budget& budget) {
  if (!data(state).loops_known) {
    std::vector<Loop> found;
    if (!automaton_.node(state).constrained)
      found = loops_of(automaton_.arena(), automaton_.expression(state), whole_leads_);
    else if (spellable(edge(state, budget), budget))
      found = stable_loops(automaton_, state, whole_leads_ && !uses_edges_, budget);
    if (found.empty() && leads_back(state, budget)) found = stable_loops(automaton_, state, whole_leads_, budget);
    StateData& known = data(state);  // making the others' may have moved it
    known.loops.assign(found.begin(), found.end());
    known.loops_known = true;
  }
  return data(state).loops;
}

// Whether a state is a terminal of which `loops_of` sees nothing, and the commonest characters lead back to it.
bool TokenAutomaton::leads_back(StateId state, Budget& budget) {
  const ExpressionNode& node = automaton_.node(state);
  if (node.kind != Kind::Terminal || !automaton_.arena().node(node.body()).constrained) return false;
  return std::ranges::all_of(kCommonest,
                             [&](std::uint8_t byte) { return automaton_.next(state, byte, budget) == state; });
}

bool TokenAutomaton::is_free_text(ExpressionId terminal, Budget& budget) {
  const ExpressionNode& node = automaton_.arena().node(terminal);
  if (!node.nullable || !automaton_.arena().node(node.body()).constrained) return false;
  const StateId state = automaton_.state_of(terminal, budget);
  return std::ranges::any_of(
      kCommonest, [&](std::uint8_t byte) { return leads_back(automaton_.next(state, byte, budget), budget); });
}

ClassTrie& TokenAutomaton::class_trie(bool at_start) {
  std::optional<ClassTrie>& trie = at_start ? start_class_trie_ : class_trie_;
  if (!trie) trie.emplace(vocabulary(at_start).trie(), automaton_);
  return *trie;
}

// Where a state has no loops (those of `([a-z]{4})*` are short, and where lookaround and the like are in
// play there may be none), a walk of the trie of tokens would meet the same few token classes again
// and again.  The first such walk shows whether it is long; mostly the states after this one do have
// loops, and it is not.
bool TokenAutomaton::without_loops(Configuration configuration, Budget& budget) {
  const auto is_long = [&](const Loop& loop) { return loop.rounds >= vocabulary_->trie().longest(); };
  return !configuration.at_start && std::ranges::none_of(loops(configuration.state, budget), is_long);
}

MaskPtr TokenAutomaton::mask_by_classes(Configuration configuration, Budget& budget) {
  work_.note(MaskWork::Maker::Classes);
  std::vector<std::uint32_t> tokens;
  std::uint64_t most = 0;
  walk_classes(*this, configuration, budget, [&](StateId target, const TokenClass& token_class) {
    tokens.insert(tokens.end(), token_class.tokens.begin(), token_class.tokens.end());
    most = std::max(most, most_from(target));
  });
  data(configuration.state).most_after = most;
  budget.check();
  return mask_of(configuration, tokens);
}

// A length where sums of lengths end may stand for any that is longer.
std::uint64_t TokenAutomaton::endless_if_capped(std::uint32_t length) {
  return length + 1 >= ExpressionNode::kUnspelled ? kEndless : length;
}

// ---- room -------------------------------------------------------------------------------------

TokenAutomaton::Room TokenAutomaton::room(StateId state) const {
  const ExpressionNode& node = automaton_.node(state);
  if (node.nullable) return {0, 0};
  const std::uint64_t longest = std::max<std::uint64_t>(vocabulary_->trie().longest(), 1);
  const std::uint64_t at_least = std::max<std::uint64_t>((node.shortest + longest - 1) / longest, 1);
  std::uint64_t at_most = state.value < data_.size() ? data_[state.value].at_most : kEndless;
  if (node.spellable_by_bytes()) at_most = std::min(at_most, endless_if_capped(std::max(node.spelled, 1u)));
  return {at_least, at_most};
}

// What a state needs, and whatever its loops lead to: back to itself where it is constrained, or into a
// code point, whose other bytes may have to be written one by one.
std::uint64_t TokenAutomaton::most_from(StateId state) const {
  constexpr std::uint64_t kLongestRest = 3;
  const ExpressionNode& node = automaton_.node(state);
  if (!node.constrained) return lives_by_bytes_ ? endless_if_capped(node.worst) : kEndless;
  const std::uint64_t most = room(state).at_most;
  return most == kEndless ? kEndless : most + kLongestRest;
}

// Where lookaround and the like are in play, the mask has met every state that a token leads to.
std::uint64_t TokenAutomaton::most_after(Configuration configuration) const {
  const ExpressionNode& node = automaton_.node(configuration.state);
  if (node.rules)
    return !configuration.at_start && configuration.state.value < data_.size()
               ? data_[configuration.state.value].most_after
               : kEndless;
  if (lives_by_bytes_ && !node.constrained) return endless_if_capped(node.worst);
  if (configuration.at_start || !node.constrained || configuration.state.value >= data_.size()) return kEndless;
  return data_[configuration.state.value].most_after;
}

MaskPtr TokenAutomaton::mask_of(Configuration configuration, std::span<const std::uint32_t> tokens, bool is_accepted) {
  auto mask = std::make_shared<Mask>();
  mask->serial = next_serial_++;
  const Vocabulary& source = vocabulary(configuration.at_start);
  MaskBuilder builder(source.words());
  for (const std::uint32_t token : tokens) builder.add(token);
  mask->bits = builder.take();
  mask->set_bits = mask->open_tokens = tokens.size();
  if (is_accepted) add_stops(source, *mask);
  return mask;
}

MaskPtr TokenAutomaton::mask_of_row(Configuration configuration, Words row) {
  auto mask = std::make_shared<Mask>();
  mask->serial = next_serial_++;
  mask->set_bits = mask->open_tokens = count_bits(row);
  mask->bits = mask->open_tokens <= MaskBits::few(row.size()) ? MaskBits::few_of(row) : MaskBits(std::move(row));
  if (automaton_.accepting(configuration.state)) add_stops(vocabulary(configuration.at_start), *mask);
  return mask;
}

// Sets the bits of the tokens in the ranges, or clears those of all others, whichever are fewer.
MaskPtr TokenAutomaton::make_mask(const Vocabulary& source, const std::vector<TokenRange>& ranges,
                                  const std::vector<TokenId>& controls, bool accepting) {
  auto mask = std::make_shared<Mask>();
  mask->serial = next_serial_++;
  const std::span<const std::uint32_t> order = source.trie().order();
  std::size_t live = 0;
  for (const TokenRange& range : ranges) live += range.end - range.begin;
  mask->open_tokens = live + controls.size();
  MaskBuilder builder(source.words());
  if (2 * live <= order.size()) {
    for (const TokenRange& range : ranges)
      for (std::uint32_t i = range.begin; i < range.end; ++i) builder.add(order[i]);
  } else {
    builder.add(SharedWords(&source == vocabulary_.get() ? vocabulary_ : start_vocabulary_, &source.text_words()));
    std::uint32_t previous_end = 0;
    const auto clear = [&](std::uint32_t begin, std::uint32_t end) {
      for (std::uint32_t i = begin; i < end; ++i) builder.remove(order[i]);
    };
    for (const TokenRange& range : ranges) {
      clear(previous_end, range.begin);
      previous_end = range.end;
    }
    clear(previous_end, static_cast<std::uint32_t>(order.size()));
  }
  for (const TokenId control : controls) builder.add(control.value);
  mask->bits = builder.take();
  mask->set_bits = mask->open_tokens;
  if (accepting) add_stops(source, *mask);
  return mask;
}

// ---- steps ------------------------------------------------------------------------------------

TokenAutomaton::Reading TokenAutomaton::read(StateId state, std::string_view text, Budget& budget) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const StateId next = automaton_.next(state, static_cast<std::uint8_t>(text[i]), budget);
    if (!lives(next, budget)) return {i, state};
    state = next;
  }
  return {text.size(), state};
}

ByteSet TokenAutomaton::live_bytes(StateId state, Budget& budget) {
  ByteSet live;
  for (unsigned value = 0; value < 256; ++value) {
    const auto byte = static_cast<std::uint8_t>(value);
    if (lives(automaton_.next(state, byte, budget), budget)) live.add(byte);
  }
  return live;
}

std::optional<StateId> TokenAutomaton::step(Configuration configuration, TokenId token, Budget& budget) {
  const std::string_view text = vocabulary(configuration.at_start).bytes(token);
  StateId target;
  if (!text.empty()) {
    const Reading reading = read(configuration.state, text, budget);
    if (reading.length < text.size()) return std::nullopt;
    target = reading.state;
  } else {
    const std::optional<Symbol> control = control_symbol(token);
    if (!control) return std::nullopt;
    target = automaton_.next(configuration.state, *control, budget);
  }
  target = edge(target, budget);
  if (!spellable(target, budget)) return std::nullopt;
  return target;
}

std::optional<std::optional<StateId>> TokenAutomaton::try_step(Configuration configuration, TokenId token) const {
  const std::string_view text = vocabulary(configuration.at_start).bytes(token);
  if (text.empty() || uses_edges_) return std::nullopt;
  StateId state = configuration.state;
  for (const char byte : text) {
    const std::optional<StateId> next = automaton_.try_next(state, static_cast<std::uint8_t>(byte));
    if (!next) return std::nullopt;
    if (*next == ByteAutomaton::kDead) return std::optional<StateId>();
    state = *next;
  }
  const ExpressionNode& node = automaton_.node(state);
  if (node.nullable || node.spellable_by_bytes()) return state;
  if (state.value >= data_.size()) return std::nullopt;
  switch (data_[state.value].spelling) {
    case Spelling::Yes: return state;
    case Spelling::No: return std::optional<StateId>();
    default: return std::nullopt;
  }
}

// ---- memory -----------------------------------------------------------------------------------

// Masks of the states that are kept are kept too: where a call stopped at a limit, what the matcher
// could do before it can do still.
void TokenAutomaton::keep_only(std::span<StateId* const> states) {
  std::vector<std::pair<MaskPtr, StateId*>> masks;
  for (StateId* state : states)
    if (const MaskPtr* mask = known_mask({*state, false})) masks.emplace_back(*mask, state);
  language_masks_.reset();
  class_trie_.reset();  // they are as good as ever, but memory is short
  start_class_trie_.reset();
  release(data_);
  release(segments_);
  release(beginnings_);
  stack_memo_.clear();
  release(united_masks_);
  release(rules_segments_);
  release(unverified_);
  release(mask_states_);
  automaton_.keep_only(states);
  std::ranges::sort(masks, {}, [](const auto& kept) { return kept.first->serial; });
  StateId holder{};
  for (const auto& [mask, state] : masks) {  // those that share a mask are neighbours now
    if (mask_states_.empty() || data(holder).mask.shared() != mask) remember(holder = *state, mask);
    data(*state).mask_state = holder;
  }
  oldest_serial_ = masks.empty() ? next_serial_ : masks.front().first->serial;
}

}  // namespace tokamata
