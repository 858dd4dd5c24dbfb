#include "json/distinct_elements.hpp"

#include <algorithm>
#include <bit>

#include "common/memoized.hpp"
#include "json/canonical_value.hpp"
#include "json/element_place.hpp"
#include "json/leaves.hpp"
#include "json/unverified_elements.hpp"

namespace tokamata::json {

namespace {

constexpr std::uint32_t kDifference = 10;      // bytes that distinguish an element from those that were seen
constexpr std::uint32_t kLongestExponent = 6;  // e, a sign, four digits

}  // namespace

std::uint64_t DistinctElements::bytes_after(OpenArrayId number, SetId set, std::uint64_t element, const Work& work) {
  const OpenArray array = open_[number];
  const ArrayEnds::After& after = memoized(afters_, (std::uint64_t{number.value} << 32) | set.value, [&] {
    return sets_.array_ends().after(array.rest, set, open_.seen(array), work);
  });
  const std::uint64_t length = after.length(element);
  return length == ArrayEnds::kEndless ? kNoLength : std::min<std::uint64_t>(length + 1, kLongestLength);
}

// Where nothing may be added to the element, the array goes on; elsewhere the rule stands for both.
ExpressionId DistinctElements::expression(OpenArrayId array, const BegunElement& element, TextId text, Line line,
                                          const Work& work) {
  if (element.rest == Pool::kEmpty) return Pool::kEmpty;
  const std::uint32_t length =
      capped_sum(work.arena.pool().node(element.rest).spelled, element.is_settled ? 0 : kDifference);
  const std::uint64_t whole = std::uint64_t{open_.texts().length(text)} + length;
  const std::uint32_t spelled = capped_sum(length, bytes_after(array, element.set, whole, work));
  const RuleId id =
      rules_.add(DistinctElementRule{array, element.set, text, line, element.kind, element.is_settled}, spelled);
  rules_.body(id) = element.rest;
  return element.rest == Pool::kEpsilon ? after(id, work) : rules_.expression(id, work);
}

ExpressionId DistinctElements::derivative(RuleId id, std::uint8_t byte, const Work& work) {
  const auto rule = std::get<DistinctElementRule>(rules_[id]);
  BegunElement element = so_far(id, work);
  const bool may_end = work.arena.pool().node(element.rest).nullable;
  element.rest = work.arena.derivatives().settled(work.arena.derivatives().derivative(element.rest, byte, work.budget));
  if (element.rest == Pool::kEmpty)
    return may_end ? work.arena.derivatives().derivative(after(id, work), byte, work.budget) : Pool::kEmpty;
  const TextId text = open_.texts().extended(rule.text, byte);
  element.kind = kind_after(element.kind, byte);
  element = checked(element, OpenArray(open_[rule.array]), text, rule.line, work);
  return expression(rule.array, element, text, rule.line, work);
}

// Masks ask for one end many times.
ExpressionId DistinctElements::after(RuleId id, const Work& work) {
  if (ended_ && ended_->first == id) return ended_->second;
  const auto rule = std::get<DistinctElementRule>(rules_[id]);
  const OpenArray array = open_[rule.array];
  Line line = rule.line;
  const std::string text = open_.texts().string(rule.text);
  const TextId element = open_.texts().extended(Texts::kEmpty, canonical_value(text));
  ExpressionId result = Pool::kEmpty;
  if (!open_.text_sets().contains(array.seen, element)) {
    seen_elements_.note(element);
    const std::uint8_t width = layout_.waits(line.indent) ? width_of_indents(text, line.indent.depth) : std::uint8_t{0};
    if (width != 0) line.indent.width = width;
    const TextSetId seen = open_.text_sets().with(array.seen, element);
    result = refer_.elements(open_.add(OpenArray{array.rest, seen}), false, line, work);
    if (width != 0) result = work.arena.forms().concatenate(result, work.arena.forms().commit(width));
  }
  ended_ = {id, result};
  return result;
}

// Settled where that is due.
BegunElement DistinctElements::checked(BegunElement element, const OpenArray& array, TextId record, Line line,
                                       const Work& work) {
  if (element.is_settled || element.kind == ElementKind::Blank || element.rest == Pool::kEpsilon) return element;
  const auto has_more = [&](std::uint64_t than) {
    return values_left_.has_more(element.rest, element.kind, than, work);
  };
  const bool is_ample = has_more(open_.text_sets().size(array.seen));
  // Zeros of whatever exponent are one value, which what follows does not distinguish.
  const bool has_exponent =
      style_.spelling != Spelling::Plain && element.kind == ElementKind::Number && ends_in_exponent(record);
  if (is_ample && !has_exponent) return element;
  const std::string text = open_.texts().string(record);
  const std::string_view begun = without_blanks(text);
  // Where nothing but the bracket may follow, the container is known.
  const bool is_whole =
      is_container(element.kind) && !work.arena.pool().node(element.rest).rules && holds_complete_items(begun);
  SeenElements::Alike alike =
      is_whole ? seen_elements_.equal_to(array.seen, canonical_value(text + (begun.front() == '[' ? ']' : '}')))
               : seen_elements_.alike(array.seen, begun);
  std::uint64_t count = seen_elements_.size(alike);
  if (count > 0 && !has_exponent && has_more(count)) return element;
  if (count > 0 && is_container(element.kind)) {
    const bool is_last_digit = std::ranges::none_of(std::string_view("0123456789.eE"), [&](char next) {
      return work.arena.derivatives().derivative(element.rest, static_cast<std::uint8_t>(next), work.budget) !=
             Pool::kEmpty;
    });
    alike = seen_elements_.narrowed(alike, begun, is_last_digit);
    count = seen_elements_.size(alike);
    if (count > 0 && has_more(count)) return element;
  }
  element.is_settled = true;
  if (count == 0) return element;
  std::vector<SetId> conjuncts{element.set};
  for (const std::string& value : seen_elements_.strings(alike)) {
    work.budget.step();
    conjuncts.push_back(sets_.negate(sets_.constant(value)));
  }
  element.set = sets_.all(std::move(conjuncts));
  element.rest = sets_.lives(element.set, work) ? rest_of(element.set, text, line, work) : Pool::kEmpty;
  return element;
}

bool DistinctElements::ends_in_exponent(TextId text) const {
  const Texts& texts = open_.texts();
  const std::uint32_t length = texts.length(text);
  for (std::uint32_t i = length - std::min(length, kLongestExponent); i < length; ++i)
    if ((texts.byte(text, i) | 0x20) == 'e') return true;
  return false;
}

ExpressionId DistinctElements::rest_of(SetId set, std::string_view text, Line line, const Work& work) {
  if (layout_.has_depth() && width_of_indents(text, line.indent.depth) != Indent::kOpen)
    line.indent.width = Indent::kOpen;
  ExpressionId rest = refer_.value(set, Gap::Line, line, work);
  for (const char byte : text) {
    work.budget.step();
    rest = work.arena.derivatives().settled(
        work.arena.derivatives().derivative(rest, static_cast<std::uint8_t>(byte), work.budget));
  }
  return rest;
}

// Read again where the arena is another one.
BegunElement DistinctElements::so_far(RuleId id, const Work& work) {
  const auto rule = std::get<DistinctElementRule>(rules_[id]);
  if (rules_.body(id) == Pool::kEmpty) {
    const ExpressionId rest = rest_of(rule.set, open_.texts().string(rule.text), rule.line, work);
    rules_.body(id) = rest;
  }
  return {rules_.body(id), rule.set, rule.kind, rule.is_settled};
}

// ---- over-approximations ----------------------------------------------------------------------

// Nobody knows here where the element began.
ExpressionId DistinctElements::approximated(RuleId id, const Work& work) {
  const auto rule = std::get<DistinctElementRule>(rules_[id]);
  Arena& arena = work.arena;
  const OpenArrayId unseen = open_.add(OpenArray{open_[rule.array].rest});
  const ExpressionId further = refer_.elements(unseen, false, rule.line.of(Mode::Approximation), work);
  const BegunElement begun = so_far(id, work);
  const ExpressionId element = arena.fronts().approximated(begun.rest, work.budget);
  if (!begun.is_settled) return unverified_from(arena.forms().concatenate(element, further), work);
  return arena.forms().concatenate(element, unverified_from(further, work));
}

std::vector<Approximation> DistinctElements::approximations(RuleId id, const Work& work) {
  const auto rule = std::get<DistinctElementRule>(rules_[id]);
  Arena& arena = work.arena;
  const OpenArray array = open_[rule.array];
  const Line line = rule.line.of(Mode::Approximation);
  const BegunElement element = so_far(id, work);
  const std::string text = open_.texts().string(rule.text);
  const std::string_view begun = without_blanks(text);
  const bool is_endless = is_container(element.kind) && values_left_.is_endless(element.rest, work);
  const bool has_width = layout_.waits(line.indent) && width_of_indents(text, line.indent.depth) != 0;
  // Whether one more element may follow, and end the array, whatever this one becomes.
  const auto goes_on = [&] {
    const std::uint64_t known = std::uint64_t{open_.text_sets().size(array.seen)} + 1;
    const auto ways = sets_.arrays().branches(array.rest, work);
    return sets_.arrays().accepts(array.rest) && std::ranges::any_of(*ways, [&](const Branch<ArrayTag>& way) {
             return way.rest == array.rest && sets_.counts().of(way.value, 2 * std::bit_ceil(known + 1), work) > known;
           });
  };
  const bool is_sure = !is_endless && !has_width && goes_on();
  const ExpressionId next = refer_.elements(open_.add(OpenArray{array.rest}), false, line, work);
  const ExpressionId further = is_sure ? next : unverified_from(next, work);
  std::vector<Approximation> found = arena.fronts().approximations(element.rest, work.budget);
  for (Approximation& one : found) one.expression = arena.forms().concatenate(one.expression, further);
  if (element.is_settled || seen_elements_.size(seen_elements_.alike(array.seen, begun)) == 0) return found;
  const auto tree =
      std::make_shared<UnverifiedElements>(style_.spelling, sets_, open_.text_sets(), seen_elements_, values_left_,
                                           element, array.seen, std::string(begun), is_sure, work);
  for (Approximation& one : found)
    if (one.expression != Pool::kEmpty) (is_endless ? one.alike : one.unverified).push_back({"", tree});
  return found;
}

void DistinctElements::forget_expressions() {
  release(afters_);
  ended_.reset();
}

}  // namespace tokamata::json
