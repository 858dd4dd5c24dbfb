// Best-first search: costs and paths in small random graphs, beside Bellman and Ford's; the order of what is open.

#include <algorithm>
#include <cstdint>
#include <map>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "choices.hpp"
#include "common/best_first.hpp"
#include "common/ids.hpp"
#include "composition/fewest_tokens.hpp"
#include "test.hpp"

namespace {

using namespace tokamata;

struct GraphEdge {
  std::uint32_t from, to, cost;
};

struct Graph {
  std::uint32_t nodes;
  std::vector<GraphEdge> edges;
};

constexpr std::uint32_t kUnreachable = ~std::uint32_t{0};

// Many edges cost nothing or the same, so that ties are met.
Graph random_graph(Choices& choices) {
  Graph graph{choices.between(1, 9), {}};
  for (std::uint32_t count = choices.below(30); count > 0; --count)
    graph.edges.push_back({choices.below(graph.nodes), choices.below(graph.nodes), choices.below(4)});
  return graph;
}

// The judge: costs from node 0, by as many rounds over all edges as there are nodes.
std::vector<std::uint32_t> costs_of(const Graph& graph) {
  std::vector<std::uint32_t> costs(graph.nodes, kUnreachable);
  costs[0] = 0;
  for (std::uint32_t round = 0; round < graph.nodes; ++round)
    for (const GraphEdge& edge : graph.edges)
      if (costs[edge.from] != kUnreachable) costs[edge.to] = std::min(costs[edge.to], costs[edge.from] + edge.cost);
  return costs;
}

template <class Run>
void in_random_graphs(Run&& run) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Choices choices(seed);
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    run(random_graph(choices));
  }
}

TEST(the_cheapest_are_taken_in_the_order_of_their_costs) {
  in_random_graphs([](const Graph& graph) {
    CheapestFirst<std::map<std::uint32_t, std::uint32_t>> open;
    CHECK(open.reach(0, 0));
    CHECK(!open.reach(0, 0));
    std::vector<std::pair<std::uint32_t, std::uint32_t>> taken;
    while (const auto next = open.take()) {
      taken.push_back(*next);
      for (const GraphEdge& edge : graph.edges)
        if (edge.from == next->second) open.reach(edge.to, next->first + edge.cost);
    }
    const std::vector<std::uint32_t> costs = costs_of(graph);
    std::vector<bool> is_taken(graph.nodes, false);
    for (std::size_t i = 0; i < taken.size(); ++i) {
      const auto [cost, node] = taken[i];
      CHECK_EQUAL(cost, costs[node]);
      CHECK(!is_taken[node]);
      is_taken[node] = true;
      // Edges that cost nothing reach nodes of the same cost later, which may have lesser keys.
      if (i > 0) CHECK(taken[i - 1].first <= cost);
    }
    for (std::uint32_t node = 0; node < graph.nodes; ++node) CHECK_EQUAL(is_taken[node], costs[node] != kUnreachable);
  });
}

TEST(equal_costs_are_taken_in_the_order_of_their_keys) {
  CheapestFirst<std::map<std::uint32_t, std::uint32_t>> open;
  for (const std::uint32_t key : {5u, 2u, 9u, 4u}) open.reach(key, 7);
  open.reach(8, 3);
  CHECK(open.reach(9, 6));
  CHECK(!open.reach(9, 6));
  std::vector<std::uint32_t> keys;
  while (const auto next = open.take()) keys.push_back(next->second);
  CHECK((keys == std::vector<std::uint32_t>{8, 9, 2, 4, 5}));
}

// With an estimate that is never too high and falls by no more than an edge costs, the first path to a node that is
// opened costs least, and what a first arrival knows is a path.
TEST(first_arrivals_are_paths) {
  in_random_graphs([](const Graph& graph) {
    Arrivals<StateId, std::size_t> arrivals(StateId{0});
    Frontier<Estimated<StateId>> open;
    open.add({0, 0, {0}});
    while (!open.empty()) {
      const auto [estimate, length, node] = open.take();
      for (std::size_t edge = 0; edge < graph.edges.size(); ++edge)
        if (graph.edges[edge].from == node.value && arrivals.reach(node, edge, {graph.edges[edge].to}))
          open.add({length + 1, length + 1, {graph.edges[edge].to}});
    }
    Graph equal = graph;  // in which every edge costs 1
    for (GraphEdge& edge : equal.edges) edge.cost = 1;
    const std::vector<std::uint32_t> lengths = costs_of(equal);
    for (std::uint32_t node = 0; node < graph.nodes; ++node) {
      CHECK_EQUAL(arrivals.steps().contains({node}), lengths[node] != kUnreachable);
      if (lengths[node] == kUnreachable) continue;
      StateId at{0};
      const auto path = arrivals.path_to({node});
      for (const auto& [from, edge, to] : path) {
        CHECK(from == at);
        CHECK_EQUAL(graph.edges[edge].from, from.value);
        CHECK_EQUAL(graph.edges[edge].to, to.value);
        at = to;
      }
      CHECK(at == StateId{node});
      CHECK_EQUAL(path.size(), lengths[node]);
    }
  });
}

