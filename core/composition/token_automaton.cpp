#include "composition/token_automaton.hpp"

#include "composition/language_masks.hpp"

namespace tokamata {

TokenAutomaton::TokenAutomaton(const Expression& pattern, std::shared_ptr<const Vocabulary> vocabulary,
                               std::shared_ptr<const Vocabulary> start_vocabulary, const ControlTokens& control_tokens,
                               const Limits& limits, std::shared_ptr<const CancelToken> cancel)
    : operands_(pattern, std::move(vocabulary), std::move(start_vocabulary), control_tokens, limits, std::move(cancel)),
      stop_mask_(writer_.of_ranges(false, {}, {}, true)) {}

TokenAutomaton::~TokenAutomaton() = default;

LanguageMasks& TokenAutomaton::language_masks() {
  if (!language_masks_) language_masks_ = std::make_unique<LanguageMasks>(steps_, rule_masks_);
  return *language_masks_;
}

const MaskPtr& TokenAutomaton::mask(Configuration configuration, Budget& budget, VerifiedTokens* verified) {
  if (const MaskPtr* known = known_mask(configuration)) {
    ++work_.counts.known;
    return *known;
  }
  const TimeOfPart timed = timed_mask();
  if (configuration.at_start) return memo_.keep_start(regular_masks_.make(configuration, budget, verified));
  const StateId state = configuration.state;
  if (operands_.has_rule_mask(state)) return rule_masks_.of(state, budget, verified);
  if (automaton().node(state).kind == Kind::Intersection)
    if (const std::optional<StateId> holder = language_masks().mask_state(state, budget)) {
      work_.counts.note(MaskWork::Maker::Language);
      memo_.share(state, *holder);
      return memo_.held(*holder);
    }
  // Clipping is sound where every byte of the pattern is a token of its own (clipping.hpp).
  const StateId holder = operands_.every_byte_is_token() ? automaton().clipped(state, budget) : state;
  if (memo_.held(holder)) ++work_.counts.alike;
  else memo_.keep(holder, regular_masks_.make({holder, false}, budget, verified));
  memo_.share(state, holder);
  return memo_.held(holder);
}

// Where lookaround and the like are in play, the mask has met every state that a token leads to.
std::uint64_t TokenAutomaton::most_after(Configuration configuration) const {
  const ExpressionNode& node = automaton().node(configuration.state);
  if (!node.rules && operands_.is_spelled_by_bytes() && !node.constrained)
    return TokenLiveness::endless_if_capped(node.worst);
  if (configuration.at_start || (!node.rules && !node.constrained)) return kEndless;
  return memo_.most_after(configuration.state);
}

// Masks of the states that are kept are kept too: where a call stopped at a limit, what the matcher
// could do before it can do still.
void TokenAutomaton::keep_only(std::span<StateId* const> states) {
  MaskMemo::Taken masks = memo_.take(states);
  language_masks_.reset();
  steps_.clear();  // its token classes are as good as ever, but memory is short
  liveness_.clear();
  loops_.clear();
  segments_.clear();
  beginnings_.clear();
  regular_masks_.clear();
  rule_masks_.clear();
  rule_segments_.clear();
  automaton().keep_only(states);
  memo_.put_back(std::move(masks));
}

}  // namespace tokamata
