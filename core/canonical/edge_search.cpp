#include "canonical/edge_search.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/best_first.hpp"
#include "common/hash.hpp"

namespace tokamata {

// Not without a name: the classes below have members of these types.
namespace edge_search {

using State = EdgeAutomaton::State;

constexpr std::uint32_t kNoNode = ~std::uint32_t{0};

// What a text before forbids of what may follow, beyond guess and place.
struct Touch {
  std::uint16_t starter;
  std::uint8_t marks;
  AddedTokens::Open open;

  explicit Touch(const TextState& text) : starter(text.starter), marks(text.marks), open(text.open) {}
  // Whether all that may follow the other may follow this one.
  bool allows_all_of(const Touch& other) const {
    const bool is_open = (starter == 0 && marks == 0) || (starter == other.starter && marks == other.marks);
    return is_open && (open == AddedTokens::kNothing || open == other.open);
  }
};

// A guess and a place in a code point, in a state.
struct Place {
  State state;
  std::uint16_t guess, place;

  friend bool operator==(const Place&, const Place&) = default;
  friend auto operator<=>(const Place&, const Place&) = default;
};

Place place_of(State state, const TextState& text) { return {state, text.guess, text.place}; }

struct PlaceHash {
  std::size_t operator()(const Place& place) const {
    return static_cast<std::size_t>(
        mix((std::uint64_t{place.state} << 32) | (std::uint64_t{place.guess} << 16) | place.place, 0x9E37u));
  }
};

// What was met of each key: of two touches that cost the same, the one that allows more.
template <class Key, class Hash>
class Least {
 public:
  // Whether nothing that allows as much and costs as little was there before.
  bool add(const Key& key, const Touch& touch, std::uint32_t cost) {
    std::vector<std::pair<Touch, std::uint32_t>>& known = touches_[key];
    if (covers(known, touch, cost)) return false;
    known.emplace_back(touch, cost);
    return true;
  }
  bool covers(const Key& key, const Touch& touch, std::uint32_t cost) const {
    const auto known = touches_.find(key);
    return known != touches_.end() && covers(known->second, touch, cost);
  }

 private:
  static bool covers(const std::vector<std::pair<Touch, std::uint32_t>>& known, const Touch& touch,
                     std::uint32_t cost) {
    return std::ranges::any_of(
        known, [&](const auto& other) { return other.first.allows_all_of(touch) && other.second <= cost; });
  }

  std::unordered_map<Key, std::vector<std::pair<Touch, std::uint32_t>>, Hash> touches_;
};

// Each token below a node with the states that its other bytes lead to, and whether a state on the way is outside the
// prefix.  Subtries are left out where `skip(node, state)`.
template <class Skip, class Visit>
void walk_tokens(const TokenTrie& trie, NodeId top, const EdgeAutomaton& automaton, State from, Skip&& skip,
                 Visit&& visit) {
  struct Open {
    NodeId node;
    State state;
    bool has_left;
  };
  std::vector<Open> open{{top, from, !automaton.is_prefix(from)}};
  while (!open.empty()) {
    const auto [node, state, has_left] = open.back();
    open.pop_back();
    if (node != TokenTrie::root())
      for (const std::uint32_t token : trie.own(node)) visit(token, state, has_left);
    if (skip(node, state)) continue;
    for (std::uint32_t child = trie.children_begin(node); child < trie.children_end(node); ++child)
      for (const State target : automaton.after_byte(state, trie.byte({child})))
        open.push_back({{child}, target, has_left || !automaton.is_prefix(target)});
  }
}

constexpr auto kSkipNothing = [](NodeId, State) { return false; };

// The node below which the first tokens of a text are: the space that a tokenizer puts before a text, and that its
// decoder takes away, is no part of the text.  Nothing where no token begins with it.
std::optional<NodeId> first_node(const TokenTrie& trie, bool has_hidden_space) {
  return has_hidden_space ? trie.find(" ") : std::optional(TokenTrie::root());
}

// What an added token adds to a text; first in a text, without the hidden space.
std::string_view added_text(const Tokenization& tokenization, std::size_t number, bool hides_space) {
  const std::string_view text = tokenization.added_text(number);
  return text.substr(hides_space && text.starts_with(' ') ? 1 : 0);
}

// From where added tokens were followed.  What one leaves where no match is under way allows all that it leaves
// elsewhere.
class FollowsAdded {
 public:
  bool is_new(State state, AddedTokens::Open open, bool is_start) {
    return !from_.contains({state, AddedTokens::kNothing, is_start}) && from_.emplace(state, open, is_start).second;
  }

