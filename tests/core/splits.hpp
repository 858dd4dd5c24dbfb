// Random programs that split texts, and a naive judge: it tries everything in the order of preference, and backtracks.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "choices.hpp"
#include "expression/expression.hpp"
#include "programs/splitter.hpp"

namespace splits {

using tokamata::Count;
using tokamata::Expression;
using tokamata::ExpressionPtr;
using tokamata::Instruction;
using tokamata::kUnbounded;
using tokamata::Limits;
using tokamata::SplitProgram;
using tokamata::Splitter;
using Op = Instruction::Op;
using Borders = std::vector<Splitter::Border>;

// A leaf, and what says which texts it has.
struct Leaf {
  ExpressionPtr expression;
  std::function<bool(std::string_view)> accepts;
};

inline Leaf letters(std::string_view some, Count low, Count high) {
  std::vector<ExpressionPtr> options;
  for (const char letter : some) options.push_back(Expression::literal(std::string(1, letter)));
  return {Expression::repetition(Expression::unite(options), low, high, 0),
          [=, some = std::string(some)](std::string_view text) {
            return text.size() >= low && (high == kUnbounded || text.size() <= high) &&
                   text.find_first_not_of(some) == text.npos;
          }};
}

inline Leaf any_of(std::vector<std::string> texts) {
  std::vector<ExpressionPtr> options;
  for (const std::string& text : texts) options.push_back(Expression::literal(text));
  return {Expression::unite(options),
          [=](std::string_view text) { return std::ranges::find(texts, text) != texts.end(); }};
}

inline std::vector<Leaf> leaves() {
  return {letters("ab", 0, kUnbounded), letters("a", 1, kUnbounded),
          letters("b", 0, 2),           letters("abc", 1, 1),
          letters("ab", 2, 3),          any_of({"a", "ab"}),
          any_of({"b", "bab"}),         any_of({"", "c"}),
          any_of({"ab", "ba"}),         any_of({"c"})};
}

// Writes a program.
class Random {
 public:
  Random(Choices& choices, bool with_looks) : choices_(choices), with_looks_(with_looks) {}

  SplitProgram program(std::uint32_t depth) {
    SplitProgram program;
    for (const Leaf& leaf : leaves()) program.leaves.push_back(leaf.expression);
    write(depth);
    emit({.op = Op::Accept});
    program.code = code_;
    return program;
  }

 private:
  std::uint32_t here() const { return static_cast<std::uint32_t>(code_.size()); }
  std::size_t emit(Instruction one) {
    code_.push_back(one);
    return code_.size() - 1;
  }

  void write(std::uint32_t depth) {
    switch (depth == 0 ? 0 : choices_.below(with_looks_ ? 8 : 7)) {
      case 0:
      case 1: return piece();
      case 2:
      case 3:
        for (std::uint32_t count = choices_.between(2, 3); count > 0; --count) write(depth - 1);
        return;
      case 4: return alternatives(depth);
      case 5:
      case 6: return loop(depth);
      default: return look();
    }
  }

  void look() {
    const std::size_t begin = emit({.op = Op::Look, .behind = choices_.one_in(2), .negated = choices_.one_in(2)});
    with_looks_ = false;
    write(1);
    with_looks_ = true;
    emit({.op = Op::Accept});
    code_[begin].target = here();
  }

  void piece() {
    const bool is_marked = !choices_.one_in(4);
    if (is_marked) emit({.op = Op::Mark, .number = marks_++});
    emit({.op = Op::Part,
          .lazy = choices_.one_in(3),
          .number = choices_.below(static_cast<std::uint32_t>(leaves().size()))});
    if (is_marked) emit({.op = Op::Mark, .number = marks_++});
  }

  void alternatives(std::uint32_t depth) {
    const std::size_t fork = emit({.op = Op::Fork});
    write(depth - 1);
    const std::size_t jump = emit({.op = Op::Jump});
    code_[fork].target = here();
    write(depth - 1);
    code_[jump].target = here();
  }

  void loop(std::uint32_t depth) {
    emit({.op = Op::Enter});
    const Count low = choices_.below(4), high = choices_.one_in(2) ? kUnbounded : low + choices_.below(3);
    const std::size_t begin = emit({.op = Op::Loop, .lazy = choices_.one_in(3), .low = low, .high = high});
    write(depth - 1);
    emit({.op = Op::Again, .drops_empty = choices_.one_in(2), .target = static_cast<std::uint32_t>(begin)});
    code_[begin].target = here();
    emit({.op = Op::Leave});
  }

  Choices& choices_;
  bool with_looks_;
  std::vector<Instruction> code_;
  std::uint32_t marks_ = 0;
};

struct TooLong {};

class Judge {
 public:
  Judge(const SplitProgram& program, std::string_view text) : code_(program.code), leaves_(leaves()), text_(text) {}

