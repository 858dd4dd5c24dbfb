// Derivatives of expressions: by a symbol, by a token edge, by a choice; and whether an expression has a text.
//
// Contract.  A derivative is a function of the expression and the symbol.  It is kEmpty if and only if no text
// continues; for constrained expressions (ExpressionNode::constrained) only a search can tell.  A terminal is live or
// kEmpty, so making one may search for a text, which computes derivatives.  Any call may end with an error of its
// budget; memos stay whole.
// How: derivatives.cpp, some_text.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/memory_account.hpp"
#include "expression/first_byte_classes.hpp"
#include "expression/leaf_forms.hpp"
#include "expression/rule_replacement.hpp"
#include "expression/string_bounds.hpp"

namespace tokamata {

class Derivatives {
 public:
  Derivatives(const Pool& pool, const Leaves& leaves, const RuleSets& rules, Analyses& analyses, Forms& forms,
              LeafForms& leaf_forms, Lookaround& lookaround, StringBounds& bounds)
      : pool_(pool),
        leaves_(leaves),
        rule_sets_(rules),
        analyses_(analyses),
        forms_(forms),
        leaf_forms_(leaf_forms),
        lookaround_(lookaround),
        bounds_(bounds) {}

  // The derivative by a symbol.  Reports each unit of work to `budget`.
  ExpressionId derivative(ExpressionId expression, Symbol symbol, Budget& budget);
  // A terminal; kEmpty if the body accepts nothing.
  ExpressionId terminal(ExpressionId body, Budget& budget);
  // The expression with every choice at its front applied.  Only for whole states: a choice affects everything after
  // it.
  ExpressionId settled(ExpressionId expression);
  // The bytes after which the expression may be live, if that is cheap to decide.
  std::optional<ByteSet> leaf_bytes(ExpressionId expression, Budget& budget);
  // The byte classes of the expression alone, which are fewer than those of its pattern.
  FirstBytes first_byte_classes(ExpressionId expression, std::size_t most = ~std::size_t{0}) {
    return first_byte_classes_.of(expression, most);
  }
  // Some text of the language, as short as a search from the front finds; nothing if there is none.  Not for
  // expressions with rules.
  std::optional<std::string> some_text(ExpressionId expression, Budget& budget);
  // Sets the expression that spells the characters of strings (characters.hpp).
  void note_character(ExpressionId character, Budget& budget);

  void forget();

 private:
  // The derivative that is being computed.
  struct Derivation {
    Symbol symbol;
    Budget& budget;
    bool remember;                                   // whether `derived` is used: for many alternatives, and for rules
    std::unordered_set<std::uint64_t> derived = {};  // expression and tail

    std::unordered_map<std::uint32_t, unsigned> times_met = {};  // unions of rules

    // Whether a union was met with several tails.  Java under the contextual lexer: a step at `<` took 7.5 s without
    // this, and 4 ms with it.
    bool is_crowded(ExpressionId expression) {
      constexpr unsigned kMostTails = 3;
      return remember && ++times_met[expression.value] > kMostTails;
    }
    // Whether the pair is new.
    bool is_first(ExpressionId expression, ExpressionId tail) {
      return !remember || derived.insert((std::uint64_t{expression.value} << 32) | tail.value).second;
    }
  };
  // The first step of a text that a search found: its byte, the expression after it, and the length of the whole text.
  struct TextStep {
    std::uint32_t length;  // kNoText: there is no text
    std::uint8_t byte;
    ExpressionId next;
  };
  static constexpr std::uint32_t kNoText = ~std::uint32_t{0};

  bool may_read(ExpressionId expression, const Derivation& run) const {
    return !run.symbol.is_byte() || pool_.node(expression).may_begin_with(run.symbol.byte());
  }
  void derive_into(ExpressionId expression, ExpressionId tail, Derivation& run, std::vector<ExpressionId>& out);
  static bool is_apart(const ExpressionNode& node);
  static bool is_derived_whole(const ExpressionNode& node, ExpressionId expression, Derivation& run);
  void derive_union(ExpressionId expression, ExpressionId tail, const Derivation& run, std::vector<ExpressionId>& out);
  void derive_guarded(ExpressionId expression, ExpressionId tail, ExpressionId guard, const Derivation& run,
                      std::vector<ExpressionId>& out);
  ExpressionId derive_whole(const ExpressionNode& n, const Derivation& run);
  ExpressionId derive_part(ExpressionId part, const Derivation& run);
  ExpressionId derive_terminal(const ExpressionNode& n, const Derivation& run);
  ExpressionId advanced(ExpressionId waiting, Symbol symbol, Budget& budget);
  ExpressionId advanced_node(const ExpressionNode& n, Symbol symbol, Budget& budget);
  void distribute(ExpressionId begun, ExpressionId tail, std::vector<ExpressionId>& out);
  ExpressionId at_edge(ExpressionId expression, Budget& budget);
  void begin_tokens(ExpressionId expression, ExpressionId tail, Budget& budget, std::vector<ExpressionId>& out);
  void begin_tokens_behind(ExpressionId head, ExpressionId expression, ExpressionId tail, Budget& budget,
                           std::vector<ExpressionId>& out);
  ExpressionId whole_at_edge(const ExpressionNode& n, Budget& budget);
  ExpressionId committed(ExpressionId expression, std::uint32_t choice);
  static constexpr std::size_t kMostFound = 8, kLongestFound = 64;  // texts that are tried for other expressions
  TextStep found_text(ExpressionId expression, Budget& budget);
  TextStep search_text(ExpressionId expression, Budget& budget);
  bool ends_like_found(ExpressionId expression, Budget& budget);
  bool has_shortest(ExpressionId expression, std::string_view text, Budget& budget);
  std::string spelled_text(TextStep step) const;
  std::uint32_t least_length(ExpressionId expression) const;
  std::uint32_t length_of_some_text(ExpressionId expression, Budget& budget);

  const Pool& pool_;
  const Leaves& leaves_;
  const RuleSets& rule_sets_;
  Analyses& analyses_;
  Forms& forms_;
  LeafForms& leaf_forms_;
  Lookaround& lookaround_;
  StringBounds& bounds_;
  FirstByteClasses first_byte_classes_{pool_, leaves_, lookaround_};
  RuleReplacement committed_{pool_, forms_};
  counted::unordered_map<std::uint64_t, ExpressionId> union_derivatives_;  // of large ones, by union and symbol
  // of intersections, by part and symbol
  counted::unordered_map<std::uint64_t, ExpressionId> part_derivatives_;
  counted::unordered_map<std::uint64_t, ExpressionId> advanced_;              // by expression and symbol
  counted::unordered_map<std::uint64_t, ExpressionId> terminal_derivatives_;  // by body and byte
  counted::unordered_map<std::uint32_t, TextStep> texts_;                     // of bodies that were searched
  counted::unordered_map<std::uint32_t, std::uint32_t> least_lengths_;        // that searches have shown
  std::vector<std::string> found_texts_;                                      // by searches, the last of them
};

}  // namespace tokamata
