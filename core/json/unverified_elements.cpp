#include "json/unverified_elements.hpp"

#include "json/canonical_value.hpp"
#include "json/escapes.hpp"
#include "json/leaves.hpp"

namespace tokamata::json {

namespace {

// The code point that some bytes of a string in plain spelling are, once they are all of it.
std::optional<std::uint32_t> whole_code_point(std::string_view read) {
  const auto lead = static_cast<std::uint8_t>(read[0]);
  const bool is_escape = lead == '\\';
  if (is_escape && read.size() < 2) return std::nullopt;
  const std::size_t size = is_escape     ? (read[1] == 'u' ? 6 : 2)
                           : lead < 0x80 ? 1
                           : lead < 0xE0 ? 2
                           : lead < 0xF0 ? 3
                                         : 4;
  if (read.size() < size) return std::nullopt;
  const std::optional<SpelledCodePoint> found = code_point_at(read, 0);
  return found ? std::optional(found->value) : std::nullopt;
}

}  // namespace

class UnverifiedElements::Steps {
 public:
  // `set`: of what the spellings are at the place; `alike`: how many elements a container is like.
  Steps(const UnverifiedElements& tree, const ElementPlace& place, const TextSets& sets, TextSetId set,
        std::uint64_t alike, Walk& walk)
      : tree_(tree),
        work_(tree.work_),
        place_(place),
        sets_(sets),
        set_(set),
        alike_(alike),
        walk_(walk),
        is_inside_(is_container(tree.element_.kind)),
        marks_ends_(is_inside_ || tree.with_ends_),
        is_any_string_(!is_inside_ && tree.has_all_strings()),
        rests_{tree.element_.rest} {}

  void all() {
    switch (place_.kind) {
      case ElementPlace::Kind::Value: value(); break;
      case ElementPlace::Kind::String: begun_string(); break;
      case ElementPlace::Kind::Number:
        end_number(std::string(place_.begun));
        number(std::string(place_.begun));
        break;
      case ElementPlace::Kind::Word: each("aeflrsu", [&] { walk_.mark(true); }); break;
      case ElementPlace::Kind::Mark: break;
    }
    if (is_inside_ && (place_.kind == ElementPlace::Kind::Value || place_.kind == ElementPlace::Kind::Word ||
                       place_.kind == ElementPlace::Kind::Mark))
      marks();
  }

 private:
  // Goes on by a byte where tokens and the element do, and calls what to do there.
  template <class Then>
  void by(std::uint8_t byte, Then&& then) {
    work_.budget.step();
    if (!walk_.enter(byte)) return;
    const std::size_t depth = rests_.size();
    rests_.resize(depth + 1);
    rests_[depth] =
        work_.arena.derivatives().settled(work_.arena.derivatives().derivative(rests_[depth - 1], byte, work_.budget));
    if (rests_[depth] != Pool::kEmpty) then();
    rests_.resize(depth);
    walk_.leave();
  }
  template <class Then>
  void each(std::string_view bytes, Then&& then) {
    for (const char byte : bytes) by(static_cast<std::uint8_t>(byte), then);
  }

  // Where an element that is no container may still become any of so many that were seen.
  void mark_unless_ample(ElementKind kind, std::uint64_t alike) {
    if (kind == ElementKind::String && is_any_string_) return;
    if (!tree_.values_left_.has_more(rests_.back(), kind, is_inside_ ? alike_ : alike, work_)) walk_.mark(false);
  }

  void value() {
    each(" \t\n\r", [&] {
      if (is_inside_) mark_unless_ample(ElementKind::Container, alike_);
      value();
    });
    const auto with = [&](char first) { return sets_.below(set_, std::string_view(&first, 1)); };
    if (const TextSetId strings = with('"'); strings != kNoTexts && !skips_strings())
      by('"', [&] {
        mark_unless_ample(in_string(), sets_.size(strings));
        string(strings, 1);
      });
    number("");
    for (const char first : {'t', 'f', 'n'})
      if (with(first) != kNoTexts) by(static_cast<std::uint8_t>(first), [&] { walk_.mark(true); });
    for (const char bracket : {'[', '{'})
      if (with(bracket) != kNoTexts)
        by(static_cast<std::uint8_t>(bracket), [&] {
          if (marks_ends_ || !tree_.values_left_.is_endless(rests_.back(), work_)) walk_.mark(true);
        });
  }

