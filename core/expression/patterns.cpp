// From patterns to expressions, and back to a position in a pattern.

#include <algorithm>

#include "expression/arena.hpp"

namespace tokamata {

ExpressionId Arena::add(const Expression& pattern, Budget& budget) {
  Added added;
  return add(pattern, added, budget);
}

ExpressionId Arena::add(const Expression& expression, Added& added, Budget& budget) {
  budget.step();
  if (const auto known = added.find(&expression); known != added.end()) return known->second;
  if (const std::uint32_t bound = std::min(depth_limit_, Expression::kMaximumDepth); expression.depth() > bound)
    throw LimitExceeded("depth", bound);
  struct Visitor {
    Arena& arena;
    Added& added;
    Budget& budget;
    ExpressionId operator()(const Expression::Empty&) const { return kEmpty; }
    ExpressionId operator()(const Expression::Everything&) const { return kEverything; }
    ExpressionId operator()(const Expression::Literal& literal) const {
      return arena.add_literal(literal.bytes, budget);
    }
    ExpressionId operator()(const Expression::CodePoints& set) const {
      return arena.automaton_state(arena.add_automaton(set.automaton), set.automaton->start());
    }
    ExpressionId operator()(const Expression::Strings& strings) const {
      return arena.strings_state(arena.add_strings(strings.automaton), StringAutomaton::start());
    }
    ExpressionId operator()(const Expression::Until& until) const {
      return arena.until_state(arena.add_search(until.search), 0);
    }
    ExpressionId operator()(const Expression::Language& leaf) const {
      const std::uint32_t index = arena.add_language(leaf.language);
      return arena.language_state(index, arena.languages_[index].automaton->start());
    }
    ExpressionId operator()(const Expression::ControlToken& token) const { return arena.control_tokens_of(token.name); }
    ExpressionId operator()(const Expression::OneToken& token) const {
      arena.note_bytes(token.bytes);
      return token.bytes.empty() ? kEmpty : arena.one_token(arena.index_of(token.bytes), Phase::BeforeEdge);
    }
    ExpressionId operator()(const Expression::Concatenation& sequence) const {
      return arena.add_concatenation(sequence, added, budget);
    }
    ExpressionId operator()(const Expression::Repetition& repetition) const {
      return arena.add_repetition(repetition, added, budget);
    }
    ExpressionId operator()(const Expression::Union& choice) const { return arena.add_union(choice, added, budget); }
    ExpressionId operator()(const Expression::Intersection& both) const {
      std::vector<ExpressionId> items = arena.add_all(both.items, added, budget);
      return arena.intersect(items);
    }
    ExpressionId operator()(const Expression::Complement& n) const {
      return arena.complement(arena.add(*n.body, added, budget));
    }
    ExpressionId operator()(const Expression::LookAhead& n) const {
      return arena.look_ahead(arena.add(*n.rest, added, budget));
    }
    ExpressionId operator()(const Expression::LookBehind& n) const {
      return arena.look_behind(arena.add(*n.prefix, added, budget));
    }
    ExpressionId operator()(const Expression::Scope& n) const { return arena.scope(arena.add(*n.body, added, budget)); }
    ExpressionId operator()(const Expression::Grammar& n) const {
      return arena.rules_[arena.add_rules(n.rules)]->start(arena, budget);
    }
    ExpressionId operator()(const Expression::Terminal& n) const {
      const ExpressionId body = arena.add(*n.body, added, budget);
      const ExpressionNode& about = arena.node(body);
      if (!about.text || about.open || about.edges || about.rules)
        throw std::invalid_argument("a terminal is a regular set of texts, without lookaround that sees beyond it");
      return arena.terminal(body, budget);
    }
    ExpressionId operator()(const Expression::Reference&) const {
      throw std::invalid_argument("a reference to a rule stands outside of rules");
    }
    ExpressionId operator()(const Expression::TooDeep&) const {
      throw std::logic_error("a tree that is too deep has passed the limit on depth");
    }
  };
  const ExpressionId id = std::visit(Visitor{*this, added, budget}, expression.node());
  added.emplace(&expression, id);
  return id;
}

// Problem.  What follows free text that is a complement, or stands beside it, is known to live by a search alone
// (ExpressionNode::constrained).  Masks of rules are made where that is not so: a JSON text before such free text would
// be walked byte by byte, in a new state after each.
// How.  Parts without rules, whose parts together have some, are terminals where only a search tells that they live.  A
// terminal is live or kEmpty.
ExpressionId Arena::add_beside_rules(const Expression& part, Added& added, Budget& budget) {
  const ExpressionId id = add(part, added, budget);
  const ExpressionNode& n = node(id);
  return n.constrained && n.text && !n.open && !n.behind && !n.edges && !n.rules ? terminal(id, budget) : id;
}

std::vector<ExpressionId> Arena::add_all(const std::vector<ExpressionPtr>& expressions, Added& added, Budget& budget) {
  std::vector<ExpressionId> all;
  all.reserve(expressions.size());
  for (const ExpressionPtr& expression : expressions) all.push_back(add(*expression, added, budget));
  return all;
}

std::vector<ExpressionId> Arena::add_parts(const std::vector<ExpressionPtr>& parts, Added& added, Budget& budget) {
  const bool have_rules = std::ranges::any_of(parts, [](const ExpressionPtr& part) { return part->has_rules(); });
  std::vector<ExpressionId> all(parts.size());
  for (std::size_t i = all.size(); i-- > 0;)
    all[i] = have_rules ? add_beside_rules(*parts[i], added, budget) : add(*parts[i], added, budget);
  return all;
}

// Many literals are one automaton: as alternatives, each would be derived at every byte.
ExpressionId Arena::add_union(const Expression::Union& choice, Added& added, Budget& budget) {
  // fewer are better off by themselves: under a repetition their counts are merged
  constexpr std::size_t kMany = 1000;
  std::vector<std::string_view> literals;
  std::vector<ExpressionPtr> others;
  for (const ExpressionPtr& item : choice.items) {
    if (const auto* literal = std::get_if<Expression::Literal>(&item->node())) literals.push_back(literal->bytes);
    else others.push_back(item);
  }
  const bool are_many = literals.size() >= kMany;
  std::vector<ExpressionId> items = add_parts(are_many ? others : choice.items, added, budget);
  if (are_many)
    items.push_back(
        strings_state(add_strings(StringAutomaton::of_strings(std::move(literals))), StringAutomaton::start()));
  return unite(items);
}

ExpressionId Arena::add_concatenation(const Expression::Concatenation& sequence, Added& added, Budget& budget) {
  return concatenate_all(add_parts(sequence.items, added, budget), budget);
}

ExpressionId Forms::concatenate_all(std::span<const ExpressionId> items, Budget& budget) {
  ExpressionId result = kEpsilon;
  for (auto item = items.rbegin(); item != items.rend(); ++item) {
    // Flat all the way: (ab)c and a(bc) are one expression.
    std::vector<ExpressionId> spine;
    ExpressionId head = *item;
    while (node(head).kind == Kind::Concatenation) {
      budget.step();
      spine.push_back(node(head).head());
      head = node(head).tail();
    }
    result = pair(head, result);
    for (auto part = spine.rbegin(); part != spine.rend(); ++part) {
      budget.step();
      result = pair(*part, result);
    }
  }
  return result;
}

ExpressionId Arena::add_repetition(const Expression::Repetition& repetition, Added& added, Budget& budget) {
  const ExpressionId body = add(*repetition.body, added, budget);
  const ExpressionId when_empty = node(body).open ? empty_part(body) : kEmpty;
  const ExpressionId result =
      when_empty == kEmpty ? repeat(body, repetition.minimum, repetition.maximum)
                           : repeat_conditional(body, when_empty, repetition.minimum, repetition.maximum, budget);
  if (node(result).kind == Kind::Repetition && repetition.position >= 0)
    note_position(node(result).first, repetition.position);
  return result;
}

}  // namespace tokamata
