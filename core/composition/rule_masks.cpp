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

const TerminalPart& TokenAutomaton::terminal_part(ExpressionId terminal, Budget& budget) {
  if (const auto known = terminal_parts_.find(terminal.value); known != terminal_parts_.end()) return *known->second;
  const std::string structure = automaton_.arena().structure(automaton_.arena().node(terminal).body());
  std::shared_ptr<const TerminalPart> part = structure.empty() ? nullptr : vocabulary_->known_part(structure);
  if (!part) {
    const Budget::Clock::time_point started = Budget::Clock::now();
    part = std::make_shared<const TerminalPart>(make_terminal_part(terminal, budget));
    if (!structure.empty()) part = vocabulary_->keep_part(structure, std::move(part), Budget::Clock::now() - started);
  }
  parts_bytes_ += part->memory_bytes();  // others may hold it too; then it is counted for each
  return *terminal_parts_.emplace(terminal.value, std::move(part)).first->second;
}

TerminalPart TokenAutomaton::make_terminal_part(ExpressionId terminal, Budget& budget) {
  TerminalPart part;
  std::vector<NodeId> ends;
  const auto describe = [&](StateId state) { return WalkState{loops(state, budget), true}; };
  const auto visit = [&](NodeId node, StateId state) {
    if (automaton_.accepting(state)) ends.push_back(node);
  };
  MaskWalk walk(vocabulary_->trie(), automaton_, budget, describe, visit);
  walk.run(automaton_.state_of(terminal, budget));
  part.inside = make_mask(*vocabulary_, walk.ranges(), {}, false)->words;
  add_remainders(vocabulary_->trie(), ends, part);
  return part;
}

// Sets the bits of the tokens whose remainders live in the tail.
void TokenAutomaton::add_leaving(const TerminalPart& part, ExpressionId tail, RuleMask& mask, Budget& budget) {
  mask.note(automaton_.arena().node(tail).spelled);
  struct Frame {
    std::uint32_t child, end;
    StateId state;
  };
  const auto take = [&](const TerminalPart::Node& node, StateId state) {
    if (node.tokens_begin == node.tokens_end) return;
    mask.note(automaton_.node(state).spelled);
    const bool is_suspect = automaton_.node(state).suspect;
    for (std::uint32_t i = node.tokens_begin; i < node.tokens_end; ++i) {
      const std::uint32_t token = part.tokens[i];
      mask.words[token / 32] |= 1u << (token % 32);
      if (is_suspect) mask.suspects.push_back(token);
    }
  };
  const StateId start = automaton_.state_of(automaton_.arena().settled(tail), budget);
  if (automaton_.node(start).suspect) take(part.nodes[0], start);
  std::vector<Frame> frames(1, {part.nodes[0].children_begin, part.nodes[0].children_end, start});
  while (!frames.empty()) {
    Frame& frame = frames.back();
    if (frame.child == frame.end) {
      frames.pop_back();
      continue;
    }
    const TerminalPart::Node& node = part.nodes[frame.child++];
    const StateId state = automaton_.next(frame.state, node.byte, budget);
    if (state == ByteAutomaton::kDead) continue;
    budget.step();
    take(node, state);
    if (node.children_begin != node.children_end) frames.push_back({node.children_begin, node.children_end, state});
  }
}

// One mask under way: alternatives at nodes of the trie, whose bytes were read before them.
//
// Punctuation, blanks and names are followed down the trie directly: most of the bytes that they ask for are on no
// token's way, and a state for each would be made for nothing.  What begins with anything else is walked.
class TokenAutomaton::RuleMaskMaker {
  static constexpr std::uint64_t kLongestRest = 3;  // of a code point that a loop has begun

 public:
  RuleMaskMaker(TokenAutomaton& tokens, Budget& budget)
      : tokens_(tokens), arena_(tokens.automaton_.arena()), trie_(tokens.vocabulary_->trie()), budget_(budget) {}

  RuleMask make(ExpressionId expression) {
    open(TokenTrie::root(), expression);
    while (!open_.empty()) {
      const auto [node, alternative] = open_.back();
      open_.pop_back();
      budget_.step();
      follow(node, alternative);
    }
    if (mask_.words.empty()) mask_.words.assign(tokens_.vocabulary_->words(), 0);
    if (!walked_.empty()) walk();
    return std::move(mask_);
  }

