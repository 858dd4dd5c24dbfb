// Random patterns, texts of them, and vocabularies cut from such texts.
#pragma once

#include <string>
#include <vector>

#include "choices.hpp"
#include "oracle/tokens.hpp"

namespace generate {

using oracle::Range;
using oracle::Tokens;
using oracle::TreePtr;

// Few code points, so that parts of a pattern meet each other; encodings of every length, and
// both sides of every border between lengths and around the surrogates.
inline const std::vector<std::uint32_t>& code_points() {
  static const std::vector<std::uint32_t> all = {'a',    'b',    'c',     0x7F,    0x80,    0xE9,
                                                 0xE8,   0x7FF,  0x800,   0x4E00,  0x4E01,  0xD7FF,
                                                 0xE000, 0xFFFF, 0x10000, 0x1F600, 0x1F601, 0x10FFFF};
  return all;
}

inline std::uint32_t code_point(Choices& choices) {
  return choices.one_in(3) ? choices.of(code_points()) : 'a' + choices.below(3);
}

inline std::vector<Range> ranges(Choices& choices) {
  static const std::vector<std::vector<Range>> ready = {
      {{'a', 'b'}},
      {{'a', 'c'}},
      {{'b', 'c'}},
      {{0, 0x10FFFF}},
      {{0, 'a' - 1}, {'b', 0x10FFFF}},  // not a
      {{0, 9}, {11, 0x10FFFF}},         // the dot
      {{0, 0x7F}},
      {{'a', 'a'}, {0xE8, 0xE9}},
      {{0x80, 0x10FFFF}},
      {{0x80, 0x7FF}},
      {{0xC0, 0xFF}, {'a', 'c'}},
      {{0x4E00, 0x9FFF}},
      {{0x4E00, 0x4E01}, {0x1F600, 0x1F601}, {'a', 'a'}},
      {{0xD000, 0xE000}},
      {{0x1F600, 0x1F64F}, {'b', 'b'}},
      {{0x10000, 0x10FFFF}},
      {{0x800, 0xFFFF}, {'a', 'a'}},
  };
  if (!choices.one_in(4)) return choices.of(ready);
  std::vector<Range> some;
  for (std::uint32_t count = choices.between(1, 3); count > 0; --count) {
    std::uint32_t low = choices.of(code_points()), high = choices.of(code_points());
    if (low > high) std::swap(low, high);
    some.emplace_back(low, high);
  }
  return some;
}

// Nodes of the automaton that the oracle builds, about.
inline std::uint64_t unrolled_size(const TreePtr& tree) {
  std::uint64_t size = 2 + tree->bytes.size();
  if (tree->op == oracle::Tree::Op::Substrings)
    size += tree->bytes.size() * tree->bytes.size() * tree->bytes.size() / 6;
  for (const std::string& one : tree->strings) size += one.size();
  for (const TreePtr& item : tree->items) size += unrolled_size(item);
  if (tree->op == oracle::Tree::Op::Repetition)
    size *= std::max<std::uint64_t>(1, tree->maximum == oracle::kUnbounded ? tree->minimum + 1 : tree->maximum);
  return size;
}

struct Bounds {
  std::uint32_t largest_count = 14;
  std::uint64_t largest_size = 200;  // unrolled
  bool may_be_empty = true;
  bool has_operators = false;  // intersection, complement, lookaround, scopes, explicit automata
  bool has_controls = false;   // the control tokens <x> and <y>
  bool has_edges = false;      // the edges of tokens
};

inline TreePtr repetition(Choices& choices, TreePtr body, const Bounds& bounds) {
  std::uint64_t minimum = 0, maximum = 1;
  switch (choices.below(8)) {
    case 0: break;
    case 1: maximum = oracle::kUnbounded; break;
    case 2: minimum = 1, maximum = oracle::kUnbounded; break;
    case 3: maximum = choices.between(2, 5); break;
    case 4: minimum = choices.between(1, 3), maximum = minimum + choices.below(4); break;
    case 5: minimum = maximum = choices.between(0, 4); break;
    case 6:
      minimum = choices.below(bounds.largest_count + 1),
      maximum = minimum + choices.below(bounds.largest_count + 1 - static_cast<std::uint32_t>(minimum));
      break;
    default: minimum = choices.below(bounds.largest_count / 2), maximum = oracle::kUnbounded; break;
  }
  const TreePtr whole = oracle::repeat(body, minimum, maximum);
  return unrolled_size(whole) <= bounds.largest_size ? whole : oracle::star(body);
}

inline std::string literal(Choices& choices, std::uint32_t least, std::uint32_t most) {
  std::string bytes;
  for (std::uint32_t count = choices.between(least, most); count > 0; --count)
    bytes += oracle::encoded(code_point(choices));
  return bytes;
}

// A part that says nothing of its own but of what is around it, or stands for an explicit automaton.
inline TreePtr special_leaf(Choices& choices) {
  switch (choices.below(6)) {
    case 0: return oracle::both({oracle::star(oracle::any()), oracle::everything()});  // as expression.hpp asks
    case 1: return oracle::at_beginning();
    case 2: return oracle::at_end();
    case 3: return oracle::star(oracle::any());
    case 4: return oracle::substrings(literal(choices, 0, 5));
    default: {
      std::vector<std::string> all;
      for (std::uint32_t count = choices.below(4); count > 0; --count) all.push_back(literal(choices, 0, 3));
      return oracle::strings(all);
    }
  }
}

inline TreePtr tree(Choices& choices, std::uint32_t size, const Bounds& bounds);

// What is complemented or looked at sees no edges of tokens (expression.hpp).
inline TreePtr operated(Choices& choices, std::uint32_t size, const Bounds& bounds) {
  const std::uint32_t kind = choices.below(9);
  Bounds inner = bounds;
  inner.has_edges = bounds.has_edges && kind == 8;
  const TreePtr body = tree(choices, size - 1, inner);
  switch (kind) {
    case 0: return oracle::no(body);
    case 1: return oracle::both({oracle::star(oracle::any()), oracle::no(body)});
    case 2: return oracle::not_ahead(body);
    case 3: return oracle::not_behind(body);
    case 4: return oracle::ahead(body);
    case 5: return oracle::behind(body);
    case 6: return oracle::ahead_rest(body);
    case 7: return oracle::behind_prefix(body);
    default: return oracle::scope(body);
  }
}

inline TreePtr tree(Choices& choices, std::uint32_t size, const Bounds& bounds) {
  if (bounds.has_operators && size >= 2 && choices.one_in(3)) return operated(choices, size, bounds);
  if (size <= 1) {
    if (bounds.has_controls && choices.one_in(4)) return oracle::control(choices.one_in(2) ? "<x>" : "<y>");
    if (bounds.has_edges && choices.one_in(3))
      return oracle::one_token(choices.of(
          std::vector<std::vector<Range>>{{{0, 255}}, {{'a', 'b'}}, {{'b', 'c'}, {0xC3, 0xC3}}, {{0x80, 0xFF}}}));
    if (bounds.has_operators && choices.one_in(6)) return special_leaf(choices);
    if (bounds.may_be_empty && choices.one_in(60)) return oracle::nothing();
    if (choices.one_in(20)) return oracle::text("");
    if (choices.one_in(2)) return oracle::one_of(ranges(choices));
    return oracle::text(literal(choices, 1, 3));
  }
  const std::uint32_t kind = choices.below(5);
  if (kind >= 3 || size == 2) return repetition(choices, tree(choices, size - 1, bounds), bounds);
  std::vector<TreePtr> items;
  std::uint32_t rest = size - 1;
  while (rest > 0 && items.size() < 4) {
    const std::uint32_t part = 1 + choices.below(rest);
    items.push_back(tree(choices, part, bounds));
    rest -= part;
  }
  if (bounds.has_operators && choices.one_in(4)) return oracle::both(items);
  return kind == 0 ? oracle::choice(items) : oracle::sequence(items);
}

// A text that the pattern matches, or the beginning of one where that would take many steps; no more than a
// guess where there are intersections, complements and lookaround.
inline void append_text(Choices& choices, const TreePtr& pattern, std::string& out, unsigned& steps) {
  using Op = oracle::Tree::Op;
  if (++steps > 400 || out.size() > 60) return;
  switch (pattern->op) {
    case Op::Empty:
    case Op::ControlToken:
    case Op::LookAhead:
    case Op::LookBehind: return;
    case Op::Everything: out += literal(choices, 0, 3); return;
    case Op::OneToken:
      for (std::uint32_t count = choices.between(1, 2); count > 0; --count)
        out.push_back(static_cast<char>(choices.of(pattern->ranges).first ? choices.of(pattern->ranges).first : 'c'));
      return;
    case Op::Strings:
      if (!pattern->strings.empty()) out += choices.of(pattern->strings);
      return;
    case Op::Substrings: {
      const std::vector<std::size_t> edges = oracle::code_point_edges(pattern->bytes);
      const std::size_t from = choices.of(edges), to = choices.of(edges);
      out += pattern->bytes.substr(std::min(from, to), std::max(from, to) - std::min(from, to));
      return;
    }
    case Op::Complement:
      if (choices.one_in(2)) return append_text(choices, pattern->items[0], out, steps);
      out += literal(choices, 0, 2);
      return;
    case Op::Scope: return append_text(choices, pattern->items[0], out, steps);
    case Op::Literal: out += pattern->bytes; return;
    case Op::Class: {
      if (pattern->ranges.empty()) return;
      const auto [low, high] = choices.of(pattern->ranges);
      std::uint32_t one = choices.of(code_points());
      if (one < low || one > high) one = choices.one_in(2) ? low : high;
      out += oracle::encoded(one);
      return;
    }
    case Op::Concatenation:
      for (const TreePtr& item : pattern->items) append_text(choices, item, out, steps);
      return;
    case Op::Union:
    case Op::Intersection:
      if (!pattern->items.empty()) append_text(choices, choices.of(pattern->items), out, steps);
      return;
    case Op::Repetition: {
      const std::uint64_t least = std::min<std::uint64_t>(pattern->minimum, 12);
      const std::uint64_t more = std::min<std::uint64_t>(pattern->maximum - pattern->minimum, 3);
      for (std::uint64_t rounds = least + choices.below(static_cast<std::uint32_t>(more) + 1); rounds > 0; --rounds)
        append_text(choices, pattern->items[0], out, steps);
    }
  }
}

inline std::string text(Choices& choices, const TreePtr& pattern) {
  std::string result;
  unsigned steps = 0;
  append_text(choices, pattern, result, steps);
  return result;
}

// Ids for the control tokens of the pattern: among those that are no text, or behind all others.
inline void add_controls(Choices& choices, const TreePtr& pattern, Tokens& tokens) {
  std::set<std::string> names;
  oracle::add_control_names(pattern, names);
  for (const std::string& name : names) {
    std::vector<std::uint32_t> possible;
    for (std::uint32_t id = 0; id < tokens.bytes.size(); ++id)
      if (!tokens.bytes[id] && !tokens.is_stop(id) && !tokens.is_control(id)) possible.push_back(id);
    if (!possible.empty() && choices.one_in(2)) {
      tokens.controls[name] = choices.of(possible);
      continue;
    }
    if (choices.one_in(2) && tokens.bytes.size() == tokens.width) tokens.bytes.emplace_back(std::nullopt);
    tokens.controls[name] = tokens.width++;
  }
}

// Pieces of texts of the pattern, so that many are allowed somewhere and few everywhere.
inline Tokens tokens(Choices& choices, const TreePtr& pattern) {
  Tokens result;
  std::vector<std::optional<std::string>>& all = result.bytes;
  const std::uint32_t single = choices.below(5);
  if (single < 2)  // every byte
    for (unsigned byte = 0; byte < 256; ++byte) all.emplace_back(std::string(1, static_cast<char>(byte)));
  std::string sample;
  for (unsigned i = 0; i < 4; ++i) sample += text(choices, pattern);
  if (single == 2 || single == 3)  // those that occur, all or most of them
    for (const char byte : std::set<char>(sample.begin(), sample.end()))
      if (single == 2 || !choices.one_in(4)) all.emplace_back(std::string(1, byte));
  if (single == 3 && choices.one_in(2))
    for (unsigned byte = 0x80; byte < 0xC0; ++byte) all.emplace_back(std::string(1, static_cast<char>(byte)));
  const std::uint32_t longest = choices.one_in(4) ? 9 : 4;
  for (std::uint32_t count = choices.between(2, 16); count > 0; --count) {
    const std::string from = text(choices, pattern) + (choices.one_in(3) ? text(choices, pattern) : "");
    const std::uint32_t offset = choices.below(static_cast<std::uint32_t>(from.size()) + 1);
    all.emplace_back(from.substr(offset, choices.between(1, longest)));
  }
  for (std::uint32_t count = choices.below(4); count > 0; --count) {  // of any bytes
    std::string bytes;
    for (std::uint32_t length = choices.between(1, 3); length > 0; --length) {
      static const std::vector<std::uint32_t> odd = {0xFF, 0x80, 0xBF, 0xC0, 0xC3, 0xE0, 0xED, 0xF4, 0, 'a', 'b', 0x9F};
      bytes.push_back(static_cast<char>(choices.of(odd)));
    }
    all.emplace_back(bytes);
  }
  if (choices.one_in(2)) all.emplace_back(std::nullopt);
  if (choices.one_in(2)) all.emplace_back("");
  if (choices.one_in(2)) all.push_back(choices.of(std::vector<std::optional<std::string>>(all)));  // a duplicate
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[choices.below(static_cast<std::uint32_t>(i))]);

  const auto count = static_cast<std::uint32_t>(all.size());
  result.width = count + (choices.one_in(2) ? choices.below(40) : 0);
  for (std::uint32_t stops = choices.below(4); stops > 0; --stops) {  // text or padding, none of them, or several
    const std::uint32_t id = choices.below(result.width);
    if (!result.is_stop(id)) result.stop.push_back(id);
  }
  add_controls(choices, pattern, result);
  if (choices.one_in(4)) {  // the first byte falls away at the start, as Llama 2's space does
    result.at_start = all;
    for (auto& token : *result.at_start)
      if (token && choices.one_in(3)) token = token->empty() ? *token : token->substr(1);
  }
  return result;
}

}  // namespace generate
