#include "repair/graph.hpp"

#include <algorithm>
#include <limits>

#include "common/best_first.hpp"
#include "repair/search.hpp"

namespace tokamata {

class RepairSearch::GraphMaker {
 public:
  // `bytes` has the GraphBytes of each position; past its end they are Cheapest.
  GraphMaker(RepairSearch& search, std::uint64_t bound, std::string_view bytes, Budget& budget)
      : search_(search), bound_(bound), bytes_(bytes), budget_(budget) {}

  RepairGraph made(StateId start) {
    forwards(start, std::numeric_limits<std::size_t>::max());
    return within(backwards());
  }

  // Of so many places, those that are reached at the least costs.
  Guide guide(StateId start, std::size_t most) {
    forwards(start, most);
    const counted::vector<std::uint64_t> left = backwards();
    Guide guide;
    guide.elsewhere = open_.empty() ? bound_ + 1 : open_.first().first;
    for (NodeNumber number = 0; number < places_.size(); ++number) {
      if (!places_[number].is_settled) continue;
      const auto& [position, state, mode] =
          std::tie(places_[number].position, places_[number].state, places_[number].mode);
      guide.index.reserve(1);
      guide.index.add(static_cast<std::uint32_t>(guide.places.size()), hash_of(position, mode, state));
      guide.places.push_back({position, state, mode, places_[number].reached, left[number]});
    }
    return guide;
  }

 private:
  struct Place {
    std::uint32_t position;
    StateId state;
    Mode mode;
    std::uint64_t reached;
    bool is_settled = false;
    NodeNumber inserted_from = kNoNode, replaced_from = kNoNode;  // the last node with such an edge to this one
  };
  using Open = std::pair<std::uint64_t, NodeNumber>;  // cost, and node
  using Queue = Frontier<Open, counted::vector<Open>>;
  static constexpr std::uint64_t kUnreached = ~std::uint64_t{0};

  std::size_t length() const { return search_.text_.size(); }
  GraphBytes bytes_at(std::uint32_t position) const {
    return position < bytes_.size() ? static_cast<GraphBytes>(bytes_[position]) : GraphBytes::Cheapest;
  }

  // Dijkstra's algorithm from the start.
  void forwards(StateId start, std::size_t most) {
    lead(kNoNode, 0, kStartMode, start, {EditKind::Keep, 0}, 0, 0);
    for (std::size_t settled = 0; !open_.empty() && settled < most;) {
      const auto [cost, number] = open_.take();
      budget_.step();
      if (cost != places_[number].reached || places_[number].is_settled) continue;
      settle(number);
      ++settled;
    }
  }

  // An edge, and the place that it leads to; nothing where it is above the bound.
  void lead(NodeNumber from, std::uint32_t position, Mode mode, StateId state, EditStep step, std::uint64_t reached,
            std::uint64_t cost, std::uint32_t bytes = RepairGraph::kOneByte) {
    if (state == ByteAutomaton::kDead) return;
    reached += cost;
    if (reached + search_.estimate_(position, search_.automaton(), state).cost > bound_) {
      is_whole_ = false;
      return;
    }
    const std::uint64_t hash = hash_of(position, mode, state);
    const auto known = index_.find(hash, [&](NodeNumber number) {
      return places_[number].position == position && places_[number].mode == mode && places_[number].state == state;
    });
    const NodeNumber number = known ? *known : static_cast<NodeNumber>(places_.size());
    if (!known) {
      index_.reserve(1);
      places_.push_back({position, state, mode, kUnreached});
      index_.add(number, hash);
    }
    Place& place = places_[number];
    if (number == from && bytes_at(position) != GraphBytes::AllWithLoops) return;
    if (bytes == RepairGraph::kOneByte) {
      if (step.kind == EditKind::Insert && from != kNoNode && std::exchange(place.inserted_from, from) == from) return;
      if (step.kind == EditKind::Replace && std::exchange(place.replaced_from, from) == from) return;
    }
    if (from != kNoNode) edges_.push_back({from, number, step, cost, bytes});
    if (reached >= place.reached) return;
    place.reached = reached;
    place.is_settled = false;
    open_.add({reached, number});
  }