  // ---- numbers ----

  void number(const std::string& begun) {
    for (const char byte : std::string_view("0123456789.-+eE"))
      by(static_cast<std::uint8_t>(byte), [&] {
        const std::string longer = begun + byte;
        const std::uint64_t alike = tree_.seen_elements_.size(SeenElements::alike_number(sets_, set_, longer));
        if (alike == 0) return;
        // Zeros of whatever exponent are one value.
        const bool is_exponent = tree_.spelling_ != Spelling::Plain && (byte | 0x20) == 'e';
        if (is_exponent) walk_.mark(true);
        else mark_unless_ample(is_inside_ ? ElementKind::Container : ElementKind::Number, alike);
        end_number(longer);
        if (!is_exponent) number(longer);
      });
  }

  // A number that is seen may be ended by what follows it.
  void end_number(const std::string& begun) {
    if (!marks_ends_ || (!is_inside_ && !work_.arena.pool().node(rests_.back()).nullable)) return;
    const char last = begun.back();
    if (last < '0' || last > '9' || sets_.below(set_, canonical_value(begun)) == kNoTexts) return;
    is_inside_ ? marks() : marks_outside();
  }

  // ---- strings ----

  ElementKind in_string() const { return is_inside_ ? ElementKind::InString : ElementKind::String; }

  bool skips_strings() const { return is_any_string_ && !marks_ends_; }

  void begun_string() {
    if (skips_strings()) return;
    const BegunString read = json::begun_string(place_.begun);
    const auto place = static_cast<std::uint32_t>(read.plain.size());
    const TextSetId set = sets_.below(set_, read.plain);
    if (read.escape.empty()) return string(set, place);
    std::string bytes;
    each_code_point(set, place, bytes, [&](std::uint32_t code_point, TextSetId texts, std::uint32_t after) {
      if (bytes_left_of_escape(code_point, read.escape)) escape(code_point, std::string(read.escape), texts, after);
    });
  }

  // The strings in a set go on at a place, where a code point begins or goes on.
  void string(TextSetId set, std::uint32_t place) {
    const bool is_plain = tree_.spelling_ == Spelling::Plain;
    bool begins = true;
    sets_.each_next(set, place, [&](std::optional<std::uint8_t> byte, TextSetId texts) {
      if (!byte) return;
      begins &= *byte < 0x80 || *byte >= 0xC0;
      if (*byte == '\\' && !is_plain) return;
      by(*byte, [&] {
        if (*byte == '"' && marks_ends_) return walk_.mark(true);
        mark_unless_ample(in_string(), sets_.size(texts));
        if (*byte == '\\') return plain_escape(texts, place + 1);
        string(texts, place + 1);
      });
    });
    if (is_plain || !begins || set == kNoTexts) return;
    walk_escapes(set, place);
  }

  // In plain spelling one byte after a backslash is no end of the string.
  void plain_escape(TextSetId set, std::uint32_t place) {
    sets_.each_next(set, place, [&](std::optional<std::uint8_t> byte, TextSetId texts) {
      by(*byte, [&] {
        mark_unless_ample(in_string(), sets_.size(texts));
        string(texts, place + 1);
      });
    });
  }

  void walk_escapes(TextSetId set, std::uint32_t place) {
    by('\\', [&] {
      mark_unless_ample(in_string(), sets_.size(set));
      std::string bytes;
      each_code_point(set, place, bytes, [&](std::uint32_t code_point, TextSetId texts, std::uint32_t after) {
        escape(code_point, "\\", texts, after);
      });
    });
  }

