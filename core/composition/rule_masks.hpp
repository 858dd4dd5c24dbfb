// Masks of expressions with rules: terminals by their segments, everything else by a walk.
//
// Problem.  In a JSON text nearly every position has a state of its own.  A walk of the vocabulary for each would cost a
// hundred times as much as what is new in it.
// How.  The expression is split into its alternatives, with the rules at the front unfolded.  Each alternative is followed
// down the trie as long as some token continues with it; most end at their first byte.  A terminal is not followed: its
// *segment* (vocabulary/segment.hpp) is computed once.  The segment contains the trie of what tokens spell after the
// terminal, and whatever follows the terminal is followed down that trie in the same way.
// Example.  {"a": "x|  in an object with members a and b: most tokens are in the segment of the rest of a string.  Its
// remainders are those of  ",  "}  ","b  …, of which  ,  and  }  and  ,"b  match what follows.
// Cost.  A few microseconds, and one or two for each alternative that some token continues with.
// Rejected: one walk of the trie with all alternatives in step (it makes a state of the byte automaton for every byte); a
// memo by the part of an expression that was read (docs/studies.md: finding that part is most of the work).
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
  std::vector<std::uint32_t> unverified;  // tokens that the exact state must judge
  std::uint64_t most = 0;                 // the most bytes that any token leaves to be written; or kEndless: not known

  void note(std::uint64_t bytes) {
    most = bytes + 1 >= ExpressionNode::kUnspelled || most == kEndless ? kEndless : std::max(most, bytes);
  }
};

// Computes masks by following alternatives from nodes of tries.
//
// Punctuation, blanks, names and strings are followed down the trie directly, without states: no token contains most of the
// bytes that they need.  Terminals have segments, and what follows a terminal is followed down the trie of remainders.
// All other alternatives are walked with the byte automaton.
//
// One maker serves all masks of an automaton in turn, and reuses its buffers.
class RuleMaskMaker : public CountedObject {
 public:
  // Of an automaton that outlives it.
  explicit RuleMaskMaker(TokenAutomaton& tokens);
  RuleMaskMaker(const RuleMaskMaker&) = delete;
  RuleMaskMaker& operator=(const RuleMaskMaker&) = delete;

  // The tokens below a node of the vocabulary's trie with which the expression, read from there, may continue.
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
  // The vocabulary's trie comes first: alternatives move from it to remainders, and never back.
  struct SpotOrder {
    const TokenTrie* first;
    bool operator()(const Spot& a, const Spot& b) const {
      if (a.trie != b.trie) return a.trie == first || (b.trie != first && std::less<>()(a.trie, b.trie));
      return a.node < b.node;
    }
  };
  // What follows an alternative: a list of expressions, so that no concatenation is added to the arena.
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

  // Returns false if there are too many readings to follow one by one.
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
  Budget* budget_ = nullptr;  // of the current mask
  bool is_joined_ = false;    // whether the readings that reach one spot are joined before they are unfolded
  RuleMask mask_;
  MaskBuilder builder_;
  Visited<Opened, OpenedHash> opened_;  // many alternatives continue with the same rest of an outer value
  counted::vector<Rest> rests_;
  counted::unordered_map<std::uint64_t, RestId> rest_ids_;  // by first and next
  counted::vector<Alternative> open_;
  counted::vector<std::pair<ExpressionId, RestId>> parts_;  // of the expression that is being split, with what follows
  std::vector<std::string_view> names_;
  std::map<Spot, std::vector<ExpressionId>, SpotOrder> walked_, waiting_;
};

}  // namespace tokamata
