// Elements of arrays, and of those that must differ: which may still come.  See json_rules.hpp.
//
// Problem.  An element must be none of those seen: as a whole, and so must every byte of it lead to one that is not.
// After [true, null, the next element may not begin with t; after ["ab", with maxLength 2, "ab may not be followed by
// its quote.  With 10,000 elements seen that must cost no more than with ten.
// How.  An element under way *watches*: it keeps its text, and at its end looks it up among those seen.  As long as
// more values can follow the text than were seen, one of them differs (values_left.cpp), and nothing else is asked.
// Where that ends, the values seen that are like the text are looked up (like_elements.cpp).  Mostly there are none, or
// fewer than can follow.  Otherwise they are taken out of the set of the element, and it is *settled*: what is left of
// it says by itself what it may become.
// Example.  Integers from 0 to 999 of which 0 to 150 were seen.  After 1 there are 111 that can follow, and 62 that
// were seen; after 15 there are 11, of which 15 and 150 were seen.  After 150 there is one, which was.
// Masks: unverified_elements.cpp.
// Cost.  A byte of a watching element costs what it would cost in another array, and a node of its text.

#include <algorithm>

#include "common/memoized.hpp"
#include "json/canonical_value.hpp"
#include "json/element_place.hpp"
#include "json/json_rules.hpp"
#include "json/leaves.hpp"

