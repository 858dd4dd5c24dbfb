// The spellings in JSON of the strings of an automaton.
//
// Problem.  Thousands of strings, or the parts of a long text, as they stand between quotes; see
// json_spelling.hpp.  The strings are not listed: there may be n² of them.
// Example.  0 --"--> 1  becomes, plain,  0 --\--> 1 --"--> 2;  with any spelling also
//           1 --u--> 3 --0--> 4 --0--> 5 --2--> 6 --2--> 2.
// How.  Every state between two code points (from the others a continuation byte leads on) keeps the bytes that stand
// for themselves, and gets a small tree of escapes beside them: what the code points that it reads next are spelled
// with.  Spellings of different code points differ before either ends, so that the result is deterministic as it is.
// States are numbered as they come, the tree of a state right after it, so that targets stay after their sources.
// Cost.  Plain: a state for each escape.  Any: 5 states for each code point that a state reads, 11 beyond
// U+FFFF, less what they share: 5,000 strings of 20 letters are 600,000 states, made in 20 ms.  Not taken: sharing the
// last digits of the trees of different states, whose targets differ.

#include <algorithm>
#include <vector>

#include "expression/utf8.hpp"
#include "json/json_spelling.hpp"

namespace tokamata::json {

namespace {

using Transition = StringAutomaton::Transition;

// A code point that a state reads, and the state after it.
struct Edge {
  std::uint32_t code_point;
  std::uint32_t target;
};

// What a state between two code points reads: a tree of escapes, and the bytes that stand for themselves.
// One object serves all states, so that making it costs nothing.
class Escapes {
 public:
  struct Way {
    std::uint32_t next;  // of the node's ways, in no order
    std::uint32_t to;    // a node of the tree; or out of it, a state of the automaton
    std::uint8_t byte;
    bool is_out;
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  void clear() {
    first_way_.assign(1, kNone);
    ways_.clear();
  }
  void add_out(std::uint8_t byte, std::uint32_t target) { add_way(0, byte, target, true); }
  void add(const Edge& edge, bool any) {
    const char letter = json_short_escape(edge.code_point, any);
    if (letter) add_way(step(0, '\\'), static_cast<std::uint8_t>(letter), edge.target, true);
    if (!any && (letter || json_stands_for_itself(edge.code_point))) return;
    if (edge.code_point <= 0xFFFF) return add_digits(0, edge.code_point, edge.target, any);
    const std::uint32_t bits = edge.code_point - 0x10000;
    add_digits(add_digits_of_first(0xD800 + (bits >> 10)), 0xDC00 + (bits & 0x3FF), edge.target, any);
  }

  std::size_t size() const { return first_way_.size(); }
  // The ways on from a node, in the order of their bytes.
  void ways(std::uint32_t node, std::vector<Way>& out) const {
    out.clear();
    for (std::uint32_t way = first_way_[node]; way != kNone; way = ways_[way].next) out.push_back(ways_[way]);
    std::ranges::sort(out, {}, &Way::byte);
  }

 private:
  void add_way(std::uint32_t node, std::uint8_t byte, std::uint32_t to, bool is_out) {
    ways_.push_back({first_way_[node], to, byte, is_out});
    first_way_[node] = static_cast<std::uint32_t>(ways_.size() - 1);
  }
  // Down a branch, which may be new.  `other`: the same digit in upper case, or the same byte.
  std::uint32_t step(std::uint32_t node, std::uint8_t byte, std::uint8_t other) {
    for (std::uint32_t way = first_way_[node]; way != kNone; way = ways_[way].next)
      if (ways_[way].byte == byte && !ways_[way].is_out) return ways_[way].to;
    const auto made = static_cast<std::uint32_t>(first_way_.size());
    first_way_.push_back(kNone);
    add_way(node, byte, made, false);
    if (other != byte) add_way(node, other, made, false);
    return made;
  }
  std::uint32_t step(std::uint32_t node, std::uint8_t byte) { return step(node, byte, byte); }

  static std::uint8_t lower(std::uint32_t digit) {
    return static_cast<std::uint8_t>(digit < 10 ? '0' + digit : 'a' + digit - 10);
  }
  static std::uint8_t upper(std::uint32_t digit) {
    return static_cast<std::uint8_t>(digit < 10 ? '0' + digit : 'A' + digit - 10);
  }

