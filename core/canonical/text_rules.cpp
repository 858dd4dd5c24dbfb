#include "canonical/text_rules.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace tokamata {

namespace {

std::vector<ClassRange> lacking_only(const TextRulesTables& tables) {
  std::vector<ClassRange> ranges = tables.ranges;
  for (ClassRange& range : ranges)
    if (range.cls != CodePoints::kDead && !tables.classes.at(range.cls).is_lacking) range.cls = CodePoints::kDead;
  return ranges;
}

void check_rules(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(std::string("text rules: ") + what);
}

void check_tables(const TextRulesTables& tables) {
  const std::size_t guesses = tables.may_end.size();
  const auto is_guess = [&](std::uint16_t guess) { return guess < guesses; };
  check_rules(tables.classes.size() <= CodePoints::kMostClasses, "too many classes");
  check_rules(guesses < TextRules::kDeadGuess, "too many hypotheses");
  check_rules(tables.targets.size() == guesses * tables.symbols, "targets have another size");
  check_rules(
      std::ranges::all_of(tables.targets, [&](std::uint16_t g) { return g == TextRules::kDeadGuess || is_guess(g); }),
      "a target is no hypothesis");
  check_rules(tables.end_offsets.size() == guesses + 1 && std::ranges::is_sorted(tables.end_offsets) &&
                  tables.end_offsets.back() == tables.ends.size(),
              "the offsets of ends are not in order");
  for (const auto* list : {&tables.ends, &tables.text_starts, &tables.added_starts, &tables.control_starts})
    check_rules(std::ranges::all_of(*list, is_guess), "a start or an end is no hypothesis");
  check_rules(tables.added_kinds.empty() || tables.added_kinds.size() == tables.added.size(),
              "added_kinds has another size");
  check_rules(std::ranges::all_of(tables.added_kinds, [&](std::uint8_t kind) { return kind <= tables.kinds.size(); }),
              "an added token has no kind");
  check_rules(tables.lone.empty() || tables.lone.size() == tables.added.size(), "lone has another size");
  for (const AddedKind& kind : tables.kinds)
    for (const auto* list : {&kind.text_starts, &kind.control_starts})
      check_rules(std::ranges::all_of(*list, is_guess), "a start or an end is no hypothesis");
  check_rules(tables.seconds > 0 && tables.composes.size() % tables.seconds == 0 && !tables.composes.empty(),
              "composes has no rows");
  for (const ClassRules& rules : tables.classes)
    check_rules(rules.symbol < tables.symbols && rules.second < tables.seconds &&
                    rules.starter < tables.composes.size() / tables.seconds,
                "a class is out of range");
  const std::size_t forms = tables.form_states.size();
  check_rules(forms < TextState::kAnyStarter && tables.form_targets.size() == forms * tables.seconds,
              "the targets of forms have another size");
  check_rules(std::ranges::all_of(tables.form_targets,
                                  [&](std::uint16_t form) { return form == TextRules::kDeadForm || form < forms; }),
              "a target is no form");
  check_rules(forms == 0 || tables.form_states[0] == FormState::Ordinary, "a text begins in a special form");
  for (const ClassRange& range : tables.ranges)
    check_rules(range.cls == CodePoints::kDead || range.cls < tables.classes.size(), "a range has no class");
}

}  // namespace

TextRules::TextRules(TextRulesTables tables)
    : tables_((check_tables(tables), std::move(tables))),
      all_(tables_.ranges),
      lacking_(lacking_only(tables_)),
      added_(tables_.added, tables_.added_are_apart, tables_.forbidden, tables_.lone),
      open_(find_open(all_)),
      lacking_open_(find_open(lacking_)),
      has_normal_form_(!tables_.form_states.empty() ||
                       std::ranges::any_of(tables_.classes, [](const ClassRules& rules) {
                         return rules.second != 0 || rules.combining != 0;
                       })) {
  find_anew();
  find_free();
  find_steady();
}

