// Matchers and constraints that come and go in several threads.

#include "threads.hpp"

namespace {

using namespace threads;

// Matchers that are handed from thread to thread.
class Pool {
 public:
  struct Item {
    std::unique_ptr<Matcher> matcher;
    const Sample::Position* position;
  };

  void put(Item item) {
    const std::lock_guard lock(mutex_);
    items_.push_back(std::move(item));
  }
  std::optional<Item> take(Choices& choices) {
    const std::lock_guard lock(mutex_);
    if (items_.empty()) return std::nullopt;
    std::swap(items_[choices.below(static_cast<std::uint32_t>(items_.size()))], items_.back());
    Item item = std::move(items_.back());
    items_.pop_back();
    return item;
  }

 private:
  std::mutex mutex_;
  std::vector<Item> items_;
};

// Threads make, fork, hand over and destroy matchers, and let go of their constraint at different times;
// with the last matcher the constraint and the vocabulary are gone, and masks that are held are not.
void come_and_go(const Sample& sample, const Limits& limits) {
  auto vocabulary = engine::vocabulary_of(sample.tokens);
  auto constraint = sample.compile(limits, nullptr, vocabulary);
  const std::weak_ptr<const Vocabulary> vocabulary_left = vocabulary;
  const std::weak_ptr<Constraint> constraint_left = constraint;
  vocabulary.reset();
  std::vector<std::shared_ptr<Constraint>> owners(3, constraint);
  std::vector<std::vector<std::pair<MaskPtr, const Sample::Position*>>> held(3);
  constraint.reset();
  auto pool = std::make_unique<Pool>();
  at_once(3, [&](unsigned number) {
    const test::Note note([&] { return sample.name; });
    Choices choices(number);
    for (unsigned round = 0; round < 240; ++round) {
      if (round == 80 + 50 * number) owners[number].reset();
      try {
        if (owners[number] && choices.one_in(2)) {
          const Sample::Position& position = choices.of(sample.positions);
          pool->put({matcher_at(owners[number], position), &position});
          continue;
        }
        const std::optional<Pool::Item> item = pool->take(choices);
        if (!item) continue;
        const auto& [matcher, position] = *item;
        CHECK(ids_of(matcher->tokens()) == position->tokens);
        if (choices.one_in(3)) pool->put({matcher->fork(), position});
        held[number].emplace_back(matcher->mask(), position);
        CHECK(held[number].back().first->bits.row() == position->mask);
      } catch (const LimitExceeded&) {
        CHECK(limits.states < 1'000'000);
      }
    }
  });
  CHECK(std::ranges::none_of(owners, [](const auto& owner) { return owner != nullptr; }));
  pool.reset();
  CHECK(constraint_left.expired());
  CHECK(vocabulary_left.expired());
  for (const auto& masks : held)
    for (const auto& [mask, position] : masks) CHECK(mask->bits.row() == position->mask);
}

TEST(matchers_and_constraints_come_and_go) {
  for (const Sample& sample : samples()) come_and_go(sample, {});
}

TEST(matchers_come_and_go_while_states_are_collected) {
  for (const Sample& sample : samples()) {
    const auto measured = sample.compile();
    Limits limits;
    limits.states = measured->state_count();
    play_alone(measured, sample);
    limits.states += (measured->state_count() - limits.states) / 2;
    come_and_go(sample, limits);
  }
}

}  // namespace
