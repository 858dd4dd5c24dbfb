#include "canonical/edge_relaxation.hpp"

#include <algorithm>
#include <deque>
#include <vector>

#include "canonical/edge_descents.hpp"
#include "canonical/edge_places.hpp"

namespace tokamata {

namespace edge_relaxation {

using State = EdgeAutomaton::State;

class Texts {
 public:
  Texts(const EdgeReading& reading, const EdgeAutomaton& automaton, const EdgePrefix& prefix, Budget& budget)
      : reading_(reading),
        rules_(reading.tokenization.rules()),
        automaton_(automaton),
        prefix_(prefix),
        budget_(budget),
        steps_(automaton.count()) {
    for (State state = 0; state < automaton.count(); ++state)
      for (unsigned byte = 0; byte < 256; ++byte)
        for (const State target : automaton.after_byte(state, static_cast<std::uint8_t>(byte)))
          if (!automaton.is_prefix(target)) steps_[state].push_back({static_cast<std::uint8_t>(byte), target});
    if (EdgePrefix::is_any_text(automaton)) take_steps_of_every_byte();
  }

  bool may_exist() {
    for (const State start : automaton_.starts())
      for (const State state : automaton_.after_edge(start))
        if (!automaton_.is_prefix(state))
          for (const std::uint16_t guess : rules_.starts_after(reading_.before))
            add({state, {.guess = guess}, true, reading_.hides_space});
    for (const EdgePrefix::Node& node : prefix_.nodes()) {
      leave_prefix(node);
      if (follow_all()) return true;
    }
    return follow_all();
  }

 private:
  struct Node {
    State state;
    TextState text;
    bool has_edge;       // before what follows
    bool before_hidden;  // the hidden space comes next
  };
  struct Key {
    TextPlace place;
    bool has_edge;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const { return TextPlaceHash()(key.place) ^ std::size_t{key.has_edge}; }
  };
  struct Step {
    std::uint8_t byte;
    State target;
  };

  void add(const Node& node) {
    if (node.has_edge ? automaton_.rest(node.state) == EdgeAutomaton::kNever : !goes_on(node.state, node.text)) return;
    budget_.step();
    if (node.before_hidden || met_.add({place_of(node.state, node.text), node.has_edge}, Touch(node.text), 0))
      open_.push_back(node);
  }
  // Whether a text may go on in a state: between code points or within one.
  bool goes_on(State state, const TextState& text) const {
    const bool is_within = text.place != CodePoints::kBetween;
    return std::ranges::any_of(steps_[state],
                               [&](const Step& step) { return is_within == ((step.byte & 0xC0) == 0x80); });
  }
  void add_read(State state, const TextState& text) {
    add({state, text, false, false});
    for (const State after : automaton_.after_edge(state)) add({after, text, true, false});
  }
  void read(State state, const TextState& text) {
    for (const auto& [byte, target] : steps_[state])
      if (TextState after = text; rules_.read(after, byte)) add_read(target, after);
  }
  void read_added(State state, const TextState& text, bool is_hidden) {
    if (!follows_added_.is_new(state, text.open, is_hidden)) return;
    for (const auto& [number, reached] : reading_.descents.leaving_added(automaton_, state, is_hidden, budget_)) {
      const AddedTokens::Open open = reading_.descents.open_after(text.open, number);
      if (open == AddedTokens::kDead) continue;
      for (const State after : automaton_.after_edge(reached))
        for (const std::uint16_t guess : reading_.tokenization.starts_after(number))
          add({after, {.guess = guess, .open = open}, true, false});
    }
  }

  // A state that every byte leads to from any text is reached by every text that ends with a byte: the prefix has these.
  void take_steps_of_every_byte() {
    std::vector<std::uint32_t> bytes(automaton_.count(), 0);
    for (const Step& step : steps_[0]) ++bytes[step.target];
    for (State state = 0; state < automaton_.count(); ++state)
      if (bytes[state] == 256) after_every_byte_.push_back(state);
    std::erase_if(steps_[0], [&](const Step& step) { return bytes[step.target] == 256; });
  }

  void leave_prefix(const EdgePrefix::Node& node) {
    const bool is_hidden = reading_.hides_space && node.is_start();
    if (!node.at_border)  // that after the hidden space replaces an equal one after a space
      for (const State state : after_every_byte_) add_read(state, node.text);
    if (!is_hidden) read(node.state, node.text);
    if (rules_.may_end(node.text)) read_added(node.state, node.text, is_hidden);
  }

  // Whether a text was found.
  bool follow_all() {
    while (!open_.empty()) {
      const Node node = open_.front();  // the shortest first: most may end soon
      open_.pop_front();
      if (node.has_edge && rules_.may_end(node.text) && automaton_.is_accepting(node.state)) return true;
      follow(node);
    }
    return false;
  }

  void follow(const Node& node) {
    if (node.before_hidden) {
      if (TextState after = node.text; rules_.read(after, ' ')) add({node.state, after, true, false});
    } else {
      read(node.state, node.text);
    }
    if (!node.has_edge || node.text.place != CodePoints::kBetween) return;
    if (rules_.may_end(node.text)) read_added(node.state, node.text, node.before_hidden);
    for (const std::uint16_t guess : rules_.ends(node.text.guess)) {
      TextState after = node.text;
      after.guess = guess;
      add({node.state, after, true, false});
    }
  }

  const EdgeReading& reading_;
  const TextRules& rules_;
  const EdgeAutomaton& automaton_;
  const EdgePrefix& prefix_;
  Budget& budget_;
  std::vector<std::vector<Step>> steps_;  // out of the prefix
  std::vector<State> after_every_byte_;
  std::deque<Node> open_;
  Least<Key, KeyHash> met_;
  FollowsAdded follows_added_;
};

}  // namespace edge_relaxation

bool may_exist(const EdgeReading& reading, const EdgeAutomaton& automaton, const EdgePrefix& prefix, Budget& budget) {
  return edge_relaxation::Texts(reading, automaton, prefix, budget).may_exist();
}

}  // namespace tokamata
