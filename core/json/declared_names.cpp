#include "json/declared_names.hpp"

#include <algorithm>

#include "json/escapes.hpp"
#include "json/leaves.hpp"

namespace tokamata::json {

// The rest of some names.
ExpressionId DeclaredNames::expression(const DeclaredNameRule& rule, const Work& work) {
  const NameChoice& next = choices_.of(rule.object, work);
  const bool is_awaited = choices_.awaits(rule, next), is_relaxed = rule.line.mode == Mode::Relaxed;
  const std::string begun = open_.texts().string(rule.escape);
  std::uint32_t least = kNoLength, shortest = is_relaxed ? kLongestLength : 1;
  for (std::uint32_t i = rule.low; i < rule.high; ++i) {
    const NameChoice::Name& name = next.names[i];
    std::size_t read = rule.read, left = 0;
    if (!begun.empty()) {
      const auto code_point = code_point_at(name.spelled, read);
      const auto missing = code_point ? bytes_left_of_escape(code_point->value, begun) : std::nullopt;
      if (!missing) continue;
      read += code_point->size;
      left = *missing;
    }
    if (is_relaxed)
      shortest = std::min(shortest, capped_sum(name.spelled.size() - read,
                                               refer_.shortest_after(rule.object, name.name, rule.line, work), left));
    // The lengths are from the quotes before the names on.
    if ((!is_awaited || !name.is_late) && name.length < kNoLength)
      least = std::min(least, capped_sum(name.length - static_cast<std::uint32_t>(read), left));
  }
  if (is_relaxed && is_awaited && !next.others.empty())
    shortest = std::min(shortest, refer_.shortest_after_undeclared(rule.object, rule.line, work));
  return rules_.expression(rule, least, shortest, work);
}

ExpressionId DeclaredNames::derivative(const DeclaredNameRule& rule, std::uint8_t byte, const Work& work) {
  const NameChoice& next = choices_.of(rule.object, work);
  if (next.are_escaped && (byte == '\\' || rule.escape != Texts::kEmpty)) return derive_escape(rule, byte, work);
  const auto begin = next.names.begin() + rule.low, end = next.names.begin() + rule.high;
  const auto byte_at = [&](const NameChoice::Name& name) { return static_cast<std::uint8_t>(name.spelled[rule.read]); };
  const auto [first, last] = std::ranges::equal_range(begin, end, byte, {}, byte_at);
  if (first == last) return Pool::kEmpty;
  DeclaredNameRule rest = rule;
  rest.low = static_cast<std::uint32_t>(first - next.names.begin());
  rest.high = static_cast<std::uint32_t>(last - next.names.begin());
  rest.read = rule.read + 1;
  const bool leaves_due = choices_.awaits(rule, next) && !choices_.awaits(rest, next);
  if (leaves_due && std::ranges::all_of(first, last, &NameChoice::Name::is_late)) return Pool::kEmpty;
  if (first->spelled.size() == rest.read) return values_.after(rule.object, *first, rule.line, work);
  return leaves_due ? opened(rest, work) : expression(rest, work);
}

// What an escape stands for is read as its plain spelling, once it is whole.
ExpressionId DeclaredNames::derive_escape(const DeclaredNameRule& rule, std::uint8_t byte, const Work& work) {
  const NameChoice& next = choices_.of(rule.object, work);
  const TextId escape = open_.texts().extended(rule.escape, byte);
  const std::string begun = open_.texts().string(escape);
  DeclaredNameRule rest = rule;
  rest.escape = escape;
  rest.high = rule.low;
  bool are_late = true;
  for (std::uint32_t i = rule.low; i < rule.high; ++i) {
    const NameChoice::Name& name = next.names[i];
    const std::optional<SpelledCodePoint> code_point = code_point_at(name.spelled, rule.read);
    if (!code_point) continue;
    const std::optional<std::size_t> left = bytes_left_of_escape(code_point->value, begun);
    if (!left) continue;
    if (rest.high == rule.low) rest.low = i;
    rest.high = i + 1;
    are_late &= name.is_late;
    if (*left == 0) {  // all names that take this escape have the same character there
      rest.escape = Texts::kEmpty;
      rest.read = static_cast<std::uint32_t>(rule.read + code_point->size);
    }
  }
  if (rest.high == rule.low) return Pool::kEmpty;
  const bool leaves_due = choices_.awaits(rule, next) && !choices_.awaits(rest, next);
  if (leaves_due && are_late) return Pool::kEmpty;
  return leaves_due ? opened(rest, work) : expression(rest, work);
}

// Names that have left the due one as a name does that may come: any other may begin so too.
ExpressionId DeclaredNames::opened(const DeclaredNameRule& rule, const Work& work) {
  const NameChoice& next = choices_.of(rule.object, work);
  const OpenObject object = open_[rule.object];
  Texts& texts = open_.texts();
  const TextId read = texts.extended(Texts::kEmpty, next.names[rule.low].spelled.substr(0, rule.read));
  std::vector<ExpressionId> ways{expression(rule, work)};
  for (const auto& [number, length] : next.others) {
    if (rule.line.mode == Mode::Relaxed) {
      ExpressionId names = undeclared_.relaxed_names(rule.object, number, work);
      for (const char byte : texts.string(read) + texts.string(rule.escape))
        if (names != Pool::kEmpty)
          names = work.arena.derivatives().derivative(names, static_cast<std::uint8_t>(byte), work.budget);
      if (names != Pool::kEmpty)
        ways.push_back(undeclared_.approximated(rule.object, number, names, Gap::None, false, rule.line, work));
      continue;
    }
    const UndeclaredName name = undeclared_.begun(object, number, read, rule.escape, work);
    if (name.rest == Pool::kEmpty) continue;
    if (rule.line.mode == Mode::Exact)
      ways.push_back(undeclared_.expression({rule.object, number, read, rule.escape, rule.line}, name, work));
    else ways.push_back(approximate_late(rule, number, name, work));
  }
  return work.arena.forms().unite(ways);
}

ByteSet DeclaredNames::first_bytes(const DeclaredNameRule& rule, const Work& work) {
  ByteSet bytes;
  const NameChoice& next = choices_.of(rule.object, work);
  const bool is_awaited = choices_.awaits(rule, next);
  const std::string begun = open_.texts().string(rule.escape);
  for (std::uint32_t i = rule.low; i < rule.high; ++i) {
    if (is_awaited && next.names[i].is_late) continue;
    const std::string_view name = next.names[i].spelled;
    if (begun.empty()) bytes.add(static_cast<std::uint8_t>(name[rule.read]));
    if (!next.are_escaped) continue;
    if (const auto code_point = code_point_at(name, rule.read)) bytes |= next_bytes_of_escape(code_point->value, begun);
  }
  return bytes;
}

// ---- names as strings -------------------------------------------------------------------------

// Where names have many spellings these are the plain ones, and after_backslash has the others; that is known of
// over-approximations alone.
std::span<const std::string_view> DeclaredNames::strings(const DeclaredNameRule& rule, const Work& work) {
  strings_.clear();
  if (rule.escape != Texts::kEmpty) return strings_;
  const bool is_exact = rule.line.mode == Mode::Exact || rule.line.mode == Mode::Relaxed;
  const NameChoice& next = choices_.of(rule.object, work);
  const bool is_listed = choices_.awaits(rule, next);
  if (is_exact && (is_listed || next.are_escaped)) return strings_;
  const auto [low, high] = strings_of(rule, next);
  for (std::uint32_t i = low; i < high; ++i)
    strings_.push_back(next.names[is_listed ? next.listed[i] : i].spelled.substr(rule.read));
  return strings_;
}

// Of the listed names where one is due, and of all elsewhere.
std::pair<std::uint32_t, std::uint32_t> DeclaredNames::strings_of(const DeclaredNameRule& rule,
                                                                  const NameChoice& choice) const {
  if (!choices_.awaits(rule, choice)) return {rule.low, rule.high};
  const auto place = [&](std::uint32_t name) {
    return static_cast<std::uint32_t>(std::ranges::lower_bound(choice.listed, name) - choice.listed.begin());
  };
  return {place(rule.low), place(rule.high)};
}

std::uint32_t DeclaredNames::name_of_string(const DeclaredNameRule& rule, std::size_t string,
                                            const NameChoice& choice) const {
  const std::size_t place = strings_of(rule, choice).first + string;
  return choices_.awaits(rule, choice) ? choice.listed[place] : static_cast<std::uint32_t>(place);
}

ExpressionId DeclaredNames::after(const DeclaredNameRule& rule, std::size_t string, const Work& work) {
  const NameChoice& next = choices_.of(rule.object, work);
  return values_.after(rule.object, next.names[name_of_string(rule, string, next)], rule.line, work);
}

std::uint32_t DeclaredNames::spelled_after(const DeclaredNameRule& rule, std::size_t string) const {
  const NameChoice& next = *choices_.known(rule.object);
  return next.names[name_of_string(rule, string, next)].length;
}

ExpressionId DeclaredNames::after_backslash(const DeclaredNameRule& given, std::size_t low, std::size_t depth,
                                            const Work& work) {
  DeclaredNameRule rule = given;
  const NameChoice& next = choices_.of(rule.object, work);
  if (!next.are_escaped) return Pool::kEmpty;
  const std::string_view name = next.names[name_of_string(rule, low, next)].spelled;
  const std::size_t end = rule.read + depth;
  std::size_t at = rule.read;
  while (at < end) {
    const std::optional<SpelledCodePoint> code_point = code_point_at(name, at);
    at += code_point ? code_point->size : 1;
  }
  if (at != end) return Pool::kEmpty;  // within a code point
  const auto read = [&](const NameChoice::Name& other) { return other.spelled.substr(0, end); };
  const auto [first, last] = std::ranges::equal_range(next.names, name.substr(0, end), {}, read);
  rule.low = std::max(rule.low, static_cast<std::uint32_t>(first - next.names.begin()));
  rule.high = std::min(rule.high, static_cast<std::uint32_t>(last - next.names.begin()));
  rule.read = static_cast<std::uint32_t>(end);
  return derive_escape(rule, '\\', work);
}

std::optional<std::string> DeclaredNames::awaited(const DeclaredNameRule& rule, const Work& work) {
  const NameChoice& next = choices_.of(rule.object, work);
  if (!choices_.awaits(rule, next)) return std::nullopt;
  std::string_view due = next.names[*next.due].spelled;
  due.remove_suffix(1);  // its quote
  return read_string(due);
}

// ---- over-approximations ----------------------------------------------------------------------

// Calls `visit(lead, class, what is read, name)` for each class of undeclared names and each fork after which they may
// come:  `lead` are the bytes up to it.
template <class Visit>
void DeclaredNames::visit_forks(const DeclaredNameRule& rule, Visit&& visit, const Work& work) {
  const NameChoice& next = choices_.of(rule.object, work);
  if (!choices_.awaits(rule, next) || rule.escape != Texts::kEmpty) return;
  const OpenObject object = open_[rule.object];
  const std::string_view due = next.names[*next.due].spelled;
  for (const NameChoice::Fork& fork : next.forks) {
    if (fork.shared < rule.read || static_cast<std::uint8_t>(fork.byte) == undeclared_.end_of_name(object)) continue;
    const std::string read = std::string(due.substr(0, fork.shared)) + fork.byte;
    const TextId text = open_.texts().extended(Texts::kEmpty, read);
    for (const auto& [number, length] : next.others) {
      const UndeclaredName name = undeclared_.begun(object, number, text, Texts::kEmpty, work);
      if (name.rest != Pool::kEmpty) visit(read.substr(rule.read), number, text, name);
    }
  }
}

// Undeclared names after a fork; everything after them is unverified.
ExpressionId DeclaredNames::approximate_late(const DeclaredNameRule& rule, std::uint32_t name_class,
                                             const UndeclaredName& name, const Work& work) {
  const ExpressionId other =
      undeclared_.approximated(rule.object, name_class, name.rest, Gap::None, true, rule.line, work);
  return name.is_settled || rule.line.mode != Mode::Approximation ? other : unverified_from(other, work);
}

ExpressionId DeclaredNames::late_names(const DeclaredNameRule& rule, const Work& work) {
  std::vector<ExpressionId> ways;
  visit_forks(
      rule,
      [&](const std::string& lead, std::uint32_t number, TextId, const UndeclaredName& name) {
        ways.push_back(work.arena.forms().concatenate(literal(lead, work), approximate_late(rule, number, name, work)));
      },
      work);
  return work.arena.forms().unite(ways);
}

ExpressionId DeclaredNames::approximate_names(RuleId id, const Work& work) {
  auto rule = std::get<DeclaredNameRule>(rules_[id]);
  rule.line.mode = Mode::Approximation;
  rule.object = undeclared_.without_names(rule.object, work);
  return rules_.expression(rule, rules_.about(id).spelled, work);
}

ExpressionId DeclaredNames::approximated(RuleId id, const Work& work) {
  auto rule = std::get<DeclaredNameRule>(rules_[id]);
  rule.line.mode = Mode::Approximation;
  std::vector<ExpressionId> ways{approximate_names(id, work), late_names(rule, work)};
  return work.arena.forms().unite(ways);
}

std::vector<Approximation> DeclaredNames::approximations(RuleId id, const Work& work) {
  const auto rule = std::get<DeclaredNameRule>(rules_[id]);
  const OpenObject object = open_[rule.object];
  Approximation late{Pool::kEmpty};
  std::vector<ExpressionId> ways;
  visit_forks(
      rule,
      [&](const std::string& lead, std::uint32_t number, TextId read, const UndeclaredName& name) {
        const bool is_sure = undeclared_.is_sure(rule.object, number, name, work);
        const ExpressionId other = undeclared_.approximated(rule.object, number, name.rest, Gap::None, !is_sure,
                                                            rule.line.of(Mode::Approximation), work);
        ways.push_back(work.arena.forms().concatenate(literal(lead, work), other));
        undeclared_.refuse_taken(object, read, Texts::kEmpty, is_sure ? std::nullopt : std::optional(name.rest), lead,
                                 late, work);
      },
      work);
  late.expression = work.arena.forms().unite(ways);
  std::vector<Approximation> found{{approximate_names(id, work)}};
  if (late.expression != Pool::kEmpty) found.push_back(std::move(late));
  return found;
}

}  // namespace tokamata::json
