#include "repair/byte_patterns.hpp"

#include <algorithm>
#include <bit>
#include <bitset>
#include <map>
#include <optional>

#include "repair/pattern_run.hpp"

namespace tokamata {

namespace {

ByteSet words() {
  ByteSet set;
  for (unsigned byte = 0; byte < 256; ++byte)
    if (is_word_byte(static_cast<std::uint8_t>(byte))) set.add(static_cast<std::uint8_t>(byte));
  return set;
}

}  // namespace

BytePatterns::Nexts BytePatterns::nexts_of(const ByteSet& set) {
  Nexts nexts;
  for (unsigned byte = 0; byte < 256; ++byte) nexts[byte] = set.contains(static_cast<std::uint8_t>(byte));
  return nexts;
}

std::uint32_t BytePatterns::number_of(const Nexts& nexts) {
  const auto known = std::ranges::find(nexts_, nexts);
  const auto number = static_cast<std::uint32_t>(known - nexts_.begin());
  if (known == nexts_.end()) nexts_.push_back(nexts);
  return number;
}

// The bytes that may be second in a match of a program, or stand after it where it reads one: at least those.
class BytePatterns::Seconds {
 public:
  Seconds(const std::vector<Instruction>& program, const std::vector<ByteSet>& sets)
      : program_(program),
        sets_(sets),
        known_{std::vector<std::optional<Nexts>>(program.size()), std::vector<std::optional<Nexts>>(program.size())} {}

  Nexts all() { return from(0, 0); }
  // The bytes that an instruction and what follows it may begin with.
  Nexts at(std::size_t number) { return from(number, 1); }

 private:
  // Where so many bytes of the first two are read; what is being computed already adds nothing.
  Nexts from(std::size_t at, std::size_t read) {
    std::optional<Nexts>& known = known_[read][at];
    if (!known) {
      known.emplace();
      *known = made(at, read);
    }
    return *known;
  }

  Nexts made(std::size_t at, std::size_t read) {
    const auto& [op, a, b, c, gives_none_back] = program_[at];
    switch (op) {
      case Op::Match: return ~Nexts();
      case Op::Byte: return read == 1 ? nexts_of(sets_[a]) : from(at + 1, 1);
      case Op::Run: {
        Nexts nexts;
        if (read == 1 ? c > 0 : c > 1) nexts |= nexts_of(sets_[a]);
        if (b == 0) nexts |= from(at + 1, read);
        if (read == 0 && b <= 1 && c > 0) nexts |= from(at + 1, 1);
        return nexts;
      }
      case Op::Fork:
      case Op::LazyFork: return from(at + 1, read) | from(a, read);
      case Op::Jump: return from(a, read);
      case Op::Ahead: return from(a, read) & from(at + 1, read);
      case Op::NotAhead:
      case Op::Behind:
      case Op::NotBehind: return from(a, read);
      case Op::TextEnd: return read == 1 ? from(at + 1, read) & Nexts().set(kNone) : from(at + 1, read);
      case Op::LastLineEnd:
      case Op::LineEnd: return read == 1 ? from(at + 1, read) & Nexts().set(kNone).set('\n') : from(at + 1, read);
      default: return from(at + 1, read);
    }
  }

  const std::vector<Instruction>& program_;
  const std::vector<ByteSet>& sets_;
  std::array<std::vector<std::optional<Nexts>>, 2> known_;
};

// The bytes that may stand before a match, as far as lookbehinds say so that look past it before its second byte.
class BytePatterns::Befores {
 public:
  Befores(const std::vector<Instruction>& program, const std::vector<ByteSet>& sets) : program_(program), sets_(sets) {}

  Nexts all() { return from(0, kNothingRead); }

 private:
  // otherwise the number of the set of the byte that was read
  static constexpr std::uint32_t kNothingRead = ~std::uint32_t{0};

  Nexts from(std::size_t at, std::uint32_t read) {
    const auto [known, is_new] = known_.try_emplace(std::pair(at, read));
    if (is_new) {
      const Nexts nexts = made(at, read);
      known_[std::pair(at, read)] = nexts;
      return nexts;
    }
    return known->second;
  }