 private:
  std::set<std::tuple<State, AddedTokens::Open, bool>> from_;
};

// Where the bytes of a text lead, without an edge between them, and whether outside the prefix.
std::vector<std::pair<State, bool>> after_text(const EdgeAutomaton& automaton, State from, std::string_view text) {
  std::vector<std::pair<State, bool>> states{{from, !automaton.is_prefix(from)}};
  for (const char byte : text) {
    std::vector<std::pair<State, bool>> after;
    for (const auto& [state, has_left] : states)
      for (const State target : automaton.after_byte(state, static_cast<std::uint8_t>(byte)))
        after.emplace_back(target, has_left || !automaton.is_prefix(target));
    std::ranges::sort(after);
    after.erase(std::unique(after.begin(), after.end()), after.end());
    states = std::move(after);
  }
  return states;
}

}  // namespace edge_search

using namespace edge_search;

// ---- the prefix -----------------------------------------------------------------------------------

// All borders of pre-tokens that texts of the prefix lead to, and the tokens that stand first after them.
class EdgeSearch::Prefix {
 public:
  struct Node {
    State state;
    TextState text;
    bool at_border;
    std::uint32_t cost;  // bytes
    std::uint32_t from;  // the node before; kNoNode at the start
    std::string_view by;
  };
  // A token that begins a pre-token in the prefix.
  struct Begun {
    std::uint32_t cost;  // of the text up to its end
    std::uint32_t token;
    std::uint32_t border;  // the node
    friend auto operator<=>(const Begun&, const Begun&) = default;
  };

  Prefix(const Tokenization& tokenization, bool has_hidden_space, const EdgeAutomaton& automaton, Before before,
         Budget& budget)
      : tokenization_(tokenization), has_hidden_space_(has_hidden_space), automaton_(automaton), before_(before) {
    for (unsigned byte = 0; byte < 256; ++byte) bytes_[byte] = static_cast<char>(byte);
    find_texts(budget);
    find_begun(budget);
  }

  const std::vector<Node>& nodes() const { return nodes_; }
  // By where they end, the cheapest first.
  const std::map<Place, std::vector<Begun>>& begun() const { return begun_; }
  // The states of the nodes at borders, with these nodes, the cheapest first.
  const std::map<State, std::vector<std::uint32_t>>& borders() const { return borders_by_state_; }
  std::string text_of(std::uint32_t node) const {
    std::vector<std::string_view> parts;
    for (; node != kNoNode; node = nodes_[node].from) parts.push_back(nodes_[node].by);
    std::string text;
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) text += *part;
    return text;
  }

 private:
  struct Arrival {
    std::uint32_t cost, number;
    Node node;
    friend bool operator<(const Arrival& one, const Arrival& other) {
      return std::tie(one.cost, one.number) < std::tie(other.cost, other.number);
    }
  };

  void offer(Node node) { open_.add({node.cost, next_number_++, node}); }

  void find_texts(Budget& budget) {
    for (const State start : automaton_.starts())
      for (const State state : automaton_.after_edge(start))
        if (automaton_.is_prefix(state))
          for (const std::uint16_t guess : tokenization_.rules().starts_after(before_))
            offer({state, {.guess = guess}, true, 0, kNoNode, {}});
    while (!open_.empty()) {
      budget.step();
      const Node node = open_.take().node;
      const Touch touch(node.text);
      if (!(node.at_border ? borders_ : texts_).add(place_of(node.state, node.text), touch, node.cost)) continue;
      if (node.at_border) borders_by_state_[node.state].push_back(static_cast<std::uint32_t>(nodes_.size()));
      nodes_.push_back(node);
      open_node(static_cast<std::uint32_t>(nodes_.size() - 1));
    }
    open_.clear();
  }

  void open_node(std::uint32_t number) {
    const Node node = nodes_[number];
    const TextRules& rules = tokenization_.rules();
    const bool is_hidden = has_hidden_space_ && node.from == kNoNode;
    if (TextState after = node.text; is_hidden && rules.read(after, ' '))
      offer({node.state, after, false, node.cost, number, {}});
    for (unsigned byte = 0; byte < 256 && !is_hidden; ++byte) {
      TextState after = node.text;
      if (!rules.read(after, static_cast<std::uint8_t>(byte))) continue;
      for (const State target : automaton_.after_byte(node.state, static_cast<std::uint8_t>(byte)))
        if (automaton_.is_prefix(target))
          offer({target, after, false, node.cost + 1, number, std::string_view(&bytes_[byte], 1)});
    }
    if (node.text.place != CodePoints::kBetween) return;
    if (!node.at_border)
      for (const std::uint16_t guess : rules.ends(node.text.guess)) {
        TextState after = node.text;
        after.guess = guess;
        offer({node.state, after, true, node.cost, number, {}});
      }
    const bool is_start = node.from == kNoNode;
    if (!rules.may_end(node.text) || !follows_added_.is_new(node.state, node.text.open, is_start)) return;
    for (const auto& [added, state] : added_after(node.state, is_start)) {
      const AddedTokens::Open open = rules.added().after(node.text.open, added);
      if (open == AddedTokens::kDead) continue;
      const std::string_view content = added_text(tokenization_, added, has_hidden_space_ && is_start);
      for (const std::uint16_t guess : tokenization_.starts_after(added))
        if (const TextState after{.guess = guess, .open = open};
            !borders_.covers(place_of(state, after), Touch(after), node.cost))
          offer({state, after, true, node.cost + static_cast<std::uint32_t>(content.size()), number, content});
    }
  }

  // The added tokens that stay in the prefix, with the states after them.
  const std::vector<std::pair<std::uint32_t, State>>& added_after(State from, bool is_start) {
    const auto [known, is_new] = added_after_.try_emplace({from, is_start});
    for (std::uint32_t i = 0; is_new && i < tokenization_.rules().added().count(); ++i)
      for (const auto& [state, has_left] :
           after_text(automaton_, from, added_text(tokenization_, i, has_hidden_space_ && is_start)))
        if (!has_left) known->second.emplace_back(i, state);
    return known->second;
  }

