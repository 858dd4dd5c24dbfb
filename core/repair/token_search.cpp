#include "repair/token_search.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <queue>
#include <utility>

#include "common/hash.hpp"
#include "common/memory_account.hpp"
#include "common/number_table.hpp"
#include "repair/open_nodes.hpp"
#include "repair/path_cost.hpp"

namespace tokamata {

namespace {

class TokenSearch {
 public:
  TokenSearch(const TokenEdges& automaton, std::span<const std::uint32_t> tokens, const TokenPrices& prices)
      : automaton_(automaton), tokens_(tokens), prices_(prices) {}

  // Until there is no cheaper path, or the budget is spent.
  void run(Budget& budget) {
    if (nodes_.empty()) relax(kNoNode, 0, 0, {}, {EditKind::Keep, 0}, budget);
    while (!queue_.empty()) {
      const Entry entry = queue_.top();
      if (end_ && entry.key > nodes_[*end_].reached) break;
      budget.step();
      bound_ = std::max(bound_, entry.key.cost);
      queue_.pop();
      if (nodes_[entry.node].done != entry.step) continue;  // it has come before, at a lower cost
      ++expansions_;
      nodes_[entry.node].done = entry.step + 1;
      entry.step == kFirst ? expand_first(entry.node, budget) : expand_writings(entry.node, budget);
    }
    if (!end_) return;
    bound_ = nodes_[*end_].reached.cost;
    choose_among_equals(budget);
  }

  NearestTokens answer() const {
    NearestTokens made;
    made.steps = steps_to(end_ ? *end_ : nearest_);
    const Node& last = nodes_[end_ ? *end_ : nearest_];
    for (std::size_t position = last.position; position < tokens_.size(); ++position) made.steps.push_back({EditKind::Remove, 0});
    for (std::uint32_t state = last.state; automaton_.least(state) > 0;) {
      const auto edges = automaton_.edges(state);
      const auto next = std::ranges::find_if(edges, [&](const TokenEdges::Edge& edge) { return automaton_.least(edge.target) < automaton_.least(state); });
      made.steps.push_back({EditKind::Insert, next->token});
      state = next->target;
    }
    made.cost = cost_with_end(last);
    made.lower_bound = std::min(bound_, made.cost);
    made.expansions = expansions_;
    return made;
  }

 private:
  using NodeNumber = std::uint32_t;
  static constexpr NodeNumber kNoNode = ~NodeNumber{0};
  static constexpr std::uint8_t kFirst = 0, kWritings = 1;

  struct Node {
    std::uint32_t position, state;
    PathCost reached;
    NodeNumber from;
    EditStep step;          // from there
    std::uint8_t done = 0;  // how many of the two steps
    bool is_cheapest = false;  // an end follows at the cost of the best path
    bool is_taken = false;     // on such a path that writes the first ids
  };
  struct Entry {
    PathCost key;  // no path through these edges costs less
    NodeNumber node;
    std::uint8_t step;
    bool operator<(const Entry& other) const {  // the best on top
      if (key != other.key) return key > other.key;
      return node != other.node ? node < other.node : step < other.step;
    }
  };

  bool is_end(const Node& node) const { return node.position == tokens_.size() && automaton_.accepting(node.state); }

  PathCost price(EditKind kind) const {
    switch (kind) {
      case EditKind::Keep: return {0, 0, 1};
      case EditKind::Remove: return {prices_.remove, 1, 0};
      case EditKind::Insert: return {prices_.insert, 0, 1};
      default: return {prices_.replace, 1, 1};
    }
  }

  // Where the edges of a node lead: visit(position, state, step).
  template <class Visit>
  void visit_first(const Node node, Visit&& visit) const {
    if (node.position == tokens_.size()) return;
    const std::uint32_t token = tokens_[node.position];
    if (const auto target = automaton_.target(node.state, token)) visit(node.position + 1, *target, EditStep{EditKind::Keep, token});
    visit(node.position + 1, node.state, EditStep{EditKind::Remove, 0});
  }
  template <class Visit>
  void visit_writings(const Node node, Visit&& visit) const {
    const bool is_within = node.position < tokens_.size() && prices_.replace != kNoEdit;
    for (const auto& [target, token] : automaton_.edges(node.state)) {
      visit(node.position, target, EditStep{EditKind::Insert, token});
      if (is_within && token != tokens_[node.position]) visit(node.position + 1, target, EditStep{EditKind::Replace, token});
    }
  }

