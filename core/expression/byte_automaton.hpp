// The pattern as a deterministic automaton over bytes, made lazily.
//
// A state is an expression in normal form; its transition row is filled one byte class at a time.
// Bytes between two borders of the pattern's classes behave alike everywhere, so a row has one entry
// per class (4 for `[a-z]*`, some 70 for `\w*`), one for the token edge, and one for each control token
// of the pattern.  A text leaves most states by one byte, so a state gets its row with its second
// transition.  States that begin with a rule have no row; their transitions are kept one by one.  Of states that keep
// every byte that is read, where bytes of one class differ, the latest transition is kept.
//
// Cost: a look-up per byte if the transition is known; otherwise a derivative.
// Source: lazy determinization as in RE2 and regex-automata's hybrid engine, over derivatives.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "common/check.hpp"
#include "common/ids.hpp"
#include "common/limits.hpp"
#include "common/memory_account.hpp"
#include "expression/arena.hpp"
#include "expression/rule_products.hpp"

namespace tokamata {

// Contract.
//   - Lifetimes.  The automaton owns its arena.  States and expressions keep their numbers until `keep_only`.  That
//     call renumbers the start and the states named, and makes all other numbers meaningless, those of expressions
//     included.  A reference to a node is good until the next call of a member that is not const.  Byte classes,
//     control tokens and pattern bytes never change.
//   - Locks.  It has none: one thread at a time, which holds the lock of its Constraint.
//   - Errors.  A member with a Budget may end with LimitExceeded, Cancelled or std::bad_alloc.  The states and
//     transitions that were made until then stay, and each of them is whole, so the same call may be made again.
//   - `try_next` computes nothing and never fails.  It returns nothing if the transition is not known.
class ByteAutomaton {
 public:
  static constexpr StateId kDead{0};

  ByteAutomaton(const Expression& pattern, LeafForms::Aliases control_tokens, const ByteSet& single_bytes,
                std::size_t reach, const Limits& limits, std::shared_ptr<const CancelToken> cancel);

  StateId start() const { return start_; }

  StateId next(StateId state, Symbol symbol, Budget& budget) {
    const StateId known = known_transition(state, symbol);
    return known == kUnknown ? make_transition(state, symbol, budget) : known;
  }
  // The same, where it is known.
  std::optional<StateId> try_next(StateId state, Symbol symbol) const {
    const StateId known = known_transition(state, symbol);
    return known == kUnknown ? std::nullopt : std::optional(known);
  }
  // Visits transitions that do not lead to kDead: those that are known, and those that first led to a state.  Each is
  // given as a state, a symbol and the state after it; of a class of bytes that behave alike, the symbol is the least.
  template <class Visit>
  void for_each_known(Visit&& visit) const {
    const auto note = [&](std::uint32_t state, std::uint32_t column, StateId target) {
      if (target == kUnknown || target == kDead) return;
      const std::size_t classes = byte_classes_.size();
      const Symbol symbol = column >= kOfByte   ? Symbol(static_cast<std::uint8_t>(column - kOfByte))
                            : column < classes  ? Symbol(byte_classes_[column])
                            : column == classes ? Symbol::edge()
                                                : Symbol::control(static_cast<std::uint32_t>(column - classes - 1));
      visit(StateId{state}, symbol, target);
    };
    for (std::uint32_t state = 0; state < expressions_.size(); ++state) {
      const std::uint32_t row = row_of_[state];
      if (row == kRowToCome) note(state, only_transitions_[state].column, only_transitions_[state].target);
      else if (row < kFirstRuled)
        for (std::uint32_t at = 0; at < stride_; ++at) note(state, at, rows_[std::size_t{row} * stride_ + at]);
    }
    for (const Origin& origin : origins_) note(origin.source.value, kOfByte + origin.byte, origin.target);
    for (const auto& [place, target] : single_transitions_)
      note(static_cast<std::uint32_t>(place / stride_), static_cast<std::uint32_t>(place % stride_), target);
  }
  // A superset of the bytes that lead to a live state, for searches that would try every byte.  It computes no
  // transition.
  ByteSet may_read(StateId state, Budget& budget) {
    const std::uint32_t row = row_of_[state.value];
    if (row < kFirstRuled) return ByteSet::range(0x00, 0xFF);
    if (row != kRowToCome) return readable_[row - kFirstRuled];
    return arena_.derivatives().leaf_bytes(expressions_[state.value], budget).value_or(ByteSet::range(0x00, 0xFF));
  }
  bool accepting(StateId state) const { return node(state).nullable; }
  // Bytes of a shortest text, kNoLength if there is none; nothing where only a search can tell.
  std::optional<std::uint32_t> text_length(StateId state, Budget& budget) {
    return rule_products_.length(expressions_[state.value], arena_, budget);
  }

  // The least byte of each class.  Bytes of one class behave alike in every state.
  const std::vector<std::uint8_t>& byte_classes() const { return byte_classes_; }
  // The number of a byte's class among them.
  std::size_t byte_class(std::uint8_t byte) const { return class_of_[byte]; }
  // In the order of Symbol::control.
  const std::vector<std::string>& control_tokens() const { return control_tokens_; }

