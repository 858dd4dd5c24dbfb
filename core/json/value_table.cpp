#include "json/value_table.hpp"

namespace tokamata::json {

void ValueTable::check() const {
  enum class Mark : std::uint8_t { New, Open, Done };
  std::vector<Mark> marks(nodes_.size(), Mark::New);
  struct Frame {
    std::uint32_t node;
    std::vector<ValueNode> in_place;
    std::size_t next;
  };
  const auto in_place_of = [&](std::uint32_t node) {
    if (std::holds_alternative<Undefined>(nodes_[node])) throw std::invalid_argument("a reserved node was not defined");
    std::vector<ValueNode> found;
    visit_references({node}, [&](ValueNode to, bool in_place) {
      if (to.value >= nodes_.size()) throw std::invalid_argument("a node refers to none");
      if (in_place) found.push_back(to);
    });
    return found;
  };
  for (std::uint32_t root = 0; root < nodes_.size(); ++root) {
    if (marks[root] != Mark::New) continue;
    marks[root] = Mark::Open;
    std::vector<Frame> frames{{root, in_place_of(root), 0}};
    while (!frames.empty()) {
      Frame& frame = frames.back();
      if (frame.next == frame.in_place.size()) {
        marks[frame.node] = Mark::Done;
        frames.pop_back();
        continue;
      }
      const std::uint32_t to = frame.in_place[frame.next++].value;
      if (marks[to] == Mark::Open) throw std::invalid_argument("a node is defined by itself");
      if (marks[to] == Mark::Done) continue;
      marks[to] = Mark::Open;
      frames.push_back({to, in_place_of(to), 0});
    }
  }
}

}  // namespace tokamata::json