TEST(the_least_estimate_comes_first_and_of_equals_the_greatest_rank) {
  Frontier<Estimated<char>> open;
  for (const auto& [estimate, rank, item] :
       std::vector<Estimated<char>>{{4, 1, 'd'}, {2, 0, 'c'}, {2, 7, 'a'}, {9, 9, 'f'}, {2, 3, 'b'}, {4, 0, 'e'}})
    open.add({estimate, rank, item});
  CHECK_EQUAL(open.first().item, 'a');
  std::string taken;
  while (!open.empty()) taken.push_back(open.take().item);
  CHECK_EQUAL(taken, "abcdef");
}

// Entries that compare equal come in the order in which the standard's queue gives them.
TEST(equal_entries_come_as_in_a_priority_queue) {
  struct Later {
    bool operator()(const Estimated<std::uint32_t>& one, const Estimated<std::uint32_t>& other) const {
      return other < one;
    }
  };
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Choices choices(seed);
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    Frontier<Estimated<std::uint32_t>> open;
    std::priority_queue<Estimated<std::uint32_t>, std::vector<Estimated<std::uint32_t>>, Later> judge;
    for (std::uint32_t item = 0; item < 100; ++item) {
      if (open.empty() || !choices.one_in(3)) {
        const Estimated<std::uint32_t> entry{choices.below(3), choices.below(2), item};
        open.add(entry);
        judge.push(entry);
        continue;
      }
      CHECK_EQUAL(open.first().item, judge.top().item);
      CHECK_EQUAL(open.take().item, judge.top().item);
      judge.pop();
      CHECK_EQUAL(open.empty(), judge.empty());
    }
  }
}

// What the search for the fewest tokens is told of a graph in which every edge is a token: bounds that hold.
struct BoundedGraph {
  const Graph& graph;
  const std::vector<std::uint32_t>& left;  // edges to the end
  Choices& choices;
  std::map<std::uint32_t, TokenCount> told = {};
  std::size_t expanded = 0;

  TokenCount known(std::uint32_t node) {
    if (left[node] == kUnreachable) return kNoTokens;
    return told.try_emplace(node, choices.one_in(3) ? kNoTokens : left[node] + choices.below(3)).first->second;
  }
  TokenCount at_least(std::uint32_t node) const { return left[node] == kUnreachable ? 1 : left[node] / 2; }
  TokenCount estimate(std::uint32_t, TokenCount) const { return kNoTokens; }
  bool has_room() const { return true; }
  template <class Offer>
  void expand(std::uint32_t node, Offer&& offer) {
    ++expanded;
    for (std::uint32_t edge = 0; edge < graph.edges.size(); ++edge)
      if (graph.edges[edge].from == node) offer(TokenId{edge}, graph.edges[edge].to);
  }
};

// As long as there is room, the fewest are found where some number is known of an end; and the path is one of the graph.
TEST(the_fewest_tokens_are_found) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Choices choices(seed);
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    const Graph graph = random_graph(choices);
    const std::uint32_t end = graph.nodes - 1;
    Graph back{graph.nodes, {}};  // from the end, which is node 0 there
    const auto renamed = [&](std::uint32_t node) { return node == end ? 0 : node == 0 ? end : node; };
    for (const GraphEdge& edge : graph.edges) back.edges.push_back({renamed(edge.to), renamed(edge.from), 1});
    const std::vector<std::uint32_t> from_end = costs_of(back);
    std::vector<std::uint32_t> left(graph.nodes);
    for (std::uint32_t node = 0; node < graph.nodes; ++node) left[node] = from_end[renamed(node)];
    BoundedGraph bounds{graph, left, choices};
    bounds.told.emplace(end, 0);
    const auto found = FewestTokens<std::uint32_t>(0, bounds.known(0)).run(bounds);
    if (left[0] == kUnreachable) {
      CHECK_EQUAL(found.tokens, kNoTokens);
      continue;
    }
    CHECK_EQUAL(found.tokens, left[0]);
    std::uint32_t at = 0;
    for (std::size_t i = 0; i < found.path.size(); ++i) {
      const auto& [token, target, tokens] = found.path[i];
      CHECK_EQUAL(graph.edges[token.value].from, at);
      CHECK_EQUAL(graph.edges[token.value].to, target);
      CHECK_EQUAL(tokens, found.tokens - i);
      at = target;
    }
    CHECK_EQUAL(bounds.known(at), found.tokens - found.path.size());
    BoundedGraph again{graph, left, choices, bounds.told};
    const auto enough = FewestTokens<std::uint32_t>(0, again.known(0), kNoTokens - 1).run(again);
    CHECK(enough.tokens >= left[0]);
    if (bounds.told.at(0) != kNoTokens) CHECK_EQUAL(again.expanded, 0u);
  }
}

TEST(a_cost_is_lowered_by_less_alone) {
  std::map<int, int> costs;
  CHECK(lowers(costs, 1, 5));
  CHECK(!lowers(costs, 1, 5));
  CHECK(!lowers(costs, 1, 6));
  CHECK_EQUAL(costs.at(1), 5);
  CHECK(lowers(costs, 1, 4));
  CHECK_EQUAL(costs.at(1), 4);
}

}  // namespace
