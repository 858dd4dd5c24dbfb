#include "json/name_order.hpp"

#include <algorithm>

#include "common/memoized.hpp"

namespace tokamata::json {

namespace {

// Goes through what is said of the same value, depth first.
class NameCollector {
 public:
  explicit NameCollector(const ValueTable& table)
      : table_(table), seen_(table.size(), false), is_listed_(table.name_count(), false) {}

  // The names that nodes declare, and then those that they only mention.
  void collect(std::span<const std::uint32_t> nodes) {
    for (const std::uint32_t node : nodes) visit({node});
    for (const NameId name : mentioned_) list(name);
    mentioned_.clear();
  }
  counted::vector<NameId> names;

 private:
  void list(NameId name) {
    if (is_listed_[name.value]) return;
    is_listed_[name.value] = true;
    names.push_back(name);
  }
  void visit(ValueNode root) {
    std::vector<ValueNode> open{root};
    while (!open.empty()) {
      const ValueNode node = open.back();
      open.pop_back();
      if (seen_[node.value]) continue;
      seen_[node.value] = true;
      const ValueTable::Node& n = table_.node(node);
      if (const auto* property = std::get_if<ValueTable::Property>(&n)) list(property->name);
      else if (const auto* has = std::get_if<ValueTable::Has>(&n)) mentioned_.push_back(has->name);
      else if (const auto* others = std::get_if<ValueTable::Others>(&n))
        mentioned_.insert(mentioned_.end(), others->names.begin(), others->names.end());
      const std::size_t first = open.size();
      table_.visit_references(node, [&](ValueNode to, bool in_place) {
        if (in_place) open.push_back(to);
      });
      std::reverse(open.begin() + static_cast<std::ptrdiff_t>(first), open.end());
    }
  }

  const ValueTable& table_;
  std::vector<bool> seen_, is_listed_;
  std::vector<NameId> mentioned_;
};

}  // namespace

NameOrderPtr NameOrders::of(SetId set) {
  return memoized(orders_, set.value, [&] { return std::make_shared<const NameOrder>(made(set)); });
}

NameOrder NameOrders::made(SetId set) const {
  std::vector<std::uint32_t> nodes;
  formulas_.visit(set, [&](std::uint32_t node, bool, bool) { nodes.push_back(node); });
  std::ranges::sort(nodes);
  const std::span<const std::uint32_t> all(nodes);
  const auto constants = std::ranges::find_if(nodes, [&](std::uint32_t node) { return !formulas_.is_of_schema(node); });
  const auto of_schema = static_cast<std::size_t>(constants - nodes.begin());
  NameCollector collector(formulas_.table());
  NameOrder order;
  collector.collect(all.first(of_schema));
  order.ordered = static_cast<std::uint32_t>(collector.names.size());
  collector.collect(all.subspan(of_schema));
  order.names = std::move(collector.names);
  for (std::uint32_t place = 0; place < order.names.size(); ++place)
    order.places.emplace(order.names[place].value, place);
  return order;
}

}  // namespace tokamata::json
