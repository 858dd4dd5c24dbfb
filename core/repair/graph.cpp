#include "repair/graph.hpp"

#include <algorithm>
#include <limits>

#include "common/best_first.hpp"

namespace tokamata {

namespace {

class GraphMaker {
 public:
  GraphMaker(ByteAutomaton& automaton, const Edits& edits, const Estimate& estimate, std::uint64_t bound,
             std::string_view bytes, Budget& budget)
      : automaton_(automaton), edits_(edits), estimate_(estimate), bound_(bound), bytes_(bytes), budget_(budget) {}

  RepairGraph graph(StateId start) {
    forwards(start, std::numeric_limits<std::size_t>::max());
    return within(backwards());
  }

  Guide guide(StateId start, std::size_t most) {
    forwards(start, most);
    const counted::vector<std::uint64_t> left = backwards();
    Guide guide(open_.empty() ? bound_ + 1 : open_.first().first);
    for (NodeNumber number = 0; number < nodes_.size(); ++number)
      if (const Node& node = nodes_[number]; node.is_settled) guide.add({node.at, node.reached, left[number]});
    return guide;
  }

 private:
  using NodeNumber = std::uint32_t;
  static constexpr NodeNumber kNoNode = ~NodeNumber{0};
  struct Node {
    EditState at;
    std::uint64_t reached;
    bool is_settled = false;
    NodeNumber inserted_from = kNoNode, replaced_from = kNoNode;  // the last node with such an edge to this one
  };
  using Open = std::pair<std::uint64_t, NodeNumber>;  // cost, and node
  using Queue = Frontier<Open, counted::vector<Open>>;
  static constexpr std::uint64_t kUnreached = ~std::uint64_t{0};

  GraphBytes bytes_at(std::uint32_t position) const {
    return position < bytes_.size() ? static_cast<GraphBytes>(bytes_[position]) : GraphBytes::Cheapest;
  }

  // Dijkstra's algorithm from the start.
  void forwards(StateId start, std::size_t most) {
    lead(kNoNode, {0, kStartMode, start}, {EditKind::Keep, 0}, 0, 0);
    for (std::size_t settled = 0; !open_.empty() && settled < most;) {
      const auto [cost, number] = open_.take();
      budget_.step();
      if (cost != nodes_[number].reached || nodes_[number].is_settled) continue;
      settle(number);
      ++settled;
    }
  }

  // An edge, and the node that it leads to; nothing where it is above the bound.
  void lead(NodeNumber from, const EditState& at, EditStep step, std::uint64_t reached, std::uint64_t cost,
            std::uint32_t bytes = RepairGraph::kOneByte) {
    if (at.state == ByteAutomaton::kDead) return;
    reached += cost;
    if (reached + estimate_(at.position, automaton_, at.state).cost > bound_) {
      is_whole_ = false;
      return;
    }
    const auto known = nodes_.find(at);
    const NodeNumber number = known ? *known : nodes_.add({at, kUnreached});
    Node& node = nodes_[number];
    if (number == from && bytes_at(at.position) != GraphBytes::AllWithLoops) return;
    if (bytes == RepairGraph::kOneByte) {
      if (step.kind == EditKind::Insert && from != kNoNode && std::exchange(node.inserted_from, from) == from) return;
      if (step.kind == EditKind::Replace && std::exchange(node.replaced_from, from) == from) return;
    }
    if (from != kNoNode) edges_.push_back({from, number, step, cost, bytes});
    if (reached >= node.reached) return;
    node.reached = reached;
    node.is_settled = false;
    open_.add({reached, number});
  }

  void settle(NodeNumber number) {
    nodes_[number].is_settled = true;
    const Node node = nodes_[number];
    const auto [position, mode, state] = node.at;
    // Where keeping the byte leads for nothing; no byte needs to be replaced by one that leads there.
    EditState kept{position + 1, mode, ByteAutomaton::kDead};
    if (position < edits_.length()) {
      const std::uint8_t byte = edits_.byte(position);
      const StateId target = automaton_.next(state, byte, budget_);
      kept.mode = edits_.model().after(mode, byte);
      const std::uint64_t keeping = edits_.keeping(mode, position);
      if (keeping == 0) kept.state = target;
      if (keeping != kNoEdit)
        lead(number, {position + 1, kept.mode, target}, {EditKind::Keep, 0}, node.reached, keeping);
      lead(number, {position + 1, mode, state}, {EditKind::Remove, 0}, node.reached, edits_.removing(mode, position));
    }
    take_rewrites(number, node);
    if (bytes_at(position) == GraphBytes::Cheapest) take_cheapest(number, node, kept);
    else take_every_byte(number, node, kept);
  }

