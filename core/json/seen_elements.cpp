#include "json/seen_elements.hpp"

#include <algorithm>

#include "json/canonical_value.hpp"
#include "json/element_place.hpp"
#include "json/leaves.hpp"

namespace tokamata::json {

BegunString begun_string(std::string_view begun) {
  std::size_t end = 1;
  bool is_complete = false;
  while (end < begun.size()) {
    std::size_t length = 1;
    is_complete = begun[end] == '"';
    if (begun[end] == '\\') {
      length = end + 1 < begun.size() && begun[end + 1] == 'u' ? 6 : 2;
      if (length == 6 && end + 4 <= begun.size() && (begun[end + 2] | 0x20) == 'd' && begun[end + 3] >= '8')
        length = 12;  // half of a pair
    }
    if (end + length > begun.size()) break;
    end += length;
  }
  const std::string_view inside = begun.substr(1, end - 1 - (is_complete ? 1 : 0));
  return {'"' + spelled_string(read_string(inside)), begun.substr(end)};
}

SeenElements::Alike SeenElements::alike(TextSetId seen, std::string_view begun) const {
  switch (begun.empty() ? ' ' : begun.front()) {
    case ' ': return {{seen}, {}};
    case '"': return {{text_sets_.below(seen, begun_string(begun).plain)}, {}};
    case '[':
    case '{': return alike_container(seen, begun);
    case 't':
    case 'f':
    case 'n': return {{text_sets_.below(seen, begun)}, {}};
    default: return alike_number(text_sets_, seen, begun);
  }
}

SeenElements::Alike SeenElements::alike_number(const TextSets& sets, TextSetId seen, std::string_view begun) {
  Alike found;
  const auto add = [&](const std::string& prefix) {
    if (const TextSetId below = sets.below(seen, prefix); below != kNoTexts) found.sets.push_back(below);
  };
  std::string digits;
  bool has_exponent = false;
  for (const char c : begun) {
    has_exponent |= c == 'e' || c == 'E';
    if (!has_exponent && c >= '0' && c <= '9' && (c != '0' || !digits.empty())) digits.push_back(c);
  }
  const bool is_negative = begun.starts_with('-');
  const std::string sign = is_negative ? "-" : "";
  if (digits.empty()) {  // zero, which has no sign, or anything
    if (is_negative || has_exponent) add("0");
    if (has_exponent) return found;
    if (is_negative || begun.empty()) add("-");
    for (char first = '0'; first <= '9' && !is_negative; ++first) add(std::string(1, first));
    return found;
  }
  const std::string significant = digits.substr(0, digits.find_last_not_of('0') + 1);
  if (has_exponent || significant != digits) add(sign + significant + "e");
  if (!has_exponent) add(sign + digits);
  return found;
}

SeenElements::Alike SeenElements::alike_container(TextSetId seen, std::string_view begun) const {
  // A string, a container or what stands before a blank is complete before its comma comes.
  const std::string text = std::string(begun) + (holds_complete_items(begun) ? "," : "");
  const std::vector<std::string_view> items = complete_items(text);
  const char bracket = begun.front();
  if (bracket == '[' || items.empty()) {
    std::string prefix(1, bracket);
    for (std::size_t i = 0; i < items.size(); ++i) prefix += (i > 0 ? "," : "") + canonical_value(items[i]);
    return {{text_sets_.below(seen, prefix)}, {}};
  }
  Alike found;
  const counted::vector<TextId>* fewest = nullptr;
  for (const std::string_view item : items) {
    const std::string object = canonical_value("{" + std::string(item) + "}");
    const std::optional<TextId> member = texts_.find(std::string_view(object).substr(1, object.size() - 2));
    const auto with = member ? now_.objects_with.find(member->value) : now_.objects_with.end();
    if (with == now_.objects_with.end()) return {};
    if (!fewest || with->second.size() < fewest->size()) fewest = &with->second;
  }
  for (const TextId object : *fewest)
    if (text_sets_.contains(seen, object)) found.texts.push_back(object);
  return found;
}

SeenElements::Alike SeenElements::equal_to(TextSetId seen, std::string_view canonical) const {
  const std::optional<TextId> text = texts_.find(canonical);
  return text && text_sets_.contains(seen, *text) ? Alike{{}, {*text}} : Alike{};
}

namespace {

// What is complete in each of the containers that are open, in canonical form.
std::vector<std::vector<std::string>> parts_by_level(const ElementPlace& place, std::string_view begun) {
  const bool is_complete = place.kind == ElementPlace::Kind::Mark && !place.is_name;
  std::vector<std::vector<std::string>> levels;
  for (const std::size_t at : place.opened) {
    const std::string text = std::string(begun.substr(at)) + (is_complete && at == place.opened.back() ? "," : "");
    std::vector<std::string>& items = levels.emplace_back();
    for (const std::string_view item : complete_items(text)) {
      if (begun[at] == '[') {
        items.push_back(canonical_value(item));
      } else {
        const std::string object = canonical_value("{" + std::string(item) + "}");
        items.push_back(object.substr(1, object.size() - 2));
      }
    }
  }
  return levels;
}

// Whether a value in canonical form has these items, and where the next container is.
bool has_parts(const std::vector<std::string>& wanted, std::string_view container, bool is_array) {
  if (container.front() != (is_array ? '[' : '{')) return false;
  const std::vector<std::string_view> items = complete_items(container);
  if (is_array) return items.size() >= wanted.size() && std::equal(wanted.begin(), wanted.end(), items.begin());
  return std::ranges::all_of(wanted,
                             [&](const std::string& item) { return std::ranges::find(items, item) != items.end(); });
}

}  // namespace

SeenElements::Alike SeenElements::narrowed(const Alike& alike, std::string_view begun, bool is_last_digit) const {
  const ElementPlace place = place_in(begun);
  const auto levels = parts_by_level(place, begun);
  const std::string plain =
      place.kind == ElementPlace::Kind::String ? begun_string(place.begun).plain : std::string(place.begun);
  const auto may_become = [&](std::string_view leaf) {
    if (place.kind == ElementPlace::Kind::String || place.kind == ElementPlace::Kind::Word)
      return leaf.starts_with(plain);
    if (is_last_digit) return leaf == canonical_value(plain);
    Texts texts;
    TextSets sets(texts);
    return size(alike_number(sets, sets.with(kNoTexts, texts.extended(Texts::kEmpty, leaf)), place.begun)) > 0;
  };
  const auto fits = [&](const std::string& element) {
    std::vector<std::string_view> found;
    for (std::size_t level = 0; level < levels.size(); ++level) {
      ElementPlace around;
      around.path.assign(place.path.begin(), place.path.begin() + static_cast<std::ptrdiff_t>(level));
      found.clear();
      around.add_from(element, found);
      if (found.empty() || !has_parts(levels[level], found.front(), begun[place.opened[level]] == '[')) return false;
    }
    if (place.kind == ElementPlace::Kind::Value || place.kind == ElementPlace::Kind::Mark) return true;
    found.clear();
    place.add_from(element, found);
    return std::ranges::any_of(found, may_become);
  };
  std::vector<TextId> texts = alike.texts;
  std::unordered_set<std::uint32_t> met;
  for (const TextSetId set : alike.sets) text_sets_.append(set, met, texts);
  Alike result;
  for (const TextId text : texts)
    if (fits(texts_.string(text))) result.texts.push_back(text);
  return result;
}

std::uint64_t SeenElements::size(const Alike& alike) const {
  std::uint64_t count = alike.texts.size();
  for (const TextSetId set : alike.sets) count += text_sets_.size(set);
  return count;
}

std::vector<std::string> SeenElements::strings(const Alike& alike) const {
  std::vector<std::string> found;
  for (const TextSetId set : alike.sets) std::ranges::move(text_sets_.strings(set), std::back_inserter(found));
  for (const TextId text : alike.texts) found.push_back(texts_.string(text));
  return found;
}

void SeenElements::note(TextId element) {
  if (texts_.byte(element, 0) != '{' || !now_.noted.insert(element.value).second) return;
  const std::string text = texts_.string(element);
  for (const std::string_view member : complete_items(text)) {
    counted::vector<TextId>& objects = now_.objects_with[texts_.extended(Texts::kEmpty, member).value];
    objects.push_back(element);
  }
}

// ---- compaction -------------------------------------------------------------------------------

void SeenElements::begin_anew() {
  before_ = std::make_unique<Members>();
  std::swap(*before_, now_);
}

void SeenElements::note_kept(TextSetId seen) {
  std::vector<TextId> elements;
  text_sets_.append(seen, kept_, elements);
  for (const TextId element : elements) note(element);
}

void SeenElements::all_kept() {
  before_.reset();
  kept_ = {};
}

void SeenElements::keep_all() {
  if (!before_) return;
  std::swap(*before_, now_);
  all_kept();
}

}  // namespace tokamata::json