  void find_begun(Budget& budget) {
    const Vocabulary& vocabulary = tokenization_.vocabulary();
    for (std::uint32_t number = 0; number < nodes_.size(); ++number) {
      const Node& node = nodes_[number];
      if (!node.at_border) continue;
      const LandingPtr landing = tokenization_.landing(node.text.guess, node.text.place);
      const auto add = [&](std::uint32_t token, State state) {
        budget.step();
        const std::uint16_t target = landing->target_of(token);
        if (target == 0) return;
        const auto [guess, place] = landing->targets()[target - 1u];
        const std::size_t hidden = has_hidden_space_ && node.from == kNoNode ? 1 : 0;
        begun_[{state, guess, place}].push_back(
            {node.cost + static_cast<std::uint32_t>(vocabulary.bytes({token}).size() - hidden), token, number});
      };
      const Words& beginning = tokenization_.pieces().beginning();
      const std::optional<NodeId> top = first_node(vocabulary.trie(), has_hidden_space_ && node.from == kNoNode);
      if (!top) continue;
      if (automaton_.is_free(node.state) && *top == TokenTrie::root()) {
        for_each_bit(beginning, [&](std::uint32_t token) { add(token, node.state); });
        continue;
      }
      walk_tokens(
          vocabulary.trie(), *top, automaton_, node.state,
          [&](NodeId, State state) { return !automaton_.is_prefix(state); },
          [&](std::uint32_t token, State state, bool has_left) {
            if (!has_left && has_bit(beginning, token)) add(token, state);
          });
    }
    for (auto& [place, begun] : begun_) {
      std::ranges::sort(begun);
      budget.check();
    }
  }

  const Tokenization& tokenization_;
  bool has_hidden_space_;
  const EdgeAutomaton automaton_;  // a copy: it is kept
  Before before_;
  std::array<char, 256> bytes_;
  std::vector<Node> nodes_;
  std::map<State, std::vector<std::uint32_t>> borders_by_state_;
  std::map<Place, std::vector<Begun>> begun_;
  Frontier<Arrival> open_;
  std::uint32_t next_number_ = 0;
  Least<Place, PlaceHash> borders_, texts_;
  FollowsAdded follows_added_;
  std::map<std::pair<State, bool>, std::vector<std::pair<std::uint32_t, State>>> added_after_;
};

// ---- the search -----------------------------------------------------------------------------------

class EdgeSearch::Search {
 public:
  Search(const Tokenization& tokenization, bool has_hidden_space, const EdgeAutomaton& automaton, const Prefix& prefix,
         bool follows_texts, Before before, std::size_t most_nodes, Budget& budget)
      : tokenization_(tokenization),
        has_hidden_space_(has_hidden_space),
        rules_(tokenization.rules()),
        pieces_(tokenization.pieces()),
        automaton_(automaton),
        prefix_(prefix),
        follows_texts_(follows_texts),
        before_(before),
        most_nodes_(most_nodes),
        budget_(budget) {
    for (unsigned byte = 0; byte < 256; ++byte) bytes_[byte] = static_cast<char>(byte);
  }

