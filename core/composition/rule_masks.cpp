// Masks of expressions that hold rules: terminals by their parts, all else by a walk.  Part of TokenAutomaton.
//
// Problem.  Every place of a JSON text is a state of its own, and most are met once; a walk of the vocabulary for
// each would cost a hundred times what is new about it.
// How.  A state is taken apart into its alternatives, with the rules in front unfolded, and each is followed down the
// trie of tokens as long as some token goes on with what it asks for: most end at their first byte.  A terminal is not
// followed but is its *part* (vocabulary/terminal_part.hpp), made once; behind it stands the trie of what tokens
// spell after it, where whatever follows the terminal is followed in the same way.
// Example.  {"a": "x|  in an object with members a and b: the part of a string's rest, which most tokens are in; behind it the
// remainders of  ",  "}  ","b  …, of which  ,  and  }  and  ,"b  fit what follows.
// Cost.  A few microseconds, and one or two for each alternative that some token goes on with.
// Not taken: one walk of the trie with all alternatives in step (a state of the byte automaton for every byte).

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_set>

#include "common/hash.hpp"
#include "composition/token_automaton.hpp"

namespace tokamata {

// One mask under way: alternatives at nodes of the trie, whose bytes were read before them.
//
// Punctuation, blanks, names and strings are followed down the trie directly: most of the bytes that they ask for are
// on no token's way, and a state for each would be made for nothing.  Terminals have their parts, and what follows them is
// followed in the same way down the tries of remainders.  What begins with anything else is walked.
class TokenAutomaton::RuleMaskMaker {
  static constexpr std::uint64_t kLongestRest = 3;  // of a code point that a loop has begun
  struct RestTag;
  using RestId = Id<RestTag>;

 public:
  RuleMaskMaker(TokenAutomaton& tokens, bool is_joined, Budget& budget)
      : tokens_(tokens), arena_(tokens.automaton_.arena()), trie_(tokens.vocabulary_->trie()), budget_(budget), is_joined_(is_joined),
        bits_(std::move(tokens.cleared_row_)) {
    bits_.resize(tokens.vocabulary_->words());
  }
  RuleMaskMaker(const RuleMaskMaker&) = delete;
  RuleMaskMaker& operator=(const RuleMaskMaker&) = delete;
  // The row is handed back as it came.
  ~RuleMaskMaker() {
    for (const std::uint32_t place : places_) bits_[place] = 0;
    if (is_listed_) tokens_.cleared_row_ = std::move(bits_);
  }

  // Nothing where the ways are too many to be followed one by one.
  std::optional<RuleMask> make(ExpressionId expression, NodeId node) {
    constexpr std::size_t kMostOneByOne = 4096;
    open({nullptr, node.value}, expression, kNothing);
    while (!ways_.empty() || !waiting_.empty()) {
      if (!is_joined_ && arena_.joins_rules() && opened_.size() > kMostOneByOne) return std::nullopt;
      if (ways_.empty()) unfold_joined();
      if (ways_.empty()) continue;
      const Way way = ways_.back();
      ways_.pop_back();
      budget_.step();
      follow(way);
    }
    for (auto& [spot, alternatives] : walked_) walk(spot, tokens_.automaton_.state_of_any(std::move(alternatives), budget_));
    if (is_listed_) {
      std::vector<MaskBits::Word> few;
      for (const std::uint32_t place : places_) few.push_back({place, bits_[place]});
      mask_.bits = {std::move(few), bits_.size()};
    } else {
      mask_.bits = MaskBits(std::move(bits_));
    }
    return std::move(mask_);
  }

 private:
  // A node of the vocabulary's trie, or of the remainders of a part.
  struct Spot {
    const TerminalPart* part;
    std::uint32_t node;
    auto operator<=>(const Spot&) const = default;
  };
  std::optional<Spot> below(Spot spot, std::uint8_t byte) const {
    const std::span<const std::uint8_t> bytes = bytes_below(spot);
    const auto place = std::ranges::lower_bound(bytes, byte);
    if (place == bytes.end() || *place != byte) return std::nullopt;
    return Spot{spot.part, children_begin(spot) + static_cast<std::uint32_t>(place - bytes.begin())};
  }