void TextRules::find_anew() {
  if (tables_.form_states.empty()) return;
  anew_.assign(tables_.seconds, kDeadForm);
  for (std::uint32_t second = 0; second < tables_.seconds; ++second) {
    const std::uint16_t target = tables_.form_targets[second];
    bool is_same = target != kDeadForm && tables_.form_states[target] != FormState::Owes;
    for (std::size_t form = 0; is_same && form < tables_.form_states.size(); ++form) {
      if (tables_.form_states[form] == FormState::Owes) continue;
      const std::uint16_t other = tables_.form_targets[form * tables_.seconds + second];
      is_same = tables_.form_states[form] == FormState::Ordinary ? other == target : other != kDeadForm;
    }
    if (is_same) anew_[second] = target;
  }
}

bool TextRules::is_anew(const ClassRules& rules) const {
  return anew_.empty() ? rules.combining == 0 && rules.second == 0 : anew_[rules.second] != kDeadForm;
}

bool TextRules::follows_automaton(TextState& state, std::uint16_t second) const {
  const std::uint16_t target = state.starter == TextState::kAnyStarter
                                   ? anew_[second]
                                   : tables_.form_targets[std::size_t{state.starter} * tables_.seconds + second];
  if (target == kDeadForm) return false;
  state.starter = target;
  const FormState kind = tables_.form_states[target];
  state.marks = kind == FormState::Ordinary ? std::uint8_t{0}
                : kind == FormState::Owes   ? TextState::kOwes
                                            : TextState::kSpecial;
  return true;
}

bool TextRules::keeps_form(TextState& state, const ClassRules& rules) const {
  if (!anew_.empty()) return follows_automaton(state, rules.second);
  if (state.starter == TextState::kAnyStarter) {
    if (rules.combining != 0 || rules.second != 0) return false;
  } else {
    const bool composes = tables_.composes[std::size_t{state.starter} * tables_.seconds + rules.second];
    if (rules.combining != 0 && (state.marks > rules.combining || (state.marks < rules.combining && composes)))
      return false;
    if (rules.combining == 0 && state.marks == 0 && composes) return false;
  }
  if (rules.combining == 0) state.starter = rules.starter;
  state.marks = rules.combining;
  return true;
}

bool TextRules::complete(TextState& state, std::uint16_t cls, bool with_form) const {
  const ClassRules& rules = tables_.classes[cls];
  state.place = CodePoints::kBetween;
  state.guess = next_guess(state.guess, rules.symbol);
  return state.guess != kDeadGuess && (!with_form || !has_normal_form_ || keeps_form(state, rules));
}

bool TextRules::read_code_point(TextState& state, std::uint8_t byte, bool with_form) const {
  const std::uint16_t fallback = state.place & TextState::kFallback;
  const CodePoints& points = fallback ? lacking_ : all_;
  const std::uint16_t reached = points.next(state.place & static_cast<std::uint16_t>(~TextState::kFallback), byte);
  if (reached == CodePoints::kDead) return false;
  if (reached & CodePoints::kComplete)
    return complete(state, reached & static_cast<std::uint16_t>(~CodePoints::kComplete), with_form);
  state.place = reached | fallback;
  return may_complete(state.guess, reached, fallback != 0);
}

bool TextRules::read_guess(TextState& state, std::uint8_t byte) const { return read_code_point(state, byte, false); }

bool TextRules::read_form(TextState& state, std::uint8_t byte) const {
  const std::uint16_t reached = all_.next(state.place, byte);
  if (reached == CodePoints::kDead) return false;
  state.open = added_.next(state.open, byte);
  if (state.open == AddedTokens::kDead) return false;
  const bool is_whole = (reached & CodePoints::kComplete) != 0;
  state.place = is_whole ? CodePoints::kBetween : reached;
  if (!is_whole || !has_normal_form_) return true;
  return keeps_form(state, tables_.classes[reached & static_cast<std::uint16_t>(~CodePoints::kComplete)]);
}

