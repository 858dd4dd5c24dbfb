// Masks within elements that must differ: which tokens may make an element like an earlier one.  Part of JsonRules.
//
// Problem.  The mask of an over-approximation, which forgets what was seen, is shared by all elements of a set.  Of its
// tokens those must be judged one by one that may complete an earlier element, or leave no other.  A vocabulary has
// 128,000 tokens, and an array may have 10,000 elements.
// How.  An element differs from all earlier ones as soon as it leaves the spellings of those that it is like.  So only
// these spellings are followed, along the trie of tokens: through the string or number that is begun, or that begins
// after blanks.  A token is unverified
//   - if it goes past the end of such a string, or along a bracket, a comma or a colon: what comes then is judged;
//   - if it ends where no more values can follow than earlier elements are still alike (has_more in values_left.cpp).
// Where one more element may follow, what comes after one that differs is right as well: nothing but the next element
// is unverified.
// Within containers the strings and numbers are those of earlier elements at the same place (element_place.hpp).
// Example.  [{"x":"ab"},{"x":"ac"},{"x":"a|  goes along  b"  and  c" : unverified are  b" , c" , b"} , ….  After  ad
// all is free.
// Cost.  The nodes that the spellings have in the trie of tokens, with a derivative and a look-up for each; within
// containers a pass over the earlier elements that have some member, or all items so far, in common with the one under
// way.  Not taken: to ask at each prefix of an element whether any more values follow it than there are (a walk through
// all states of its set).

#include <algorithm>
#include <bit>

#include "json/canonical_value.hpp"
#include "json/element_place.hpp"
#include "json/escapes.hpp"
#include "json/json_rules.hpp"
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

class JsonRules::AlongElements final : public TextTree {
 public:
  // The beginning of an element, without blanks in front, which is like some of those seen.  `with_ends`: what follows
  // an element is not unverified by itself.
  AlongElements(JsonRules& rules, const Element& element, TextSetId seen, std::string begun, bool with_ends,
                const Work& work)
      : rules_(rules), element_(element), seen_(seen), begun_(std::move(begun)), with_ends_(with_ends), work_(work) {}

  void walk(Walk& walk) const override {
    is_container(element_.part) ? walk_inside(walk)
                                : Steps(*this, place_outside(), rules_.text_sets_, seen_, 1, walk).all();
  }

 private:
  ElementPlace place_outside() const {
    ElementPlace place;
    place.begun = begun_;
    switch (element_.part) {
      case Part::Blank: place.kind = ElementPlace::Kind::Value; break;
      case Part::String: place.kind = ElementPlace::Kind::String; break;
      case Part::Number: place.kind = ElementPlace::Kind::Number; break;
      default: place.kind = ElementPlace::Kind::Word;
    }
    return place;
  }

  // Among what those elements that the container is like have at the same place.
  void walk_inside(Walk& walk) const {
    const ElementPlace place = place_in(begun_);
    const Like alike = rules_.like(seen_, begun_);
    Texts texts;
    TextSets sets(texts);
    TextSetId set = kNoTexts;
    if (place.kind != ElementPlace::Kind::Mark) {
      std::vector<std::string_view> found;
      for (const std::string& one : rules_.strings(alike)) {
        work_.budget.step();
        found.clear();
        place.add_from(one, found);
        for (const std::string_view leaf : found) set = sets.with(set, texts.extended(Texts::kEmpty, leaf));
      }
    }
    Steps(*this, place, sets, set, rules_.size(alike), walk).all();
  }

  class Steps {
   public:
    // `set`: of what the spellings are at the place; `alike`: how many elements a container is like.
    Steps(const AlongElements& tree, const ElementPlace& place, const TextSets& sets, TextSetId set,
          std::uint64_t alike, Walk& walk)
        : rules_(tree.rules_),
          work_(tree.work_),
          place_(place),
          sets_(sets),
          set_(set),
          alike_(alike),
          walk_(walk),
          is_inside_(is_container(tree.element_.part)),
          marks_ends_(is_inside_ || tree.with_ends_),
          is_any_string_(!is_inside_ && rules_.is_of_all_strings(tree.element_.set, work_)),
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
      rests_[depth] = work_.arena.settled(work_.arena.derivative(rests_[depth - 1], byte, work_.budget));
      if (rests_[depth] != Arena::kEmpty) then();
      rests_.resize(depth);
      walk_.leave();
    }
    template <class Then>
    void each(std::string_view bytes, Then&& then) {
      for (const char byte : bytes) by(static_cast<std::uint8_t>(byte), then);
    }

