// Sets of rules made by chance, each as expressions and as the productions of a context-free grammar.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "choices.hpp"
#include "engine.hpp"
#include "expression/expression_rules.hpp"
#include "oracle/context_free.hpp"

namespace engine {

class RandomRules {
 public:
  explicit RandomRules(Choices& choices) : choices_(choices) {
    const std::uint32_t count = choices.between(1, 4);
    for (std::uint32_t i = 0; i < count; ++i) rules_.push_back(grammar_.add());
    for (std::uint32_t i = 0; i < count; ++i) {
      auto [tree, nonterminal] = part(3);
      if (!choices.one_in(4)) {  // so that few rules are empty or left recursive
        const Made first = literal();
        tree = Expression::concatenation({first.first, tree});
        nonterminal = grammar_.add({{of(first.second), of(nonterminal)}});
      }
      bodies_.push_back(tree);
      grammar_.define(rules_[i], {of(nonterminal)});
    }
    std::tie(start_, start_nonterminal_) = part(2);
  }

  // Throws RuleSetError.
  ExpressionPtr expression() const { return Expression::grammar(std::make_shared<ExpressionRuleSet>(bodies_, start_)); }
  oracle::ContextFree& grammar() { return grammar_; }
  int start() const { return start_nonterminal_; }

  bool has_empty_rule() const {
    const std::vector<bool> nullable = grammar_.nullable();
    return std::ranges::any_of(rules_, [&](int rule) { return nullable[static_cast<std::size_t>(rule)]; });
  }
  bool has_left_recursion() const {
    return std::ranges::any_of(rules_, [&](int rule) { return grammar_.may_begin(rule, rule); });
  }

  static std::vector<std::string> words() {
    return {"((",
            "))",
            "()",
            "(a",
            "a)",
            "ab",
            "ba",
            "aa",
            "((((",
            "))))",
            ")(",
            "),(",
            "(a,",
            ",",
            "b)",
            "\xC3\xA9",
            "\xC3",
            "\xA9"
            "a"};
  }

 private:
  using Made = std::pair<ExpressionPtr, int>;
  using Grammar = oracle::ContextFree;
  static Grammar::Symbol of(int nonterminal) { return {.nonterminal = nonterminal}; }

  Made part(unsigned depth) {
    if (depth == 0 || choices_.one_in(5)) return leaf();
    switch (choices_.below(7)) {
      case 0: {
        std::vector<ExpressionPtr> items;
        const int made = grammar_.add();
        for (const auto& [tree, nonterminal] : parts(depth, 1, 3)) {
          items.push_back(tree);
          grammar_.define(made, {of(nonterminal)});
        }
        return {Expression::unite(items), made};
      }
      case 1: {
        const auto [tree, body] = part(depth - 1);
        const Count minimum = choices_.below(3);
        const bool is_endless = choices_.one_in(2);
        const Count maximum = is_endless ? kUnbounded : minimum + choices_.below(3);
        Grammar::Production all;
        for (Count i = 0; i < minimum; ++i) all.push_back(of(body));
        if (is_endless) {
          const int more = grammar_.add({{}});
          grammar_.define(more, {of(body), of(more)});
          all.push_back(of(more));
        } else {
          const int optional = grammar_.add({{}, {of(body)}});
          for (Count i = minimum; i < maximum; ++i) all.push_back(of(optional));
        }
        return {Expression::repetition(tree, minimum, maximum, -1), grammar_.add({all})};
      }
      case 2: {
        const auto [tree, body] = part(depth - 1);
        return {Expression::scope(tree), body};
      }
      default: {
        std::vector<ExpressionPtr> items;
        Grammar::Production all;
        for (const auto& [tree, nonterminal] : parts(depth, 2, 3)) {
          items.push_back(tree);
          all.push_back(of(nonterminal));
        }
        return {Expression::concatenation(items), grammar_.add({all})};
      }
    }
  }
  std::vector<Made> parts(unsigned depth, std::uint32_t least, std::uint32_t most) {
    std::vector<Made> made;
    for (std::uint32_t i = choices_.between(least, most); i > 0; --i) made.push_back(part(depth - 1));
    return made;
  }

