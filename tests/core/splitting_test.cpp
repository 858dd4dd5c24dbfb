// How texts split into parts: random programs against the naive judge of splits.hpp, and what limits and failures
// leave.

#include <new>

#include "allocations.hpp"
#include "amounts.hpp"
#include "splits.hpp"
#include "test.hpp"

namespace {

namespace s = splits;
using s::Borders;
using tokamata::LimitExceeded;
using tokamata::SplitProgram;
using tokamata::Splitter;

std::string shown_borders(const std::optional<Borders>& borders) {
  if (!borders) return "none";
  std::string shown;
  for (const auto& [mark, position] : *borders) shown += std::to_string(mark) + "@" + std::to_string(position) + " ";
  return shown;
}

bool begins_with(const Borders& all, const Borders& some) {
  return some.size() <= all.size() && std::equal(some.begin(), some.end(), all.begin());
}

TEST(random_programs_split_as_the_judge_says) {
  std::size_t accepted = 0, judged = 0;
  for (std::uint64_t seed = 1; seed <= test::drawn(2'000); ++seed) {
    Choices choices(seed);
    const SplitProgram program = s::Random(choices, seed % 2 == 0).program(choices.between(1, 4));
    const auto splitter = s::splitter_of(program);
    for (unsigned i = 0; i < 12; ++i) {
      const std::string text = s::random_text(choices, 7);
      const test::Note note([&] { return "seed " + std::to_string(seed) + ", text " + text; });
      std::optional<Borders> expected;
      try {
        expected = s::Judge(program, text).split();
      } catch (const s::TooLong&) {
        continue;
      }
      const Splitter::Whole whole = splitter->split(text);
      const test::Note more([&] { return shown_borders(whole.borders) + "is not " + shown_borders(expected); });
      CHECK(whole.borders == expected);
      CHECK(whole.reached <= text.size());
      ++judged;
      accepted += expected.has_value();
    }
  }
  CHECK(10 * accepted > judged);
}

// Borders that are certain stay, whatever comes; in the end they are those of the whole.
TEST(texts_that_come_in_pieces) {
  for (std::uint64_t seed = 1; seed <= test::drawn(1'000); ++seed) {
    Choices choices(seed + 10'000);
    const SplitProgram program = s::Random(choices, false).program(choices.between(1, 4));
    const auto splitter = s::splitter_of(program);
    for (unsigned i = 0; i < 6; ++i) {
      const std::string text = s::random_text(choices, 9);
      const test::Note note([&] { return "seed " + std::to_string(seed) + ", text " + text; });
      const std::optional<Borders> whole = splitter->split(text).borders;
      auto split = splitter->begin();
      std::size_t read = 0;
      Borders known;
      for (const std::string_view piece : s::pieces_of(choices, text, 3)) {
        if (choices.one_in(3)) {
          auto fork = split->fork();
          split->feed("abc");  // the fork does not see it
          split = std::move(fork);
        }
        split->feed(piece);
        read += piece.size();
        const Borders more = split->certain(static_cast<std::uint32_t>(known.size()));
        known.insert(known.end(), more.begin(), more.end());
        if (!whole) continue;  // maybe no thread is left
        CHECK(split->certain(0) == known);
        CHECK(begins_with(*whole, known));
        CHECK(split->bound() <= read);
        if (known.size() < whole->size()) CHECK((*whole)[known.size()].position >= std::min(split->bound(), read));
      }
      CHECK(split->end() == whole);
    }
  }
}

TEST(programs_that_make_no_sense_are_refused) {
  using s::Op;
  const auto refused = [](std::vector<tokamata::Instruction> code) {
    SplitProgram program{{s::letters("a", 0, 1).expression}, std::move(code)};
    (void)CHECK_THROWS(std::invalid_argument, s::splitter_of(program));
  };
  refused({});
  refused({{.op = Op::Part}});
  refused({{.op = Op::Part, .number = 1}, {.op = Op::Accept}});
  refused({{.op = Op::Jump, .target = 2}, {.op = Op::Accept}});
  refused({{.op = Op::Again, .target = 1}, {.op = Op::Accept}});
  refused({{.op = Op::Loop, .low = 2, .high = 1}, {.op = Op::Accept}});
}

// More states than there may be: those that are behind are given up on the way, and so are borders that nobody needs.
TEST(long_texts_in_little_memory) {
  Choices choices(5);
  const SplitProgram program = s::long_items();
  const std::string text = s::long_text(choices, 12, 9'000);
  const std::optional<Borders> expected = s::splitter_of(program)->split(text).borders;
  CHECK(expected.has_value());
  tokamata::Limits limits;
  limits.states = 12'000;
  const auto splitter = s::splitter_of(program, limits);
  CHECK(splitter->split(text).borders == expected);
  const auto split = splitter->begin(), other = splitter->begin();
  for (const std::string_view piece : s::pieces_of(choices, text, 3'000)) {
    split->feed(piece);
    other->feed(piece.substr(0, 1));
  }
  CHECK(split->end() == expected);
}

TEST(borders_that_no_text_has_are_given_up) {
  SplitProgram program;
  program.leaves = {s::letters("ab", 0, tokamata::kUnbounded).expression};
  using s::Op;
  program.code = {{.op = Op::Mark, .number = 0}, {.op = Op::Part},  {.op = Op::Mark, .number = 1}, {.op = Op::Part},
                  {.op = Op::Mark, .number = 2}, {.op = Op::Accept}};
  const auto splitter = s::splitter_of(program);
  const auto split = splitter->begin();
  const std::string piece(1'000, 'a');
  split->feed(piece);
  const std::size_t few = splitter->memory_bytes();
  for (unsigned i = 0; i < 200; ++i) split->feed(piece);
  CHECK(splitter->memory_bytes() < few + 400'000);
  CHECK_EQUAL(split->end()->size(), 3u);
}

// A call that a limit stops changes nothing; it may be made again.
TEST(small_limits_of_splits) {
  std::size_t stopped = 0;
  Choices choices(7);
  const SplitProgram program = s::long_items();
  const std::string text = s::long_text(choices, 3, 3'000);
  const auto wide = s::splitter_of(program);
  const std::optional<Borders> expected = wide->split(text).borders;
  const std::size_t memory = wide->memory_bytes();
  for (std::size_t share = 1; share <= 20; ++share) {
    tokamata::Limits limits;
    limits.memory_bytes = memory * share / 20;
    const test::Note note([&] { return "memory_bytes " + std::to_string(limits.memory_bytes); });
    std::unique_ptr<Splitter::Split> split;
    try {
      split = s::splitter_of(program, limits)->begin();
    } catch (const LimitExceeded&) {
      ++stopped;
      continue;
    }
    bool is_whole = true;
    for (const std::string_view piece : s::pieces_of(choices, text, 500)) {
      const Borders before = split->certain(0);
      const std::size_t bound = split->bound();
      for (unsigned attempt = 0; attempt < 2 && is_whole; ++attempt) try {
          split->feed(piece);
          break;
        } catch (const LimitExceeded& error) {
          CHECK(error.limit == "memory_bytes");
          CHECK(split->certain(0) == before);
          CHECK_EQUAL(split->bound(), bound);
          is_whole = attempt == 0;
          ++stopped;
        }
    }
    if (is_whole) CHECK(split->end() == expected);
  }
  CHECK(stopped > 0);
}

// Each allocation fails once.
TEST(splits_whose_allocations_fail) {
  for (std::uint64_t seed = 1; seed <= test::drawn(40); ++seed) {
    Choices choices(seed + 20'000);
    const SplitProgram program = s::Random(choices, false).program(3);
    const std::string text = s::random_text(choices, 30);
    const test::Note note([&] { return "seed " + std::to_string(seed) + ", text " + text; });
    const auto answer = [](auto&& question) {
      while (true) try {
          return question();
        } catch (const std::bad_alloc&) {
        }
    };
    const auto read = [&] {
      const auto splitter = answer([&] { return s::splitter_of(program); });
      auto split = answer([&] { return splitter->begin(); });
      for (const char& letter : text) {
        answer([&] { return split->feed({&letter, 1}), 0; });
        split = answer([&] { return split->fork(); });
      }
      const std::optional<Borders> ended = answer([&] { return split->end(); });
      CHECK(answer([&] { return splitter->split(text).borders; }) == ended);
      return ended;
    };
    const std::uint64_t before = allocations::count;
    const std::optional<Borders> expected = read();
    const std::uint64_t all = allocations::count - before;
    for (std::uint64_t k = 1; k <= all; k += 1 + all / 60) {
      const test::Note more([&] { return "allocation " + std::to_string(k) + " of " + std::to_string(all); });
      std::optional<Borders> found;
      {
        const allocations::Failing failing(k);
        found = read();
      }
      CHECK(found == expected);
    }
  }
}

}  // namespace