    // Where an element that is no container may still become any of so many that were seen.
    void mark_unless_ample(Part part, std::uint64_t alike) {
      if (part == Part::String && is_any_string_) return;
      if (!rules_.has_more(rests_.back(), part, is_inside_ ? alike_ : alike, work_)) walk_.mark(false);
    }

    void value() {
      each(" \t\n\r", [&] {
        if (is_inside_) mark_unless_ample(Part::Container, alike_);
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
            if (marks_ends_ || !rules_.is_endless(rests_.back(), work_)) walk_.mark(true);
          });
    }

    // ---- numbers ----

    void number(const std::string& begun) {
      for (const char byte : std::string_view("0123456789.-+eE"))
        by(static_cast<std::uint8_t>(byte), [&] {
          const std::string longer = begun + byte;
          const std::uint64_t alike = rules_.size(like_number(sets_, set_, longer));
          if (alike == 0) return;
          // Zeros of whatever exponent are one value.
          const bool is_exponent = rules_.style_.spelling != Spelling::Plain && (byte | 0x20) == 'e';
          if (is_exponent) walk_.mark(true);
          else mark_unless_ample(is_inside_ ? Part::Container : Part::Number, alike);
          end_number(longer);
          if (!is_exponent) number(longer);
        });
    }

    // A number that is seen may be ended by what follows it.
    void end_number(const std::string& begun) {
      if (!marks_ends_ || (!is_inside_ && !work_.arena.node(rests_.back()).nullable)) return;
      const char last = begun.back();
      if (last < '0' || last > '9' || sets_.below(set_, canonical_value(begun)) == kNoTexts) return;
      is_inside_ ? marks() : marks_outside();
    }

    // ---- strings ----

    Part in_string() const { return is_inside_ ? Part::Within : Part::String; }

    bool skips_strings() const { return is_any_string_ && !marks_ends_; }

    void begun_string() {
      if (skips_strings()) return;
      const BegunString read = JsonRules::begun_string(place_.begun);
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
      const bool is_plain = rules_.style_.spelling == Spelling::Plain;
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
        mark_unless_ample(Part::Container, alike_);
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

    JsonRules& rules_;
    const Work& work_;
    const ElementPlace& place_;
    const TextSets& sets_;
    TextSetId set_;
    std::uint64_t alike_;
    Walk& walk_;
    bool is_inside_, marks_ends_, is_any_string_;
    std::vector<ExpressionId> rests_;  // after each byte entered
  };

  JsonRules& rules_;
  Element element_;
  TextSetId seen_;
  std::string begun_;
  bool with_ends_;
  Work work_;
};

bool JsonRules::is_of_all_strings(SetId set, const Work& work) {
  return sets_.parts(set, work).strings == sets_.all_texts(work);
}

std::vector<Approximation> JsonRules::approximate_recorded(const Rule& rule, const Work& work) {
  Arena& arena = work.arena;
  const Array array = arrays_[rule.subject];
  const Line line = rule.line.of(Mode::Approximation);
  const Element element = element_so_far(rule, work);
  const std::string text = texts_.string({rule.record});
  const std::string_view begun = without_blanks(text);
  const bool is_endless_one = is_container(element.part) && is_endless(element.rest, work);
  const bool has_width = layout_.waits(line.indent) && width_of_indents(text, line.indent.depth) != 0;
  // Whether one more element may follow, and end the array, whatever this one becomes.
  const auto goes_on = [&] {
    const std::uint64_t known = std::uint64_t{text_sets_.size(array.seen)} + 1;
    const auto ways = sets_.arrays().branches(array.rest, work);
    return sets_.arrays().accepts(array.rest) && std::ranges::any_of(*ways, [&](const Branch<ArrayTag>& way) {
             return way.rest == array.rest && sets_.count(way.value, 2 * std::bit_ceil(known + 1), work) > known;
           });
  };
  const bool is_sure = !is_endless_one && !has_width && goes_on();
  const ExpressionId next = elements(array_number({array.rest, kNoTexts}), false, line, work);
  const ExpressionId further = is_sure ? next : unverified_from(next, work);
  std::vector<Approximation> found = arena.approximations(element.rest, work.budget);
  for (Approximation& one : found) one.expression = arena.concatenate(one.expression, further);
  if (element.is_settled || size(like(array.seen, begun)) == 0) return found;
  const auto tree = std::make_shared<AlongElements>(*this, element, array.seen, std::string(begun), is_sure, work);
  for (Approximation& one : found)
    if (one.expression != Arena::kEmpty) (is_endless_one ? one.alike : one.unverified).push_back({"", tree});
  return found;
}

}  // namespace tokamata::json
