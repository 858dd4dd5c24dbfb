// Masks of states by their over-approximations, which many states share.  Part of TokenAutomaton.
//
// Problem.  What a text has written decides what it may write much later (expression/rules.hpp), so no two states need
// be alike, though most of their masks are.
// How.  A state has the masks of its over-approximations, each made once (rule_masks.cpp).  Tokens that begin with a
// text which an over-approximation refuses are taken out, as runs of the trie.  The state itself judges the tokens that
// are unverified (unverified.cpp).
// Example.  {"a": 1, "|  where any names may stand: the mask of any name, less the tokens that begin with  a" .
// Cost.  A look-up for each over-approximation, a few words for each run, and what unverified tokens cost.

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "composition/rule_endings.hpp"
#include "composition/token_automaton.hpp"
#include "composition/walk_texts.hpp"

namespace tokamata {

namespace {

constexpr std::size_t kMostItems = 32;  // of a union; of a hundred thousand options each would have a mask

// False only where no control token can be read next.
bool may_begin_with_control(const Arena& arena, ExpressionId expression) {
  std::vector<ExpressionId> open{expression};
  std::unordered_set<std::uint32_t> met;
  while (!open.empty()) {
    const ExpressionId at = open.back();
    open.pop_back();
    const ExpressionNode& n = arena.node(at);
    if (n.text || n.kind == Kind::Bytes || !met.insert(at.value).second) continue;
    switch (n.kind) {
      case Kind::Union: open.insert(open.end(), arena.items(n).begin(), arena.items(n).end()); break;
      case Kind::Repetition: open.push_back(n.body()); break;
      case Kind::Concatenation:
        open.push_back(n.head());
        if (arena.node(n.head()).nullable) open.push_back(n.tail());
        break;
      default: return true;
    }
  }
  return false;
}

}  // namespace

TokenAutomaton::Configuration TokenAutomaton::approximated(Configuration configuration, Budget& budget) {
  std::vector<ExpressionId> all;
  for (const Approximation& approximation :
       automaton_.arena().approximations(automaton_.expression(configuration.state), budget))
    all.push_back(approximation.expression);
  return {automaton_.state_of(automaton_.arena().settled(automaton_.arena().unite(all)), budget),
          configuration.at_start};
}

// Over-approximations of a state with the tokens that each refuses or leaves unverified, those that do neither in one.
// Of tokens what is below a node of the trie follows the state.
std::vector<TokenAutomaton::ApproximationCut> TokenAutomaton::approximation_cuts(StateId state, NodeId from,
                                                                                 Budget& budget) {
  const TokenTrie& trie = vocabulary_->trie();
  std::vector<ExpressionId> whole;
  std::vector<ApproximationCut> cuts;
  for (const Approximation& approximation : automaton_.arena().approximations(automaton_.expression(state), budget)) {
    const auto marked_tokens = [&](const std::vector<TextsAfter>& texts) {
      std::vector<TokenRange> tokens;
      walk_texts(
          trie, from, texts, budget, [](NodeId) {},
          [&](NodeId node, bool with_longer) {
            tokens.push_back(
                {trie.node(node).tokens_begin, with_longer ? trie.node(node).tokens_end : trie.own_end(node)});
          });
      return tokens;
    };
    ApproximationCut cut{approximation.expression, marked_tokens(approximation.refused),
                         marked_tokens(approximation.unverified)};
    if (cut.refused.empty() && cut.unverified.empty()) whole.push_back(approximation.expression);
    else cuts.push_back(std::move(cut));
  }
  if (const ExpressionId all = automaton_.arena().unite(whole); all != Arena::kEmpty) cuts.push_back({all, {}, {}});
  return cuts;
}

// The tokens on the way of a text that the over-approximation refuses or leaves unverified, or that may become like an
// earlier one: what such a token leads to is not alike to what others do.
Words TokenAutomaton::ambiguous_tokens(StateId state, Budget& budget) {
  const TokenTrie& trie = vocabulary_->trie();
  Words tokens(vocabulary_->words());
  const auto note = [&](std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t i = begin; i < end; ++i) set_bit(tokens, trie.order()[i]);
  };
  for (const Approximation& approximation : automaton_.arena().approximations(automaton_.expression(state), budget))
    for (const auto* texts : {&approximation.refused, &approximation.unverified, &approximation.alike})
      walk_texts(
          trie, TokenTrie::root(), *texts, budget,
          [&](NodeId node) { note(trie.node(node).tokens_begin, trie.own_end(node)); },
          [&](NodeId node, bool with_longer) {
            if (with_longer) note(trie.node(node).tokens_begin, trie.node(node).tokens_end);
          });
  return tokens;
}