  void expand_first(NodeNumber number, Budget& budget) {
    const Node node = nodes_[number];
    if (is_end(node) && (!end_ || node.reached < nodes_[*end_].reached)) end_ = number;
    visit_first(node, [&](std::uint32_t position, std::uint32_t state, EditStep step) {
      relax(number, position, state, node.reached + price(step.kind), step, budget);
    });
    const std::uint64_t least = node.reached.cost + std::min(prices_.insert, prices_.replace);
    push({{std::max(node.reached.cost + estimate(node.position, node.state), least), node.reached.lost, node.reached.written}, number, kWritings});
  }
  void expand_writings(NodeNumber number, Budget& budget) {
    const Node node = nodes_[number];
    visit_writings(node, [&](std::uint32_t position, std::uint32_t state, EditStep step) {
      relax(number, position, state, node.reached + price(step.kind), step, budget);
    });
  }

  std::uint64_t estimate(std::uint32_t position, std::uint32_t state) const {
    const std::uint64_t left = tokens_.size() - position, least = automaton_.least(state), most = automaton_.most(state);
    if (least > left) return (least - left) * prices_.insert;
    return most != TokenEdges::kEndless && left > most ? (left - most) * prices_.remove : 0;
  }
  std::uint64_t cost_with_end(const Node& node) const {
    const std::uint64_t left = tokens_.size() - node.position;
    return node.reached.cost + left * prices_.remove + std::uint64_t{automaton_.least(node.state)} * prices_.insert;
  }

  std::optional<NodeNumber> find(std::uint32_t position, std::uint32_t state) const {
    return index_.find(hash(position, state), [&](NodeNumber number) { return nodes_[number].position == position && nodes_[number].state == state; });
  }
  static std::uint64_t hash(std::uint32_t position, std::uint32_t state) { return mix(mix(0, position), state); }

  // The step is counted last, so that there is a node for an answer.
  void relax(NodeNumber from, std::uint32_t position, std::uint32_t state, PathCost reached, EditStep step, Budget& budget) {
    NodeNumber number;
    if (const auto known = find(position, state)) {
      number = *known;
      if (reached >= nodes_[number].reached) return;
      nodes_[number].reached = reached;
      nodes_[number].from = from;
      nodes_[number].step = step;
    } else {
      number = static_cast<NodeNumber>(nodes_.size());
      index_.reserve(1);
      nodes_.push_back({position, state, reached, from, step});
      index_.add(number, hash(position, state));
    }
    if (number == 0 || cost_with_end(nodes_[number]) < cost_with_end(nodes_[nearest_])) nearest_ = number;
    push({{reached.cost + estimate(position, state), reached.lost, reached.written}, number, kFirst});
    budget.step();
  }
  void push(const Entry& entry) {
    queue_.reserve_one();
    queue_.push(entry);
  }

  // Of the cheapest paths, the one that writes the first ids.
  void choose_among_equals(Budget& budget) {
    mark_cheapest(budget);
    std::vector<NodeNumber> now{0}, next;
    while (true) {
      for (std::size_t at = 0; at < now.size(); ++at) {  // the list grows by removals, which write nothing
        if (is_end(nodes_[now[at]])) {
          end_ = now[at];
          return;
        }
        visit_cheapest(now[at], budget, [&](NodeNumber target, EditStep step) {
          if (step.kind == EditKind::Remove) take(now, now[at], target, step);
        });
      }
      std::uint32_t least = TokenEdges::kEndless;
      for (const NodeNumber number : now)
        visit_cheapest(number, budget, [&](NodeNumber, EditStep step) {
          if (step.kind != EditKind::Remove) least = std::min(least, step.operand);
        });
      next.clear();
      for (const NodeNumber number : now)
        visit_cheapest(number, budget, [&](NodeNumber target, EditStep step) {
          if (step.kind != EditKind::Remove && step.operand == least) take(next, number, target, step);
        });
      now.swap(next);
    }
  }
  // The first that leads to a node decides by which edits it is reached.
  void take(std::vector<NodeNumber>& list, NodeNumber from, NodeNumber target, EditStep step) {
    if (std::exchange(nodes_[target].is_taken, true)) return;
    nodes_[target].from = from;
    nodes_[target].step = step;
    list.push_back(target);
  }