namespace tokamata::json {

ExpressionId JsonRules::elements(std::uint32_t array, bool is_first, Line line, const Work& work) {
  const auto length = sets_.arrays().some_length(arrays_[array].rest, written(arrays_[array].seen), work);
  const std::uint32_t spelled = capped_sum(length.value_or(ExpressionNode::kUnspelled), 1);
  return expression(rule({Form::Elements, array, is_first, 0, 0, line}, spelled), work);
}

ExpressionId JsonRules::expand_elements(const Rule& rule, const Work& work) {
  if (arrays_[rule.subject].is_tagged) return expand_tagged_elements(rule, work);
  const Array array = arrays_[rule.subject];
  const bool is_first = rule.low != 0;
  Arena& arena = work.arena;
  ArrayFormulas& arrays = sets_.arrays();
  std::vector<ExpressionId> ways;
  if (arrays.accepts(array.rest)) ways.push_back(closed(']', rule.line.indent, is_first, work));
  std::vector<ExpressionId> next;
  const auto add = [&](SetId set, ArrayId left) {
    if (sets_.lives(set, work) && arrays.some_length(left, work))
      next.push_back(arena.concatenate(value(set, Gap::Line, rule.line, work),
                                       elements(array_number({left, kNoTexts}), false, rule.line, work)));
  };
  for (const auto branches = arrays.branches(array.rest, work); const Branch<ArrayTag>& way : *branches) {
    if (!arrays.tells_equal(way.rest)) {
      add(way.value, way.rest);
      continue;
    }
    if (rule.line.mode != Mode::Exact) {
      next.push_back(approximate_element(way, is_first, rule.line, work));
      continue;
    }
    // An element like none before it, or like one of them.
    const ArrayFormulas::Fresh fresh = arrays.fresh(way, written(array.seen), work);
    if (sets_.lives(fresh.values, work)) {
      const Element element{value(fresh.values, Gap::Line, rule.line, work), fresh.values, Part::Blank,
                            fresh.is_settled};
      next.push_back(recorded(array_number({way.rest, array.seen}), element, Texts::kEmpty, rule.line, work));
    }
    const ArrayId equal = arrays.with_equal(way.rest);
    if (equal == Formulas<ArrayTag>::kFalse) continue;
    std::vector<SetId> known;
    for (const std::string& one : text_sets_.strings(array.seen)) known.push_back(sets_.constant(one));
    add(sets_.all({way.value, sets_.any(std::move(known))}), equal);
  }
  const ExpressionId more = arena.unite(next);
  ways.push_back(is_first ? more : layout_.after_blank(Gap::None, arena.concatenate(literal(",", work), more), work));
  return arena.unite(ways);
}

// An over-approximation knows neither the elements before this one nor whether it equals one of them.  So the element
// is unverified, and so is everything after it.  Only the first element of an array equals none.
ExpressionId JsonRules::approximate_element(const Branch<ArrayTag>& way, bool is_first, Line line, const Work& work) {
  Arena& arena = work.arena;
  const auto unverified = [&](ExpressionId what) {
    return line.mode == Mode::Approximation ? unverified_from(what, work) : what;
  };
  std::vector<ExpressionId> further;
  SetId set = way.value;
  if (is_first) set = sets_.arrays().fresh(way, {}, work).values;
  if (!sets_.lives(set, work)) return Arena::kEmpty;
  further.push_back(elements(array_number({way.rest, kNoTexts}), false, line, work));
  if (const ArrayId equal = sets_.arrays().with_equal(way.rest); equal != Formulas<ArrayTag>::kFalse && !is_first)
    further.push_back(elements(array_number({equal, kNoTexts}), false, line, work));
  const ExpressionId element = value(set, Gap::Line, line, work), rest = arena.unite(further);
  return is_first ? arena.concatenate(element, unverified(rest)) : unverified(arena.concatenate(element, rest));
}

// ---- elements that must differ ----------------------------------------------------------------

// Of some way to end the array, bracket and all, after an element under way that has so many bytes once it is ended.
std::uint64_t JsonRules::bytes_after(std::uint32_t array_number, SetId set, std::uint64_t element, const Work& work) {
  const Array array = arrays_[array_number];
  const ArrayFormulas::After& after = memoized(afters_, (std::uint64_t{array_number} << 32) | set.value, [&] {
    return sets_.arrays().after(array.rest, set, written(array.seen), work);
  });
  const std::uint64_t length = after.length(element);
  return length == ArrayFormulas::kEndless ? kNoLength : std::min<std::uint64_t>(length + 1, kLongestLength);
}

// Where nothing may be added to the element, the array goes on; elsewhere the rule stands for both.
ExpressionId JsonRules::recorded(std::uint32_t array_number, const Element& element, TextId record, Line line,
                                 const Work& work) {
  if (element.rest == Arena::kEmpty) return Arena::kEmpty;
  Rule wanted{
      Form::Recorded,    array_number, static_cast<std::uint32_t>(element.part) * 2 + (element.is_settled ? 1 : 0),
      element.set.value, record.value, line};
  constexpr std::uint32_t kSpare = 10;  // bytes that distinguish an element from those that were seen
  const std::uint32_t length = capped_sum(work.arena.node(element.rest).spelled, element.is_settled ? 0 : kSpare);
  const std::uint64_t whole = std::uint64_t{texts_.length(record)} + length;
  const RuleId id = rule(wanted, capped_sum(length, bytes_after(array_number, element.set, whole, work)));
  made(id) = element.rest;
  return element.rest == Arena::kEpsilon ? after_recorded(id, work) : expression(id, work);
}

ExpressionId JsonRules::derive_recorded(RuleId id, std::uint8_t byte, const Work& work) {
  const Rule rule = rules_[id.value];
  Element element = element_so_far(rule, work);
  const bool may_end = work.arena.node(element.rest).nullable;
  element.rest = work.arena.settled(work.arena.derivative(element.rest, byte, work.budget));
  if (element.rest == Arena::kEmpty)
    return may_end ? work.arena.derivative(after_recorded(id, work), byte, work.budget) : Arena::kEmpty;
  const TextId record = texts_.extended({rule.record}, byte);
  element = element_after(element, arrays_[rule.subject], record, byte, rule.line, work);
  return recorded(rule.subject, element, record, rule.line, work);
}

// Masks ask for one end many times.
ExpressionId JsonRules::after_recorded(RuleId id, const Work& work) {
  if (ended_ && ended_->first == id) return ended_->second;
  const Rule rule = rules_[id.value];
  const Array array = arrays_[rule.subject];
  Line line = rule.line;
  const std::string text = texts_.string({rule.record});
  const TextId element = texts_.extended(Texts::kEmpty, canonical_value(text));
  ExpressionId result = Arena::kEmpty;
  if (!text_sets_.contains(array.seen, element)) {
    note_members(element);
    const std::uint8_t width = layout_.waits(line.indent) ? width_of_indents(text, line.indent.depth) : std::uint8_t{0};
    if (width != 0) line.indent.width = width;
    result = elements(array_number({array.rest, text_sets_.with(array.seen, element)}), false, line, work);
    if (width != 0) result = work.arena.concatenate(result, work.arena.commit(width));
  }
  ended_ = {id, result};
  return result;
}

// ---- elements under way -----------------------------------------------------------------------

JsonRules::Part JsonRules::part_after(Part part, std::uint8_t byte) {
  if (part == Part::Container) return byte == '"' ? Part::Within : part;
  if (part == Part::Within) return byte == '"' ? Part::Container : byte == '\\' ? Part::WithinEscape : part;
  if (part == Part::WithinEscape) return Part::Within;
  if (part != Part::Blank || is_blank(static_cast<char>(byte))) return part;
  switch (byte) {
    case '"': return Part::String;
    case '[':
    case '{': return Part::Container;
    case 't':
    case 'f':
    case 'n': return Part::Word;
    default: return Part::Number;
  }
}

// `element` has read the byte, which ends the record.
JsonRules::Element JsonRules::element_after(Element element, const Array& array, TextId record, std::uint8_t byte,
                                            Line line, const Work& work) {
  element.part = part_after(element.part, byte);
  if (element.is_settled || element.part == Part::Blank || element.rest == Arena::kEpsilon) return element;
  const bool is_ample = has_more(element.rest, element.part, text_sets_.size(array.seen), work);
  // Zeros of whatever exponent are one value, which what follows does not distinguish.
  const bool has_exponent =
      style_.spelling != Spelling::Plain && element.part == Part::Number && ends_in_exponent(record);
  if (is_ample && !has_exponent) return element;
  const std::string text = texts_.string(record);
  // Where nothing but the bracket may follow, the container is known.
  const bool is_whole =
      is_container(element.part) && !work.arena.node(element.rest).rules && holds_complete_parts(without_blanks(text));
  Like seen = is_whole ? equal_to(array.seen, canonical_value(text + (without_blanks(text).front() == '[' ? ']' : '}')))
                       : like(array.seen, without_blanks(text));
  std::uint64_t count = size(seen);
  if (count > 0 && !has_exponent && has_more(element.rest, element.part, count, work)) return element;
  if (count > 0 && is_container(element.part)) {
    const bool is_last_digit = std::ranges::none_of(std::string_view("0123456789.eE"), [&](char next) {
      return work.arena.derivative(element.rest, static_cast<std::uint8_t>(next), work.budget) != Arena::kEmpty;
    });
    seen = narrowed(seen, without_blanks(text), is_last_digit);
    count = size(seen);
    if (count > 0 && has_more(element.rest, element.part, count, work)) return element;
  }
  element.is_settled = true;
  if (count == 0) return element;
  std::vector<SetId> parts{element.set};
  for (const std::string& value : strings(seen)) {
    work.budget.step();
    parts.push_back(sets_.negate(sets_.constant(value)));
  }
  element.set = sets_.all(std::move(parts));
  element.rest = sets_.lives(element.set, work) ? rest_of_element(element.set, text, line, work) : Arena::kEmpty;
  return element;
}

bool JsonRules::ends_in_exponent(TextId record) const {
  constexpr std::uint32_t kLongest = 6;  // e, a sign, four digits
  const std::uint32_t length = texts_.length(record);
  for (std::uint32_t i = length - std::min(length, kLongest); i < length; ++i)
    if ((texts_.byte(record, i) | 0x20) == 'e') return true;
  return false;
}

ExpressionId JsonRules::rest_of_element(SetId set, std::string_view text, Line line, const Work& work) {
  if (layout_.has_depth() && width_of_indents(text, line.indent.depth) != Indent::kOpen)
    line.indent.width = Indent::kOpen;
  ExpressionId rest = value(set, Gap::Line, line, work);
  for (const char byte : text) {
    work.budget.step();
    rest = work.arena.settled(work.arena.derivative(rest, static_cast<std::uint8_t>(byte), work.budget));
  }
  return rest;
}

// Read again where the arena is another one.
JsonRules::Element JsonRules::element_so_far(const Rule& recorded, const Work& work) {
  const RuleId id = rule(recorded, 0);  // which is there
  if (made(id) == Arena::kEmpty) {
    const ExpressionId rest = rest_of_element({recorded.high}, texts_.string({recorded.record}), recorded.line, work);
    made(id) = rest;
  }
  return {made(id), {recorded.high}, static_cast<Part>(recorded.low / 2), (recorded.low & 1) != 0};
}

}  // namespace tokamata::json