  std::uint32_t children_begin(Spot spot) const {
    return spot.part ? spot.part->nodes[spot.node].children_begin : trie_.children_begin({spot.node});
  }

  bool is_last(Spot spot) const { return bytes_below(spot).empty(); }

  std::span<const std::uint32_t> tokens_at(Spot spot) const {
    if (!spot.part) {
      const std::uint32_t begin = trie_.node({spot.node}).tokens_begin;
      return trie_.order().subspan(begin, trie_.own_end({spot.node}) - begin);
    }
    const TerminalPart::Node& node = spot.part->nodes[spot.node];
    return std::span(spot.part->tokens).subspan(node.tokens_begin, node.tokens_end - node.tokens_begin);
  }

  // What is behind a way: expressions one after another, without a node of the arena for each pair of them.
  struct Rest {
    ExpressionId first;
    RestId next;
    std::uint64_t spelled;  // bytes, as for expressions
    bool suspect;           // somewhere
    bool begins_suspect;
  };
  static constexpr RestId kNothing{0};

  RestId put(ExpressionId first, RestId next) {
    if (first == Arena::kEpsilon) return next;
    const ExpressionNode& n = arena_.node(first);
    const Rest& rest = rests_[next.value];
    const bool suspect = n.suspect || rest.suspect;
    rests_.push_back({first, next, n.spelled + rest.spelled, suspect,
                      suspect || is_suspect(first) || (n.kind == Kind::Commit && rest.begins_suspect)});
    return {static_cast<std::uint32_t>(rests_.size() - 1)};
  }

  ExpressionId joined(ExpressionId first, RestId rest) {
    std::vector<ExpressionId> all{first};
    for (RestId at = rest; at != kNothing; at = rests_[at.value].next) all.push_back(rests_[at.value].first);
    ExpressionId result = Arena::kEpsilon;
    for (auto part = all.rbegin(); part != all.rend(); ++part) result = arena_.concatenate(*part, result);
    return result;
  }

  struct Way {
    Spot spot;
    ExpressionId head;
    RestId rest;
  };

  void open(Spot spot, RestId rest) {
    if (rest != kNothing) open(spot, rests_[rest.value].first, rests_[rest.value].next);
  }

  // Takes an expression, and what is behind it, apart into ways that may read a byte below the spot.
  void open(Spot spot, ExpressionId expression, RestId rest) {
    if (is_last(spot) || !opened_.insert({spot, expression, rest}).second) return;
    if (is_joined_) return open_joined(spot, arena_.settled(joined(expression, rest)));
    parts_.emplace_back(expression, rest);
    while (!parts_.empty()) {
      const auto [part, behind] = parts_.back();
      parts_.pop_back();
      const ExpressionNode n = arena_.node(part);
      if (n.commits) {
        if (may_begin(spot, part, behind)) parts_.emplace_back(arena_.settled(joined(part, behind)), kNothing);
      } else if (n.kind == Kind::Union) {
        for (const ExpressionId item : arena_.items(n)) parts_.emplace_back(item, behind);
      } else {
        const auto [head, tail] = arena_.split(part);
        open_head(spot, head, tail, behind);
      }
    }
  }

  // An ambiguous text has many readings down to a spot.  They are united, so that their rules are joined (Rules::joins), and
  // unfolded together once nothing above the spot is left.
  void open_joined(Spot spot, ExpressionId given) {
    std::vector<ExpressionId> one{given};
    const ExpressionId expression = arena_.unite(one);  // in the form of alternatives: none begins with a concatenation
    const auto awaits_rule = [this](ExpressionId alternative) { return arena_.awaits_rule(alternative); };
    if (arena_.node(expression).rules && std::ranges::any_of(arena_.alternatives(expression), awaits_rule))
      waiting_[spot].push_back(expression);
    else
      add_ways(spot, expression);
  }

  void unfold_joined() {
    auto [spot, expressions] = std::move(*waiting_.begin());  // children have larger numbers than what they are below
    waiting_.erase(waiting_.begin());
    budget_.step();
    add_ways(spot, arena_.unite(expressions));
  }

