// The pool of expressions: every distinct node once, found again by what it is made of.
//
// Problem.  Derivatives make the same expressions over and over; two that are equal must be one number, so that a state
// that was met is met again, and what they share must be stored once.
// Example.  b·(ab|ac)* is a node (Concatenation, b, (ab|ac)*); whoever makes it gets the number that it has.
// How.  Hash-consing: nodes in one list, the parts of each before it; an open-addressed table finds a node by its
// parts.  Leaves that are states of automata hold the number of an automaton, which is kept here, and of the state.
// Source.  Ershov 1958; Filliâtre and Conchon 2006, Type-safe modular hash-consing.  Cost.  Constant per node
// (amortized).
//
// The engine's work with expressions is four floors, each a class that adds to the one below and knows none above:
//   Pool         nodes and the automata of leaves; compaction
//   Analyses     what the structure of an expression says: first bytes, keys, positions      analyses.hpp
//   Forms        constructors: normal forms, so that equal languages mostly are equal nodes   forms.hpp
//   Derivatives  what becomes of an expression; whether it has a text                         derivatives.hpp
// An Arena (arena.hpp) is all of them: what a pattern is brought into, and what rules work with.  Each floor has memos
// of its own, keyed by the ids of expressions; compaction makes all of them forget.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/byte_set.hpp"
#include "common/check.hpp"
#include "common/ids.hpp"
#include "common/lengths.hpp"
#include "common/limits.hpp"
#include "common/memory_account.hpp"
#include "common/number_table.hpp"
#include "expression/expression.hpp"
#include "expression/rules.hpp"

namespace tokamata {

// Keys of segment files hold these numbers (analyses.cpp): a new kind gets the next one, and none gets another.
enum class Kind : std::uint8_t {
  Empty = 0,
  Epsilon = 1,
  Stub = 2,
  Everything = 3,
  Bytes = 4,
  CodePoints = 5,
  Strings = 6,
  Language = 7,
  ControlToken = 8,
  OneToken = 9,
  Concatenation = 10,
  Union = 11,
  Repetition = 12,
  Intersection = 13,
  Complement = 14,
  LookAhead = 15,
  LookBehind = 16,
  Scope = 17,
  Guarded = 18,
  Terminal = 19,
  Rule = 20,
  Commit = 21,
  Unverified = 22,
  Until = 23,
};

struct ExpressionNode {
  Kind kind;
  bool nullable : 1 = false;           // accepts the empty text, where what is open is decided here and now
  bool counts_past_reach : 1 = false;  // somewhere counts to more than a token is long
  bool windowed : 1 = false;           // somewhere counts characters to more than that, beside something else
  bool open : 1 = false;               // has a lookaround that sees beyond it
  bool behind : 1 = false;             // has a lookbehind, to be kept up to date while it waits
  bool constrained : 1 = false;        // may be empty without being the empty expression
  bool edges : 1 = false;              // sees the edges of tokens
  bool text : 1 = false;               // all it accepts is valid UTF-8, and no control token
  bool waits : 1 = false;              // has a rule that waits for a choice
  bool rules : 1 = false;              // has a rule
  bool commits : 1 = false;            // a Commit stands in front
  bool by_byte : 1 = false;            // a rule in front keeps what is read, so that no two bytes are alike
  // has an over-approximation of a rule that may accept what the rule does not
  bool unverified : 1 = false;
  std::uint32_t spelled = kUnspelled;  // bytes of a shortest text of single-byte tokens that is sure to be there
  std::uint32_t shortest = 0;          // bytes of a shortest text; at least so many, where it is constrained
  std::uint32_t worst = 0;  // no more than so many bytes, after whatever was read of it; not where constrained
  std::uint32_t depth = 0;  // nesting, tails not counted
  std::uint32_t shape = 0;  // hash of the structure without the counts
  // Bytes: set; CodePoints, Strings, Language, Until: automaton; ControlToken: number; OneToken: set; Concatenation:
  // head; Union, Intersection: offset; Guarded: core; Rule: source; Commit: choice; others: body.
  std::uint32_t first = 0;
  // CodePoints, Strings, Language: state; Until: position; OneToken: phase; Concatenation: tail; Union, Intersection:
  // length; Guarded: guard; Rule: number.
  std::uint32_t second = 0;
  Count minimum = 0;
  Count maximum = 0;
  // of the bytes that it may begin with, those alike modulo 64 by one bit; the pool sets it
  std::uint64_t firsts = 0;

