#include "composition/rule_masks.hpp"

#include <algorithm>

#include "composition/mask_walk.hpp"
#include "composition/token_automaton.hpp"

namespace tokamata {

RuleMaskMaker::RuleMaskMaker(TokenAutomaton& tokens)
    : tokens_(tokens), arena_(tokens.automaton().arena()), vocabulary_(tokens.vocabulary(false).trie()),
      builder_(tokens.vocabulary(false).words()), walked_(SpotOrder{&vocabulary_}), waiting_(SpotOrder{&vocabulary_}) {}

// Most tokens have one or two readings, and following alternatives one by one is fastest.  A token of sixteen brackets may
// have 2^16 readings; then readings are joined.
RuleMask RuleMaskMaker::make(ExpressionId expression, NodeId from, Budget& budget) {
  budget_ = &budget;
  const Spot start{&vocabulary_, from};
  clear(false);
  if (!follow_all(expression, start)) {
    clear(true);
    follow_all(expression, start);
  }
  mask_.bits = builder_.take();
  return std::move(mask_);
}

void RuleMaskMaker::clear(bool is_joined) {
  is_joined_ = is_joined;
  mask_ = {};
  builder_.clear();
  opened_.clear();
  rest_ids_.clear();
  rests_.assign(1, {Arena::kEpsilon, kNothing, 0, false, false});
  open_.clear();
  parts_.clear();
  walked_.clear();
  waiting_.clear();
}

bool RuleMaskMaker::follow_all(ExpressionId expression, Spot from) {
  constexpr std::size_t kMostOneByOne = 4096;
  open(from, expression, kNothing);
  while (!open_.empty() || !waiting_.empty()) {
    if (!is_joined_ && arena_.joins_rules() && opened_.size() > kMostOneByOne) return false;
    if (open_.empty()) unfold_joined();
    if (open_.empty()) continue;
    const Alternative alternative = open_.back();
    open_.pop_back();
    budget_->step();
    follow(alternative);
  }
  for (auto& [spot, alternatives] : walked_) walk(spot, tokens_.automaton().state_of_any(std::move(alternatives), *budget_));
  return true;
}

std::optional<RuleMaskMaker::Spot> RuleMaskMaker::below(Spot spot, std::uint8_t byte) {
  const NodeId child = spot.trie->child(spot.node, byte);
  if (child == TokenTrie::root()) return std::nullopt;
  return Spot{spot.trie, child};
}

// ---- what follows -----------------------------------------------------------------------------

RuleMaskMaker::RestId RuleMaskMaker::put(ExpressionId first, RestId next) {
  if (first == Arena::kEpsilon) return next;
  const ExpressionNode& n = arena_.node(first);
  const Rest& rest = rests_[next.value];
  const auto [known, is_new] = rest_ids_.try_emplace((std::uint64_t{first.value} << 32) | next.value, RestId{static_cast<std::uint32_t>(rests_.size())});
  if (!is_new) return known->second;
  const bool somewhere = n.unverified || rest.is_unverified;
  rests_.push_back({first, next, n.spelled + rest.spelled, somewhere,
                    somewhere || is_unverified(first) || (n.kind == Kind::Commit && rest.begins_unverified)});
  return {static_cast<std::uint32_t>(rests_.size() - 1)};
}

ExpressionId RuleMaskMaker::joined(ExpressionId first, RestId rest) {
  std::vector<ExpressionId> all{first};
  for (RestId at = rest; at != kNothing; at = rests_[at.value].next) all.push_back(rests_[at.value].first);
  ExpressionId result = Arena::kEpsilon;
  for (auto part = all.rbegin(); part != all.rend(); ++part) result = arena_.concatenate(*part, result);
  return result;
}

// Whether it is unverified at the front, without applying a choice that stands there.
bool RuleMaskMaker::is_unverified(ExpressionId expression) const {
  const ExpressionNode& n = arena_.node(expression);
  if (n.unverified || !n.commits) return n.unverified;
  if (n.kind == Kind::Union) return std::ranges::any_of(arena_.items(n), [this](ExpressionId item) { return is_unverified(item); });
  if (n.kind == Kind::Concatenation) return is_unverified(n.head()) || is_unverified(n.tail());
  return n.kind == Kind::Commit && n.first == Rules::kUnverified;
}

// ---- alternatives -----------------------------------------------------------------------------

// Splits an expression, and what follows it, into alternatives that may read a byte below the spot.
void RuleMaskMaker::open(Spot spot, ExpressionId expression, RestId rest) {
  if (is_last(spot) || !opened_.insert({spot, expression, rest})) return;
  if (is_joined_) return open_joined(spot, arena_.settled(joined(expression, rest)));
  const bool meets_again = arena_.joins_rules();  // optional parts of grammars lead to the same part many times
  parts_.emplace_back(expression, rest);
  for (bool is_first = true; !parts_.empty(); is_first = false) {
    const auto [part, after] = parts_.back();
    parts_.pop_back();
    if (meets_again && !is_first && !opened_.insert({spot, part, after})) continue;
    const ExpressionNode n = arena_.node(part);
    if (n.commits) {
      if (may_begin(spot, part, after)) parts_.emplace_back(arena_.settled(joined(part, after)), kNothing);
    } else if (n.kind == Kind::Union) {
      for (const ExpressionId item : arena_.items(n)) parts_.emplace_back(item, after);
    } else {
      const auto [head, tail] = arena_.split(part);
      open_head(spot, head, tail, after);
    }
  }
}

void RuleMaskMaker::open_head(Spot spot, ExpressionId head, ExpressionId tail, RestId rest) {
  const ExpressionNode n = arena_.node(head);
  if (n.kind == Kind::Union || n.kind == Kind::Concatenation) {
    parts_.emplace_back(head, put(tail, rest));
    return;
  }
  if (may_begin(spot, n)) {
    if (const auto body = n.kind == Kind::Rule ? arena_.rules(n).unfolded(n.rule(), arena_, *budget_) : std::nullopt)
      parts_.emplace_back(*body, put(tail, rest));
    else
      open_.push_back({spot, head, put(tail, rest)});
  }
  if (!n.nullable || n.open) return;
  if (tail != Arena::kEpsilon)
    parts_.emplace_back(tail, rest);
  else if (rest != kNothing)
    parts_.emplace_back(rests_[rest.value].first, rests_[rest.value].next);
}

// An ambiguous text has many readings down to a spot.  Their union is formed, so that alternatives are joined (Rules::joins),
// and it is unfolded when no alternative above the spot is left.
void RuleMaskMaker::open_joined(Spot spot, ExpressionId given) {
  std::vector<ExpressionId> one{given};
  const ExpressionId expression = arena_.unite(one);  // in the form of alternatives: none begins with a concatenation
  const auto awaits_rule = [this](ExpressionId alternative) { return arena_.awaits_rule(alternative); };
  if (arena_.node(expression).rules && std::ranges::any_of(arena_.alternatives(expression), awaits_rule))
    waiting_[spot].push_back(expression);
  else
    add_alternatives(spot, expression);
}

void RuleMaskMaker::unfold_joined() {
  auto [spot, expressions] = std::move(*waiting_.begin());  // children have larger numbers than what they are below
  waiting_.erase(waiting_.begin());
  budget_->step();
  add_alternatives(spot, arena_.unite(expressions));
}

void RuleMaskMaker::add_alternatives(Spot spot, ExpressionId expression) {
  for (const ExpressionId alternative : arena_.unfolded(expression, *budget_)) {
    const auto [head, tail] = arena_.split(alternative);
    if (may_begin(spot, arena_.node(head))) open_.push_back({spot, head, put(tail, kNothing)});
  }
}

// Whether it may read a byte below a node, as far as can be seen without unfolding; true if that is not known.
bool RuleMaskMaker::may_begin(Spot spot, const ExpressionNode& n) const {
  const auto is_below = [&](const ByteSet& first) {
    return std::ranges::any_of(bytes_below(spot), [&](std::uint8_t byte) { return first.contains(byte); });
  };
  switch (n.kind) {
    case Kind::Empty:
    case Kind::Epsilon:
    case Kind::Unverified: return false;
    case Kind::Bytes: return is_below(arena_.byte_set(n));
    case Kind::Repetition: return arena_.node(n.body()).kind != Kind::Bytes || is_below(arena_.byte_set(arena_.node(n.body())));
    case Kind::Rule: return is_below(arena_.rules(n).may_begin(n.rule()));
    case Kind::Terminal: return arena_.node(n.body()).constrained || is_below(arena_.first_bytes(n.body()));
    default: return true;
  }
}

// The same for an expression that begins with a choice, and what follows it.  Applying a choice derives all of that again.
// Blanks below the spot can only belong to a longer indent, which has a choice of its own.
bool RuleMaskMaker::may_begin(Spot spot, ExpressionId expression, RestId rest) {
  constexpr unsigned kMostRead = 64;
  std::vector<std::pair<ExpressionId, RestId>> open{{expression, rest}};
  for (unsigned read = 0; !open.empty(); ++read) {
    if (read == kMostRead) return true;
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

// ---- tokens -----------------------------------------------------------------------------------

void RuleMaskMaker::set(std::uint32_t token, bool is_unverified) {
  builder_.add(token);
  if (is_unverified) mask_.unverified.push_back(token);
}

// Adds the tokens that end at a node.  After them the text needs `spelled` more bytes.
void RuleMaskMaker::add_own(Spot spot, bool is_unverified, std::uint64_t spelled) {
  mask_.note(spelled);
  for (const std::uint32_t token : spot.trie->own(spot.node)) set(token, is_unverified);
}

// ---- down the trie ----------------------------------------------------------------------------

void RuleMaskMaker::follow(const Alternative& way) {
  const ExpressionNode head = arena_.node(way.head);
  if (head.kind == Kind::Bytes && follow_byte(way, head)) return;
  if (head.kind == Kind::Repetition && follow_repetition(way, head)) return;
  if (head.kind == Kind::Terminal) return way.spot.trie == &vocabulary_ ? follow_segment(way) : follow_terminal(way);
  if (head.kind == Kind::Rule && follow_names(way, head)) return;
  if (head.kind == Kind::Strings) return follow_strings(way, head);
  walked_[way.spot].push_back(joined(way.head, way.rest));
}

void RuleMaskMaker::follow_segment(const Alternative& way) {
  const Rest rest = rests_[way.rest.value];
  const bool inside_is_unverified = arena_.node(way.head).unverified || rest.is_unverified;
  const std::shared_ptr<const Segment>& segment = tokens_.segment(way.head, way.spot.node, *budget_);
  for (const std::uint32_t token : segment->few) set(token, inside_is_unverified);
  if (!segment->is_listed()) {
    builder_.add(SharedWords(segment, &segment->inside));
    if (inside_is_unverified) for_each_bit(segment->inside, [this](std::uint32_t token) { mask_.unverified.push_back(token); });
  }
  // The rest of the terminal is never longer than `worst`.
  mask_.note(arena_.node(way.head).worst + rest.spelled);
  if (way.rest == kNothing) return;
  const Spot end{&segment->remainders, TokenTrie::root()};
  add_own(end, rest.begins_unverified, rest.spelled);
  open(end, way.rest);
}

// In remainders the few bytes are read with states of the terminal alone, which do not depend on what follows it.
void RuleMaskMaker::follow_terminal(const Alternative& way) {
  ByteAutomaton& automaton = tokens_.automaton();
  const TokenTrie& trie = *way.spot.trie;
  const Rest rest = rests_[way.rest.value];
  const bool inside_is_unverified = arena_.node(way.head).unverified || rest.is_unverified;
  const std::uint64_t inside = arena_.node(way.head).worst + rest.spelled;
  std::vector<std::pair<NodeId, StateId>> frames{{way.spot.node, automaton.state_of(way.head, *budget_)}};
  while (!frames.empty()) {
    const auto [node, state] = frames.back();
    frames.pop_back();
    for (std::uint32_t child = trie.children_begin(node); child < trie.children_end(node); ++child) {
      const StateId reached = automaton.next(state, trie.byte({child}), *budget_);
      if (reached == ByteAutomaton::kDead) continue;
      budget_->step();
      const Spot spot{&trie, {child}};
      add_own(spot, inside_is_unverified, inside);
      if (automaton.accepting(reached)) {
        add_own(spot, rest.begins_unverified, rest.spelled);
        open(spot, way.rest);
      }
      if (!is_last(spot)) frames.emplace_back(spot.node, reached);
    }
  }
}

bool RuleMaskMaker::follow_byte(const Alternative& way, const ExpressionNode& head) {
  const std::optional<std::uint8_t> byte = arena_.only_byte(head);
  if (!byte) return false;
  const std::optional<Spot> child = below(way.spot, *byte);
  if (!child) return true;
  const Rest& rest = rests_[way.rest.value];
  add_own(*child, rest.begins_unverified, rest.spelled);
  open(*child, way.rest);
  return true;
}

// A fixed number of one byte, or an optional one.  Skipping it is an alternative of its own.
bool RuleMaskMaker::follow_repetition(const Alternative& way, const ExpressionNode& head) {
  const std::optional<std::uint8_t> byte = arena_.only_byte(arena_.node(head.body()));
  if (!byte || (head.minimum != head.maximum && !(head.minimum == 0 && head.maximum == 1))) return false;
  const Rest rest = rests_[way.rest.value];
  Spot spot = way.spot;
  for (Count i = 0; i < head.maximum; ++i) {
    const std::optional<Spot> child = below(spot, *byte);
    if (!child) return true;
    spot = *child;
    add_own(spot, rest.begins_unverified, head.maximum - 1 - i + rest.spelled);
  }
  open(spot, way.rest);
  return true;
}

void RuleMaskMaker::follow_strings(const Alternative& way, const ExpressionNode& strings) {
  const StringAutomaton& automaton = arena_.string_automaton(strings);
  const bool is_unverified = rests_[way.rest.value].begins_unverified;
  const std::uint64_t spelled = strings.worst + rests_[way.rest.value].spelled;
  std::vector<std::pair<Spot, std::uint32_t>> frames{{way.spot, strings.second}};
  while (!frames.empty()) {
    const auto [spot, state] = frames.back();
    frames.pop_back();
    budget_->step();
    for (const auto& [byte, target] : automaton.transitions(state)) {
      const std::optional<Spot> child = below(spot, byte);
      if (!child) continue;
      add_own(*child, is_unverified, spelled);
      if (is_last(*child)) continue;
      if (automaton.accepting(target)) open(*child, way.rest);
      frames.emplace_back(*child, target);
    }
  }
}

// The names are sorted, so names with a common prefix are neighbours, and each node of the trie is entered once.
bool RuleMaskMaker::follow_names(const Alternative& way, const ExpressionNode& rule) {
  RememberingRules* const remembering = arena_.rules(rule).remembering();
  if (!remembering) return false;
  RememberingRules& rules = *remembering;
  const auto given = rules.strings(rule.rule(), arena_, *budget_);
  if (given.empty()) return false;
  names_.assign(given.begin(), given.end());
  struct Frame {
    Spot spot;
    std::size_t low, high, depth;
    std::uint64_t spelled;  // the longest name of them, and the most that the text needs besides
  };
  const Rest rest = rests_[way.rest.value];
  const auto most_needed = [&](std::size_t low, std::size_t high) {
    std::uint64_t longest = 0, besides = rule.spelled;
    for (std::size_t i = low; i < high; ++i) {
      longest = std::max<std::uint64_t>(longest, names_[i].size());
      besides = std::max<std::uint64_t>(besides, rules.spelled_after(rule.rule(), i));
    }
    return longest + besides + rest.spelled;
  };
  std::vector<std::pair<Spot, std::size_t>> ends;
  std::vector<Frame> frames{{way.spot, 0, names_.size(), 0, 0}};
  while (!frames.empty()) {
    const Frame frame = frames.back();
    frames.pop_back();
    budget_->step();
    for (std::size_t low = frame.low, high; low < frame.high; low = high) {
      const char byte = names_[low][frame.depth];
      for (high = low + 1; high < frame.high && names_[high][frame.depth] == byte;) ++high;
      const std::optional<Spot> child = below(frame.spot, static_cast<std::uint8_t>(byte));
      if (!child) continue;
      const std::uint64_t spelled = frame.depth == 0 ? most_needed(low, high) : frame.spelled;
      add_own(*child, rule.unverified || rest.is_unverified, spelled);
      if (is_last(*child)) continue;
      if (names_[low].size() == frame.depth + 1)
        ends.emplace_back(*child, low);
      else
        frames.push_back({*child, low, high, frame.depth + 1, spelled});
    }
  }
  for (const auto& [spot, name] : ends) open(spot, rules.after(rule.rule(), name, arena_, *budget_), way.rest);
  return true;
}

// ---- walks ------------------------------------------------------------------------------------

// Loops take whole runs of tokens without examining them.  Unverified tokens must be examined, so they are walked.
void RuleMaskMaker::walk(Spot spot, StateId state) {
  const TokenTrie& trie = *spot.trie;
  ByteAutomaton& automaton = tokens_.automaton();
  constexpr std::uint64_t kLongestRest = 3;  // of a code point that a loop has begun
  const auto describe = [&](StateId at) {
    if (automaton.node(at).unverified) return WalkState{{}, true};
    const std::span<const Loop> loops = tokens_.loops(at, *budget_);
    if (!loops.empty()) note_loops(at);
    return WalkState{loops, true};
  };
  const auto visit = [&](NodeId at, StateId reached) {
    mask_.note(std::uint64_t{automaton.node(reached).spelled} + kLongestRest);
    if (!automaton.node(reached).unverified) return;
    for (const std::uint32_t token : trie.own(at)) mask_.unverified.push_back(token);
  };
  MaskWalk mask_walk(trie, automaton, *budget_, describe, visit);
  mask_walk.enter_below(spot.node, state);
  for (const TokenRange& range : mask_walk.ranges())
    for (std::uint32_t i = range.begin; i < range.end; ++i) set(trie.order()[i], false);
}

// Notes what the text needs after the tokens that loops take.  These tokens stay in the heads of the alternatives, and the
// walk does not visit the states that they lead to.
void RuleMaskMaker::note_loops(StateId at) {
  const ExpressionId expression = tokens_.automaton().expression(at);
  for (const ExpressionId alternative : arena_.alternatives(expression)) {
    const ExpressionNode& node = arena_.node(alternative);
    const bool is_long = node.kind == Kind::Concatenation;
    const std::uint64_t inside = arena_.node(is_long ? node.head() : alternative).worst;
    mask_.note(inside + (is_long ? arena_.node(node.tail()).spelled : 0));
  }
}

}  // namespace tokamata
