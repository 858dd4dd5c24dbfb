#include "programs/byte_patterns.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <stdexcept>

namespace tokamata {

using Op = Instruction::Op;

BytePatterns::Nexts BytePatterns::nexts_of(const ByteSet& set) {
  Nexts nexts;
  for (unsigned byte = 0; byte < 256; ++byte) nexts[byte] = set.contains(static_cast<std::uint8_t>(byte));
  return nexts;
}

std::uint32_t BytePatterns::number_of(const Nexts& nexts) {
  const auto known = std::ranges::find(steps_.nexts, nexts);
  const auto number = static_cast<std::uint32_t>(known - steps_.nexts.begin());
  if (known == steps_.nexts.end()) steps_.nexts.push_back(nexts);
  return number;
}

// The bytes that may be second in a match of a program, or stand after it where it reads one: at least those.
class BytePatterns::Seconds {
 public:
  Seconds(const Program& program, const std::vector<ByteSet>& sets)
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
    const Instruction& one = program_[at];
    switch (one.op) {
      case Op::Accept: return ~Nexts();
      case Op::Read: return read == 1 ? nexts_of(sets_[one.number]) : from(at + 1, 1);
      case Op::Run: {
        Nexts nexts;
        if (read == 1 ? one.high > 0 : one.high > 1) nexts |= nexts_of(sets_[one.number]);
        if (one.low == 0) nexts |= from(at + 1, read);
        if (read == 0 && one.low <= 1 && one.high > 0) nexts |= from(at + 1, 1);
        return nexts;
      }
      case Op::Fork: return from(at + 1, read) | from(one.target, read);
      case Op::Jump:
      case Op::Again: return from(one.target, read);
      case Op::Look:
        return one.behind || one.negated ? from(one.target, read) : from(one.target, read) & from(at + 1, read);
      case Op::TextEnd: return read == 1 ? from(at + 1, read) & Nexts().set(kNone) : from(at + 1, read);
      case Op::LastLineEnd:
      case Op::LineEnd: return read == 1 ? from(at + 1, read) & Nexts().set(kNone).set('\n') : from(at + 1, read);
      default: return from(at + 1, read);
    }
  }

  const Program& program_;
  const std::vector<ByteSet>& sets_;
  std::array<std::vector<std::optional<Nexts>>, 2> known_;
};

// The bytes that may stand before a match, as far as lookbehinds say so that look past it before its second byte.
class BytePatterns::Befores {
 public:
  Befores(const Program& program, const std::vector<ByteSet>& sets) : program_(program), sets_(sets) {}

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
    const Instruction& one = program_[at];
    switch (one.op) {
      case Op::Read: return read == kNothingRead ? from(at + 1, one.number) : ~Nexts();
      case Op::Fork: return from(at + 1, read) | from(one.target, read);
      case Op::Jump:
      case Op::Again: return from(one.target, read);
      case Op::Look: return one.behind ? from(one.target, read) & behind(at, read) : from(one.target, read);
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
  Nexts behind(std::size_t at, std::uint32_t read) {
    const Instruction& look = program_[at];
    const std::size_t own = read == kNothingRead ? 0 : 1;
    // it sees the match alone; or it is no row of bytes
    if (look.low <= own || look.target != at + look.low + 2) return ~Nexts();
    for (std::size_t index = 1; index <= look.low; ++index)
      if (program_[at + index].op != Op::Read) return ~Nexts();
    const Nexts seen = nexts_of(sets_[program_[at + look.low - own].number]);
    if (!look.negated) return seen;
    // It fails by this byte alone if all others are sure to be there.
    if (look.low > own + 1) return ~Nexts();
    if (own == 1 && !sets_[read].is_subset_of(sets_[program_[at + look.low].number])) return ~Nexts();
    return ~seen;
  }

  const Program& program_;
  const std::vector<ByteSet>& sets_;
  std::map<std::pair<std::size_t, std::uint32_t>, Nexts> known_;
};

// Whether a program cannot match a text that has no byte of some set.
class BytePatterns::Need {
 public:
  Need(const Program& program, const std::vector<ByteSet>& sets, const ByteSet& needed)
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
    const Instruction& one = program_[at];
    switch (one.op) {
      case Op::Accept: return true;
      case Op::Read: return !sets_[one.number].is_subset_of(needed_) && ends(at + 1);
      case Op::Run: return (one.low == 0 || !sets_[one.number].is_subset_of(needed_)) && ends(at + 1);
      case Op::Fork: return ends(at + 1) || ends(one.target);
      case Op::Jump:
      case Op::Again: return ends(one.target);
      case Op::Look: return ends(one.target) && (one.behind || one.negated || ends(at + 1));
      default: return ends(at + 1);
    }
  }

