#include "composition/token_automaton.hpp"

#include <algorithm>

#include "composition/mask_walk.hpp"

namespace tokamata {

namespace {

constexpr ByteSet kContinuations = ByteSet::range(0x80, 0xBF);

}  // namespace

TokenAutomaton::TokenAutomaton(const Expression& pattern, std::shared_ptr<const Vocabulary> vocabulary,
                               std::shared_ptr<const Vocabulary> start_vocabulary, const Limits& limits,
                               std::shared_ptr<const CancelToken> cancel)
    : vocabulary_(std::move(vocabulary)), start_vocabulary_(std::move(start_vocabulary)),
      automaton_(pattern, vocabulary_->single_bytes(),
                 std::max(vocabulary_->trie().longest(), start_vocabulary_ ? start_vocabulary_->trie().longest() : 0),
                 limits, std::move(cancel)),
      every_byte_is_token_(automaton_.pattern_bytes().is_subset_of(vocabulary_->single_bytes())),
      whole_leads_(kContinuations.is_subset_of(vocabulary_->single_bytes())) {
  stop_mask_ = make_mask(*vocabulary_, {}, true);
}

TokenAutomaton::StateData& TokenAutomaton::data(StateId state) {
  if (state.value >= data_.size()) data_.resize(std::max(automaton_.state_count(), 2 * data_.size()));
  return data_[state.value];
}

// ---- masks ------------------------------------------------------------------------------------

const MaskPtr* TokenAutomaton::known_mask(Place place) const {
  if (place.at_start) return start_mask_ ? &start_mask_ : nullptr;
  if (place.state.value >= data_.size()) return nullptr;
  const StateId holder = data_[place.state.value].mask_state;
  if (holder.value >= data_.size()) return nullptr;
  const MaskPtr& mask = data_[holder.value].mask;
  return mask ? &mask : nullptr;
}

const MaskPtr& TokenAutomaton::mask(Place place, Budget& budget) {
  if (const MaskPtr* known = known_mask(place)) return *known;
  if (place.at_start) {
    start_mask_ = build_mask(place, budget);
    return start_mask_;
  }
  // Clipping is sound where every byte of the pattern is a token of its own (clip.cpp).
  const StateId holder = every_byte_is_token_ ? automaton_.clipped(place.state, budget) : place.state;
  if (!data(holder).mask) remember(holder, build_mask({holder, false}, budget));
  data(place.state).mask_state = holder;
  return data(holder).mask;
}

void TokenAutomaton::remember(StateId state, MaskPtr mask) {
  data(state).mask = std::move(mask);
  mask_states_.push_back(state);
}

std::size_t TokenAutomaton::reclaim(std::size_t limit) {
  const std::size_t fixed = automaton_.memory_bytes() + data_.capacity() * sizeof(StateData) + loops_bytes_;
  // The newest mask stays: it is the one that is being asked for.
  while (mask_states_.size() > 1 && fixed + mask_states_.size() * mask_bytes() > limit) {
    data_[mask_states_.front().value].mask.reset();
    mask_states_.pop_front();
    oldest_serial_ = data_[mask_states_.front().value].mask->serial;
  }
  return fixed + mask_states_.size() * mask_bytes();
}

MaskPtr TokenAutomaton::build_mask(Place place, Budget& budget) {
  const auto ranges = live_ranges(place, budget);
  MaskPtr mask = make_mask(vocabulary(place.at_start), ranges, automaton_.accepting(place.state));
  budget.check();
  return mask;
}

const std::vector<Loop>& TokenAutomaton::loops(StateId state) {
  StateData& known = data(state);
  if (!known.loops_known) {
    known.loops = loops_of(automaton_.arena(), automaton_.expression(state), whole_leads_);
    known.loops_known = true;
    loops_bytes_ += known.loops.capacity() * sizeof(Loop);
  }
  return known.loops;
}

std::vector<TokenRange> TokenAutomaton::live_ranges(Place place, Budget& budget) {
  const auto describe = [&](StateId state) {
    const bool can_finish = spellable(state, budget);
    return WalkState{loops(state), can_finish};
  };
  return MaskWalk(vocabulary(place.at_start).trie(), automaton_, budget, describe).run(place.state);
}

// Sets the bits of the tokens in the ranges, or clears those of all others, whichever are fewer.
MaskPtr TokenAutomaton::make_mask(const Vocabulary& source, const std::vector<TokenRange>& ranges, bool accepting) {
  auto mask = std::make_shared<Mask>();
  mask->serial = next_serial_++;
  const std::span<const std::uint32_t> order = source.trie().order();
  std::size_t live = 0;
  for (const TokenRange& range : ranges) live += range.end - range.begin;
  mask->text_tokens = live;
  std::vector<std::uint32_t>& words = mask->words;
  if (2 * live <= order.size()) {
    words.assign(source.words(), 0);
    for (const TokenRange& range : ranges)
      for (std::uint32_t i = range.begin; i < range.end; ++i) words[order[i] / 32] |= 1u << (order[i] % 32);
  } else {
    words = source.text_words();
    std::uint32_t previous_end = 0;
    const auto clear = [&](std::uint32_t begin, std::uint32_t end) {
      for (std::uint32_t i = begin; i < end; ++i) words[order[i] / 32] &= ~(1u << (order[i] % 32));
    };
    for (const TokenRange& range : ranges) {
      clear(previous_end, range.begin);
      previous_end = range.end;
    }
    clear(previous_end, static_cast<std::uint32_t>(order.size()));
  }
  mask->set_bits = live;
  if (accepting) {
    for (std::uint32_t stop : source.stop()) words[stop / 32] |= 1u << (stop % 32);
    mask->set_bits += source.stop().size();
  }
  return mask;
}

// ---- steps ------------------------------------------------------------------------------------

TokenAutomaton::Reading TokenAutomaton::read(StateId state, std::string_view text, Budget& budget) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const StateId next = automaton_.next(state, static_cast<std::uint8_t>(text[i]), budget);
    if (next == ByteAutomaton::kDead) return {i, state};
    state = next;
  }
  return {text.size(), state};
}