  static constexpr std::uint32_t kUnspelled = kNoLength;
  static std::uint32_t capped(std::uint64_t length) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(length, kUnspelled));
  }
  bool spellable_by_bytes() const { return spelled < kUnspelled; }
  // If not, its derivative by the byte is empty.
  bool may_begin_with(std::uint8_t byte) const { return (firsts >> (byte % 64)) & 1; }

  ExpressionId head() const { return {first}; }
  ExpressionId tail() const { return {second}; }
  ExpressionId body() const { return {first}; }
  ExpressionId core() const { return {first}; }
  ExpressionId guard() const { return {second}; }
  RuleId rule() const { return {second}; }
  bool has_items() const { return kind == Kind::Union || kind == Kind::Intersection; }
};

// Contract.  A node never changes, and keeps its id until a compaction.  References to nodes and spans of items are
// good until the next node is made.
class Pool {
 public:
  static constexpr ExpressionId kEmpty{0};
  static constexpr ExpressionId kEpsilon{1};
  static constexpr ExpressionId kStub{2};
  static constexpr ExpressionId kEverything{3};

  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  const ExpressionNode& node(ExpressionId id) const {
    TOKAMATA_CHECK(id.value < nodes_.size(), "an expression is one of the pool's");
    return nodes_[id.value];
  }
  const ByteSet& byte_set(const ExpressionNode& node) const { return sets_[node.first]; }
  const StringAutomaton& string_automaton(const ExpressionNode& node) const { return *strings_[node.first].automaton; }
  const PhraseSearch& phrase_search(const ExpressionNode& node) const { return *searches_[node.first].search; }
  const CodePointAutomaton& automaton(const ExpressionNode& node) const { return *automata_[node.first].automaton; }
  Rules& rules(const ExpressionNode& node) { return *rules_[node.first]; }
  std::span<const ExpressionId> items(const ExpressionNode& node) const {
    return {items_.data() + node.first, node.second};
  }
  ExpressionId item(const ExpressionNode& node, std::uint32_t number) const { return items_[node.first + number]; }
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
  // The byte of a node that stands for one alone.
  std::optional<std::uint8_t> only_byte(const ExpressionNode& node) const;
  // Whether an alternative begins with a rule that is joined (Rules::joins), or may do so; and whether any does here.
  bool awaits_rule(ExpressionId alternative) const;
  bool joins_rules() const { return joins_rules_; }
  // Whether some rules remember what was written (RememberingRules).
  bool remembers() const { return remembers_; }

  // Bytes that begin or end a range somewhere in the patterns added: bit b means that b - 1 and b
  // may behave differently.  Bytes between two such borders are one byte class.
  const ByteSet& class_borders() const { return class_borders_; }
  // Those of the rules' own languages (RuleSet::distinguished), and whether rules spell out a text that contains
  // `part`.
  const ByteSet& distinguished_by_rules() const { return distinguished_by_rules_; }
  bool rules_spell(std::string_view part) const {
    return std::ranges::any_of(rule_sets_, [&](const auto& rules) { return rules->spells(part); });
  }
  // The bytes by which the rules' texts mostly come nearer to their ends (RuleSet::ending_bytes).
  const std::string& ending_bytes() const { return ending_bytes_; }
  // Those between texts of the rules that must differ, and those with which such texts begin.
  const ByteSet& separators() const { return separators_; }
  const ByteSet& openers() const { return openers_; }
  // All bytes that occur in the patterns added.
  const ByteSet& pattern_bytes() const { return pattern_bytes_; }
  // The control tokens that the patterns added name; Symbol::control(i) stands for the i-th.
  const std::vector<std::string>& control_tokens() const { return control_tokens_; }

  std::size_t size() const { return nodes_.size(); }

 protected:
  Pool(ByteSet single_bytes, std::size_t reach, std::uint32_t depth_limit);
  ~Pool() = default;

  enum class Phase : std::uint32_t { BeforeEdge, AtEdge, Inside };  // of a OneToken

