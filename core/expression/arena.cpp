#include "expression/arena.hpp"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

#include "expression/compaction.hpp"
#include "expression/expression.hpp"

namespace tokamata {

// ---- from patterns to expressions -------------------------------------------------------------

// Adds one pattern, whose trees may share parts.
class Arena::Reader {
 public:
  Reader(Arena& arena, Budget& budget, Added& added) : arena_(arena), budget_(budget), added_(added) {}

  ExpressionId add(const Expression& tree) {
    budget_.step();
    if (const auto known = added_.find(&tree); known != added_.end()) return known->second;
    if (const std::uint32_t bound = std::min(arena_.pool_.depth_limit(), Expression::kMaximumDepth);
        tree.depth() > bound)
      throw LimitExceeded("depth", bound);
    const ExpressionId id = std::visit([this](const auto& n) { return added(n); }, tree.node());
    added_.emplace(&tree, id);
    return id;
  }

 private:
  ExpressionId added(const Expression::Empty&) { return Pool::kEmpty; }
  ExpressionId added(const Expression::Everything&) { return Pool::kEverything; }
  ExpressionId added(const Expression::Literal& n) { return arena_.leaf_forms_.literal(n.bytes, budget_); }
  ExpressionId added(const Expression::CodePoints& n) { return arena_.leaf_forms_.code_points(n.automaton); }
  ExpressionId added(const Expression::Strings& n) { return arena_.leaf_forms_.strings(n.automaton); }
  ExpressionId added(const Expression::Until& n) { return arena_.leaf_forms_.until(n.search); }
  ExpressionId added(const Expression::Language& n) { return arena_.leaf_forms_.language(n.language); }
  ExpressionId added(const Expression::ControlToken& n) { return arena_.leaf_forms_.control_tokens(n.name); }
  ExpressionId added(const Expression::OneToken& n) { return arena_.leaf_forms_.one_token(n.bytes); }
  ExpressionId added(const Expression::Concatenation& n) {
    return arena_.forms_.concatenate_all(add_parts(n.items), budget_);
  }
  ExpressionId added(const Expression::Repetition& n);
  ExpressionId added(const Expression::Union& n);
  ExpressionId added(const Expression::Intersection& n) {
    std::vector<ExpressionId> items;
    for (const ExpressionPtr& item : n.items) items.push_back(add(*item));
    return arena_.forms_.intersect(items);
  }
  ExpressionId added(const Expression::Complement& n) { return arena_.forms_.complement(add(*n.body)); }
  ExpressionId added(const Expression::LookAhead& n) { return arena_.lookaround_.look_ahead(add(*n.rest)); }
  ExpressionId added(const Expression::LookBehind& n) { return arena_.lookaround_.look_behind(add(*n.prefix)); }
  ExpressionId added(const Expression::Scope& n) { return arena_.lookaround_.scope(add(*n.body)); }
  ExpressionId added(const Expression::Grammar& n) { return arena_.rules_of(n.rules).start(budget_); }
  ExpressionId added(const Expression::Terminal& n) {
    const ExpressionId body = add(*n.body);
    const ExpressionNode& about = arena_.pool_.node(body);
    if (!about.text || about.open || about.edges || about.rules)
      throw std::invalid_argument("a terminal is a regular set of texts, without lookaround that sees beyond it");
    return arena_.derivatives_.terminal(body, budget_);
  }
  [[noreturn]] ExpressionId added(const Expression::Reference&) {
    throw std::invalid_argument("a reference to a rule stands outside of rules");
  }
  [[noreturn]] ExpressionId added(const Expression::TooDeep&) {
    throw std::logic_error("a tree that is too deep has passed the limit on depth");
  }

  std::vector<ExpressionId> add_parts(const std::vector<ExpressionPtr>& parts);
  ExpressionId add_beside_rules(const Expression& part);