  void add_ways(Spot spot, ExpressionId expression) {
    for (const ExpressionId alternative : arena_.unfolded(expression, budget_)) {
      const auto [head, tail] = arena_.split(alternative);
      if (may_begin(spot, arena_.node(head))) ways_.push_back({spot, head, put(tail, kNothing)});
    }
  }

  void open_head(Spot spot, ExpressionId head, ExpressionId tail, RestId rest) {
    const ExpressionNode n = arena_.node(head);
    const bool is_composed = n.kind == Kind::Union || n.kind == Kind::Concatenation;
    if (is_composed) {
      parts_.emplace_back(head, put(tail, rest));
      return;
    }
    if (may_begin(spot, n)) {
      if (const auto body = n.kind == Kind::Rule ? arena_.rules(n).unfolded(n.rule(), arena_, budget_) : std::nullopt)
        parts_.emplace_back(*body, put(tail, rest));
      else
        ways_.push_back({spot, head, put(tail, rest)});
    }
    if (!n.nullable || n.open) return;
    if (tail != Arena::kEpsilon)
      parts_.emplace_back(tail, rest);
    else if (rest != kNothing)
      parts_.emplace_back(rests_[rest.value].first, rests_[rest.value].next);
  }

  // Whether it may read a byte below a node, as far as that shows without unfolding anything.
  bool may_begin(Spot spot, const ExpressionNode& n) const {
    const auto is_below = [&](const ByteSet& first) {
      return std::ranges::any_of(bytes_below(spot), [&](std::uint8_t byte) { return first.contains(byte); });
    };
    switch (n.kind) {
      case Kind::Empty:
      case Kind::Epsilon:
      case Kind::Suspect: return false;
      case Kind::Bytes: return is_below(arena_.byte_set(n));
      case Kind::Repetition: return arena_.node(n.body()).kind != Kind::Bytes || is_below(arena_.byte_set(arena_.node(n.body())));
      case Kind::Rule: return is_below(arena_.rules(n).may_begin(n.rule()));
      case Kind::Terminal: return arena_.node(n.body()).constrained || is_below(arena_.first_bytes(n.body()));
      default: return true;
    }
  }

  // The same of an expression with a choice in front, and what is behind it: all of that is made anew for each choice,
  // and where only blanks are below, only a longer indent reads them, which has a choice of its own.
  bool may_begin(Spot spot, ExpressionId expression, RestId rest) {
    constexpr unsigned kMostLooked = 64;
    std::vector<std::pair<ExpressionId, RestId>> open{{expression, rest}};
    for (unsigned looked = 0; !open.empty(); ++looked) {
      if (looked == kMostLooked) return true;
      const auto [part, behind] = open.back();
      open.pop_back();
      const auto [head, tail] = arena_.split(part);
      const ExpressionNode& n = arena_.node(head);
      const RestId after = put(tail, behind);
      if (n.kind == Kind::Union) {
        for (const ExpressionId item : arena_.items(n)) open.emplace_back(item, after);
        continue;
      }
      if (n.kind != Kind::Commit && may_begin(spot, n)) return true;
      if ((n.kind == Kind::Commit || n.nullable) && after != kNothing) open.emplace_back(rests_[after.value].first, rests_[after.value].next);
    }
    return false;
  }

  // Of what may begin with a choice, without making it.
  bool is_suspect(ExpressionId expression) const {
    const ExpressionNode& n = arena_.node(expression);
    if (n.suspect || !n.commits) return n.suspect;
    if (n.kind == Kind::Union) return std::ranges::any_of(arena_.items(n), [this](ExpressionId item) { return is_suspect(item); });
    if (n.kind == Kind::Concatenation) return is_suspect(n.head()) || is_suspect(n.tail());
    return n.kind == Kind::Commit && n.first == Rules::kSuspect;
  }

  std::span<const std::uint8_t> bytes_below(Spot spot) const {
    if (!spot.part) return trie_.bytes_below({spot.node});
    const TerminalPart::Node& node = spot.part->nodes[spot.node];
    return std::span(spot.part->bytes).subspan(node.children_begin, node.children_end - node.children_begin);
  }

