#include "expression/rule_sets.hpp"

#include <algorithm>

namespace tokamata {

Rules* RuleSets::find(const std::shared_ptr<const RuleSet>& set) const {
  const auto known = std::ranges::find(sets_, set);
  return known == sets_.end() ? nullptr : rules_[static_cast<std::size_t>(known - sets_.begin())].get();
}

Rules& RuleSets::add(std::shared_ptr<const RuleSet> set, std::unique_ptr<Rules> rules) {
  sets_.push_back(std::move(set));
  rules_.push_back(std::move(rules));
  const RuleSet& added = *sets_.back();
  any_joins_ = any_joins_ || rules_.back()->joins();
  any_remembers_ = any_remembers_ || rules_.back()->remembering();
  distinguished_ |= added.distinguished();
  ending_bytes_ += added.ending_bytes();
  separators_ |= added.separators();
  openers_ |= added.openers();
  return *rules_.back();
}

bool RuleSets::any_spells(std::string_view part) const {
  return std::ranges::any_of(sets_, [&](const auto& set) { return set->spells(part); });
}

void RuleSets::begin_anew() {
  for (const auto& rules : rules_) rules->begin_anew();
}

void RuleSets::all_kept() {
  for (const auto& rules : rules_) rules->all_kept();
}

void RuleSets::keep_all() {
  for (const auto& rules : rules_) rules->keep_all();
}

}  // namespace tokamata