  Arena& arena_;
  Budget& budget_;
  Added& added_;
};

ExpressionId Arena::add(const Expression& pattern, Budget& budget) {
  Added added;
  return add(pattern, budget, added);
}

ExpressionId Arena::add(const Expression& pattern, Budget& budget, Added& added) {
  return Reader(*this, budget, added).add(pattern);
}

// Problem.  What follows free text that is a complement, or stands beside it, is known to live by a search alone
// (ExpressionNode::constrained).  Masks of rules are made where that is not so: a JSON text before such free text would
// be walked byte by byte, in a new state after each.
// How.  Parts without rules, whose parts together have some, are terminals where only a search tells that they live.  A
// terminal is live or kEmpty.
ExpressionId Arena::Reader::add_beside_rules(const Expression& part) {
  const ExpressionId id = add(part);
  const ExpressionNode& n = arena_.pool_.node(id);
  return n.constrained && n.text && !n.open && !n.behind && !n.edges && !n.rules
             ? arena_.derivatives_.terminal(id, budget_)
             : id;
}

std::vector<ExpressionId> Arena::Reader::add_parts(const std::vector<ExpressionPtr>& parts) {
  const bool have_rules = std::ranges::any_of(parts, [](const ExpressionPtr& part) { return part->has_rules(); });
  std::vector<ExpressionId> all(parts.size());
  for (std::size_t i = all.size(); i-- > 0;) all[i] = have_rules ? add_beside_rules(*parts[i]) : add(*parts[i]);
  return all;
}

// Many literals are one automaton: as alternatives, each would be derived at every byte.
ExpressionId Arena::Reader::added(const Expression::Union& choice) {
  // fewer are better off by themselves: under a repetition their counts are merged
  constexpr std::size_t kFewestLiterals = 1000;
  std::vector<std::string_view> literals;
  std::vector<ExpressionPtr> others;
  for (const ExpressionPtr& item : choice.items) {
    if (const auto* literal = std::get_if<Expression::Literal>(&item->node())) literals.push_back(literal->bytes);
    else others.push_back(item);
  }
  const bool are_many = literals.size() >= kFewestLiterals;
  std::vector<ExpressionId> items = add_parts(are_many ? others : choice.items);
  if (are_many) items.push_back(arena_.leaf_forms_.strings(StringAutomaton::of_strings(std::move(literals))));
  return arena_.forms_.unite(items);
}

ExpressionId Arena::Reader::added(const Expression::Repetition& repetition) {
  const ExpressionId body = add(*repetition.body);
  const ExpressionId when_empty = arena_.pool_.node(body).open ? arena_.lookaround_.empty_part(body) : Pool::kEmpty;
  const ExpressionId result =
      when_empty == Pool::kEmpty
          ? arena_.forms_.repeat(body, repetition.minimum, repetition.maximum)
          : arena_.lookaround_.repeat_conditional(body, when_empty, repetition.minimum, repetition.maximum, budget_);
  if (arena_.pool_.node(result).kind == Kind::Repetition && repetition.position >= 0)
    arena_.analyses_.note_position(arena_.pool_.node(result).body().value, repetition.position);
  return result;
}

// ---- rules and memory -------------------------------------------------------------------------

Rules& Arena::rules_of(const std::shared_ptr<const RuleSet>& set) {
  if (Rules* const known = rule_sets_.find(set)) return *known;
  Rules& rules = rule_sets_.add(set, set->make(rule_sets_.size(), *this));
  leaves_.note_bytes(set->bytes(), set->class_borders());
  return rules;
}

std::vector<ExpressionId> Arena::keep_only(std::span<const ExpressionId> roots) {
  Compaction compaction(pool_, leaves_, rule_sets_, roots);
  Analyses::Positions positions = analyses_.positions_after(compaction.moved(), Compaction::kGone);
  compaction.plan_rules();
  // All that is needed is allocated: from here on nothing fails.
  analyses_.forget(std::move(positions));
  forms_.forget();
  clipping_.forget();
  derivatives_.forget();
  fronts_.forget();
  compaction.carry_out();
  return std::move(compaction.moved());
}

}  // namespace tokamata
