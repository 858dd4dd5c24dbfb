// A pattern as a nondeterministic automaton (Thompson 1968), every count unrolled.
//
// What is no plain step becomes an edge of its own kind:
//   Test       passes where a lookaround holds; which do is told from outside (language.hpp).
//   Not, And   reads while the automata of its bodies read, and may end where they say so.
//   Within     reads a scope: a language of its own, told nothing from outside.
//   Token      from an edge between two tokens to the next.
// Example.   a(?=b)  is  0 --a--> 1 --Test 0--> 2, and lookaround 0 has the automaton of its body.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "code_points.hpp"

namespace oracle {

class Language;

struct Thompson {
  struct Part {  // the automaton of a pattern: where it begins, and where it accepts
    int start = 0, accept = 0;
  };
  struct Edge {
    enum class Kind { Byte, Class, Anything, Control, Token, Test, Not, And, Within };
    Kind kind;
    int target;
    unsigned char byte = 0;
    std::vector<Range> ranges = {};  // Class, Token
    std::string control = {};
    std::size_t lookaround = 0;                 // Test
    std::vector<Part> bodies = {};              // Not, And
    std::shared_ptr<Language> scope = nullptr;  // Within

    // Those that do not have begun, if at all, as soon as their state is entered.
    bool begins_by_reading() const {
      return kind == Kind::Byte || kind == Kind::Class || kind == Kind::Anything || kind == Kind::Control;
    }
  };
  struct State {
    std::vector<int> epsilon;
    std::vector<Edge> edges;
    bool lives = false;  // its accepting state may be reached, as far as the drawing tells
  };
  struct Lookaround {
    bool ahead;
    Part body;
  };

  std::vector<State> states;
  std::vector<Lookaround> lookarounds;  // one within another comes before it
  Part whole;
};

// Makes the automaton; `scoped` makes the language of a scope.
class ThompsonBuilder {
 public:
  using Scoped = std::function<std::shared_ptr<Language>(const TreePtr&)>;

  ThompsonBuilder(std::size_t largest, Scoped scoped) : largest_(largest), scoped_(std::move(scoped)) {}

  Thompson build(const TreePtr& tree) {
    result_.whole = part(*tree);
    find_live_states();
    return std::move(result_);
  }

 private:
  using Op = Tree::Op;
  using Kind = Thompson::Edge::Kind;

  int add_state() {
    if (result_.states.size() >= largest_) throw TooLarge();
    result_.states.emplace_back();
    return static_cast<int>(result_.states.size()) - 1;
  }
  Thompson::State& state(int number) { return result_.states[static_cast<std::size_t>(number)]; }
  // A new state behind an edge from `from`.
  int add_edge(int from, Thompson::Edge edge) {
    const int target = edge.target = add_state();
    state(from).edges.push_back(std::move(edge));
    return target;
  }
  Thompson::Part part(const Tree& tree) {
    const int start = add_state();
    const int accept = add_tree(tree, start);
    accepting_.push_back(accept);
    return {start, accept};
  }

