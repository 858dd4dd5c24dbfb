// Masks of expressions that hold rules: terminals by their segments, all else by a walk.
//
// Problem.  Every state of a JSON text is a state of its own, and most are met once; a walk of the vocabulary for
// each would cost a hundred times what is new about it.
// How.  An expression is taken apart into its alternatives, with the rules in front unfolded, and each is followed down the
// trie of tokens as long as some token goes on with what it needs: most end at their first byte.  A terminal is not
// followed but has its *segment* (vocabulary/segment.hpp), made once; after it stands the trie of what tokens
// spell after it, where whatever follows the terminal is followed in the same way.
// Example.  {"a": "x|  in an object with members a and b: the segment of a string's rest, which most tokens are in; after it the
// remainders of  ",  "}  ","b  …, of which  ,  and  }  and  ,"b  fit what follows.
// Cost.  A few microseconds, and one or two for each alternative that some token goes on with.
// Not taken: one walk of the trie with all alternatives in step (a state of the byte automaton for every byte); a memo by what
// was read of an expression (docs/figures.md: where the same is read, reading it is most of the work).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "common/hash.hpp"
#include "common/ids.hpp"
#include "common/limits.hpp"
#include "common/memory_account.hpp"
#include "common/visited.hpp"
#include "composition/mask_builder.hpp"
#include "expression/arena.hpp"
#include "vocabulary/token_trie.hpp"

namespace tokamata {

class TokenAutomaton;

struct RuleMask {
  static constexpr std::uint64_t kEndless = ~std::uint64_t{0};
  MaskBits bits;
  std::vector<std::uint32_t> unverified;  // tokens that the exact state may refuse
  std::uint64_t most = 0;                 // bytes that the text needs after any token, kEndless where that is not known

  void note(std::uint64_t bytes) {
    most = bytes + 1 >= ExpressionNode::kUnspelled || most == kEndless ? kEndless : std::max(most, bytes);
  }
};

// Alternatives at nodes of tries, whose bytes were read before them.
//
// Punctuation, blanks, names and strings are followed down the trie directly: most of the bytes that they need are
// on no token's way, and a state for each would be made for nothing.  Terminals have their segments, and what follows them
// is followed in the same way down the tries of remainders.  What begins with anything else is walked.
//
// One maker serves all masks of an automaton, one after another, and keeps its lists between them.
class RuleMaskMaker : public CountedObject {
 public:
  // Of an automaton that outlives it.
  explicit RuleMaskMaker(TokenAutomaton& tokens);
  RuleMaskMaker(const RuleMaskMaker&) = delete;
  RuleMaskMaker& operator=(const RuleMaskMaker&) = delete;

  // The tokens below a node of the vocabulary's trie with which the expression, read from there, can go on.
  RuleMask make(ExpressionId expression, NodeId from, Budget& budget);

 private:
  struct RestTag;
  using RestId = Id<RestTag>;
  static constexpr RestId kNothing{0};

  // A node of the vocabulary's trie, or of the remainders of a segment.
  struct Spot {
    const TokenTrie* trie;
    NodeId node;
    bool operator==(const Spot&) const = default;
  };
  // The vocabulary's own trie first: what is read there leads to remainders, and nothing leads back.
  struct SpotOrder {
    const TokenTrie* first;
    bool operator()(const Spot& a, const Spot& b) const {
      if (a.trie != b.trie) return a.trie == first || (b.trie != first && std::less<>()(a.trie, b.trie));
      return a.node < b.node;
    }
  };
  // What follows an alternative: expressions one after another, without a node of the arena for each pair of them.
  struct Rest {
    ExpressionId first;
    RestId next;
    std::uint64_t spelled;   // bytes, as for expressions
    bool is_unverified;      // somewhere
    bool begins_unverified;  // at its first byte
  };
  struct Alternative {
    Spot spot;
    ExpressionId head;
    RestId rest;
  };
  struct Opened {
    Spot spot;
    ExpressionId expression;
    RestId rest;
    bool operator==(const Opened&) const = default;
  };
  struct OpenedHash {
    std::uint64_t operator()(const Opened& o) const {
      const std::uint64_t spot = mix(reinterpret_cast<std::uintptr_t>(o.spot.trie), o.spot.node.value);
      return mix(spot, (std::uint64_t{o.expression.value} << 32) | o.rest.value);
    }
  };

  // False where the readings are too many to be followed one by one.
  bool follow_all(ExpressionId expression, Spot from);
  void clear(bool is_joined);

  static std::optional<Spot> below(Spot spot, std::uint8_t byte);
  static std::span<const std::uint8_t> bytes_below(Spot spot) { return spot.trie->bytes_below(spot.node); }
  static bool is_last(Spot spot) { return bytes_below(spot).empty(); }

  RestId put(ExpressionId first, RestId next);
  ExpressionId joined(ExpressionId first, RestId rest);
  void open(Spot spot, RestId rest) {
    if (rest != kNothing) open(spot, rests_[rest.value].first, rests_[rest.value].next);
  }
  void open(Spot spot, ExpressionId expression, RestId rest);
  void open_joined(Spot spot, ExpressionId given);
  void unfold_joined();
  void add_alternatives(Spot spot, ExpressionId expression);
  void open_head(Spot spot, ExpressionId head, ExpressionId tail, RestId rest);
  bool may_begin(Spot spot, const ExpressionNode& n) const;
  bool may_begin(Spot spot, ExpressionId expression, RestId rest);
  bool is_unverified(ExpressionId expression) const;

  void set(std::uint32_t token, bool is_unverified);
  void add_own(Spot spot, bool is_unverified, std::uint64_t spelled);

  void follow(const Alternative& way);
  void follow_segment(const Alternative& way);
  void follow_terminal(const Alternative& way);
  bool follow_byte(const Alternative& way, const ExpressionNode& head);
  bool follow_repetition(const Alternative& way, const ExpressionNode& head);
  void follow_strings(const Alternative& way, const ExpressionNode& strings);
  bool follow_names(const Alternative& way, const ExpressionNode& rule);
  void walk(Spot spot, StateId state);
  void note_loops(StateId at);

  TokenAutomaton& tokens_;
  Arena& arena_;
  const TokenTrie& vocabulary_;
  Budget* budget_ = nullptr;  // of the mask under way
  bool is_joined_ = false;    // whether readings that meet at a spot are unfolded together
  RuleMask mask_;
  MaskBuilder builder_;
  Visited<Opened, OpenedHash> opened_;  // many alternatives lead to the same rest of an outer value
  counted::vector<Rest> rests_;
  counted::unordered_map<std::uint64_t, RestId> rest_ids_;  // by first and next
  counted::vector<Alternative> open_;
  counted::vector<std::pair<ExpressionId, RestId>> parts_;  // of an expression that is taken apart, and what follows each
  std::vector<std::string_view> names_;
  std::map<Spot, std::vector<ExpressionId>, SpotOrder> walked_, waiting_;
};

}  // namespace tokamata
