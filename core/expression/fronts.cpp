#include "expression/fronts.hpp"

#include <algorithm>

#include "common/sort_unique.hpp"

namespace tokamata {

std::vector<ExpressionId> Fronts::of(ExpressionId expression, bool without_rules) {
  std::vector<ExpressionId> found, open{expression};
  while (!open.empty()) {
    const ExpressionId at = forms_.rotated(open.back());
    open.pop_back();
    const auto [first, tail] = pool_.split(at);
    const ExpressionNode head = pool_.node(first);
    if (head.kind != Kind::Union || !(head.rules || without_rules)) {
      found.push_back(at);
      continue;
    }
    for (std::uint32_t i = head.item_count(); i-- > 0;) open.push_back(forms_.concatenate(pool_.item(head, i), tail));
  }
  return found;
}

ExpressionId Fronts::approximated(ExpressionId expression, Budget& budget) {
  if (!rule_sets_.any_remembers()) return expression;
  return approximated_.replaced(
      expression, 0, [](const ExpressionNode& n) { return n.rules; },
      [&](const ExpressionNode& n) {
        RememberingRules* const of = rule_sets_.of(n).remembering();
        return of ? of->approximated(n.rule(), budget) : forms_.rule(n.source(), n.rule());
      });
}

std::vector<Approximation> Fronts::approximations(ExpressionId expression, Budget& budget) {
  if (!rule_sets_.any_remembers()) return {{expression}};
  return approximations(expression, kLongestLead, budget);
}

namespace {

std::vector<TextsAfter> behind_byte(std::vector<TextsAfter> all, std::uint8_t byte, bool is_optional) {
  std::vector<TextsAfter> result = is_optional ? all : std::vector<TextsAfter>();
  for (TextsAfter& texts : all) result.push_back({static_cast<char>(byte) + texts.lead, std::move(texts.tree)});
  return result;
}

}  // namespace

// What is after a byte or two is judged as well as what is in front: it is known where that begins.
std::vector<Approximation> Fronts::approximations(ExpressionId expression, std::size_t lead, Budget& budget) {
  std::vector<ExpressionId> others;
  std::vector<Approximation> found(1);
  const auto add = [&](ExpressionId all, Approximation approximation) {
    approximation.expression = all;
    if (!approximation.is_plain()) {
      found.push_back(std::move(approximation));
      return;
    }
    others.push_back(all);
    std::ranges::move(approximation.alike, std::back_inserter(found.front().alike));
  };
  for (const ExpressionId front : of(expression, false)) {
    const auto [first, tail] = pool_.split(front);
    const ExpressionNode head = pool_.node(first);
    const bool is_optional = head.kind == Kind::Repetition && head.minimum == 0 && head.maximum == 1;
    const std::optional<std::uint8_t> byte = leaves_.only_byte(is_optional ? pool_.node(head.body()) : head);
    if (head.kind == Kind::Rule) {
      const ExpressionId rest = approximated(tail, budget);
      RememberingRules* const of = rule_sets_.of(head).remembering();
      for (Approximation& of_rule : of ? of->approximations(head.rule(), budget) : std::vector<Approximation>{{first}})
        add(forms_.concatenate(of_rule.expression, rest), std::move(of_rule));
    } else if (byte && lead > 0) {
      for (Approximation& further : approximations(tail, lead - 1, budget)) {
        const ExpressionId behind = forms_.concatenate(first, further.expression);
        further.refused = behind_byte(std::move(further.refused), *byte, is_optional);
        further.unverified = behind_byte(std::move(further.unverified), *byte, is_optional);
        further.alike = behind_byte(std::move(further.alike), *byte, is_optional);
        add(behind, std::move(further));
      }
    } else {
      others.push_back(approximated(front, budget));
    }
  }
  found.front().expression = forms_.unite(others);
  return found;
}

std::vector<std::string> Fronts::awaited(ExpressionId expression, Budget& budget) {
  std::vector<std::string> found;
  for (const ExpressionId front : of(expression, false)) {
    const auto [first, tail] = pool_.split(front);
    const ExpressionNode head = pool_.node(first);
    RememberingRules* const of = head.kind == Kind::Rule ? rule_sets_.of(head).remembering() : nullptr;
    if (!of) continue;
    if (std::optional<std::string> string = of->awaited(head.rule(), budget)) found.push_back(std::move(*string));
  }
  sort_unique(found);
  return found;
}

std::vector<ExpressionId> Fronts::unfolded(ExpressionId expression, Budget& budget) {
  std::vector<ExpressionId> found, open = of(expression);
  while (!open.empty()) {
    const ExpressionId at = open.back();
    open.pop_back();
    const auto [first, tail] = pool_.split(at);
    const ExpressionNode head = pool_.node(first);
    const auto add = [&](ExpressionId way) { std::ranges::copy(of(way), std::back_inserter(open)); };
    if (pool_.node(at).commits) {  // it stood after something that is skipped
      add(derivatives_.settled(at));
      continue;
    }
    if (head.kind == Kind::Rule) {
      if (const auto body = rule_sets_.of(head).unfolded(head.rule(), budget)) {
        add(forms_.concatenate(*body, tail));
        continue;
      }
    } else if (tail != Pool::kEpsilon && head.nullable && !head.open) {
      add(tail);
    }
    found.push_back(at);
  }
  return found;
}

}  // namespace tokamata