  Nexts made(std::size_t at, std::uint32_t read) {
    const auto& [op, a, b, c, gives_none_back] = program_[at];
    switch (op) {
      case Op::Byte: return read == kNothingRead ? from(at + 1, a) : ~Nexts();
      case Op::Fork:
      case Op::LazyFork: return from(at + 1, read) | from(a, read);
      case Op::Jump:
      case Op::Ahead:
      case Op::NotAhead: return from(a, read);
      case Op::Behind: return from(a, read) & behind(at, read, false);
      case Op::NotBehind: return from(a, read) & behind(at, read, true);
      case Op::TextStart: return read == kNothingRead ? Nexts().set(kNone) : ~Nexts();
      case Op::TextEnd:
      case Op::LastLineEnd:
      case Op::LineStart:
      case Op::LineEnd:
      case Op::Boundary:
      case Op::NotBoundary: return from(at + 1, read);
      default: return ~Nexts();
    }
  }

  // What a lookbehind says of the byte before the match.
  Nexts behind(std::size_t at, std::uint32_t read, bool is_negative) {
    const Instruction& look = program_[at];
    const std::size_t own = read == kNothingRead ? 0 : 1;
    // it sees the match alone; or it is no row of bytes
    if (look.c <= own || look.a != at + look.c + 2) return ~Nexts();
    for (std::size_t index = 1; index <= look.c; ++index)
      if (program_[at + index].op != Op::Byte) return ~Nexts();
    const Nexts seen = nexts_of(sets_[program_[at + look.c - own].a]);
    if (!is_negative) return seen;
    // It fails by this byte alone if all others are sure to be there.
    if (look.c > own + 1) return ~Nexts();
    if (own == 1 && !sets_[read].is_subset_of(sets_[program_[at + look.c].a])) return ~Nexts();
    return ~seen;
  }

  const std::vector<Instruction>& program_;
  const std::vector<ByteSet>& sets_;
  std::map<std::pair<std::size_t, std::uint32_t>, Nexts> known_;
};

// Whether a program cannot match a text that has no byte of some set.
class BytePatterns::Need {
 public:
  Need(const std::vector<Instruction>& program, const std::vector<ByteSet>& sets, const ByteSet& needed)
      : program_(program), sets_(sets), needed_(needed), ends_(program.size()) {}

  bool holds() { return !ends(0); }

 private:
  // Whether the program ends from here in such a text; what is being asked already does not.
  bool ends(std::size_t at) {
    if (!ends_[at]) {
      ends_[at] = false;
      ends_[at] = made(at);
    }
    return *ends_[at];
  }

  bool made(std::size_t at) {
    const auto& [op, a, b, c, gives_none_back] = program_[at];
    switch (op) {
      case Op::Match: return true;
      case Op::Byte: return !sets_[a].is_subset_of(needed_) && ends(at + 1);
      case Op::Run: return (b == 0 || !sets_[a].is_subset_of(needed_)) && ends(at + 1);
      case Op::Fork:
      case Op::LazyFork: return ends(at + 1) || ends(a);
      case Op::Ahead: return ends(at + 1) && ends(a);
      case Op::Jump:
      case Op::NotAhead:
      case Op::Behind:
      case Op::NotBehind: return ends(a);
      default: return ends(at + 1);
    }
  }