  // Whether there is such a text.
  bool run() {
    begin();
    while (!search())
      if (!begin_deeper()) return false;
    return true;
  }
  std::string text() const {
    std::vector<std::string_view> parts;
    std::uint32_t at = end_;
    for (; nodes_[at].from != kNoNode; at = nodes_[at].from) parts.push_back(nodes_[at].by);
    std::string text = nodes_[at].prefix == kNoNode ? std::string() : prefix_.text_of(nodes_[at].prefix);
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) text += *part;
    return text;
  }
  // Those that were followed.
  std::vector<std::uint32_t> tokens() const {
    std::vector<std::uint32_t> tokens;
    for (std::uint32_t at = end_; nodes_[at].from != kNoNode; at = nodes_[at].from) {
      const Node& node = nodes_[at];
      if (node.kind == Kind::Inside || (node.kind == Kind::Border && !node.by.empty()))
        tokens.push_back(node.last.value);
    }
    std::ranges::reverse(tokens);
    return tokens;
  }

 private:
  enum class Kind : std::uint8_t {
    Text,    // inside a pre-token whose tokens do not matter
    Border,  // a pre-token begins
    Inside,  // a token has ended, and its pre-token goes on or ends
    End,     // the text ends
  };
  struct Node {
    Kind kind;
    State state;
    TextState text;
    Pieces::State pieces;
    TokenId last;
    std::uint32_t cost;
    std::uint32_t from;  // kNoNode: the prefix
    std::string_view by;
    std::uint32_t prefix;  // where `from` is none: a node of it, kNoNode for the start
  };
  struct Key {
    Kind kind;
    Place place;
    Pieces::State pieces;
    TokenId last;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      return static_cast<std::size_t>(
          mix(PlaceHash()(key.place) ^ (std::uint64_t{key.last.value} << 8 | static_cast<std::uint8_t>(key.kind)),
              key.pieces.value + 1u));
    }
  };
  struct Arrival {
    std::uint32_t cost, number;
    friend auto operator<=>(const Arrival&, const Arrival&) = default;
  };
  // A token after which the text has left the prefix, and the state after its edge.
  struct Leaving {
    std::uint32_t token;
    State state;
  };

  Key key_of(const Node& node) const {
    const bool is_inside = node.kind == Kind::Inside;
    return {node.kind, place_of(node.state, node.text), is_inside ? node.pieces : Pieces::kSettled,
            is_inside ? node.last : TokenId{}};
  }
  void offer(const Node& node) {
    budget_.step();
    if (node.kind != Kind::End && met_.covers(key_of(node), Touch(node.text), node.cost)) return;
    if (nodes_.size() >= most_nodes_) throw LimitExceeded("states", static_cast<double>(most_nodes_));
    nodes_.push_back(node);
    open_.add({node.cost, static_cast<std::uint32_t>(nodes_.size() - 1)});
  }
  // A node that is on the way alone.
  std::uint32_t note(const Node& node) {
    nodes_.push_back(node);
    return static_cast<std::uint32_t>(nodes_.size() - 1);
  }
  std::uint32_t note_prefix(std::uint32_t number) {
    const Prefix::Node& node = prefix_.nodes()[number];
    return note({Kind::Text, node.state, node.text, Pieces::kSettled, {}, node.cost, kNoNode, {}, number});
  }

  // ---- out of the prefix --------------------------------------------------------------------------

  // A token that leaves the prefix, with what a text up to its end costs at least; first of all tokens, or later.
  struct Exit {
    std::uint32_t bound;
    State from;
    bool is_first;
    Leaving leaving;
  };
  bool is_start(const Prefix::Node& node) const { return node.from == kNoNode; }
  bool is_start(const Node& node) const {
    return node.kind == Kind::Border && node.from == kNoNode && node.prefix == kNoNode;
  }

  void begin() {
    for (const State start : automaton_.starts())
      for (const State state : automaton_.after_edge(start))
        if (!automaton_.is_prefix(state))
          for (const std::uint16_t guess : rules_.starts_after(before_))
            offer({Kind::Border, state, {.guess = guess}, Pieces::kSettled, {}, 0, kNoNode, {}, kNoNode});
    std::map<State, std::uint32_t> least;  // what a text costs at least where a token begins
    for (const auto& [state, borders] : prefix_.borders()) least.emplace(state, prefix_.nodes()[borders.front()].cost);
    for (const auto& [place, begun] : prefix_.begun()) {
      const auto known = least.try_emplace(place.state, begun.front().cost).first;
      known->second = std::min(known->second, begun.front().cost);
    }
    for (const auto& [state, cost] : least)
      for (const Leaving& leaving : leaving_of(state, false))
        exits_.push_back({cost + length_of(leaving.token), state, false, leaving});
    for (const auto& [state, borders] : prefix_.borders())
      if (has_hidden_space_ && is_start(prefix_.nodes()[borders.front()]))
        for (const Leaving& leaving : leaving_of(state, true))
          exits_.push_back({length_of(leaving.token) - 1, state, true, leaving});
    std::ranges::stable_sort(exits_, {}, &Exit::bound);
  }

  // Whether anything is left that leaves the prefix with a text that costs no more than what is met next.
  bool leave_prefix() {
    const std::uint32_t most = open_.empty() ? kNoNode : open_.first().cost;
    if (next_node_ < prefix_.nodes().size() && prefix_.nodes()[next_node_].cost <= most) {
      leave_as_text(next_node_++);
      return true;
    }
    if (next_exit_ == exits_.size() || exits_[next_exit_].bound > most) return false;
    const Exit exit = exits_[next_exit_++];
    leave_by_token(exit);
    if (exit.is_first || !has_bit(pieces_.following(), exit.leaving.token)) return true;
    for (auto begun = prefix_.begun().lower_bound({exit.from, 0, 0});
         begun != prefix_.begun().end() && begun->first.state == exit.from; ++begun)
      leave_from_inside(begun->first, begun->second, exit.leaving);
    return true;
  }

  void leave_as_text(std::uint32_t number) {
    const Prefix::Node& node = prefix_.nodes()[number];
    std::uint32_t here = kNoNode;
    const auto from = [&] { return here == kNoNode ? here = note_prefix(number) : here; };
    for (const auto& [byte, target] : text_exits(node.state)) {
      TextState after = node.text;
      if (rules_.read(after, byte))
        offer({Kind::Text, target, after, Pieces::kSettled, {}, node.cost + 1, from(), piece(byte), kNoNode});
    }
    if (node.text.place != CodePoints::kBetween || !rules_.may_end(node.text)) return;
    if (automaton_.is_accepting(node.state))
      offer({Kind::End, node.state, node.text, Pieces::kSettled, {}, node.cost, from(), {}, kNoNode});
    const bool is_hidden = has_hidden_space_ && is_start(node);
    if (!follows_added_.is_new(node.state, node.text.open, is_hidden)) return;
    for (const auto& [added, state] : added_after(node.state, true, is_hidden))
      add_added(added, state, node.text.open, is_hidden, node.cost, from);
  }

  void leave_by_token(const Exit& exit) {
    const auto& [token, state] = exit.leaving;
    const std::optional<Pieces::State> pieces = pieces_.begin({token});
    const auto borders = prefix_.borders().find(exit.from);
    if (!pieces || borders == prefix_.borders().end()) return;
    for (const std::uint32_t number : borders->second) {
      const Prefix::Node& node = prefix_.nodes()[number];
      if (has_hidden_space_ && is_start(node) != exit.is_first) continue;
      TextState after = node.text;
      if ((is_start(node) && tokenization_.is_never_first({token})) || !tokenization_.read(after, {token})) continue;
      const std::uint32_t cost = node.cost + length_of(token) - exit.is_first;
      if (offers_.add({Kind::Inside, place_of(state, after), *pieces, {token}}, Touch(after), cost))
        offer(inside(state, after, *pieces, token, node.cost, note_prefix(number), exit.is_first));
    }
  }

  // What a token leaves where nothing before it binds it; nothing where it cannot be read there.
  std::optional<TextState> freely_read(const Place& place, TokenId token) const {
    TextState text{.guess = place.guess, .place = place.place};
    return tokenization_.read(text, token) ? std::optional(text) : std::nullopt;
  }

  // The first token of the pre-token that lets this one follow; others too, if it binds what follows.
  void leave_from_inside(const Place& place, const std::vector<Prefix::Begun>& begun, const Leaving& leaving) {
    const TokenId token{leaving.token};
    const std::optional<TextState> freely = freely_read(place, token);
    if (!freely) return;
    const Key best{Kind::Inside, place_of(leaving.state, *freely), Pieces::kSettled, token};
    const auto is_covered = [&](std::uint32_t cost) {
      return offers_.covers(best, Touch(*freely), cost + length_of(token.value));
    };
    std::size_t tries = 0;
    std::shared_ptr<const Words> before;
    for (const Prefix::Begun& first : begun) {
      if (is_covered(first.cost)) return;
      if (++tries > kTries) {
        budget_.step();
        if (!before) before = tokenization_.before(token);
        if (has_bit(pieces_.following(), first.token) && has_bit(pieces_.settled(true), first.token) &&
            !has_bit(*before, first.token))
          continue;
      }
      follow_in_prefix(first, {}, leaving);
    }
  }

  // Whether the tokens can follow each other.
  bool follow_in_prefix(const Prefix::Begun& first, std::span<const std::uint32_t> between, const Leaving& leaving) {
    const Prefix::Node& border = prefix_.nodes()[first.border];
    if (is_start(border) && tokenization_.is_never_first({first.token})) return false;
    std::optional<Pieces::State> pieces = pieces_.begin({first.token});
    TextState text = border.text;
    if (!pieces || !pieces_.may_go_on(*pieces) || !tokenization_.read(text, {first.token})) return false;
    TokenId last{first.token};
    for (const std::uint32_t token : between) {
      pieces = pieces_.follow(*pieces, last, {token});
      if (!pieces || !tokenization_.read(text, {token})) return false;
      last = {token};
    }
    pieces = pieces_.follow(*pieces, last, {leaving.token});
    if (!pieces || !tokenization_.read(text, {leaving.token})) return false;
    std::uint32_t cost = first.cost + length_of(leaving.token);
    for (const std::uint32_t token : between) cost += length_of(token);
    if (!offers_.add({Kind::Inside, place_of(leaving.state, text), *pieces, {leaving.token}}, Touch(text), cost))
      return true;
    std::uint32_t here = note_prefix(first.border);
    cost = border.cost;
    const auto go = [&](std::uint32_t token, bool is_hidden) {
      const std::string_view bytes = tokenization_.vocabulary().bytes({token}).substr(is_hidden ? 1 : 0);
      cost += static_cast<std::uint32_t>(bytes.size());
      here = note({Kind::Text, border.state, text, Pieces::kSettled, {}, cost, here, bytes, kNoNode});
    };
    go(first.token, has_hidden_space_ && is_start(border));
    for (const std::uint32_t token : between) go(token, false);
    offer(inside(leaving.state, text, *pieces, leaving.token, cost, here, false));
    return true;
  }

  std::uint32_t length_of(std::uint32_t token) const {
    return static_cast<std::uint32_t>(tokenization_.vocabulary().bytes({token}).size());
  }

  // Texts that leave the prefix where edges do not matter, by a byte.
  const std::vector<std::pair<std::uint8_t, State>>& text_exits(State state) {
    const auto [known, is_new] = text_exits_.try_emplace(state);
    if (is_new)
      for (unsigned byte = 0; byte < 256; ++byte)
        for (const State target : automaton_.after_byte(state, static_cast<std::uint8_t>(byte)))
          if (!automaton_.is_prefix(target) && automaton_.ignores_edges(target))
            known->second.emplace_back(static_cast<std::uint8_t>(byte), target);
    return known->second;
  }

  // The tokens that leave the prefix; `is_first`: after the hidden space.
  const std::vector<Leaving>& leaving_of(State from, bool is_first) {
    const auto [known, is_new] = leaving_.try_emplace({from, is_first});
    if (!is_new) return known->second;
    const TokenTrie& trie = tokenization_.vocabulary().trie();
    const std::optional<NodeId> top = first_node(trie, is_first);
    if (!top) return known->second;
    const ByteSet exits = exits_of(from);
    const bool is_plain = exits.is_subset_of(ByteSet::range(0x00, 0x7F));
    walk_tokens(
        trie, *top, automaton_, from,
        [&](NodeId node, State state) {
          const ByteSet& below = trie.below(trie.node(node));
          return is_plain && state == from && automaton_.is_free(state) && !below.contains(TokenTrie::kIrregular) &&
                 (below & exits).next_member(0) > 0xFF;
        },
        [&](std::uint32_t token, State state, bool has_left) {
          budget_.step();
          if (has_left && has_bit(tokenization_.possible(), token))
            for (const State after : automaton_.after_edge(state)) known->second.push_back({token, after});
        });
    return known->second;
  }

  // One of these is read by every token that leaves the prefix from there.
  ByteSet exits_of(State from) const {
    ByteSet exits;
    for (unsigned byte = 0; byte < 256; ++byte)
      for (const State target : automaton_.after_byte(from, static_cast<std::uint8_t>(byte))) {
        if (automaton_.is_prefix(target)) continue;
        if (!automaton_.after_edge(target).empty()) exits.add(static_cast<std::uint8_t>(byte));
        for (unsigned next = 0; next < 256 && automaton_.after_edge(target).empty(); ++next)
          if (!automaton_.after_byte(target, static_cast<std::uint8_t>(next)).empty())
            exits.add(static_cast<std::uint8_t>(next));
      }
    return exits;
  }

  // ---- after it -----------------------------------------------------------------------------------

  bool search() {
    while (true) {
      if (leave_prefix()) continue;
      if (open_.empty()) {
        if (next_late_ == late_.size()) return false;
        follow_tokens(late_[next_late_++]);
        continue;
      }
      const std::uint32_t number = open_.take().number;
      const Node node = nodes_[number];  // a copy: the list grows
      if (node.kind == Kind::End) {
        end_ = number;
        return true;
      }
      if (!met_.add(key_of(node), Touch(node.text), node.cost)) continue;
      switch (node.kind) {
        case Kind::Text: open_text(number, node); break;
        case Kind::Border: open_border(number, node); break;
        case Kind::Inside: open_inside(number, node); break;
        case Kind::End: break;
      }
    }
  }

  void open_text(std::uint32_t number, const Node& node) {
    read_text(number, node);
    if (node.text.place != CodePoints::kBetween) return;
    end_pre_token(number, node);
    end_text(number, node);
  }

  void open_border(std::uint32_t number, const Node& node) {
    end_text(number, node);
    if (automaton_.ignores_edges(node.state)) read_text(number, node);
    if (!automaton_.is_wide(node.state)) follow_tokens(number);
  }

  void open_inside(std::uint32_t number, const Node& node) {
    if (node.text.place == CodePoints::kBetween && pieces_.may_finish(node.pieces)) {
      end_pre_token(number, node);
      end_text(number, node);
    }
    if (!pieces_.may_go_on(node.pieces)) return;
    if (automaton_.is_wide(node.state)) late_.push_back(number);
    else follow_tokens(number);
  }

  void read_text(std::uint32_t number, const Node& node) {
    if (!follows_texts_) return;
    const bool is_hidden = has_hidden_space_ && is_start(node);
    if (TextState after = node.text; is_hidden && rules_.read(after, ' '))
      offer({Kind::Text, node.state, after, Pieces::kSettled, {}, node.cost, number, {}, kNoNode});
    for (unsigned byte = 0; byte < 256 && !is_hidden; ++byte)
      for (const State target : automaton_.after_byte(node.state, static_cast<std::uint8_t>(byte))) {
        TextState after = node.text;
        if (!automaton_.ignores_edges(target) || !rules_.read(after, static_cast<std::uint8_t>(byte))) continue;
        offer({Kind::Text,
               target,
               after,
               Pieces::kSettled,
               {},
               node.cost + 1,
               number,
               piece(static_cast<std::uint8_t>(byte)),
               kNoNode});
      }
  }

  void end_pre_token(std::uint32_t number, const Node& node) {
    for (const std::uint16_t guess : rules_.ends(node.text.guess)) {
      TextState after = node.text;
      after.guess = guess;
      offer({Kind::Border, node.state, after, Pieces::kSettled, {}, node.cost, number, {}, kNoNode});
    }
  }

  void end_text(std::uint32_t number, const Node& node) {
    if (!rules_.may_end(node.text)) return;
    if (automaton_.is_accepting(node.state))
      offer({Kind::End, node.state, node.text, Pieces::kSettled, {}, node.cost, number, {}, kNoNode});
    const bool is_hidden = has_hidden_space_ && is_start(node);
    if (!follows_added_.is_new(node.state, node.text.open, is_hidden)) return;
    for (const auto& [added, state] : added_after(node.state, false, is_hidden))
      add_added(added, state, node.text.open, is_hidden, node.cost, [&] { return number; });
  }

  // The added tokens, and the states after them; out of the prefix, those alone that leave it.
  const std::vector<std::pair<std::uint32_t, State>>& added_after(State state, bool is_prefix, bool is_hidden) {
    const auto [known, is_new] = added_after_.try_emplace({state, is_hidden});
    for (std::uint32_t i = 0; is_new && i < rules_.added().count(); ++i)
      for (const auto& [before, has_left] : after_text(automaton_, state, added_text(tokenization_, i, is_hidden)))
        if (has_left || !is_prefix)
          for (const State after : automaton_.after_edge(before)) known->second.emplace_back(i, after);
    return known->second;
  }

  template <class From>
  void add_added(std::uint32_t added, State state, AddedTokens::Open open, bool is_hidden, std::uint32_t cost,
                 From&& from) {
    const AddedTokens::Open behind = rules_.added().after(open, added);
    if (behind == AddedTokens::kDead) return;
    const std::string_view content = added_text(tokenization_, added, is_hidden);
    for (const std::uint16_t guess : tokenization_.starts_after(added))
      offer({Kind::Border,
             state,
             {.guess = guess, .open = behind},
             Pieces::kSettled,
             TokenId{tokenization_.added()[added]},
             cost + static_cast<std::uint32_t>(content.size()),
             from(),
             content,
             kNoNode});
  }

  void follow_tokens(std::uint32_t number) {
    const Node node = nodes_[number];
    const bool is_border = node.kind == Kind::Border, is_hidden = has_hidden_space_ && is_start(node);
    const TokenTrie& trie = tokenization_.vocabulary().trie();
    const std::optional<NodeId> top = first_node(trie, is_hidden);
    if (!top) return;
    walk_tokens(trie, *top, automaton_, node.state, kSkipNothing, [&](std::uint32_t token, State state, bool) {
      budget_.step();
      if (!has_bit(tokenization_.possible(), token)) return;
      const std::optional<Pieces::State> pieces =
          is_border ? pieces_.begin({token}) : pieces_.follow(node.pieces, node.last, {token});
      TextState after = node.text;
      if (!pieces || (is_start(node) && tokenization_.is_never_first({token})) || !tokenization_.read(after, {token}))
        return;
      for (const State target : automaton_.after_edge(state))
        offer(inside(target, after, *pieces, token, node.cost, number, is_hidden));
    });
  }

  Node inside(State state, const TextState& text, Pieces::State pieces, std::uint32_t token, std::uint32_t cost,
              std::uint32_t from, bool is_hidden) const {
    const std::string_view bytes = tokenization_.vocabulary().bytes({token}).substr(is_hidden ? 1 : 0);
    return {Kind::Inside, state, text,   pieces, {token}, cost + static_cast<std::uint32_t>(bytes.size()),
            from,         bytes, kNoNode};
  }

  // ---- deeper in the prefix -----------------------------------------------------------------------

  // A token that no first token of a pre-token lets follow may follow a later one.  Whether any node was offered.
  bool begin_deeper() {
    if (std::exchange(went_deeper_, true)) return false;
    const std::size_t before = nodes_.size();
    find_inner_places();
    for (const Exit& exit : exits_) {
      const TokenId token{exit.leaving.token};
      if (exit.is_first || !has_bit(pieces_.following(), token.value)) continue;
      const bool continues = (tokenization_.vocabulary().bytes(token)[0] & 0xC0) == 0x80;
      const std::set<Place>& places = continues ? within_ : between_;
      for (auto place = places.lower_bound({exit.from, 0, 0}); place != places.end() && place->state == exit.from;
           ++place) {
        const std::optional<TextState> freely = freely_read(*place, token);
        if (!freely) continue;
        const Key best{Kind::Inside, place_of(exit.leaving.state, *freely), Pieces::kSettled, token};
        if (!offers_.covers(best, Touch(*freely), kNoNode)) search_backwards(*place, exit.leaving);
      }
    }
    return nodes_.size() > before;
  }

  // Where tokens may end inside pre-tokens of the prefix: where texts do.
  void find_inner_places() {
    for (const Prefix::Node& node : prefix_.nodes()) {
      if (node.at_border) continue;
      Place place = place_of(node.state, node.text);
      const bool is_between = place.place == CodePoints::kBetween;
      (is_between ? between_ : within_).insert(place);
      if (is_between) continue;
      place.place |= TextState::kFallback;
      within_.insert(place);
    }
  }

  // The tokens that follow from a place inside a pre-token of the prefix, and where they lead.
  template <class Visit>
  void for_each_step(const Place& from, Visit&& visit) {
    const LandingPtr landing = tokenization_.landing(from.guess, from.place);
    const auto step = [&](std::uint32_t token, State state) {
      budget_.step();
      const std::uint16_t target = landing->target_of(token);
      if (target == 0) return;
      const auto [guess, reached] = landing->targets()[target - 1u];
      visit(token, Place{state, guess, reached});
    };
    if (automaton_.is_free(from.state)) {
      for_each_bit(pieces_.following(), [&](std::uint32_t token) { step(token, from.state); });
      return;
    }
    walk_tokens(
        tokenization_.vocabulary().trie(), TokenTrie::root(), automaton_, from.state,
        [&](NodeId, State state) { return !automaton_.is_prefix(state); },
        [&](std::uint32_t token, State state, bool has_left) {
          if (!has_left && has_bit(pieces_.following(), token)) step(token, state);
        });
  }

  struct Later {
    Place place;  // from where it follows
    std::uint32_t token;
    std::uint32_t next;  // the one that follows it, by its place in the list
  };

  // Sequences of tokens within a pre-token that end with one, from their end on, until one begins it.
  void search_backwards(const Place& place, const Leaving& leaving) {
    std::vector<Later> found;
    std::set<std::pair<Place, std::uint32_t>> met;
    const auto extend = [&](const Place& to, TokenId token, std::uint32_t next) {
      for (const std::set<Place>* places : {&between_, &within_})
        for (const Place& from : *places)
          for_each_step(from, [&](std::uint32_t other, const Place& reached) {
            if (reached != to || !pieces_.follow(Pieces::kSettled, {other}, token) || !met.emplace(from, other).second)
              return;
            found.push_back({from, other, next});
            if (found.size() > most_nodes_) throw LimitExceeded("states", static_cast<double>(most_nodes_));
          });
    };
    extend(place, {leaving.token}, kNoNode);
    for (std::uint32_t i = 0; i < found.size(); ++i) {
      const Later here = found[i];
      std::vector<std::uint32_t> between;
      for (std::uint32_t at = i; at != kNoNode; at = found[at].next) between.push_back(found[at].token);
      if (const auto begun = prefix_.begun().find(here.place); begun != prefix_.begun().end())
        for (const Prefix::Begun& first : begun->second) {
          budget_.step();
          if (follow_in_prefix(first, between, leaving)) return;
        }
      extend(here.place, {here.token}, i);
    }
  }

  // -------------------------------------------------------------------------------------------------

  std::string_view piece(std::uint8_t byte) const { return {&bytes_[byte], 1}; }

  static constexpr std::size_t kTries = 16;

  const Tokenization& tokenization_;
  bool has_hidden_space_;
  const TextRules& rules_;
  const Pieces& pieces_;
  const EdgeAutomaton& automaton_;
  const Prefix& prefix_;
  bool follows_texts_;
  Before before_;
  std::size_t most_nodes_;
  Budget& budget_;
  std::array<char, 256> bytes_;
  std::vector<Node> nodes_;
  std::uint32_t end_ = kNoNode;
  Frontier<Arrival> open_;
  std::vector<std::uint32_t> late_;  // inside wide states: the tokens after them are many, and hardly needed
  std::size_t next_late_ = 0;
  Least<Key, KeyHash> met_;
  Least<Key, KeyHash> offers_;  // of nodes that leave the prefix
  FollowsAdded follows_added_;
  std::map<State, std::vector<std::pair<std::uint8_t, State>>> text_exits_;
  std::map<std::pair<State, bool>, std::vector<Leaving>> leaving_;
  std::map<std::pair<State, bool>, std::vector<std::pair<std::uint32_t, State>>> added_after_;
  std::vector<Exit> exits_;
  std::size_t next_exit_ = 0;
  std::uint32_t next_node_ = 0;  // of the prefix
  bool went_deeper_ = false;
  std::set<Place> between_, within_;  // code points, or one
};

