// The formulas that stand for sets of JSON values: their atoms are nodes of a table.
#pragma once

#include <memory>
#include <string>

#include "json/branches.hpp"
#include "json/style.hpp"
#include "json/value_table.hpp"

namespace tokamata::json {

class SetFormulas : public Formulas<SetTag> {
 public:
  SetFormulas(std::shared_ptr<const ValueTable> table, Spelling spelling)
      : table_(std::move(table)), schema_size_(static_cast<std::uint32_t>(table_->size())), spelling_(spelling) {}

  const ValueTable& table() const { return *table_; }
  Spelling spelling() const { return spelling_; }
  // Whether a node is the schema's, and not of a constant that some text holds.
  bool is_of_schema(std::uint32_t node) const { return node < schema_size_; }

  SetId set_of(ValueNode node);
  // The set of one value, given in canonical form (canonical_value.hpp).
  SetId constant(const std::string& canonical);
  // What a Nested node says of one level.
  ValueNode unfolded(ValueNode nested) { return own_table().unfold(nested); }
  bool is_denial(SetId set) const { return operation(set) == Operation::Not; }
  // Whether, of every value that can be written, the set or its complement has the text.  Not so where an
  // integer is required in plain or natural spelling: 1.0 is no text of it, nor of its complement.
  bool is_exact(SetId set);

 private:
  ValueTable& own_table();

  std::shared_ptr<const ValueTable> table_;
  std::shared_ptr<ValueTable> own_table_;  // with the constants that texts hold, and the levels they come to
  std::uint32_t schema_size_;
  Spelling spelling_;
  counted::unordered_map<std::string, SetId> constants_;
  counted::unordered_map<std::uint32_t, bool> exact_;
};

}  // namespace tokamata::json
