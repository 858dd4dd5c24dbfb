#include "repair/stream_search.hpp"

#include <algorithm>
#include <new>
#include <set>
#include <tuple>

#include "repair/pattern_states.hpp"

namespace tokamata {

namespace {

constexpr std::uint64_t kExpansionsOfAByte = 30, kExpansionsAtOnce = 2000, kMostAllowed = 10'000;
constexpr std::uint64_t kVisitsOfAByte = 100, kVisitsAtOnce = 1000;
constexpr std::size_t kMostNodes = 1 << 19;

}  // namespace

StreamSearch::StreamSearch(std::shared_ptr<KeptAutomata> automata, std::shared_ptr<const EditMachine> machine,
                           EditCost slack, const Limits& limits, std::shared_ptr<const CancelToken> cancel)
    : BorrowedAutomaton(std::move(automata), limits, cancel),
      machine_(std::move(machine)),
      slack_(slack),
      limits_(limits),
      cancel_(std::move(cancel)),
      allowed_(kExpansionsAtOnce) {
  model_.machine = machine_;
  writings_ = borrowed().writings(machine_);
  Budget budget(limits_, cancel_, age_seconds());
  const StateId start = over_approximation(automaton(), automaton().start(), budget);
  if (start == ByteAutomaton::kDead || (!automaton().accepting(start) && automaton().may_read(start, budget).empty()))
    throw EmptyLanguage();
  same_ = start;
  positions_.emplace_back();
  relax(kNone, {0, kStartMode, start}, {}, {EditKind::Keep, 0});
  spent_seconds_ = budget.spent_seconds();
  end_charging();
}

void StreamSearch::feed(std::string_view bytes) {
  if (!follows_) return;
  const Charge charge(account());
  text_.insert(text_.end(), bytes.begin(), bytes.end());
  positions_.resize(text_.size() + 1 - base_);
  allowed_ = std::min(allowed_ + kExpansionsOfAByte * bytes.size(), kMostAllowed);
  credit_ = std::min(credit_ + kVisitsOfAByte * bytes.size(), std::uint64_t{1} << 40);
}

void StreamSearch::add(Rewrite rewrite) {
  if (!follows_ || rewrite.begin < base_) return;
  const Charge charge(account());
  const auto index = static_cast<std::uint32_t>(rewrites_.size());
  Position& here = at(rewrite.begin);
  if (rewrite.begin < settled_) late_.push_back(index);
  rewrites_.push_back({std::move(rewrite), here.first_rewrite});
  here.first_rewrite = index;
}

void StreamSearch::add_doubt(std::uint32_t position, EditCost cost, ModeSet within) {
  if (!follows_ || position < base_) return;
  at(position).has_doubt = true;
  doubts_[position].push_back({cost, within});
}

void StreamSearch::add_firm(std::uint32_t position, EditCost cost) {
  if (follows_ && position >= base_) at(position).firm += cost;
}

std::uint64_t StreamSearch::keeping(Mode mode, std::uint32_t position) {
  const EditCost base = model_.costs(mode).keep[byte_at(position)];
  if (base == kNoEdit || !at(position).has_doubt) return base;
  EditCost dearest = 0;
  for (const Doubt& doubt : doubts_[position])
    if ((doubt.within >> mode) & 1) dearest = std::max(dearest, doubt.cost);
  return std::uint64_t{base} + dearest;
}

void StreamSearch::push(NodeNumber number) {
  const Node& node = nodes_[number];
  if (node.next == kNothingLeft) return;
  queue_.push_back({node.reached.cost + node.next, node.at.position, number, node.version, node.next});
  std::push_heap(queue_.begin(), queue_.end());
}

void StreamSearch::relax(NodeNumber from, const EditState& to, PathCost reached, EditStep step) {
  if (to.state == ByteAutomaton::kDead) return;
  if (const auto known = nodes_.find(to)) {
    Node& node = nodes_[*known];
    if (reached > node.reached) return;
    if (reached == node.reached) {
      // A step that goes nowhere and costs nothing may lead back to where it came from.
      const bool goes_on = from != kNone && (nodes_[from].at.position < to.position || nodes_[from].reached < reached);
      if (goes_on && node.from != kNone && is_edited_later({from, step}, {node.from, node.step})) {
        node.from = from;
        node.step = step;
      }
      return;
    }
    node.reached = reached;
    node.from = from;
    node.step = step;
    node.is_begun = false;
    node.next = 0;
    ++node.version;
    push(*known);
    return;
  }
  Position& here = at(to.position);
  here.first = nodes_.add({to, reached, from, step, here.first});
  push(here.first);
}

// Of two paths to one node at one cost, the one that keeps the text longer before an edit, as the search for a whole
// text finds it first: the last edits are compared, then those before.  Of the same edit the least byte is written.
bool StreamSearch::is_edited_later(Arrival one, Arrival other) const {
  const auto back = [&](Arrival& at) {
    while (at.from != kNone && at.step.kind == EditKind::Keep) at = {nodes_[at.from].from, nodes_[at.from].step};
  };
  for (;;) {
    back(one);
    back(other);
    if (one.from == kNone || other.from == kNone) return false;
    const std::uint32_t mine = nodes_[one.from].at.position, others = nodes_[other.from].at.position;
    if (mine != others) return mine > others;
    if (one.from == other.from)
      return one.step.kind == other.step.kind && one.step.kind != EditKind::Rewrite &&
             one.step.operand < other.step.operand;
    one = {nodes_[one.from].from, nodes_[one.from].step};
    other = {nodes_[other.from].from, nodes_[other.from].step};
  }
}

void StreamSearch::take_rewrite(NodeNumber from, std::uint32_t index, Budget& budget) {
  const Node node = nodes_[from];
  const Rewrite& rewrite = rewrites_[index].rewrite;
  const PathCost reached = node.reached + PathCost{rewrite.cost, rewrite.end - rewrite.begin,
                                                   static_cast<std::uint32_t>(rewrite.written.size())};
  StateId state = node.at.state;
  for (const char written : rewrite.written)
    state = automaton().next(state, static_cast<std::uint8_t>(written), budget);
  relax(from, {rewrite.end, model_.after(node.at.mode, rewrite), state}, reached, {EditKind::Rewrite, index});
}

// The edges of a node whose prices are from `price` to the slack, or of this price alone.
void StreamSearch::expand(NodeNumber number, std::uint64_t price, Budget& budget) {
  ++expansions_;
  const Node node = nodes_[number];
  if (at(node.at.position).has_open)
    for (auto one = std::ranges::lower_bound(open_, node.at.position, {}, &OpenRewrite::position);
         one != open_.end() && one->position == node.at.position; ++one)
      wait_for(*one, node);
  const std::uint64_t most = node.is_begun ? price : std::max(price, slack_);
  std::uint64_t next = kNothingLeft;
  const auto is_made = [&](std::uint64_t cost) {
    if (node.is_begun && cost < price) return false;
    if (cost <= most) return true;
    next = std::min(next, cost);
    return false;
  };
  const std::uint8_t byte = byte_at(node.at.position);
  const EditCost firm = at(node.at.position).firm;
  if (const std::uint64_t cost = keeping(node.at.mode, node.at.position); cost < kNoEdit && is_made(cost))
    relax(number,
          {node.at.position + 1, model_.after(node.at.mode, byte), automaton().next(node.at.state, byte, budget)},
          node.reached + PathCost{cost, 0, 0}, {EditKind::Keep, 0});
  for (std::uint32_t index = at(node.at.position).first_rewrite; index != kNone; index = rewrites_[index].next) {
    const Rewrite& rewrite = rewrites_[index].rewrite;
    if (rewrite.may_be_taken(node.at.mode) && is_made(rewrite.cost)) take_rewrite(number, index, budget);
  }
  if (const std::uint64_t cost = std::uint64_t{model_.costs(node.at.mode).remove[byte]} + firm; is_made(cost))
    relax(number, {node.at.position + 1, node.at.mode, node.at.state}, node.reached + PathCost{cost, 1, 0},
          {EditKind::Remove, 0});
  std::optional<ByteSet> readable;
  const Writings::Where where = node.at.position == 0 ? Writings::Where::Begin : Writings::Where::Within;
  for (const Writing& writing : writings_->at(where, node.at.mode, automaton().node(node.at.state).by_byte)) {
    const std::uint64_t cost = std::uint64_t{writing.cost} + firm;
    if (!is_made(cost)) {
      if (cost > most) break;  // the cheapest come first
      continue;
    }
    if (!readable) readable = automaton().may_read(node.at.state, budget);
    if (!readable->contains(writing.byte)) continue;
    budget.step();
    const bool replaces = writing.kind == EditKind::Replace;
    const EditState target{node.at.position + replaces, model_.inserted(node.at.mode, writing.byte),
                           automaton().next(node.at.state, writing.byte, budget)};
    relax(number, target, node.reached + PathCost{cost, replaces, 1}, {writing.kind, writing.byte});
  }
  Node& after = nodes_[number];
  if (after.version != node.version) return;  // reached more cheaply by one of these: it is in the queue again
  after.is_begun = true;
  after.next = next;
  push(number);
}

// A node that a rewrite may leave waits as well.
void StreamSearch::wait_for(const OpenRewrite& open, const Node& node) {
  if ((open.within >> node.at.mode) & 1) least_waiting_ = std::min(least_waiting_, node.reached.cost + open.cost);
}

// Makes all edges up to the bound.  Whether it could.
bool StreamSearch::search(Budget& budget) {
  for (const NodeNumber number : waiting_) push(number);
  waiting_.clear();
  least_waiting_ = kNoCost;
  for (const std::uint32_t index : late_) {
    const Rewrite& rewrite = rewrites_[index].rewrite;
    for (NodeNumber number = at(rewrite.begin).first; number != kNone; number = nodes_[number].next_here)
      if (nodes_[number].is_begun && rewrite.may_be_taken(nodes_[number].at.mode)) take_rewrite(number, index, budget);
  }
  late_.clear();
  for (const OpenRewrite& open : open_) {
    at(open.position).has_open = true;
    for (NodeNumber number = at(open.position).first; number != kNone; number = nodes_[number].next_here)
      if (nodes_[number].is_begun) wait_for(open, nodes_[number]);
  }
  while (!queue_.empty()) {
    const Entry entry = queue_.front();
    if (least_waiting_ != kNoCost && entry.key > bound()) return true;
    const bool is_stale = nodes_[entry.node].version != entry.version || nodes_[entry.node].next != entry.price;
    const bool is_waiting = !is_stale && entry.position >= settled_;
    if (!is_stale && !is_waiting) {
      if (entry.key >= given_up_) return false;
      if (allowed_ == 0 || nodes_.size() > kMostNodes) {
        given_up_ = entry.key;
        return false;
      }
      --allowed_;
      budget.step();
    }
    std::pop_heap(queue_.begin(), queue_.end());
    queue_.pop_back();
    if (is_stale) continue;
    if (!is_waiting) {
      expand(entry.node, entry.price, budget);
      continue;
    }
    least_waiting_ = std::min(least_waiting_, entry.key);
    waiting_.push_back(entry.node);
  }
  return least_waiting_ != kNoCost;
}

// The nearest common ancestor of the nodes from which a repair may go on.
std::optional<StreamSearch::NodeNumber> StreamSearch::ancestor() const {
  using Ordered = std::tuple<std::uint32_t, PathCost, NodeNumber>;  // after the one from which it was reached
  std::set<Ordered> left;
  const auto add = [&](NodeNumber number) {
    left.insert({nodes_[number].at.position, nodes_[number].reached, number});
  };
  for (const NodeNumber number : waiting_) add(number);
  for (const auto& [position, cost, within] : open_) {
    for (NodeNumber number = positions_[position - base_].first; number != kNone; number = nodes_[number].next_here)
      if (((within >> nodes_[number].at.mode) & 1) && nodes_[number].reached.cost + cost <= bound()) add(number);
  }
  while (left.size() > 1) {
    const auto last = std::prev(left.end());
    const NodeNumber from = nodes_[std::get<2>(*last)].from;
    left.erase(last);
    if (from == kNone) return std::nullopt;
    add(from);
  }
  return std::get<2>(*left.begin());
}

StreamSearch::NodeNumber StreamSearch::not_beyond(NodeNumber node, std::size_t withheld) const {
  while (nodes_[node].at.position > withheld && nodes_[node].from != kNone) node = nodes_[node].from;
  return node;
}

// What the path from the start to a node writes.
std::string StreamSearch::written_to(NodeNumber node) const {
  std::vector<NodeNumber> path;
  for (NodeNumber at = node; nodes_[at].from != kNone; at = nodes_[at].from) path.push_back(at);
  std::string written;
  for (; !path.empty(); path.pop_back()) {
    const auto& [kind, operand] = nodes_[path.back()].step;
    switch (kind) {
      case EditKind::Keep: written.push_back(text_[nodes_[path.back()].at.position - 1]); break;
      case EditKind::Remove: break;
      case EditKind::Replace:
      case EditKind::Insert: written.push_back(static_cast<char>(operand)); break;
      case EditKind::Rewrite: written += rewrites_[operand].rewrite.written; break;
    }
  }
  return written;
}

// Drops all nodes that do not descend from one, and what came before it.
void StreamSearch::begin_at(NodeNumber start) {
  enum : std::uint8_t { Unknown, Descends, Dropped };
  std::vector<std::uint8_t> known(nodes_.size(), Unknown);
  known[start] = Descends;
  std::vector<NodeNumber> path;
  for (NodeNumber number = 0; number < nodes_.size(); ++number) {
    NodeNumber at = number;
    for (; at != kNone && known[at] == Unknown; at = nodes_[at].from) path.push_back(at);
    const std::uint8_t found = at == kNone ? std::uint8_t{Dropped} : known[at];
    for (; !path.empty(); path.pop_back()) known[path.back()] = found;
  }
  std::vector<NodeNumber> number_of(nodes_.size(), kNone);
  NodeNumber count = 0;
  for (NodeNumber number = 0; number < nodes_.size(); ++number)
    if (known[number] == Descends) number_of[number] = count++;
  const std::size_t base = nodes_[start].at.position;
  start_cost_ = nodes_[start].reached.cost;
  std::vector<std::uint32_t> rewrite_of(rewrites_.size(), kNone);
  counted::vector<HeldRewrite> rewrites;
  for (std::uint32_t index = 0; index < rewrites_.size(); ++index) {
    if (rewrites_[index].rewrite.begin < base) continue;
    rewrite_of[index] = static_cast<std::uint32_t>(rewrites.size());
    rewrites.push_back(std::move(rewrites_[index]));
  }
  const auto renumbered = [](const std::vector<std::uint32_t>& numbers, std::uint32_t number) {
    return number == kNone ? kNone : numbers[number];
  };
  for (HeldRewrite& held : rewrites) held.next = renumbered(rewrite_of, held.next);
  rewrites_ = std::move(rewrites);
  positions_.erase(positions_.begin(), positions_.begin() + static_cast<std::ptrdiff_t>(base - base_));
  base_ = base;
  for (Position& one : positions_) {
    one.first = kNone;
    one.first_rewrite = renumbered(rewrite_of, one.first_rewrite);
  }
  std::erase_if(doubts_, [&](const auto& one) { return one.first < base; });
  NodeTable<Node> nodes;
  nodes.reserve(count);
  for (NodeNumber number = 0; number < nodes_.size(); ++number) {
    if (known[number] != Descends) continue;
    Node node = nodes_[number];
    node.from = number == start ? kNone : number_of[node.from];
    if (node.from != kNone && node.step.kind == EditKind::Rewrite) node.step.operand = rewrite_of[node.step.operand];
    Position& here = at(node.at.position);
    node.next_here = here.first;
    here.first = nodes.add(node);
  }
  nodes_ = std::move(nodes);
  std::erase_if(queue_, [&](const Entry& entry) { return known[entry.node] != Descends; });
  for (Entry& entry : queue_) entry.node = number_of[entry.node];
  std::make_heap(queue_.begin(), queue_.end());
  for (NodeNumber& number : waiting_) number = number_of[number];
  std::erase(waiting_, kNone);
}

// A limit was passed: the text is followed no longer.
void StreamSearch::lose() {
  follows_ = false;
  least_waiting_ = decided_bound_ = kNoCost;
  text_ = {};
  nodes_ = {};
  queue_ = {};
  positions_ = {};
  rewrites_ = {};
  doubts_.clear();
  waiting_.clear();
}

std::string StreamSearch::advance(std::size_t settled, std::vector<OpenRewrite> open, std::size_t withheld) {
  if (!follows_) return {};
  const Charge charge(account());
  Budget budget(limits_, cancel_, spent_seconds_);
  std::string decided;
  try {
    budget.check();
    const auto is_of_the_text = [&] {
      return std::string_view(text_.data(), text_.size()).substr(decided_bytes_, decided.size()) == decided;
    };
    for (std::size_t at = same_read_; at < text_.size() && same_ != ByteAutomaton::kDead; ++at)
      same_ = automaton().next(same_, byte_at(at), budget);
    same_read_ = text_.size();
    settled_ = std::max(settled_, settled);
    for (const OpenRewrite& one : open_)
      if (one.position >= base_) at(one.position).has_open = false;
    open_ = std::move(open);
    std::erase_if(open_, [&](const OpenRewrite& one) { return one.position < base_ || one.position >= settled_; });
    std::ranges::sort(open_, {}, &OpenRewrite::position);
    const bool may_decide = withheld > base_ || same_ != ByteAutomaton::kDead;
    if (!may_decide) least_waiting_ = kNoCost;
    const bool has_searched = may_decide && search(budget);
    decided_bound_ = least_waiting_ == kNoCost ? kNoCost : bound();
    if (has_searched) {
      given_up_ = kNothingLeft;
      allowed_ = std::max(allowed_, kExpansionsAtOnce);
      if (credit_ + kVisitsAtOnce >= nodes_.size()) {
        credit_ -= std::min<std::uint64_t>(credit_, nodes_.size());
        if (const auto found = ancestor()) {
          const NodeNumber start = same_ == ByteAutomaton::kDead ? not_beyond(*found, withheld) : *found;
          decided = written_to(start);
          if (same_ != ByteAutomaton::kDead && (!is_same_ || !is_of_the_text())) {
            decided.clear();
          } else if (nodes_[start].from != kNone) {
            is_same_ = is_same_ && is_of_the_text();
            decided_bytes_ += decided.size();
            begin_at(start);
          }
        }
      }
    }
  } catch (const LimitExceeded&) {
    lose();
  } catch (const std::bad_alloc&) {
    lose();
  }
  spent_seconds_ = budget.spent_seconds();
  return decided;
}

std::string StreamSearch::undecided() {
  if (!follows_ || waiting_.empty()) return {};
  const Charge charge(account());
  Budget budget(limits_, cancel_, spent_seconds_);
  const NodeNumber best =
      *std::ranges::min_element(waiting_, {}, [&](NodeNumber number) { return nodes_[number].reached; });
  std::string written = written_to(best);
  StateId state = nodes_[best].at.state;
  Mode mode = nodes_[best].at.mode;
  for (std::size_t at = nodes_[best].at.position; at < text_.size(); ++at) {
    state = automaton().next(state, byte_at(at), budget);
    if (state == ByteAutomaton::kDead || model_.costs(mode).keep[byte_at(at)] != 0) break;
    mode = model_.after(mode, byte_at(at));
    written.push_back(text_[at]);
  }
  spent_seconds_ = budget.spent_seconds();
  return written;
}

}  // namespace tokamata
