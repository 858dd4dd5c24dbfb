#include "composition/rule_mask_maker.hpp"

#include <algorithm>

#include "composition/mask_walk.hpp"
#include "composition/rule_endings.hpp"

namespace tokamata {

namespace {
constexpr ByteSet kAllBytes = ByteSet::range(0x00, 0xFF);
}

RuleMaskMaker::RuleMaskMaker(RuleWalkContext& context)
    : context_(context),
      automaton_(context.operands.automaton()),
      arena_(context.operands.arena()),
      vocabulary_(context.operands.vocabulary().trie()),
      joins_(arena_.joins_rules()),
      builder_(context.operands.vocabulary().words()) {}

RuleMaskMaker::~RuleMaskMaker() = default;

RuleMask RuleMaskMaker::make(ExpressionId expression, NodeId from, Budget& budget) {
  try {
    const SegmentPayoff::Trial trial(context_.rule_segments.payoff());
    return made(expression, from, budget);
  } catch (const SegmentPayoff::DoNotPay&) {
    return made(expression, from, budget);
  }
}

RuleMask RuleMaskMaker::made(ExpressionId expression, NodeId from, Budget& budget) {
  const Busy busy(is_busy_);
  budget_ = &budget;
  clear();
  open({&vocabulary_, from}, put(expression, kNothing));
  follow_all();
  walk_all();
  mask_.bits = builder_.take();
  return std::move(mask_);
}

void RuleMaskMaker::clear() {
  mask_ = {};
  builder_.clear();
  opened_.clear();
  opened_rests_.clear();
  rest_ids_.clear();
  rests_.assign(2, {Arena::kEpsilon, kNothing, Rest::kNoFork, true, Arena::kEpsilon});  // kNothing, kExit
  for (Rest& end : rests_) end.text = {SpelledTexts::kEmpty, false};
  open_.clear();
  parts_.clear();
  tries_.assign(1, &vocabulary_);
  walked_.clear();
  waiting_.clear();
  forks_.clear();
  read_.clear();
  applies_choice_ = false;
  start_.reset();
  exits_.clear();
  endings_ = nullptr;
  made_endings_.clear();
  ending_of_.clear();
  insides_ = 0;
}

std::shared_ptr<const RulesSegment> RuleMaskMaker::make_segment(ExpressionId part, const TokenTrie& trie, NodeId node,
                                                                Follow follow, Budget& budget) {
  if (is_busy_) {
    if (!inner_) inner_ = std::make_unique<RuleMaskMaker>(context_);
    return inner_->make_segment(part, trie, node, follow, budget);
  }
  const Busy busy(is_busy_);
  clear();
  begin_segment(part, trie, node, follow, budget);
  follow_all();
  // A choice was applied to all that follows as one expression, in which the end of the part does not show.
  if (!walked_.empty() || !mask_.unverified.empty() || applies_choice_) return nullptr;
  std::ranges::sort(exits_);
  exits_.erase(std::unique(exits_.begin(), exits_.end()), exits_.end());
  auto made = std::make_shared<RulesSegment>();
  made->most = mask_.most;
  made->inside = builder_.take();
  made->trunk =
      TokenTrie::trunk_of(exits_, bytes_of(follow), Segment::much_for(context_.operands.vocabulary().words()));
  made->remainders = TokenTrie(std::move(exits_), bytes_of(follow), made->trunk);
  return made;
}

void RuleMaskMaker::begin_segment(ExpressionId part, const TokenTrie& trie, NodeId node, Follow follow,
                                  Budget& budget) {
  budget_ = &budget;
  start_ = Spot{&trie, node};
  rests_[kExit.value].begins = bytes_of(follow);
  parts_.push_back({part, kExit, false});
  open_split(*start_);
}

void RuleMaskMaker::walk_all() {
  for (auto& [position, alternatives] : walked_)
    walk({tries_[position.trie], position.node}, automaton_.state_of_any(std::move(alternatives), *budget_));
}

void RuleMaskMaker::follow_all() {
  while (!open_.empty() || !waiting_.empty()) {
    if (open_.empty()) {
      const Position first = waiting_.front().position;
      open_together({tries_[first.trie], first.node});
      continue;
    }
    const Alternative alternative = open_.back();
    open_.pop_back();
    budget_->step();
    follow(alternative);
  }
}

RuleMaskMaker::Position RuleMaskMaker::position(Spot spot) {
  const auto known = std::ranges::find(tries_, spot.trie);
  const auto number = static_cast<std::uint32_t>(known - tries_.begin());
  if (known == tries_.end()) tries_.push_back(spot.trie);
  return {number, spot.node};
}

std::optional<RuleMaskMaker::Spot> RuleMaskMaker::below(Spot spot, std::uint8_t byte) {
  const NodeId child = spot.trie->child(spot.node, byte);
  if (child == TokenTrie::root()) return std::nullopt;
  return Spot{spot.trie, child};
}

// ---- what follows -----------------------------------------------------------------------------

RuleMaskMaker::RestId RuleMaskMaker::put(ExpressionId first, RestId next) {
  if (first == Arena::kEpsilon) return next;
  const RestId made{static_cast<std::uint32_t>(rests_.size())};
  const auto [known, is_new] = rest_ids_.insert((std::uint64_t{first.value} << 32) | next.value, made);
  if (is_new) rests_.push_back({first, next});
  return known;
}

// Of all that may follow, the most; computed once the forks in it are complete.
const RuleMaskMaker::Rest& RuleMaskMaker::measured(RestId rest) {
  const auto is_known = [](const Rest& at) { return at.is_measured; };
  if (is_known(rests_[rest.value])) return rests_[rest.value];
  compute_along(rest, is_known, [this](Rest& at) {
    if (at.fork == Rest::kNoFork) {
      const ExpressionNode& n = arena_.node(at.first);
      const Rest& next = rests_[at.next.value];
      at.spelled = n.spelled + next.spelled;
      at.begins = context_.beginnings.of(at.first);
      if (n.nullable) at.begins |= next.begins;
      at.is_unverified = n.unverified || next.is_unverified;
      at.waits = n.waits || next.waits;
      at.begins_unverified =
          at.is_unverified || is_unverified(at.first) || (n.kind == Kind::Commit && next.begins_unverified);
    } else {
      forks_[at.fork].for_each([&](RestId next) {
        at.spelled = std::max(at.spelled, rests_[next.value].spelled);
        at.begins |= rests_[next.value].begins;
        at.is_unverified |= rests_[next.value].is_unverified;
        at.waits |= rests_[next.value].waits;
        at.begins_unverified |= rests_[next.value].begins_unverified;
      });
    }
    at.is_measured = true;
  });
  return rests_[rest.value];
}

// `visit(rest, first, next)` for what a rest begins with; for each of the alternatives if it is a fork, which may be
// closed.  What was met before is left out.
template <class Visit>
void RuleMaskMaker::for_each_part(RestId rest, bool closes, Visited<std::uint32_t, NumberHash>& met, Visit&& visit) {
  std::vector<RestId>& open = parts_of_;
  open.assign(1, rest);
  while (!open.empty()) {
    const RestId at = open.back();
    open.pop_back();
    if (at == kNothing) continue;
    const Rest n = rests_[at.value];
    if (!met.insert(n.fork == Rest::kNoFork ? at.value : ~n.fork)) continue;  // a fork may stand in many rests
    if (n.fork == Rest::kNoFork) {
      visit(at, n.first, n.next);
    } else {
      forks_[n.fork].is_closed |= closes;
      forks_[n.fork].is_passed = true;
      forks_[n.fork].for_each([&open](RestId next) { open.push_back(next); });
    }
  }
}

// All that may follow, as an expression.  The forks in it are closed.
ExpressionId RuleMaskMaker::joined(ExpressionId first, RestId rest) {
  compute_along(
      rest, [](const Rest& at) { return at.joined.has_value(); },
      [this](Rest& at) {
        if (at.fork == Rest::kNoFork) {
          at.joined = arena_.concatenate(at.first, *rests_[at.next.value].joined);
          return;
        }
        Fork& fork = forks_[at.fork];
        fork.is_closed = true;
        std::vector<ExpressionId> alternatives;
        fork.for_each([&](RestId next) { alternatives.push_back(*rests_[next.value].joined); });
        at.joined = arena_.unite(alternatives);
      });
  return arena_.concatenate(first, *rests_[rest.value].joined);
}

// Whether it is unverified at the front, without applying a choice that stands there.
bool RuleMaskMaker::is_unverified(ExpressionId expression) const {
  const ExpressionNode& n = arena_.node(expression);
  if (n.unverified || !n.commits) return n.unverified;
  if (n.kind == Kind::Union)
    return std::ranges::any_of(arena_.items(n), [this](ExpressionId item) { return is_unverified(item); });
  if (n.kind == Kind::Concatenation) return is_unverified(n.head()) || is_unverified(n.tail());
  return n.kind == Kind::Commit && n.first == Rules::kUnverified;
}

// ---- alternatives -----------------------------------------------------------------------------

// What may be read below a spot: at once, or when all readings that reach the spot are known.
void RuleMaskMaker::open(Spot spot, RestId rest) {
  if (rest == kNothing || is_last(spot)) return;
  if (joins_) {
    waiting_.push_back({position(spot), rest});
    std::ranges::push_heap(waiting_, std::greater());
    return;
  }
  const Rest& at = rests_[rest.value];
  if (!opened_.insert({spot, at.first, at.next})) return;
  parts_.push_back({at.first, at.next, true});
  split_parts(spot);
  opened_rests_.clear();
}

// The same after a segment.
void RuleMaskMaker::open_after(const TokenTrie& remainders, std::optional<Spot> trunk, RestId rest) {
  open({&remainders, TokenTrie::root()}, rest);
  if (trunk) open(*trunk, rest);
}

// Splits expressions, and what follows them, into alternatives that may read a byte below the spot.
void RuleMaskMaker::split_parts(Spot spot) {
  below_ = {};
  for (const std::uint8_t byte : bytes_below(spot)) below_.add(byte);
  while (!parts_.empty()) {
    const Part part = parts_.back();
    parts_.pop_back();
    const ExpressionNode n = arena_.node(part.expression);
    const bool reads_none =
        joins_ && !n.open && !n.commits && !context_.beginnings.of(part.expression).intersects(below_);
    if (notes_reads() && reads_none) read_.insert(part.expression.value, {}).first.avoided |= below_;
    if (reads_none && !n.nullable) continue;
    // optional parts lead to one part many times
    if (joins_ && !opened_.insert({spot, part.expression, part.after})) continue;
    if (reads_none) {
      open_parts(spot, part.after, part.is_whole);
      continue;
    }
    if (notes_reads()) read_.insert(part.expression.value, {}).first.is_split = true;
    if (n.commits) {
      if (!may_begin(part.expression, part.after)) continue;
      applies_choice_ = true;
      parts_.push_back({arena_.settled(joined(part.expression, part.after)), kNothing, part.is_whole});
    } else if (n.kind == Kind::Union && joins_ && n.rules) {
      open_union(spot, part);
    } else if (n.kind == Kind::Union) {
      for (const ExpressionId item : arena_.items(n)) parts_.push_back({item, part.after, part.is_whole});
    } else {
      const auto [head, tail] = arena_.split(part.expression);
      open_head(spot, head, tail, part);
    }
  }
}

// Rules without left recursion share what they begin with: a union is within many others, and the ways to it multiply.
// So its items are split once, before all that may follow it.  Where one of them may be empty, what follows is split
// here too.
void RuleMaskMaker::open_union(Spot spot, const Part& part) {
  const ExpressionNode n = arena_.node(part.expression);
  const auto [fork, is_new] = fork_after(part.expression);
  forks_[fork].add(part.after);
  if (is_new) {
    const RestId after = put_fork(fork);
    for (const ExpressionId item : arena_.items(n)) parts_.push_back({item, after, part.is_whole});
  } else if (forks_[fork].is_passed) {
    open_parts(spot, part.after, part.is_whole);
  }
}

void RuleMaskMaker::open_head(Spot spot, ExpressionId head, ExpressionId tail, const Part& part) {
  const ExpressionNode n = arena_.node(head);
  const RestId after = put(tail, part.after);
  if (n.kind == Kind::Union || n.kind == Kind::Concatenation) {
    parts_.push_back({head, after, part.is_whole});
    return;
  }
  if (may_begin(n)) {
    const bool is_segment = part.is_whole && may_have_segment(spot, head);
    const auto body =
        n.kind == Kind::Rule && !is_segment ? arena_.rules(n).unfolded(n.rule(), arena_, *budget_) : std::nullopt;
    if (!joins_ && body) {
      parts_.push_back({*body, after, false});
    } else if (!joins_) {
      open_.push_back({spot, head, after});
    } else if (n.kind == Kind::Repetition && n.rules && !is_segment) {
      unfold(head, after);
    } else if (const auto [fork, is_new] = fork_after(head); true) {
      forks_[fork].add(after);
      if (is_new && body) parts_.push_back({*body, put_fork(fork), false});
      if (is_new && !body) heads_.push_back({head, fork, is_segment});
    }
  }
  if (!n.nullable || n.open) return;
  if (tail != Arena::kEpsilon) parts_.push_back({tail, part.after, part.is_whole});
  else open_parts(spot, part.after, part.is_whole);
}

// Opens what a repetition or a rule that has a body may begin with.
void RuleMaskMaker::unfold(ExpressionId head, RestId after) {
  const ExpressionNode n = arena_.node(head);
  if (n.kind == Kind::Rule) {
    parts_.push_back({*arena_.rules(n).unfolded(n.rule(), arena_, *budget_), after, false});
    return;
  }
  const Count maximum = n.maximum == kUnbounded ? kUnbounded : n.maximum - 1;
  const ExpressionId more = arena_.repeat(n.body(), n.minimum == 0 ? 0 : n.minimum - 1, maximum);
  parts_.push_back({n.body(), put(more, after), false});
}

// Whether a part of a grammar is followed by its segment.  Few tokens are followed sooner than a segment is looked up.
bool RuleMaskMaker::may_have_segment(Spot spot, ExpressionId head) {
  const ExpressionNode n = arena_.node(head);
  const bool is_plain =
      n.rules && !n.unverified && !n.waits && !n.by_byte && !n.open && !n.behind && !n.constrained && !n.commits;
  return joins_ && context_.rule_segments.payoff().pay() && is_plain && !is_small(spot) && has_body(n);
}

// A rule that is read byte by byte alone, such as a name that may be spelled in any way, would be a segment of itself.
bool RuleMaskMaker::has_body(const ExpressionNode& n) {
  return n.kind != Kind::Rule || arena_.rules(n).unfolded(n.rule(), arena_, *budget_).has_value();
}

// ---- readings that reach one spot -------------------------------------------------------------

// At one spot each rest is opened once: what a fork is given after it was passed is opened then.
void RuleMaskMaker::open_parts(Spot spot, RestId rest, bool is_whole) {
  for_each_part(rest, false, opened_rests_, [&](RestId at, ExpressionId first, RestId next) {
    if (at != kExit) parts_.push_back({first, next, is_whole});
    else if (spot != *start_) exits_.push_back({spot.trie, spot.node});
  });
}

void RuleMaskMaker::open_together(Spot spot) {
  for (const Position here = waiting_.front().position; !waiting_.empty() && waiting_.front().position == here;) {
    std::ranges::pop_heap(waiting_, std::greater());
    const RestId rest = waiting_.back().rest;
    waiting_.pop_back();
    open_parts(spot, rest, true);
  }
  open_split(spot);
}

void RuleMaskMaker::open_split(Spot spot) {
  budget_->step();
  context_.rule_segments.payoff().note_spot();
  fork_after_.clear();
  heads_.clear();
  split_parts(spot);
  for (const auto& [head, fork, is_segment] : heads_) {
    const Fork& after = forks_[fork];
    open_.push_back({spot, head, after.others.empty() ? *after.first : put_fork(fork), is_segment});
  }
  opened_rests_.clear();
}

// The open fork after a head at the spot that is being opened, and whether it is new.
std::pair<std::uint32_t, bool> RuleMaskMaker::fork_after(ExpressionId head) {
  const auto [known, is_first] = fork_after_.insert(head.value, static_cast<std::uint32_t>(forks_.size()));
  const bool is_new = is_first || forks_[known].is_closed;
  if (is_new) {
    known = static_cast<std::uint32_t>(forks_.size());
    forks_.emplace_back();
  }
  return {known, is_new};
}

RuleMaskMaker::RestId RuleMaskMaker::put_fork(std::uint32_t fork) {
  rests_.push_back({Arena::kEpsilon, kNothing, fork});
  return {static_cast<std::uint32_t>(rests_.size() - 1)};
}

// Whether it may read a byte below the spot, as far as can be seen without unfolding; true if that is not known.
bool RuleMaskMaker::may_begin(const ExpressionNode& n) const {
  const auto is_below = [this](const ByteSet& first) { return first.intersects(below_); };
  switch (n.kind) {
    case Kind::Empty:
    case Kind::Epsilon:
    case Kind::ControlToken:
    case Kind::Unverified: return false;
    case Kind::Bytes: return is_below(arena_.byte_set(n));
    case Kind::Repetition:
      return arena_.node(n.body()).kind != Kind::Bytes || is_below(arena_.byte_set(arena_.node(n.body())));
    case Kind::Rule: return is_below(arena_.rules(n).may_begin(n.rule()));
    case Kind::Terminal: return arena_.node(n.body()).constrained || is_below(arena_.first_bytes(n.body()));
    default: return true;
  }
}

// The same for an expression that begins with a choice, and what follows it, whose forks it closes.  Applying a choice
// derives all of that again.
// Blanks below the spot can only belong to a longer indent, which has a choice of its own.
bool RuleMaskMaker::may_begin(ExpressionId expression, RestId rest) {
  constexpr unsigned kMostRead = 64;
  std::vector<std::pair<ExpressionId, RestId>> open{{expression, rest}};
  for (unsigned read = 0; !open.empty(); ++read) {
    if (read == kMostRead) return true;
    const auto [part, behind] = open.back();
    open.pop_back();
    if (notes_reads()) read_.insert(part.value, {}).first.is_split = true;
    const auto [head, tail] = arena_.split(part);
    const ExpressionNode& n = arena_.node(head);
    const RestId after = put(tail, behind);
    if (n.kind == Kind::Union) {
      for (const ExpressionId item : arena_.items(n)) open.emplace_back(item, after);
      continue;
    }
    if (n.kind != Kind::Commit && may_begin(n)) return true;
    if (n.kind != Kind::Commit && !n.nullable) continue;
    met_.clear();
    for_each_part(after, true, met_,
                  [&open](RestId, ExpressionId first, RestId next) { open.emplace_back(first, next); });
  }
  return false;
}

// ---- tokens -----------------------------------------------------------------------------------

void RuleMaskMaker::set(std::uint32_t token, bool is_unverified) {
  builder_.add(token);
  if (is_unverified) mask_.unverified.push_back(token);
}

// Adds the tokens that end at a node.  After them the text needs `spelled` more bytes; its closing text is `text()`.
template <class MakeText>
void RuleMaskMaker::add_own(Spot spot, bool is_unverified, std::uint64_t spelled, MakeText&& text) {
  if (endings_) {
    if (const auto own = spot.trie->own(spot.node); !own.empty()) add_ending(own, text(), is_unverified);
    return;
  }
  mask_.note(spelled);
  for (const std::uint32_t token : spot.trie->own(spot.node)) set(token, is_unverified);
}

// Adds the tokens that end where the head may end, before something unverified.  Those after which it may as well go on
// are allowed for that alone: each digit may be the last of a number, and need not be.
void RuleMaskMaker::add_ended(const Alternative& way, const TokenTrie& remainders, const Rest& rest) {
  mask_.note(rest.spelled);
  for (const std::uint32_t token : remainders.own(TokenTrie::root())) {
    const std::string_view text = context_.operands.vocabulary().bytes({token});
    ExpressionId at = way.head;
    for (const char byte : text.substr(vocabulary_.depth(way.spot.node, text)))
      at = arena_.derivative(at, static_cast<std::uint8_t>(byte), *budget_);
    set(token, arena_.count_texts(at, 2, *budget_) < 2);
  }
}

// ---- down the trie ----------------------------------------------------------------------------

void RuleMaskMaker::follow(const Alternative& way) {
  ++context_.work.counts.alternatives;
  const ExpressionNode head = arena_.node(way.head);
  if (head.kind == Kind::Bytes && follow_byte(way, head)) return;
  if (head.kind == Kind::Repetition && follow_repetition(way, head)) return;
  if (head.kind == Kind::Terminal && !measured(way.rest).begins.empty() &&
      context_.loops.is_free_text(way.head, *budget_))
    return follow_terminal(way);
  if (head.kind == Kind::Terminal) {  // in the vocabulary's trie other constraints may have the segment already
    return way.spot.trie != &vocabulary_ && is_small(way.spot) ? follow_terminal(way) : follow_segment(way);
  }
  if (head.kind == Kind::Rule && follow_names(way, head)) return;
  if (head.kind == Kind::Strings) return follow_strings(way, head);
  if (joins_ && is_regular(head)) return follow_terminal(way);
  if (way.is_segment) {
    if (follow_rules_segment(way)) return;
    unfold(way.head, way.rest);
    return open_split(way.spot);
  }
  walked_[position(way.spot)].push_back(joined(way.head, way.rest));
}

// Notes that a rest begins with none of some bytes: the choice between segments depends on that, and what is opened at
// all.
void RuleMaskMaker::note_none_of(RestId rest, const ByteSet& bytes) {
  if (!notes_reads()) return;
  std::vector<RestId> rests{rest};
  met_.clear();
  while (!rests.empty()) {
    const RestId at = rests.back();
    rests.pop_back();
    if (at == kNothing || !met_.insert(at.value)) continue;
    const Rest& n = rests_[at.value];
    if (n.fork != Rest::kNoFork) {
      forks_[n.fork].for_each([&rests](RestId next) { rests.push_back(next); });
      continue;
    }
    read_.insert(n.first.value, {}).first.avoided |= bytes;
    if (arena_.node(n.first).nullable) rests.push_back(n.next);
  }
}

void RuleMaskMaker::follow_segment(const Alternative& way) {
  const Rest rest = measured(way.rest);
  const bool inside_is_unverified = arena_.node(way.head).unverified || rest.is_unverified;
  const bool ends_text = rest.begins.empty() && context_.loops.is_free_text(way.head, *budget_);
  const Follow next = ends_text ? Follow::Nothing : joins_ ? follow_of(rest) : Follow::AnyByte;
  if (next != Follow::AnyByte) note_none_of(way.rest, kAllBytes.without(bytes_of(next)));
  const std::shared_ptr<const Segment> segment =
      way.spot.trie == &vocabulary_ ? context_.segments.of(way.head, way.spot.node, next, *budget_)
                                    : context_.segments.within(way.head, *way.spot.trie, way.spot.node, next, *budget_);
  if (endings_) {
    const bool is_front = way.spot.trie == &vocabulary_ && way.spot.node == TokenTrie::root();
    add_endings(endings_->of_terminal(way.head, *way.spot.trie, way.spot.node, next, *budget_), way.rest,
                inside_is_unverified, is_front);
  } else {
    for (const std::uint32_t token : segment->few) set(token, inside_is_unverified);
    if (!segment->is_listed()) {
      builder_.add(SharedWords(segment, &segment->inside));
      if (inside_is_unverified)
        for_each_bit(segment->inside, [this](std::uint32_t token) { mask_.unverified.push_back(token); });
    }
    mask_.note(std::min(arena_.node(way.head).worst, segment->most) + std::uint64_t{rest.spelled});
  }
  if (way.rest == kNothing) return;
  if (!endings_ && rest.begins_unverified && !inside_is_unverified && way.spot.trie == &vocabulary_)
    add_ended(way, segment->remainders, rest);
  else
    add_own({&segment->remainders, TokenTrie::root()}, rest.begins_unverified, rest.spelled,
            [&] { return text_of(way.rest); });
  open_after(segment->remainders,
             segment->has_trunk() ? std::optional<Spot>({way.spot.trie, segment->trunk}) : std::nullopt, way.rest);
}

// False if the part has no segment; then it is unfolded, as at small spots.  A walk would make states of all that is in
// it.
bool RuleMaskMaker::follow_rules_segment(const Alternative& way) {
  const Rest rest = measured(way.rest);
  const Follow next = follow_of(rest);
  if (next == Follow::NoWord) note_none_of(way.rest, kWordBytes);
  const RulesSegment* const segment =
      context_.rule_segments.of(way.head, *way.spot.trie, way.spot.node, next, *budget_);
  if (!segment) return false;
  if (endings_) {
    add_endings(endings_->of_part(way.head, *way.spot.trie, way.spot.node, next, *budget_), way.rest,
                rest.is_unverified, false);
  } else {
    builder_.add(segment->inside);
    if (rest.is_unverified)
      for_each_bit(segment->inside.row(), [this](std::uint32_t token) { mask_.unverified.push_back(token); });
    mask_.note(segment->most == RuleMask::kEndless ? ExpressionNode::kUnspelled : segment->most + rest.spelled);
  }
  open_after(segment->remainders,
             segment->trunk ? std::optional<Spot>({segment->trunk->trie, segment->trunk->node}) : std::nullopt,
             way.rest);
  return true;
}

// Whether so few tokens are below a spot that they are followed sooner than a segment is looked up.  Below runs of
// dashes or brackets each node has a few: a segment for each would be 60 of them, one within the other.
bool RuleMaskMaker::is_small(Spot spot) const {
  constexpr std::uint32_t kFew = 4;
  const TokenTrie::Node& node = spot.trie->node(spot.node);
  return node.tokens_end - node.tokens_begin <= kFew;
}

// Bytes are read with states of the terminal alone, which do not depend on what follows it: in small remainders, and
// where a regular part is no terminal.
void RuleMaskMaker::follow_terminal(const Alternative& way) {
  if (!endings_ && (way.spot.trie == &vocabulary_ || !is_small(way.spot))) return follow_wide_terminal(way);
  const TokenTrie& trie = *way.spot.trie;
  const Rest rest = measured(way.rest);
  const bool inside_is_unverified = arena_.node(way.head).unverified || rest.is_unverified;
  const std::uint32_t worst = arena_.node(way.head).worst;
  std::vector<std::pair<NodeId, StateId>> frames{{way.spot.node, automaton_.state_of(way.head, *budget_)}};
  while (!frames.empty()) {
    const auto [node, state] = frames.back();
    frames.pop_back();
    for (std::uint32_t child = trie.children_begin(node); child < trie.children_end(node); ++child) {
      const StateId reached = automaton_.next(state, trie.byte({child}), *budget_);
      if (reached == ByteAutomaton::kDead) continue;
      budget_->step();
      const Spot spot{&trie, {child}};
      const std::uint64_t inside = std::min(worst, automaton_.node(reached).spelled) + std::uint64_t{rest.spelled};
      add_own(spot, inside_is_unverified, inside, [&] { return text_of(reached, way.rest); });
      if (automaton_.accepting(reached)) {
        add_own(spot, rest.begins_unverified, rest.spelled, [&] { return text_of(way.rest); });
        open(spot, way.rest);
      }
      if (!is_last(spot)) frames.emplace_back(spot.node, reached);
    }
  }
}

// The same with loops, which the vocabulary's trie has summaries for.
// Problem.  Free text before a tag takes nearly all tokens, and may end after each of their bytes.  To open what
// follows at each of Llama 3.1's 274,520 nodes takes 0.3 s, though only  <  may follow.
// How.  Loops take whole runs of tokens.  What follows the part within them could only allow the same tokens once more.
// At the other nodes it is opened; below many tokens, where it may begin there.
void RuleMaskMaker::follow_wide_terminal(const Alternative& way) {
  const TokenTrie& trie = *way.spot.trie;
  const Rest rest = measured(way.rest);
  const bool are_few = is_small(way.spot);
  if (!are_few) note_none_of(way.rest, kAllBytes.without(rest.begins));
  const auto describe = [&](StateId state) { return WalkState{context_.loops.of(state, *budget_), true}; };
  const auto visit = [&](NodeId node, StateId state) {
    if (!automaton_.accepting(state)) return;
    const Spot spot{&trie, node};
    add_own(spot, rest.begins_unverified, rest.spelled, [&] { return text_of(way.rest); });
    if (are_few || intersects(rest.begins, spot)) open(spot, way.rest);
  };
  MaskWalk mask_walk(trie, automaton_, *budget_, describe, visit);
  mask_walk.enter_below(way.spot.node, automaton_.state_of(way.head, *budget_));
  const bool inside_is_unverified = arena_.node(way.head).unverified || rest.is_unverified;
  mask_.note(arena_.node(way.head).worst + rest.spelled);
  for (const TokenRange& range : mask_walk.ranges())
    for (std::uint32_t i = range.begin; i < range.end; ++i) set(trie.order()[i], inside_is_unverified);
}

bool RuleMaskMaker::follow_byte(const Alternative& way, const ExpressionNode& head) {
  const std::optional<std::uint8_t> byte = arena_.only_byte(head);
  if (!byte) return false;
  const std::optional<Spot> child = below(way.spot, *byte);
  if (!child) return true;
  const Rest rest = measured(way.rest);
  add_own(*child, rest.begins_unverified, rest.spelled, [&] { return text_of(way.rest); });
  open(*child, way.rest);
  return true;
}

// A fixed number of one byte, or an optional one.  Skipping it is an alternative of its own.
bool RuleMaskMaker::follow_repetition(const Alternative& way, const ExpressionNode& head) {
  const std::optional<std::uint8_t> byte = arena_.only_byte(arena_.node(head.body()));
  if (!byte || (head.minimum != head.maximum && !(head.minimum == 0 && head.maximum == 1))) return false;
  const Rest rest = measured(way.rest);
  Spot spot = way.spot;
  for (Count i = 0; i < head.maximum; ++i) {
    const std::optional<Spot> child = below(spot, *byte);
    if (!child) return true;
    spot = *child;
    const Count more = head.maximum - 1 - i;
    add_own(spot, rest.begins_unverified, more + rest.spelled,
            [&] { return after_bytes(std::string(more, static_cast<char>(*byte)), text_of(way.rest)); });
  }
  open(spot, way.rest);
  return true;
}

void RuleMaskMaker::follow_strings(const Alternative& way, const ExpressionNode& strings) {
  const StringAutomaton& automaton = arena_.string_automaton(strings);
  const bool is_unverified = measured(way.rest).begins_unverified;
  const std::uint64_t spelled = strings.worst + measured(way.rest).spelled;
  struct Frame {
    Spot spot;
    std::uint32_t state;
    StateId of_head;  // where endings are made
  };
  ByteAutomaton& states = automaton_;
  std::vector<Frame> frames{{way.spot, strings.second, endings_ ? states.state_of(way.head, *budget_) : StateId()}};
  while (!frames.empty()) {
    const auto [spot, state, of_head] = frames.back();
    frames.pop_back();
    budget_->step();
    for (const auto& [byte, target] : automaton.transitions(state)) {
      const std::optional<Spot> child = below(spot, byte);
      if (!child) continue;
      const StateId reached = endings_ ? states.next(of_head, byte, *budget_) : StateId();
      add_own(*child, is_unverified, spelled, [&, reached = reached] { return text_of(reached, way.rest); });
      if (is_last(*child)) continue;
      if (automaton.accepting(target)) open(*child, way.rest);
      frames.push_back({*child, target, reached});
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
  const Rest rest = measured(way.rest);
  const auto most_needed = [&](std::size_t low, std::size_t high) {
    std::uint64_t longest = 0, besides = rule.spelled;
    for (std::size_t i = low; i < high; ++i) {
      longest = std::max<std::uint64_t>(longest, names_[i].size());
      besides = std::max<std::uint64_t>(besides, rules.spelled_after(rule.rule(), i));
    }
    return longest + besides + rest.spelled;
  };
  std::vector<std::pair<Spot, std::size_t>> ends;
  const std::optional<std::uint8_t> leaving = rules.leaving_byte();
  std::vector<Frame> leaving_spots;
  std::vector<Frame> frames{{way.spot, 0, names_.size(), 0, 0}};
  while (!frames.empty()) {
    const Frame frame = frames.back();
    frames.pop_back();
    budget_->step();
    if (const std::optional<Spot> left = leaving ? below(frame.spot, *leaving) : std::nullopt)
      leaving_spots.push_back({*left, frame.low, frame.high, frame.depth, 0});
    for (std::size_t low = frame.low, high; low < frame.high; low = high) {
      const char byte = names_[low][frame.depth];
      for (high = low + 1; high < frame.high && names_[high][frame.depth] == byte;) ++high;
      const std::optional<Spot> child = below(frame.spot, static_cast<std::uint8_t>(byte));
      if (!child) continue;
      const std::uint64_t spelled = frame.depth == 0 ? most_needed(low, high) : frame.spelled;
      add_own(*child, rule.unverified || rest.is_unverified, spelled,
              [&] { return text_of_names(rule, low, high, frame.depth + 1, way.rest); });
      if (is_last(*child)) continue;
      if (names_[low].size() == frame.depth + 1) ends.emplace_back(*child, low);
      else frames.push_back({*child, low, high, frame.depth + 1, spelled});
    }
  }
  for (const auto& [spot, name] : ends) open(spot, put(rules.after(rule.rule(), name, arena_, *budget_), way.rest));
  for (const Frame& left : leaving_spots) {
    const ExpressionId after = rules.after_leaving(rule.rule(), left.low, left.high, left.depth, arena_, *budget_);
    if (after == Arena::kEmpty) continue;
    const RestId behind = put(after, way.rest);
    const Rest after_byte = measured(behind);
    add_own(left.spot, after_byte.begins_unverified, after_byte.spelled, [&] { return text_of(behind); });
    open(left.spot, behind);
  }
  return true;
}

// ---- walks ------------------------------------------------------------------------------------

// Loops take whole runs of tokens without examining them.  Unverified tokens must be examined, so they are walked.
void RuleMaskMaker::walk(Spot spot, StateId state) {
  const TokenTrie& trie = *spot.trie;
  constexpr std::uint64_t kLongestRest = 3;  // of a code point that a loop has begun
  const auto describe = [&](StateId at) {
    if (endings_ || automaton_.node(at).unverified) return WalkState{{}, true};
    const std::span<const Loop> loops = context_.loops.of(at, *budget_);
    if (!loops.empty()) note_loops(at);
    return WalkState{loops, true};
  };
  const auto visit = [&](NodeId at, StateId reached) {
    if (endings_) return add_ending(trie.own(at), text_of(reached), automaton_.node(reached).unverified);
    mask_.note(std::uint64_t{automaton_.node(reached).spelled} + kLongestRest);
    if (!automaton_.node(reached).unverified) return;
    for (const std::uint32_t token : trie.own(at)) mask_.unverified.push_back(token);
  };
  MaskWalk mask_walk(trie, automaton_, *budget_, describe, visit);
  mask_walk.enter_below(spot.node, state);
  if (endings_) return;
  for (const TokenRange& range : mask_walk.ranges())
    for (std::uint32_t i = range.begin; i < range.end; ++i) set(trie.order()[i], false);
}

// Notes what the text needs after the tokens that loops take.  These tokens stay in the heads of the alternatives, and
// the walk does not visit the states that they lead to.
void RuleMaskMaker::note_loops(StateId at) {
  const ExpressionId expression = automaton_.expression(at);
  for (const ExpressionId alternative : arena_.alternatives(expression)) {
    const ExpressionNode& node = arena_.node(alternative);
    const bool is_long = node.kind == Kind::Concatenation;
    const std::uint64_t inside = arena_.node(is_long ? node.head() : alternative).worst;
    mask_.note(inside + (is_long ? arena_.node(node.tail()).spelled : 0));
  }
}

}  // namespace tokamata
