#include "json/elements.hpp"

namespace tokamata::json {

ExpressionId Elements::expand(const ElementsRule& rule, const Work& work) {
  const OpenArray array = open_[rule.array];
  if (array.is_tagged) return expand_tagged(rule, work);
  Arena& arena = work.arena;
  ArrayFormulas& arrays = sets_.arrays();
  std::vector<ExpressionId> ways;
  if (arrays.accepts(array.rest))
    ways.push_back(layout_.before_closing(rule.line.indent, literal("]", work), rule.is_first, work));
  std::vector<ExpressionId> next;
  const auto add = [&](SetId set, ArrayId left) {
    if (sets_.lives(set, work) && sets_.array_ends().some_length(left, work))
      next.push_back(arena.forms().concatenate(refer_.value(set, Gap::Line, rule.line, work),
                                               refer_.elements(open_.add(OpenArray{left}), false, rule.line, work)));
  };
  for (const auto branches = arrays.branches(array.rest, work); const Branch<ArrayTag>& way : *branches) {
    if (!arrays.tells_equal(way.rest)) {
      add(way.value, way.rest);
      continue;
    }
    if (rule.line.mode != Mode::Exact) {
      next.push_back(approximate_element(way, rule.is_first, rule.line, work));
      continue;
    }
    // An element like none before it, or like one of them.
    const ArrayEnds::Fresh fresh = sets_.array_ends().fresh(way, open_.seen(array), work);
    if (sets_.lives(fresh.values, work)) {
      const BegunElement element{refer_.value(fresh.values, Gap::Line, rule.line, work), fresh.values,
                                 ElementKind::Blank, fresh.is_settled};
      next.push_back(
          distinct_.expression(open_.add(OpenArray{way.rest, array.seen}), element, Texts::kEmpty, rule.line, work));
    }
    const ArrayId equal = arrays.with_equal(way.rest);
    if (equal == Formulas<ArrayTag>::kFalse) continue;
    std::vector<SetId> known;
    for (const std::string& one : open_.text_sets().strings(array.seen)) known.push_back(sets_.constant(one));
    add(sets_.all({way.value, sets_.any(std::move(known))}), equal);
  }
  const ExpressionId more = arena.forms().unite(next);
  ways.push_back(
      rule.is_first ? more : layout_.after_blank(Gap::None, arena.forms().concatenate(literal(",", work), more), work));
  return arena.forms().unite(ways);
}

ExpressionId Elements::expand_tagged(const ElementsRule& rule, const Work& work) {
  std::vector<ExpressionId> next;
  for (const auto branches = sets_.arrays().branches(open_[rule.array].rest, work);
       const Branch<ArrayTag>& way : *branches) {
    const ExpressionId element = values_.tagged_element(way.value, rule.line, work);
    if (element == Pool::kEmpty) continue;
    const OpenArrayId rest = open_.add(OpenArray{way.rest, kNoTexts, true});
    const ExpressionId further = refer_.elements(rest, false, rule.line, work);
    if (further != Pool::kEmpty) next.push_back(work.arena.forms().concatenate(element, further));
  }
  return work.arena.forms().concatenate(tags_->pieces(work).between, work.arena.forms().unite(next));
}

// An over-approximation knows neither the elements before this one nor whether it equals one of them.  So the element
// is unverified, and so is everything after it.  Only the first element of an array equals none.
ExpressionId Elements::approximate_element(const Branch<ArrayTag>& way, bool is_first, Line line, const Work& work) {
  Arena& arena = work.arena;
  const auto unverified = [&](ExpressionId what) {
    return line.mode == Mode::Approximation ? unverified_from(what, work) : what;
  };
  std::vector<ExpressionId> further;
  SetId set = way.value;
  if (is_first) set = sets_.array_ends().fresh(way, {}, work).values;
  if (!sets_.lives(set, work)) return Pool::kEmpty;
  further.push_back(refer_.elements(open_.add(OpenArray{way.rest}), false, line, work));
  if (const ArrayId equal = sets_.arrays().with_equal(way.rest); equal != Formulas<ArrayTag>::kFalse && !is_first)
    further.push_back(refer_.elements(open_.add(OpenArray{equal}), false, line, work));
  const ExpressionId element = refer_.value(set, Gap::Line, line, work), rest = arena.forms().unite(further);
  return is_first ? arena.forms().concatenate(element, unverified(rest))
                  : unverified(arena.forms().concatenate(element, rest));
}

}  // namespace tokamata::json
