// Compaction: giving up the expressions that no text under way is made of.
//
// Problem.  An arena only grows; a constraint that serves texts for days meets expressions that are never needed
// again.  When memory is short, all but those that the matchers stand on must go, and not by a copy of the rest,
// which would hold two arenas at the moment when there is room for one.
// Example.  0 1 2 3 | 4: a   5: b   6: a·b   7: c   8: c·4   with the root 8: 4, 7 and 8 stay, as 4, 5 and 6.
// How.  The parts of an expression have smaller numbers than the expression itself.  One pass from the last to the
// first marks what the roots are made of, one from the first to the last moves each node down and renumbers its parts.
// The order of numbers stays, and so does every normal form that is sorted by them.
// Rules are numbered by their set (rules.hpp), which gives up those that no expression refers to.
// Cost.  Linear in the arena; in memory a number for each old expression, and the new table.  All of it is set aside
// before anything changes, so that a failure leaves the arena as it was.
// Not taken: a copy into a new arena, which makes every normal form again; reference counts, which cost at every step.

#include <algorithm>
#include <bit>

#include "expression/arena.hpp"

namespace tokamata {

namespace {
constexpr ExpressionId kGone{~std::uint32_t{0}};
}

template <class Visit>
void Pool::visit_parts(ExpressionNode& n, Visit&& visit) {
  const auto visit_number = [&](std::uint32_t& number) {
    ExpressionId part{number};
    visit(part);
    number = part.value;
  };
  switch (n.kind) {
    case Kind::Concatenation:
    case Kind::Guarded: visit_number(n.second); [[fallthrough]];
    case Kind::Repetition:
    case Kind::Complement:
    case Kind::LookAhead:
    case Kind::LookBehind:
    case Kind::Scope:
    case Kind::Terminal: visit_number(n.first); break;
    case Kind::Union:
    case Kind::Intersection:
      for (std::uint32_t i = 0; i < n.second; ++i) visit(items_[n.first + i]);
      break;
    case Kind::Empty:
    case Kind::Epsilon:
    case Kind::Stub:
    case Kind::Everything:
    case Kind::Bytes:
    case Kind::CodePoints:
    case Kind::Strings:
    case Kind::Until:
    case Kind::Language:
    case Kind::ControlToken:
    case Kind::OneToken:
    case Kind::Rule:
    case Kind::Commit:
    case Kind::Unverified: break;
  }
}

// Where the nodes move: kGone for those that no root is made of.
std::vector<ExpressionId> Pool::moves_to_keep(std::span<const ExpressionId> roots) {
  std::vector<ExpressionId> moved(nodes_.size(), kGone);
  const auto keep = [&](ExpressionId expression) { moved[expression.value] = kEmpty; };  // its place is to come
  for (const ExpressionId always : {kEmpty, kEpsilon, kStub, kEverything}) keep(always);
  for (const ExpressionId root : roots) keep(root);
  for (std::size_t i = nodes_.size(); i-- > 0;)
    if (moved[i] != kGone) visit_parts(nodes_[i], [&](ExpressionId& part) { keep(part); });
  std::uint32_t count = 0;
  for (ExpressionId& place : moved)
    if (place != kGone) place = {count++};
  return moved;
}

// The leaves that the nodes which stay are made of: sets of strings with new numbers, languages in new automata.
struct Pool::Leaves {
  std::vector<std::uint32_t> strings;  // the new number of each that stays, by its old one
  std::uint32_t strings_left = 0;
  std::vector<std::unique_ptr<LeafAutomaton>> languages;  // in the place of the old ones
  std::vector<std::uint32_t> language_states;             // of the nodes of languages that stay, in their order
};

Pool::Leaves Pool::leaves_to_keep(const std::vector<ExpressionId>& moved) const {
  Leaves leaves;
  leaves.strings.resize(strings_.size(), kGone.value);
  for (const KnownLanguage& known : languages_) leaves.languages.push_back(known.automaton->anew());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const ExpressionNode& n = nodes_[i];
    if (moved[i] == kGone) continue;
    if (n.kind == Kind::Strings) leaves.strings[n.first] = 0;
    if (n.kind == Kind::Language)
      leaves.language_states.push_back(leaves.languages[n.first]->adopt(*languages_[n.first].automaton, n.second));
  }
  for (std::uint32_t& number : leaves.strings)
    if (number != kGone.value) number = leaves.strings_left++;
  return leaves;
}

