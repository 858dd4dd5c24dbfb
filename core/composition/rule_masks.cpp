// Masks of states that hold rules: terminals by their parts, all else by a walk, and what the sketch cannot judge
// by asking.  Part of TokenAutomaton.
//
// Problem.  Every place of a JSON text is a state of its own, and most are met once; a walk of the vocabulary for
// each would cost a hundred times what is new about it.
// How.  A state is taken apart into its alternatives, with the rules in front unfolded.  Those that begin with a
// terminal are its part (vocabulary/terminal_part.hpp) and a walk of the remainders; all others are walked together, and
// most of their bytes lead nowhere at once.
// A mask is made of the *sketch* of a state (expression/rules.hpp), which many states share; tokens that end where the
// sketch is suspect, or that spell what the state itself refuses, are then asked for one by one.

#include <algorithm>
#include <functional>
#include <map>

#include "composition/token_automaton.hpp"

namespace tokamata {

const TerminalPart& TokenAutomaton::terminal_part(ExpressionId terminal, NodeId node, Budget& budget) {
  const std::uint64_t place = (std::uint64_t{terminal.value} << 32) | node.value;
  if (const auto known = terminal_parts_.find(place); known != terminal_parts_.end()) return *known->second;
  const bool is_inner = node != TokenTrie::root();
  std::string key = automaton_.arena().structure(automaton_.arena().node(terminal).body());
  if (!key.empty()) key.append(reinterpret_cast<const char*>(&node.value), sizeof node.value);
  std::shared_ptr<const TerminalPart> part = key.empty() ? nullptr : vocabulary_->known_part(key, is_inner);
  if (!part) {
    const Budget::Clock::time_point started = Budget::Clock::now();
    part = std::make_shared<const TerminalPart>(make_terminal_part(terminal, node, budget));
    if (!key.empty()) part = vocabulary_->keep_part(key, std::move(part), Budget::Clock::now() - started);
  }
  parts_bytes_ += part->memory_bytes();  // others may hold it too; then it is counted for each
  return *terminal_parts_.emplace(place, std::move(part)).first->second;
}

TerminalPart TokenAutomaton::make_terminal_part(ExpressionId terminal, NodeId node, Budget& budget) {
  TerminalPart part;
  std::vector<NodeId> ends;
  const auto describe = [&](StateId state) { return WalkState{loops(state, budget), true}; };
  const auto visit = [&](NodeId at, StateId state) {
    if (automaton_.accepting(state)) ends.push_back(at);
  };
  MaskWalk walk(vocabulary_->trie(), automaton_, budget, describe, visit);
  const StateId state = automaton_.state_of(terminal, budget);
  if (node == TokenTrie::root()) {
    walk.run(state);
    part.inside = make_mask(*vocabulary_, walk.ranges(), {}, false)->words;
  } else {
    walk.enter_below(node, state);
    const std::span<const std::uint32_t> order = vocabulary_->trie().order();
    for (const TokenRange& range : walk.ranges()) part.few.insert(part.few.end(), order.begin() + range.begin, order.begin() + range.end);
  }
  add_remainders(vocabulary_->trie(), ends, part);
  return part;
}

// One mask under way: alternatives at nodes of the trie, whose bytes were read before them.
//
// Punctuation, blanks, names and strings are followed down the trie directly: most of the bytes that they ask for are
// on no token's way, and a state for each would be made for nothing.  Terminals have their parts, and what follows them is
// followed in the same way down the tries of remainders.  What begins with anything else is walked.
class TokenAutomaton::RuleMaskMaker {
  static constexpr std::uint64_t kLongestRest = 3;  // of a code point that a loop has begun

 public:
  RuleMaskMaker(TokenAutomaton& tokens, Budget& budget)
      : tokens_(tokens), arena_(tokens.automaton_.arena()), trie_(tokens.vocabulary_->trie()), budget_(budget) {}

  RuleMask make(ExpressionId expression) {
    open({nullptr, TokenTrie::root().value}, expression);
    while (!open_.empty() || !waiting_.empty()) {
      if (open_.empty()) unfold_joined();
      if (open_.empty()) continue;
      const auto [spot, alternative] = open_.back();
      open_.pop_back();
      budget_.step();
      follow(spot, alternative);
    }
    if (mask_.words.empty()) mask_.words.assign(tokens_.vocabulary_->words(), 0);
    for (auto& [spot, alternatives] : walked_) walk(spot, tokens_.automaton_.state_of_any(std::move(alternatives), budget_));
    return std::move(mask_);
  }

