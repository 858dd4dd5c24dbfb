#include "expression/compaction.hpp"

#include <algorithm>

#include "expression/parts.hpp"

namespace tokamata {

Compaction::Compaction(Pool& pool, Leaves& leaves, RuleSets& rules, std::span<const ExpressionId> roots)
    : pool_(pool), leaves_(leaves), rule_sets_(rules) {
  plan_moves(roots);
  plan_leaves();
  index_.reserve(pool_.size() - static_cast<std::size_t>(std::ranges::count(moved_, kGone)));
}

// Each part of a node becomes what `moved` says.
template <class Moved>
void Compaction::move_parts(ExpressionNode& n, Moved&& moved) {
  switch (facts_of(n.kind).holds) {
    case Holds::Pair: n.payload = Payload::pair(moved(n.head()), moved(n.tail())); break;
    case Holds::Body: n.payload = Payload::body(moved(n.body())); break;
    case Holds::Items:
      for (std::uint32_t i = 0; i < n.item_count(); ++i) {
        ExpressionId& item = pool_.items_[n.first_item() + i];
        item = moved(item);
      }
      break;
    default: break;
  }
}

void Compaction::plan_moves(std::span<const ExpressionId> roots) {
  moved_.assign(pool_.size(), kGone);
  const auto keep = [&](ExpressionId expression) { moved_[expression.value] = Pool::kEmpty; };  // its place is to come
  for (const ExpressionId always : {Pool::kEmpty, Pool::kEpsilon, Pool::kStub, Pool::kEverything}) keep(always);
  for (const ExpressionId root : roots) keep(root);
  std::vector<ExpressionId> parts;
  for (std::uint32_t i = static_cast<std::uint32_t>(pool_.size()); i-- > 0;) {
    if (moved_[i] == kGone) continue;
    parts.clear();
    append_parts(pool_, {i}, parts);
    std::ranges::for_each(parts, keep);
  }
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
    if (n.kind == Kind::Strings) strings_[n.automaton()] = 0;
    if (n.kind == Kind::Language)
      language_states_.push_back(languages_[n.automaton()]->adopt(leaves_.language(n), n.state()));
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
    move_parts(n, [&](ExpressionId part) { return moved_[part.value]; });
    if (n.kind == Kind::Strings) n.payload = Payload::state(strings_[n.automaton()], n.state());
    if (n.kind == Kind::Language) n.payload = Payload::state(n.automaton(), *language_state++);
    if (n.kind == Kind::Rule) n.payload = Payload::rule(n.source(), *rule++);
    if (n.has_items()) {
      std::copy_n(items.begin() + n.first_item(), n.item_count(), items.begin() + items_end);
      n.payload = Payload::items(items_end, n.item_count());
      items_end += n.item_count();
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
