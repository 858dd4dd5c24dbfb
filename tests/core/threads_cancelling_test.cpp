// Calls that another thread cancels: they stop, and what they share with others is none the worse.

#include "threads.hpp"

namespace {

using namespace threads;

void sleep_some(Choices& choices, std::uint32_t most_microseconds) {
  std::this_thread::sleep_for(std::chrono::microseconds(choices.below(most_microseconds)));
}

// What was cancelled is as before, and what it shares with others is none the worse: the lock, the
// pattern, the masks of the vocabulary.
TEST(another_thread_cancels_between_and_within_calls) {
  Choices choices(3);
  unsigned stopped = 0;
  for (const Sample& sample : samples()) {
    const test::Note note([&] { return sample.name; });
    for (unsigned round = 0; round < 3; ++round) {
      const auto vocabulary = engine::vocabulary_of(sample.tokens);
      const auto cancel = std::make_shared<CancelToken>();
      const auto constraint = sample.compile({}, cancel, vocabulary), other = sample.compile({}, nullptr, vocabulary);
      Matcher matcher(constraint);
      const MaskPtr first = matcher.mask();
      std::atomic<unsigned> played{0};
      at_once(4, [&](unsigned number) {
        if (number == 3) {
          sleep_some(choices, 2000);
          return cancel->cancel();
        }
        if (number == 2) return play_alone(other, sample);
        Player player(std::make_unique<Matcher>(constraint), number);
        played += play_all(player, sample, number);
      });
      stopped += played < 2 * sample.texts.size();
      CHECK(matcher.mask() == first);
      CHECK(first->bits.row() == sample.positions[0].mask);
      CHECK(matcher.tokens().empty());
      CHECK_THROWS(Cancelled, sample.compile({}, cancel, vocabulary));
      play_alone(sample.compile({}, nullptr, vocabulary), sample);
      play_alone(other, sample);
    }
  }
  CHECK(stopped > 0);
}

TEST(another_thread_cancels_a_long_walk) {
  const TreePtr tree = explosion(18);
  const Tokens tokens = tokens_of_letters(9);
  Limits limits;
  limits.memory_bytes = std::size_t{64} << 20;
  limits.seconds = 100;
  const auto cancel = std::make_shared<CancelToken>();
  const auto constraint = engine::compile(tree, tokens, limits, cancel);
  Matcher matcher(constraint);
  const MaskPtr first = matcher.mask();
  const Words words = first->bits.row();
  at_once(3, [&](unsigned number) {
    if (number == 2) {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      return cancel->cancel();
    }
    Choices choices(number);
    const auto own = matcher.fork();
    CHECK_THROWS(
        Cancelled, for (unsigned i = 0; i < 1'000'000; ++i) {
          (void)own->mask();
          (void)own->advance({static_cast<std::uint32_t>(choices.one_in(2) ? 'a' : 'b')});
          if (own->tokens().size() > 900) CHECK(own->rollback(800));
        });
    CHECK(own->rollback(own->tokens().size()));
    CHECK(own->mask() == first);
  });
  CHECK(matcher.mask() == first);
  CHECK(first->bits.row() == words);
  CHECK_THROWS(Cancelled, engine::compile(tree, tokens, limits, cancel));
}

// The masks that constraints share are made within calls of one of them: a call that is cancelled leaves none
// that is half made.
TEST(another_thread_cancels_masks_that_are_shared) {
  const std::vector<Sample> all = samples_of_classes();
  Choices choices(7);
  for (unsigned round = 0; round < 8; ++round) {
    const auto vocabulary = engine::vocabulary_of(all[0].tokens);
    const auto cancel = std::make_shared<CancelToken>();
    std::vector<std::shared_ptr<Constraint>> constraints;
    for (const Sample& sample : all) constraints.push_back(sample.compile({}, cancel, vocabulary));
    if (round == 0) cancel->cancel();
    at_once(3, [&](unsigned number) {
      if (number == 2) {
        sleep_some(choices, 600);
        return cancel->cancel();
      }
      for (std::size_t i = 0; i < all.size(); ++i) {
        Matcher matcher(constraints[(i + number) % all.size()]);
        try {
          CHECK(matcher.mask()->bits.row() == all[(i + number) % all.size()].positions[0].mask);
        } catch (const Cancelled&) {
        }
      }
    });
    for (const Sample& sample : all) play_alone(sample.compile({}, nullptr, vocabulary), sample);
  }
}

// A constraint that is cancelled while it is compiled is not there, or it is whole.
TEST(another_thread_cancels_compiling) {
  const Sample& sample = samples()[0];
  const auto vocabulary = engine::vocabulary_of(sample.tokens);
  Choices choices(5);
  for (unsigned round = 0; round < 6; ++round) {
    const auto cancel = std::make_shared<CancelToken>();
    at_once(3, [&](unsigned number) {
      if (number == 2) {
        sleep_some(choices, 3000);
        return cancel->cancel();
      }
      CHECK_THROWS(
          Cancelled, for (unsigned i = 0; i < 100'000; ++i) {
            const auto constraint = sample.compile({}, cancel, vocabulary);
            CHECK(Matcher(constraint).mask()->bits.row() == sample.positions[0].mask);
          });
    });
    play_alone(sample.compile({}, nullptr, vocabulary), sample);
  }
}

}  // namespace