  void set(std::uint32_t token, bool is_suspect) {
    std::uint32_t& word = bits_[token / 32];
    if (is_listed_ && word == 0) list(token / 32);
    word |= 1u << (token % 32);
    if (is_suspect) mask_.suspects.push_back(token);
  }

  void list(std::uint32_t place) {
    places_.push_back(place);
    if (places_.size() > MaskBits::few(bits_.size())) unlist();
  }
  void unlist() {
    places_.clear();
    is_listed_ = false;
  }

  // The tokens that end at a node, behind which the text needs so many bytes more.
  void add_own(Spot spot, bool is_suspect, std::uint64_t spelled) {
    mask_.note(spelled);
    for (const std::uint32_t token : tokens_at(spot)) set(token, is_suspect);
  }

  void follow(const Way& way) {
    const ExpressionNode head = arena_.node(way.head);
    if (head.kind == Kind::Bytes && follow_byte(way, head)) return;
    if (head.kind == Kind::Repetition && follow_repetition(way, head)) return;
    if (head.kind == Kind::Terminal && way.spot.part) return follow_terminal(way);
    if (head.kind == Kind::Terminal) return add_terminal(way);
    if (head.kind == Kind::Rule && follow_names(way, head)) return;
    if (head.kind == Kind::Strings) return follow_strings(way, head);
    walked_[way.spot].push_back(joined(way.head, way.rest));
  }

  void add_terminal(const Way& way) {
    const NodeId node{way.spot.node};
    const Rest rest = rests_[way.rest.value];
    const bool inside_is_suspect = arena_.node(way.head).suspect || rest.suspect;
    const TerminalPart& part = tokens_.terminal_part(way.head, node, budget_);
    if (node != TokenTrie::root()) {
      for (const std::uint32_t token : part.few) set(token, inside_is_suspect);
    } else {
      unlist();
      unite_bits(bits_, part.inside);
    }
    if (node == TokenTrie::root() && inside_is_suspect)
      for_each_bit(part.inside, [this](std::uint32_t token) { mask_.suspects.push_back(token); });
    // Whatever was read of the terminal, its rest is no longer than its worst one.
    mask_.note(arena_.node(way.head).worst + rest.spelled);
    if (way.rest == kNothing) return;
    const Spot end{&part, 0};
    add_own(end, rest.begins_suspect, rest.spelled);
    open(end, way.rest);
  }

  // Within remainders: a few bytes, by states of the terminal alone, which are the same whatever follows it.
  void follow_terminal(const Way& way) {
    ByteAutomaton& automaton = tokens_.automaton_;
    const Rest rest = rests_[way.rest.value];
    const bool inside_is_suspect = arena_.node(way.head).suspect || rest.suspect;
    const std::uint64_t inside = arena_.node(way.head).worst + rest.spelled;
    std::vector<std::pair<Spot, StateId>> frames{{way.spot, automaton.state_of(way.head, budget_)}};
    while (!frames.empty()) {
      const auto [spot, state] = frames.back();
      frames.pop_back();
      const std::uint32_t begin = children_begin(spot);
      const std::span<const std::uint8_t> bytes = bytes_below(spot);
      for (std::uint32_t i = 0; i < bytes.size(); ++i) {
        const StateId reached = automaton.next(state, bytes[i], budget_);
        if (reached == ByteAutomaton::kDead) continue;
        budget_.step();
        const Spot child{spot.part, begin + i};
        add_own(child, inside_is_suspect, inside);
        if (automaton.accepting(reached)) {
          add_own(child, rest.begins_suspect, rest.spelled);
          open(child, way.rest);
        }
        if (!is_last(child)) frames.emplace_back(child, reached);
      }
    }
  }

  bool follow_byte(const Way& way, const ExpressionNode& head) {
    const std::optional<std::uint8_t> byte = arena_.only_byte(head);
    if (!byte) return false;
    const std::optional<Spot> child = below(way.spot, *byte);
    if (!child) return true;
    const Rest& rest = rests_[way.rest.value];
    add_own(*child, rest.begins_suspect, rest.spelled);
    open(*child, way.rest);
    return true;
  }