  ExpressionId expression(StateId state) const {
    TOKAMATA_CHECK(state.value < expressions_.size(), "a state is one of the automaton's");
    return expressions_[state.value];
  }
  const ExpressionNode& node(StateId state) const { return arena_.pool().node(expression(state)); }
  const Arena& arena() const { return arena_; }
  Arena& arena() { return arena_; }
  const ByteSet& pattern_bytes() const { return pattern_bytes_; }

  // The state of an expression of the arena, and of a union of some.
  StateId state_of(ExpressionId expression, Budget& budget) { return state_of(expression, budget.limits()); }
  StateId state_of_any(std::vector<ExpressionId> expressions, Budget& budget) {
    return state_of(arena_.forms().unite(expressions), budget.limits());
  }

  // The state of a repetition without its bounds, or of any repetition of something else.
  StateId unbounded(ExpressionId repetition, Budget& budget) {
    const ExpressionNode& n = arena_.pool().node(repetition);
    const ExpressionId body = n.kind == Kind::Repetition ? n.body() : repetition;
    return state_of(arena_.forms().repeat(body, 0, kUnbounded), budget.limits());
  }

  // The state of the clipped expression: one that has the same mask.
  StateId clipped(StateId state, Budget& budget);

  // Any thread may call it, even while another works.
  std::size_t state_count() const { return state_count_.load(std::memory_order_relaxed); }

  // Frees every state except the start and those named, whose new numbers replace the old ones in place.
  // If it throws, nothing has changed.
  void keep_only(std::span<StateId* const> states);

 private:
  static constexpr StateId kUnknown{~std::uint32_t{0}};

  // Instead of a row number: kRowToCome for states with at most one known transition; kFirstRuled and above for states
  // that begin with a rule, which have the set of bytes that they may read.
  static constexpr std::uint32_t kOfByte = std::uint32_t{1} << 31;
  static constexpr std::uint32_t kRowToCome = ~std::uint32_t{0}, kFirstRuled = std::uint32_t{1} << 31;
  // The only known transition of a state without a row.
  struct OnlyTransition {
    std::uint32_t column = ~std::uint32_t{0};  // of states that differ by byte: kOfByte + the byte
    StateId target = kUnknown;
  };

  // Where a state comes from that was first reached from one that differs by byte, whose transitions are not kept.
  struct Origin {
    StateId source;
    std::uint32_t byte;
    StateId target;
  };

  bool has_partition() const;
  StateId state_of(ExpressionId expression, const Limits& limits);
  StateId known_transition(StateId state, Symbol symbol) const {
    TOKAMATA_CHECK(state.value < row_of_.size(), "a state is one of the automaton's");
    TOKAMATA_CHECK(column(symbol) < stride_, "a symbol is a byte, the edge or a control token that the pattern names");
    const std::uint32_t row = row_of_[state.value];
    if (row < kFirstRuled) return rows_[std::size_t{row} * stride_ + column(symbol)];
    if (row == kRowToCome) {
      const OnlyTransition& only = only_transitions_[state.value];
      if (only.column >= kOfByte)
        return symbol.is_byte() && only.column == kOfByte + symbol.byte() ? only.target : kUnknown;
      return only.column == column(symbol) ? only.target : kUnknown;
    }
    if (symbol.is_byte() && !readable_[row - kFirstRuled].contains(symbol.byte())) return kDead;
    const auto known = single_transitions_.find(place(state, symbol));
    return known == single_transitions_.end() ? kUnknown : known->second;
  }
  std::uint64_t place(StateId state, Symbol symbol) const {
    return std::uint64_t{state.value} * stride_ + column(symbol);
  }
  bool begins_with_rule(ExpressionId expression) const;
  void make_row(StateId state, Budget& budget);
  std::uint32_t column(Symbol symbol) const {
    return symbol.is_byte() ? class_of_[symbol.byte()]
                            : static_cast<std::uint32_t>(byte_classes_.size()) + symbol.value - Symbol::kBytes;
  }
  StateId make_transition(StateId state, Symbol symbol, Budget& budget);
  bool fill_dead_from_leaf(StateId state, Budget& budget);

  Limits limits_;
  Arena arena_;
  RuleProducts rule_products_;
  ByteSet pattern_bytes_;
  std::array<std::uint8_t, 256> class_of_{};
  std::vector<std::uint8_t> byte_classes_;
  std::vector<std::string> control_tokens_;
  std::uint32_t stride_ = 0;
  counted::vector<std::uint32_t> row_of_;             // by state
  counted::vector<OnlyTransition> only_transitions_;  // by state, of those whose row is to come
  counted::vector<StateId> rows_;
  counted::vector<ByteSet> readable_;                                  // of states that begin with a rule
  counted::unordered_map<std::uint64_t, StateId> single_transitions_;  // of those
  counted::vector<Origin> origins_;
  counted::vector<ExpressionId> expressions_;           // by state
  std::atomic<std::size_t> state_count_ = 0;            // their number
  counted::vector<std::uint32_t> state_of_expression_;  // state, or ~0
  StateId start_;
};

}  // namespace tokamata
