#include "expression/show.hpp"

#include <algorithm>

#include "common/hexadecimal.hpp"
#include "expression/byte_automaton.hpp"

namespace tokamata {

namespace {

std::string shown_byte(unsigned byte) {
  if (byte >= 0x20 && byte < 0x7F) return {static_cast<char>(byte)};
  return escaped_byte(static_cast<std::uint8_t>(byte));
}

class Shown {
 public:
  Shown(const Arena& arena, std::size_t most) : arena_(arena), most_(most) {}

  std::string take() && {
    if (text_.size() > most_) {
      text_.resize(most_);
      text_ += "…";
    }
    for (const ExpressionId rule : rules_) {
      const ExpressionNode n = arena_.pool().node(rule);
      text_ += "\n$" + std::to_string(n.rule().value) + ": " + arena_.rule_sets().of(n).show(n.rule());
    }
    return std::move(text_);
  }

  void add(ExpressionId id) {
    if (text_.size() > most_) return;
    const ExpressionNode& n = arena_.pool().node(id);
    switch (n.kind) {
      case Kind::Empty: text_ += "∅"; return;
      case Kind::Epsilon: text_ += "ε"; return;
      case Kind::Stub: text_ += "stub"; return;
      case Kind::Everything: text_ += "everything"; return;
      case Kind::Bytes: text_ += show(arena_.leaves().byte_set(n)); return;
      case Kind::CodePoints: return add_code_points(n);
      case Kind::Strings: return add_strings(n);
      case Kind::Language: return add_all({"language ", std::to_string(n.automaton()), "@", std::to_string(n.state())});
      case Kind::ControlToken: return add_all({"<", arena_.leaves().control_tokens()[n.token()], ">"});
      case Kind::OneToken: return add_all({"one_token@", std::to_string(n.phase())});
      case Kind::Concatenation: return add_concatenation(id);
      case Kind::Union: return add_items(n, " | ");
      case Kind::Intersection: return add_items(n, " & ");
      case Kind::Repetition: return add_repetition(n);
      case Kind::Complement: return add_wrapped("!(", n.body());
      case Kind::LookAhead: return add_wrapped("(?=", n.body());
      case Kind::LookBehind: return add_wrapped("(?<=", n.body());
      case Kind::Scope: return add_wrapped("scope(", n.body());
      case Kind::Guarded: {
        const ExpressionId core = n.core(), guard = n.guard();
        text_ += "guarded(";
        add(core);
        text_ += ", ";
        add(guard);
        text_ += ")";
        return;
      }
      case Kind::Terminal: return add_wrapped("‹", n.body(), "›");
      case Kind::Rule: return add_rule(id);
      case Kind::Commit: return add_all({"commit ", std::to_string(n.choice())});
      case Kind::Unverified: text_ += "unverified"; return;
      case Kind::Until:
        return add_all({"until \"", arena_.leaves().phrase_search(n).phrase(), "\"@", std::to_string(n.state())});
    }
  }

 private:
  void add_all(std::initializer_list<std::string_view> parts) {
    for (const std::string_view part : parts) text_ += part;
  }
  void add_rule(ExpressionId id) {
    if (std::ranges::find(rules_, id) == rules_.end() && rules_.size() < kMostRules) rules_.push_back(id);
    add_all({"$", std::to_string(arena_.pool().node(id).rule().value)});
  }
  void add_wrapped(std::string_view open, ExpressionId body, std::string_view close = ")") {
    text_ += open;
    add(body);
    text_ += close;
  }
  void add_concatenation(ExpressionId id) {
    bool is_first = true;
    while (id != Pool::kEpsilon && text_.size() <= most_) {
      if (!is_first) text_ += "·";
      is_first = false;
      const auto [head, tail] = arena_.pool().split(id);
      add(head);
      id = tail;
    }
  }
  void add_items(const ExpressionNode& n, std::string_view between) {
    const std::vector<ExpressionId> items(arena_.pool().items(n).begin(), arena_.pool().items(n).end());
    text_ += "(";
    for (std::size_t i = 0; i < items.size() && text_.size() <= most_; ++i) {
      if (i > 0) text_ += between;
      add(items[i]);
    }
    text_ += ")";
  }
  void add_repetition(const ExpressionNode& n) {
    const Count minimum = n.minimum, maximum = n.maximum;
    const bool is_single =
        arena_.pool().node(n.body()).kind == Kind::Bytes || arena_.pool().node(n.body()).kind == Kind::CodePoints;
    if (is_single) add(n.body());
    else add_wrapped("(", n.body());
    text_ += shown_counts(minimum, maximum);
  }
  void add_code_points(const ExpressionNode& n) {
    const CodePointAutomaton& automaton = arena_.leaves().automaton(n);
    ByteSet first;
    for (const auto* next = automaton.begin(n.state()); next != automaton.end(n.state()); ++next)
      first = first | ByteSet::range(next->low, next->high);
    add_all({"\\p", show(first)});
  }
  void add_strings(const ExpressionNode& n) {
    const StringAutomaton& automaton = arena_.leaves().string_automaton(n);
    text_ += "strings(";
    std::size_t left = kMostStrings;
    add_rest_of_strings(automaton, n.state(), {}, left);
    text_ += left == 0 ? " | …)" : ")";
  }
  void add_rest_of_strings(const StringAutomaton& automaton, std::uint32_t state, const std::string& read,
                           std::size_t& left) {
    if (left > 0 && automaton.accepting(state)) {
      if (left-- < kMostStrings) text_ += " | ";
      text_ += read.empty() ? "ε" : read;
    }
    for (const StringAutomaton::Transition& next : automaton.transitions(state))
      if (left > 0 && read.size() < kLongestString)
        add_rest_of_strings(automaton, next.target, read + shown_byte(next.byte), left);
  }

  static constexpr std::size_t kMostStrings = 8, kLongestString = 400, kMostRules = 20;
  const Arena& arena_;
  const std::size_t most_;
  std::string text_;
  std::vector<ExpressionId> rules_;  // in the order in which they are named
};

}  // namespace

std::string show(const ByteSet& bytes) {
  if (bytes.size() == 1) return shown_byte(bytes.next_member(0));
  std::string text = "[";
  for (unsigned low = bytes.next_member(0); low < 256; low = bytes.next_member(low + 1)) {
    unsigned high = low;
    while (high < 255 && bytes.contains(static_cast<std::uint8_t>(high + 1))) ++high;
    text += shown_byte(low);
    if (high > low + 1) text += "-";
    if (high > low) text += shown_byte(high);
    low = high;
  }
  return text + "]";
}

std::string shown_counts(std::uint64_t minimum, std::uint64_t maximum) {
  if (maximum == kUnbounded && minimum <= 1) return minimum == 0 ? "*" : "+";
  if (minimum == 0 && maximum == 1) return "?";
  return "{" + std::to_string(minimum) + "," + (maximum == kUnbounded ? "" : std::to_string(maximum)) + "}";
}

std::string show(const Arena& arena, ExpressionId expression, std::size_t most_bytes) {
  Shown shown(arena, most_bytes);
  shown.add(expression);
  return std::move(shown).take();
}

std::string show_state(ByteAutomaton& automaton, StateId state, std::string_view about) {
  return "state " + std::to_string(state.value) + std::string(about) + ": " +
         show(automaton.arena(), automaton.expression(state));
}

}  // namespace tokamata