bool TextRules::read_fallback(TextState& state, std::uint8_t byte) const {
  if (state.place == CodePoints::kBetween) {
    const std::uint16_t reached = lacking_.next(CodePoints::kBetween, byte);
    if (reached == CodePoints::kDead) return false;
    if (reached & CodePoints::kComplete)
      return complete(state, reached & static_cast<std::uint16_t>(~CodePoints::kComplete), true);
    state.place = reached | TextState::kFallback;
    return may_complete(state.guess, reached, true);
  }
  return (state.place & TextState::kFallback) && read_code_point(state, byte, true);
}

bool TextRules::keeps_form(TextState& state, std::string_view bytes) const {
  std::uint16_t place = CodePoints::kBetween;
  for (const char byte : bytes) {
    place = all_.next(place, static_cast<std::uint8_t>(byte));
    if (place == CodePoints::kDead) return false;
    if (!(place & CodePoints::kComplete)) continue;
    if (!keeps_form(state, tables_.classes[place & static_cast<std::uint16_t>(~CodePoints::kComplete)])) return false;
    place = CodePoints::kBetween;
  }
  return true;
}

// Stray bytes at the front belong to a code point that was begun before.
bool TextRules::is_stable(std::string_view bytes) const {
  while (!bytes.empty() && (static_cast<std::uint8_t>(bytes.front()) & 0xC0) == 0x80) bytes.remove_prefix(1);
  if (keeps_form(0, 0, bytes)) return true;
  for (std::uint16_t form = 1; form < tables_.form_states.size(); ++form)
    if (keeps_form(form, 0, bytes)) return true;
  return false;
}

bool TextRules::keeps_form(std::uint16_t starter, std::uint8_t marks, std::string_view bytes) const {
  TextState state{.starter = starter, .marks = marks};
  return keeps_form(state, bytes);
}

bool TextRules::is_unsteady(std::string_view bytes) const {
  if (anew_.empty()) return false;
  const std::size_t forms = begins_anew(bytes) ? 1 : tables_.form_states.size();
  bool is_ordinary = false;
  for (std::uint16_t form = 0; form < forms; ++form) {
    TextState state{.starter = form};
    if (!keeps_form(state, bytes)) continue;
    if (is_special(state)) return true;
    is_ordinary = is_ordinary || tables_.form_states[form] == FormState::Ordinary;
  }
  return !is_ordinary;
}

bool TextRules::differs_from_start(std::uint16_t starter, std::uint8_t marks, std::string_view bytes) const {
  TextState here{.starter = starter, .marks = marks}, start;
  if (!keeps_form(here, bytes)) return false;
  return !keeps_form(start, bytes) || here.starter != start.starter;
}

bool TextRules::begins_anew(std::string_view bytes) const {
  std::uint16_t place = CodePoints::kBetween;
  for (const char byte : bytes) {
    place = all_.next(place, static_cast<std::uint8_t>(byte));
    if (place == CodePoints::kDead) return false;
    if (!(place & CodePoints::kComplete)) continue;
    const ClassRules& rules = tables_.classes[place & static_cast<std::uint16_t>(~CodePoints::kComplete)];
    return is_anew(rules);
  }
  return false;
}

// Which symbols the code points have that are open in a place, and so which hypotheses some of them leads on.
std::vector<bool> TextRules::find_open(const CodePoints& points) const {
  std::vector<std::set<std::uint32_t>> symbols(points.place_count());
  std::vector<bool> is_done(points.place_count(), false);
  // three levels at most
  const auto gather = [&](auto& self, std::uint16_t place) -> const std::set<std::uint32_t>& {
    if (is_done[place]) return symbols[place];
    is_done[place] = true;
    for (unsigned byte = 0x80; byte < 0xC0; ++byte) {
      const std::uint16_t reached = points.next(place, static_cast<std::uint8_t>(byte));
      if (reached == CodePoints::kDead) continue;
      if (reached & CodePoints::kComplete)
        symbols[place].insert(tables_.classes[reached & static_cast<std::uint16_t>(~CodePoints::kComplete)].symbol);
      else symbols[place].insert(self(self, reached).begin(), self(self, reached).end());
    }
    return symbols[place];
  };
  std::vector<bool> open(points.place_count() * guess_count(), false);
  for (std::uint16_t place = 1; place < points.place_count(); ++place)
    for (const std::uint32_t symbol : gather(gather, place))
      for (std::uint16_t guess = 0; guess < guess_count(); ++guess)
        if (next_guess(guess, static_cast<std::uint16_t>(symbol)) != kDeadGuess)
          open[std::size_t{place} * guess_count() + guess] = true;
  return open;
}

