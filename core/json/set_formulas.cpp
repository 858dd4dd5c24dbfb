#include "json/set_formulas.hpp"

#include "common/memoized.hpp"
#include "json/canonical_value.hpp"

namespace tokamata::json {

ValueTable& SetFormulas::own_table() {
  if (!own_table_) table_ = own_table_ = std::make_shared<ValueTable>(*table_);
  return *own_table_;
}

SetId SetFormulas::set_of(ValueNode node) {
  node = table_->resolved(node);
  if (std::holds_alternative<ValueTable::AnyValue>(table_->node(node))) return kTrue;
  if (std::holds_alternative<ValueTable::NoValue>(table_->node(node))) return kFalse;
  return make_atom(node.value);
}

// A set of its own, in a table of its own: schemas do not mention what texts happen to hold.
SetId SetFormulas::constant(const std::string& canonical) {
  return memoized(constants_, canonical, [&] { return set_of(add_constant(canonical, own_table())); });
}

bool SetFormulas::is_exact(SetId set) {
  if (spelling_ == Spelling::Any) return true;
  return memoized(exact_, set.value, [&] {
    std::vector<std::uint32_t> open;
    visit(set, [&](std::uint32_t node, bool, bool) { open.push_back(node); });
    std::vector<bool> seen(table_->size(), false);
    while (!open.empty()) {
      const std::uint32_t node = open.back();
      open.pop_back();
      if (seen[node]) continue;
      seen[node] = true;
      if (std::holds_alternative<ValueTable::Integral>(table_->node({node}))) return false;
      table_->visit_references({node}, [&](ValueNode to, bool) { open.push_back(to.value); });
    }
    return true;
  });
}

}  // namespace tokamata::json
