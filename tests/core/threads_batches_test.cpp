// Masks of a batch, filled by any number of threads, and while others use the same constraints.

#include "matching/batch.hpp"
#include "threads.hpp"

namespace {

using namespace threads;

// Rows with a word on both sides that nobody may write.
class Rows {
 public:
  explicit Rows(std::span<Matcher* const> matchers) {
    for (const Matcher* matcher : matchers)
      rows_.emplace_back(matcher->constraint()->vocabulary().words() + 2, kUntouched);
    for (Words& row : rows_) places_.push_back(row.data() + 1);
  }

  std::span<std::uint32_t* const> places() const { return places_; }

  bool is_untouched(std::size_t i) const {
    return std::ranges::all_of(rows_[i], [](std::uint32_t word) { return word == kUntouched; });
  }

  void check(std::size_t i, const Words& expected) const {
    CHECK_EQUAL(rows_[i].front(), kUntouched);
    CHECK_EQUAL(rows_[i].back(), kUntouched);
    CHECK(std::equal(expected.begin(), expected.end(), rows_[i].begin() + 1, rows_[i].end() - 1));
  }

 private:
  static constexpr std::uint32_t kUntouched = 0xA5A5A5A5;
  std::vector<Words> rows_;
  std::vector<std::uint32_t*> places_;
};

// What a call of fill_masks reports: nothing, or the limit, or that it was cancelled.
std::string shown(const std::exception_ptr& error) {
  if (!error) return "";
  try {
    std::rethrow_exception(error);
  } catch (const LimitExceeded& limit) {
    return limit.limit;
  } catch (const Cancelled&) {
    return "cancelled";
  }
}

struct Batch {
  std::vector<std::unique_ptr<Matcher>> own;
  std::vector<Matcher*> matchers;
  std::vector<const Words*> masks;  // null where the row cannot be filled
  std::vector<std::string> errors;

  void add(Matcher& matcher, const Words* mask, std::string error = "") {
    matchers.push_back(&matcher);
    masks.push_back(mask);
    errors.push_back(std::move(error));
  }
  void add(std::unique_ptr<Matcher> matcher, const Words* mask, std::string error = "") {
    add(*matcher, mask, std::move(error));
    own.push_back(std::move(matcher));
  }