  template <class Visit>
  void visit_cheapest(NodeNumber number, Budget& budget, Visit&& visit) {
    visit_tight(number, budget, [&](NodeNumber target, EditStep step) {
      if (nodes_[target].is_cheapest) visit(target, step);
    });
  }
  // Edges of a node that are on a cheapest path to where they lead.
  template <class Visit>
  void visit_tight(NodeNumber number, Budget& budget, Visit&& visit) {
    const Node node = nodes_[number];
    const auto tight = [&](std::uint32_t position, std::uint32_t state, EditStep step) {
      budget.step();
      const auto target = find(position, state);
      if (target && nodes_[*target].reached == node.reached + price(step.kind)) visit(*target, step);
    };
    if (node.done > kFirst) visit_first(node, tight);
    if (node.done > kWritings) visit_writings(node, tight);
  }

  // Every edge raises one of the three parts of a cost, so that the latest nodes come first.
  void mark_cheapest(Budget& budget) {
    const PathCost best = nodes_[*end_].reached;
    std::vector<NodeNumber> order;
    for (NodeNumber number = 0; number < nodes_.size(); ++number)
      if (nodes_[number].done > kFirst && nodes_[number].reached <= best) order.push_back(number);
    std::ranges::sort(order, [&](NodeNumber one, NodeNumber other) { return nodes_[one].reached > nodes_[other].reached; });
    for (const NodeNumber number : order) {
      Node& node = nodes_[number];
      node.is_cheapest = is_end(node) && node.reached == best;
      if (!node.is_cheapest) visit_cheapest(number, budget, [&](NodeNumber, EditStep) { nodes_[number].is_cheapest = true; });
    }
  }

  std::vector<EditStep> steps_to(NodeNumber number) const {
    std::vector<EditStep> steps;
    for (; nodes_[number].from != kNoNode; number = nodes_[number].from) steps.push_back(nodes_[number].step);
    std::ranges::reverse(steps);
    return steps;
  }

  const TokenEdges& automaton_;
  std::span<const std::uint32_t> tokens_;
  TokenPrices prices_;
  counted::vector<Node> nodes_;
  NumberTable index_;
  OpenNodes<Entry> queue_;
  std::optional<NodeNumber> end_;
  NodeNumber nearest_ = 0;  // whose removal of the rest and shortest end cost least
  std::uint64_t bound_ = 0, expansions_ = 0;
};

}  // namespace

NearestTokens nearest_tokens(const TokenEdges& automaton, std::span<const std::uint32_t> tokens, const TokenPrices& prices,
                             const Limits& limits, std::shared_ptr<const CancelToken> cancel) {
  MemoryAccount account;
  const Charge charge(account);
  Budget budget(limits, std::move(cancel), 0);
  TokenSearch search(automaton, tokens, prices);
  try {
    search.run(budget);
  } catch (const LimitExceeded&) {  // the answer is what there is
  }
  return search.answer();
}

std::uint64_t least_cost(const TokenEdges& automaton, std::span<const std::uint32_t> tokens, const TokenPrices& prices, Budget& budget) {
  constexpr std::uint64_t kNever = ~std::uint64_t{0};
  using Open = std::pair<std::uint64_t, std::uint32_t>;
  std::vector<std::uint64_t> now(automaton.state_count(), kNever), next;
  const auto lower = [](std::vector<std::uint64_t>& costs, std::uint32_t state, std::uint64_t cost) {
    const bool is_less = cost < costs[state];
    if (is_less) costs[state] = cost;
    return is_less;
  };
  // Insertions at one position, the cheapest states first.
  const auto insert = [&] {
    std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
    for (std::uint32_t state = 0; state < now.size(); ++state)
      if (now[state] != kNever) open.emplace(now[state], state);
    while (!open.empty()) {
      const auto [cost, state] = open.top();
      open.pop();
      if (cost > now[state]) continue;
      for (const TokenEdges::Edge& edge : automaton.edges(state)) {
        budget.step();
        if (lower(now, edge.target, cost + prices.insert)) open.emplace(cost + prices.insert, edge.target);
      }
    }
  };
  now[0] = 0;
  insert();
  for (const std::uint32_t token : tokens) {
    next.assign(now.size(), kNever);
    for (std::uint32_t state = 0; state < now.size(); ++state) {
      budget.step();
      if (now[state] == kNever) continue;
      lower(next, state, now[state] + prices.remove);
      if (const auto target = automaton.target(state, token)) lower(next, *target, now[state]);
      if (prices.replace == kNoEdit) continue;
      for (const TokenEdges::Edge& edge : automaton.edges(state)) lower(next, edge.target, now[state] + prices.replace);
    }
    now.swap(next);
    insert();
  }
  std::uint64_t least = kNever;
  for (std::uint32_t state = 0; state < now.size(); ++state)
    if (automaton.accepting(state)) least = std::min(least, now[state]);
  return least;
}

}  // namespace tokamata
