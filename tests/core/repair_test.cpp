// Repairs of random texts by random patterns, against a table of all positions and states.

#include <set>

#include "amounts.hpp"
#include "random_repairs.hpp"
#include "repair/certificate.hpp"
#include "repair/search.hpp"
#include "test.hpp"

namespace {

using namespace repairs;

// Each edge of a random product: the estimate falls by no more than the edge costs, and is 0 where a text ends.
TEST(the_estimate_is_consistent) {
  for (std::uint64_t seed = 1; seed <= test::drawn(200); ++seed) {
    Choices choices(seed);
    const ExpressionPtr pattern = random_pattern(choices);
    const std::string text = random_bytes(choices);
    const EditModel model = random_model(choices, text.size());
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    ByteAutomaton automaton(*pattern, {}, ByteSet::range(0, 0xFF), 1, {}, nullptr);
    Budget budget({}, nullptr, 0);
    const Estimate estimate(model, text.size());
    std::vector<StateId> states{automaton.start()};
    std::set<std::uint32_t> known{automaton.start().value};
    for (std::size_t at = 0; at < states.size() && states.size() < 60; ++at) {
      const StateId state = states[at];
      if (automaton.node(state).constrained || state == ByteAutomaton::kDead) continue;
      if (automaton.accepting(state)) CHECK(estimate(text.size(), automaton, state).cost == 0);
      for (const std::uint8_t byte : automaton.byte_classes()) {
        const StateId target = automaton.next(state, byte, budget);
        if (target == ByteAutomaton::kDead || automaton.node(target).constrained) continue;
        if (known.insert(target.value).second) states.push_back(target);
        for (std::size_t position = 0; position <= text.size(); ++position) {
          const std::uint64_t here = estimate(position, automaton, state).cost;
          for (const ModeCosts& costs : model.machine->costs) {
            CHECK(here <= estimate(position, automaton, target).cost + costs.inserting(position, text.size())[byte]);
            if (position == text.size()) continue;
            CHECK(here <= estimate(position + 1, automaton, state).cost +
                              costs.remove[static_cast<std::uint8_t>(text[position])]);
            CHECK(here <= estimate(position + 1, automaton, target).cost);
          }
        }
      }
    }
  }
}

TEST(random_repairs_cost_what_the_judge_says) {
  std::size_t repaired = 0;
  for (std::uint64_t seed = 1; seed <= test::drawn(600); ++seed) {
    Choices choices(seed + 50'000);
    const ExpressionPtr pattern = random_pattern(choices);
    const std::string text = random_bytes(choices);
    const EditModel model = random_model(choices, text.size());
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    Limits limits;
    limits.states = 3000;
    std::optional<std::uint64_t> expected;
    try {
      expected = judged(*pattern, text, model);
    } catch (const LimitExceeded&) {
      continue;
    }
    if (!expected) {
      CHECK_THROWS(EmptyLanguage,
                   RepairSearch(std::make_shared<KeptAutomata>(pattern), text, shared_model(model), 100, {}, nullptr));
      continue;
    }
    RepairSearch search(std::make_shared<KeptAutomata>(pattern), text, shared_model(model),
                        100 + 100 * choices.below(3), {}, nullptr);
    std::uint64_t before = search.best().cost.cost;
    while (search.improve() == RepairSearch::Outcome::Better) {
      CHECK(search.best().cost.cost <= before);
      CHECK(search.lower_bound() <= *expected);
      before = search.best().cost.cost;
    }
    CHECK_EQUAL(search.best().cost.cost, *expected);
    CHECK_EQUAL(search.lower_bound(), *expected);
    RepairSearch::Proof proof = search.proof();
    CHECK_EQUAL(flaw_of_bound(*pattern, text, model, proof, {}, nullptr), std::string());
    ++proof.bound;
    CHECK(!flaw_of_bound(*pattern, text, model, proof, {}, nullptr).empty());
    ++repaired;
  }
  CHECK(repaired > 50);
}

// Several repairs by one pattern, one after another and two at once: each as if it were the first.
TEST(kept_automata_change_no_repair) {
  std::size_t repaired = 0;
  for (std::uint64_t seed = 1; seed <= test::drawn(150); ++seed) {
    Choices choices(seed + 120'000);
    const ExpressionPtr pattern = random_pattern(choices);
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    const auto kept = std::make_shared<KeptAutomata>(pattern);
    Limits limits;
    limits.states = 3000;
    const auto found = [&](const std::shared_ptr<KeptAutomata>& automata, const std::string& text,
                           const EditModel& model) {
      RepairSearch search(automata, text, shared_model(model), 300, limits, nullptr);
      const RepairSearch::Outcome outcome = [&] {
        auto one = search.improve();
        while (one == RepairSearch::Outcome::Better) one = search.improve();
        return one;
      }();
      return std::tuple(search.best().text, search.best().cost, search.expansions(), outcome);
    };
    try {
      for (int number = 0; number < 4; ++number) {
        const std::string text = random_bytes(choices), other = random_bytes(choices);
        const EditModel model = random_model(choices, text.size());
        const auto expected = found(std::make_shared<KeptAutomata>(pattern), text, model);
        if (std::get<3>(expected) == RepairSearch::Outcome::Stopped) continue;
        const RepairSearch beside(kept, other, shared_model(random_model(choices, other.size())), 100, limits, nullptr);
        CHECK(found(kept, text, model) == expected);
        CHECK(!refused_at(kept, std::get<0>(expected), limits, nullptr));
        CHECK(refused_at(kept, text, limits, nullptr) ==
              refused_at(std::make_shared<KeptAutomata>(pattern), text, limits, nullptr));
        ++repaired;
      }
    } catch (const LimitExceeded&) {
    } catch (const EmptyLanguage&) {
    }
  }
  CHECK(repaired > 50);
  CHECK_EQUAL(KeptAutomata::idle_bytes(), std::size_t{0});
}

// The least cost of a path through the graph to an end; each edge is on a path within the bound.
std::optional<std::uint64_t> least_within(const RepairGraph& graph, std::uint64_t bound) {
  constexpr std::uint64_t kFar = ~std::uint64_t{0} / 4;
  std::vector<std::uint64_t> reached(graph.positions.size(), kFar), left(graph.positions.size(), kFar);
  if (graph.positions.empty()) return std::nullopt;
  reached[0] = 0;
  for (const std::uint32_t end : graph.ends) left[end] = 0;
  for (bool changes = true; changes;) {
    changes = false;
    for (const auto& [from, to, step, cost, bytes] : graph.edges) {
      if (reached[from] + cost < reached[to]) reached[to] = reached[from] + cost, changes = true;
      if (left[to] + cost < left[from]) left[from] = left[to] + cost, changes = true;
    }
  }
  for (const auto& [from, to, step, cost, bytes] : graph.edges) {
    CHECK(from != to);
    CHECK(reached[from] + cost + left[to] <= bound);
    CHECK(graph.positions[from] <= graph.positions[to]);
  }
  return left[0];
}

TEST(graphs_of_repairs_hold_the_cheapest_one) {
  std::size_t judged_ones = 0;
  for (std::uint64_t seed = 1; seed <= test::drawn(300); ++seed) {
    Choices choices(seed + 90'000);
    const ExpressionPtr pattern = random_pattern(choices);
    const std::string text = random_bytes(choices);
    const EditModel model = random_model(choices, text.size());
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    Limits limits;
    limits.states = 3000;
    std::optional<std::uint64_t> expected;
    try {
      expected = judged(*pattern, text, model);
    } catch (const LimitExceeded&) {
      continue;
    }
    if (!expected) continue;
    RepairSearch search(std::make_shared<KeptAutomata>(pattern), text, shared_model(model), 100, {}, nullptr);
    std::size_t edges = 0;
    for (const std::uint64_t more : {0, 1, 3}) {
      const RepairGraph graph = search.graph(*expected + more, true, {}, {});
      CHECK(least_within(graph, *expected + more) == expected);
      CHECK(graph.edges.size() >= edges);
      edges = graph.edges.size();
      const RepairGraph every =
          search.graph(*expected + more, true, std::string(text.size() + 1, static_cast<char>(GraphBytes::All)), {});
      CHECK(least_within(every, *expected + more) == expected);
      CHECK_EQUAL(every.positions.size(), graph.positions.size());
      std::set<std::tuple<std::uint32_t, std::uint32_t, EditKind, std::uint32_t>> written;
      for (const RepairGraph::Edge& edge : every.edges) {
        const ByteSet& bytes = every.byte_sets[edge.bytes];
        CHECK(edge.bytes == RepairGraph::kOneByte || bytes.first() == edge.step.operand);
        for (unsigned byte = bytes.next_member(0); byte < 256; byte = bytes.next_member(byte + 1))
          CHECK(written.emplace(edge.from, edge.to, edge.step.kind, byte).second);
      }
    }
    if (*expected > 0) {
      const RepairGraph below = search.graph(*expected - 1, true, {}, {});
      CHECK(below.positions.empty() && below.ends.empty() && below.edges.empty() && !below.is_whole);
    }
    ++judged_ones;
  }
  CHECK(judged_ones > 30);
}

}  // namespace