  const Program& program_;
  const std::vector<ByteSet>& sets_;
  const ByteSet& needed_;
  std::vector<std::optional<bool>> ends_;
};

BytePatterns::BytePatterns(const std::vector<Program>& patterns, std::vector<ByteSet> sets)
    : words_((patterns.size() + 63) / 64) {
  steps_.sets = std::move(sets);
  by_first_.assign(256 * words_, 0);
  by_second_.assign((kNone + 1) * words_, 0);
  by_before_.assign((kNone + 1) * words_, 0);
  Numbers lookaheads;
  for (const Program& program : patterns) {
    check(program, {&Backtracker::knows, steps_.sets.size(), 0});
    add(program, lookaheads);
  }
  steps_.lookaheads = lookaheads.size();
}

void BytePatterns::add(const Program& program, Numbers& lookaheads) {
  const std::size_t number = size();
  const std::uint64_t bit = std::uint64_t{1} << (number % 64);
  Seconds nexts(program, steps_.sets);
  steps_.programs.push_back(steps_of(program, nexts, lookaheads));
  needs_.push_back(needs_of(program));
  const Nexts firsts = nexts.at(0), seconds = nexts.all();
  Nexts befores = Befores(program, steps_.sets).all();
  Nexts words;
  for (std::size_t byte = 0; byte < kNone; ++byte) words[byte] = is_word_byte(static_cast<std::uint8_t>(byte));
  // Where a word begins, nothing of a word stands before it.
  if (program.front().op == Op::Boundary && (firsts & ~words).none()) befores &= ~words;
  for (std::size_t byte = 0; byte <= kNone; ++byte) {
    const std::size_t word = byte * words_ + number / 64;
    if (byte != kNone && firsts[byte]) by_first_[word] |= bit;
    if (seconds[byte]) by_second_[word] |= bit;
    if (befores[byte]) by_before_[word] |= bit;
  }
}

std::vector<Backtracker::Step> BytePatterns::steps_of(const Program& program, Seconds& nexts, Numbers& lookaheads) {
  std::vector<Backtracker::Step> steps;
  for (std::size_t at = 0; at < program.size(); ++at) {
    const Instruction& one = program[at];
    Backtracker::Step step{one};
    if (one.op == Op::Run) {
      step.gives_none_back = (nexts.at(at + 1) & nexts_of(steps_.sets[one.number])).none();
    } else if (one.op == Op::Fork) {
      step.here = number_of(nexts.at(at + 1));
      step.there = number_of(nexts.at(one.target));
    } else if (one.op == Op::Look && !one.behind) {
      Program body(program.begin() + static_cast<std::ptrdiff_t>(at) + 1, program.begin() + one.target);
      for (Instruction& inner : body)
        if (inner.has_target()) inner.target -= static_cast<std::uint32_t>(at);
      step.here = lookaheads.try_emplace(std::move(body), static_cast<std::uint32_t>(lookaheads.size())).first->second;
    }
    steps.push_back(step);
  }
  return steps;
}

// Small sets of which each match needs a byte.
std::vector<ByteSet> BytePatterns::needs_of(const Program& program) const {
  std::vector<ByteSet> needs;
  for (const Instruction& one : program) {
    if (one.op != Op::Read) continue;
    const ByteSet& set = steps_.sets[one.number];
    if (set.size() <= kMostNeeded && std::ranges::find(needs, set) == needs.end() &&
        Need(program, steps_.sets, set).holds())
      needs.push_back(set);
  }
  return needs;
}

std::vector<BytePatterns::Found> BytePatterns::found(std::string_view text, const Selection& among, std::size_t most,
                                                     Budget& budget) const {
  Backtracker run(steps_, text, budget);
  std::vector<Found> all;
  std::vector<std::size_t> ends(size(), 0);  // by pattern, of the last match
  ByteSet bytes;
  for (const char byte : text) bytes.add(static_cast<std::uint8_t>(byte));
  Selection possible = among;  // without those that need a byte which the text has not
  for (std::size_t number = 0; number < size(); ++number)
    if (!std::ranges::all_of(needs_[number], [&](const ByteSet& need) { return need.intersects(bytes); }))
      possible[number / 64] &= ~(std::uint64_t{1} << (number % 64));
  for (std::size_t position = 0; position < text.size(); ++position) {
    if (position % Backtracker::kStepsOfACheck == Backtracker::kStepsOfACheck - 1) budget.check();
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
        const std::optional<std::size_t> end = run.matched(number, position);
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
