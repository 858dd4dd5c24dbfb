#include "composition/rule_masks.hpp"

#include <algorithm>
#include <unordered_set>

#include "common/sort_unique.hpp"
#include "composition/approximation_cuts.hpp"
#include "composition/mask_builder.hpp"
#include "composition/unverified.hpp"

namespace tokamata {

namespace {

// A union of more alternatives has a mask of its own; otherwise each of a hundred thousand options would have one.
constexpr std::size_t kMostUnited = 32;

// False only where no control token can be read next.
bool may_begin_with_control(const Pool& pool, ExpressionId expression) {
  std::vector<ExpressionId> open{expression};
  std::unordered_set<std::uint32_t> met;
  while (!open.empty()) {
    const ExpressionId at = open.back();
    open.pop_back();
    const ExpressionNode& n = pool.node(at);
    if (n.text || n.kind == Kind::Bytes || !met.insert(at.value).second) continue;
    switch (n.kind) {
      case Kind::Union: open.insert(open.end(), pool.items(n).begin(), pool.items(n).end()); break;
      case Kind::Repetition: open.push_back(n.body()); break;
      case Kind::Concatenation:
        open.push_back(n.head());
        if (pool.node(n.head()).nullable) open.push_back(n.tail());
        break;
      default: return true;
    }
  }
  return false;
}

}  // namespace

RuleMasks::RuleMasks(TokenSteps& steps, RuleWalkContext& context, RuleMaskMaker& maker, MaskMemo& memo,
                     MaskWriter& writer)
    : steps_(steps),
      operands_(steps.operands()),
      vocabulary_(operands_.vocabulary()),
      automaton_(operands_.automaton()),
      context_(context),
      maker_(maker),
      beginnings_(context.beginnings),
      work_(context.work),
      memo_(memo),
      writer_(writer) {}

const MaskPtr& RuleMasks::of(StateId state, Budget& budget, VerifiedTokens* verified) {
  if (const MaskPtr* known = memo_.find({state, false})) {
    ++work_.counts.known;
    return *known;
  }
  const TimeOfPart timed = work_.time_mask();
  make(state, budget, verified);
  return *memo_.find({state, false});
}

std::vector<std::uint32_t> RuleMasks::refused_tokens(StateId state, std::vector<std::uint32_t> unverified,
                                                     Budget& budget) {
  const TimeOfPart timed = work_.time_unverified();
  work_.counts.unverified += unverified.size();
  return UnverifiedTokens(steps_.liveness(), operands_, maker_, std::move(unverified), budget).refused_by(state);
}

std::vector<std::uint32_t> RuleMasks::unverified(StateId holder) const {
  const auto known = unverified_.find(holder.value);
  if (known == unverified_.end()) return {};
  return {known->second.begin(), known->second.end()};
}

void RuleMasks::note_unverified(StateId holder, std::span<const std::uint32_t> tokens) {
  if (!tokens.empty())
    unverified_.insert_or_assign(holder.value, counted::vector<std::uint32_t>(tokens.begin(), tokens.end()));
}

void RuleMasks::note_questions(StateId holder, std::uint64_t most, std::span<const StackMemo::Question> questions) {
  const ExpressionId expression = automaton_.expression(holder);
  if (questions.empty() || !has_stack_memo(expression)) return;
  const auto beginnings = [this](ExpressionId part) { return beginnings_.of(part); };
  stack_memo_.add_asked(automaton_.arena().pool(), expression, {holder, most}, beginnings, questions);
}

void RuleMasks::clear() {
  stack_memo_.clear();
  release(united_masks_);
  release(unverified_);
}

// The state that holds the mask of an over-approximation.
RuleMasks::Holder RuleMasks::mask_of_approximation(ExpressionId approximation, Budget& budget,
                                                   VerifiedTokens* verified) {
  const StateId holder =
      automaton_.clipped(automaton_.state_of(automaton_.arena().derivatives().settled(approximation), budget), budget);
  if (memo_.held(holder)) {
    ++work_.counts.alike;
    return {holder, memo_.most_after(holder)};
  }
  const Pool& pool = automaton_.arena().pool();
  const ExpressionId expression = automaton_.expression(holder);
  if (has_stack_memo(expression)) {
    if (const std::optional<Holder> known = known_by_stack(expression)) return *known;
    const ExpressionNode& node = pool.node(expression);
    if (node.kind == Kind::Union && pool.items(node).size() <= kMostUnited) return united(holder, budget, verified);
  }
  work_.counts.note(MaskWork::Maker::Segments);
  RuleMask made = maker_.make(expression, TokenTrie::root(), budget, verified);
  memo_.note_most_after(holder, made.most);
  note_unverified(holder, made.unverified);
  if (has_stack_memo(expression) && made.unverified.empty() && maker_.notes_all()) {
    const auto read = [this](ExpressionId part) { return maker_.read(part); };
    stack_memo_.add(
        pool, expression, {holder, made.most}, [this](ExpressionId part) { return beginnings_.of(part); }, read);
  }
  memo_.keep(holder, writer_.of_bits(holder, std::move(made.bits)));
  return {holder, made.most};
}

// What has no rule is read as a whole, and asks no question.
bool RuleMasks::has_stack_memo(ExpressionId expression) const {
  const ExpressionNode& node = automaton_.arena().pool().node(expression);
  return automaton_.arena().rule_sets().any_joins() && node.rules && !node.unverified && !node.waits && !node.by_byte;
}

std::optional<RuleMasks::Holder> RuleMasks::known_by_stack(ExpressionId expression) {
  const auto known = stack_memo_.find(automaton_.arena().pool(), expression,
                                      [this](ExpressionId part) { return beginnings_.of(part); });
  if (!known || !memo_.held(known->holder)) return std::nullopt;
  work_.counts.note(MaskWork::Maker::StackMemo);
  return Holder{known->holder, known->most};
}

void RuleMasks::hand_over_held(StateId holder, VerifiedTokens& to) {
  const MaskPtr held = memo_.held(holder);
  if (!held) return;
  VerifiedTokens found(to.words());
  found.add(held->bits);
  for (const std::uint32_t token : unverified(holder)) found.remove(token);
  for (const std::uint32_t stop : vocabulary_.stop()) found.remove(stop);
  to.add_row(found.row());
}

// The mask of a union, by those of its items.
// Problem.  After a name, a program may be in a dozen readings at once: a call, a declaration, a cast.  Stacks of new
// combinations of readings are much more frequent than new stacks.
RuleMasks::Holder RuleMasks::united(StateId state, Budget& budget, VerifiedTokens* verified) {
  const std::span<const ExpressionId> given =
      automaton_.arena().pool().items(automaton_.arena().pool().node(automaton_.expression(state)));
  const std::vector<ExpressionId> items(given.begin(), given.end());  // the arena grows
  std::uint64_t most = 0;
  counted::vector<StateId> holders;
  const HandOver hand_over(verified, [&](VerifiedTokens& to) {
    for (const StateId holder : holders) hand_over_held(holder, to);
    to.note_most(most);
  });
  for (const ExpressionId item : items) {
    const std::optional<Holder> known = has_stack_memo(item) ? known_by_stack(item) : std::nullopt;
    const Holder one = known ? *known : mask_of_approximation(item, budget, verified);
    most = std::max(most, one.most_after);
    holders.push_back(one.state);
  }
  sort_unique(holders);
  if (holders.size() == 1) return {holders.front(), most};
  work_.counts.note(MaskWork::Maker::Union);
  if (const auto known = united_masks_.find(holders); known != united_masks_.end() && memo_.held(known->second))
    return {known->second, most};
  MaskBuilder builder(vocabulary_.words());
  for (const StateId holder : holders) builder.add(memo_.held(holder)->bits);
  for (const std::uint32_t stop : vocabulary_.stop()) builder.remove(stop);  // they are counted apart
  memo_.note_most_after(state, most);
  memo_.keep(state, writer_.of_bits(state, builder.take()));
  united_masks_.insert_or_assign(std::move(holders), state);
  return {state, most};
}

// The control tokens that the state allows, and where they lead.  Most states show that they allow none.
std::vector<RuleMasks::NextControl> RuleMasks::next_controls(StateId state, Budget& budget) {
  std::vector<NextControl> next;
  if (operands_.controls().empty() || !may_begin_with_control(automaton_.arena().pool(), automaton_.expression(state)))
    return next;
  for (const TokenId token : operands_.controls())
    if (const std::optional<StateId> target = steps_.step({state, false}, token, budget))
      next.push_back({token, *target});
  return next;
}

void RuleMasks::make(StateId state, Budget& budget, VerifiedTokens* verified) {
  const std::span<const std::uint32_t> order = vocabulary_.trie().order();
  const std::vector<ApproximationCut> cuts = approximation_cuts(operands_, state, TokenTrie::root(), budget);
  const bool is_one = cuts.size() == 1 && cuts.front().refused.empty();
  std::vector<std::uint32_t> unverified;
  std::uint64_t most = 0;
  std::optional<MaskBuilder> own;  // where it is not the mask of one over-approximation
  if (!is_one) own.emplace(vocabulary_.words());
  StateId holder = state;
  // Whether a control token may follow is not known before the end, and stop tokens are not the maker's to hand out.
  const auto hand_over_settled = [&](VerifiedTokens& found, VerifiedTokens& to) {
    for (const std::uint32_t token : unverified) found.remove(token);
    for (const TokenId control : operands_.controls()) found.remove(control.value);
    for (const std::uint32_t stop : vocabulary_.stop()) found.remove(stop);
    to.add_row(found.row());
    to.note_most(std::max(most, found.most()));
  };
  for (const ApproximationCut& cut : cuts) {
    std::optional<VerifiedTokens> of_cut;
    if (verified) of_cut.emplace(verified->words());
    const HandOver hand_over(verified, [&](VerifiedTokens& to) {
      for (const auto* ranges : {&cut.refused, &cut.unverified})
        for (const TokenRange& range : *ranges)
          for (std::uint32_t i = range.begin; i < range.end; ++i) of_cut->remove(order[i]);
      if (own) of_cut->add(own->take());
      hand_over_settled(*of_cut, to);
    });
    const Holder made = mask_of_approximation(cut.approximation, budget, of_cut ? &*of_cut : nullptr);
    holder = made.state;
    most = std::max(most, made.most_after);
    if (const auto known = unverified_.find(holder.value); state != holder && known != unverified_.end())
      unverified.insert(unverified.end(), known->second.begin(), known->second.end());
    for (const TokenRange& range : cut.unverified)
      unverified.insert(unverified.end(), order.begin() + range.begin, order.begin() + range.end);
    if (is_one) break;
    MaskBuilder less_refused(vocabulary_.words());
    less_refused.add(memo_.held(holder)->bits);
    for (const TokenRange& range : cut.refused)
      for (std::uint32_t i = range.begin; i < range.end; ++i) less_refused.remove(order[i]);
    own->add(less_refused.take());
  }
  const auto is_set = [&](std::uint32_t token) {
    return own ? own->contains(token) : memo_.held(holder)->bits.contains(token);
  };
  const HandOver hand_over(verified, [&](VerifiedTokens& to) {
    VerifiedTokens found(to.words());
    if (own) found.add(own->take());
    else hand_over_held(holder, found);
    hand_over_settled(found, to);
  });
  sort_unique(unverified);
  std::erase_if(unverified, [&](std::uint32_t token) { return !is_set(token); });
  if (!unverified.empty()) unverified = refused_tokens(state, unverified, budget);
  const std::vector<NextControl> controls = next_controls(state, budget);
  for (const NextControl& next : controls)
    most = std::max(most, TokenLiveness::endless_if_capped(automaton_.node(next.target).spelled));
  const auto is_next = [&](TokenId token) {
    return std::ranges::find(controls, token, &NextControl::token) != controls.end();
  };
  // Masks of other states, which may have had control tokens of their own, are what this one is made of.
  const bool differs =
      std::ranges::any_of(operands_.controls(), [&](TokenId token) { return is_set(token.value) != is_next(token); });
  if ((!unverified.empty() || differs) && !own) {
    own.emplace(vocabulary_.words());
    own->add(memo_.held(holder)->bits);
  }
  memo_.note_most_after(state, most);
  memo_.share(state, own ? state : holder);
  if (!own) return;
  for (const std::uint32_t token : unverified) own->remove(token);
  if (differs)
    for (const TokenId token : operands_.controls()) is_next(token) ? own->add(token.value) : own->remove(token.value);
  memo_.keep(state, writer_.of_whole_bits(state, own->take()));
}

}  // namespace tokamata