  // So many of one byte, or one at most; that it may be skipped is a way of its own.
  bool follow_repetition(const Way& way, const ExpressionNode& head) {
    const std::optional<std::uint8_t> byte = arena_.only_byte(arena_.node(head.body()));
    if (!byte || (head.minimum != head.maximum && !(head.minimum == 0 && head.maximum == 1))) return false;
    const Rest& rest = rests_[way.rest.value];
    Spot spot = way.spot;
    for (Count i = 0; i < head.maximum; ++i) {
      const std::optional<Spot> child = below(spot, *byte);
      if (!child) return true;
      spot = *child;
      add_own(spot, rest.begins_suspect, head.maximum - 1 - i + rest.spelled);
    }
    open(spot, way.rest);
    return true;
  }

  void follow_strings(const Way& way, const ExpressionNode& strings) {
    const StringAutomaton& automaton = arena_.string_automaton(strings);
    const bool is_suspect = rests_[way.rest.value].begins_suspect;
    const std::uint64_t spelled = strings.worst + rests_[way.rest.value].spelled;
    std::vector<std::pair<Spot, std::uint32_t>> frames{{way.spot, strings.second}};
    while (!frames.empty()) {
      const auto [spot, state] = frames.back();
      frames.pop_back();
      budget_.step();
      for (const auto& [byte, target] : automaton.transitions(state)) {
        const std::optional<Spot> child = below(spot, byte);
        if (!child) continue;
        add_own(*child, is_suspect, spelled);
        if (is_last(*child)) continue;
        if (automaton.accepting(target)) open(*child, way.rest);
        frames.emplace_back(*child, target);
      }
    }
  }

  bool follow_names(const Way& way, const ExpressionNode& rule) {
    const auto given = arena_.rules(rule).strings(rule.rule(), arena_, budget_);
    if (given.empty()) return false;
    const std::vector<std::string_view> strings(given.begin(), given.end());
    struct Frame {
      Spot spot;
      std::size_t low, high, depth;
    };
    std::vector<std::pair<Spot, std::size_t>> ends;
    std::vector<Frame> frames{{way.spot, 0, strings.size(), 0}};
    const Rest rest = rests_[way.rest.value];
    const bool name_is_suspect = rule.suspect || rest.suspect;
    // The longest string, and what the rule needs besides.
    std::uint64_t spelled = rule.spelled + rest.spelled;
    std::size_t longest = 0;
    for (const std::string_view string : strings) longest = std::max(longest, string.size());
    spelled += longest;
    for (std::size_t i = 0; i < strings.size(); ++i)
      spelled = std::max(spelled, arena_.rules(rule).spelled_behind(rule.rule(), i) + longest + rest.spelled);
    while (!frames.empty()) {
      const Frame frame = frames.back();
      frames.pop_back();
      budget_.step();
      for (std::size_t low = frame.low, high; low < frame.high; low = high) {
        const char byte = strings[low][frame.depth];
        for (high = low + 1; high < frame.high && strings[high][frame.depth] == byte;) ++high;
        const std::optional<Spot> child = below(frame.spot, static_cast<std::uint8_t>(byte));
        if (!child) continue;
        add_own(*child, name_is_suspect, spelled);
        if (is_last(*child)) continue;
        if (strings[low].size() == frame.depth + 1)
          ends.emplace_back(*child, low);
        else
          frames.push_back({*child, low, high, frame.depth + 1});
      }
    }
    for (const auto& [spot, string] : ends)
      open(spot, arena_.rules(rule).behind(rule.rule(), string, arena_, budget_), way.rest);
    return true;
  }

  void walk(Spot spot, StateId state) {
    if (spot.part)
      walk_remainders(spot, state);
    else
      walk_tokens({spot.node}, state);
  }

