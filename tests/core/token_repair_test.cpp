// Repairs of random token sequences by random patterns, against the oracle's automaton over tokens.

#include <map>
#include <queue>

#include "amounts.hpp"
#include "engine.hpp"
#include "generate.hpp"
#include "repair/token_search.hpp"
#include "test.hpp"

namespace {

using namespace tokamata;

struct RepairCase {
  Choices choices;
  oracle::TreePtr tree;
  oracle::Tokens tokens;
  oracle::Language language;
  oracle::TokenGraph graph;

  RepairCase(std::uint64_t seed, oracle::TreePtr of)
      : choices(seed),
        tree(std::move(of)),
        tokens(generate::tokens(choices, tree)),
        language(tree, 300),
        graph(language, tokens, 200) {}

  std::shared_ptr<KeptTokenPlaces> places() const {
    return std::make_shared<KeptTokenPlaces>(std::make_shared<const TokenPattern>(
        TokenPattern{engine::expression_of(tree), engine::vocabulary_of(tokens), engine::start_vocabulary_of(tokens),
                     engine::controls_of(tokens)}));
  }
  std::string shown() const { return "pattern " + oracle::shown(tree) + "\n    " + oracle::shown(tokens); }
};

// The least cost of all repairs: Dijkstra's algorithm over positions and nodes, a token at a time.
std::optional<std::uint64_t> least_cost(const oracle::TokenGraph& graph, std::uint32_t width,
                                        const std::vector<std::uint32_t>& given, const TokenPrices& prices) {
  using Open = std::tuple<std::uint64_t, std::size_t, int>;
  const auto type = [&](std::uint32_t token) { return prices.types.empty() ? std::uint8_t{0} : prices.types[token]; };
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
  std::map<std::pair<std::size_t, int>, std::uint64_t> done;
  open.emplace(0, 0, 0);
  while (!open.empty()) {
    const auto [cost, position, node] = open.top();
    open.pop();
    if (!done.try_emplace({position, node}, cost).second) continue;
    const bool is_within = position < given.size();
    if (!is_within && graph.accepts(node)) return cost;
    if (is_within) open.emplace(cost + prices.remove[type(given[position])], position + 1, node);
    for (std::uint32_t token = 0; token < width; ++token) {
      const std::optional<int> target = graph.step(node, token);
      if (!target) continue;
      open.emplace(cost + prices.insert[type(token)], position, *target);
      if (!is_within) continue;
      if (token == given[position]) open.emplace(cost, position + 1, *target);
      else if (prices.replace[type(token)] != kNoEdit)
        open.emplace(cost + prices.replace[type(token)], position + 1, *target);
    }
  }
  return std::nullopt;
}

TokenPrices random_prices(Choices& choices, std::uint32_t width) {
  TokenPrices prices;
  const std::uint32_t types = choices.one_in(2) ? 1 : 3;
  for (std::uint32_t type = 0; type < types; ++type) {
    prices.insert.push_back(choices.below(4));
    prices.remove.push_back(choices.below(4));
    prices.replace.push_back(choices.one_in(3) ? kNoEdit : choices.below(6));
  }
  if (types > 1)
    for (std::uint32_t token = 0; token < width; ++token)
      prices.types.push_back(static_cast<std::uint8_t>(choices.below(types)));
  return prices;
}

// The steps lead to an accepted sequence, and cost what is said.
void check_answer(const TokenRepairSearch::Answer& answer, const RepairCase& one,
                  const std::vector<std::uint32_t>& given, const TokenPrices& prices) {
  const auto type = [&](std::uint32_t token) { return prices.types.empty() ? std::uint8_t{0} : prices.types[token]; };
  int node = 0;
  std::uint64_t cost = 0;
  std::size_t position = 0;
  for (const auto& [kind, token] : answer.steps) {
    switch (kind) {
      case EditKind::Keep: CHECK_EQUAL(given[position], token); break;
      case EditKind::Remove: cost += prices.remove[type(given[position])]; break;
      case EditKind::Insert: cost += prices.insert[type(token)]; break;
      default: cost += prices.replace[type(token)];
    }
    position += kind != EditKind::Insert;
    if (kind != EditKind::Remove) node = one.graph.step(node, token).value();
  }
  CHECK_EQUAL(cost, answer.cost.cost);
  CHECK_EQUAL(position, given.size());
  CHECK(one.graph.accepts(node));
}

void check_repairs(RepairCase& one) {
  const test::Note note([&] { return one.shown(); });
  if (one.graph.is_empty() || !one.graph.lives(0)) return;
  const auto places = one.places();
  for (unsigned number = 0; number < 4; ++number) {
    std::vector<std::uint32_t> given;
    for (std::uint32_t count = one.choices.below(8); count > 0; --count)
      given.push_back(one.choices.below(one.tokens.width));
    while (!given.empty() && one.tokens.is_stop(given.back())) given.pop_back();
    const TokenPrices prices = random_prices(one.choices, one.tokens.width);
    const std::uint64_t expected = least_cost(one.graph, one.tokens.width, given, prices).value();
    TokenRepairSearch search(places, {}, given, prices, 100 + one.choices.below(4) * 150, {}, nullptr);
    std::uint64_t before = ~std::uint64_t{0};
    TokenRepairSearch::Outcome outcome;
    do {
      outcome = search.improve();
      CHECK(search.best().cost.cost <= before);
      before = search.best().cost.cost;
      CHECK(search.lower_bound() <= expected);
      check_answer(search.best(), one, given, prices);
    } while (outcome == TokenRepairSearch::Outcome::Better);
    CHECK(outcome == TokenRepairSearch::Outcome::Ended);
    CHECK_EQUAL(search.best().cost.cost, expected);
    CHECK_EQUAL(search.lower_bound(), expected);
    const BorrowedTokenPlaces borrowed(places, {}, nullptr);
    Budget budget({}, nullptr, 0);
    CHECK(flaw_of_token_bound(borrowed.places(), given, prices, expected, true, budget).empty());
    CHECK(!flaw_of_token_bound(borrowed.places(), given, prices, expected + 1, true, budget).empty());
    // Without memory there is an answer, and its bound holds.
    Limits limits;
    limits.memory_bytes = 1;
    TokenRepairSearch first(places, {}, given, prices, 300, limits, nullptr);
    first.improve();
    CHECK(first.lower_bound() <= expected && expected <= first.best().cost.cost);
    check_answer(first.best(), one, given, prices);
  }
}

// From some places: each token has the edge of its target and type, with a token that is no greater and leads there
// too.
void check_rows(RepairCase& one) {
  const test::Note note([&] { return one.shown(); });
  if (one.graph.is_empty() || !one.graph.lives(0)) return;
  const BorrowedTokenPlaces borrowed(one.places(), {}, nullptr);
  TokenPlaces& places = borrowed.places();
  std::vector<std::uint8_t> types;
  for (std::uint32_t token = 0; token < one.tokens.width; ++token)
    types.push_back(static_cast<std::uint8_t>(one.choices.below(2)));
  Budget budget({}, nullptr, 0);
  places.set_types(types);
  TokenPlaces::Place place = places.relaxed_start();
  int node = 0;
  for (unsigned step = 0; step < 5; ++step) {
    CHECK_EQUAL(places.accepting(place), one.graph.accepts(node));
    std::map<std::pair<TokenPlaces::Place, std::uint8_t>, std::uint32_t> least;
    std::vector<std::uint32_t> onward;
    for (std::uint32_t token = 0; token < one.tokens.width; ++token) {
      const TokenPlaces::Place target = places.after(place, token, budget);
      CHECK_EQUAL(target != TokenPlaces::kNone, one.graph.step(node, token).has_value());
      if (target == TokenPlaces::kNone) continue;
      onward.push_back(token);
      least.try_emplace({target, types[token]}, token);
    }
    const TokenPlaces::Row& row = places.row(place, budget);
    CHECK(row.is_whole);
    CHECK_EQUAL(row.edges.size(), least.size());
    for (const auto& [target, token, type] : row.edges) CHECK_EQUAL(least.at({target, type}), token);
    if (onward.empty()) return;
    const std::uint32_t token = one.choices.of(onward);
    node = *one.graph.step(node, token);
    place = places.after(place, token, budget);
  }
}

generate::Bounds bounds_of(std::uint64_t seed) {
  generate::Bounds bounds;
  bounds.largest_count = 5;
  bounds.has_operators = seed % 3 == 0;
  bounds.has_controls = seed % 4 == 0;
  bounds.has_edges = seed % 7 == 0;
  return bounds;
}

// So many classes of bytes that the trie of tokens is walked, and what a star takes is taken in runs.
oracle::TreePtr with_many_classes(Choices& choices) {
  std::vector<oracle::TreePtr> pairs;
  for (unsigned byte = 1; byte < 0x7F; ++byte)
    if (byte != '"') pairs.push_back(oracle::text(std::string(2, static_cast<char>(byte))));
  const oracle::TreePtr inside =
      oracle::star(oracle::one_of(choices.one_in(2) ? std::vector<oracle::Range>{{0, '"' - 1}, {'"' + 1, 0x10FFFF}}
                                                    : std::vector<oracle::Range>{{'a', 'z'}, {0x80, 0x7FF}}));
  return oracle::sequence({inside, oracle::text("\""), oracle::choice(pairs)});
}

template <class Task>
void for_random_cases(std::uint64_t count, Task&& task) {
  for (std::uint64_t seed = 1; seed <= test::drawn(count); ++seed) {
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    Choices choices(seed + 470'000);
    try {
      RepairCase one(seed, seed % 5 == 0 ? with_many_classes(choices)
                                         : generate::tree(choices, choices.between(1, 9), bounds_of(seed)));
      task(one);
    } catch (const oracle::TooLarge&) {  // for the oracle
    }
  }
}

TEST(token_repairs_cost_what_the_oracle_says) { for_random_cases(200, check_repairs); }
TEST(rows_have_the_least_token_of_each_target) { for_random_cases(400, check_rows); }

TEST(places_are_kept_between_repairs) {
  Choices choices(3);
  RepairCase one(3, oracle::sequence({oracle::text("a"), oracle::star(oracle::one_of({{'a', 'c'}}))}));
  one.tokens = engine::with_all_bytes({"ab", "bc"});
  const auto kept = one.places();
  const TokenPrices prices{{1}, {1}, {1}};
  const auto steps_of_a_repair = [&] {
    const std::uint64_t before = Budget::steps_of_thread();
    TokenRepairSearch search(kept, {}, {'b', 'x', 'c'}, prices, 100, {}, nullptr);
    while (search.improve() == TokenRepairSearch::Outcome::Better) continue;
    return Budget::steps_of_thread() - before;
  };
  const std::uint64_t first = steps_of_a_repair();
  CHECK(steps_of_a_repair() < first);
}

}  // namespace