  void fill(unsigned threads) const {
    const Rows rows(matchers);
    const auto faults = tokamata::fill_masks(matchers, rows.places(), threads);
    CHECK_EQUAL(faults.size(), matchers.size());
    for (std::size_t i = 0; i < matchers.size(); ++i) {
      const test::Note note([&] { return "row " + std::to_string(i) + ", " + std::to_string(threads) + " threads"; });
      CHECK_EQUAL(shown(faults[i]), errors[i]);
      if (masks[i]) rows.check(i, *masks[i]);
      else CHECK(rows.is_untouched(i));
    }
  }
};

// Matchers of all samples at all positions, in no order, and of some more than once.
Batch batch_of(const std::vector<std::shared_ptr<Constraint>>& constraints, std::uint64_t seed) {
  Batch batch;
  Choices choices(seed);
  for (unsigned i = 0; i < 240; ++i) {
    const std::uint32_t which = choices.one_in(2) ? 1 : choices.below(static_cast<std::uint32_t>(constraints.size()));
    const Sample::Position& position = choices.of(samples()[which].positions);
    batch.add(matcher_at(constraints[which], position), &position.mask);
    if (choices.one_in(6)) batch.add(*batch.own.back(), &position.mask);
  }
  return batch;
}

std::vector<std::shared_ptr<Constraint>> compile_all() {
  std::vector<std::shared_ptr<Constraint>> constraints;
  for (const Sample& sample : samples()) constraints.push_back(sample.compile());
  return constraints;
}

TEST(batches_are_filled_the_same_by_any_number_of_threads) {
  for (const unsigned threads : {1u, 2u, 4u}) {
    const auto constraints = compile_all();  // nothing is known yet
    const Batch batch = batch_of(constraints, 1);
    batch.fill(threads);
    batch.fill(threads);  // all is known
  }
  const Batch empty;
  empty.fill(4);
}

TEST(batches_are_filled_while_others_use_their_constraints) {
  for (const unsigned threads : {1u, 2u, 4u}) {
    const auto constraints = compile_all();
    const Batch batch = batch_of(constraints, threads), other = batch_of(constraints, threads + 10);
    at_once(3, [&](unsigned number) {
      if (number == 0) return batch.fill(threads);
      if (number == 1) return other.fill(2);
      for (std::size_t i = 0; i < constraints.size(); ++i) play_alone(constraints[i], samples()[i]);
    });
  }
}

TEST(errors_in_a_batch_stay_with_their_rows) {
  // The first mask alone meets more states than there may be.
  Limits limits;
  limits.states = 200;
  const Sample large(explosion(6), tokens_of_letters(9));
  for (const unsigned threads : {1u, 2u, 4u}) {
    const auto constraints = compile_all();
    Batch batch = batch_of(constraints, 1);
    const auto limited = large.compile(limits);
    const auto cancel = std::make_shared<CancelToken>();
    const auto cancelled = samples()[0].compile({}, cancel);
    cancel->cancel();
    for (unsigned i = 0; i < 3; ++i) {
      batch.add(std::make_unique<Matcher>(limited), nullptr, "states");
      batch.add(std::make_unique<Matcher>(cancelled), nullptr, "cancelled");
      batch.add(matcher_at(constraints[2], samples()[2].positions[0]), &samples()[2].positions[0].mask);
    }
    batch.add(*batch.own.back(), &samples()[2].positions[0].mask);
    at_once(2, [&](unsigned number) { batch.fill(number ? 2 : threads); });
    batch.fill(threads);
  }
}

TEST(batches_with_budgets_are_filled_the_same_by_any_number_of_threads) {
  // Alone, on constraints of its own: the mask of each position within a budget, or that there is none.
  using tokamata::BudgetTooSmall, tokamata::TokenCount;
  struct Expected {
    std::size_t sample, position;
    std::optional<TokenCount> budget;
    std::optional<Words> mask;
  };
  std::vector<Expected> expected;
  const auto alone = compile_all();
  for (std::size_t i = 0; i < alone.size(); ++i)
    for (std::size_t at = 0; at < samples()[i].positions.size(); at += 5)
      for (const std::optional<TokenCount> budget : {std::optional<TokenCount>(), std::optional<TokenCount>(1),
                                                     std::optional<TokenCount>(3), std::optional<TokenCount>(40)}) {
        const auto matcher = matcher_at(alone[i], samples()[i].positions[at]);
        Expected one{i, at, budget, std::nullopt};
        try {
          one.mask = (budget ? matcher->mask_within(*budget, false) : matcher->mask())->bits.row();
        } catch (const BudgetTooSmall&) {
        }
        expected.push_back(std::move(one));
      }
  for (const unsigned threads : {1u, 4u}) {
    const auto constraints = compile_all();
    std::vector<std::unique_ptr<Matcher>> own;
    std::vector<Matcher*> matchers;
    std::vector<std::optional<TokenCount>> budgets;
    for (const Expected& one : expected) {
      own.push_back(matcher_at(constraints[one.sample], samples()[one.sample].positions[one.position]));
      matchers.push_back(own.back().get());
      budgets.push_back(one.budget);
    }
    for (unsigned round = 0; round < 2; ++round) {
      const Rows rows(matchers);
      const auto faults = tokamata::fill_masks(matchers, rows.places(), threads, budgets);
      for (std::size_t i = 0; i < matchers.size(); ++i) {
        CHECK_EQUAL(static_cast<bool>(faults[i]), !expected[i].mask.has_value());
        if (expected[i].mask) rows.check(i, *expected[i].mask);
        else CHECK(rows.is_untouched(i));
      }
    }
  }
}

}  // namespace