struct Pool::Compaction {
  std::vector<ExpressionId> moved;
  Leaves leaves;
  NumberTable index;
  std::vector<RuleId> rules;
};

Pool::Compaction Pool::plan_compaction(std::span<const ExpressionId> roots) {
  Compaction plan{.moved = moves_to_keep(roots), .leaves = {}, .index = {}, .rules = {}};
  plan.leaves = leaves_to_keep(plan.moved);
  const auto count = nodes_.size() - static_cast<std::size_t>(std::ranges::count(plan.moved, kGone));
  plan.index.reserve(count);
  return plan;
}

void Pool::compact(Compaction& plan) {
  move_nodes(plan.moved, plan.leaves, plan.rules);
  index_ = std::move(plan.index);
  for (std::uint32_t i = 0; i < nodes_.size(); ++i)
    index_.add(i, hash_of(nodes_[i], nodes_[i].has_items() ? items(nodes_[i]) : std::span<const ExpressionId>()));
  for (KnownAutomaton& known : automata_)
    for (ExpressionId& state : known.states)
      if (state != KnownAutomaton::kUnmade) state = plan.moved[state.value];  // kGone is kUnmade
  nodes_.shrink_to_fit();
  items_.shrink_to_fit();
}

std::vector<ExpressionId> Arena::keep_only(std::span<const ExpressionId> roots) {
  Compaction plan = plan_compaction(roots);
  Positions positions = positions_after(plan.moved, kGone);
  plan.rules = rules_to_keep(plan.moved);
  // All that is needed is allocated: from here on nothing fails.
  Derivatives::forget(std::move(positions));
  release(approximated_);
  compact(plan);
  return std::move(plan.moved);
}

// The new numbers of the rules of the nodes that stay, in their order.
std::vector<RuleId> Pool::rules_to_keep(const std::vector<ExpressionId>& moved) {
  std::vector<RuleId> kept;
  try {
    for (const auto& rules : rules_) rules->begin_anew();
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (const ExpressionNode& n = nodes_[i]; n.kind == Kind::Rule && moved[i] != kGone)
        kept.push_back(rules_[n.first]->kept(n.rule()));
  } catch (...) {
    for (const auto& rules : rules_) rules->keep_all();
    throw;
  }
  for (const auto& rules : rules_) rules->all_kept();
  return kept;
}

void Pool::move_nodes(const std::vector<ExpressionId>& moved, Leaves& leaves, const std::vector<RuleId>& rules) {
  for (std::size_t i = 0; i < leaves.strings.size(); ++i)
    if (leaves.strings[i] != kGone.value && leaves.strings[i] != i)
      strings_[leaves.strings[i]] = std::move(strings_[i]);
  for (auto known = strings_index_.begin(); known != strings_index_.end();) {
    known->second = leaves.strings[known->second];
    known = known->second == kGone.value ? strings_index_.erase(known) : std::next(known);
  }
  strings_.erase(strings_.begin() + static_cast<std::ptrdiff_t>(leaves.strings_left), strings_.end());
  for (std::size_t i = 0; i < leaves.languages.size(); ++i) languages_[i].automaton = std::move(leaves.languages[i]);
  auto language_state = leaves.language_states.begin();
  auto rule = rules.begin();
  std::uint32_t nodes_end = 0, items_end = 0;
  for (std::size_t i = 0; i < moved.size(); ++i) {
    if (moved[i] == kGone) continue;
    ExpressionNode n = nodes_[i];
    visit_parts(n, [&](ExpressionId& part) { part = moved[part.value]; });
    if (n.kind == Kind::Strings) n.first = leaves.strings[n.first];
    if (n.kind == Kind::Language) n.second = *language_state++;
    if (n.kind == Kind::Rule) n.second = (rule++)->value;
    if (n.has_items()) {
      std::copy_n(items_.begin() + n.first, n.second, items_.begin() + items_end);
      n.first = items_end;
      items_end += n.second;
    }
    nodes_[nodes_end++] = n;
  }
  nodes_.erase(nodes_.begin() + nodes_end, nodes_.end());
  items_.erase(items_.begin() + items_end, items_.end());
  TOKAMATA_CHECK(std::ranges::all_of(nodes_,
                                     [this](const auto& n) {
                                       return is_whole(n, n.has_items() ? items(n) : std::span<const ExpressionId>());
                                     }),
                 "the parts of what stays have stayed, in their order");
}

}  // namespace tokamata
