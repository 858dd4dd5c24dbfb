#include "json/json_rule_set.hpp"

#include <stdexcept>

#include "expression/expression.hpp"
#include "json/json_rules.hpp"

namespace tokamata::json {

JsonRuleSet::JsonRuleSet(std::shared_ptr<const ValueTable> table, ValueNode root, Style style,
                         std::shared_ptr<const TagStyle> tags, ExpressionPtr within)
    : table_(std::move(table)), root_(root), style_(style), tags_(std::move(tags)), within_(std::move(within)) {
  if (root_.value >= table_->size()) throw std::invalid_argument("the root is no node of the table");
  table_->check();
}

std::unique_ptr<Rules> JsonRuleSet::make(std::uint32_t source, Arena& arena) const {
  return std::make_unique<JsonRules>(source, arena, table_, root_, style_, tags_, within_);
}

// Of all texts in UTF-8 without control characters.
ByteSet JsonRuleSet::bytes() const {
  ByteSet set = ByteSet::range(0x20, 0xBF) | ByteSet::range(0xC2, 0xF4);
  for (const char blank : {'\t', '\n', '\r'}) set.add(static_cast<std::uint8_t>(blank));
  return set;
}

// Names distinguish all of ASCII; beyond it the blocks of UTF-8 do, and what languages need.
ByteSet JsonRuleSet::class_borders() const {
  ByteSet set = ByteSet::range(0, 0x80) | table_->class_borders();
  for (const unsigned lead : {0xC2u, 0xE0u, 0xE1u, 0xEDu, 0xEEu, 0xF0u, 0xF1u, 0xF4u, 0xF5u})
    set.add(static_cast<std::uint8_t>(lead));
  for (const unsigned rest : {0x90u, 0xA0u, 0xC0u}) set.add(static_cast<std::uint8_t>(rest));
  if (tags_) set |= tags_->class_borders();
  if (within_) set |= within_->class_borders();
  return set;
}

// What stands outside of strings, or after a backslash, has nothing that could stand for it.
ByteSet JsonRuleSet::distinguished() const {
  constexpr std::string_view kAlone = "{}[],:\"\\/ \t\n\r+-.0123456789EabcdeflnrstuU";
  ByteSet set = table_->distinguished();
  for (const char byte : kAlone)
    set |= ByteSet::range(static_cast<std::uint8_t>(byte), static_cast<std::uint8_t>(byte + 1));
  if (tags_) set |= tags_->class_borders();
  if (within_) set |= within_->class_borders();
  return set;
}

bool JsonRuleSet::spells(std::string_view infix) const { return table_->has_name_with(infix); }

std::set<std::string> JsonRuleSet::control_tokens() const {
  return tags_ ? tags_->control_tokens() : std::set<std::string>();
}

}  // namespace tokamata::json