RuleMaskMaker& TokenAutomaton::rule_mask_maker() {
  if (!rule_mask_maker_) rule_mask_maker_ = std::make_unique<RuleMaskMaker>(*this);
  return *rule_mask_maker_;
}

// The state that holds the mask of an over-approximation.
TokenAutomaton::RuleMaskHolder TokenAutomaton::made_rule_mask(ExpressionId approximation, Budget& budget) {
  const StateId holder =
      automaton_.clipped(automaton_.state_of(automaton_.arena().settled(approximation), budget), budget);
  if (data(holder).mask) {
    ++work_.alike;
    return {holder, data(holder).most_after};
  }
  const Arena& arena = automaton_.arena();
  const ExpressionId expression = automaton_.expression(holder);
  if (has_stack_memo(expression)) {
    if (const std::optional<RuleMaskHolder> known = known_rule_mask(expression)) return *known;
    const ExpressionNode& node = arena.node(expression);
    if (node.kind == Kind::Union && arena.items(node).size() <= kMostItems) return united_rule_mask(holder, budget);
  }
  work_.note(MaskWork::Maker::Segments);
  RuleMask made = rule_mask_maker().make(expression, TokenTrie::root(), budget);
  data(holder).most_after = made.most;
  if (!made.unverified.empty())
    unverified_.insert_or_assign(holder.value,
                                 counted::vector<std::uint32_t>(made.unverified.begin(), made.unverified.end()));
  if (has_stack_memo(expression) && made.unverified.empty() && rule_mask_maker().notes_all()) {
    const auto read = [this](ExpressionId part) { return rule_mask_maker().read(part); };
    stack_memo_.add(
        arena, expression, {holder, made.most}, [this](ExpressionId part) { return beginnings(part); }, read);
  }
  remember(holder, mask_with_stops(std::move(made.bits), holder));
  return {holder, made.most};
}

// What has no rule is read as a whole, and asks no question.
bool TokenAutomaton::has_stack_memo(ExpressionId expression) const {
  const ExpressionNode& node = automaton_.arena().node(expression);
  return automaton_.arena().joins_rules() && node.rules && !node.unverified && !node.waits && !node.by_byte;
}

std::optional<TokenAutomaton::RuleMaskHolder> TokenAutomaton::known_rule_mask(ExpressionId expression) {
  const auto known =
      stack_memo_.find(automaton_.arena(), expression, [this](ExpressionId part) { return beginnings(part); });
  if (!known || !data(known->holder).mask) return std::nullopt;
  work_.note(MaskWork::Maker::StackMemo);
  return RuleMaskHolder{known->holder, known->most};
}

// The mask of a union, by those of its items.
// Problem.  After a name, a program may be in a dozen readings at once: a call, a declaration, a cast.  Stacks of new
// combinations of readings are much more frequent than new stacks.
TokenAutomaton::RuleMaskHolder TokenAutomaton::united_rule_mask(StateId state, Budget& budget) {
  const std::span<const ExpressionId> given =
      automaton_.arena().items(automaton_.arena().node(automaton_.expression(state)));
  const std::vector<ExpressionId> items(given.begin(), given.end());  // the arena grows
  std::uint64_t most = 0;
  counted::vector<StateId> holders;
  for (const ExpressionId item : items) {
    const std::optional<RuleMaskHolder> known = has_stack_memo(item) ? known_rule_mask(item) : std::nullopt;
    const RuleMaskHolder one = known ? *known : made_rule_mask(item, budget);
    most = std::max(most, one.most_after);
    holders.push_back(one.state);
  }
  std::ranges::sort(holders);
  holders.erase(std::unique(holders.begin(), holders.end()), holders.end());
  if (holders.size() == 1) return {holders.front(), most};
  work_.note(MaskWork::Maker::Union);
  if (const auto known = united_masks_.find(holders); known != united_masks_.end() && data(known->second).mask)
    return {known->second, most};
  MaskBuilder builder(vocabulary_->words());
  for (const StateId holder : holders) builder.add(data(holder).mask->bits);
  for (const std::uint32_t stop : vocabulary_->stop()) builder.remove(stop);  // they are counted apart
  data(state).most_after = most;
  remember(state, mask_with_stops(builder.take(), state));
  united_masks_.insert_or_assign(std::move(holders), state);
  return {state, most};
}

