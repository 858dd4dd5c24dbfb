// Repairs of random texts by random patterns, against a table of all positions and states.

#include <map>
#include <set>

#include "amounts.hpp"
#include "choices.hpp"
#include "engine.hpp"
#include "generate.hpp"
#include "repair/certificate.hpp"
#include "repair/search.hpp"
#include "test.hpp"

namespace {

using namespace tokamata;

ExpressionPtr random_pattern(Choices& choices) {
  generate::Bounds bounds;
  bounds.has_operators = choices.one_in(3);
  return engine::expression_of(generate::tree(choices, choices.between(2, 7), bounds));
}

// Of one mode, or of up to three that bytes lead between.
EditMachine random_machine(Choices& choices) {
  EditMachine machine;
  const std::uint32_t modes = choices.one_in(2) ? 1 : 2 + choices.below(2);
  for (std::uint32_t mode = 0; mode < modes; ++mode) {
    ModeCosts all{};
    for (ByteCosts* costs : {&all.prepend, &all.insert, &all.append, &all.remove, &all.replace}) {
      const auto price = static_cast<EditCost>(choices.between(1, 4));
      for (EditCost& cost : *costs) cost = price + static_cast<EditCost>(choices.below(3));
    }
    if (choices.one_in(3)) all.replace.fill(kNoEdit);
    if (modes > 1)
      for (EditCost& cost : all.keep) cost = choices.one_in(4) ? choices.one_in(3) ? kNoEdit : choices.below(3) : 0;
    machine.costs.push_back(all);
    for (EditMachine::Next* const next : {&machine.after, &machine.inserted}) {
      next->emplace_back();
      for (Mode& after : next->back()) after = static_cast<Mode>(choices.one_in(3) ? choices.below(modes) : mode);
    }
  }
  return machine;
}

EditModel random_model(Choices& choices, std::size_t length) {
  EditModel model;
  model.machine = std::make_shared<const EditMachine>(random_machine(choices));
  const std::size_t modes = model.machine->costs.size();
  for (std::uint32_t count = choices.below(4); count > 0; --count) {
    const auto begin = static_cast<std::uint32_t>(choices.below(static_cast<std::uint32_t>(length + 1)));
    const auto end = static_cast<std::uint32_t>(begin + choices.below(static_cast<std::uint32_t>(length + 1 - begin)));
    model.rewrites.push_back({begin, end, std::string(choices.below(3), 'a'), static_cast<EditCost>(choices.below(4))});
    if (choices.one_in(2)) model.rewrites.back().within = static_cast<ModeSet>(choices.below(1 << modes));
    if (choices.one_in(3)) model.rewrites.back().then = static_cast<Mode>(choices.below(static_cast<std::uint32_t>(modes)));
  }
  if (choices.one_in(2)) {
    model.doubts.resize(modes);
    for (std::vector<EditCost>& doubts : model.doubts)
      if (choices.one_in(2))
        for (std::size_t at = 0; at < length; ++at) doubts.push_back(static_cast<EditCost>(choices.one_in(3) ? choices.below(4) : 0));
  }
  if (choices.one_in(2))
    for (std::size_t at = 0; at < length; ++at) model.firm.push_back(static_cast<EditCost>(choices.one_in(2) ? choices.below(5) : 0));
  return *shared_model(std::move(model));
}

std::string random_bytes(Choices& choices) {
  std::string text;
  for (std::uint32_t count = choices.below(6); count > 0; --count)
    text.push_back(static_cast<char>(choices.one_in(4) ? choices.below(256) : 'a' + choices.below(3)));
  return text;
}

// Dijkstra over all positions, modes and states, every byte an edge: Wagner's correction.
std::optional<std::uint64_t> judged(const Expression& pattern, const std::string& text, const EditModel& model) {
  ByteAutomaton automaton(pattern, {}, ByteSet::range(0, 0xFF), 1, {}, nullptr);
  Budget budget({}, nullptr, 0);
  const EditMachine& machine = *model.machine;
  using Place = std::tuple<std::size_t, Mode, std::uint32_t>;
  std::set<std::pair<std::uint64_t, Place>> open{{0, {0, kStartMode, automaton.start().value}}};
  std::map<Place, std::uint64_t> done;
  while (!open.empty()) {
    const auto [cost, place] = *open.begin();
    open.erase(open.begin());
    const auto [position, mode, number] = place;
    const ModeCosts& costs = model.costs(mode);
    const StateId state{number};
    if (state == ByteAutomaton::kDead || !done.emplace(place, cost).second) continue;
    if (position == text.size() && automaton.accepting(state)) return cost;
    const auto add = [&](std::size_t to, Mode then, StateId target, std::uint64_t price) { open.insert({cost + price, {to, then, target.value}}); };
    const ByteCosts& inserting = costs.inserting(position, text.size());
    const EditCost firm = model.firmness(position);
    for (unsigned value = 0; value < 256; ++value) {
      const auto byte = static_cast<std::uint8_t>(value);
      const StateId target = automaton.next(state, byte, budget);
      const Mode then = machine.inserted[mode][byte];
      if (inserting[value] != kNoEdit) add(position, then, target, std::uint64_t{inserting[value]} + firm);
      if (position == text.size()) continue;
      if (static_cast<std::uint8_t>(text[position]) == byte && costs.keep[byte] != kNoEdit) {
        const bool is_doubtful = !model.doubts.empty() && !model.doubts[mode].empty();
        add(position + 1, machine.after[mode][byte], target, std::uint64_t{costs.keep[byte]} + (is_doubtful ? model.doubts[mode][position] : 0));
      }
      if (costs.replace[value] != kNoEdit) add(position + 1, then, target, std::uint64_t{costs.replace[value]} + firm);
    }
    if (position < text.size()) add(position + 1, mode, state, std::uint64_t{costs.remove[static_cast<std::uint8_t>(text[position])]} + firm);
    for (const Rewrite& rewrite : model.rewrites) {
      if (rewrite.begin != position || (rewrite.within >> mode & 1) == 0) continue;
      StateId target = state;
      Mode then = mode;
      for (const char letter : rewrite.written) {
        const auto byte = static_cast<std::uint8_t>(letter);
        target = automaton.next(target, byte, budget);
        then = machine.after[then][byte];
      }
      add(rewrite.end, rewrite.then == Rewrite::kByWritten ? then : rewrite.then, target, rewrite.cost);
    }
  }
  return std::nullopt;
}

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
            CHECK(here <= estimate(position + 1, automaton, state).cost + costs.remove[static_cast<std::uint8_t>(text[position])]);
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
      CHECK_THROWS(EmptyLanguage, RepairSearch(std::make_shared<KeptAutomata>(pattern), text, shared_model(model), 100, {}, nullptr));
      continue;
    }
    RepairSearch search(std::make_shared<KeptAutomata>(pattern), text, shared_model(model), 100 + 100 * choices.below(3), {}, nullptr);
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
    const auto found = [&](const std::shared_ptr<KeptAutomata>& automata, const std::string& text, const EditModel& model) {
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
        CHECK(refused_at(kept, text, limits, nullptr) == refused_at(std::make_shared<KeptAutomata>(pattern), text, limits, nullptr));
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
    for (const auto& [from, to, step, cost] : graph.edges) {
      if (reached[from] + cost < reached[to]) reached[to] = reached[from] + cost, changes = true;
      if (left[to] + cost < left[from]) left[from] = left[to] + cost, changes = true;
    }
  }
  for (const auto& [from, to, step, cost] : graph.edges) {
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
      const RepairGraph graph = search.graph(*expected + more, true, {});
      CHECK(least_within(graph, *expected + more) == expected);
      CHECK(graph.edges.size() >= edges);
      edges = graph.edges.size();
    }
    if (*expected > 0) {
      const RepairGraph below = search.graph(*expected - 1, true, {});
      CHECK(below.positions.empty() && below.ends.empty() && below.edges.empty() && !below.is_whole);
    }
    ++judged_ones;
  }
  CHECK(judged_ones > 30);
}

}  // namespace
