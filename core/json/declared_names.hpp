// Names of members that the schema declares: which bytes they go on with, and what follows each.
//
// A rule stands for a range of the names of a choice (name_choices.hpp), sorted, that begin with the bytes read.  So a
// byte is a search in the range, and masks take the rest of each name as a string.  A backslash begins another spelling
// of the next character: names are followed along it while it can still become that character (escapes.hpp).
// Where a name is due, other names may come after some bytes alone: there the rule falls into the declared names and
// each class of undeclared ones.
// Example.  Names `tag` and `temp`: after `t` the rule is both, after `te` it is `temp`, and after `t\u00` it is both.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/undeclared_names.hpp"

namespace tokamata::json {

class DeclaredNames {
 public:
  DeclaredNames(RuleContext& context, RuleReferences& refer, NameChoices& choices, MemberValues& values,
                UndeclaredNames& undeclared)
      : open_(context.open),
        rules_(context.rules),
        refer_(refer),
        choices_(choices),
        values_(values),
        undeclared_(undeclared) {}

  ExpressionId expression(const DeclaredNameRule& rule, const Work& work);
  ExpressionId derivative(const DeclaredNameRule& rule, std::uint8_t byte, const Work& work);
  ByteSet first_bytes(const DeclaredNameRule& rule, const Work& work);

  // ---- names as strings: RememberingRules ----
  std::span<const std::string_view> strings(const DeclaredNameRule& rule, const Work& work);
  ExpressionId after(const DeclaredNameRule& rule, std::size_t string, const Work& work);
  std::uint32_t spelled_after(const DeclaredNameRule& rule, std::size_t string) const;
  ExpressionId after_backslash(const DeclaredNameRule& rule, std::size_t low, std::size_t depth, const Work& work);
  std::optional<std::string> awaited(const DeclaredNameRule& rule, const Work& work);

  // ---- over-approximations ----
  ExpressionId approximated(RuleId rule, const Work& work);
  // A declared name in front, and what may come in its place after a fork.
  std::vector<Approximation> approximations(RuleId rule, const Work& work);
  // Undeclared names that may come in its place after a fork, in the mode of the rule.
  ExpressionId late_names(const DeclaredNameRule& rule, const Work& work);

 private:
  std::pair<std::uint32_t, std::uint32_t> strings_of(const DeclaredNameRule& rule, const NameChoice& choice) const;
  std::uint32_t name_of_string(const DeclaredNameRule& rule, std::size_t string, const NameChoice& choice) const;
  ExpressionId derive_escape(const DeclaredNameRule& rule, std::uint8_t byte, const Work& work);
  ExpressionId opened(const DeclaredNameRule& rule, const Work& work);
  ExpressionId approximate_names(RuleId rule, const Work& work);
  ExpressionId approximate_late(const DeclaredNameRule& rule, std::uint32_t name_class, const UndeclaredName& name,
                                const Work& work);
  template <class Visit>
  void visit_forks(const DeclaredNameRule& rule, Visit&& visit, const Work& work);

  OpenContainers& open_;
  RuleTable& rules_;
  RuleReferences& refer_;
  NameChoices& choices_;
  MemberValues& values_;
  UndeclaredNames& undeclared_;
  std::vector<std::string_view> strings_;
};

}  // namespace tokamata::json
