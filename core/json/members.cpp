#include "json/members.hpp"

namespace tokamata::json {

ExpressionId Members::expand(const MembersRule& rule, const Work& work) {
  if (open_[rule.object].is_tagged) return expand_tagged(rule, work);
  Arena& arena = work.arena;
  std::vector<ExpressionId> ways;
  if (sets_.objects().accepts(open_[rule.object].rest))
    ways.push_back(layout_.before_closing(rule.line.indent, literal("}", work), rule.is_first, work));
  std::vector<ExpressionId> next;
  if (const ExpressionId all = names(rule, work); all != Pool::kEmpty)
    next.push_back(
        layout_.after(Gap::Line, rule.line.indent, arena.forms().concatenate(literal("\"", work), all), work));
  if (rule.line.mode == Mode::Approximation || rule.line.mode == Mode::Unverified)
    add_approximate_names(rule, next, work);
  const ExpressionId more = arena.forms().unite(next);
  if (more != Pool::kEmpty)
    ways.push_back(rule.is_first
                       ? more
                       : layout_.after_blank(Gap::None, arena.forms().concatenate(literal(",", work), more), work));
  return arena.forms().unite(ways);
}

ExpressionId Members::expand_tagged(const MembersRule& rule, const Work& work) {
  const TaggedMembers::Pieces pieces = tags_->pieces(work);
  std::vector<ExpressionId> next;
  if (const ExpressionId all = names(rule, work); all != Pool::kEmpty)
    next.push_back(work.arena.forms().concatenate(pieces.opening, all));
  if (rule.line.mode == Mode::Approximation || rule.line.mode == Mode::Unverified)
    add_approximate_names(rule, next, work);
  return work.arena.forms().concatenate(pieces.between, work.arena.forms().unite(next));
}

// All names that may come next, after their first quote.
ExpressionId Members::names(const MembersRule& rule, const Work& work) {
  const NameChoice& next = choices_.of(rule.object, work);
  const OpenObject object = open_[rule.object];
  std::vector<ExpressionId> ways;
  const auto count = static_cast<std::uint32_t>(next.names.size());
  if (count > 0) ways.push_back(declared_.expression({rule.object, 0, count, 0, Texts::kEmpty, rule.line}, work));
  if (next.due) return work.arena.forms().unite(ways);
  for (const auto& [number, length] : next.others) {
    if (rule.line.mode == Mode::Exact) {
      const UndeclaredName name = undeclared_.begun(object, number, work);
      ways.push_back(
          undeclared_.expression({rule.object, number, Texts::kEmpty, Texts::kEmpty, rule.line}, name, work));
    }
    if (rule.line.mode == Mode::Relaxed) ways.push_back(undeclared_.relaxed(rule.object, number, rule.line, work));
  }
  return work.arena.forms().unite(ways);
}

// Undeclared names that begin within a token, quotes and all.
void Members::add_approximate_names(const MembersRule& rule, std::vector<ExpressionId>& ways, const Work& work) {
  const NameChoice& next = choices_.of(rule.object, work);
  const OpenObject object = open_[rule.object];
  if (next.due) {
    const auto count = static_cast<std::uint32_t>(next.names.size());
    const ExpressionId late = declared_.late_names({rule.object, 0, count, 0, Texts::kEmpty, rule.line}, work);
    if (late == Pool::kEmpty) return;
    const ExpressionId opened = work.arena.forms().concatenate(undeclared_.opening(rule.object, work), late);
    ways.push_back(object.is_tagged ? opened : layout_.after(Gap::Line, rule.line.indent, opened, work));
    return;
  }
  for (const auto& [number, length] : next.others) {
    const UndeclaredName name = undeclared_.begun(object, number, work);
    if (name.rest == Pool::kEmpty) continue;
    const bool is_unverified = !name.is_settled && rule.line.mode == Mode::Approximation;
    const auto add = [&](ExpressionId way) { ways.push_back(is_unverified ? unverified_from(way, work) : way); };
    const auto approximated = [&](Gap gap) {
      return undeclared_.approximated(rule.object, number, name.rest, gap, true, rule.line, work);
    };
    add(approximated(Gap::Line));
    if (object.is_tagged) continue;
    const ExpressionId inside = work.arena.forms().concatenate(literal("\"", work), approximated(Gap::None));
    add(layout_.after_break(Gap::Line, rule.line.indent, inside, work));
  }
}

}  // namespace tokamata::json
