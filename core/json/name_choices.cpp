#include "json/name_choices.hpp"

#include <algorithm>

#include "common/memoized.hpp"
#include "common/sort_unique.hpp"
#include "json/escapes.hpp"

namespace tokamata::json {

const NameChoice& NameChoices::of(OpenObjectId object, const Work& work) {
  return memoized(choices_, object.value, [&] { return find(open_[object], work); });
}

NameChoice NameChoices::find(const OpenObject& object, const Work& work) {
  const ObjectEnds::Next next =
      sets_.object_ends().next(object.rest, open_.room(object), style_.order == PropertyOrder::Schema, work);
  NameChoice found;
  found.others.assign(next.others.begin(), next.others.end());
  for (const auto& [place, length, is_late] : next.declared) {
    const NameId name = open_.order(object).names[place];
    found.names.push_back({object.is_tagged ? tags_->written(name).value() : sets_.texts().spelled_name(name), name,
                           place, length, is_late});
  }
  if (object.is_tagged) {  // lengths are those after what opens a member
    const std::uint32_t opening = tags_->opening_length(work);
    for (NameChoice::Name& name : found.names)
      name.length = name.length < kNoLength ? name.length - opening : kNoLength;
    for (auto& [of_class, length] : found.others) length = length < kNoLength ? length - opening : kNoLength;
  }
  std::ranges::sort(found.names, {}, &NameChoice::Name::spelled);
  found.are_escaped = are_escaped(object, found, work);
  if (next.due) set_due(found, *next.due);
  return found;
}

bool NameChoices::are_escaped(const OpenObject& object, const NameChoice& next, const Work& work) {
  if (object.is_tagged) return false;
  if (style_.spelling != Spelling::Natural) return style_.spelling == Spelling::Any;
  const auto is_escaped = [&](const NameChoice::Name& name) { return sets_.texts().is_escaped(name.name); };
  if (std::ranges::any_of(next.names, is_escaped)) return true;
  if (next.others.empty()) return false;
  const auto classes = sets_.objects().name_classes(object.rest, work);
  return std::ranges::any_of(next.others, [&](const auto& other) { return (*classes)[other.first].is_escaped; });
}

namespace {

// Whether a byte of a name in plain spelling belongs to an escape.
bool is_in_escape(std::string_view spelled, std::size_t place) {
  for (std::size_t at = 0;;) {
    const std::optional<SpelledCodePoint> code_point = code_point_at(spelled, at);
    const std::size_t end = at + (code_point ? code_point->size : 1);
    if (place < end) return spelled[at] == '\\';
    at = end;
  }
}

}  // namespace

// Where every character has escapes, names that have one in plain spelling leave the due one by a backslash, which may
// begin an escape of the due name too: they are read byte by byte (DeclaredNames::derive_escape).
void NameChoices::set_due(NameChoice& choice, std::uint32_t place) {
  const auto due = std::ranges::find(choice.names, place, &NameChoice::Name::place);
  if (due == choice.names.end()) return;  // then nothing can be written
  choice.due = static_cast<std::uint32_t>(due - choice.names.begin());
  const auto fork_of = [&](const NameChoice::Name& name) {
    const auto shared = std::ranges::mismatch(name.spelled, due->spelled).in1 - name.spelled.begin();
    return NameChoice::Fork{static_cast<std::uint32_t>(shared), name.spelled[static_cast<std::size_t>(shared)]};
  };
  for (auto name = choice.names.begin(); name != choice.names.end(); ++name) {
    if (name->is_late || name == due) continue;
    const NameChoice::Fork fork = fork_of(*name);
    if (!choice.are_escaped || !is_in_escape(name->spelled, fork.shared)) choice.forks.push_back(fork);
  }
  sort_unique(choice.forks);
  for (std::uint32_t i = 0; i < choice.names.size(); ++i)
    if (!choice.names[i].is_late || std::ranges::binary_search(choice.forks, fork_of(choice.names[i])))
      choice.listed.push_back(i);
}

bool NameChoices::awaits(const DeclaredNameRule& rule, const NameChoice& choice) const {
  if (!choice.due || *choice.due < rule.low || *choice.due >= rule.high) return false;
  if (rule.escape == Texts::kEmpty) return true;
  const auto code_point = code_point_at(choice.names[*choice.due].spelled, rule.read);
  return code_point && bytes_left_of_escape(code_point->value, open_.texts().string(rule.escape));
}

}  // namespace tokamata::json
