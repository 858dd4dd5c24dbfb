// The pool of expressions: every distinct node once, found again by what it is made of.
//
// Problem.  Derivatives make the same expressions over and over; two that are equal must be one number, so that a state
// that was met is met again, and what they share must be stored once.
// Example.  b·(ab|ac)* is a node (Concatenation, b, (ab|ac)*); whoever makes it gets the number that it has.
// How.  Hash-consing: nodes in one list, the parts of each before it; an open-addressed table finds a node by its
// parts.  Leaves that are states of automata hold the number of an automaton (leaves.hpp), and of the state.
// Source.  Ershov 1958; Filliâtre and Conchon 2006, Type-safe modular hash-consing.  Cost.  Constant per node
// (amortized).
#pragma once

#include <optional>
#include <span>

#include "common/check.hpp"
#include "common/ids.hpp"
#include "common/limits.hpp"
#include "common/memory_account.hpp"
#include "common/number_table.hpp"
#include "expression/leaves.hpp"
#include "expression/node.hpp"

namespace tokamata {

// Contract.  A node never changes, and keeps its id until a compaction.  References to nodes and spans of items are
// good until the next node is made.
class Pool {
 public:
  static constexpr ExpressionId kEmpty{0};
  static constexpr ExpressionId kEpsilon{1};
  static constexpr ExpressionId kStub{2};
  static constexpr ExpressionId kEverything{3};

  Pool(const Leaves& leaves, std::uint32_t depth_limit);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  const ExpressionNode& node(ExpressionId id) const {
    TOKAMATA_CHECK(id.value < nodes_.size(), "an expression is one of the pool's");
    return nodes_[id.value];
  }
  std::span<const ExpressionId> items(const ExpressionNode& node) const {
    return {items_.data() + node.first_item(), node.item_count()};
  }
  ExpressionId item(const ExpressionNode& node, std::uint32_t number) const {
    return items_[node.first_item() + number];
  }
  // The items of a union, or the expression itself, which must not be a temporary.
  std::span<const ExpressionId> alternatives(const ExpressionId& id) const {
    const ExpressionNode& n = node(id);
    return n.kind == Kind::Union ? items(n) : std::span<const ExpressionId>(&id, 1);
  }
  // The same of an intersection.
  std::span<const ExpressionId> conjuncts(const ExpressionId& id) const {
    const ExpressionNode& n = node(id);
    return n.kind == Kind::Intersection ? items(n) : std::span<const ExpressionId>(&id, 1);
  }
  // What an expression begins with, and what follows that: of one that is no concatenation, itself and kEpsilon.
  struct Split {
    ExpressionId head, tail;
  };
  Split split(ExpressionId expression) const {
    const ExpressionNode& n = node(expression);
    return n.kind == Kind::Concatenation ? Split{n.head(), n.tail()} : Split{expression, kEpsilon};
  }
  // A conjunct of an intersection that is of finitely many strings.
  std::optional<ExpressionId> strings_within(const ExpressionNode& node) const;
  std::size_t size() const { return nodes_.size(); }

  std::uint32_t depth_limit() const { return depth_limit_; }

  // The number of the node, which is made where it is new.
  ExpressionId intern(ExpressionNode node, std::span<const ExpressionId> items = {});

 private:
  friend class Compaction;

  bool is_whole(const ExpressionNode& node, std::span<const ExpressionId> items) const;
  std::uint64_t hash_of(const ExpressionNode& node, std::span<const ExpressionId> items) const;
  bool same(const ExpressionNode& a, std::span<const ExpressionId> a_items, const ExpressionNode& b) const;
  std::uint64_t firsts_of(const ExpressionNode& node, std::span<const ExpressionId> items) const;

  const Leaves& leaves_;
  const std::uint32_t depth_limit_;
  counted::vector<ExpressionNode> nodes_;  // the parts of each before it
  counted::vector<ExpressionId> items_;
  NumberTable index_;
};

}  // namespace tokamata
