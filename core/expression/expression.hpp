// A pattern as the front ends hand it over: an immutable tree, shared freely between threads.
//
// The tree denotes a set of valid UTF-8 texts, in which control tokens may stand.  It knows no
// vocabulary and no limits; an Arena takes it in, brings it into normal form and works with that.
//
// Lookaround is said by two nodes.  LookAhead holds where what follows is in a language, LookBehind
// where what was read is in one: from the place where the scope began, to its end.  A scope is the
// whole expression, or a Scope node.  So (?=A) is LookAhead(A·everything), (?!A) the complement of
// that, (?<=B) is LookBehind(everything·B), and ^ is LookBehind(epsilon).
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/byte_set.hpp"
#include "common/lengths.hpp"
#include "expression/expression_ptr.hpp"
#include "expression/utf8.hpp"

namespace tokamata {

class LeafLanguage;
class PhraseSearch;
class RuleSet;
class StringAutomaton;

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
  struct Strings {  // the strings of an automaton of its own
    std::shared_ptr<const StringAutomaton> automaton;
  };
  struct Until {  // texts that end where a phrase appears first
    std::shared_ptr<const PhraseSearch> search;
  };
  struct Language {  // the texts of a language that has an automaton of its own
    std::shared_ptr<const LeafLanguage> language;
  };
  struct Everything {};  // every sequence of bytes and control tokens; as a Complement, beside texts
  struct Intersection {
    std::vector<ExpressionPtr> items;
  };
  // Of Everything.  Outside of lookaround it is to be intersected with texts: which bytes a pattern may
  // need is computed from its other parts.
  struct Complement {
    ExpressionPtr body;
  };
  struct LookAhead {
    ExpressionPtr rest;
  };
  struct LookBehind {
    ExpressionPtr prefix;
  };
  struct Scope {
    ExpressionPtr body;
  };
  struct ControlToken {  // the token itself, whatever text it looks like
    std::string name;
  };
  // One text token from edge to edge, all of whose bytes are in the set.  Not in complements and lookaround:
  // what a text is not, or what surrounds it, is decided by its bytes and not by how it is cut into tokens.
  struct OneToken {
    ByteSet bytes;
  };
  struct Grammar {  // all that the rules accept
    std::shared_ptr<const RuleSet> rules;
  };
  // A regular part of rules that stays whole: a string, a number.  It says no more than its body; what it does to a
  // vocabulary is asked once for all that may follow it (arena.hpp).
  struct Terminal {
    ExpressionPtr body;
  };
  // A text of a rule of the set that the tree is a body of (expression_rules.hpp); nothing elsewhere.
  struct Reference {
    std::uint32_t rule;
  };
  // Stands for a tree that nests deeper than kMaximumDepth.  Nothing of it is kept: nobody can read it, and an Arena
  // refuses it with the bound that its caller set.
  struct TooDeep {};
  using Node = std::variant<Empty, Literal, CodePoints, Concatenation, Union, Repetition, Strings, Until, Language,
                            Everything, Intersection, Complement, LookAhead, LookBehind, Scope, ControlToken, OneToken,
                            Grammar, Terminal, Reference, TooDeep>;

  // Trees are read and destroyed recursively; this bound keeps both within any thread's stack.  Making a deeper one is
  // no error: who makes a tree knows of no limits, who reads it does.
  static constexpr std::uint32_t kMaximumDepth = 2000;

  static ExpressionPtr empty() { return make(Empty{}, 0); }
  static ExpressionPtr literal(std::string bytes) { return make(Literal{std::move(bytes)}, 0); }
  static ExpressionPtr code_points(std::vector<CodePointRange> ranges);
  static ExpressionPtr concatenation(std::vector<ExpressionPtr> items) {
    const std::uint32_t depth = depth_of(items);
    return make(Concatenation{std::move(items)}, depth);
  }
  static ExpressionPtr unite(std::vector<ExpressionPtr> items) {
    const std::uint32_t depth = depth_of(items);
    return make(Union{std::move(items)}, depth);
  }
  static ExpressionPtr repetition(ExpressionPtr body, Count minimum, Count maximum, std::int64_t position);

  static ExpressionPtr strings(std::shared_ptr<const StringAutomaton> automaton) {
    return make(Strings{std::move(automaton)}, 0);
  }
  static ExpressionPtr until(std::string phrase);
  static ExpressionPtr language(std::shared_ptr<const LeafLanguage> language) {
    return make(Language{std::move(language)}, 0);
  }
  static ExpressionPtr everything() { return make(Everything{}, 0); }
  // Every valid UTF-8 text.
  static ExpressionPtr text() { return repetition(code_points({{0, 0x10FFFF}}), 0, kUnbounded, -1); }
  static ExpressionPtr intersection(std::vector<ExpressionPtr> items) {
    const std::uint32_t depth = depth_of(items);
    return make(Intersection{std::move(items)}, depth);
  }
  static ExpressionPtr complement(ExpressionPtr body) { return wrap<Complement>(std::move(body)); }
  static ExpressionPtr look_ahead(ExpressionPtr rest) { return wrap<LookAhead>(std::move(rest)); }
  static ExpressionPtr look_behind(ExpressionPtr prefix) { return wrap<LookBehind>(std::move(prefix)); }
  static ExpressionPtr scope(ExpressionPtr body) { return wrap<Scope>(std::move(body)); }
  static ExpressionPtr control_token(std::string name) { return make(ControlToken{std::move(name)}, 0); }
  static ExpressionPtr one_token(const ByteSet& bytes) { return make(OneToken{bytes}, 0); }
  static ExpressionPtr grammar(std::shared_ptr<const RuleSet> rules) { return make(Grammar{std::move(rules)}, 0); }

  static ExpressionPtr terminal(ExpressionPtr body) { return wrap<Terminal>(std::move(body)); }
  static ExpressionPtr reference(std::uint32_t rule) { return make(Reference{rule}, 0); }

  const Node& node() const { return node_; }
  std::uint32_t depth() const { return depth_; }
  // The names of all control tokens in it.
  const std::set<std::string>& control_tokens() const;
  // Whether it holds a OneToken.
  bool sees_edges() const { return sees_edges_; }
  // Whether it holds a Reference.
  bool has_references() const { return has_references_; }
  // Whether rules are in it, so that its texts need not be a regular set.
  bool has_rules() const { return has_rules_; }
  // The bytes that begin or end a byte class somewhere in it (Arena::class_borders).
  const ByteSet& class_borders() const { return class_borders_; }

  Expression(Node node, std::uint32_t depth);

 private:
  using Names = std::shared_ptr<const std::set<std::string>>;

  static ExpressionPtr make(Node node, std::uint32_t depth);
  template <class Wrapper>
  static ExpressionPtr wrap(ExpressionPtr body) {
    const std::uint32_t depth = body->depth() + 1;
    return make(Wrapper{std::move(body)}, depth);
  }
  static std::uint32_t depth_of(const std::vector<ExpressionPtr>& items);
  void gather(const Expression& part);

  Node node_;
  std::uint32_t depth_;
  Names control_tokens_;  // null: none
  bool sees_edges_ = false;
  bool has_references_ = false;
  bool has_rules_ = false;
  ByteSet class_borders_;
};

}  // namespace tokamata