 private:
  // A node of the vocabulary's trie, or of the remainders of a part.
  struct Spot {
    const TerminalPart* part;
    std::uint32_t node;
    auto operator<=>(const Spot&) const = default;
  };
  bool is_start(Spot spot) const { return !spot.part && NodeId{spot.node} == TokenTrie::root(); }

  std::optional<Spot> below(Spot spot, std::uint8_t byte) const {
    if (!spot.part) {
      const NodeId child = trie_.child({spot.node}, byte);
      return child == TokenTrie::root() ? std::nullopt : std::optional<Spot>({nullptr, child.value});
    }
    const std::span<const std::uint8_t> bytes = bytes_below(spot);
    const auto place = std::ranges::lower_bound(bytes, byte);
    if (place == bytes.end() || *place != byte) return std::nullopt;
    return Spot{spot.part, spot.part->nodes[spot.node].children_begin + static_cast<std::uint32_t>(place - bytes.begin())};
  }

  bool is_last(Spot spot) const {
    if (!spot.part) return trie_.children_begin({spot.node}) == trie_.children_end({spot.node});
    return spot.part->nodes[spot.node].children_begin == spot.part->nodes[spot.node].children_end;
  }

  std::span<const std::uint32_t> tokens_at(Spot spot) const {
    if (!spot.part) {
      const std::uint32_t begin = trie_.node({spot.node}).tokens_begin;
      return trie_.order().subspan(begin, trie_.own_end({spot.node}) - begin);
    }
    const TerminalPart::Node& node = spot.part->nodes[spot.node];
    return std::span(spot.part->tokens).subspan(node.tokens_begin, node.tokens_end - node.tokens_begin);
  }

  void open(Spot spot, ExpressionId expression) {
    if (is_last(spot) || !may_go_on(spot, expression)) return;
    if (arena_.joins_rules() && arena_.node(expression).rules && waits_for_others(spot, arena_.settled(expression))) return;
    for (const ExpressionId alternative : arena_.unfolded(arena_.settled(expression), budget_))
      if (may_go_on(spot, alternative)) open_.emplace_back(spot, alternative);
  }

  // Readings of what was read down to a spot may come there on many ways; where their rules are joined (Rules::joins),
  // they are unfolded together, once nothing above the spot is left.
  bool waits_for_others(Spot spot, ExpressionId given) {
    std::vector<ExpressionId> one{given};
    const ExpressionId expression = arena_.unite(one);  // in the form of alternatives: none begins with a concatenation
    const auto all = arena_.alternatives(expression);
    const bool waits = std::ranges::any_of(all, [this](ExpressionId alternative) { return arena_.awaits_rule(alternative); });
    if (waits) waiting_[spot].push_back(expression);
    return waits;
  }

  void unfold_joined() {
    auto [spot, expressions] = std::move(*waiting_.begin());  // children have larger numbers than what they are below
    waiting_.erase(waiting_.begin());
    budget_.step();
    for (const ExpressionId alternative : arena_.unfolded(arena_.unite(expressions), budget_))
      if (may_go_on(spot, alternative)) open_.emplace_back(spot, alternative);
  }

  // Whether some byte below a node may be the next, as far as that shows without unfolding anything.
  bool may_go_on(Spot spot, ExpressionId expression) const {
    ExpressionNode n = arena_.node(expression);
    while (n.kind == Kind::Concatenation && arena_.node(n.head()).kind == Kind::Commit) n = arena_.node(n.tail());
    const ExpressionNode& head = n.kind == Kind::Concatenation ? arena_.node(n.head()) : n;
    const auto is_below = [&](const ByteSet& first) {
      return std::ranges::any_of(bytes_below(spot), [&](std::uint8_t byte) { return first.contains(byte); });
    };
    switch (head.kind) {
      case Kind::Bytes: return is_below(arena_.byte_set(head));
      case Kind::Rule: return is_below(arena_.rules(head).may_begin(head.rule()));
      case Kind::Terminal: return head.nullable || arena_.node(head.body()).constrained || is_below(arena_.first_bytes(head.body()));
      default: return true;
    }
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
    if (mask_.words.empty()) mask_.words.assign(tokens_.vocabulary_->words(), 0);
    mask_.words[token / 32] |= 1u << (token % 32);
    if (is_suspect) mask_.suspects.push_back(token);
  }

  // The tokens that end at a node, behind which the text needs so many bytes more.
  void add_own(Spot spot, bool is_suspect, std::uint64_t spelled) {
    mask_.note(spelled);
    for (const std::uint32_t token : tokens_at(spot)) set(token, is_suspect);
  }