 private:
  void open(NodeId node, ExpressionId expression) {
    for (const ExpressionId alternative : arena_.unfolded(expression, budget_)) open_.emplace_back(node, alternative);
  }

  void set(std::uint32_t token) {
    if (mask_.words.empty()) mask_.words.assign(tokens_.vocabulary_->words(), 0);
    mask_.words[token / 32] |= 1u << (token % 32);
  }

  // The tokens that end at a node, behind which the text needs so many bytes more.
  void add_own(NodeId node, bool is_suspect, std::uint64_t spelled) {
    mask_.note(spelled);
    const std::span<const std::uint32_t> order = trie_.order();
    for (std::uint32_t own = trie_.node(node).tokens_begin; own < trie_.own_end(node); ++own) {
      set(order[own]);
      if (is_suspect) mask_.suspects.push_back(order[own]);
    }
  }

  void follow(NodeId node, ExpressionId alternative) {
    const ExpressionNode n = arena_.node(alternative);
    if (alternative == Arena::kEpsilon || n.kind == Kind::Suspect) return;
    const bool is_pair = n.kind == Kind::Concatenation;
    const ExpressionNode head = is_pair ? arena_.node(n.head()) : n;
    const ExpressionId tail = is_pair ? n.tail() : Arena::kEpsilon;
    if (head.kind == Kind::Terminal && node == TokenTrie::root()) return add_terminal(is_pair ? n.head() : alternative, tail);
    if (head.kind == Kind::Rule && follow_strings(node, head, tail)) return;
    if (head.kind == Kind::Bytes && follow_byte(node, head, tail)) return;
    if (head.kind == Kind::Repetition && follow_repetition(node, head, tail)) return;
    walked_[node.value].push_back(alternative);
  }

  void add_terminal(ExpressionId terminal, ExpressionId tail) {
    const TerminalPart& part = tokens_.terminal_part(terminal, budget_);
    if (mask_.words.empty())
      mask_.words = part.inside;
    else
      std::ranges::transform(mask_.words, part.inside, mask_.words.begin(), std::bit_or());
    // Whatever was read of the terminal, its rest is no longer than its worst one.
    mask_.note(std::uint64_t{arena_.node(terminal).worst} + arena_.node(tail).spelled);
    if (tail != Arena::kEpsilon) tokens_.add_leaving(part, tail, mask_, budget_);
  }

  std::optional<std::uint8_t> only_byte(const ExpressionNode& n) const {
    if (n.kind != Kind::Bytes || arena_.byte_set(n).size() != 1) return std::nullopt;
    return static_cast<std::uint8_t>(arena_.byte_set(n).next_member(0));
  }

  bool follow_byte(NodeId node, const ExpressionNode& head, ExpressionId tail) {
    const std::optional<std::uint8_t> byte = only_byte(head);
    if (!byte) return false;
    const NodeId child = trie_.child(node, *byte);
    if (child == TokenTrie::root()) return true;
    const ExpressionId settled = arena_.settled(tail);
    add_own(child, arena_.node(settled).suspect, arena_.node(settled).spelled);
    if (trie_.children_begin(child) != trie_.children_end(child)) open(child, settled);
    return true;
  }

  // So many of one byte, or one at most; what may be skipped was unfolded.
  bool follow_repetition(NodeId node, const ExpressionNode& head, ExpressionId tail) {
    const std::optional<std::uint8_t> byte = only_byte(arena_.node(head.body()));
    if (!byte || (head.minimum != head.maximum && !(head.minimum == 0 && head.maximum == 1))) return false;
    const ExpressionId settled = arena_.settled(tail);
    NodeId at = node;
    for (Count i = 0; i < head.maximum; ++i) {
      at = trie_.child(at, *byte);
      if (at == TokenTrie::root()) return true;
      add_own(at, arena_.node(settled).suspect, head.maximum - 1 - i + arena_.node(settled).spelled);
    }
    open(at, settled);
    return true;
  }