  void settle(NodeNumber number) {
    places_[number].is_settled = true;
    const Place place = places_[number];
    const auto& [text, model] = std::tie(search_.text_, search_.model_);
    StateId kept = ByteAutomaton::kDead;
    Mode kept_mode = place.mode;
    if (place.position < length()) {
      const auto byte = static_cast<std::uint8_t>(text[place.position]);
      const StateId target = search_.automaton().next(place.state, byte, budget_);
      kept_mode = model.after(place.mode, byte);
      const std::uint64_t keeping = model.keeping(place.mode, place.position, byte);
      if (keeping == 0) kept = target;
      if (keeping != kNoEdit)
        lead(number, place.position + 1, kept_mode, target, {EditKind::Keep, 0}, place.reached, keeping);
      lead(number, place.position + 1, place.mode, place.state, {EditKind::Remove, 0}, place.reached,
           std::uint64_t{model.costs(place.mode).remove[byte]} + model.firmness(place.position));
    }
    take_rewrites(number, place);
    if (bytes_at(place.position) == GraphBytes::Cheapest) take_cheapest(number, place, kept, kept_mode);
    else take_every_byte(number, place, kept, kept_mode);
  }

  // Insertions and replacements, of each class of bytes the cheapest.
  void take_cheapest(NodeNumber number, const Place& place, StateId kept, Mode kept_mode) {
    const EditModel& model = search_.model_;
    const ByteSet readable = search_.automaton().may_read(place.state, budget_);
    for (const Writing& writing : search_.writings_at(search_.where(place.position), place.mode, place.state)) {
      const std::uint64_t cost = std::uint64_t{writing.cost} + model.firmness(place.position);
      if (place.reached + cost > bound_) {  // the cheapest come first
        is_whole_ = false;
        break;
      }
      if (!readable.contains(writing.byte)) continue;
      budget_.step();
      const bool replaces = writing.kind == EditKind::Replace;
      const StateId target = search_.automaton().next(place.state, writing.byte, budget_);
      const Mode mode = model.inserted(place.mode, writing.byte);
      if (replaces && target == kept && mode == kept_mode) continue;
      lead(number, place.position + replaces, mode, target, {writing.kind, writing.byte}, place.reached, cost);
    }
  }

  // Every insertion and replacement: those that lead to one place at one cost are one edge.
  void take_every_byte(NodeNumber number, const Place& place, StateId kept, Mode kept_mode) {
    struct Group {
      EditKind kind;
      StateId target;
      Mode mode;
      std::uint64_t cost;
      ByteSet bytes;
    };
    const EditModel& model = search_.model_;
    const ModeCosts& costs = model.costs(place.mode);
    const bool is_end = place.position == length();
    const ByteCosts& inserted = costs.inserting(place.position, length());
    const ByteSet readable = search_.automaton().may_read(place.state, budget_);
    counted::vector<Group> groups;
    const auto add = [&](EditKind kind, std::uint8_t byte, EditCost price) {
      if (price == kNoEdit) return;
      const std::uint64_t cost = std::uint64_t{price} + model.firmness(place.position);
      if (place.reached + cost > bound_) {
        is_whole_ = false;
        return;
      }
      budget_.step();
      const StateId target = search_.automaton().next(place.state, byte, budget_);
      if (target == ByteAutomaton::kDead) return;
      const Mode mode = model.inserted(place.mode, byte);
      const bool is_kept =
          kind == EditKind::Replace && byte == static_cast<std::uint8_t>(search_.text_[place.position]);
      if (is_kept && target == kept && mode == kept_mode) return;
      const auto same = std::ranges::find_if(groups, [&](const Group& group) {
        return group.kind == kind && group.target == target && group.mode == mode && group.cost == cost;
      });
      Group& group = same != groups.end() ? *same : groups.emplace_back(Group{kind, target, mode, cost, {}});
      group.bytes.add(byte);
    };
    for (unsigned byte = readable.next_member(0); byte < 256; byte = readable.next_member(byte + 1)) {
      add(EditKind::Insert, static_cast<std::uint8_t>(byte), inserted[byte]);
      if (!is_end) add(EditKind::Replace, static_cast<std::uint8_t>(byte), costs.replace[byte]);
    }
    for (const Group& group : groups)
      lead(number, place.position + (group.kind == EditKind::Replace), group.mode, group.target,
           {group.kind, group.bytes.first()}, place.reached, group.cost, number_of(group.bytes));
  }