  // Where an insertion or a replacement of a byte leads.
  EditState after(const EditState& at, EditKind kind, std::uint8_t byte) {
    return {at.position + (kind == EditKind::Replace), edits_.model().inserted(at.mode, byte),
            automaton_.next(at.state, byte, budget_)};
  }

  // Insertions and replacements, of each class of bytes the cheapest.
  void take_cheapest(NodeNumber number, const Node& node, const EditState& kept) {
    const ByteSet readable = automaton_.may_read(node.at.state, budget_);
    for (const Writing& writing : edits_.writings(node.at, automaton_)) {
      const std::uint64_t cost = std::uint64_t{writing.cost} + edits_.model().firmness(node.at.position);
      if (node.reached + cost > bound_) {  // the cheapest come first
        is_whole_ = false;
        break;
      }
      if (!readable.contains(writing.byte)) continue;
      budget_.step();
      const EditState target = after(node.at, writing.kind, writing.byte);
      if (writing.kind == EditKind::Replace && target == kept) continue;
      lead(number, target, {writing.kind, writing.byte}, node.reached, cost);
    }
  }

  // Every insertion and replacement: those that lead to one node at one cost are one edge.
  void take_every_byte(NodeNumber number, const Node& node, const EditState& kept) {
    struct Group {
      EditKind kind;
      EditState target;
      std::uint64_t cost;
      ByteSet bytes;
    };
    const auto [position, mode, state] = node.at;
    const ModeCosts& costs = edits_.model().costs(mode);
    const bool is_end = position == edits_.length();
    const ByteCosts& inserted = costs.inserting(position, edits_.length());
    const ByteSet readable = automaton_.may_read(state, budget_);
    counted::vector<Group> groups;
    const auto add = [&](EditKind kind, std::uint8_t byte, EditCost price) {
      if (price == kNoEdit) return;
      const std::uint64_t cost = std::uint64_t{price} + edits_.model().firmness(node.at.position);
      if (node.reached + cost > bound_) {
        is_whole_ = false;
        return;
      }
      budget_.step();
      const EditState target = after(node.at, kind, byte);
      if (target.state == ByteAutomaton::kDead) return;
      if (kind == EditKind::Replace && byte == edits_.byte(node.at.position) && target == kept) return;
      const auto same = std::ranges::find_if(groups, [&](const Group& group) {
        return group.kind == kind && group.target == target && group.cost == cost;
      });
      Group& group = same != groups.end() ? *same : groups.emplace_back(Group{kind, target, cost, {}});
      group.bytes.add(byte);
    };
    for (unsigned byte = readable.next_member(0); byte < 256; byte = readable.next_member(byte + 1)) {
      add(EditKind::Insert, static_cast<std::uint8_t>(byte), inserted[byte]);
      if (!is_end) add(EditKind::Replace, static_cast<std::uint8_t>(byte), costs.replace[byte]);
    }
    for (const Group& group : groups)
      lead(number, group.target, {group.kind, group.bytes.first()}, node.reached, group.cost, number_of(group.bytes));
  }

  std::uint32_t number_of(const ByteSet& bytes) {
    const auto known = number_of_set_.find(bytes);
    if (known != number_of_set_.end()) return known->second;
    const auto number = static_cast<std::uint32_t>(byte_sets_.size());
    byte_sets_.push_back(bytes);
    number_of_set_.emplace(bytes, number);
    return number;
  }

  void take_rewrites(NodeNumber number, const Node& node) {
    const auto [position, mode, start] = node.at;
    for (std::uint32_t index = edits_.first_rewrite(position); index < edits_.last_rewrite(position); ++index) {
      const Rewrite& rewrite = edits_.rewrite(index);
      if (!rewrite.may_be_taken(mode)) continue;
      StateId state = start;
      for (const char written : rewrite.written) {
        if (state == ByteAutomaton::kDead) break;
        state = automaton_.next(state, static_cast<std::uint8_t>(written), budget_);
      }
      lead(number, {rewrite.end, edits_.model().after(mode, rewrite), state}, {EditKind::Rewrite, index}, node.reached,
           rewrite.cost);
    }
  }