  // The borders of the preferred split.  Throws TooLong where there is too much to try.
  std::optional<Borders> split() {
    if (!run(0, 0, {}, [this](std::size_t end) { return end == text_.size(); })) return std::nullopt;
    return borders_;
  }

 private:
  struct Turn {
    Count turns;
    std::size_t begun;
  };
  using Ends = std::function<bool(std::size_t)>;

  bool run(std::uint32_t pc, std::size_t at, std::vector<Turn> turns, const Ends& ends) {
    if (++steps_ > 20'000) throw TooLong();
    const Instruction& one = code_[pc];
    const auto on = [&](std::uint32_t next, const std::vector<Turn>& then) { return run(next, at, then, ends); };
    switch (one.op) {
      case Op::Part: return part(one, pc, at, turns, ends);
      case Op::Fork: return on(pc + 1, turns) || on(one.target, turns);
      case Op::Jump: return on(one.target, turns);
      case Op::Mark:
        borders_.push_back({one.number, at});
        if (on(pc + 1, turns)) return true;
        borders_.pop_back();
        return false;
      case Op::Enter: turns.push_back({0, at}); return on(pc + 1, turns);
      case Op::Loop: {
        const Count done = turns.back().turns;
        std::vector<Turn> turn = turns;
        turn.back().begun = at;
        if (done < one.low) return on(pc + 1, turn);
        if (done >= one.high) return on(one.target, turns);
        if (one.lazy) return on(one.target, turns) || on(pc + 1, turn);
        return on(pc + 1, turn) || on(one.target, turns);
      }
      case Op::Again: {
        const Instruction& loop = code_[one.target];
        if (turns.back().begun == at && turns.back().turns >= loop.low)
          return !one.drops_empty && on(loop.target, turns);
        ++turns.back().turns;
        return on(one.target, turns);
      }
      case Op::Leave: turns.pop_back(); return on(pc + 1, turns);
      case Op::Look: return holds(pc, at) != one.negated && on(one.target, turns);
      case Op::Accept: return ends(at);
      default: return false;
    }
    return false;
  }

  bool part(const Instruction& one, std::uint32_t pc, std::size_t at, const std::vector<Turn>& turns,
            const Ends& ends) {
    const std::size_t most = text_.size() - at;
    for (std::size_t i = 0; i <= most; ++i) {
      const std::size_t size = one.lazy ? i : most - i;
      if (leaves_[one.number].accepts(text_.substr(at, size)) && run(pc + 1, at + size, turns, ends)) return true;
    }
    return false;
  }

  bool holds(std::uint32_t look, std::size_t at) {
    const Borders before = borders_;
    bool found = false;
    if (code_[look].behind)
      for (std::size_t from = 0; from <= at && !found; ++from)
        found = run(look + 1, from, {}, [at](std::size_t end) { return end == at; });
    else found = run(look + 1, at, {}, [](std::size_t) { return true; });
    borders_ = before;
    return found;
  }

  const std::vector<Instruction>& code_;
  std::vector<Leaf> leaves_;
  std::string_view text_;
  Borders borders_;
  unsigned steps_ = 0;
};

inline std::shared_ptr<Splitter> splitter_of(const SplitProgram& program, const Limits& limits = {}) {
  return std::make_shared<Splitter>(program, limits, nullptr);
}

inline std::string random_text(Choices& choices, std::uint32_t longest) {
  std::string text;
  for (std::uint32_t size = choices.below(longest + 1); size > 0; --size)
    text.push_back(static_cast<char>('a' + choices.below(choices.one_in(3) ? 3 : 2)));
  return text;
}

// Items of letters a and b, with a c between each two; each length of an item is a state of its own.
inline SplitProgram long_items() {
  SplitProgram program;
  program.leaves = {letters("ab", 0, 30'000).expression, letters("c", 1, 1).expression};
  program.code = {{.op = Op::Mark, .number = 0},
                  {.op = Op::Part, .number = 0},
                  {.op = Op::Mark, .number = 1},
                  {.op = Op::Enter},
                  {.op = Op::Loop, .target = 9, .high = kUnbounded},
                  {.op = Op::Part, .number = 1},
                  {.op = Op::Mark, .number = 0},
                  {.op = Op::Part, .number = 0},
                  {.op = Op::Again, .target = 4},
                  {.op = Op::Leave},
                  {.op = Op::Accept}};
  return program;
}

inline std::string long_text(Choices& choices, unsigned items, std::uint32_t longest) {
  std::string text;
  for (unsigned i = 0; i < items; ++i) {
    if (i > 0) text.push_back('c');
    for (std::uint32_t size = choices.below(longest); size > 0; --size) text.push_back(choices.one_in(2) ? 'a' : 'b');
  }
  return text;
}

// The text in pieces, each fed by itself.
inline std::vector<std::string_view> pieces_of(Choices& choices, std::string_view text, std::uint32_t longest) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    pieces.push_back(text.substr(0, choices.between(1, longest)));
    text.remove_prefix(pieces.back().size());
  }
  return pieces;
}

}  // namespace splits
