#include "json/rule_table.hpp"

#include "common/hash.hpp"
#include "common/memoized.hpp"

namespace tokamata::json {

namespace {

std::uint64_t hash_of(const JsonRule& rule) {
  std::uint64_t hash = rule.index() + 1;
  const auto add = [&](auto... fields) { ((hash = mix(hash, static_cast<std::uint32_t>(fields))), ...); };
  std::visit(
      Overloaded{
          [&](const ValueRule& r) { add(r.set.value, r.gap); },
          [&](const ElementsRule& r) { add(r.array.value, r.is_first); },
          [&](const MembersRule& r) { add(r.object.value, r.is_first); },
          [&](const DeclaredNameRule& r) { add(r.object.value, r.low, r.high, r.read, r.escape.value); },
          [&](const UndeclaredNameRule& r) {
            add(r.object.value, r.name_class, r.text.value, r.escape.value, r.is_settled);
          },
          [&](const AfterUndeclaredRule& r) { add(r.object.value, r.name_class); },
          [&](const DistinctElementRule& r) { add(r.array.value, r.set.value, r.text.value, r.kind, r.is_settled); },
      },
      rule);
  const Line& line = line_of(rule);
  add(line.indent.depth, line.indent.width, line.mode);
  return hash;
}

}  // namespace

RuleId RuleTable::add(JsonRule rule, std::uint32_t spelled, std::uint32_t shortest) {
  Line& line = line_of(rule);
  if (!layout_.has_depth()) line.indent = {};
  const bool waits = layout_.waits(line.indent) || line.mode == Mode::Approximation;
  const bool keeps_text =
      std::holds_alternative<UndeclaredNameRule>(rule) || std::holds_alternative<DistinctElementRule>(rule);
  const bool has_controls = tags_ && tags_->has_controls() && is_tagged(rule);
  // Written first: if the rule cannot be added, the entry is overwritten by the next one.
  put_at(now_.abouts, now_.rules.size(),
         Rules::About{shortest, spelled, waits, line.mode == Mode::Unverified, keeps_text, false, has_controls});
  return {number_in(now_.rules, now_.index, rule, hash_of(rule))};
}

bool RuleTable::is_tagged(const JsonRule& rule) const {
  return std::visit(
      [&](const auto& each) {
        if constexpr (requires { each.array; }) return open_[each.array].is_tagged;
        else if constexpr (requires { each.object; }) return open_[each.object].is_tagged;
        else return false;
      },
      rule);
}

ExpressionId& RuleTable::body(RuleId rule) {
  if (rule.value >= bodies_.size()) bodies_.resize(now_.rules.size(), Pool::kEmpty);
  return bodies_[rule.value];
}

void RuleTable::begin_anew() {
  before_ = std::make_unique<Contents>();
  std::swap(*before_, now_);
}

void RuleTable::keep_all() {
  if (!before_) return;
  std::swap(*before_, now_);
  before_.reset();
}

}  // namespace tokamata::json
