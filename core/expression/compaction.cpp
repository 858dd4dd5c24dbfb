#include "expression/compaction.hpp"

#include <algorithm>

namespace tokamata {

Compaction::Compaction(Pool& pool, Leaves& leaves, RuleSets& rules, std::span<const ExpressionId> roots)
    : pool_(pool), leaves_(leaves), rule_sets_(rules) {
  plan_moves(roots);
  plan_leaves();
  index_.reserve(pool_.size() - static_cast<std::size_t>(std::ranges::count(moved_, kGone)));
}

template <class Visit>
void Compaction::visit_parts(ExpressionNode& n, Visit&& visit) {
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
      for (std::uint32_t i = 0; i < n.second; ++i) visit(pool_.items_[n.first + i]);
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

void Compaction::plan_moves(std::span<const ExpressionId> roots) {
  moved_.assign(pool_.size(), kGone);
  const auto keep = [&](ExpressionId expression) { moved_[expression.value] = Pool::kEmpty; };  // its place is to come
  for (const ExpressionId always : {Pool::kEmpty, Pool::kEpsilon, Pool::kStub, Pool::kEverything}) keep(always);
  for (const ExpressionId root : roots) keep(root);
  for (std::size_t i = pool_.size(); i-- > 0;)
    if (moved_[i] != kGone) visit_parts(pool_.nodes_[i], [&](ExpressionId& part) { keep(part); });
  std::uint32_t count = 0;
  for (ExpressionId& place : moved_)
    if (place != kGone) place = {count++};
}

void Compaction::plan_leaves() {
  strings_.resize(leaves_.strings_.size(), kGone.value);
  for (const auto& known : leaves_.languages_) languages_.push_back(known.automaton->anew());
  for (std::size_t i = 0; i < pool_.size(); ++i) {
    const ExpressionNode& n = pool_.nodes_[i];
    if (moved_[i] == kGone) continue;
    if (n.kind == Kind::Strings) strings_[n.first] = 0;
    if (n.kind == Kind::Language) language_states_.push_back(languages_[n.first]->adopt(leaves_.language(n), n.second));
  }
  for (std::uint32_t& number : strings_)
    if (number != kGone.value) number = strings_left_++;
}

void Compaction::plan_rules() {
  try {
    rule_sets_.begin_anew();
    for (std::size_t i = 0; i < pool_.size(); ++i)
      if (const ExpressionNode& n = pool_.nodes_[i]; n.kind == Kind::Rule && moved_[i] != kGone)
        rules_.push_back(rule_sets_.of(n).kept(n.rule()));
  } catch (...) {
    rule_sets_.keep_all();
    throw;
  }
  rule_sets_.all_kept();
}

void Compaction::carry_out() {
  move_leaves();
  move_nodes();
  index_nodes();
  for (auto& known : leaves_.automata_)
    for (ExpressionId& state : known.states)
      if (state != Leaves::KnownAutomaton::kUnmade) state = moved_[state.value];  // kGone is kUnmade
}

void Compaction::move_leaves() {
  auto& strings = leaves_.strings_;
  for (std::size_t i = 0; i < strings_.size(); ++i)
    if (strings_[i] != kGone.value && strings_[i] != i) strings[strings_[i]] = std::move(strings[i]);
  for (auto known = leaves_.strings_index_.begin(); known != leaves_.strings_index_.end();) {
    known->second = strings_[known->second];
    known = known->second == kGone.value ? leaves_.strings_index_.erase(known) : std::next(known);
  }
  strings.erase(strings.begin() + static_cast<std::ptrdiff_t>(strings_left_), strings.end());
  for (std::size_t i = 0; i < languages_.size(); ++i) leaves_.languages_[i].automaton = std::move(languages_[i]);
}

void Compaction::move_nodes() {
  auto language_state = language_states_.begin();
  auto rule = rules_.begin();
  auto& nodes = pool_.nodes_;
  auto& items = pool_.items_;
  std::uint32_t nodes_end = 0, items_end = 0;
  for (std::size_t i = 0; i < moved_.size(); ++i) {
    if (moved_[i] == kGone) continue;
    ExpressionNode n = nodes[i];
    visit_parts(n, [&](ExpressionId& part) { part = moved_[part.value]; });
    if (n.kind == Kind::Strings) n.first = strings_[n.first];
    if (n.kind == Kind::Language) n.second = *language_state++;
    if (n.kind == Kind::Rule) n.second = (rule++)->value;
    if (n.has_items()) {
      std::copy_n(items.begin() + n.first, n.second, items.begin() + items_end);
      n.first = items_end;
      items_end += n.second;
    }
    nodes[nodes_end++] = n;
  }
  nodes.erase(nodes.begin() + nodes_end, nodes.end());
  items.erase(items.begin() + items_end, items.end());
  nodes.shrink_to_fit();
  items.shrink_to_fit();
}

void Compaction::index_nodes() {
  const auto items_of = [&](const ExpressionNode& n) {
    return n.has_items() ? pool_.items(n) : std::span<const ExpressionId>();
  };
  TOKAMATA_CHECK(std::ranges::all_of(pool_.nodes_, [&](const auto& n) { return pool_.is_whole(n, items_of(n)); }),
                 "the parts of what stays have stayed, in their order");
  pool_.index_ = std::move(index_);
  for (std::uint32_t i = 0; i < pool_.size(); ++i)
    pool_.index_.add(i, pool_.hash_of(pool_.nodes_[i], items_of(pool_.nodes_[i])));
}

}  // namespace tokamata
