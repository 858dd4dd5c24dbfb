#include "repair/search.hpp"

#include <algorithm>
#include <new>
#include <tuple>

namespace tokamata {

namespace {

// Where a search with excess finds nothing in so many steps, and two for each byte, its best attempt is a bad one.
constexpr std::uint64_t kExpansionsOfATry = 2000;
// An unread byte counts as this share of the cheapest edit at a weight of 2, so that an attempt is followed until it
// costs an edit more than one that is some dozen bytes behind.
constexpr std::uint64_t kBytesForAnEdit = 12;
constexpr std::size_t kNodesAtFirst = 4000;

}  // namespace

RepairSearch::RepairSearch(std::shared_ptr<KeptAutomata> automata, std::string text,
                           std::shared_ptr<const EditModel> model, std::uint32_t weight, const Limits& limits,
                           std::shared_ptr<const CancelToken> cancel)
    : BorrowedAutomaton(std::move(automata), limits, cancel),
      edits_(std::move(text), model, borrowed().writings(model->machine)),
      weight_(weight),
      limits_(limits),
      cancel_(std::move(cancel)),
      estimate_(edits_.model(), edits_.least(), edits_.length()) {
  if (weight < SearchWeight::kOne) throw BadEditModel("the weight is below 1");
  const EditCost cheapest = edits_.least().change;
  cheapest_ = cheapest == kNoEdit ? 1 : cheapest;
  pull_ = std::max<std::uint64_t>(cheapest_ / kBytesForAnEdit, 1);

  Budget budget(limits_, cancel_, age_seconds());
  write_anew(budget);
  nodes_.reserve(std::min<std::size_t>(2 * edits_.length(), kNodesAtFirst));
  begin(borrowed().relaxed_start(budget), ByteAutomaton::kDead);
  spent_seconds_ = budget.spent_seconds();
  end_charging();
}

// Searches from a state of the pattern, with nothing reached yet.
void RepairSearch::begin(StateId start, StateId guiding) {
  start_ = start;
  least_refused_ = kNothingRefused;
  nodes_.clear();
  queue_.clear();
  relax(kNoNode, {0, kStartMode, start}, guiding, {}, {EditKind::Keep, 0});
}

// The search in the over-approximation is over; what it knows guides the one in the pattern.
void RepairSearch::begin_exactly(Budget& budget) {
  // Of what costs one edit more than the answer that was refused: what the pattern accepts is mostly that near.
  constexpr std::size_t kMostGuided = 2000, kMostGuidedByByte = 8;
  proven_ = {least_refused_, reached(least_refused_), false};
  const StateId guiding = start_;
  guide_ = guide_within(automaton(), edits_, estimate_, guiding, least_refused_ + cheapest_,
                        kMostGuided + kMostGuidedByByte * edits_.length(), budget);
  is_guided_try_ = true;
  weight_.begin(expansions_);
  begin(automaton().start(), guiding);
}

// There are too many states to return to: the first attempt goes on whatever it costs.
void RepairSearch::go_on_blindly() {
  constexpr std::uint32_t kBlindWeight = 100'000;
  is_guided_try_ = false;
  weight_.raise(kBlindWeight, expansions_);
  queue_again();
}

StateId RepairSearch::guiding_after(StateId guiding, std::uint8_t byte, Budget& budget) {
  return guide_ ? automaton().next(guiding, byte, budget) : guiding;
}

// The first answer: remove the text and write another.
void RepairSearch::write_anew(Budget& budget) {
  std::optional<std::string> text = accepted_text(automaton(), automaton().start(), edits_.writings(), budget);
  if (!text) throw EmptyLanguage();
  best_.steps.reserve(edits_.length() + text->size());
  for (std::uint32_t position = 0; position < edits_.length(); ++position) {
    best_.cost.cost += edits_.removing(kStartMode, position);
    best_.steps.push_back({EditKind::Remove, 0});
  }
  best_.text = *std::move(text);
  Mode mode = kStartMode;
  for (const char letter : best_.text) {
    const auto byte = static_cast<std::uint8_t>(letter);
    best_.steps.push_back({EditKind::Insert, byte});
    best_.cost.cost += edits_.model().costs(mode).append[byte];
    mode = edits_.model().inserted(mode, byte);
  }
  best_.cost.lost = edits_.length();
  best_.cost.written = static_cast<std::uint32_t>(best_.text.size());
}

bool RepairSearch::is_accepted(const std::string& text, Budget& budget) {
  StateId state = automaton().start();
  for (const char byte : text) state = automaton().next(state, static_cast<std::uint8_t>(byte), budget);
  return automaton().accepting(state);
}

// No answer through the edges that the node has left costs less.
std::uint64_t RepairSearch::bound_of(const Node& node) const {
  return node.next == kDone ? kDone : node.reached.cost + std::max<std::uint64_t>(node.estimate.cost, node.next);
}

std::uint64_t RepairSearch::bound_of(const Entry& entry) const {
  const Node& node = nodes_[entry.node];
  if (entry.rewrite == kByPrice) return bound_of(node);
  return node.reached.cost + std::max<std::uint64_t>(node.estimate.cost, edits_.rewrite(entry.rewrite).cost);
}

// Visits each edge that the node may have by price, but the one that keeps a byte: its price, how many bytes it loses
// and writes.
template <class Visit>
void RepairSearch::visit_prices(const Node& node, Visit&& visit) const {
  const EditCost firmness = edits_.model().firmness(node.at.position);
  if (node.at.position < edits_.length()) visit(edits_.removing(node.at.mode, node.at.position), 1u, 0u);
  for (std::uint32_t index = edits_.first_rewrite(node.at.position); index < edits_.last_rewrite(node.at.position);
       ++index)
    if (const Rewrite& rewrite = edits_.rewrite(index); rewrite.may_be_taken(node.at.mode) && !is_far(rewrite))
      visit(std::uint64_t{rewrite.cost}, rewrite.end - rewrite.begin,
            static_cast<std::uint32_t>(rewrite.written.size()));
  for (const Writing& writing : edits_.writings(node.at, automaton()))
    visit(std::uint64_t{writing.cost} + firmness, writing.kind == EditKind::Replace ? 1u : 0u, 1u);
}

// Whether no answer through the edges that the node has left is better.
bool RepairSearch::has_no_better(const Node& node) const {
  const std::uint64_t bound = bound_of(node);
  if (bound != best_.cost.cost) return bound > best_.cost.cost;
  PathCost least{bound, node.reached.lost, node.reached.written + node.estimate.written};
  // only the edges of this price can lead to so cheap an answer
  if (node.next > 0 && node.next >= node.estimate.cost) {
    std::uint32_t lost = ~std::uint32_t{0}, written = 0;
    visit_prices(node, [&](std::uint64_t price, std::uint32_t loses, std::uint32_t writes) {
      if (price == node.next && std::tie(loses, writes) < std::tie(lost, written))
        std::tie(lost, written) = std::tie(loses, writes);
    });
    if (node.at.position < edits_.length() && edits_.keeping(node.at.mode, node.at.position) == node.next)
      lost = written = 0;
    if (lost == ~std::uint32_t{0}) return true;
    least = {bound, node.reached.lost + lost, node.reached.written + std::max(node.estimate.written, written)};
  }
  return is_hopeless(least);
}

bool RepairSearch::has_no_better(const Node& node, const Rewrite& rewrite) const {
  return is_hopeless(
      {node.reached.cost + std::max<std::uint64_t>(node.estimate.cost, rewrite.cost),
       node.reached.lost + rewrite.end - rewrite.begin,
       node.reached.written + std::max(node.estimate.written, static_cast<std::uint32_t>(rewrite.written.size()))});
}

// The order in the queue, by the cost of the bound and the bytes that are left.
std::uint64_t RepairSearch::key_of(std::uint64_t unread, std::uint64_t cost) const {
  return cost + unread * pull_ * weight_.excess() / SearchWeight::kOne;
}

// If it can lead to a better answer.
void RepairSearch::push(NodeNumber number) {
  const Node& node = nodes_[number];
  if (has_no_better(node)) return;
  const auto unread = edits_.length() - node.at.position;
  queue_.push({key_of(unread, bound_of(node)), unread, number, node.version});
}

void RepairSearch::push_far_rewrites(NodeNumber number) {
  const Node& node = nodes_[number];
  for (std::uint32_t index = edits_.first_rewrite(node.at.position); index < edits_.last_rewrite(node.at.position);
       ++index) {
    const Rewrite& rewrite = edits_.rewrite(index);
    if (!is_far(rewrite) || !rewrite.may_be_taken(node.at.mode) || has_no_better(node, rewrite)) continue;
    const auto unread = edits_.length() - rewrite.end;
    queue_.reserve_one();
    queue_.push({key_of(unread, node.reached.cost + std::max<std::uint64_t>(node.estimate.cost, rewrite.cost)), unread,
                 number, node.version, index});
  }
}

// An edge to a node, which is added where it is new.
void RepairSearch::relax(NodeNumber from, const EditState& at, StateId guiding, PathCost reached, EditStep step) {
  if (at.state == ByteAutomaton::kDead || is_hopeless(reached)) return;
  queue_.reserve_one();  // before anything changes, so that no node is ever missing in the queue
  if (const auto known = nodes_.find(at)) {
    Node& node = nodes_[*known];
    if (reached >= node.reached) {
      // Of bytes that lead from one node to another at one price the least is written.
      if (reached == node.reached && node.from == from && node.step.kind == step.kind)
        node.step.operand = std::min(node.step.operand, step.operand);
      return;
    }
    node.reached = reached;
    node.from = from;
    node.step = step;
    node.guiding = guiding;
    node.next = kFirst;
    ++node.version;
    push(*known);
    return;
  }
  Estimate::Bound estimate = estimate_(at.position, automaton(), at.state);
  if (guide_)
    if (const std::uint64_t left = guide_->least_left({at.position, at.mode, guiding}); left > estimate.cost)
      estimate = {left, 0};
  if (is_hopeless({reached.cost + estimate.cost, reached.lost, reached.written + estimate.written})) return;
  push(nodes_.add({at, 0, reached, estimate, step, from, guiding}));
}

// The edges of one price; and an answer, if the text ends here.  The queue prefers the latest of equal nodes, so that
// what is to come first is made last.
void RepairSearch::expand(NodeNumber number, Budget& budget) {
  ++expansions_;
  const Node node = nodes_[number];
  const std::uint64_t price = node.next;
  const EditCost firmness = edits_.model().firmness(node.at.position);
  std::uint64_t next = kDone;
  const auto is_due = [&](std::uint64_t cost) {
    if (cost > price) next = std::min(next, cost);
    return cost == price;
  };
  const Writings::List& writings = edits_.writings(node.at, automaton());
  const auto is_cheaper = [&](const Writing& writing, std::uint64_t cost) {
    return std::uint64_t{writing.cost} + firmness < cost;
  };
  auto end = writings.begin();
  if (!writings.empty() && is_cheaper(writings.front(), price + 1))
    end = std::lower_bound(writings.begin(), writings.end(), price + 1, is_cheaper);
  if (end != writings.end()) next = std::uint64_t{end->cost} + firmness;
  if (end != writings.begin() && std::uint64_t{(end - 1)->cost} + firmness == price) {
    const ByteSet readable = automaton().may_read(node.at.state, budget);
    for (auto at = end; at != writings.begin() && std::uint64_t{(at - 1)->cost} + firmness == price; --at)
      if (readable.contains((at - 1)->byte)) take_writing(number, *(at - 1), budget);
  }
  const bool is_end = node.at.position == edits_.length();
  if (is_end) {
    if (price == kFirst && automaton().accepting(node.at.state) && node.reached < best_.cost)
      take_answer(number, budget);
  } else if (is_due(edits_.removing(node.at.mode, node.at.position))) {
    relax(number, {node.at.position + 1, node.at.mode, node.at.state}, node.guiding,
          node.reached + PathCost{price, 1, 0}, {EditKind::Remove, 0});
  }
  for (std::uint32_t index = edits_.last_rewrite(node.at.position); index-- > edits_.first_rewrite(node.at.position);)
    if (const Rewrite& rewrite = edits_.rewrite(index);
        rewrite.may_be_taken(node.at.mode) && !is_far(rewrite) && is_due(rewrite.cost))
      take_rewrite(number, index, budget);
  if (!is_end)
    if (const std::uint64_t keeping = edits_.keeping(node.at.mode, node.at.position);
        keeping != kNoEdit && is_due(keeping)) {
      const std::uint8_t byte = edits_.byte(node.at.position);
      const StateId kept = automaton().next(node.at.state, byte, budget);
      relax(number, {node.at.position + 1, edits_.model().after(node.at.mode, byte), kept},
            guiding_after(node.guiding, byte, budget), node.reached + PathCost{price, 0, 0}, {EditKind::Keep, 0});
    }
  if (nodes_[number].version != node.version) return;  // reached more cheaply by one of these: queued anew
  if (price == kFirst) push_far_rewrites(number);
  Node& after = nodes_[number];
  after.next = next;
  if (next != kDone) push(number);
}

void RepairSearch::take_rewrite(NodeNumber number, std::uint32_t index, Budget& budget) {
  const Node node = nodes_[number];
  const Rewrite& rewrite = edits_.rewrite(index);
  const PathCost rewritten = node.reached + PathCost{rewrite.cost, rewrite.end - rewrite.begin,
                                                     static_cast<std::uint32_t>(rewrite.written.size())};
  if (is_hopeless(rewritten)) return;
  StateId state = node.at.state, guiding = node.guiding;
  for (const char written : rewrite.written) {
    state = automaton().next(state, static_cast<std::uint8_t>(written), budget);
    if (state == ByteAutomaton::kDead) return;
    guiding = guiding_after(guiding, static_cast<std::uint8_t>(written), budget);
  }
  relax(number, {rewrite.end, edits_.model().after(node.at.mode, rewrite), state}, guiding, rewritten,
        {EditKind::Rewrite, index});
}

void RepairSearch::take_writing(NodeNumber number, const Writing& writing, Budget& budget) {
  const Node node = nodes_[number];
  budget.step();
  const bool replaces = writing.kind == EditKind::Replace;
  const StateId target = automaton().next(node.at.state, writing.byte, budget);
  if (target == ByteAutomaton::kDead) return;
  relax(number, {node.at.position + replaces, edits_.model().inserted(node.at.mode, writing.byte), target},
        guiding_after(node.guiding, writing.byte, budget),
        node.reached + PathCost{std::uint64_t{writing.cost} + edits_.model().firmness(node.at.position), replaces, 1},
        {writing.kind, writing.byte});
}

// An answer, unless the pattern refuses what its over-approximation accepts.
void RepairSearch::take_answer(NodeNumber number, Budget& budget) {
  Answer answer;
  answer.cost = nodes_[number].reached;
  for (NodeNumber at = number; nodes_[at].from != kNoNode; at = nodes_[at].from)
    answer.steps.push_back(nodes_[at].step);
  std::ranges::reverse(answer.steps);
  std::size_t position = 0;
  for (const EditStep& step : answer.steps) {
    switch (step.kind) {
      case EditKind::Keep: answer.text.push_back(edits_.text()[position++]); break;
      case EditKind::Remove: ++position; break;
      case EditKind::Replace: ++position; [[fallthrough]];
      case EditKind::Insert: answer.text.push_back(static_cast<char>(step.operand)); break;
      case EditKind::Rewrite:
        answer.text += edits_.rewrite(step.operand).written;
        position = edits_.rewrite(step.operand).end;
        break;
    }
  }
  if (!is_exact() && !is_accepted(answer.text, budget)) {
    least_refused_ = std::min(least_refused_, answer.cost.cost);
    return;
  }
  best_ = std::move(answer);
  is_better_ = true;
}

RepairSearch::Outcome RepairSearch::improve() {
  const Charge charge(account());
  Budget budget(limits_, cancel_, spent_seconds_);
  is_better_ = false;
  try {
    for (;;) {
      const std::uint64_t tried = weight_.tried(expansions_);
      is_guided_try_ = is_guided_try_ && !is_better_;
      const bool is_tried =
          !is_guided_try_ && weight_.is_tried(expansions_, kExpansionsOfATry + 2 * std::uint64_t{edits_.length()});
      if (is_better_ || is_tried) {
        weight_.lower(expansions_);
        queue_again();
      }
      if (is_guided_try_ && tried > kExpansionsOfAGuidedTry) go_on_blindly();
      if (is_better_) {
        spent_seconds_ = budget.spent_seconds();
        return Outcome::Better;
      }
      if (least_refused_ < best_.cost.cost) {  // the over-approximation proves no more than that
        if (weight_.drop_excess()) queue_again();
        if (queue_.empty() || queue_.top().key >= least_refused_) {
          begin_exactly(budget);
          continue;
        }
      }
      if (queue_.empty()) break;
      budget.step();
      const Entry entry = queue_.top();
      queue_.pop();
      if (is_stale(entry)) continue;
      try {
        if (entry.rewrite == kByPrice) {
          expand(entry.node, budget);
        } else {
          ++expansions_;
          take_rewrite(entry.node, entry.rewrite, budget);
        }
      } catch (...) {
        // Where a limit is passed, its edges are made again; there is room for the entry, which was in the queue
        // before.
        if (nodes_[entry.node].version == entry.version) queue_.push(entry);
        throw;
      }
    }
  } catch (const LimitExceeded&) {
    spent_seconds_ = budget.spent_seconds();
    return Outcome::Stopped;
  } catch (const std::bad_alloc&) {
    spent_seconds_ = budget.spent_seconds();
    return Outcome::Stopped;
  }
  spent_seconds_ = budget.spent_seconds();
  return Outcome::Optimal;
}

// Whether nothing better is reached through an entry, or another one has taken its place.
bool RepairSearch::is_stale(const Entry& entry) const {
  const Node& node = nodes_[entry.node];
  const bool is_by_price = entry.rewrite == kByPrice;
  if (node.version != entry.version || (is_by_price && node.next == kDone)) return true;
  if (entry.key < best_.cost.cost) return false;  // no key is below the cost of the bound
  return is_by_price ? has_no_better(node) : has_no_better(node, edits_.rewrite(entry.rewrite));
}

// With another weight, and without what cannot lead to a better answer.
void RepairSearch::queue_again() {
  queue_.rebuild([this](const Entry& entry) { return is_stale(entry); },
                 [this](Entry& entry) { entry.key = key_of(entry.unread, bound_of(entry)); });
}

RepairSearch::Proof RepairSearch::proof() const {
  const std::uint64_t bound = open_bound();
  return proven_.bound > bound ? proven_ : Proof{bound, reached(bound), is_exact()};
}

std::uint64_t RepairSearch::open_bound() const {
  std::uint64_t least = std::min(best_.cost.cost, least_refused_);
  queue_.visit([&](const Entry& entry) {
    if (nodes_[entry.node].version == entry.version) least = std::min(least, bound_of(entry));
  });
  return least;
}

// Whence a node was reached comes before it.
std::vector<RepairSearch::Reached> RepairSearch::reached(std::uint64_t bound) const {
  constexpr std::uint32_t kNoPlace = ~std::uint32_t{0};
  std::vector<std::uint32_t> place(nodes_.size(), kNoPlace);
  std::vector<Reached> all;
  std::vector<NodeNumber> way;
  for (NodeNumber number = 0; number < nodes_.size(); ++number) {
    if (nodes_[number].reached.cost + nodes_[number].estimate.cost >= bound) continue;
    for (NodeNumber at = number; at != kNoNode && place[at] == kNoPlace; at = nodes_[at].from) way.push_back(at);
    for (; !way.empty(); way.pop_back()) {
      const Node& node = nodes_[way.back()];
      const auto own = static_cast<std::uint32_t>(all.size());
      place[way.back()] = own;
      all.push_back({node.from == kNoNode ? own : place[node.from], node.step, node.reached.cost});
    }
  }
  return all;
}

RepairGraph RepairSearch::graph(std::uint64_t bound, bool is_exact, std::string_view bytes, const Limits& limits) {
  const Charge charge(account());
  Budget budget(limits, cancel_, 0);
  const StateId exact = automaton().start();
  const StateId start = is_exact ? exact : over_approximation(automaton(), exact, budget);
  return graph_within(automaton(), edits_, estimate_, start, bound, bytes, budget);
}

}  // namespace tokamata