  const std::vector<Instruction>& program_;
  const std::vector<ByteSet>& sets_;
  const ByteSet& needed_;
  std::vector<std::optional<bool>> ends_;
};

// Alike bodies get one number, in `c`.
void BytePatterns::number_lookaheads() {
  std::map<std::vector<Instruction>, std::uint32_t> known;
  for (Pattern& pattern : patterns_) {
    for (std::size_t at = 0; at < pattern.program.size(); ++at) {
      Instruction& look = pattern.program[at];
      if (look.op != Op::Ahead && look.op != Op::NotAhead) continue;
      if (look.a <= at) throw std::invalid_argument("a lookaround that ends before it begins");
      std::vector<Instruction> body(pattern.program.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                                    pattern.program.begin() + look.a);
      for (Instruction& one : body) {
        if (one.op != Op::Byte && one.op != Op::Run) one.a -= static_cast<std::uint32_t>(at);
        if (one.op == Op::Ahead || one.op == Op::NotAhead) one.c = 0;
      }
      look.c = known.try_emplace(std::move(body), static_cast<std::uint32_t>(known.size())).first->second;
    }
  }
  lookaheads_ = known.size();
}

BytePatterns::BytePatterns(std::vector<Pattern> patterns, std::vector<ByteSet> sets)
    : patterns_(std::move(patterns)), sets_(std::move(sets)), words_((patterns_.size() + 63) / 64) {
  by_first_.assign(256 * words_, 0);
  by_second_.assign((kNone + 1) * words_, 0);
  by_before_.assign((kNone + 1) * words_, 0);
  for (std::size_t number = 0; number < patterns_.size(); ++number) {
    const Pattern& pattern = patterns_[number];
    if (pattern.program.empty() || pattern.program.back().op != Op::Match)
      throw std::invalid_argument("a program without an end");
    for (const auto& [op, a, b, c, gives_none_back] : pattern.program) {
      if (op > Op::NotBoundary) throw std::invalid_argument("an instruction that does not exist");
      if (op == Op::Byte || op == Op::Run ? a >= sets_.size() : a >= pattern.program.size())
        throw std::invalid_argument("an operand that does not exist");
    }
    const std::uint64_t bit = std::uint64_t{1} << (number % 64);
    Seconds nexts(pattern.program, sets_);
    for (std::size_t at = 0; at + 1 < pattern.program.size(); ++at)
      if (Instruction& run = patterns_[number].program[at]; run.op == Op::Run)
        run.gives_none_back = (nexts.at(at + 1) & nexts_of(sets_[run.a])).none();
    for (std::size_t at = 0; at + 1 < pattern.program.size(); ++at)
      if (Instruction& fork = patterns_[number].program[at]; fork.op == Op::Fork || fork.op == Op::LazyFork)
        fork.b = number_of(nexts.at(at + 1)), fork.c = number_of(nexts.at(fork.a));
    const Nexts seconds = nexts.all(), befores = Befores(pattern.program, sets_).all();
    needs_.emplace_back();
    for (const Instruction& instruction : pattern.program)
      if (instruction.op == Op::Byte)
        if (const ByteSet& set = sets_[instruction.a]; set.size() <= kMostNeeded &&
                                                       std::ranges::find(needs_.back(), set) == needs_.back().end() &&
                                                       Need(pattern.program, sets_, set).holds())
          needs_.back().push_back(set);
    // Where a word begins, nothing of a word stands before it.
    const bool begins_word = pattern.program.front().op == Op::Boundary && pattern.first.is_subset_of(words());
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const auto value = static_cast<std::uint8_t>(byte);
      if (pattern.first.contains(value)) by_first_[byte * words_ + number / 64] |= bit;
      if (seconds[byte]) by_second_[byte * words_ + number / 64] |= bit;
      if (pattern.before.contains(value) && befores[byte] && !(begins_word && is_word_byte(value)))
        by_before_[byte * words_ + number / 64] |= bit;
    }
    if (seconds[kNone]) by_second_[kNone * words_ + number / 64] |= bit;
    if (pattern.begins_text && befores[kNone]) by_before_[kNone * words_ + number / 64] |= bit;
  }
  number_lookaheads();
}

std::vector<BytePatterns::Found> BytePatterns::found(std::string_view text, const Selection& among, std::size_t most,
                                                     Budget& budget) const {
  Run run(*this, text, budget);
  std::vector<Found> all;
  std::vector<std::size_t> ends(patterns_.size(), 0);  // by pattern, of the last match
  ByteSet bytes;
  for (const char byte : text) bytes.add(static_cast<std::uint8_t>(byte));
  Selection possible = among;  // without those that need a byte which the text has not
  for (std::size_t number = 0; number < patterns_.size(); ++number)
    if (!std::ranges::all_of(needs_[number], [&](const ByteSet& need) { return need.intersects(bytes); }))
      possible[number / 64] &= ~(std::uint64_t{1} << (number % 64));
  for (std::size_t position = 0; position < text.size(); ++position) {
    if (position % Run::kStepsOfACheck == Run::kStepsOfACheck - 1) budget.check();
    const std::size_t before = position == 0 ? kNone : static_cast<std::uint8_t>(text[position - 1]);
    const std::uint64_t* const by_before = &by_before_[before * words_];
    const std::uint64_t* const by_first = &by_first_[static_cast<std::uint8_t>(text[position]) * words_];
    const std::size_t second = position + 1 < text.size() ? static_cast<std::uint8_t>(text[position + 1]) : kNone;
    const std::uint64_t* const by_second = &by_second_[second * words_];
    for (std::size_t word = 0; word < words_; ++word) {
      for (std::uint64_t left = possible[word] & by_before[word] & by_first[word] & by_second[word]; left != 0;
           left &= left - 1) {
        const std::size_t number = 64 * word + static_cast<std::size_t>(std::countr_zero(left));
        if (position < ends[number]) continue;
        const std::optional<std::size_t> end = run.matched(patterns_[number].program, 0, position);
        if (!end) continue;
        if (all.size() == most) throw LimitExceeded("memory_bytes", static_cast<double>(budget.limits().memory_bytes));
        all.push_back({static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(position),
                       static_cast<std::uint32_t>(*end)});
        ends[number] = *end;
      }
    }
  }
  return all;
}

}  // namespace tokamata