  // Loops take tokens without looking at them; where tokens are suspect, they are looked at.
  void walk_tokens(NodeId node, StateId state) {
    const std::span<const std::uint32_t> order = trie_.order();
    ByteAutomaton& automaton = tokens_.automaton_;
    const auto describe = [&](StateId at) {
      if (automaton.node(at).suspect) return WalkState{{}, true};
      const std::span<const Loop> loops = tokens_.loops(at, budget_);
      if (!loops.empty()) note_loops(at);
      return WalkState{loops, true};
    };
    const auto visit = [&](NodeId at, StateId reached) {
      mask_.note(std::uint64_t{automaton.node(reached).spelled} + kLongestRest);
      if (!automaton.node(reached).suspect) return;
      for (std::uint32_t own = trie_.node(at).tokens_begin; own < trie_.own_end(at); ++own) mask_.suspects.push_back(order[own]);
    };
    MaskWalk mask_walk(trie_, automaton, budget_, describe, visit);
    if (node == TokenTrie::root())
      mask_walk.run(state);
    else
      mask_walk.enter_below(node, state);
    for (const TokenRange& range : mask_walk.ranges())
      for (std::uint32_t i = range.begin; i < range.end; ++i) set(order[i], false);
  }

  // What the text needs after a token that loops take: they stay in the heads of the alternatives, and the walk does not
  // visit the states that they lead to.
  void note_loops(StateId at) {
    const ExpressionId expression = tokens_.automaton_.expression(at);
    for (const ExpressionId alternative : arena_.alternatives(expression)) {
      const ExpressionNode& node = arena_.node(alternative);
      const bool is_long = node.kind == Kind::Concatenation;
      const std::uint64_t inside = arena_.node(is_long ? node.head() : alternative).worst;
      mask_.note(inside + (is_long ? arena_.node(node.tail()).spelled : 0));
    }
  }

  void walk_remainders(Spot from, StateId start) {
    ByteAutomaton& automaton = tokens_.automaton_;
    const std::vector<TerminalPart::Node>& nodes = from.part->nodes;
    std::vector<std::pair<std::uint32_t, StateId>> frames{{from.node, start}};
    while (!frames.empty()) {
      const auto [node, state] = frames.back();
      frames.pop_back();
      for (std::uint32_t child = nodes[node].children_begin; child < nodes[node].children_end; ++child) {
        const StateId reached = automaton.next(state, from.part->bytes[child], budget_);
        if (reached == ByteAutomaton::kDead) continue;
        budget_.step();
        add_own({from.part, child}, automaton.node(reached).suspect, automaton.node(reached).spelled);
        frames.emplace_back(child, reached);
      }
    }
  }

  TokenAutomaton& tokens_;
  Arena& arena_;
  const TokenTrie& trie_;
  Budget& budget_;
  bool is_joined_;  // whether readings that meet at a spot are unfolded together
  RuleMask mask_;
  Words bits_;                         // of the mask
  std::vector<std::uint32_t> places_;  // of its words that are not zero, as long as they are few
  bool is_listed_ = true;
  struct Opened {
    Spot spot;
    ExpressionId expression;
    RestId rest;
    bool operator==(const Opened&) const = default;
  };
  struct OpenedHash {
    std::size_t operator()(const Opened& o) const {
      return mix(mix(mix(reinterpret_cast<std::uintptr_t>(o.spot.part), o.spot.node), o.expression.value), o.rest.value);
    }
  };
  std::unordered_set<Opened, OpenedHash> opened_;  // many ways lead to the same rest of an outer value
  std::vector<Rest> rests_{{Arena::kEpsilon, kNothing, 0, false, false}};
  std::vector<Way> ways_;
  std::vector<std::pair<ExpressionId, RestId>> parts_;  // of an expression that is taken apart, and what is behind each
  std::map<Spot, std::vector<ExpressionId>> walked_, waiting_;
};

// Mostly a token has one reading or two, and ways are cheapest one by one.  A token of sixteen brackets may have 2^16
// readings: then they are joined.
TokenAutomaton::RuleMask TokenAutomaton::make_rule_mask(ExpressionId expression, NodeId node, Budget& budget) {
  if (auto mask = RuleMaskMaker(*this, false, budget).make(expression, node)) return std::move(*mask);
  return *RuleMaskMaker(*this, true, budget).make(expression, node);
}

}  // namespace tokamata
