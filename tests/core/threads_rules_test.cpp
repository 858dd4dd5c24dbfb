// Matchers of rules in little memory, used at once; every walk is one that a single thread was told (small_limits.hpp).
//
// Under sanitizers many walks have a share of the limits each, in place of few walks with all of them: the longest walk
// alone with all of them takes longer than all other tests of threads.

#include "amounts.hpp"
#include "small_limits.hpp"
#include "threads.hpp"

namespace {

using namespace threads;

TEST(matchers_of_rules_in_little_memory_are_told_the_same_or_stopped) {
  std::atomic<unsigned> ended{0}, stopped{0};
  for (std::uint64_t seed = 0; seed < test::drawn(24); ++seed) {
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    const engine::Recorded walk = engine::recorded(seed, 20);
    for (const Limits& limits : engine::small_limits(walk, test::one_in(1), seed)) {
      std::shared_ptr<Constraint> constraint;
      try {
        constraint = walk.compile(limits);
      } catch (const LimitExceeded&) {
        continue;
      }
      at_once(3, [&](unsigned) { ++(engine::follow(constraint, walk) ? ended : stopped); });
    }
    CHECK(engine::follow(walk.compile(Limits{.seconds = 60}), walk));
  }
  CHECK(ended > 0);
  CHECK(stopped > 0);
}

}  // namespace
