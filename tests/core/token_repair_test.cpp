// Repairs of random token sequences by random automata, against a table of all positions and states.

#include <set>

#include "amounts.hpp"
#include "choices.hpp"
#include "repair/token_search.hpp"
#include "test.hpp"

namespace {

using namespace tokamata;

constexpr std::uint32_t kTokens = 6;

// An automaton whose states all lead to the last one, which accepts: state s has an edge to s + 1.
struct RandomRows {
  std::vector<std::uint8_t> accepting;
  std::vector<std::int32_t> class_of_token, classes, targets;
  std::vector<std::int64_t> offsets;
};

RandomRows random_rows(Choices& choices) {
  RandomRows made;
  const auto states = choices.between(1, 6), class_count = choices.between(1, 4);
  for (std::uint32_t token = 0; token < kTokens; ++token)
    made.class_of_token.push_back(token < class_count ? static_cast<std::int32_t>(token) : static_cast<std::int32_t>(choices.below(class_count + 1)) - 1);
  for (std::uint32_t state = 0; state < states; ++state) {
    made.offsets.push_back(static_cast<std::int64_t>(made.targets.size()));
    made.accepting.push_back(state + 1 == states || choices.one_in(4));
    const std::uint32_t onward = choices.below(class_count);
    for (std::uint32_t one = class_count; one-- > 0;) {
      if (one != onward && choices.one_in(2)) continue;
      if (state + 1 == states && one == onward) continue;
      made.classes.push_back(static_cast<std::int32_t>(one));
      made.targets.push_back(static_cast<std::int32_t>(one == onward ? state + 1 : choices.below(states)));
    }
  }
  made.offsets.push_back(static_cast<std::int64_t>(made.targets.size()));
  return made;
}

TEST(nearest_tokens_cost_what_the_table_says) {
  for (std::uint64_t seed = 1; seed <= test::drawn(2000); ++seed) {
    Choices choices(seed + 90'000);
    const RandomRows rows = random_rows(choices);
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    Budget budget({}, nullptr, 0);
    const TokenEdges edges(rows.accepting, rows.class_of_token, rows.offsets, rows.classes, rows.targets, budget);
    std::vector<std::uint32_t> tokens;
    for (std::uint32_t count = choices.below(9); count > 0; --count) tokens.push_back(choices.below(kTokens));
    TokenPrices prices{choices.below(4), choices.below(4), choices.below(6)};
    if (choices.one_in(3)) prices.replace = kNoEdit;
    const std::uint64_t expected = least_cost(edges, tokens, prices, budget);
    const NearestTokens found = nearest_tokens(edges, tokens, prices, {}, nullptr);
    CHECK_EQUAL(found.cost, expected);
    CHECK_EQUAL(found.lower_bound, expected);
    std::uint32_t state = 0;
    std::uint64_t cost = 0;
    std::size_t position = 0;
    for (const auto& [kind, token] : found.steps) {
      if (kind == EditKind::Keep) CHECK(tokens[position] == token);
      cost += kind == EditKind::Insert ? prices.insert : kind == EditKind::Remove ? prices.remove : kind == EditKind::Replace ? prices.replace : 0;
      position += kind != EditKind::Insert;
      if (kind != EditKind::Remove) state = edges.target(state, token).value();
    }
    CHECK_EQUAL(cost, expected);
    CHECK_EQUAL(position, tokens.size());
    CHECK(edges.accepting(state));
    // Without time there is an answer, and its bound holds.
    Limits limits;
    limits.memory_bytes = 1;
    const NearestTokens first = nearest_tokens(edges, tokens, prices, limits, nullptr);
    CHECK(first.lower_bound <= expected && expected <= first.cost);
  }
}

TEST(inconsistent_rows_are_refused) {
  Budget budget({}, nullptr, 0);
  const std::vector<std::uint8_t> accepting{0, 1};
  const std::vector<std::int32_t> class_of_token{0, -1}, classes{0}, no_class{1}, targets{1}, no_state{2}, own{0};
  const std::vector<std::int64_t> offsets{0, 1, 1}, short_offsets{0, 1}, wrong_offsets{0, 2, 1};
  const TokenEdges edges(accepting, class_of_token, offsets, classes, targets, budget);
  CHECK(edges.least(0) == 1 && edges.most(0) == 1 && edges.most(1) == 0);
  CHECK_THROWS(std::invalid_argument, TokenEdges(accepting, class_of_token, short_offsets, classes, targets, budget));
  CHECK_THROWS(std::invalid_argument, TokenEdges(accepting, class_of_token, wrong_offsets, classes, targets, budget));
  CHECK_THROWS(std::invalid_argument, TokenEdges(accepting, class_of_token, offsets, no_class, targets, budget));
  CHECK_THROWS(std::invalid_argument, TokenEdges(accepting, class_of_token, offsets, classes, no_state, budget));
  CHECK_THROWS(std::invalid_argument, TokenEdges(accepting, class_of_token, offsets, classes, own, budget));
}

}  // namespace