  Made leaf() {
    switch (choices_.below(8)) {
      case 0:
      case 1:
      case 2: {
        const std::uint32_t rule = choices_.below(static_cast<std::uint32_t>(rules_.size()));
        return {Expression::reference(rule), rules_[rule]};
      }
      case 3: return letters();
      case 4: {
        const auto [tree, letter] = letters();
        const int more = grammar_.add({{}});
        grammar_.define(more, {of(letter), of(more)});
        const bool is_empty = choices_.one_in(2);
        const ExpressionPtr run = Expression::repetition(tree, is_empty ? 0 : 1, kUnbounded, -1);
        const ExpressionPtr whole = choices_.one_in(3) ? run : Expression::terminal(run);
        return {whole, is_empty ? more : grammar_.add({{of(letter), of(more)}})};
      }
      case 5: return constrained();
      default: return literal();
    }
  }

  Made literal() {
    const auto text = choices_.of<std::string>({"a", "b", "(", ")", ",", "ab", "((", "a)", "\xC3\xA9"});
    return {Expression::literal(text), grammar_.add({Grammar::text(text)})};
  }
  Made letters() {
    const int made = grammar_.add({{Grammar::range('a', 'b')}});
    if (choices_.one_in(2)) return {Expression::code_points({{'a', 'b'}}), made};
    grammar_.define(made, Grammar::text("\xC3\xA9"));
    return {Expression::code_points({{'a', 'b'}, {0xE9, 0xE9}}), made};
  }

  // Some texts, said with operators that do not show whether there are any.
  Made constrained() {
    const std::vector<std::string> first = texts(), second = texts();
    const auto is_in_second = [&](const std::string& text) { return std::ranges::find(second, text) != second.end(); };
    const auto begins_like_second = [&](const std::string& text) {
      return std::ranges::any_of(second, [&](const std::string& front) { return text.starts_with(front); });
    };
    std::vector<std::string> kept = first;
    ExpressionPtr tree;
    switch (choices_.below(4)) {
      case 0:
        tree = Expression::intersection({any_of(first), any_of(second)});
        std::erase_if(kept, [&](const std::string& text) { return !is_in_second(text); });
        break;
      case 1:
        tree = Expression::intersection({any_of(first), Expression::complement(any_of(second))});
        std::erase_if(kept, is_in_second);
        break;
      case 2:
        tree = Expression::scope(Expression::concatenation(
            {Expression::look_ahead(Expression::concatenation({any_of(second), Expression::everything()})),
             any_of(first)}));
        std::erase_if(kept, [&](const std::string& text) { return !begins_like_second(text); });
        break;
      default: tree = Expression::strings(StringAutomaton::of_strings({first.begin(), first.end()}));
    }
    std::vector<Grammar::Production> ways;
    for (const std::string& text : kept) ways.push_back(Grammar::text(text));
    return {tree, grammar_.add(std::move(ways))};
  }
  std::vector<std::string> texts() {
    std::vector<std::string> found;
    for (std::uint32_t i = choices_.between(1, 3); i > 0; --i)
      found.push_back(choices_.of<std::string>({"a", "b", "ab", "(", "aba", "b)"}));
    return found;
  }
  static ExpressionPtr any_of(const std::vector<std::string>& texts) {
    std::vector<ExpressionPtr> ways;
    for (const std::string& text : texts) ways.push_back(Expression::literal(text));
    return Expression::unite(ways);
  }

  Choices& choices_;
  oracle::ContextFree grammar_;
  std::vector<int> rules_;
  std::vector<ExpressionPtr> bodies_;
  ExpressionPtr start_;
  int start_nonterminal_ = 0;
};

}  // namespace engine
