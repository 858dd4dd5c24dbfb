// All JSON texts, in a style, of a set of values: what an expression holds of them.
//
// The texts are written by rules, which JsonRules makes for each arena (json_rules.hpp).
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "expression/rules.hpp"
#include "json/style.hpp"
#include "json/tag_style.hpp"
#include "json/value_table.hpp"

namespace tokamata::json {

class JsonRuleSet : public RuleSet {
 public:
  // `tags`: the root is an object whose members stand between tags.  `within`: what the spellings of strings and of
  // undeclared names are in; null: all.  Throws std::invalid_argument if the table is incomplete.
  JsonRuleSet(std::shared_ptr<const ValueTable> table, ValueNode root, Style style,
              std::shared_ptr<const TagStyle> tags = nullptr, ExpressionPtr within = nullptr);
  std::unique_ptr<Rules> make(std::uint32_t source, Arena& arena) const override;
  ByteSet bytes() const override;
  ByteSet class_borders() const override;
  ByteSet distinguished() const override;
  bool spells(std::string_view infix) const override;
  // Bytes that end a string or a container, or continue in one.
  std::string_view ending_bytes() const override { return tags_ ? "\"}],:01</>" : "\"}],:01"; }
  ByteSet separators() const override { return tags_ ? ByteSet::range(0, 255) : ByteSet::range(',', ','); }
  // Of names.  An element that has not begun is kept as one that has.
  ByteSet openers() const override { return tags_ ? ByteSet::range(0, 255) : ByteSet::range('"', '"'); }
  std::set<std::string> control_tokens() const override;

 private:
  std::shared_ptr<const ValueTable> table_;
  ValueNode root_;
  Style style_;
  std::shared_ptr<const TagStyle> tags_;
  ExpressionPtr within_;
};

}  // namespace tokamata::json
