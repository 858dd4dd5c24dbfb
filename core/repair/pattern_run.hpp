// How a program of a pattern of bytes is run (byte_patterns.hpp): as `re` runs it, and with a note where it reads the
// end.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "repair/byte_patterns.hpp"

namespace tokamata {

inline bool is_word_byte(std::uint8_t byte) {
  return byte == '_' || (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
}

// One search over one text.
class BytePatterns::Run {
 public:
  // The clock of short texts is not read, so that they have an answer at any deadline.
  static constexpr std::uint64_t kStepsOfACheck = 1 << 16;

  Run(const BytePatterns& patterns, std::string_view text, Budget& budget)
      : sets_(patterns.sets_),
        nexts_(patterns.nexts_),
        text_(text),
        budget_(budget),
        looked_(patterns.lookaheads_),
        extents_(patterns.sets_.size()) {}

  // Whether what was matched since the last call has read where the text ends: with more text it might go on otherwise.
  bool has_touched_end() { return std::exchange(touches_end_, false); }

  // Where the match of a program ends that begins at a position.
  std::optional<std::size_t> matched(const std::vector<Instruction>& program, std::size_t at, std::size_t position) {
    const std::size_t base = choices_.size();
    for (;;) {
      step();
      const Instruction& instruction = program[at];
      bool goes_on = true;
      switch (instruction.op) {
        case Op::Match: choices_.resize(base); return position;
        case Op::Byte:
          if (position >= text_.size()) touches_end_ = true;
          goes_on = position < text_.size() && sets_[instruction.a].contains(byte(position));
          ++position, ++at;
          break;
        case Op::Run: {
          const std::size_t count = std::min<std::size_t>(run_end(instruction.a, position) - position, instruction.c);
          if (position + count == text_.size() && count < instruction.c) touches_end_ = true;
          goes_on = count >= instruction.b;
          ++at;
          if (goes_on && count > instruction.b && !instruction.gives_none_back)
            choices_.push_back({at, position + instruction.b, position + count - 1});
          position += count;
          break;
        }
        case Op::Fork:
        case Op::LazyFork: {
          const std::size_t next = position < text_.size() ? byte(position) : kNone;
          const bool may_go_on = nexts_[instruction.b][next], may_jump = nexts_[instruction.c][next];
          if (next == kNone && !(may_go_on && may_jump)) touches_end_ = true;
          const bool jumps = may_jump && (instruction.op == Op::LazyFork || !may_go_on);
          if (may_go_on && may_jump) choices_.push_back({jumps ? at + 1 : instruction.a, position, position});
          goes_on = may_go_on || may_jump;
          at = jumps ? instruction.a : at + 1;
          break;
        }
        case Op::Jump: at = instruction.a; break;
        case Op::Ahead:
        case Op::NotAhead: {
          Looked& last = looked_[instruction.c];
          if (last.position != position) {
            const bool has_touched = std::exchange(touches_end_, false);
            const bool matches = matched(program, at + 1, position).has_value();
            last = {position, matches, touches_end_};
            touches_end_ |= has_touched;
          } else {
            touches_end_ |= last.touches_end;
          }
          goes_on = last.matches == (instruction.op == Op::Ahead);
          at = instruction.a;
          break;
        }
        case Op::Behind:
        case Op::NotBehind: {
          const bool has_room = position >= instruction.c;
          goes_on = (has_room && matched(program, at + 1, position - instruction.c)) == (instruction.op == Op::Behind);
          at = instruction.a;
          break;
        }
        default: goes_on = holds(instruction.op, position), ++at;
      }
      if (goes_on) continue;
      if (choices_.size() == base) return std::nullopt;
      Choice& last = choices_.back();
      at = last.at;
      // A run gives back bytes until the next instruction can go on.
      if (const Instruction& next = program[at]; next.op == Op::Byte)
        while (last.most > last.least && !(last.most < text_.size() && sets_[next.a].contains(byte(last.most))))
          --last.most, ++steps_;
      position = last.most;
      if (last.most-- == last.least) choices_.pop_back();
    }
  }

 private:
  // Where to go on if what was tried fails: at any position from the most to the least, in this order.
  struct Choice {
    std::size_t at, least, most;
  };
  // Where the last run of a set was.
  struct Extent {
    std::size_t begin = ~std::size_t{0}, end = begin;
  };
  // The outcome of a lookahead where it was last.
  struct Looked {
    std::size_t position = ~std::size_t{0};
    bool matches = false, touches_end = false;
  };

  std::uint8_t byte(std::size_t position) const { return static_cast<std::uint8_t>(text_[position]); }

  // Where the bytes of a set end that begin at a position.
  std::size_t run_end(std::uint32_t set, std::size_t position) {
    Extent& last = extents_[set];
    if (position >= last.begin && position < last.end) return last.end;
    std::size_t end = position;
    while (end < text_.size() && end != last.begin && sets_[set].contains(byte(end))) ++end;
    steps_ += (end - position) / 16;
    if (end == last.begin) end = last.end;
    if (end > position) last = {position, end};
    return end;
  }

  void step() {
    if (++steps_ < kStepsOfACheck) return;
    steps_ = 0;
    budget_.check();
    if (choices_.size() * sizeof(Choice) > budget_.limits().memory_bytes)
      throw LimitExceeded("memory_bytes", static_cast<double>(budget_.limits().memory_bytes));
  }

  bool holds(Op op, std::size_t position) {
    const std::size_t length = text_.size();
    if (position >= length || (op == Op::LastLineEnd && position + 1 == length)) touches_end_ = true;
    switch (op) {
      case Op::TextStart: return position == 0;
      case Op::TextEnd: return position == length;
      case Op::LastLineEnd: return position == length || (position + 1 == length && text_[position] == '\n');
      case Op::LineStart: return position == 0 || text_[position - 1] == '\n';
      case Op::LineEnd: return position == length || text_[position] == '\n';
      default: {
        const bool is_after_word = position > 0 && is_word_byte(byte(position - 1)),
                   is_before_word = position < length && is_word_byte(byte(position));
        return (is_after_word != is_before_word) == (op == Op::Boundary);
      }
    }
  }

  const std::vector<ByteSet>& sets_;
  const std::vector<Nexts>& nexts_;
  std::string_view text_;
  Budget& budget_;
  std::vector<Choice> choices_;
  std::vector<Looked> looked_;
  std::vector<Extent> extents_;
  std::uint64_t steps_ = 0;
  bool touches_end_ = false;
};

}  // namespace tokamata
