// What may stand between the parts of a JSON text.
//
// Problem.  People and json.dumps write `{"a": 1}`, `{"a":1}`, or one member to a line, indented; a model that may put
// blanks anywhere may go on with blanks forever.
// The three ways:
//   compact   nothing.
//   natural   after a colon at most one space; after a comma or an opening bracket, and before a closing one, at most
//             one space, or a line break and an indent: as many times as the line is deep, one width, of 1 to 8 spaces
//             or a tab.  The width is chosen where it is used first and is the same in all of the text.  Empty brackets may
//             hold one of these too, and a line within them may be as deep as one with something on it: where
//             that was begun, nothing need follow.  Nothing around the whole.
//   any       all white space that JSON allows.
// How the width is kept: rules wait for it (expression/rules.hpp).  After a line break each width goes its own way,
// and a Commit after the indent passes it on to all that follows.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "common/memory_account.hpp"
#include "json/style.hpp"
#include "json/work.hpp"

namespace tokamata::json {

// before a value: none, after a colon, where a line may begin
enum class Gap : std::uint32_t { None, Space, Line };

struct Indent {
  static constexpr std::uint8_t kOpen = 0, kTab = 9;  // 1 to 8: so many spaces
  std::uint32_t depth = 0;                            // of the line
  std::uint8_t width = kOpen;

  bool operator==(const Indent&) const = default;
  Indent deeper() const { return {depth + 1, width}; }
  Indent outer() const { return {depth - 1, width}; }
};

class Layout {
 public:
  // `most`: blanks, one after the other.
  Layout(Whitespace whitespace, std::uint32_t most) : whitespace_(whitespace), most_(most) {}

  // `what`, with what may stand before it.
  ExpressionId after(Gap gap, Indent indent, ExpressionId what, const Work& work);
  // The same without line breaks, for what holds no rules.
  ExpressionId after_blank(Gap gap, ExpressionId what, const Work& work) const;
  // The alternatives of `what` after a line break; kEmpty where there are none.
  ExpressionId after_break(Gap gap, Indent indent, ExpressionId what, const Work& work);
  // `closing` ends an array or an object whose elements or members are as deep as `indent`.
  ExpressionId before_closing(Indent indent, ExpressionId closing, bool is_empty, const Work& work);
  // Whether a text at this depth may have chosen its width before.  At depth 0 it has not begun: what a text before it
  // has chosen is no matter of its own.
  bool waits(Indent indent) const {
    return whitespace_ == Whitespace::Natural && indent.width == Indent::kOpen && indent.depth > 0;
  }
  bool has_depth() const { return whitespace_ == Whitespace::Natural; }
  void forget_expressions() { release(open_indents_); }

 private:
  ExpressionId open_indent(std::uint32_t depth, const Work& work);
  ExpressionId any_blanks(const Work& work) const;
  ExpressionId indentation(std::uint8_t width, std::uint32_t depth, const Work& work) const;

  Whitespace whitespace_;
  std::uint32_t most_;
  // by depth: all widths there are, with their choice
  counted::unordered_map<std::uint32_t, ExpressionId> open_indents_;
};

}  // namespace tokamata::json
