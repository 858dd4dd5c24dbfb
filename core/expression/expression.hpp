// A pattern as the front ends hand it over: an immutable tree, shared freely between threads.
//
// The tree denotes a set of valid UTF-8 texts.  It knows no vocabulary and no limits; an Arena
// takes it in, brings it into normal form and works with that.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "expression/utf8.hpp"

namespace tokamata {

// Counts of a repetition.  64 bits, so that products of nested bounds can be kept exactly.
using Count = std::uint64_t;
inline constexpr Count kUnbounded = ~Count{0};

class Expression;
using ExpressionPtr = std::shared_ptr<const Expression>;

class Expression {
 public:
  struct Empty {};  // no text at all
  struct Literal {  // exactly these bytes; the empty literal is epsilon
    std::string bytes;
  };
  struct CodePoints {  // one code point of a set
    std::shared_ptr<const CodePointAutomaton> automaton;
  };
  struct Concatenation {
    std::vector<ExpressionPtr> items;
  };
  struct Union {
    std::vector<ExpressionPtr> items;
  };
  struct Repetition {
    ExpressionPtr body;
    Count minimum;
    Count maximum;
    std::int64_t position;  // offset into the pattern of what is repeated, or -1
  };
  using Node = std::variant<Empty, Literal, CodePoints, Concatenation, Union, Repetition>;

  // Trees are read and destroyed recursively; this bound keeps both within any thread's stack.
  static constexpr std::uint32_t kMaximumDepth = 2000;

  static ExpressionPtr empty() { return make(Empty{}, 0); }
  static ExpressionPtr literal(std::string bytes) { return make(Literal{std::move(bytes)}, 0); }
  static ExpressionPtr code_points(std::vector<CodePointRange> ranges) {
    return make(CodePoints{std::make_shared<const CodePointAutomaton>(std::move(ranges))}, 0);
  }
  static ExpressionPtr concatenation(std::vector<ExpressionPtr> items) {
    const std::uint32_t depth = depth_of(items);
    return make(Concatenation{std::move(items)}, depth);
  }
  static ExpressionPtr unite(std::vector<ExpressionPtr> items) {
    const std::uint32_t depth = depth_of(items);
    return make(Union{std::move(items)}, depth);
  }
  static ExpressionPtr repetition(ExpressionPtr body, Count minimum, Count maximum, std::int64_t position) {
    if (minimum > maximum) throw std::invalid_argument("repetition: the minimum is above the maximum");
    const std::uint32_t depth = body->depth() + 1;
    return make(Repetition{std::move(body), minimum, maximum, position}, depth);
  }

  const Node& node() const { return node_; }
  std::uint32_t depth() const { return depth_; }

  Expression(Node node, std::uint32_t depth) : node_(std::move(node)), depth_(depth) {}

 private:
  static ExpressionPtr make(Node node, std::uint32_t depth) {
    if (depth > kMaximumDepth) throw std::invalid_argument("expression: nested more than 2000 deep");
    return std::make_shared<const Expression>(std::move(node), depth);
  }
  static std::uint32_t depth_of(const std::vector<ExpressionPtr>& items) {
    std::uint32_t depth = 0;
    for (const ExpressionPtr& item : items) depth = std::max(depth, item->depth());
    return depth + 1;
  }

  Node node_;
  std::uint32_t depth_;
};

}  // namespace tokamata
