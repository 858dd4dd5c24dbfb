// The sets of rules that the patterns of an arena hold, and what they say together.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/byte_set.hpp"
#include "common/memory_account.hpp"
#include "expression/node.hpp"
#include "expression/rules.hpp"

namespace tokamata {

class RuleSets {
 public:
  // The rules of a Rule node.
  Rules& of(const ExpressionNode& node) const { return *rules_[node.source()]; }
  Rules& operator[](std::uint32_t source) const { return *rules_[source]; }
  // Null if the set was not added.
  Rules* find(const std::shared_ptr<const RuleSet>& set) const;
  // The source of its rules is the number of sets before.
  Rules& add(std::shared_ptr<const RuleSet> set, std::unique_ptr<Rules> rules);
  std::uint32_t size() const { return static_cast<std::uint32_t>(rules_.size()); }

  // Whether any are joined (Rules::joins); and whether any remember what was written (RememberingRules).
  bool any_joins() const { return any_joins_; }
  bool any_remembers() const { return any_remembers_; }
  // The bytes that their own languages distinguish (RuleSet::distinguished), and whether one spells out a text that
  // contains `part`.
  const ByteSet& distinguished() const { return distinguished_; }
  bool any_spells(std::string_view part) const;
  // The bytes by which their texts mostly come nearer to their ends (RuleSet::ending_bytes).
  const std::string& ending_bytes() const { return ending_bytes_; }
  // Those between texts that must differ, and those with which such texts begin.
  const ByteSet& separators() const { return separators_; }
  const ByteSet& openers() const { return openers_; }

  // Compaction (Rules::begin_anew).
  void begin_anew();
  void all_kept();
  void keep_all();

 private:
  counted::vector<std::shared_ptr<const RuleSet>> sets_;
  counted::vector<std::unique_ptr<Rules>> rules_;  // by source
  bool any_joins_ = false;
  bool any_remembers_ = false;
  ByteSet distinguished_;
  std::string ending_bytes_;
  ByteSet separators_, openers_;
};

}  // namespace tokamata