  bool is_end(NodeNumber number) const {
    return nodes_[number].at.position == edits_.length() && automaton_.accepting(nodes_[number].at.state);
  }

  // Of each node, the least that leads from it to an end.
  counted::vector<std::uint64_t> backwards() {
    counted::vector<std::uint32_t> first(nodes_.size() + 1);
    for (const RepairGraph::Edge& edge : edges_) ++first[edge.to + 1];
    for (std::size_t at = 1; at < first.size(); ++at) first[at] += first[at - 1];
    counted::vector<std::uint32_t> into(edges_.size()), filled(first.begin(), first.end() - 1);
    for (std::uint32_t edge = 0; edge < edges_.size(); ++edge) into[filled[edges_[edge].to]++] = edge;
    counted::vector<std::uint64_t> left(nodes_.size(), kUnreached);
    Queue open;
    for (NodeNumber number = 0; number < nodes_.size(); ++number)
      if (is_end(number)) open.add({left[number] = 0, number});
    while (!open.empty()) {
      const auto [cost, number] = open.take();
      budget_.step();
      if (cost != left[number]) continue;
      for (std::uint32_t at = first[number]; at < first[number + 1]; ++at) {
        const RepairGraph::Edge& edge = edges_[into[at]];
        if (cost + edge.cost >= left[edge.from]) continue;
        open.add({left[edge.from] = cost + edge.cost, edge.from});
      }
    }
    return left;
  }

  // What lies on a repair within the bound, numbered by position.
  RepairGraph within(const counted::vector<std::uint64_t>& left) const {
    const auto is_within = [&](NodeNumber from, std::uint64_t cost, NodeNumber to) {
      return left[to] != kUnreached && nodes_[from].reached + cost + left[to] <= bound_;
    };
    RepairGraph graph;
    graph.is_whole = is_whole_;
    std::vector<NodeNumber> order;
    for (NodeNumber number = 0; number < nodes_.size(); ++number)
      if (is_within(number, 0, number)) order.push_back(number);
    std::ranges::stable_sort(order, {}, [this](NodeNumber number) { return nodes_[number].at.position; });
    std::vector<std::uint32_t> numbers(nodes_.size(), kNoNode);
    for (const NodeNumber number : order) {
      numbers[number] = static_cast<std::uint32_t>(graph.positions.size());
      if (is_end(number)) graph.ends.push_back(numbers[number]);
      graph.positions.push_back(nodes_[number].at.position);
      graph.modes.push_back(nodes_[number].at.mode);
    }
    for (const auto& [from, to, step, cost, bytes] : edges_)
      if (is_within(from, cost, to)) graph.edges.push_back({numbers[from], numbers[to], step, cost, bytes});
    graph.byte_sets.assign(byte_sets_.begin(), byte_sets_.end());
    return graph;
  }

  ByteAutomaton& automaton_;
  const Edits& edits_;
  const Estimate& estimate_;
  std::uint64_t bound_;
  std::string_view bytes_;
  Budget& budget_;
  NodeTable<Node> nodes_;
  Queue open_;
  counted::vector<RepairGraph::Edge> edges_;
  counted::vector<ByteSet> byte_sets_ = {ByteSet()};
  counted::unordered_map<ByteSet, std::uint32_t, ByteSetHash> number_of_set_;
  bool is_whole_ = true;
};

}  // namespace

RepairGraph graph_within(ByteAutomaton& automaton, const Edits& edits, const Estimate& estimate, StateId start,
                         std::uint64_t bound, std::string_view bytes, Budget& budget) {
  return GraphMaker(automaton, edits, estimate, bound, bytes, budget).graph(start);
}

Guide guide_within(ByteAutomaton& automaton, const Edits& edits, const Estimate& estimate, StateId start,
                   std::uint64_t bound, std::size_t most, Budget& budget) {
  return GraphMaker(automaton, edits, estimate, bound, {}, budget).guide(start, most);
}

}  // namespace tokamata