  bool follow_strings(NodeId from, const ExpressionNode& rule, ExpressionId tail) {
    const auto given = arena_.rules(rule).strings(rule.rule(), arena_, budget_);
    if (given.empty()) return false;
    const std::vector<std::string_view> strings(given.begin(), given.end());
    struct Frame {
      NodeId node;
      std::size_t low, high, depth;
    };
    std::vector<std::pair<NodeId, std::size_t>> ends;
    std::vector<Frame> frames{{from, 0, strings.size(), 0}};
    const bool is_suspect = rule.suspect || arena_.node(tail).suspect;
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
        const NodeId child = trie_.child(frame.node, static_cast<std::uint8_t>(byte));
        if (child == TokenTrie::root()) continue;
        add_own(child, is_suspect, spelled);
        if (trie_.children_begin(child) == trie_.children_end(child)) continue;
        if (strings[low].size() == frame.depth + 1)
          ends.emplace_back(child, low);
        else
          frames.push_back({child, low, high, frame.depth + 1});
      }
    }
    for (const auto& [node, string] : ends)
      open(node, arena_.settled(arena_.concatenate(arena_.rules(rule).behind(rule.rule(), string, arena_, budget_), tail)));
    return true;
  }

  // Loops take tokens without looking at them; where tokens are suspect, they are looked at.
  void walk() {
    const std::span<const std::uint32_t> order = trie_.order();
    ByteAutomaton& automaton = tokens_.automaton_;
    const auto describe = [&](StateId at) {
      return WalkState{automaton.node(at).suspect ? std::span<const Loop>() : std::span<const Loop>(tokens_.loops(at, budget_)), true};
    };
    const auto visit = [&](NodeId node, StateId at) {
      mask_.note(std::uint64_t{automaton.node(at).spelled} + kLongestRest);
      if (!automaton.node(at).suspect) return;
      for (std::uint32_t own = trie_.node(node).tokens_begin; own < trie_.own_end(node); ++own) mask_.suspects.push_back(order[own]);
    };
    MaskWalk mask_walk(trie_, automaton, budget_, describe, visit);
    for (auto& [node, alternatives] : walked_) {
      const StateId state = automaton.state_of_any(std::move(alternatives), budget_);
      if (NodeId{node} == TokenTrie::root())
        mask_walk.run(state);
      else
        mask_walk.enter_below({node}, state);
    }
    for (const TokenRange& range : mask_walk.ranges())
      for (std::uint32_t i = range.begin; i < range.end; ++i) mask_.words[order[i] / 32] |= 1u << (order[i] % 32);
  }

  TokenAutomaton& tokens_;
  Arena& arena_;
  const TokenTrie& trie_;
  Budget& budget_;
  RuleMask mask_;
  std::vector<std::pair<NodeId, ExpressionId>> open_;
  std::map<std::uint32_t, std::vector<ExpressionId>> walked_;  // by node
};

TokenAutomaton::RuleMask TokenAutomaton::make_rule_mask(StateId state, Budget& budget) {
  return RuleMaskMaker(*this, budget).make(automaton_.expression(state));
}

TokenAutomaton::Place TokenAutomaton::sketched(Place place, Budget& budget) {
  const ExpressionId sketch = automaton_.arena().sketched(automaton_.expression(place.state), budget);
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
  Arena& arena = automaton_.arena();
  const TokenTrie& trie = vocabulary_->trie();
  const ExpressionId expression = automaton_.expression(state);
  const auto all = arena.alternatives(expression);
  for (const ExpressionId alternative : std::vector<ExpressionId>(all.begin(), all.end())) {
    const ExpressionNode n = arena.node(alternative);
    const ExpressionNode head = n.kind == Kind::Concatenation ? arena.node(n.head()) : n;
    if (head.kind != Kind::Rule) continue;
    for (const std::string& text : arena.rules(head).refused(head.rule(), arena, budget)) {
      NodeId node = TokenTrie::root();
      for (const char byte : text)
        if (node = trie.child(node, static_cast<std::uint8_t>(byte)); node == TokenTrie::root()) break;
      if (node == TokenTrie::root()) continue;
      for (std::uint32_t i = trie.node(node).tokens_begin; i < trie.node(node).tokens_end; ++i) ask(trie.order()[i]);
    }
  }
}

}  // namespace tokamata