  struct KnownAutomaton {
    static constexpr ExpressionId kUnmade{~std::uint32_t{0}};
    std::shared_ptr<const CodePointAutomaton> automaton;
    counted::vector<ExpressionId> states;    // the expression of each state, or kUnmade
    counted::vector<std::uint32_t> spelled;  // of each state, as of a node
    counted::vector<std::uint32_t> shortest;
  };
  struct KnownStrings {
    Kept<StringAutomaton> automaton;
    counted::vector<std::uint32_t> spelled;
    counted::vector<std::uint32_t> shortest;
    std::uint32_t worst = 0;
    ByteSet used;
  };
  struct KnownLanguage {
    std::unique_ptr<LeafAutomaton> automaton;
    std::uint32_t worst;
    bool is_spelled;  // every byte that a shortest text may need is a token of its own
  };
  struct KnownSearch {
    std::shared_ptr<const PhraseSearch> search;
    std::uint32_t any_code_point;  // an automaton
    std::uint32_t spelled_from;    // all later bytes of the phrase are tokens of their own
  };

  // The number of the node, which is made where it is new.
  ExpressionId intern(ExpressionNode node, std::span<const ExpressionId> items = {});
  std::uint32_t index_of(const ByteSet& set);
  void note_bytes(const ByteSet& set);
  void note_each(const ByteSet& set);
  std::uint32_t add_strings(const std::shared_ptr<const StringAutomaton>& automaton);
  std::uint32_t add_language(const std::shared_ptr<const LeafLanguage>& language);
  std::uint32_t add_search(const std::shared_ptr<const PhraseSearch>& search);
  std::uint32_t add_automaton(const std::shared_ptr<const CodePointAutomaton>& automaton);
  std::uint32_t add_control_token(const std::string& name);
  std::uint32_t add_rules(const std::shared_ptr<const RuleSet>& rules);
  std::uint32_t code_point_state(const KnownSearch& known, std::string_view bytes) const;
  ByteSet first_bytes_of_leaf(const ExpressionNode& leaf) const;
  static ByteSet first_bytes_of(const CodePointAutomaton& automaton, std::uint32_t state);
  static bool is_skippable(const ExpressionNode& n) { return n.nullable && !n.open; }

  // Compaction: compact.cpp.  What is to be kept, planned where that may fail, and done where nothing may.
  struct Compaction;
  Compaction plan_compaction(std::span<const ExpressionId> roots);
  std::vector<RuleId> rules_to_keep(const std::vector<ExpressionId>& moved);  // the last step that may fail
  void compact(Compaction& plan);

  const ByteSet single_bytes_;  // tokens of their own
  const std::size_t reach_;     // the length of the longest token
  const std::uint32_t depth_limit_;
  counted::vector<KnownAutomaton> automata_;
  counted::vector<KnownStrings> strings_;
  counted::unordered_map<const StringAutomaton*, std::uint32_t> strings_index_;
  counted::vector<KnownSearch> searches_;
  counted::vector<KnownLanguage> languages_;
  counted::vector<std::unique_ptr<Rules>> rules_;            // by source
  std::map<std::string, std::vector<std::string>> aliases_;  // of control tokens

 private:
  bool is_whole(const ExpressionNode& node, std::span<const ExpressionId> items) const;
  std::uint64_t hash_of(const ExpressionNode& node, std::span<const ExpressionId> items) const;
  bool same(const ExpressionNode& a, std::span<const ExpressionId> a_items, const ExpressionNode& b) const;
  std::optional<std::uint32_t> find_automaton(const CodePointAutomaton& automaton) const;
  std::uint64_t firsts_of(const ExpressionNode& node, std::span<const ExpressionId> items) const;

  struct Leaves;
  template <class Visit>
  void visit_parts(ExpressionNode& n, Visit&& visit);
  std::vector<ExpressionId> moves_to_keep(std::span<const ExpressionId> roots);
  Leaves leaves_to_keep(const std::vector<ExpressionId>& moved) const;
  void move_nodes(const std::vector<ExpressionId>& moved, Leaves& leaves, const std::vector<RuleId>& rules);

  counted::vector<ExpressionNode> nodes_;  // the parts of each before it
  counted::vector<ExpressionId> items_;
  NumberTable index_;
  counted::vector<ByteSet> sets_;
  NumberTable set_index_;
  counted::unordered_multimap<std::uint64_t, std::uint32_t> automaton_index_;
  counted::unordered_map<std::string, std::uint32_t> language_index_;  // by key
  std::vector<std::string> control_tokens_;
  counted::vector<std::shared_ptr<const RuleSet>> rule_sets_;
  bool joins_rules_ = false;
  bool remembers_ = false;
  ByteSet class_borders_;
  ByteSet distinguished_by_rules_;
  std::string ending_bytes_;
  ByteSet separators_, openers_;
  ByteSet pattern_bytes_;
};

}  // namespace tokamata
