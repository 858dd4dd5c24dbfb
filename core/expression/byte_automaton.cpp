#include "expression/byte_automaton.hpp"
#include "common/memoized.hpp"

#include <algorithm>

namespace tokamata {

namespace {
constexpr std::uint32_t kNoState = ~std::uint32_t{0};

// Problem.  JSON distinguishes all of ASCII, as names and keywords have it, and so a row has a column for each of these
// bytes.  A state within ".{8,40} with a letter and a digit" distinguishes eight classes, and would derive each letter
// by itself.
// How.  The first byte of a class that is read fills the columns of all of them, and of the bytes that lead nowhere.
// Example.  After a letter of such a text, the transition by 3 is that by 0 to 9.
// Cost.  The leaves at the front of the expression (first_byte_classes.cpp), up to kMostNodes, from the second
// transition of a state on.  Of more, most have derivatives that are known, and to look into them would take longer: with
// canonical tokenization, a mask of a format of many alternatives took 2 s, mostly for their classes.
constexpr std::size_t kMostNodes = 64;

template <class Column>
void fill_class(const FirstBytes& classes, std::uint8_t read, StateId target, Column&& column) {
  unsigned begin = read, end = read + 1u;
  while (begin > 0 && !classes.borders.contains(static_cast<std::uint8_t>(begin))) --begin;
  while (end < 256 && !classes.borders.contains(static_cast<std::uint8_t>(end))) ++end;
  for (unsigned value = 0; value < 256; ++value) {
    const auto byte = static_cast<std::uint8_t>(value);
    if (begin <= value && value < end) column(byte) = target;
    else if (!classes.bytes.contains(byte)) column(byte) = ByteAutomaton::kDead;
  }
}
}  // namespace

ByteAutomaton::ByteAutomaton(const Expression& pattern, LeafForms::Aliases control_tokens, const ByteSet& single_bytes,
                             std::size_t reach, const Limits& limits, std::shared_ptr<const CancelToken> cancel)
    : limits_(limits), arena_(single_bytes, reach, limits.depth) {
  Budget budget(limits_, std::move(cancel), 0);
  arena_.leaf_forms().join_control_tokens(std::move(control_tokens));
  const ExpressionId root = arena_.add(pattern, budget);
  pattern_bytes_ = arena_.leaves().pattern_bytes();
  control_tokens_ = arena_.leaves().control_tokens();
  for (unsigned value = 0; value < 256; ++value) {
    const auto byte = static_cast<std::uint8_t>(value);
    if (byte == 0 || arena_.leaves().class_borders().contains(byte)) byte_classes_.push_back(byte);
    class_of_[byte] = static_cast<std::uint8_t>(byte_classes_.size() - 1);
  }
  TOKAMATA_CHECK(has_partition(), "the byte classes are runs of the bytes from 0 to 255, with no border inside");
  stride_ = static_cast<std::uint32_t>(byte_classes_.size() + 1 + control_tokens_.size());
  make_row(state_of(Pool::kEmpty, limits_), budget);
  std::ranges::fill(rows_, kDead);  // the row of kDead is never unknown
  start_ =
      state_of(arena_.derivatives().derivative(root, Symbol::edge(), budget), limits_);  // a text begins at an edge
}

// Whether each byte is in one class, whose bytes the arena does not distinguish.
bool ByteAutomaton::has_partition() const {
  if (byte_classes_.empty() || byte_classes_.front() != 0 || class_of_[0] != 0) return false;
  std::size_t index = 0;
  for (unsigned byte = 1; byte < 256; ++byte) {
    if (index + 1 < byte_classes_.size() && byte_classes_[index + 1] == byte) ++index;
    else if (arena_.leaves().class_borders().contains(static_cast<std::uint8_t>(byte))) return false;
    if (class_of_[byte] != index) return false;
  }
  return index + 1 == byte_classes_.size();
}

StateId ByteAutomaton::state_of(ExpressionId expression, const Limits& limits) {
  if (expression.value >= state_of_expression_.size())
    state_of_expression_.resize(std::max<std::size_t>(arena_.pool().size(), 2 * state_of_expression_.size()), kNoState);
  if (state_of_expression_[expression.value] != kNoState) return {state_of_expression_[expression.value]};
  if (expressions_.size() > limits.states)
    throw LimitExceeded("states", static_cast<double>(limits.states), arena_.analyses().blame(expression));
  const StateId state{static_cast<std::uint32_t>(expressions_.size())};
  put_at(row_of_, state.value, kRowToCome);  // many states are met for their masks alone
  put_at(only_transitions_, state.value, OnlyTransition{});
  expressions_.push_back(expression);
  state_count_.store(expressions_.size(), std::memory_order_relaxed);
  state_of_expression_[expression.value] = state.value;
  return state;
}

void ByteAutomaton::make_row(StateId state, Budget& budget) {
  const OnlyTransition only = only_transitions_[state.value];
  if (begins_with_rule(expressions_[state.value])) {
    const ByteSet readable = may_read(state, budget);
    if (only.target != kUnknown)
      single_transitions_.emplace(std::uint64_t{state.value} * stride_ + only.column, only.target);
    readable_.push_back(readable);
    row_of_[state.value] = kFirstRuled + static_cast<std::uint32_t>(readable_.size() - 1);
  } else {
    const auto row = static_cast<std::uint32_t>(rows_.size() / stride_);
    rows_.resize(rows_.size() + stride_, kUnknown);
    if (only.target != kUnknown) rows_[std::size_t{row} * stride_ + only.column] = only.target;
    row_of_[state.value] = row;
  }
}

bool ByteAutomaton::begins_with_rule(ExpressionId expression) const {
  return std::ranges::any_of(arena_.pool().alternatives(expression), [this](ExpressionId alternative) {
    return arena_.pool().node(arena_.pool().split(alternative).head).kind == Kind::Rule;
  });
}

StateId ByteAutomaton::make_transition(StateId state, Symbol symbol, Budget& budget) {
  const ExpressionId source = expressions_[state.value];
  try {
    budget.step();
    const bool is_by_byte = arena_.pool().node(source).by_byte;
    if (row_of_[state.value] == kRowToCome && !is_by_byte && only_transitions_[state.value].target != kUnknown) {
      make_row(state, budget);
      if (known_transition(state, symbol) == kDead) return kDead;
    }
    const std::uint32_t row = row_of_[state.value];
    const std::size_t place_in_row = std::size_t{row} * stride_ + column(symbol);
    if (row < kFirstRuled && symbol.is_byte() && !is_by_byte && fill_dead_from_leaf(state, budget) &&
        rows_[place_in_row] == kDead)
      return kDead;
    const std::size_t count = expressions_.size();
    const StateId target = state_of(
        arena_.derivatives().settled(arena_.derivatives().derivative(source, symbol, budget)), budget.limits());
    TOKAMATA_CHECK(has_partition(), "what is met while a text is read brings no border into a byte class");
    if (is_by_byte) {
      if (symbol.is_byte() && target.value >= count) origins_.push_back({state, symbol.byte(), target});
      if (row == kRowToCome && symbol.is_byte()) only_transitions_[state.value] = {kOfByte + symbol.byte(), target};
      return target;
    }
    if (row == kRowToCome) only_transitions_[state.value] = {column(symbol), target};
    else if (row >= kFirstRuled) single_transitions_.emplace(place(state, symbol), target);
    else if (symbol.is_byte())
      fill_class(arena_.derivatives().first_byte_classes(source, kMostNodes), symbol.byte(), target,
                 [&](std::uint8_t byte) -> StateId& { return rows_[std::size_t{row} * stride_ + class_of_[byte]]; });
    else rows_[place_in_row] = target;
    return target;
  } catch (LimitExceeded& error) {
    if (error.position < 0) error.position = arena_.analyses().blame(source);
    throw;
  }
}

bool ByteAutomaton::fill_dead_from_leaf(StateId state, Budget& budget) {
  const std::size_t row = std::size_t{row_of_[state.value]} * stride_;
  if (rows_[row] != kUnknown) return false;  // that was done, most likely
  const std::optional<ByteSet> alive = arena_.derivatives().leaf_bytes(expressions_[state.value], budget);
  if (!alive) return false;
  for (std::size_t index = 0; index < byte_classes_.size(); ++index)
    if (!alive->contains(byte_classes_[index])) rows_[row + index] = kDead;
  return true;
}

StateId ByteAutomaton::clipped(StateId state, Budget& budget) {
  if (!node(state).counts_past_reach) return state;
  return state_of(arena_.clipping().clip(expressions_[state.value]), budget.limits());
}

// Everything that is needed is allocated before the arena changes, so that a failure leaves the automaton as it was.
void ByteAutomaton::keep_only(std::span<StateId* const> states) {
  std::vector<StateId> moved(expressions_.size(), kUnknown);
  counted::vector<ExpressionId> expressions;  // by new state
  const auto keep = [&](StateId state) {
    if (moved[state.value] != kUnknown) return;
    moved[state.value] = {static_cast<std::uint32_t>(expressions.size())};
    expressions.push_back(expressions_[state.value]);
  };
  keep(kDead);
  keep(start_);
  for (const StateId* state : states) keep(*state);
  counted::vector<std::uint32_t> row_of(expressions.size(), kRowToCome);
  counted::vector<OnlyTransition> only_transitions(expressions.size());
  counted::vector<StateId> rows(stride_, kDead);
  row_of[kDead.value] = 0;  // its row is never unknown
  const std::vector<ExpressionId> moved_expressions = arena_.keep_only(expressions);
  rule_products_.forget();

  for (ExpressionId& expression : expressions) expression = moved_expressions[expression.value];
  expressions_ = std::move(expressions);
  state_count_.store(expressions_.size(), std::memory_order_relaxed);
  row_of_ = std::move(row_of);
  only_transitions_ = std::move(only_transitions);
  rows_ = std::move(rows);
  release(single_transitions_);
  release(readable_);
  release(origins_);
  std::ranges::fill(state_of_expression_, kNoState);
  if (state_of_expression_.size() > arena_.pool().size()) state_of_expression_.resize(arena_.pool().size());
  for (std::uint32_t state = 0; state < expressions_.size(); ++state)
    state_of_expression_[expressions_[state].value] = state;
  state_of_expression_.shrink_to_fit();
  start_ = moved[start_.value];
  for (StateId* state : states) *state = moved[state->value];
}

}  // namespace tokamata