  void follow(Spot spot, ExpressionId alternative) {
    const ExpressionNode n = arena_.node(alternative);
    if (alternative == Arena::kEpsilon || n.kind == Kind::Suspect) return;
    const bool is_pair = n.kind == Kind::Concatenation;
    const ExpressionNode head = is_pair ? arena_.node(n.head()) : n;
    const ExpressionId tail = is_pair ? n.tail() : Arena::kEpsilon;
    if (head.kind == Kind::Terminal && !spot.part) return add_terminal({spot.node}, is_pair ? n.head() : alternative, tail, n.suspect);
    if (head.kind == Kind::Rule && follow_names(spot, head, tail)) return;
    if (head.kind == Kind::Strings) return follow_strings(spot, head, tail);
    if (head.kind == Kind::Bytes && follow_byte(spot, head, tail)) return;
    if (head.kind == Kind::Repetition && follow_repetition(spot, head, tail)) return;
    walked_[spot].push_back(alternative);
  }

  void add_terminal(NodeId node, ExpressionId terminal, ExpressionId tail, bool inside_is_suspect) {
    const TerminalPart& part = tokens_.terminal_part(terminal, node, budget_);
    if (node != TokenTrie::root()) {
      for (const std::uint32_t token : part.few) set(token, inside_is_suspect);
    } else if (mask_.words.empty()) {
      mask_.words = part.inside;
    } else {
      std::ranges::transform(mask_.words, part.inside, mask_.words.begin(), std::bit_or());
    }
    if (node == TokenTrie::root() && inside_is_suspect)
      for (const std::uint32_t token : trie_.order())
        if ((part.inside[token / 32] >> (token % 32)) & 1) mask_.suspects.push_back(token);
    // Whatever was read of the terminal, its rest is no longer than its worst one.
    mask_.note(std::uint64_t{arena_.node(terminal).worst} + arena_.node(tail).spelled);
    if (tail == Arena::kEpsilon) return;
    const Spot end{&part, 0};
    add_own(end, is_suspect(tail), arena_.node(tail).spelled);
    open(end, tail);
  }

  std::optional<std::uint8_t> only_byte(const ExpressionNode& n) const {
    if (n.kind != Kind::Bytes || arena_.byte_set(n).size() != 1) return std::nullopt;
    return static_cast<std::uint8_t>(arena_.byte_set(n).next_member(0));
  }

  bool follow_byte(Spot spot, const ExpressionNode& head, ExpressionId tail) {
    const std::optional<std::uint8_t> byte = only_byte(head);
    if (!byte) return false;
    const std::optional<Spot> child = below(spot, *byte);
    if (!child) return true;
    add_own(*child, is_suspect(tail), arena_.node(tail).spelled);
    open(*child, tail);
    return true;
  }

  // So many of one byte, or one at most; what may be skipped was unfolded.
  bool follow_repetition(Spot spot, const ExpressionNode& head, ExpressionId tail) {
    const std::optional<std::uint8_t> byte = only_byte(arena_.node(head.body()));
    if (!byte || (head.minimum != head.maximum && !(head.minimum == 0 && head.maximum == 1))) return false;
    const bool tail_is_suspect = is_suspect(tail);
    const std::uint32_t spelled = arena_.node(tail).spelled;
    for (Count i = 0; i < head.maximum; ++i) {
      const std::optional<Spot> child = below(spot, *byte);
      if (!child) return true;
      spot = *child;
      add_own(spot, tail_is_suspect, head.maximum - 1 - i + spelled);
    }
    open(spot, tail);
    return true;
  }

  void follow_strings(Spot from, const ExpressionNode& strings, ExpressionId tail) {
    const StringAutomaton& automaton = arena_.string_automaton(strings);
    const bool tail_is_suspect = is_suspect(tail);
    const std::uint64_t spelled = std::uint64_t{strings.worst} + arena_.node(tail).spelled;
    std::vector<std::pair<Spot, std::uint32_t>> frames{{from, strings.second}};
    while (!frames.empty()) {
      const auto [spot, state] = frames.back();
      frames.pop_back();
      budget_.step();
      for (const auto& [byte, target] : automaton.transitions(state)) {
        const std::optional<Spot> child = below(spot, byte);
        if (!child) continue;
        add_own(*child, tail_is_suspect, spelled);
        if (is_last(*child)) continue;
        if (automaton.accepting(target)) open(*child, tail);
        frames.emplace_back(*child, target);
      }
    }
  }

