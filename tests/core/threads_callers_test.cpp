// Callers of one pattern, with limits of their own, on several threads: threads.hpp says how they are judged.

#include "amounts.hpp"
#include "threads.hpp"

namespace {

using namespace threads;

// Some have room for all that they make, and others for half of it; these move to states of their own again and again,
// in the midst of calls of others, and of calls on the same matcher.
TEST(callers_are_told_what_they_are_told_alone) {
  unsigned moved = 0;
  for (const Sample& sample : samples()) {
    const test::Note note([&] { return sample.name; });
    const auto measured = sample.compile();
    (void)Matcher(measured).mask();
    const std::size_t least_bytes = measured->memory_bytes();
    play_alone(measured, sample);
    Limits tight;
    tight.memory_bytes = least_bytes + (measured->memory_bytes() - least_bytes) / 2;
    const auto first = sample.compile();
    const auto narrow = std::make_shared<Constraint>(first->shared(), tight, nullptr);
    Matcher common(narrow);
    at_once(4, [&](unsigned number) {
      const auto own = number % 2 ? narrow : std::make_shared<Constraint>(first->shared(), Limits(), nullptr);
      Player player(std::make_unique<Matcher>(own), number);
      const unsigned played = play_all(player, sample, number);
      CHECK(number % 2 || played == sample.texts.size());
      try {
        CHECK(common.mask()->bits.row() == sample.positions[0].mask);
        (void)common.fork()->forced_text();
      } catch (const LimitExceeded& error) {
        CHECK_EQUAL(error.limit, std::string("memory_bytes"));
      }
    });
    moved += &narrow->states() != first->shared().get();
    CHECK(common.tokens().empty());
    play_alone(first, sample);
  }
  CHECK(moved > 0);
}

}  // namespace