// A mask that may lack the stop tokens, with those where the text may end.
MaskPtr TokenAutomaton::mask_with_stops(MaskBits bits, StateId state) {
  auto mask = std::make_shared<Mask>();
  mask->serial = next_serial_++;
  mask->bits = std::move(bits);
  mask->set_bits = mask->open_tokens = mask->bits.count();
  if (automaton_.accepting(state)) add_stops(*vocabulary_, *mask);
  return mask;
}

// The control tokens that the state allows, and where they lead.  Most states show that they allow none.
std::vector<TokenAutomaton::NextControl> TokenAutomaton::next_controls(StateId state, Budget& budget) {
  std::vector<NextControl> next;
  if (controls_.empty() || !may_begin_with_control(automaton_.arena(), automaton_.expression(state))) return next;
  for (const TokenId token : controls_)
    if (const std::optional<StateId> target = step({state, false}, token, budget)) next.push_back({token, *target});
  return next;
}

void TokenAutomaton::remember_rule_mask(StateId state, Budget& budget) {
  const std::span<const std::uint32_t> order = vocabulary_->trie().order();
  const std::vector<ApproximationCut> cuts = approximation_cuts(state, TokenTrie::root(), budget);
  const bool is_one = cuts.size() == 1 && cuts.front().refused.empty();
  std::vector<std::uint32_t> unverified;
  std::uint64_t most = 0;
  std::optional<MaskBuilder> own;  // where it is not the mask of one over-approximation
  if (!is_one) own.emplace(vocabulary_->words());
  StateId holder = state;
  for (const ApproximationCut& cut : cuts) {
    const RuleMaskHolder made = made_rule_mask(cut.approximation, budget);
    holder = made.state;
    most = std::max(most, made.most_after);
    if (const auto known = unverified_.find(holder.value); state != holder && known != unverified_.end())
      unverified.insert(unverified.end(), known->second.begin(), known->second.end());
    for (const TokenRange& range : cut.unverified)
      unverified.insert(unverified.end(), order.begin() + range.begin, order.begin() + range.end);
    if (is_one) break;
    MaskBuilder less_refused(vocabulary_->words());
    less_refused.add(data(holder).mask->bits);
    for (const TokenRange& range : cut.refused)
      for (std::uint32_t i = range.begin; i < range.end; ++i) less_refused.remove(order[i]);
    own->add(less_refused.take());
  }
  const auto is_set = [&](std::uint32_t token) {
    return own ? own->contains(token) : data(holder).mask->bits.contains(token);
  };
  std::ranges::sort(unverified);
  unverified.erase(std::unique(unverified.begin(), unverified.end()), unverified.end());
  std::erase_if(unverified, [&](std::uint32_t token) { return !is_set(token); });
  if (!unverified.empty()) unverified = refused_tokens(state, std::move(unverified), budget);
  const std::vector<NextControl> controls = next_controls(state, budget);
  for (const NextControl& next : controls)
    most = std::max(most, endless_if_capped(automaton_.node(next.target).spelled));
  const auto is_next = [&](TokenId token) {
    return std::ranges::find(controls, token, &NextControl::token) != controls.end();
  };
  // Masks of other states, which may have had control tokens of their own, are what this one is made of.
  const bool differs =
      std::ranges::any_of(controls_, [&](TokenId token) { return is_set(token.value) != is_next(token); });
  if ((!unverified.empty() || differs) && !own) {
    own.emplace(vocabulary_->words());
    own->add(data(holder).mask->bits);
  }
  data(state).most_after = most;
  data(state).mask_state = own ? state : holder;
  if (!own) return;
  for (const std::uint32_t token : unverified) own->remove(token);
  if (differs)
    for (const TokenId token : controls_) is_next(token) ? own->add(token.value) : own->remove(token.value);
  auto mask = std::make_shared<Mask>();
  mask->serial = next_serial_++;
  mask->bits = own->take();
  mask->set_bits = mask->open_tokens = mask->bits.count();
  if (automaton_.accepting(state)) mask->open_tokens -= vocabulary_->stop().size();
  remember(state, std::move(mask));
}

}  // namespace tokamata