// ---- both -----------------------------------------------------------------------------------------

EdgeSearch::EdgeSearch(std::shared_ptr<const Tokenization> tokenization, bool has_hidden_space)
    : tokenization_(std::move(tokenization)), has_hidden_space_(has_hidden_space) {}
EdgeSearch::~EdgeSearch() = default;

std::shared_ptr<const EdgeSearch::Prefix> EdgeSearch::prefix_of(const EdgeAutomaton& automaton, Before before,
                                                                Budget& budget) const {
  const bool hides_space = has_hidden_space_ && before == Before::Nothing;
  // Where the only state of the prefix is a free one, the prefix is the same for all automata but for its number.
  const bool is_free = before == Before::Nothing && automaton.starts().size() == 1 &&
                       automaton.is_prefix(automaton.starts()[0]) && automaton.is_free(automaton.starts()[0]) &&
                       automaton.starts()[0] == 0 && [&] {
                         for (State state = 1; state < automaton.count(); ++state)
                           if (automaton.is_prefix(state)) return false;
                         return true;
                       }();
  if (!is_free) return std::make_shared<const Prefix>(*tokenization_, hides_space, automaton, before, budget);
  const std::lock_guard lock(mutex_);
  if (!free_) free_ = std::make_shared<const Prefix>(*tokenization_, hides_space, automaton, before, budget);
  return free_;
}

std::optional<std::string> EdgeSearch::shortest(const EdgeAutomaton& automaton, Before before, std::size_t most_nodes,
                                                Budget& budget) const {
  const bool hides_space = has_hidden_space_ && before == Before::Nothing;
  const std::shared_ptr<const Prefix> prefix = prefix_of(automaton, before, budget);
  Search search(*tokenization_, hides_space, automaton, *prefix, true, before, most_nodes, budget);
  return search.run() ? std::optional(search.text()) : std::nullopt;
}

std::optional<std::vector<std::uint32_t>> EdgeSearch::tokens_of(std::string_view text, Before before,
                                                                std::size_t most_nodes, Budget& budget) const {
  const EdgeAutomaton automaton = EdgeAutomaton::of_text(text);
  const bool hides_space = has_hidden_space_ && before == Before::Nothing;
  const Prefix none(*tokenization_, hides_space, automaton, before, budget);
  Search search(*tokenization_, hides_space, automaton, none, false, before, most_nodes, budget);
  return search.run() ? std::optional(search.tokens()) : std::nullopt;
}

}  // namespace tokamata
