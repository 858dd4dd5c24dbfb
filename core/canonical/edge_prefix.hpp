// The texts that stand before the token edges of a question; once for each tokenizer where that is any text.
//
// Problem.  "Does a token cross the left border of `<|im_end|>`, in any text?"  Any text may stand before, and what does
// is the most of the search; it is the same for every boundary.
// How.  The *prefix* of an edge automaton is the set of states in which edges do not matter yet.  Texts are followed there as
// such, byte by byte, with the hypotheses of the tokenizer: at the end of a pre-token that is exact, since the tokens of
// a pre-token depend on nothing else.  Of all borders of pre-tokens there is one list, and of the tokens that may stand
// first after each.
// Example.  A tokenizer that splits at spaces: two borders, at the start and before a space, and behind each the tokens
// that may begin a pre-token there.
// Cost.  The text automaton times 256 bytes, and the vocabulary once for each border: 0.1 to 0.5 s.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "canonical/edge_automaton.hpp"
#include "canonical/edge_descents.hpp"
#include "canonical/edge_places.hpp"
#include "canonical/tokenization.hpp"
#include "common/best_first.hpp"
#include "common/limits.hpp"

namespace tokamata {

// Whose texts are searched, and where they begin.
struct EdgeReading {
  const Tokenization& tokenization;
  const EdgeDescents& descents;
  bool hides_space;  // the tokenizer puts a space before the text, which its decoder takes away
  Before before;
};

// All borders of pre-tokens that texts of the prefix lead to, and the tokens that stand first after them.
class EdgePrefix {
 public:
  using State = EdgeAutomaton::State;
  static constexpr std::uint32_t kNoNode = ~std::uint32_t{0};

  struct Node {
    State state;
    TextState text;
    bool at_border;
    std::uint32_t cost;  // bytes
    std::uint32_t from;  // the node before; kNoNode at the start
    std::string_view by;
    bool is_start() const { return from == kNoNode; }
  };
  // A token that begins a pre-token in the prefix.
  struct Begun {
    std::uint32_t cost;  // of the text up to its end
    std::uint32_t token;
    std::uint32_t border;  // the node
    friend auto operator<=>(const Begun&, const Begun&) = default;
  };
  // Those of one border, the shortest first.
  struct Run {
    std::uint32_t border, cost;  // of the text before, less the hidden space that the token has
    std::span<const std::uint32_t> tokens;
  };
  // Those that end at one place.
  struct BegunAt {
    TextPlace place;
    std::uint32_t least;  // the cost of the cheapest
    std::vector<Run> runs;
  };
  // In a state, between code points or within one.
  using Side = std::pair<State, bool>;

  EdgePrefix(const EdgeReading& reading, const EdgeAutomaton& automaton, Budget& budget);
  // Whether the prefix is any text, and state 0 all of it: then it is the same as that of all others.
  static bool is_any_text(const EdgeAutomaton& automaton);
  EdgePrefix(const EdgePrefix&) = delete;
  EdgePrefix& operator=(const EdgePrefix&) = delete;

  const std::vector<Node>& nodes() const { return nodes_; }
  // Those that end at a place; nothing where none do.
  const BegunAt* begun_at(const TextPlace& place) const {
    const auto known = begun_.find(place);
    return known == begun_.end() ? nullptr : &known->second;
  }
  // Each of them, the cheapest first, until `is_enough` of one.
  template <class IsEnough>
  void each_begun(const BegunAt& at, IsEnough&& is_enough) const {
    struct Head {
      Begun begun;
      std::uint32_t run, next;
      bool operator<(const Head& other) const { return begun < other.begun; }
    };
    Frontier<Head> heads;
    const auto add = [&](std::uint32_t number, std::uint32_t next) {
      const auto& [border, cost, tokens] = at.runs[number];
      if (next == tokens.size()) return;
      heads.add({{cost + length_of(tokens[next]), tokens[next], border}, number, next + 1});
    };
    for (std::uint32_t number = 0; number < at.runs.size(); ++number) add(number, 0);
    while (!heads.empty()) {
      const Head head = heads.take();
      if (is_enough(head.begun)) return;
      add(head.run, head.next);
    }
  }
  // All places by state, and by whether they are within a code point, the cheapest first.
  const std::map<Side, std::vector<const BegunAt*>>& begun_by_side() const { return begun_by_side_; }
  // The states of the nodes at borders, with these nodes, the cheapest first.
  const std::map<State, std::vector<std::uint32_t>>& borders() const { return borders_by_state_; }
  std::string text_of(std::uint32_t node) const;

 private:
  struct Arrival {
    std::uint32_t cost, number;
    Node node;
    friend bool operator<(const Arrival& one, const Arrival& other) {
      return std::tie(one.cost, one.number) < std::tie(other.cost, other.number);
    }
  };

  Least<TextPlace, TextPlaceHash>& met_of(const Node& node) { return node.at_border ? borders_ : texts_; }
  void offer(const Node& node) {
    if (!met_of(node).covers(place_of(node.state, node.text), Touch(node.text), node.cost))
      open_.add({node.cost, next_number_++, node});
  }
  void find_texts(Budget& budget);
  void open_node(std::uint32_t number, Budget& budget);
  std::uint32_t length_of(std::uint32_t token) const {
    return static_cast<std::uint32_t>(tokenization_.vocabulary().bytes({token}).size());
  }
  void find_begun(Budget& budget);
  // The tokens that may begin a pre-token at a border, by where they end.
  using TokensByPlace = std::map<TextPlace, std::vector<std::uint32_t>>;
  TokensByPlace tokens_from(const Node& border, std::span<const EdgeDescents::Descent> staying) const;
  // The tokens that may begin a pre-token and stay in the prefix: by state, the shortest first.
  std::vector<EdgeDescents::Descent> staying_from(State from, bool after_hidden_space, Budget& budget) const;
  const std::vector<EdgeDescents::Descent>& added_after(State from, bool after_hidden_space, Budget& budget);

  const Tokenization& tokenization_;
  const EdgeDescents& descents_;
  bool hides_space_;
  Before before_;
  const EdgeAutomaton automaton_;  // a copy: it is kept
  std::array<char, 256> bytes_;
  std::vector<Node> nodes_;
  std::map<State, std::vector<std::uint32_t>> borders_by_state_;
  std::map<std::tuple<State, std::uint16_t, bool>, TokensByPlace> tokens_from_;  // by guess, and after a hidden space
  std::map<TextPlace, BegunAt> begun_;
  std::map<Side, std::vector<const BegunAt*>> begun_by_side_;
  Frontier<Arrival> open_;
  std::uint32_t next_number_ = 0;
  Least<TextPlace, TextPlaceHash> borders_, texts_;
  FollowsAdded follows_added_;
  std::map<std::pair<State, bool>, std::vector<EdgeDescents::Descent>> added_after_;
};

}  // namespace tokamata
