#include "json/layout.hpp"

namespace tokamata::json {

ExpressionId Layout::any_blanks(const Work& work) const {
  ByteSet blanks;
  for (const char byte : {' ', '\t', '\n', '\r'}) blanks.add(static_cast<std::uint8_t>(byte));
  return work.arena.forms().repeat(work.arena.forms().bytes(blanks), 0,
                                   most_ == ~std::uint32_t{0} ? kUnbounded : most_);
}

// After a line break, which is a blank too.
ExpressionId Layout::indentation(std::uint8_t width, std::uint32_t depth, const Work& work) const {
  const bool is_tab = width == Indent::kTab;
  const Count count = Count{is_tab ? 1u : width} * depth;
  if (count >= most_) return Pool::kEmpty;
  return work.arena.forms().repeat(literal(is_tab ? "\t" : " ", work), count, count);
}

ExpressionId Layout::after_blank(Gap gap, ExpressionId what, const Work& work) const {
  if (whitespace_ == Whitespace::Any) return work.arena.forms().concatenate(any_blanks(work), what);
  if (whitespace_ == Whitespace::Compact || gap == Gap::None || most_ == 0) return what;
  return work.arena.forms().concatenate(work.arena.forms().repeat(literal(" ", work), 0, 1), what);
}

ExpressionId Layout::open_indent(std::uint32_t depth, const Work& work) {
  if (const auto known = open_indents_.find(depth); known != open_indents_.end()) return known->second;
  std::vector<ExpressionId> ways;
  for (std::uint8_t width = 1; width <= Indent::kTab; ++width)
    ways.push_back(work.arena.forms().concatenate(indentation(width, depth, work), work.arena.forms().commit(width)));
  return open_indents_.emplace(depth, work.arena.forms().unite(ways)).first->second;
}

ExpressionId Layout::after_break(Gap gap, Indent indent, ExpressionId what, const Work& work) {
  if (whitespace_ != Whitespace::Natural || gap != Gap::Line) return Pool::kEmpty;
  Arena& arena = work.arena;
  const ExpressionId line_break = literal("\n", work);
  if (most_ == 0) return Pool::kEmpty;
  if (indent.depth == 0) return arena.forms().concatenate(line_break, what);
  const ExpressionId indentation_of_line =
      indent.width == Indent::kOpen ? open_indent(indent.depth, work) : indentation(indent.width, indent.depth, work);
  return arena.forms().concatenate(line_break, arena.forms().concatenate(indentation_of_line, what));
}

ExpressionId Layout::after(Gap gap, Indent indent, ExpressionId what, const Work& work) {
  std::vector<ExpressionId> ways{after_blank(gap, what, work), after_break(gap, indent, what, work)};
  return work.arena.forms().unite(ways);
}

ExpressionId Layout::before_closing(Indent indent, ExpressionId closing, bool is_empty, const Work& work) {
  const ExpressionId usual = after(Gap::Line, indent.outer(), closing, work);
  if (!is_empty) return usual;
  // A line that was begun for what is inside may turn out to be the last one.
  std::vector<ExpressionId> ways{usual, after_break(Gap::Line, indent, closing, work)};
  return work.arena.forms().unite(ways);
}

}  // namespace tokamata::json
