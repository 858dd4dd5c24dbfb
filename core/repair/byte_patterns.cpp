#include "repair/byte_patterns.hpp"

#include <bit>
#include <optional>

namespace tokamata {

namespace {

// The clock of short texts is not read, so that they have an answer at any deadline.
constexpr std::uint64_t kStepsOfACheck = 1 << 16;

bool is_word(std::uint8_t byte) {
  return byte == '_' || (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
}

}  // namespace

BytePatterns::BytePatterns(std::vector<Pattern> patterns, std::vector<ByteSet> sets)
    : patterns_(std::move(patterns)), sets_(std::move(sets)), words_((patterns_.size() + 63) / 64) {
  by_first_.assign(256 * words_, 0);
  by_before_.assign((kStart + 1) * words_, 0);
  for (std::size_t number = 0; number < patterns_.size(); ++number) {
    const Pattern& pattern = patterns_[number];
    if (pattern.program.empty() || pattern.program.back().op != Op::Match) throw std::invalid_argument("a program without an end");
    for (const auto& [op, a, b, c] : pattern.program) {
      if (op > Op::NotBoundary) throw std::invalid_argument("an instruction that does not exist");
      if (op == Op::Byte || op == Op::Run ? a >= sets_.size() : a >= pattern.program.size()) throw std::invalid_argument("an operand that does not exist");
    }
    const std::uint64_t bit = std::uint64_t{1} << (number % 64);
    for (std::size_t byte = 0; byte < 256; ++byte) {
      if (pattern.first.contains(static_cast<std::uint8_t>(byte))) by_first_[byte * words_ + number / 64] |= bit;
      if (pattern.before.contains(static_cast<std::uint8_t>(byte))) by_before_[byte * words_ + number / 64] |= bit;
    }
    if (pattern.begins_text) by_before_[kStart * words_ + number / 64] |= bit;
  }
}

// One search over one text.
class BytePatterns::Run {
 public:
  Run(const std::vector<ByteSet>& sets, std::string_view text, Budget& budget) : sets_(sets), text_(text), budget_(budget) {}

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
          goes_on = position < text_.size() && sets_[instruction.a].contains(byte(position));
          ++position, ++at;
          break;
        case Op::Run: {
          const ByteSet& set = sets_[instruction.a];
          const std::size_t most = std::min<std::size_t>(text_.size() - position, instruction.c);
          std::size_t count = 0;
          while (count < most && set.contains(byte(position + count))) ++count;
          steps_ += count / 16;
          goes_on = count >= instruction.b;
          ++at;
          if (goes_on && count > instruction.b) choices_.push_back({at, position + instruction.b, position + count - 1});
          position += count;
          break;
        }
        case Op::Fork: choices_.push_back({instruction.a, position, position}), ++at; break;
        case Op::LazyFork: choices_.push_back({at + 1, position, position}), at = instruction.a; break;
        case Op::Jump: at = instruction.a; break;
        case Op::Ahead:
        case Op::NotAhead:
        case Op::Behind:
        case Op::NotBehind: {
          const bool is_behind = instruction.op == Op::Behind || instruction.op == Op::NotBehind;
          const bool is_wanted = instruction.op == Op::Ahead || instruction.op == Op::Behind;
          const bool has_room = !is_behind || position >= instruction.c;
          goes_on = (has_room && matched(program, at + 1, position - (is_behind ? instruction.c : 0))) == is_wanted;
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
        while (last.most > last.least && !(last.most < text_.size() && sets_[next.a].contains(byte(last.most)))) --last.most, ++steps_;
      position = last.most;
      if (last.most-- == last.least) choices_.pop_back();
    }
  }

 private:
  // Where to go on if what was tried fails: at any position from the most to the least, in this order.
  struct Choice {
    std::size_t at, least, most;
  };

  std::uint8_t byte(std::size_t position) const { return static_cast<std::uint8_t>(text_[position]); }

  void step() {
    if (++steps_ < kStepsOfACheck) return;
    steps_ = 0;
    budget_.check();
    if (choices_.size() * sizeof(Choice) > budget_.limits().memory_bytes)
      throw LimitExceeded("memory_bytes", static_cast<double>(budget_.limits().memory_bytes));
  }

  bool holds(Op op, std::size_t position) const {
    const std::size_t length = text_.size();
    switch (op) {
      case Op::TextStart: return position == 0;
      case Op::TextEnd: return position == length;
      case Op::LastLineEnd: return position == length || (position + 1 == length && text_[position] == '\n');
      case Op::LineStart: return position == 0 || text_[position - 1] == '\n';
      case Op::LineEnd: return position == length || text_[position] == '\n';
      default: {
        const bool is_after_word = position > 0 && is_word(byte(position - 1)), is_before_word = position < length && is_word(byte(position));
        return (is_after_word != is_before_word) == (op == Op::Boundary);
      }
    }
  }

  const std::vector<ByteSet>& sets_;
  std::string_view text_;
  Budget& budget_;
  std::vector<Choice> choices_;
  std::uint64_t steps_ = 0;
};

std::vector<BytePatterns::Found> BytePatterns::found(std::string_view text, std::size_t most, Budget& budget) const {
  Run run(sets_, text, budget);
  std::vector<Found> all;
  std::vector<std::size_t> ends(patterns_.size(), 0);  // by pattern, of the last match
  for (std::size_t position = 0; position < text.size(); ++position) {
    if (position % kStepsOfACheck == kStepsOfACheck - 1) budget.check();
    const std::size_t before = position == 0 ? kStart : static_cast<std::uint8_t>(text[position - 1]);
    const std::uint64_t* const by_before = &by_before_[before * words_];
    const std::uint64_t* const by_first = &by_first_[static_cast<std::uint8_t>(text[position]) * words_];
    for (std::size_t word = 0; word < words_; ++word) {
      for (std::uint64_t left = by_before[word] & by_first[word]; left != 0; left &= left - 1) {
        const std::size_t number = 64 * word + static_cast<std::size_t>(std::countr_zero(left));
        if (position < ends[number]) continue;
        const std::optional<std::size_t> end = run.matched(patterns_[number].program, 0, position);
        if (!end) continue;
        if (all.size() == most) throw LimitExceeded("memory_bytes", static_cast<double>(budget.limits().memory_bytes));
        all.push_back({static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(*end)});
        ends[number] = *end;
      }
    }
  }
  return all;
}

}  // namespace tokamata