  void escape(std::uint32_t code_point, const std::string& begun, TextSetId texts, std::uint32_t after) {
    const ByteSet bytes = next_bytes_of_escape(code_point, begun);
    for (unsigned byte = bytes.next_member(0); byte < 256; byte = bytes.next_member(byte + 1))
      by(static_cast<std::uint8_t>(byte), [&] {
        const std::string longer = begun + static_cast<char>(byte);
        mark_unless_ample(in_string(), sets_.size(texts));
        if (bytes_left_of_escape(code_point, longer) == std::size_t{0}) return string(texts, after);
        escape(code_point, longer, texts, after);
      });
  }

  // Calls visit(code point, texts, the place after it) for each code point that texts have at a place.
  template <class Visit>
  void each_code_point(TextSetId set, std::uint32_t place, std::string& read, Visit&& visit) {
    sets_.each_next(set, place, [&](std::optional<std::uint8_t> byte, TextSetId texts) {
      work_.budget.step();
      if (!byte || (read.empty() && *byte == '"')) return;
      read.push_back(static_cast<char>(*byte));
      if (const auto code_point = whole_code_point(read)) visit(*code_point, texts, place + 1);
      else each_code_point(texts, place + 1, read, visit);
      read.pop_back();
    });
  }

  // What stands between values.
  void marks() {
    each(" \t\n\r", [&] {
      mark_unless_ample(ElementKind::Container, alike_);
      marks();
    });
    each(",]}:", [&] { walk_.mark(true); });
  }

  // The same where it is no part of the element.
  void marks_outside() {
    for (const char byte : std::string_view(" \t\n\r,]")) {
      work_.budget.step();
      if (!walk_.enter(static_cast<std::uint8_t>(byte))) continue;
      if (is_blank(byte)) marks_outside();
      walk_.mark(!is_blank(byte));
      walk_.leave();
    }
  }

  const UnverifiedElements& tree_;
  const Work& work_;
  const ElementPlace& place_;
  const TextSets& sets_;
  TextSetId set_;
  std::uint64_t alike_;
  Walk& walk_;
  bool is_inside_, marks_ends_, is_any_string_;
  std::vector<ExpressionId> rests_;  // after each byte entered
};

void UnverifiedElements::walk(Walk& walk) const {
  if (is_container(element_.kind)) walk_inside(walk);
  else Steps(*this, place_outside(), text_sets_, seen_, 1, walk).all();
}

ElementPlace UnverifiedElements::place_outside() const {
  ElementPlace place;
  place.begun = begun_;
  switch (element_.kind) {
    case ElementKind::Blank: place.kind = ElementPlace::Kind::Value; break;
    case ElementKind::String: place.kind = ElementPlace::Kind::String; break;
    case ElementKind::Number: place.kind = ElementPlace::Kind::Number; break;
    default: place.kind = ElementPlace::Kind::Word;
  }
  return place;
}

// Among what those elements that the container is like have at the same place.
void UnverifiedElements::walk_inside(Walk& walk) const {
  const ElementPlace place = place_in(begun_);
  const SeenElements::Alike alike = seen_elements_.alike(seen_, begun_);
  Texts texts;
  TextSets sets(texts);
  TextSetId set = kNoTexts;
  if (place.kind != ElementPlace::Kind::Mark) {
    std::vector<std::string_view> found;
    for (const std::string& one : seen_elements_.strings(alike)) {
      work_.budget.step();
      found.clear();
      place.add_from(one, found);
      for (const std::string_view leaf : found) set = sets.with(set, texts.extended(Texts::kEmpty, leaf));
    }
  }
  Steps(*this, place, sets, set, seen_elements_.size(alike), walk).all();
}

bool UnverifiedElements::has_all_strings() const {
  return sets_.parts(element_.set, work_).strings.language == sets_.texts().writable(work_);
}

}  // namespace tokamata::json