  // Adds the automaton of the tree behind `from`; returns its last state.
  int add_tree(const Tree& tree, int from) {
    switch (tree.op) {
      case Op::Empty: return add_state();  // that nothing leads to
      case Op::Literal: return add_string(tree.bytes, from);
      case Op::Class: return add_edge(from, {.kind = Kind::Class, .target = 0, .ranges = tree.ranges});
      case Op::ControlToken: return add_edge(from, {.kind = Kind::Control, .target = 0, .control = tree.bytes});
      case Op::OneToken: return add_edge(from, {.kind = Kind::Token, .target = 0, .ranges = tree.ranges});
      case Op::Everything: {
        const int loop = add_state();
        state(from).epsilon.push_back(loop);
        state(loop).edges.push_back({.kind = Kind::Anything, .target = loop});
        return loop;
      }
      case Op::Strings:
      case Op::Substrings: {
        const int last = add_state();
        for (const std::string& one : all_strings(tree)) state(add_string(one, from)).epsilon.push_back(last);
        return last;
      }
      case Op::Concatenation:
        for (const TreePtr& item : tree.items) from = add_tree(*item, from);
        return from;
      case Op::Union: {
        const int last = add_state();
        for (const TreePtr& item : tree.items) {
          const int first = add_state();
          state(from).epsilon.push_back(first);
          const int end = add_tree(*item, first);
          state(end).epsilon.push_back(last);
        }
        return last;
      }
      case Op::Repetition: return add_repetition(tree, from);
      case Op::Intersection:
      case Op::Complement: {
        std::vector<Thompson::Part> bodies;
        for (const TreePtr& item : tree.items) bodies.push_back(part(*item));
        const Kind kind = tree.op == Op::Complement ? Kind::Not : Kind::And;
        return add_edge(from, {.kind = kind, .target = 0, .bodies = std::move(bodies)});
      }
      case Op::LookAhead:
      case Op::LookBehind: {
        const Thompson::Part body = part(*tree.items[0]);
        result_.lookarounds.push_back({tree.op == Op::LookAhead, body});
        return add_edge(from, {.kind = Kind::Test, .target = 0, .lookaround = result_.lookarounds.size() - 1});
      }
      case Op::Scope: return add_edge(from, {.kind = Kind::Within, .target = 0, .scope = scoped_(tree.items[0])});
    }
    return from;
  }

  int add_string(const std::string& bytes, int from) {
    for (const char byte : bytes)
      from = add_edge(from, {.kind = Kind::Byte, .target = 0, .byte = static_cast<unsigned char>(byte)});
    return from;
  }

  static std::vector<std::string> all_strings(const Tree& tree) {
    if (tree.op == Op::Strings) return tree.strings;
    std::vector<std::string> all;
    const std::vector<std::size_t> edges = code_point_edges(tree.bytes);
    for (std::size_t i = 0; i < edges.size(); ++i)
      for (std::size_t j = i; j < edges.size(); ++j) all.push_back(tree.bytes.substr(edges[i], edges[j] - edges[i]));
    return all;
  }

  int add_repetition(const Tree& tree, int from) {
    const Tree& body = *tree.items[0];
    for (std::uint64_t i = 0; i < tree.minimum; ++i) from = add_tree(body, from);
    const int last = add_state();
    if (tree.maximum == kUnbounded) {
      const int hub = add_state();
      state(from).epsilon.push_back(hub);
      const int first = add_state();
      state(hub).epsilon.push_back(first);
      const int end = add_tree(body, first);
      state(end).epsilon.push_back(hub);
      state(hub).epsilon.push_back(last);
      return last;
    }
    for (std::uint64_t i = tree.minimum; i < tree.maximum; ++i) {
      state(from).epsilon.push_back(last);
      const int first = add_state();
      state(from).epsilon.push_back(first);
      from = add_tree(body, first);
    }
    state(from).epsilon.push_back(last);
    return last;
  }

  // Backwards from what accepts.  An edge of a kind of its own may always be passed, as far as this goes.
  void find_live_states() {
    std::vector<std::vector<int>> into(result_.states.size());
    for (std::size_t from = 0; from < result_.states.size(); ++from) {
      const auto note = [&](int target) { into[static_cast<std::size_t>(target)].push_back(static_cast<int>(from)); };
      for (int target : result_.states[from].epsilon) note(target);
      for (const Thompson::Edge& edge : result_.states[from].edges)
        if (edge.kind != Kind::Class || meets(edge.ranges, {0, 0x10FFFF})) note(edge.target);
    }
    std::vector<int> open = accepting_;
    while (!open.empty()) {
      const int reached = open.back();
      open.pop_back();
      if (std::exchange(state(reached).lives, true)) continue;
      const std::vector<int>& sources = into[static_cast<std::size_t>(reached)];
      open.insert(open.end(), sources.begin(), sources.end());
    }
  }

  std::size_t largest_;
  Scoped scoped_;
  Thompson result_;
  std::vector<int> accepting_;
};

}  // namespace oracle