// Guesses are sets here, closed under the ends that may be guessed: a hypothesis is free if every text
// but the empty one leads from it to a set of which some member may end.
void TextRules::find_free() {
  free_.assign(guess_count(), false);
  const auto closed = [&](std::vector<std::uint16_t> set) {
    for (std::size_t i = 0; i < set.size(); ++i)
      for (const std::uint16_t guess : ends(set[i]))
        if (std::ranges::find(set, guess) == set.end()) set.push_back(guess);
    std::ranges::sort(set);
    return set;
  };
  constexpr std::size_t kMost = 2000;  // sets from one hypothesis; it counts as bound where there are more
  for (std::uint16_t guess = 0; guess < guess_count(); ++guess) {
    std::set<std::vector<std::uint16_t>> known;
    std::vector<std::vector<std::uint16_t>> pending{closed({guess})};
    known.insert(pending[0]);
    bool is_free = true;
    while (is_free && !pending.empty()) {
      const std::vector<std::uint16_t> set = std::move(pending.back());
      pending.pop_back();
      is_free = known.size() < kMost;
      for (std::uint32_t symbol = 0; is_free && symbol < tables_.symbols; ++symbol) {
        std::vector<std::uint16_t> after;
        for (const std::uint16_t g : set) {
          const std::uint16_t target = tables_.targets[std::size_t{g} * tables_.symbols + symbol];
          if (target != kDeadGuess && std::ranges::find(after, target) == after.end()) after.push_back(target);
        }
        after = closed(std::move(after));
        is_free = std::ranges::any_of(after, [&](std::uint16_t g) { return (tables_.may_end[g] & 1) != 0; });
        if (known.insert(after).second) pending.push_back(std::move(after));
      }
    }
    free_[guess] = is_free;
  }
}

void TextRules::find_steady() {
  std::vector<bool> is_steady(256, true);
  for (std::size_t i = 0; i < tables_.ranges.size(); ++i) {
    const ClassRange& range = tables_.ranges[i];
    const std::uint32_t end = i + 1 < tables_.ranges.size() ? tables_.ranges[i + 1].first : 0x110000;
    if (range.cls != CodePoints::kDead && is_anew(tables_.classes[range.cls])) continue;
    for (std::uint32_t low = range.first; low < end;) {
      if (low >= 0xD800 && low < 0xE000) {  // these are no code points of a text
        low = 0xE000;
        continue;
      }
      const auto [lead, next] = low < 0x80      ? std::pair(low, low + 1)
                                : low < 0x800   ? std::pair(0xC0 | (low >> 6), (low | 0x3F) + 1)
                                : low < 0x10000 ? std::pair(0xE0 | (low >> 12), (low | 0xFFF) + 1)
                                                : std::pair(0xF0 | (low >> 18), (low | 0x3FFFF) + 1);
      is_steady[lead] = false;
      low = next;
    }
  }
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (!is_steady[byte]) continue;
    steady_.add(static_cast<std::uint8_t>(byte));
    if (!added_.may_begin(static_cast<std::uint8_t>(byte))) calm_.add(static_cast<std::uint8_t>(byte));
  }
}

std::size_t TextRules::memory_bytes() const {
  return tables_.targets.size() * 2 + tables_.ends.size() * 2 + tables_.composes.size() +
         tables_.form_targets.size() * 2 + tables_.form_states.size() + tables_.classes.size() * sizeof(ClassRules) +
         tables_.ranges.size() * sizeof(ClassRange) + all_.memory_bytes() + lacking_.memory_bytes();
}

}  // namespace tokamata