  // \uXXXX.  The plain spelling is in lower case.
  void add_digits(std::uint32_t node, std::uint32_t number, std::uint32_t target, bool any) {
    node = step(step(node, '\\'), 'u');
    for (unsigned shift = 12; shift > 0; shift -= 4) {
      const std::uint32_t digit = (number >> shift) & 15;
      node = step(node, lower(digit), any ? upper(digit) : lower(digit));
    }
    const std::uint32_t last = number & 15;
    add_way(node, lower(last), target, true);
    if (any && last >= 10) add_way(node, upper(last), target, true);
  }
  std::uint32_t add_digits_of_first(std::uint32_t surrogate) {
    std::uint32_t node = step(step(0, '\\'), 'u');
    for (unsigned shift = 16; shift > 0; shift -= 4) {
      const std::uint32_t digit = (surrogate >> (shift - 4)) & 15;
      node = step(node, lower(digit), upper(digit));
    }
    return node;
  }

  std::vector<std::uint32_t> first_way_;  // by node
  std::vector<Way> ways_;
};

class Respelling {
 public:
  Respelling(const StringAutomaton& strings, bool any) : strings_(strings), any_(any), number_(strings.state_count()) {}

  std::shared_ptr<const StringAutomaton> run() {
    for (std::uint32_t state = 0; state < strings_.state_count(); ++state) {
      number_[state] = begin_state(strings_.accepting(state));
      escapes_.clear();
      const auto transitions = strings_.transitions(state);
      const bool is_inside = !transitions.empty() && (transitions.front().byte & 0xC0) == 0x80;
      for (const auto& [byte, target] : transitions) {
        if (byte >= 0x80 || json_stands_for_itself(byte)) escapes_.add_out(byte, target);
        if (byte < 0x80) escapes_.add({byte, target}, any_);
        else if (any_ && !is_inside) add_below(byte, target);
      }
      store();
    }
    offsets_.push_back(static_cast<std::uint32_t>(transitions_.size()));
    for (std::size_t i = 0; i < transitions_.size(); ++i)
      if (leads_out_[i]) transitions_[i].target = number_[transitions_[i].target];
    return StringAutomaton::of_transitions(std::move(offsets_), std::move(transitions_), std::move(accepting_));
  }

 private:
  std::uint32_t begin_state(bool accepting) {
    accepting_.push_back(accepting);
    offsets_.push_back(static_cast<std::uint32_t>(transitions_.size()));
    return static_cast<std::uint32_t>(accepting_.size() - 1);
  }

  // The code points that begin with a byte.
  void add_below(std::uint8_t lead, std::uint32_t state) {
    const unsigned missing = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    add_below(lead & (0x3Fu >> missing), missing, state);
  }
  void add_below(std::uint32_t bits, unsigned missing, std::uint32_t state) {
    for (const auto& [byte, target] : strings_.transitions(state)) {
      const std::uint32_t value = (bits << 6) | (byte & 0x3Fu);
      if (missing == 1) escapes_.add({value, target}, true);
      else add_below(value, missing - 1, target);
    }
  }

  // Breadth first: the transitions of a state stand side by side.  The first node is the state itself.
  void store() {
    const std::uint32_t first = static_cast<std::uint32_t>(accepting_.size()) - 1;
    order_.assign(1, 0);
    place_.assign(escapes_.size(), Escapes::kNone);
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (i > 0) begin_state(false);
      escapes_.ways(order_[i], ways_);
      for (const Escapes::Way& way : ways_) {
        std::uint32_t target = way.to;
        if (!way.is_out) {
          if (place_[way.to] == Escapes::kNone) {
            place_[way.to] = first + static_cast<std::uint32_t>(order_.size());
            order_.push_back(way.to);
          }
          target = place_[way.to];
        }
        transitions_.push_back({way.byte, target});
        leads_out_.push_back(way.is_out);
      }
    }
  }

  const StringAutomaton& strings_;
  bool any_;
  std::vector<std::uint32_t> number_;  // by old state
  std::vector<std::uint32_t> offsets_;
  std::vector<Transition> transitions_;
  std::vector<bool> leads_out_;  // by transition: to an old state, whose number is not known yet
  std::vector<bool> accepting_;
  Escapes escapes_;  // of the state under way
  std::vector<Escapes::Way> ways_;
  std::vector<std::uint32_t> order_;  // nodes of its tree
  std::vector<std::uint32_t> place_;  // by node: the state that it becomes
};

}  // namespace

std::shared_ptr<const StringAutomaton> spelled_in_json(const StringAutomaton& strings, bool any) {
  return Respelling(strings, any).run();
}

}  // namespace tokamata::json
