#include "following/canonical.hpp"

#include "canonical/show.hpp"
#include "canonical/token_transitions.hpp"
#include "expression/show.hpp"
#include "following/forced_text.hpp"

namespace tokamata {

bool CanonicalFollower::may_begin(Budget& budget) {
  const Step first = first_step(start({}).canonical);
  return lives(Place::after(first, 0, pattern_.has_start_rule()), budget) ||
         automaton_.lives_somewhere(first.state, budget);
}

Follower::Start CanonicalFollower::start(std::span<const TokenId> context) const {
  const Tokenization& tokenization = automaton_.tokenization();
  CanonicalState state = tokenization.start();
  for (std::size_t i = 0; i < context.size(); ++i) {
    std::optional<CanonicalState> after = tokenization.step(state, context[i]);
    if (!after) throw ContextNotCanonical(i);
    state = *std::move(after);
  }
  // After an added token a text begins again.
  const bool begins =
      context.empty() || (tokenization.added_number(context.back()) && tokenization.is_control(context.back()));
  return {std::move(state), pattern_.has_start_rule() && begins};
}

MaskPtr CanonicalFollower::known_mask(const Place& place, TokenCount left) const {
  return left == kNoTokens ? automaton_.known_mask(place.at, place.canonical) : nullptr;
}

MaskPtr CanonicalFollower::mask(const Place& place, TokenCount left, Budget& budget, VerifiedTokens* verified) {
  return left == kNoTokens ? automaton_.mask(place.at, place.canonical, budget, verified)
                           : automaton_.mask_within(place.at, place.canonical, left, budget, verified);
}

std::optional<Step> CanonicalFollower::step(const Place& place, TokenId token, Budget& budget) {
  std::optional<CanonicalAutomaton::Target> target = automaton_.step(place.at, place.canonical, token, budget);
  if (!target) return std::nullopt;
  return Step{token, target->state, std::move(target->canonical)};
}

std::optional<Step> CanonicalFollower::written_step(const Place& place, TokenId token, Budget& budget) {
  const std::optional<StateId> target = pattern_step(pattern_, place.at, token, budget);
  return target ? std::optional(Step{token, *target, place.canonical}) : std::nullopt;
}

Verdict CanonicalFollower::refusal(const Place& place, TokenId token) const {
  switch (automaton_.tokenization().why_not(place.canonical, token)) {
    case Refusal::NeverMade: return Verdict::NeverMade;
    case Refusal::Merge: return Verdict::Merge;
    case Refusal::PreToken: return Verdict::PreToken;
    case Refusal::Normalizer: return Verdict::Normalizer;
    case Refusal::AddedToken: return Verdict::AddedToken;
    case Refusal::None: break;
  }
  return Verdict::DeadEnd;
}

std::string CanonicalFollower::forced(const Place& place, Budget& budget) {
  return forced_text(*this, pattern_, place, budget);
}

std::string CanonicalFollower::show(const Place& place) {
  return show_state(pattern_.automaton(), place.at.state, accepts(place) ? ", accepting" : "") + "\n" +
         tokamata::show(place.canonical, automaton_.tokenization());
}

void CanonicalFollower::trim_masks(std::size_t limit) {
  automaton_.trim_masks(limit);
  pattern_.trim_masks(limit);
}

namespace {

// Each token is a class of its own.
class TransitionsByToken final : public Transitions {
 public:
  TransitionsByToken(Follower& follower, const Vocabulary& vocabulary)
      : follower_(follower), vocabulary_(vocabulary), class_of_token_(vocabulary.width(), -1) {}

  void visit(const Place& place, Budget& budget, const Visit& visit) override {
    const MaskPtr mask = follower_.mask(place, kNoTokens, budget);
    for_each_bit(mask->bits.row(), [&](std::uint32_t token) {
      if (vocabulary_.is_stop({token})) return;
      const auto number = static_cast<std::int32_t>(token);
      class_of_token_[token] = number;
      visit(*follower_.step(place, {token}, budget), {&number, 1});
    });
  }
  std::vector<std::int32_t> class_of_token() && override { return std::move(class_of_token_); }

 private:
  Follower& follower_;
  const Vocabulary& vocabulary_;
  std::vector<std::int32_t> class_of_token_;
};

}  // namespace

std::unique_ptr<Transitions> CanonicalFollower::transitions(Budget&) {
  return std::make_unique<TransitionsByToken>(*this, automaton_.tokenization().vocabulary());
}

}  // namespace tokamata
