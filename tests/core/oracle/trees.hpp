// The patterns of the oracle: plain trees, and how they are written in a message.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace oracle {

struct Tree;
using TreePtr = std::shared_ptr<const Tree>;
using Range = std::pair<std::uint32_t, std::uint32_t>;  // of code points, or of bytes; inclusive
inline constexpr std::uint64_t kUnbounded = ~std::uint64_t{0};

struct TooLarge : std::runtime_error {
  TooLarge() : std::runtime_error("too large for the oracle") {}
};

// What each denotes is said in core/expression/expression.hpp, and once more by matching.hpp.
struct Tree {
  enum class Op {
    Empty,
    Literal,
    Class,
    Strings,
    Substrings,
    Everything,
    ControlToken,
    OneToken,
    Concatenation,
    Union,
    Repetition,
    Intersection,
    Complement,
    LookAhead,
    LookBehind,
    Scope,
  };
  Op op;
  std::string bytes = {};                  // Literal; the text of Substrings; the name of a ControlToken
  std::vector<Range> ranges = {};          // Class: code points; OneToken: bytes
  std::vector<TreePtr> items = {};         // of all that have parts; where there is one, it is the body
  std::uint64_t minimum = 0, maximum = 0;  // Repetition
  std::vector<std::string> strings = {};   // Strings
};

inline TreePtr made(Tree tree) { return std::make_shared<Tree>(std::move(tree)); }
inline TreePtr leaf(Tree::Op op, std::string bytes = {}) { return made({.op = op, .bytes = std::move(bytes)}); }
inline TreePtr node(Tree::Op op, std::vector<TreePtr> items) { return made({.op = op, .items = std::move(items)}); }

inline TreePtr nothing() { return leaf(Tree::Op::Empty); }
inline TreePtr text(std::string bytes) { return leaf(Tree::Op::Literal, std::move(bytes)); }
inline TreePtr one_of(std::vector<Range> ranges) { return made({.op = Tree::Op::Class, .ranges = std::move(ranges)}); }
inline TreePtr any() { return one_of({{0, 0x10FFFF}}); }
inline TreePtr strings(std::vector<std::string> all) {
  return made({.op = Tree::Op::Strings, .strings = std::move(all)});
}
inline TreePtr substrings(std::string whole) { return leaf(Tree::Op::Substrings, std::move(whole)); }
inline TreePtr everything() { return leaf(Tree::Op::Everything); }
inline TreePtr control(std::string name) { return leaf(Tree::Op::ControlToken, std::move(name)); }
inline TreePtr one_token(std::vector<Range> bytes) {
  return made({.op = Tree::Op::OneToken, .ranges = std::move(bytes)});
}

inline TreePtr sequence(std::vector<TreePtr> items) { return node(Tree::Op::Concatenation, std::move(items)); }
inline TreePtr choice(std::vector<TreePtr> items) { return node(Tree::Op::Union, std::move(items)); }
inline TreePtr both(std::vector<TreePtr> items) { return node(Tree::Op::Intersection, std::move(items)); }
inline TreePtr no(TreePtr body) { return node(Tree::Op::Complement, {std::move(body)}); }
inline TreePtr ahead_rest(TreePtr rest) { return node(Tree::Op::LookAhead, {std::move(rest)}); }
inline TreePtr behind_prefix(TreePtr prefix) { return node(Tree::Op::LookBehind, {std::move(prefix)}); }
inline TreePtr scope(TreePtr body) { return node(Tree::Op::Scope, {std::move(body)}); }
inline TreePtr repeat(TreePtr body, std::uint64_t minimum, std::uint64_t maximum) {
  return made({.op = Tree::Op::Repetition, .items = {std::move(body)}, .minimum = minimum, .maximum = maximum});
}
inline TreePtr star(TreePtr body) { return repeat(std::move(body), 0, kUnbounded); }
inline TreePtr optional(TreePtr body) { return repeat(std::move(body), 0, 1); }

// (?=A), (?!A), (?<=B), (?<!B), ^ and $ (or \Z), as the front ends say them.
inline TreePtr ahead(TreePtr body) { return ahead_rest(sequence({std::move(body), everything()})); }
inline TreePtr not_ahead(TreePtr body) { return ahead_rest(no(sequence({std::move(body), everything()}))); }
inline TreePtr behind(TreePtr body) { return behind_prefix(sequence({everything(), std::move(body)})); }
inline TreePtr not_behind(TreePtr body) { return behind_prefix(no(sequence({everything(), std::move(body)}))); }
inline TreePtr at_beginning() { return behind_prefix(text("")); }
inline TreePtr at_end() { return ahead_rest(text("")); }

// Whether the tree, or a part of it, is one of these.
inline bool holds(const TreePtr& tree, const std::set<Tree::Op>& ops) {
  return ops.contains(tree->op) ||
         std::ranges::any_of(tree->items, [&](const TreePtr& item) { return holds(item, ops); });
}
inline bool sees_edges(const TreePtr& tree) { return holds(tree, {Tree::Op::OneToken}); }
inline void add_control_names(const TreePtr& tree, std::set<std::string>& names) {
  if (tree->op == Tree::Op::ControlToken) names.insert(tree->bytes);
  for (const TreePtr& item : tree->items) add_control_names(item, names);
}

inline std::string escaped(const std::string& bytes) {
  static const char* digits = "0123456789abcdef";
  std::string shown;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    if (value >= 0x21 && value < 0x7F && value != '\\') shown.push_back(byte);
    else shown += std::string("\\x") + digits[value >> 4] + digits[value & 15];
  }
  return shown;
}

inline std::string shown(const TreePtr& tree);

namespace detail {
inline std::string ranges(const Tree& tree) {
  std::string result;
  for (const auto& [low, high] : tree.ranges) result += " " + std::to_string(low) + "-" + std::to_string(high);
  return "[" + (result.empty() ? result : result.substr(1)) + "]";
}
inline std::string joined(const Tree& tree, const std::string& between) {
  std::string result;
  for (const TreePtr& item : tree.items) result += (&item == tree.items.data() ? "" : between) + shown(item);
  return "(" + result + ")";
}
}  // namespace detail

inline std::string shown(const TreePtr& tree) {
  using enum Tree::Op;
  const auto body = [&] { return "(" + shown(tree->items[0]) + ")"; };
  switch (tree->op) {
    case Empty: return "∅";
    case Literal: return tree->bytes.empty() ? "ε" : escaped(tree->bytes);
    case Class: return detail::ranges(*tree);
    case Strings: {
      std::string result;
      for (const std::string& one : tree->strings) result += " '" + escaped(one) + "'";
      return "<strings" + result + ">";
    }
    case Substrings: return "<substrings '" + escaped(tree->bytes) + "'>";
    case Everything: return "⊤";
    case ControlToken: return "<control " + tree->bytes + ">";
    case OneToken: return "<token " + detail::ranges(*tree) + ">";
    case Concatenation: return detail::joined(*tree, "");
    case Union: return detail::joined(*tree, "|");
    case Intersection: return detail::joined(*tree, "&");
    case Complement: return "~" + body();
    case LookAhead: return "<ahead " + shown(tree->items[0]) + ">";
    case LookBehind: return "<behind " + shown(tree->items[0]) + ">";
    case Scope: return "<scope " + shown(tree->items[0]) + ">";
    case Repetition:
      return body() + "{" + std::to_string(tree->minimum) + "," +
             (tree->maximum == kUnbounded ? "" : std::to_string(tree->maximum)) + "}";
  }
  return "?";
}

}  // namespace oracle
