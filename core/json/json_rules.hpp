// The rules that write JSON texts of a set of values (rule_table.hpp), each given to the class that knows its kind.
//
// Each class calls only those above it.  Where members need values, and values members, it takes a reference to a rule,
// which is expanded later.
//
//   OpenContainers     what may follow in each array and object under way, and what was written
//   RuleTable          the rules and their numbers
//   RuleReferences     expressions that refer to values, elements and members
//   NameChoices        the names that may come next in an object
//   ValuesLeft         how many values can follow a text that must differ from earlier ones
//   MemberValues       what follows a name
//   UndeclaredNames, DeclaredNames, Members
//   SeenElements       which earlier elements a text may become equal to
//   UnverifiedElements which tokens of a mask may make an element like an earlier one
//   DistinctElements, Elements
//   JsonRules          values, and the contract of rules
//
// White space and indents: layout.hpp.  Sets of values: value_sets.hpp.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/elements.hpp"
#include "json/members.hpp"

namespace tokamata::json {

class JsonRules : public RememberingRules {
 public:
  // As those of JsonRuleSet.
  JsonRules(std::uint32_t source, Arena& arena, std::shared_ptr<const ValueTable> table, ValueNode root, Style style,
            std::shared_ptr<const TagStyle> tags = nullptr, ExpressionPtr within = nullptr);

  // If two alternatives may read a value, each level of the text would double the readings.
  bool joins() const override { return true; }
  ExpressionId start(Budget& budget) override;
  About about(RuleId rule) const override { return context_.rules.about(rule); }
  ExpressionId derivative(RuleId rule, std::uint8_t byte, Budget& budget) override;
  ByteSet first_bytes(RuleId rule, Budget& budget) override;
  const ByteSet& may_begin(RuleId rule) const override;
  RuleId committed(RuleId rule, std::uint32_t choice) override;
  ExpressionId approximated(RuleId rule, Budget& budget) override;
  std::vector<Approximation> approximations(RuleId rule, Budget& budget) override;
  std::optional<ExpressionId> unfolded(RuleId rule, Budget& budget) override;
  std::span<const std::string_view> strings(RuleId rule, Budget& budget) override;
  ExpressionId after(RuleId rule, std::size_t string, Budget& budget) override;
  std::uint32_t spelled_after(RuleId rule, std::size_t string) const override;
  std::optional<std::uint8_t> leaving_byte() const override;
  ExpressionId after_leaving(RuleId rule, std::size_t low, std::size_t high, std::size_t depth,
                             Budget& budget) override;
  std::optional<std::string> awaited(RuleId rule, Budget& budget) override;
  std::string show(RuleId rule) override;
  void begin_anew() override;
  RuleId kept(RuleId before) override;
  void all_kept() override;
  void keep_all() override;

 private:
  ExpressionId expanded(RuleId rule, const Work& work);
  ExpressionId expand(const ValueRule& rule, const Work& work);
  ExpressionId quoted(ExpressionId strings, const Work& work) const;
  // What is known by the numbers of rules and of expressions, and can be found again.
  void forget_memos();

  ValueNode root_;
  RuleContext context_;
  RuleReferences refer_{context_};
  NameChoices choices_{context_};
  ValuesLeft values_left_{context_, choices_};
  MemberValues member_values_{context_, refer_};
  UndeclaredNames undeclared_{context_, refer_, choices_, member_values_, values_left_};
  DeclaredNames declared_{context_, refer_, choices_, member_values_, undeclared_};
  Members members_{context_, choices_, undeclared_, declared_};
  DistinctElements distinct_{context_, refer_, values_left_};
  Elements elements_{context_, refer_, member_values_, distinct_};
};

}  // namespace tokamata::json
