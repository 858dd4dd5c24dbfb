// What becomes of an expression: after a symbol, after an edge, once a choice is made; and whether it has a text at all.
//
// Contract.  A derivative is a function of expression and symbol alone: what follows is kEmpty if and only if nothing can,
// except for what is constrained, where that takes a search (ExpressionNode::constrained).  A terminal lives, or is kEmpty:
// so making one may search for a text, which takes derivatives again.  Any call may end with an error of its budget, and
// what is kept is whole then.
// How: derivative.cpp, rules.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/memory_account.hpp"
#include "expression/forms.hpp"

namespace tokamata {

class Arena;

// The bytes that an expression may begin with, and how they fall into classes.
struct FirstBytes {
  ByteSet bytes;    // every byte after which something may follow; perhaps others
  ByteSet borders;  // every byte after which another expression may follow than after the byte before it

  // One byte of each class.
  ByteSet representatives() const;
};

class Derivatives : public Forms {
 public:
  // What may follow after `symbol` was read.  Reports each unit of work to `budget`.
  ExpressionId derivative(ExpressionId expression, Symbol symbol, Budget& budget);
  // kEmpty where the body accepts nothing.
  ExpressionId terminal(ExpressionId body, Budget& budget);
  // The same with every Commit in front made: to be asked of whole texts, since all that follows is committed.
  ExpressionId settled(ExpressionId expression);
  // Where that is cheap to decide: the bytes after which something may live.
  std::optional<ByteSet> leaf_bytes(ExpressionId expression, Budget& budget);
  // The byte classes of the expression alone, which are fewer than those of its pattern: first_byte_classes.cpp.
  FirstBytes first_byte_classes(ExpressionId expression);
  // Some text of the language, as short as a search from the front finds; nothing where there is none.  Not
  // where there are rules in it.
  std::optional<std::string> some_text(ExpressionId expression, Budget& budget);
  // Says by which expression the characters of strings are spelled: characters.cpp.
  void note_character(ExpressionId character, Budget& budget);

 protected:
  using Forms::Forms;

  // An expression with others in place of its rules: rules.cpp.
  template <class Concerns, class Key, class OfRule>
  ExpressionId with_rules(ExpressionId expression, counted::unordered_map<std::uint64_t, ExpressionId>& known, Concerns&& concerns,
                          Key&& key, OfRule&& of_rule);
  void forget(Positions positions);

 private:
  // One derivative under way.
  struct Derivation {
    Symbol symbol;
    Budget& budget;
    bool remember;                             // there are many alternatives
    std::unordered_set<std::uint64_t> derived = {};  // expression and tail

    // Whether it has not met the two together before.
    bool is_first(ExpressionId expression, ExpressionId tail) {
      return !remember || derived.insert((std::uint64_t{expression.value} << 32) | tail.value).second;
    }
  };
  // The first step of a text that a search found: its byte, what is left then, and the length of all of it.
  struct TextStep {
    std::uint32_t length;  // or kNoText: there is none
    std::uint8_t byte;
    ExpressionId next;
  };
  static constexpr std::uint32_t kNoText = ~std::uint32_t{0};

  // All of it: rules are given more than a floor.
  Arena& arena();

  void derive_into(ExpressionId expression, ExpressionId tail, Derivation& run, std::vector<ExpressionId>& out);
  bool is_derived_whole(const ExpressionNode& node) const;
  void derive_union(ExpressionId expression, ExpressionId tail, const Derivation& run, std::vector<ExpressionId>& out);
  void derive_guarded(ExpressionId expression, ExpressionId tail, ExpressionId guard, const Derivation& run,
                      std::vector<ExpressionId>& out);
  ExpressionId derive_leaf(const ExpressionNode& leaf, ExpressionId expression, Symbol symbol);
  ExpressionId derive_closed(const ExpressionNode& n, const Derivation& run);
  ExpressionId derive_terminal(const ExpressionNode& n, const Derivation& run);
  ExpressionId advanced(ExpressionId waiting, Symbol symbol, Budget& budget);
  ExpressionId advanced_node(const ExpressionNode& n, Symbol symbol, Budget& budget);
  static bool is_closed(Kind kind) {
    return kind == Kind::Intersection || kind == Kind::Complement || kind == Kind::Scope || kind == Kind::Guarded;
  }
  void distribute(ExpressionId begun, ExpressionId tail, std::vector<ExpressionId>& out);
  ExpressionId at_edge(ExpressionId expression, Budget& budget);
  void begin_tokens(ExpressionId expression, ExpressionId tail, Budget& budget, std::vector<ExpressionId>& out);
  void begin_tokens_behind(ExpressionId head, ExpressionId expression, ExpressionId tail, Budget& budget,
                           std::vector<ExpressionId>& out);
  ExpressionId closed_at_edge(const ExpressionNode& n, Budget& budget);
  ExpressionId committed(ExpressionId expression, std::uint32_t choice);
  static constexpr std::size_t kMostFound = 8, kLongestFound = 64;  // texts that are tried for other expressions
  TextStep found_text(ExpressionId expression, Budget& budget);
  TextStep search_text(ExpressionId expression, Budget& budget);
  bool ends_like_found(ExpressionId expression, Budget& budget);
  bool has_shortest(ExpressionId expression, std::string_view text, Budget& budget);
  std::string spelled_text(TextStep step) const;
  std::uint32_t least_length(ExpressionId expression) const;
  std::uint32_t length_of_some_text(ExpressionId expression, Budget& budget);

  counted::unordered_map<std::uint64_t, ExpressionId> union_derivatives_;     // of large ones, by union and symbol
  counted::unordered_map<std::uint64_t, ExpressionId> advanced_;              // by expression and symbol
  counted::unordered_map<std::uint64_t, ExpressionId> committed_;             // by expression and choice
  counted::unordered_map<std::uint64_t, ExpressionId> terminal_derivatives_;  // by body and byte
  counted::unordered_map<std::uint32_t, TextStep> texts_;                     // of bodies that were searched
  counted::unordered_map<std::uint32_t, std::uint32_t> least_lengths_;        // that searches have shown
  std::vector<std::string> found_texts_;                                  // by searches, the last of them
};

}  // namespace tokamata
