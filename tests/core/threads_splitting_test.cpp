// Texts that are split at once, by one splitter: each gets the borders that it gets alone.

#include "splits.hpp"
#include "threads.hpp"

namespace {

TEST(texts_of_one_splitter_are_split_at_once) {
  Choices choices(3);
  const tokamata::SplitProgram program = splits::long_items();
  std::vector<std::string> texts;
  std::vector<std::optional<splits::Borders>> expected;
  for (unsigned number = 0; number < 3; ++number) {
    texts.push_back(splits::long_text(choices, 6, 2'000));
    expected.push_back(splits::splitter_of(program)->split(texts.back()).borders);
  }
  tokamata::Limits limits;
  limits.states = 10'000;  // states are given up while others are in them
  const auto splitter = splits::splitter_of(program, limits);
  threads::at_once(3, [&](unsigned number) {
    Choices own(number + 1);
    for (unsigned round = 0; round < 3; ++round) {
      auto split = splitter->begin();
      for (const std::string_view piece : splits::pieces_of(own, texts[number], 700)) {
        split = split->fork();
        split->feed(piece);
        (void)split->certain(0);
        (void)splitter->memory_bytes();
      }
      CHECK(split->end() == expected[number]);
      CHECK(splitter->split(texts[number]).borders == expected[number]);
    }
  });
}

}  // namespace