  std::uint32_t number_of(const ByteSet& bytes) {
    const auto known = number_of_set_.find(bytes);
    if (known != number_of_set_.end()) return known->second;
    const auto number = static_cast<std::uint32_t>(byte_sets_.size());
    byte_sets_.push_back(bytes);
    number_of_set_.emplace(bytes, number);
    return number;
  }

  void take_rewrites(NodeNumber number, const Place& place) {
    const std::uint32_t end = search_.first_rewrite_[place.position + 1];
    for (std::uint32_t index = search_.first_rewrite_[place.position]; index < end; ++index) {
      const Rewrite& rewrite = search_.model_.rewrites[index];
      if (!rewrite.may_be_taken(place.mode)) continue;
      StateId state = place.state;
      for (const char written : rewrite.written) {
        if (state == ByteAutomaton::kDead) break;
        state = search_.automaton().next(state, static_cast<std::uint8_t>(written), budget_);
      }
      lead(number, rewrite.end, search_.model_.after(place.mode, rewrite), state, {EditKind::Rewrite, index},
           place.reached, rewrite.cost);
    }
  }

  bool is_end(NodeNumber number) const {
    return places_[number].position == length() && search_.automaton().accepting(places_[number].state);
  }

  // Of each place, the least that leads from it to an end.
  counted::vector<std::uint64_t> backwards() {
    counted::vector<std::uint32_t> first(places_.size() + 1);
    for (const RepairGraph::Edge& edge : edges_) ++first[edge.to + 1];
    for (std::size_t at = 1; at < first.size(); ++at) first[at] += first[at - 1];
    counted::vector<std::uint32_t> into(edges_.size()), filled(first.begin(), first.end() - 1);
    for (std::uint32_t edge = 0; edge < edges_.size(); ++edge) into[filled[edges_[edge].to]++] = edge;
    counted::vector<std::uint64_t> left(places_.size(), kUnreached);
    Queue open;
    for (NodeNumber number = 0; number < places_.size(); ++number)
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
      return left[to] != kUnreached && places_[from].reached + cost + left[to] <= bound_;
    };
    RepairGraph graph;
    graph.is_whole = is_whole_;
    std::vector<NodeNumber> order;
    for (NodeNumber number = 0; number < places_.size(); ++number)
      if (is_within(number, 0, number)) order.push_back(number);
    std::ranges::stable_sort(order, {}, [this](NodeNumber number) { return places_[number].position; });
    std::vector<std::uint32_t> numbers(places_.size(), kNoNode);
    for (const NodeNumber number : order) {
      numbers[number] = static_cast<std::uint32_t>(graph.positions.size());
      if (is_end(number)) graph.ends.push_back(numbers[number]);
      graph.positions.push_back(places_[number].position);
      graph.modes.push_back(places_[number].mode);
    }
    for (const auto& [from, to, step, cost, bytes] : edges_)
      if (is_within(from, cost, to)) graph.edges.push_back({numbers[from], numbers[to], step, cost, bytes});
    graph.byte_sets.assign(byte_sets_.begin(), byte_sets_.end());
    return graph;
  }

  RepairSearch& search_;
  std::uint64_t bound_;
  std::string_view bytes_;
  Budget& budget_;
  counted::vector<Place> places_;
  NumberTable index_;
  Queue open_;
  counted::vector<RepairGraph::Edge> edges_;
  counted::vector<ByteSet> byte_sets_ = {ByteSet()};
  counted::unordered_map<ByteSet, std::uint32_t, ByteSetHash> number_of_set_;
  bool is_whole_ = true;
};

// Of what costs one edit more than the answer that was refused: what the pattern accepts is mostly that near.
RepairSearch::Guide RepairSearch::guide(StateId start, Budget& budget) {
  constexpr std::size_t kMostGuided = 2000, kMostByByte = 8;
  return GraphMaker(*this, least_refused_ + cheapest_, {}, budget)
      .guide(start, kMostGuided + kMostByByte * text_.size());
}

RepairGraph RepairSearch::graph(std::uint64_t bound, bool is_exact, std::string_view bytes, const Limits& limits) {
  const Charge charge(account());
  Budget budget(limits, cancel_, 0);
  GraphMaker maker(*this, bound, bytes, budget);
  const StateId exact = automaton().start();
  return maker.made(is_exact ? exact : over_approximation(automaton(), exact, budget));
}

}  // namespace tokamata
