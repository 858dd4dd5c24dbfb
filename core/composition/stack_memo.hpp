// Masks of a grammar by the part of the stack that they depend on.
//
// Problem.  In a program nearly every position has a stack of its own, and most masks depend on its top alone: a token
// of `);` pops a call and a statement, and no token pops a function.
// How.  While a mask is made, what is read of each expression is noted: that it was split, or that it begins with none
// of some bytes.  What is below was never read.  The memo is a decision tree.  Each node asks a question about one
// expression: into what it is split, or whether it begins with one of some bytes.  An edge is an answer, and a leaf has
// the state whose mask it is.
// Example.  States  n·a·b·X  and  n·a·b·Y, where no token gets past b: both are split into n, a, b and a rest, and
// share a mask.  So do  n·a·c·X  and  n·a·d·Y, where the only byte that a token has after a is `;`, and neither c nor d
// begins with it.  Exactness.  Claim: two states that lead to one leaf have the same mask.  Every expression accepts
// some text, so a state allows a token if it can read its bytes.  It reads them through the heads that splitting gave,
// which are the same in both states.  Where a head has ended and bytes of the token are left, the maker went on with
// all that follows: it split that, and the other state's is split alike; or it saw that it begins with none of the
// bytes that a token has there, and the same holds of the other state's.  So what one state reads the other reads.
// Answers to further questions do no harm.
// Cost.  A look-up for each question, mostly two to ten.  An expression that stands at several places is split once:
// written out as a tree, alternatives that share what follows them would have as many parts as there are ways through
// them.  Masks for which more than kMostQuestions are asked are not kept.
// Rejected: to split also parts of which only the first bytes are needed.  Then functions of different types share no
// mask.  docs/studies.md has why JSON has no such memo: there the rules at the top hold what was written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/byte_set.hpp"
#include "common/hash.hpp"
#include "common/ids.hpp"
#include "common/memory_account.hpp"
#include "expression/pool.hpp"

namespace tokamata {

class StackMemo {
 public:
  // What the maker has read of an expression.
  struct Read {
    bool is_split = false;
    ByteSet avoided = {};  // it begins with none of these
  };
  struct Found {
    StateId holder;      // whose mask it is
    std::uint64_t most;  // the most bytes that any token leaves to be written; or `endless`
  };
  static constexpr std::uint64_t kEndless = ~std::uint64_t{0};
  // What a slot is split into; or, of some bytes, whether it begins with one of them.
  struct Question {
    std::uint32_t slot;
    ByteSet bytes = {};  // empty: the slot is split
    friend bool operator==(const Question&, const Question&) = default;
  };

  // The mask of a state, by its expression.  `beginnings(expression)` are the bytes that it may begin with.
  template <class Beginnings>
  std::optional<Found> find(const Pool& pool, ExpressionId expression, Beginnings&& beginnings) const {
    if (nodes_.empty()) return std::nullopt;
    Stack stack(pool, expression);
    std::uint32_t at = root(pool, expression);
    for (std::size_t asked = 0; asked < kMostQuestions; ++asked) {
      const Node& node = nodes_[at];
      if (node.holder) return Found{*node.holder, node.most == kEndless ? kEndless : node.most + stack.rests().longest};
      if (!node.question) return std::nullopt;
      const auto edge = edges_.find({at, stack.answer(*node.question, beginnings)});
      if (edge == edges_.end()) return std::nullopt;
      at = edge->second;
    }
    return std::nullopt;
  }

  // Notes it.  `read(expression)` is what the maker has read of it.
  template <class Beginnings, class ReadOf>
  void add(const Pool& pool, ExpressionId expression, const Found& found, Beginnings&& beginnings, ReadOf&& read) {
    Stack stack(pool, expression);
    if (nodes_.empty()) nodes_.assign(2, {});
    std::uint32_t at = root(pool, expression);
    for (std::size_t asked = 0;; ++asked) {
      std::optional<Question> question = nodes_[at].question;
      if (!question && !nodes_[at].holder) question = stack.next(read);
      if (!question) break;
      if (asked + 1 == kMostQuestions) return;
      nodes_[at].question = question;
      const Edge place{at, stack.answer(*question, beginnings)};
      auto edge = edges_.find(place);
      if (edge == edges_.end()) {
        nodes_.push_back({});  // first: an edge without its node would lead to the next one
        edge = edges_.emplace(place, static_cast<std::uint32_t>(nodes_.size() - 1)).first;
      }
      at = edge->second;
    }
    // No alternative leaves more than this, less its own rest.
    const std::uint64_t rest = stack.rests().shortest;
    nodes_[at].holder = found.holder;
    nodes_[at].most = found.most == kEndless ? kEndless : found.most - std::min(found.most, rest);
  }

