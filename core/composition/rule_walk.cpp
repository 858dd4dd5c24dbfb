#include "composition/rule_walk.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "composition/mask_walk.hpp"
#include "composition/rule_sinks.hpp"
#include "expression/text_count.hpp"

namespace tokamata {

namespace {

constexpr ByteSet kAllBytes = ByteSet::range(0x00, 0xFF);

bool is_regular_head(const ExpressionNode& head) {
  return !head.rules && !head.commits && !head.constrained && !head.open && !head.behind && !head.edges;
}

}  // namespace

template <class Sink>
RuleWalk<Sink>::RuleWalk(RuleWalkContext& context, RuleWalkBuffers& buffers, Sink& sink, Budget& budget)
    : context_(context),
      automaton_(context.operands.automaton()),
      arena_(context.operands.arena()),
      vocabulary_(context.operands.vocabulary().trie()),
      buffers_(buffers),
      rests_(buffers.rests),
      sink_(sink),
      budget_(budget),
      joins_(arena_.rule_sets().any_joins()) {
  buffers_.tries.assign(1, &vocabulary_);
}

template <class Sink>
bool RuleWalk<Sink>::run(ExpressionId expression, NodeId from) {
  open({&vocabulary_, from}, rests_.put(expression, Rests::kNothing));
  if (!follow_all()) return false;
  walk_all();
  return true;
}

template <class Sink>
bool RuleWalk<Sink>::run_part(ExpressionId part, Spot start, Follow follow) {
  start_ = start;
  rests_.set_exit(bytes_of(follow));
  buffers_.parts.push_back({part, Rests::kExit, false});
  return open_split(start) && follow_all();
}

template <class Sink>
void RuleWalk<Sink>::walk_all() {
  for (auto& [position, alternatives] : buffers_.walked)
    walk({buffers_.tries[position.trie], position.node}, automaton_.state_of_any(std::move(alternatives), budget_));
}

template <class Sink>
bool RuleWalk<Sink>::follow_all() {
  for (;;) {
    if (!buffers_.alternatives.empty()) {
      const Alternative alternative = buffers_.alternatives.back();
      buffers_.alternatives.pop_back();
      budget_.step();
      if (!follow(alternative)) return false;
    } else if (!buffers_.waiting.empty()) {
      const Position first = buffers_.waiting.first().position;
      if (!open_together({buffers_.tries[first.trie], first.node})) return false;
    } else {
      return true;
    }
  }
}

template <class Sink>
auto RuleWalk<Sink>::position(Spot spot) -> Position {
  const auto known = std::ranges::find(buffers_.tries, spot.trie);
  const auto number = static_cast<std::uint32_t>(known - buffers_.tries.begin());
  if (known == buffers_.tries.end()) buffers_.tries.push_back(spot.trie);
  return {number, spot.node};
}

// ---- alternatives -----------------------------------------------------------------------------

// What may be read below a spot: at once, or when all readings that reach the spot are known.
template <class Sink>
void RuleWalk<Sink>::open(Spot spot, RestId rest) {
  if (rest == Rests::kNothing || spot.is_last()) return;
  if (joins_) {
    buffers_.waiting.add({position(spot), rest});
    return;
  }
  const Rest& at = rests_[rest];
  if (!buffers_.opened.insert({spot, at.first, at.next})) return;
  buffers_.parts.push_back({at.first, at.next, true});
  split_parts(spot);
  buffers_.opened_rests.clear();
}

// The same after a segment.
template <class Sink>
void RuleWalk<Sink>::open_after(const TokenTrie& remainders, std::optional<Spot> trunk, RestId rest) {
  open({&remainders, TokenTrie::root()}, rest);
  if (trunk) open(*trunk, rest);
}

// Splits expressions, and what follows them, into alternatives that may read a byte below the spot.
template <class Sink>
void RuleWalk<Sink>::split_parts(Spot spot) {
  below_ = {};
  for (const std::uint8_t byte : spot.bytes_below()) below_.add(byte);
  while (!buffers_.parts.empty()) {
    budget_.step();
    const Part part = buffers_.parts.back();
    buffers_.parts.pop_back();
    const ExpressionNode n = arena_.pool().node(part.expression);
    const bool reads_none =
        joins_ && !n.open && !n.commits && !context_.beginnings.of(part.expression).intersects(below_);
    if constexpr (Sink::kNotesReads)
      if (joins_ && reads_none) sink_.note_avoided(part.expression, below_);
    if (reads_none && !n.nullable) continue;
    // optional parts lead to one part many times
    if (joins_ && !buffers_.opened.insert({spot, part.expression, part.after})) continue;
    if (reads_none) {
      open_parts(spot, part.after, part.is_whole);
      continue;
    }
    note_split(part.expression);
    if (n.commits) {
      if (!may_begin(part.expression, part.after)) continue;
      has_applied_choice_ = true;
      buffers_.parts.push_back(
          {arena_.derivatives().settled(rests_.joined(part.expression, part.after)), Rests::kNothing, part.is_whole});
    } else if (n.kind == Kind::Union && joins_ && n.rules) {
      open_union(spot, part);
    } else if (n.kind == Kind::Union) {
      for (const ExpressionId item : arena_.pool().items(n))
        buffers_.parts.push_back({item, part.after, part.is_whole});
    } else {
      const auto [head, tail] = arena_.pool().split(part.expression);
      open_head(spot, head, tail, part);
    }
  }
}

// Rules without left recursion share what they begin with: a union is within many others, and the ways to it multiply.
// So its items are split once, before all that may follow it.  Where one of them may be empty, what follows is split
// here too.
template <class Sink>
void RuleWalk<Sink>::open_union(Spot spot, const Part& part) {
  const ExpressionNode n = arena_.pool().node(part.expression);
  const auto [fork, is_new] = fork_after(part.expression);
  rests_.add(fork, part.after);
  if (is_new) {
    const RestId after = rests_.put_fork(fork);
    for (const ExpressionId item : arena_.pool().items(n)) buffers_.parts.push_back({item, after, part.is_whole});
  } else if (rests_.is_passed(fork)) {
    open_parts(spot, part.after, part.is_whole);
  }
}

template <class Sink>
void RuleWalk<Sink>::open_head(Spot spot, ExpressionId head, ExpressionId tail, const Part& part) {
  const ExpressionNode n = arena_.pool().node(head);
  const RestId after = rests_.put(tail, part.after);
  if (n.kind == Kind::Union || n.kind == Kind::Concatenation) {
    buffers_.parts.push_back({head, after, part.is_whole});
    return;
  }
  if (may_begin(n)) {
    const bool is_segment = part.is_whole && may_have_segment(spot, head);
    const auto body =
        n.kind == Kind::Rule && !is_segment ? arena_.rule_sets().of(n).unfolded(n.rule(), budget_) : std::nullopt;
    if (!joins_ && body) {
      buffers_.parts.push_back({*body, after, false});
    } else if (!joins_) {
      buffers_.alternatives.push_back({spot, head, after});
    } else if (n.kind == Kind::Repetition && n.rules && !is_segment) {
      unfold(head, after);
    } else if (const auto [fork, is_new] = fork_after(head); true) {
      rests_.add(fork, after);
      if (is_new && body) buffers_.parts.push_back({*body, rests_.put_fork(fork), false});
      if (is_new && !body) buffers_.heads.push_back({head, fork, is_segment});
    }
  }
  if (!n.nullable || n.open) return;
  if (tail != Pool::kEpsilon) buffers_.parts.push_back({tail, part.after, part.is_whole});
  else open_parts(spot, part.after, part.is_whole);
}

// Opens what a repetition or a rule that has a body may begin with.
template <class Sink>
void RuleWalk<Sink>::unfold(ExpressionId head, RestId after) {
  const ExpressionNode n = arena_.pool().node(head);
  if (n.kind == Kind::Rule) {
    buffers_.parts.push_back({*arena_.rule_sets().of(n).unfolded(n.rule(), budget_), after, false});
    return;
  }
  const Count maximum = n.maximum == kUnbounded ? kUnbounded : n.maximum - 1;
  const ExpressionId more = arena_.forms().repeat(n.body(), n.minimum == 0 ? 0 : n.minimum - 1, maximum);
  buffers_.parts.push_back({n.body(), rests_.put(more, after), false});
}

// Whether a part of a grammar is followed by its segment.  Few tokens are followed sooner than a segment is looked up.
template <class Sink>
bool RuleWalk<Sink>::may_have_segment(Spot spot, ExpressionId head) {
  const ExpressionNode n = arena_.pool().node(head);
  const bool is_plain =
      n.rules && !n.unverified && !n.waits && !n.by_byte && !n.open && !n.behind && !n.constrained && !n.commits;
  return joins_ && context_.rule_segments.payoff().pay() && is_plain && !spot.is_small() && has_body(n);
}

// A rule that is read byte by byte alone, such as a name that may be spelled in any way, would be a segment of itself.
template <class Sink>
bool RuleWalk<Sink>::has_body(const ExpressionNode& n) {
  return n.kind != Kind::Rule || arena_.rule_sets().of(n).unfolded(n.rule(), budget_).has_value();
}

// ---- readings that reach one spot -------------------------------------------------------------

// At one spot each rest is opened once: what a fork is given after it was passed is opened then.
template <class Sink>
void RuleWalk<Sink>::open_parts(Spot spot, RestId rest, bool is_whole) {
  rests_.for_each_part(rest, false, buffers_.opened_rests, [&](RestId at, ExpressionId first, RestId next) {
    if (at != Rests::kExit) buffers_.parts.push_back({first, next, is_whole});
    else if (spot != *start_) sink_.add_exit(spot);
  });
}

template <class Sink>
bool RuleWalk<Sink>::open_together(Spot spot) {
  auto& waiting = buffers_.waiting;
  for (const Position here = waiting.first().position; !waiting.empty() && waiting.first().position == here;)
    open_parts(spot, waiting.take().rest, true);
  return open_split(spot);
}

// False where segments turn out not to pay.
template <class Sink>
bool RuleWalk<Sink>::open_split(Spot spot) {
  budget_.step();
  if (!context_.rule_segments.payoff().may_open_spot()) return false;
  buffers_.fork_after.clear();
  buffers_.heads.clear();
  split_parts(spot);
  for (const auto& [head, fork, is_segment] : buffers_.heads)
    buffers_.alternatives.push_back({spot, head, rests_.put_complete(fork), is_segment});
  buffers_.opened_rests.clear();
  return true;
}

// The open fork after a head at the spot that is being opened, and whether it is new.
template <class Sink>
std::pair<std::uint32_t, bool> RuleWalk<Sink>::fork_after(ExpressionId head) {
  const auto [known, is_first] = buffers_.fork_after.insert(head.value, 0);
  const bool is_new = is_first || rests_.is_closed(known);
  if (is_new) known = rests_.new_fork();
  return {known, is_new};
}

// Whether it may read a byte below the spot, as far as can be seen without unfolding; true if that is not known.
template <class Sink>
bool RuleWalk<Sink>::may_begin(const ExpressionNode& n) const {
  const auto is_below = [this](const ByteSet& first) { return first.intersects(below_); };
  switch (n.kind) {
    case Kind::Empty:
    case Kind::Epsilon:
    case Kind::ControlToken:
    case Kind::Unverified: return false;
    case Kind::Bytes: return is_below(arena_.leaves().byte_set(n));
    case Kind::Repetition:
      return arena_.pool().node(n.body()).kind != Kind::Bytes ||
             is_below(arena_.leaves().byte_set(arena_.pool().node(n.body())));
    case Kind::Rule: return is_below(arena_.rule_sets().of(n).may_begin(n.rule()));
    case Kind::Terminal:
      return arena_.pool().node(n.body()).constrained || is_below(arena_.analyses().first_bytes(n.body()));
    default: return true;
  }
}

// The same for an expression that begins with a choice, and what follows it, whose forks it closes.  Applying a choice
// derives all of that again.
// Blanks below the spot can only belong to a longer indent, which has a choice of its own.
template <class Sink>
bool RuleWalk<Sink>::may_begin(ExpressionId expression, RestId rest) {
  constexpr unsigned kMostSearched = 64;
  std::vector<std::pair<ExpressionId, RestId>> open{{expression, rest}};
  for (unsigned read = 0; !open.empty(); ++read) {
    if (read == kMostSearched) return true;
    const auto [part, behind] = open.back();
    open.pop_back();
    note_split(part);
    const auto [head, tail] = arena_.pool().split(part);
    const ExpressionNode& n = arena_.pool().node(head);
    const RestId after = rests_.put(tail, behind);
    if (n.kind == Kind::Union) {
      for (const ExpressionId item : arena_.pool().items(n)) open.emplace_back(item, after);
      continue;
    }
    if (n.kind != Kind::Commit && may_begin(n)) return true;
    if (n.kind != Kind::Commit && !n.nullable) continue;
    buffers_.met.clear();
    rests_.for_each_part(after, true, buffers_.met,
                         [&open](RestId, ExpressionId first, RestId next) { open.emplace_back(first, next); });
  }
  return false;
}

// Adds the tokens that end where a terminal ends.  Before something unverified, those after which the terminal may as
// well go on are allowed for that alone: each digit may be the last of a number, and need not be.
template <class Sink>
void RuleWalk<Sink>::add_after(const Alternative& way, const TokenTrie& remainders, const Rest& rest,
                               bool inside_is_unverified) {
  const std::span<const std::uint32_t> ended = remainders.own(TokenTrie::root());
  if constexpr (Sink::kTakesRuns) {
    if (rest.begins_unverified && !inside_is_unverified && way.spot.trie == &vocabulary_) {
      sink_.note(rest.spelled);
      for (const std::uint32_t token : ended) {
        const std::string_view text = context_.operands.vocabulary().bytes({token});
        ExpressionId at = way.head;
        for (const char byte : text.substr(vocabulary_.depth(way.spot.node, text)))
          at = arena_.derivatives().derivative(at, static_cast<std::uint8_t>(byte), budget_);
        sink_.set(token, count_texts(arena_, at, 2, budget_) < 2);
      }
      return;
    }
  }
  sink_.add_own(ended, rest.begins_unverified, rest.spelled, [&](auto& sink) { return sink.text_of(way.rest); });
}

// ---- down the trie ----------------------------------------------------------------------------

// False where segments turn out not to pay.
template <class Sink>
bool RuleWalk<Sink>::follow(const Alternative& way) {
  ++context_.work.counts.alternatives;
  if (follow_plain(way)) return true;
  if (!way.is_segment) {
    buffers_.walked[position(way.spot)].push_back(rests_.joined(way.head, way.rest));
    return true;
  }
  switch (follow_rules_segment(way)) {
    case Followed::Yes: return true;
    case Followed::DoesNotPay: return false;
    case Followed::HasNoSegment: break;
  }
  unfold(way.head, way.rest);
  return open_split(way.spot);
}

// False where neither bytes nor terminals nor names are in front.
template <class Sink>
bool RuleWalk<Sink>::follow_plain(const Alternative& way) {
  const ExpressionNode head = arena_.pool().node(way.head);
  if (head.kind == Kind::Bytes && follow_byte(way, head)) return true;
  if (head.kind == Kind::Repetition && follow_repetition(way, head)) return true;
  if (head.kind == Kind::Rule && follow_names(way, head)) return true;
  if (head.kind == Kind::Terminal) {
    const bool is_free_text =
        !rests_.measured(way.rest).begins.empty() && context_.loops.is_free_text(way.head, budget_);
    // in the vocabulary's trie other constraints may have the segment already
    const bool is_small = way.spot.trie != &vocabulary_ && way.spot.is_small();
    is_free_text || is_small ? follow_terminal(way) : follow_segment(way);
    return true;
  }
  if (head.kind == Kind::Strings) follow_strings(way, head);
  else if (joins_ && is_regular_head(head)) follow_terminal(way);
  else return false;
  return true;
}

template <class Sink>
void RuleWalk<Sink>::follow_segment(const Alternative& way) {
  const Rest rest = rests_.measured(way.rest);
  const bool inside_is_unverified = arena_.pool().node(way.head).unverified || rest.is_unverified;
  const bool ends_text = rest.begins.empty() && context_.loops.is_free_text(way.head, budget_);
  const Follow next = ends_text ? Follow::Nothing : joins_ ? rest.follow() : Follow::AnyByte;
  if (next != Follow::AnyByte) note_none_of(way.rest, kAllBytes.without(bytes_of(next)));
  const std::shared_ptr<const Segment> segment =
      way.spot.trie == &vocabulary_ ? context_.segments.of(way.head, way.spot.node, next, budget_)
                                    : context_.segments.within(way.head, *way.spot.trie, way.spot.node, next, budget_);
  sink_.add_terminal(way, segment, next, inside_is_unverified,
                     std::min(arena_.pool().node(way.head).worst, segment->most) + std::uint64_t{rest.spelled});
  if (way.rest == Rests::kNothing) return;
  add_after(way, segment->remainders, rest, inside_is_unverified);
  open_after(segment->remainders,
             segment->has_trunk() ? std::optional<Spot>({way.spot.trie, segment->trunk}) : std::nullopt, way.rest);
}

// A part that has no segment is unfolded, as at small spots: a walk would make states of all that is in it.
template <class Sink>
auto RuleWalk<Sink>::follow_rules_segment(const Alternative& way) -> Followed {
  const Rest rest = rests_.measured(way.rest);
  const Follow next = rest.follow();
  if (next == Follow::NoWord) note_none_of(way.rest, kWordBytes);
  const std::optional<const RuleSegment*> segment =
      context_.rule_segments.of(way.head, *way.spot.trie, way.spot.node, next, budget_);
  if (!segment) return Followed::DoesNotPay;
  if (!*segment) return Followed::HasNoSegment;
  const RuleSegment& found = **segment;
  sink_.add_part(way, found, next, rest);
  open_after(found.remainders, found.trunk ? std::optional<Spot>({found.trunk->trie, found.trunk->node}) : std::nullopt,
             way.rest);
  return Followed::Yes;
}

// Bytes are read with states of the terminal alone, which do not depend on what follows it: in small remainders, and
// where a regular part is no terminal.
template <class Sink>
void RuleWalk<Sink>::follow_terminal(const Alternative& way) {
  if constexpr (Sink::kTakesRuns)
    if (way.spot.trie == &vocabulary_ || !way.spot.is_small()) return follow_runs_of_terminal(way);
  follow_bytes_of_terminal(way);
}

template <class Sink>
void RuleWalk<Sink>::follow_bytes_of_terminal(const Alternative& way) {
  const TokenTrie& trie = *way.spot.trie;
  const Rest rest = rests_.measured(way.rest);
  const bool inside_is_unverified = arena_.pool().node(way.head).unverified || rest.is_unverified;
  const std::uint32_t worst = arena_.pool().node(way.head).worst;
  std::vector<std::pair<NodeId, StateId>> frames{{way.spot.node, automaton_.state_of(way.head, budget_)}};
  while (!frames.empty()) {
    const auto [node, state] = frames.back();
    frames.pop_back();
    for (std::uint32_t child = trie.children_begin(node); child < trie.children_end(node); ++child) {
      const StateId reached = automaton_.next(state, trie.byte({child}), budget_);
      if (reached == ByteAutomaton::kDead) continue;
      budget_.step();
      const Spot spot{&trie, {child}};
      const std::uint64_t inside = std::min(worst, automaton_.node(reached).spelled) + std::uint64_t{rest.spelled};
      sink_.add_own(spot.own(), inside_is_unverified, inside,
                    [&](auto& sink) { return sink.text_of(reached, way.rest); });
      if (automaton_.accepting(reached)) {
        sink_.add_own(spot.own(), rest.begins_unverified, rest.spelled,
                      [&](auto& sink) { return sink.text_of(way.rest); });
        open(spot, way.rest);
      }
      if (!spot.is_last()) frames.emplace_back(spot.node, reached);
    }
  }
}

// The same with loops, which the vocabulary's trie has summaries for.
// Problem.  Free text before a tag takes nearly all tokens, and may end after each of their bytes.  To open what
// follows at each of Llama 3.1's 274,520 nodes takes 0.3 s, though only  <  may follow.
// How.  Loops take whole runs of tokens.  What follows the part within them could only allow the same tokens once more.
// At the other nodes it is opened; below many tokens, where it may begin there.
template <class Sink>
void RuleWalk<Sink>::follow_runs_of_terminal(const Alternative& way)
  requires Sink::kTakesRuns
{
  const TokenTrie& trie = *way.spot.trie;
  const Rest rest = rests_.measured(way.rest);
  const bool are_few = way.spot.is_small();
  if (!are_few) note_none_of(way.rest, kAllBytes.without(rest.begins));
  const auto describe = [&](StateId state) { return WalkState{context_.loops.of(state, budget_), true}; };
  const auto visit = [&](NodeId node, StateId state) {
    if (!automaton_.accepting(state)) return;
    const Spot spot{&trie, node};
    sink_.add_own(spot.own(), rest.begins_unverified, rest.spelled, [&](auto& sink) { return sink.text_of(way.rest); });
    if (are_few || spot.intersects(rest.begins)) open(spot, way.rest);
  };
  MaskWalk mask_walk(trie, automaton_, budget_, describe, visit);
  const StateId start = automaton_.state_of(way.head, budget_);
  const bool inside_is_unverified = arena_.pool().node(way.head).unverified || rest.is_unverified;
  sink_.note(arena_.pool().node(way.head).worst + rest.spelled);
  const OnError hand_over([&] {
    for (const TokenRange& range : mask_walk.ranges())
      for (std::uint32_t i = range.begin; i < range.end; ++i) sink_.set(trie.order()[i], inside_is_unverified);
  });
  mask_walk.enter_below(way.spot.node, start);
  for (const TokenRange& range : mask_walk.ranges())
    for (std::uint32_t i = range.begin; i < range.end; ++i) sink_.set(trie.order()[i], inside_is_unverified);
}

template <class Sink>
bool RuleWalk<Sink>::follow_byte(const Alternative& way, const ExpressionNode& head) {
  const std::optional<std::uint8_t> byte = arena_.leaves().only_byte(head);
  if (!byte) return false;
  const std::optional<Spot> child = way.spot.below(*byte);
  if (!child) return true;
  const Rest rest = rests_.measured(way.rest);
  sink_.add_own(child->own(), rest.begins_unverified, rest.spelled, [&](auto& sink) { return sink.text_of(way.rest); });
  open(*child, way.rest);
  return true;
}

// A fixed number of one byte, or an optional one.  Skipping it is an alternative of its own.
template <class Sink>
bool RuleWalk<Sink>::follow_repetition(const Alternative& way, const ExpressionNode& head) {
  const std::optional<std::uint8_t> byte = arena_.leaves().only_byte(arena_.pool().node(head.body()));
  if (!byte || (head.minimum != head.maximum && !(head.minimum == 0 && head.maximum == 1))) return false;
  const Rest rest = rests_.measured(way.rest);
  Spot spot = way.spot;
  for (Count i = 0; i < head.maximum; ++i) {
    const std::optional<Spot> child = spot.below(*byte);
    if (!child) return true;
    spot = *child;
    const Count more = head.maximum - 1 - i;
    sink_.add_own(spot.own(), rest.begins_unverified, more + rest.spelled,
                  [&](auto& sink) { return sink.text_after(std::string(more, static_cast<char>(*byte)), way.rest); });
  }
  open(spot, way.rest);
  return true;
}

template <class Sink>
void RuleWalk<Sink>::follow_strings(const Alternative& way, const ExpressionNode& strings) {
  const StringAutomaton& automaton = arena_.leaves().string_automaton(strings);
  const bool is_unverified = rests_.measured(way.rest).begins_unverified;
  const std::uint64_t spelled = strings.worst + rests_.measured(way.rest).spelled;
  struct Frame {
    Spot spot;
    std::uint32_t state;
    StateId of_head;  // where each token is met with it
  };
  std::vector<Frame> frames{
      {way.spot, strings.state(), Sink::kTakesRuns ? StateId() : automaton_.state_of(way.head, budget_)}};
  while (!frames.empty()) {
    const auto [spot, state, of_head] = frames.back();
    frames.pop_back();
    budget_.step();
    for (const auto& [byte, target] : automaton.transitions(state)) {
      const std::optional<Spot> child = spot.below(byte);
      if (!child) continue;
      const StateId reached = Sink::kTakesRuns ? StateId() : automaton_.next(of_head, byte, budget_);
      sink_.add_own(child->own(), is_unverified, spelled,
                    [&, reached = reached](auto& sink) { return sink.text_of(reached, way.rest); });
      if (child->is_last()) continue;
      if (automaton.accepting(target)) open(*child, way.rest);
      frames.push_back({*child, target, reached});
    }
  }
}

// The names are sorted, so names with a common prefix are neighbours, and each node of the trie is entered once.
template <class Sink>
bool RuleWalk<Sink>::follow_names(const Alternative& way, const ExpressionNode& rule) {
  RememberingRules* const remembering = arena_.rule_sets().of(rule).remembering();
  if (!remembering) return false;
  RememberingRules& rules = *remembering;
  const auto given = rules.strings(rule.rule(), budget_);
  if (given.empty()) return false;
  buffers_.names.assign(given.begin(), given.end());
  struct Frame {
    Spot spot;
    std::size_t low, high, depth;
    std::uint64_t spelled;  // the longest name of them, and the most that the text needs besides
  };
  const Rest rest = rests_.measured(way.rest);
  const auto most_needed = [&](std::size_t low, std::size_t high) {
    std::uint64_t longest = 0, besides = rule.spelled;
    for (std::size_t i = low; i < high; ++i) {
      longest = std::max<std::uint64_t>(longest, buffers_.names[i].size());
      besides = std::max<std::uint64_t>(besides, rules.spelled_after(rule.rule(), i));
    }
    return longest + besides + rest.spelled;
  };
  std::vector<std::pair<Spot, std::size_t>> ends;
  const std::optional<std::uint8_t> leaving = rules.leaving_byte();
  std::vector<Frame> leaving_spots;
  std::vector<Frame> frames{{way.spot, 0, buffers_.names.size(), 0, 0}};
  while (!frames.empty()) {
    const Frame frame = frames.back();
    frames.pop_back();
    budget_.step();
    if (const std::optional<Spot> left = leaving ? frame.spot.below(*leaving) : std::nullopt)
      leaving_spots.push_back({*left, frame.low, frame.high, frame.depth, 0});
    for (std::size_t low = frame.low, high; low < frame.high; low = high) {
      const char byte = buffers_.names[low][frame.depth];
      for (high = low + 1; high < frame.high && buffers_.names[high][frame.depth] == byte;) ++high;
      const std::optional<Spot> child = frame.spot.below(static_cast<std::uint8_t>(byte));
      if (!child) continue;
      const std::uint64_t spelled = frame.depth == 0 ? most_needed(low, high) : frame.spelled;
      sink_.add_own(child->own(), rule.unverified || rest.is_unverified, spelled, [&](auto& sink) {
        const auto names = std::span(buffers_.names).subspan(low, high - low);
        return sink.text_of_names(rule, names, low, frame.depth + 1, way.rest);
      });
      if (child->is_last()) continue;
      if (buffers_.names[low].size() == frame.depth + 1) ends.emplace_back(*child, low);
      else frames.push_back({*child, low, high, frame.depth + 1, spelled});
    }
  }
  for (const auto& [spot, name] : ends) open(spot, rests_.put(rules.after(rule.rule(), name, budget_), way.rest));
  for (const Frame& left : leaving_spots) {
    const ExpressionId after = rules.after_leaving(rule.rule(), left.low, left.high, left.depth, budget_);
    if (after == Pool::kEmpty) continue;
    const RestId behind = rests_.put(after, way.rest);
    const Rest after_byte = rests_.measured(behind);
    sink_.add_own(left.spot.own(), after_byte.begins_unverified, after_byte.spelled,
                  [&](auto& sink) { return sink.text_of(behind); });
    open(left.spot, behind);
  }
  return true;
}

// ---- walks ------------------------------------------------------------------------------------

// Loops take whole runs of tokens without examining them.  Unverified tokens must be examined, so they are walked.
template <class Sink>
void RuleWalk<Sink>::walk(Spot spot, StateId state) {
  const TokenTrie& trie = *spot.trie;
  const auto describe = [&](StateId at) {
    if constexpr (Sink::kTakesRuns) {
      if (automaton_.node(at).unverified) return WalkState{{}, true};
      const std::span<const Loop> loops = context_.loops.of(at, budget_);
      if (!loops.empty()) note_loops(at);
      return WalkState{loops, true};
    }
    return WalkState{{}, true};
  };
  const auto visit = [&](NodeId at, StateId reached) {
    const ExpressionNode& node = automaton_.node(reached);
    sink_.add_reached(trie.own(at), node.unverified, node.spelled, [&](auto& sink) { return sink.text_of(reached); });
  };
  MaskWalk mask_walk(trie, automaton_, budget_, describe, visit);
  mask_walk.enter_below(spot.node, state);
  if constexpr (Sink::kTakesRuns)
    for (const TokenRange& range : mask_walk.ranges())
      for (std::uint32_t i = range.begin; i < range.end; ++i) sink_.set(trie.order()[i], false);
}

// Notes what the text needs after the tokens that loops take.  These tokens stay in the heads of the alternatives, and
// the walk does not visit the states that they lead to.
template <class Sink>
void RuleWalk<Sink>::note_loops(StateId at)
  requires Sink::kTakesRuns
{
  const ExpressionId expression = automaton_.expression(at);
  for (const ExpressionId alternative : arena_.pool().alternatives(expression)) {
    const ExpressionNode& node = arena_.pool().node(alternative);
    const bool is_long = node.kind == Kind::Concatenation;
    const std::uint64_t inside = arena_.pool().node(is_long ? node.head() : alternative).worst;
    sink_.note(inside + (is_long ? arena_.pool().node(node.tail()).spelled : 0));
  }
}

template class RuleWalk<MaskSink>;
template class RuleWalk<SegmentSink>;
template class RuleWalk<EndingSink>;

}  // namespace tokamata
