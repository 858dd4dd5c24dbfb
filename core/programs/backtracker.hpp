// A program over bytes, run as `re` runs an expression: one thread after the other.
//
// Problem.  A short match at one position is to be found soon, with lookarounds, and the text may still go on.
// Example.  "a(?=b)"  at the end of  "xa"  fails, and has read where the text ends: with more text it may match.
// How.  Alternatives and repetitions are tried in their order, the latest choice taken back first.  What each side of a
// choice may begin with is known beforehand, so most forks leave no choice.  Neither does a run of a set whose bytes
// cannot begin what follows.  Where the last run of a set ends is kept, so that a hundred thousand line breaks are not
// read again from each of them.  Programs share lookaheads, such as what follows the end of a string, so the last
// outcome of each is kept with its position.  What a program repeats is never empty.
// Cost.  What backtracking costs: exponential for some programs, which come from tables, not from strangers.  Time and
// memory are bounded within a match too.
// Source.  R. Cox, Regular expression matching: the virtual machine approach, 2009.
// Not taken.  The splitter, which follows all threads: its lookaheads need the whole text, and short matches need no
// lists of threads.  This one for named groups: "(a*)*b" from a stranger would take exponential time.
#pragma once

#include <algorithm>
#include <bitset>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "common/byte_set.hpp"
#include "common/limits.hpp"
#include "programs/program.hpp"

namespace tokamata {

inline bool is_word_byte(std::uint8_t byte) {
  return byte == '_' || (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
}

// One search over one text.
class Backtracker {
 public:
  // The clock of short texts is not read, so that they have an answer at any deadline.
  static constexpr std::uint64_t kStepsOfACheck = 1 << 16;
  static constexpr std::size_t kNone = 256;  // instead of a byte before the first one, and after the last one

  // Of bytes, and kNone.
  using Nexts = std::bitset<kNone + 1>;

  // An instruction, with what is known of its program.
  struct Step : Instruction {
    bool gives_none_back = false;  // of a Run: what follows it cannot begin with a byte of the set
    // of a Fork, the numbers of what its sides may begin with; of a Look ahead, `here` is the number of its body
    std::uint32_t here = 0, there = 0;
  };
  // Programs, what they refer to by number, and how many different lookaheads they have.
  struct Steps {
    std::vector<std::vector<Step>> programs;
    std::vector<ByteSet> sets;
    std::vector<Nexts> nexts;
    std::size_t lookaheads = 0;
  };

  Backtracker(const Steps& steps, std::string_view text, Budget& budget)
      : programs_(steps.programs),
        sets_(steps.sets),
        nexts_(steps.nexts),
        text_(text),
        budget_(budget),
        looked_(steps.lookaheads),
        extents_(steps.sets.size()) {}

  // The instructions that it runs.
  static bool knows(Instruction::Op op) {
    using Op = Instruction::Op;
    return op != Op::Part && op != Op::Mark && op != Op::Enter && op != Op::Loop && op != Op::Leave;
  }

  // Whether what was matched since the last call has read where the text ends: with more text it might go on otherwise.
  bool has_touched_end() { return std::exchange(touches_end_, false); }

  // Where the match of a program ends that begins at a position.
  std::optional<std::size_t> matched(std::size_t program, std::size_t position) {
    return matched(programs_[program], 0, position);
  }

 private:
  using Op = Instruction::Op;
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

  std::optional<std::size_t> matched(const std::vector<Step>& program, std::size_t at, std::size_t position) {
    const std::size_t base = choices_.size();
    for (;;) {
      step();
      const Step& one = program[at];
      bool goes_on = true;
      switch (one.op) {
        case Op::Accept: choices_.resize(base); return position;
        case Op::Read:
          if (position >= text_.size()) touches_end_ = true;
          goes_on = position < text_.size() && sets_[one.number].contains(byte(position));
          ++position, ++at;
          break;
        case Op::Run: {
          const std::size_t count = std::min<std::size_t>(run_end(one.number, position) - position, one.high);
          if (position + count == text_.size() && count < one.high) touches_end_ = true;
          goes_on = count >= one.low;
          ++at;
          if (goes_on && count > one.low && !one.gives_none_back)
            choices_.push_back({at, position + one.low, position + count - 1});
          position += count;
          break;
        }
        case Op::Fork: {
          const std::size_t next = position < text_.size() ? byte(position) : kNone;
          const bool may_go_on = nexts_[one.here][next], may_jump = nexts_[one.there][next];
          if (next == kNone && !(may_go_on && may_jump)) touches_end_ = true;
          const bool jumps = may_jump && (one.lazy || !may_go_on);
          if (may_go_on && may_jump) choices_.push_back({jumps ? at + 1 : one.target, position, position});
          goes_on = may_go_on || may_jump;
          at = jumps ? one.target : at + 1;
          break;
        }
        case Op::Jump:
        case Op::Again: at = one.target; break;
        case Op::Look:
          goes_on = (one.behind ? matches_behind(program, at, position) : matches_ahead(program, at, position)) !=
                    one.negated;
          at = one.target;
          break;
        default: goes_on = holds(one.op, position), ++at;
      }
      if (goes_on) continue;
      if (choices_.size() == base) return std::nullopt;
      Choice& last = choices_.back();
      at = last.at;
      // A run gives back bytes until the next instruction can go on.
      if (const Step& next = program[at]; next.op == Op::Read)
        while (last.most > last.least && !(last.most < text_.size() && sets_[next.number].contains(byte(last.most))))
          --last.most, ++steps_;
      position = last.most;
      if (last.most-- == last.least) choices_.pop_back();
    }
  }

  // Whether the body of the lookaround at an instruction matches from a position on.
  bool matches_ahead(const std::vector<Step>& program, std::size_t look, std::size_t position) {
    Looked& last = looked_[program[look].here];
    if (last.position == position) {
      touches_end_ |= last.touches_end;
      return last.matches;
    }
    const bool has_touched = std::exchange(touches_end_, false);
    const bool matches = matched(program, look + 1, position).has_value();
    last = {position, matches, touches_end_};
    touches_end_ |= has_touched;
    return matches;
  }

  // The same for as many bytes before the position as the body reads.
  bool matches_behind(const std::vector<Step>& program, std::size_t look, std::size_t position) {
    const Count width = program[look].low;
    return position >= width && matched(program, look + 1, position - width);
  }

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

  const std::vector<std::vector<Step>>& programs_;
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