  // The questions that lead to each holder, which need no expression: another constraint that is equal can ask them.
  std::unordered_map<std::uint32_t, std::vector<Question>> questions() const {
    // an edge leads from a node to one that was added after it
    std::vector<std::uint32_t> parents(nodes_.size(), 0);
    for (const auto& [edge, target] : edges_) parents[target] = edge.node;
    std::unordered_map<std::uint32_t, std::vector<Question>> found;
    for (std::uint32_t leaf = 2; leaf < nodes_.size(); ++leaf) {
      if (!nodes_[leaf].holder) continue;
      std::vector<Question>& asked = found[nodes_[leaf].holder->value];
      asked.clear();
      for (std::uint32_t at = leaf; at >= 2; at = parents[at]) asked.push_back(*nodes_[parents[at]].question);
      std::ranges::reverse(asked);
    }
    return found;
  }
  // Notes a mask by questions that were asked elsewhere; not if the memo asks others there.
  template <class Beginnings>
  void add_asked(const Pool& pool, ExpressionId expression, const Found& found, Beginnings&& beginnings,
                 std::span<const Question> asked) {
    Stack stack(pool, expression);
    if (nodes_.empty()) nodes_.assign(2, {});
    std::uint32_t at = root(pool, expression);
    if (asked.size() >= kMostQuestions) return;
    for (const Question& question : asked) {
      if (nodes_[at].holder || (nodes_[at].question && *nodes_[at].question != question) || !stack.has(question))
        return;
      nodes_[at].question = question;
      const Edge place{at, stack.answer(question, beginnings)};
      auto edge = edges_.find(place);
      if (edge == edges_.end()) {
        nodes_.push_back({});
        edge = edges_.emplace(place, static_cast<std::uint32_t>(nodes_.size() - 1)).first;
      }
      at = edge->second;
    }
    if (nodes_[at].question) return;
    const std::uint64_t rest = stack.rests().shortest;
    nodes_[at].holder = found.holder;
    nodes_[at].most = found.most == kEndless ? kEndless : found.most - std::min(found.most, rest);
  }

  void clear() {
    release(nodes_);
    release(edges_);
  }

 private:
  static constexpr std::size_t kMostQuestions = 256;

  // A leaf has a holder, and an inner node a question; a node that is being added has neither.
  struct Node {
    std::optional<Question> question;
    std::optional<StateId> holder;
    std::uint64_t most = 0;
  };

  // An expression, and what it is split into: heads, and slots for what follows them.
  class Stack {
   public:
    Stack(const Pool& pool, ExpressionId expression) : pool_(pool), slots_{{expression}} {}

    bool has(const Question& question) const {
      return question.slot < slots_.size() && !(question.bytes.empty() && slots_[question.slot].is_split);
    }
    // A number below 2^35.
    template <class Beginnings>
    std::uint64_t answer(const Question& question, Beginnings&& beginnings) {
      if (question.bytes.empty()) return split(question.slot);
      Slot& slot = slots_[question.slot];
      const bool begins = beginnings(slot.expression).intersects(question.bytes);
      if (!begins) slot.avoided |= question.bytes;
      return (std::uint64_t{4} << 32) | (begins ? 1u : 0u);
    }
    // The first question whose answer the maker has read and that was not asked; what is before it has none.
    template <class ReadOf>
    std::optional<Question> next(ReadOf&& read) {
      for (; scanned_ < slots_.size(); ++scanned_) {
        const Slot& slot = slots_[scanned_];
        const Read is_read = read(slot.expression);
        if (is_read.is_split && !slot.is_split) return Question{scanned_};
        if (!is_read.avoided.is_subset_of(slot.avoided)) return Question{scanned_, is_read.avoided};
      }
      return std::nullopt;
    }
    // The bytes that the open slots need; none where an alternative has come to its end.
    struct Rests {
      std::uint64_t shortest = kEndless, longest = 0;
    };
    Rests rests() const {
      Rests found;
      for (const Slot& slot : slots_) {
        if (slot.is_split) continue;
        const std::uint64_t spelled = pool_.node(slot.expression).spelled;
        found = {std::min(found.shortest, spelled), std::max(found.longest, spelled)};
      }
      if (has_ended_ || found.shortest == kEndless) found.shortest = 0;
      return found;
    }

   private:
    struct Slot {
      ExpressionId expression;
      bool is_split = false;
      ByteSet avoided = {};  // as answers say
    };

    std::uint64_t split(std::uint32_t slot) {
      const ExpressionId open = slots_[slot].expression;
      slots_[slot].is_split = true;
      const auto same = std::ranges::find(split_, open);
      const auto number = static_cast<std::uint64_t>(same - split_.begin());
      const bool is_known = same != split_.end();
      split_.push_back(open);
      if (is_known) return (std::uint64_t{3} << 32) | number;
      const ExpressionNode& n = pool_.node(open);
      if (n.kind == Kind::Union) {
        for (const ExpressionId item : pool_.items(n)) slots_.push_back({item});
        return (std::uint64_t{2} << 32) | n.item_count();
      }
      const bool is_long = n.kind == Kind::Concatenation;
      const ExpressionId head = is_long ? n.head() : open;
      // the head shows what it begins with
      if (!pool_.node(head).nullable) slots_[slot].avoided = ByteSet::range(0x00, 0xFF);
      if (is_long) {
        slots_.push_back({n.tail()});
        return (std::uint64_t{1} << 32) | head.value;
      }
      has_ended_ = true;
      return open.value;
    }

    const Pool& pool_;
    std::vector<Slot> slots_;
    std::vector<ExpressionId> split_;  // in the order in which they were split
    std::uint32_t scanned_ = 0;
    bool has_ended_ = false;
  };

  struct Edge {
    std::uint32_t node;
    std::uint64_t answer;
    bool operator==(const Edge&) const = default;
  };
  struct EdgeHash {
    std::size_t operator()(const Edge& edge) const { return mix(edge.answer, edge.node); }
  };

  // A text that may end has other masks: the first node is for those that may not.
  static std::uint32_t root(const Pool& pool, ExpressionId expression) {
    return pool.node(expression).nullable ? 1 : 0;
  }

  counted::vector<Node> nodes_;
  counted::unordered_map<Edge, std::uint32_t, EdgeHash> edges_;
};

}  // namespace tokamata