  bool follow_names(Spot from, const ExpressionNode& rule, ExpressionId tail) {
    const auto given = arena_.rules(rule).strings(rule.rule(), arena_, budget_);
    if (given.empty()) return false;
    const std::vector<std::string_view> strings(given.begin(), given.end());
    struct Frame {
      Spot spot;
      std::size_t low, high, depth;
    };
    std::vector<std::pair<Spot, std::size_t>> ends;
    std::vector<Frame> frames{{from, 0, strings.size(), 0}};
    const bool name_is_suspect = rule.suspect || arena_.node(tail).suspect;
    // The longest string, and what the rule needs besides.
    std::uint64_t spelled = std::uint64_t{rule.spelled} + arena_.node(tail).spelled;
    std::size_t longest = 0;
    for (const std::string_view string : strings) longest = std::max(longest, string.size());
    spelled += longest;
    for (std::size_t i = 0; i < strings.size(); ++i)
      spelled = std::max(spelled, std::uint64_t{arena_.rules(rule).spelled_behind(rule.rule(), i)} + longest + arena_.node(tail).spelled);
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
      open(spot, arena_.concatenate(arena_.rules(rule).behind(rule.rule(), string, arena_, budget_), tail));
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
      return WalkState{automaton.node(at).suspect ? std::span<const Loop>() : std::span<const Loop>(tokens_.loops(at, budget_)), true};
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
      for (std::uint32_t i = range.begin; i < range.end; ++i) mask_.words[order[i] / 32] |= 1u << (order[i] % 32);
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
  RuleMask mask_;
  std::vector<std::pair<Spot, ExpressionId>> open_;
  std::map<Spot, std::vector<ExpressionId>> waiting_;
  std::map<Spot, std::vector<ExpressionId>> walked_;
};

TokenAutomaton::RuleMask TokenAutomaton::make_rule_mask(StateId state, Budget& budget) {
  return RuleMaskMaker(*this, budget).make(automaton_.expression(state));
}

TokenAutomaton::Place TokenAutomaton::sketched(Place place, Budget& budget) {
  const ExpressionId sketch = automaton_.arena().sketched(automaton_.expression(place.state), true, budget);
  return {automaton_.state_of(automaton_.arena().settled(sketch), budget), place.at_start};
}

void TokenAutomaton::remember_rule_mask(StateId state, Budget& budget) {
  const StateId holder = automaton_.clipped(sketched({state, false}, budget).state, budget);
  if (!data(holder).mask) {
    RuleMask made = make_rule_mask(holder, budget);
    auto mask = std::make_shared<Mask>();
    mask->serial = next_serial_++;
    mask->words = std::move(made.words);
    mask->set_bits = mask->open_tokens = count_bits(mask->words);
    if (automaton_.accepting(holder)) add_stops(*vocabulary_, *mask);
    data(holder).most_after = made.most;
    parts_bytes_ += made.suspects.capacity() * sizeof(std::uint32_t);
    if (!made.suspects.empty()) suspects_.insert_or_assign(holder.value, std::move(made.suspects));
    remember(holder, std::move(mask));
  }
  std::vector<std::uint32_t> refused;
  const auto ask = [&](std::uint32_t token) {
    if ((data(holder).mask->words[token / 32] >> (token % 32)) & 1)
      if (!step({state, false}, {token}, budget)) refused.push_back(token);
  };
  if (state != holder) {
    if (const auto known = suspects_.find(holder.value); known != suspects_.end())
      for (const std::uint32_t token : std::vector<std::uint32_t>(known->second)) ask(token);
    ask_refused(state, ask, budget);
  }
  data(state).mask_state = holder;
  data(state).most_after = data(holder).most_after;
  if (refused.empty()) return;
  std::ranges::sort(refused);
  refused.erase(std::unique(refused.begin(), refused.end()), refused.end());
  auto mask = std::make_shared<Mask>(*data(holder).mask);
  mask->serial = next_serial_++;
  for (const std::uint32_t token : refused) mask->words[token / 32] &= ~(1u << (token % 32));
  mask->open_tokens -= refused.size();
  mask->set_bits -= refused.size();
  data(state).mask_state = state;
  remember(state, std::move(mask));
}

// Asks for every token that begins with what some rule in front of the state refuses.
template <class Ask>
void TokenAutomaton::ask_refused(StateId state, Ask&& ask, Budget& budget) {
  const TokenTrie& trie = vocabulary_->trie();
  for (const std::string& text : automaton_.arena().refused(automaton_.expression(state), budget)) {
    NodeId node = TokenTrie::root();
    for (const char byte : text)
      if (node = trie.child(node, static_cast<std::uint8_t>(byte)); node == TokenTrie::root()) break;
    if (node == TokenTrie::root()) continue;
    for (std::uint32_t i = trie.node(node).tokens_begin; i < trie.node(node).tokens_end; ++i) ask(trie.order()[i]);
  }
}

}  // namespace tokamata
