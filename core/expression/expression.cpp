#include "expression/expression.hpp"

#include <algorithm>
#include <stdexcept>

#include "expression/leaf_automaton.hpp"
#include "expression/phrase_search.hpp"
#include "expression/rules.hpp"
#include "expression/string_automaton.hpp"

namespace tokamata {

namespace {

void note_range(unsigned low, unsigned high, ByteSet& borders) {
  borders.add(static_cast<std::uint8_t>(low));
  if (high < 0xFF) borders.add(static_cast<std::uint8_t>(high + 1));
}

void note_bytes(const std::string& bytes, ByteSet& borders) {
  for (const char byte : bytes) note_range(static_cast<std::uint8_t>(byte), static_cast<std::uint8_t>(byte), borders);
}

// The bytes that begin or end a byte class in a node itself, besides those of its parts.
void note_borders(const Expression::Node& node, ByteSet& borders) {
  if (const auto* literal = std::get_if<Expression::Literal>(&node)) {
    note_bytes(literal->bytes, borders);
  } else if (const auto* set = std::get_if<Expression::CodePoints>(&node)) {
    for (std::uint32_t state = 1; state < set->automaton->state_count(); ++state)
      for (auto t = set->automaton->begin(state); t != set->automaton->end(state); ++t)
        note_range(t->low, t->high, borders);
  } else if (const auto* strings = std::get_if<Expression::Strings>(&node)) {
    for (std::uint32_t state = 0; state < strings->automaton->state_count(); ++state)
      for (const auto& t : strings->automaton->transitions(state)) note_range(t.byte, t.byte, borders);
  } else if (const auto* until = std::get_if<Expression::Until>(&node)) {
    borders |= Expression::text()->class_borders();
    note_bytes(until->search->phrase(), borders);
  } else if (const auto* grammar = std::get_if<Expression::Grammar>(&node)) {
    borders |= grammar->rules->class_borders();
  }
}

}  // namespace

Expression::Expression(Node node, std::uint32_t depth)
    : node_(std::move(node)),
      depth_(depth),
      sees_edges_(std::holds_alternative<OneToken>(node_)),
      has_references_(std::holds_alternative<Reference>(node_)),
      has_rules_(std::holds_alternative<Grammar>(node_)) {
  if (const auto* token = std::get_if<ControlToken>(&node_))
    control_tokens_ = std::make_shared<const std::set<std::string>>(std::set{token->name});
  if (const auto* grammar = std::get_if<Grammar>(&node_))
    control_tokens_ = std::make_shared<const std::set<std::string>>(grammar->rules->control_tokens());
  note_borders(node_, class_borders_);
  std::visit(
      [&](const auto& n) {
        if constexpr (requires { n.items; })
          for (const ExpressionPtr& item : n.items) gather(*item);
        else if constexpr (requires { n.body; }) gather(*n.body);
        else if constexpr (requires { n.rest; }) gather(*n.rest);
        else if constexpr (requires { n.prefix; }) gather(*n.prefix);
      },
      node_);
}

void Expression::gather(const Expression& part) {
  class_borders_ |= part.class_borders_;
  sees_edges_ = sees_edges_ || part.sees_edges_;
  has_references_ = has_references_ || part.has_references_;
  has_rules_ = has_rules_ || part.has_rules_;
  if (!part.control_tokens_ || part.control_tokens_ == control_tokens_) return;
  if (!control_tokens_ || std::ranges::includes(*part.control_tokens_, *control_tokens_)) {
    control_tokens_ = part.control_tokens_;
  } else if (!std::ranges::includes(*control_tokens_, *part.control_tokens_)) {
    auto all = std::make_shared<std::set<std::string>>(*control_tokens_);
    all->insert(part.control_tokens_->begin(), part.control_tokens_->end());
    control_tokens_ = std::move(all);
  }
}

const std::set<std::string>& Expression::control_tokens() const {
  static const std::set<std::string> kNone;
  return control_tokens_ ? *control_tokens_ : kNone;
}

ExpressionPtr Expression::code_points(std::vector<CodePointRange> ranges) {
  return make(CodePoints{std::make_shared<const CodePointAutomaton>(std::move(ranges))}, 0);
}

ExpressionPtr Expression::repetition(ExpressionPtr body, Count minimum, Count maximum, std::int64_t position) {
  if (minimum > maximum) throw std::invalid_argument("repetition: the minimum is above the maximum");
  const std::uint32_t depth = body->depth() + 1;
  return make(Repetition{std::move(body), minimum, maximum, position}, depth);
}

ExpressionPtr Expression::until(std::string phrase) {
  return make(Until{std::make_shared<const PhraseSearch>(std::move(phrase))}, 0);
}

ExpressionPtr Expression::make(Node node, std::uint32_t depth) {
  if (depth > kMaximumDepth) return std::make_shared<const Expression>(TooDeep{}, kMaximumDepth + 1);
  return std::make_shared<const Expression>(std::move(node), depth);
}

std::uint32_t Expression::depth_of(const std::vector<ExpressionPtr>& items) {
  std::uint32_t depth = 0;
  for (const ExpressionPtr& item : items) depth = std::max(depth, item->depth());
  return depth + 1;
}

}  // namespace tokamata