std::optional<StateId> TokenAutomaton::step(Place place, TokenId token, Budget& budget) {
  const std::string_view text = vocabulary(place.at_start).bytes(token);
  if (text.empty()) return std::nullopt;
  const Reading reading = read(place.state, text, budget);
  if (reading.length < text.size() || !spellable(reading.state, budget)) return std::nullopt;
  return reading.state;
}

std::optional<std::optional<StateId>> TokenAutomaton::try_step(Place place, TokenId token) const {
  const std::string_view text = vocabulary(place.at_start).bytes(token);
  StateId state = place.state;
  for (const char byte : text) {
    const std::optional<StateId> next = automaton_.try_next(state, static_cast<std::uint8_t>(byte));
    if (!next) return std::nullopt;
    if (*next == ByteAutomaton::kDead) return std::optional<StateId>();
    state = *next;
  }
  if (text.empty()) return std::optional<StateId>();
  const ExpressionNode& node = automaton_.node(state);
  if (!node.nullable && !node.spellable_by_bytes) return std::nullopt;
  return state;
}

// ---- memory -----------------------------------------------------------------------------------

// Masks of the states that are kept are kept too: where a call stopped at a limit, what the matcher
// could do before it can do still.
void TokenAutomaton::keep_only(std::vector<StateId*>& states) {
  std::vector<std::pair<MaskPtr, StateId*>> masks;
  for (StateId* state : states)
    if (const MaskPtr* mask = known_mask({*state, false})) masks.emplace_back(*mask, state);
  automaton_.keep_only(states);
  data_ = {};
  loops_bytes_ = 0;
  mask_states_.clear();
  std::ranges::sort(masks, {}, [](const auto& kept) { return kept.first->serial; });
  StateId holder{};
  for (const auto& [mask, state] : masks) {  // those that share a mask are neighbours now
    if (mask_states_.empty() || data(holder).mask != mask) remember(holder = *state, mask);
    data(*state).mask_state = holder;
  }
  oldest_serial_ = masks.empty() ? next_serial_ : masks.front().first->serial;
}

}  // namespace tokamata
