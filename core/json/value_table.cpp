#include "json/value_table.hpp"

#include <algorithm>

#include "expression/expression.hpp"

namespace tokamata::json {

ValueNode ValueTable::include(const ValueTable& other, ValueNode root) {
  const auto first = static_cast<std::uint32_t>(nodes_.size());
  const auto move_node = [&](ValueNode& node) { node.value += first; };
  const auto move_nodes = [&](std::vector<ValueNode>& nodes) {
    for (ValueNode& node : nodes) move_node(node);
  };
  const auto move_name = [&](NameId& id) { id = name(other.text(id)); };
  const auto move_language = [&](LanguageId& id) { id = language(other.texts(id)); };
  nodes_.reserve(nodes_.size() + other.nodes_.size());
  for (Node node : other.nodes_) {
    std::visit(
        [&](auto& n) {
          using N = std::decay_t<decltype(n)>;
          if constexpr (requires { n.items; }) move_nodes(n.items);
          if constexpr (requires { n.prefix; }) move_nodes(n.prefix);
          if constexpr (requires { n.rest; }) move_node(n.rest);
          if constexpr (requires { n.as; }) move_node(n.as);
          if constexpr (requires { n.body; }) move_node(n.body);
          if constexpr (requires { n.value; }) move_node(n.value);
          if constexpr (requires { n.name; }) move_name(n.name);
          if constexpr (requires { n.language; }) move_language(n.language);
          if constexpr (std::is_same_v<N, Matching>) move_language(n.names);
          if constexpr (std::is_same_v<N, Others>) {
            for (NameId& id : n.names) move_name(id);
            for (LanguageId& id : n.languages) move_language(id);
          }
        },
        node);
    nodes_.push_back(std::move(node));
  }
  for (const auto& [node, values] : other.values_) note_values({first + node}, values);
  return {first + root.value};
}

ValueNode ValueTable::unfold(ValueNode id) {
  if (const auto known = unfolded_.find(id.value); known != unfolded_.end()) return known->second;
  const Nested nested = std::get<Nested>(nodes_[id.value]);
  ValueNode result;
  if (nested.depth == 0) {
    result = add(Types{kAllTypes & ~(kArray | kObject)});
  } else {
    const ValueNode inside = add(Nested{nested.depth - 1, nested.most_inside});
    std::vector<ValueNode> conjuncts{add(Items{{}, inside}), add(Others{{}, {}, inside})};
    if (nested.most_inside != kNoMaximum) {
      conjuncts.push_back(add(ArrayLength{0, nested.most_inside}));
      conjuncts.push_back(add(PropertyCount{0, nested.most_inside}));
    }
    result = add(AllOf{std::move(conjuncts)});
  }
  unfolded_.emplace(id.value, result);
  return result;
}

// Where texts may hold strings that are kept and read later, every byte is a class of its own.
ByteSet ValueTable::class_borders() const {
  const bool keeps = std::ranges::any_of(nodes_, [](const Node& node) {
    const auto* others = std::get_if<Others>(&node);
    return std::holds_alternative<Unique>(node) || std::holds_alternative<Matching>(node) ||
           (others && !others->languages.empty());
  });
  if (keeps) return ByteSet::range(0, 0xFF);
  ByteSet set = distinguished();
  for (const std::string& name : names_)
    for (const char byte : name) {
      set.add(static_cast<std::uint8_t>(byte));
      if (byte != '\xFF') set.add(static_cast<std::uint8_t>(static_cast<std::uint8_t>(byte) + 1));
    }
  return set;
}

ByteSet ValueTable::distinguished() const {
  ByteSet set;
  for (const ExpressionPtr& language : languages_) set |= language->class_borders();
  return set;
}

bool ValueTable::has_name_with(std::string_view infix) const {
  return std::ranges::any_of(names_,
                             [infix](const std::string& name) { return name.find(infix) != std::string::npos; });
}

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
