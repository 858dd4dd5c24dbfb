// Best-first search: which node is opened next, what the cheapest path to each node costs, and the path back.
//
// Problem.  A text that completes a state, the fewest tokens to its end, the shortest value of a set: each is a shortest
// path in a graph whose nodes are made while they are searched.
// How.  The *frontier* holds nodes that were reached and are not opened yet.  The least estimate of a whole path comes
// first: the cost so far (Dijkstra), or the sum of it and a bound on what is left (A*).  A node that is reached again
// at a lower cost is added again, and its older entry is skipped when its turn comes.
// Example.  Edges  s-1-a  s-4-b  a-2-b  b-1-t.  Taken are s at 0, a at 1, b at 3 and t at 4; the entry of b at 4 is
// stale.  The way back from t leads over b and a.
// Ties.  What comes first decides which of several texts is found, and so what a mask within a budget allows.  An entry
// is therefore ordered by all that decides.  Entries that still compare equal come in an order that depends only on the
// calls before (std::push_heap, std::pop_heap).
// Source.  Dijkstra, 1959; Hart, Nilsson and Raphael, 1968.  Cost.  O(log n) for each entry.
// Rejected.  Heaps that lower a key in place: they must know where each node stands, and most nodes are reached once.
// One loop with the graph as its parameter: the searches differ in when they end, in what they open again and in what
// they note of failures, so that each would hand over as many functions as its loop has lines.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tokamata {

// Entries in the order of their `<`, the least first.
template <class Entry, class List = std::vector<Entry>>
class Frontier {
 public:
  bool empty() const { return entries_.empty(); }
  const Entry& first() const { return entries_.front(); }
  void add(Entry entry) {
    entries_.push_back(std::move(entry));
    std::push_heap(entries_.begin(), entries_.end(), is_after);
  }
  Entry take() {
    std::pop_heap(entries_.begin(), entries_.end(), is_after);
    Entry first = std::move(entries_.back());
    entries_.pop_back();
    return first;
  }
  void clear() { entries_.clear(); }

 private:
  static bool is_after(const Entry& one, const Entry& other) { return other < one; }
  List entries_;  // a heap
};

// The least estimate comes first; of equals the greatest rank: the length so far, so that the one that is nearest to an
// end is opened, or a number that makes the latest entry come first.
template <class Item>
struct Estimated {
  std::uint64_t estimate, rank;
  Item item;

  friend bool operator<(const Estimated& one, const Estimated& other) {
    return one.estimate != other.estimate ? one.estimate < other.estimate : one.rank > other.rank;
  }
};

// Whether a cost is below what the map has for the key, which it then has.
template <class Costs, class Key, class Cost>
bool lowers(Costs& costs, const Key& key, const Cost& cost) {
  const auto [known, is_new] = costs.try_emplace(key, cost);
  if (!is_new && !(cost < known->second)) return false;
  known->second = cost;
  return true;
}

// Dijkstra's algorithm over the keys of a map of costs.  Of equal costs the least key comes first.
template <class Costs, class List = std::vector<std::pair<typename Costs::mapped_type, typename Costs::key_type>>>
class CheapestFirst {
 public:
  using Cost = typename Costs::mapped_type;
  using Key = typename Costs::key_type;

  // Whether no path is known that costs as little.
  bool reach(const Key& key, Cost cost) {
    if (!lowers(costs_, key, cost)) return false;
    open_.add({cost, key});
    return true;
  }
  // The cheapest that was reached and not taken since.
  std::optional<std::pair<Cost, Key>> take() {
    while (!open_.empty()) {
      std::pair<Cost, Key> entry = open_.take();
      if (costs_.find(entry.second)->second == entry.first) return entry;
    }
    return std::nullopt;
  }
  const Costs& costs() const& { return costs_; }
  Costs costs() && { return std::move(costs_); }

 private:
  Costs costs_;
  Frontier<std::pair<Cost, Key>, List> open_;
};

// How a search came first to each node.
template <class Node, class Edge>
class Arrivals {
 public:
  struct Step {
    Node from;
    Edge edge;
    Node to;
  };

  explicit Arrivals(Node start) : start_(start), steps_{{start, Step{start, {}, start}}} {}

  // Whether the search was not there before.
  bool reach(Node from, Edge edge, Node to) { return steps_.try_emplace(to, Step{from, edge, to}).second; }
  // From the start to a node that was reached.
  std::vector<Step> path_to(Node node) const {
    std::vector<Step> path;
    for (; node != start_; node = path.back().from) path.push_back(steps_.at(node));
    std::ranges::reverse(path);
    return path;
  }
  // The last step to each node; that to the start leads from it.
  const std::unordered_map<Node, Step>& steps() const { return steps_; }

 private:
  Node start_;
  std::unordered_map<Node, Step> steps_;
};

}  // namespace tokamata
