#include "repair/search.hpp"

#include <algorithm>
#include <new>
#include <tuple>

#include "common/best_first.hpp"

namespace tokamata {

namespace {

constexpr std::uint32_t kWithoutExcess = 100;  // a weight of 1, in hundredths
constexpr std::uint32_t kLeastExcess = 25;
// Where a search with excess finds nothing in so many steps, and two for each byte, its best attempt is a bad one.
constexpr std::uint64_t kExpansionsOfATry = 2000;
// An unread byte counts as this share of the cheapest edit at a weight of 2, so that an attempt is followed until it
// costs an edit more than one that is some dozen bytes behind.
constexpr std::uint64_t kBytesForAnEdit = 12;
constexpr std::size_t kLongestText = std::size_t{1} << 28;
constexpr std::size_t kNodesAtFirst = 4000;

}  // namespace

RepairSearch::RepairSearch(std::shared_ptr<KeptAutomata> automata, std::string text,
                           std::shared_ptr<const EditModel> model, std::uint32_t weight, const Limits& limits,
                           std::shared_ptr<const CancelToken> cancel)
    : BorrowedAutomaton(std::move(automata), limits, cancel),
      text_(std::move(text)),
      given_(std::move(model)),
      model_(*given_),
      writings_(kept().writings(model_.machine)),
      weight_(weight),
      given_weight_(weight),
      limits_(limits),
      cancel_(std::move(cancel)),
      estimate_(model_, writings_->least(), text_.size()) {
  check_model();
  first_rewrite_.assign(text_.size() + 2, 0);
  for (const Rewrite& rewrite : model_.rewrites) ++first_rewrite_[rewrite.begin + 1];
  for (std::size_t at = 1; at < first_rewrite_.size(); ++at) first_rewrite_[at] += first_rewrite_[at - 1];
  const EditCost cheapest = writings_->least().change;
  cheapest_ = cheapest == kNoEdit ? 1 : cheapest;
  pull_ = std::max<std::uint64_t>(cheapest_ / kBytesForAnEdit, 1);

  Budget budget(limits_, cancel_, age_seconds());
  write_anew(budget);
  nodes_.reserve(std::min<std::size_t>(2 * text_.size(), kNodesAtFirst));
  begin(kept().relaxed_start(budget), ByteAutomaton::kDead);
  spent_seconds_ = budget.spent_seconds();
  end_charging();
}

namespace {

ExpressionId approximated(ByteAutomaton& automaton, StateId state, Budget& budget) {
  Arena& arena = automaton.arena();
  std::vector<ExpressionId> alternatives;
  for (const Approximation& one : arena.approximations(automaton.expression(state), budget))
    alternatives.push_back(one.expression);
  return arena.unite(alternatives);
}

bool is_approximated(ByteAutomaton& automaton, StateId state) {
  return automaton.arena().remembers() && automaton.arena().node(automaton.expression(state)).rules;
}

}  // namespace

StateId over_approximation(ByteAutomaton& automaton, StateId state, Budget& budget) {
  if (!is_approximated(automaton, state)) return state;
  Arena& arena = automaton.arena();
  const ExpressionId relaxed = arena.concatenate(arena.commit(Rules::kRelaxed), approximated(automaton, state, budget));
  return automaton.state_of(arena.settled(relaxed), budget);
}

// Searches from a state of the pattern, with nothing reached yet.
void RepairSearch::begin(StateId start, StateId guiding) {
  start_ = start;
  least_refused_ = kNothingRefused;
  nodes_.clear();
  queue_.clear();
  node_index_.clear();
  node_index_.reserve(nodes_.capacity());
  relax(kNoNode, 0, kStartMode, start, guiding, {}, {EditKind::Keep, 0});
}

void RepairSearch::check_model() const {
  if (text_.size() > kLongestText) throw BadEditModel("the text is longer than 2^28 bytes");
  if (!std::ranges::is_sorted(model_.rewrites, {}, &Rewrite::begin))
    throw BadEditModel("rewrites are not in the order of their beginnings");
  if (weight_ < kWithoutExcess) throw BadEditModel("the weight is below 1");
  for (const ModeCosts& costs : model_.machine->costs) {
    if (std::ranges::find(costs.remove, kNoEdit) != costs.remove.end())
      throw BadEditModel("a byte that cannot be removed: then there may be no repair at all");
    if (std::ranges::find(costs.append, kNoEdit) != costs.append.end())
      throw BadEditModel("a byte that cannot be appended: then there may be no repair at all");
  }
  for (const Rewrite& rewrite : model_.rewrites) {
    if (rewrite.begin > rewrite.end || rewrite.end > text_.size() || rewrite.cost == kNoEdit)
      throw BadEditModel("a rewrite of bytes outside of the text");
    if (rewrite.then != Rewrite::kByWritten && rewrite.then >= model_.machine->costs.size())
      throw BadEditModel("a rewrite that leads to no mode");
  }
}

// The first answer: remove the text and write another.
void RepairSearch::write_anew(Budget& budget) {
  std::optional<std::string> text = some_text(automaton().start(), budget);
  if (!text) throw EmptyLanguage();
  best_.steps.reserve(text_.size() + text->size());
  for (std::size_t position = 0; position < text_.size(); ++position) {
    best_.cost.cost += std::uint64_t{model_.costs(kStartMode).remove[static_cast<std::uint8_t>(text_[position])]} +
                       model_.firmness(position);
    best_.steps.push_back({EditKind::Remove, 0});
  }
  best_.text = *std::move(text);
  Mode mode = kStartMode;
  for (const char letter : best_.text) {
    const auto byte = static_cast<std::uint8_t>(letter);
    best_.steps.push_back({EditKind::Insert, byte});
    best_.cost.cost += model_.costs(mode).append[byte];
    mode = model_.inserted(mode, byte);
  }
  best_.cost.lost = static_cast<std::uint32_t>(text_.size());
  best_.cost.written = static_cast<std::uint32_t>(best_.text.size());
}

bool RepairSearch::is_accepted(const std::string& text, Budget& budget) {
  StateId state = automaton().start();
  for (const char byte : text) state = automaton().next(state, static_cast<std::uint8_t>(byte), budget);
  return automaton().accepting(state);
}

// A text of a state.  Each byte lowers the length that the state knows of some text, as far as there is such a byte;
// where there is none, a search finds the nearest state that knows less (composition/closing_texts.hpp does the same
// for tokens).
std::optional<std::string> RepairSearch::some_text(StateId start, Budget& budget) {
  std::string text;
  for (StateId at = start; !automaton().accepting(at);) {
    if (at == ByteAutomaton::kDead || !descend(at, text, budget)) return std::nullopt;
  }
  return text;
}

bool RepairSearch::descend(StateId& at, std::string& text, Budget& budget) {
  const StateId begin = at;
  const std::uint32_t least = automaton().node(begin).spelled;
  Arrivals<StateId, std::uint8_t> arrivals(begin);
  Frontier<Estimated<StateId>> open;
  open.add({0, 0, begin});
  while (!open.empty()) {
    const auto [estimate, length, state] = open.take();
    const ByteSet readable = automaton().may_read(state, budget);
    for (const Writing& writing : writings_at(Where::End, kStartMode, state)) {
      if (!readable.contains(writing.byte)) continue;
      budget.step();
      const StateId target = automaton().next(state, writing.byte, budget);
      if (target == ByteAutomaton::kDead || !arrivals.reach(state, writing.byte, target)) continue;
      const ExpressionNode node = automaton().node(target);
      if (!automaton().accepting(target) && (node.spelled >= least || node.constrained)) {
        // A name that is kept has one length at every byte; its over-approximation knows how far its end is.
        const bool is_exact = !is_approximated(automaton(), target);
        const std::uint64_t left =
            (is_exact ? automaton().node(target) : automaton().arena().node(approximated(automaton(), target, budget)))
                .spelled;
        open.add({length + 1 + left, length + 1, target});
        continue;
      }
      for (const auto& step : arrivals.path_to(target)) text.push_back(static_cast<char>(step.edge));
      at = target;
      return true;
    }
  }
  return false;
}

// No answer through the edges that the node has left costs less.
std::uint64_t RepairSearch::bound_of(const Node& node) const {
  return node.next == kDone ? kDone : node.reached.cost + std::max<std::uint64_t>(node.estimate.cost, node.next);
}

std::uint64_t RepairSearch::bound_of(const Entry& entry) const {
  const Node& node = nodes_[entry.node];
  if (entry.rewrite == kByPrice) return bound_of(node);
  return node.reached.cost + std::max<std::uint64_t>(node.estimate.cost, model_.rewrites[entry.rewrite].cost);
}

// Visits each edge that the node may have by price, but the one that keeps a byte: its price, how many bytes it loses
// and writes.
template <class Visit>
void RepairSearch::visit_prices(const Node& node, Visit&& visit) const {
  const EditCost firmness = model_.firmness(node.position);
  if (node.position < text_.size())
    visit(std::uint64_t{model_.costs(node.mode).remove[static_cast<std::uint8_t>(text_[node.position])]} + firmness, 1u,
          0u);
  for (std::uint32_t index = first_rewrite_[node.position]; index < first_rewrite_[node.position + 1]; ++index)
    if (const Rewrite& rewrite = model_.rewrites[index]; rewrite.may_be_taken(node.mode) && !is_far(rewrite))
      visit(std::uint64_t{rewrite.cost}, rewrite.end - rewrite.begin,
            static_cast<std::uint32_t>(rewrite.written.size()));
  for (const Writing& writing : writings_at(where(node.position), node.mode, node.state))
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
    if (node.position < text_.size() &&
        model_.keeping(node.mode, node.position, static_cast<std::uint8_t>(text_[node.position])) == node.next)
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
  return cost + unread * pull_ * (weight_ - kWithoutExcess) / kWithoutExcess;
}

// If it can lead to a better answer.
void RepairSearch::push(NodeNumber number) {
  const Node& node = nodes_[number];
  if (has_no_better(node)) return;
  const auto unread = static_cast<std::uint32_t>(text_.size() - node.position);
  queue_.push({key_of(unread, bound_of(node)), unread, number, node.version});
}

void RepairSearch::push_far_rewrites(NodeNumber number) {
  const Node& node = nodes_[number];
  for (std::uint32_t index = first_rewrite_[node.position]; index < first_rewrite_[node.position + 1]; ++index) {
    const Rewrite& rewrite = model_.rewrites[index];
    if (!is_far(rewrite) || !rewrite.may_be_taken(node.mode) || has_no_better(node, rewrite)) continue;
    const auto unread = static_cast<std::uint32_t>(text_.size() - rewrite.end);
    queue_.reserve_one();
    queue_.push({key_of(unread, node.reached.cost + std::max<std::uint64_t>(node.estimate.cost, rewrite.cost)), unread,
                 number, node.version, index});
  }
}

// A way to a node, whose number is made where it is new.
void RepairSearch::relax(NodeNumber from, std::uint32_t position, Mode mode, StateId state, StateId guiding,
                         PathCost reached, EditStep step) {
  if (state == ByteAutomaton::kDead || is_hopeless(reached)) return;
  // Everything is allocated before anything changes, so that no node is ever missing in the queue.
  queue_.reserve_one();
  node_index_.reserve(1);
  const std::uint64_t hash = hash_of(position, mode, state);
  const auto known = node_index_.find(hash, [&](NodeNumber number) {
    return nodes_[number].position == position && nodes_[number].mode == mode && nodes_[number].state == state;
  });
  if (known) {
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
  Estimate::Bound estimate = estimate_(position, automaton(), state);
  if (guide_)
    if (const std::uint64_t left = guide_->least_left(position, mode, guiding); left > estimate.cost)
      estimate = {left, 0};
  if (is_hopeless({reached.cost + estimate.cost, reached.lost, reached.written + estimate.written})) return;
  const auto number = static_cast<NodeNumber>(nodes_.size());
  nodes_.push_back({position, state, reached, estimate, step, from, guiding, kFirst, 0, mode});
  node_index_.add(number, hash);
  push(number);
}

// The edges of one price; and an answer, if the text ends here.  The queue prefers the latest of equal nodes, so that
// what is to come first is made last.
void RepairSearch::expand(NodeNumber number, Budget& budget) {
  ++expansions_;
  const Node node = nodes_[number];
  const std::uint64_t price = node.next;
  const EditCost firmness = model_.firmness(node.position);
  std::uint64_t next = kDone;
  const auto is_due = [&](std::uint64_t cost) {
    if (cost > price) next = std::min(next, cost);
    return cost == price;
  };
  const Writings::List& writings = writings_at(where(node.position), node.mode, node.state);
  const auto is_cheaper = [&](const Writing& writing, std::uint64_t cost) {
    return std::uint64_t{writing.cost} + firmness < cost;
  };
  auto end = writings.begin();
  if (!writings.empty() && is_cheaper(writings.front(), price + 1))
    end = std::lower_bound(writings.begin(), writings.end(), price + 1, is_cheaper);
  if (end != writings.end()) next = std::uint64_t{end->cost} + firmness;
  if (end != writings.begin() && std::uint64_t{(end - 1)->cost} + firmness == price) {
    const ByteSet readable = automaton().may_read(node.state, budget);
    for (auto at = end; at != writings.begin() && std::uint64_t{(at - 1)->cost} + firmness == price; --at)
      if (readable.contains((at - 1)->byte)) take_writing(number, *(at - 1), budget);
  }
  const bool is_end = node.position == text_.size();
  const std::uint8_t byte = is_end ? 0 : static_cast<std::uint8_t>(text_[node.position]);
  if (is_end) {
    if (price == kFirst && automaton().accepting(node.state) && node.reached < best_.cost) take_answer(number, budget);
  } else if (is_due(std::uint64_t{model_.costs(node.mode).remove[byte]} + firmness)) {
    relax(number, node.position + 1, node.mode, node.state, node.guiding, node.reached + PathCost{price, 1, 0},
          {EditKind::Remove, 0});
  }
  for (std::uint32_t index = first_rewrite_[node.position + 1]; index-- > first_rewrite_[node.position];)
    if (const Rewrite& rewrite = model_.rewrites[index];
        rewrite.may_be_taken(node.mode) && !is_far(rewrite) && is_due(rewrite.cost))
      take_rewrite(number, index, budget);
  if (!is_end)
    if (const std::uint64_t keeping = model_.keeping(node.mode, node.position, byte);
        keeping != kNoEdit && is_due(keeping))
      relax(number, node.position + 1, model_.after(node.mode, byte), automaton().next(node.state, byte, budget),
            guiding_after(node.guiding, byte, budget), node.reached + PathCost{price, 0, 0}, {EditKind::Keep, 0});
  if (nodes_[number].version != node.version) return;  // reached more cheaply by one of these: queued anew
  if (price == kFirst) push_far_rewrites(number);
  Node& after = nodes_[number];
  after.next = next;
  if (next != kDone) push(number);
}

void RepairSearch::take_rewrite(NodeNumber number, std::uint32_t index, Budget& budget) {
  const Node node = nodes_[number];
  const Rewrite& rewrite = model_.rewrites[index];
  const PathCost rewritten = node.reached + PathCost{rewrite.cost, rewrite.end - rewrite.begin,
                                                     static_cast<std::uint32_t>(rewrite.written.size())};
  if (is_hopeless(rewritten)) return;
  StateId state = node.state, guiding = node.guiding;
  for (const char written : rewrite.written) {
    state = automaton().next(state, static_cast<std::uint8_t>(written), budget);
    if (state == ByteAutomaton::kDead) return;
    guiding = guiding_after(guiding, static_cast<std::uint8_t>(written), budget);
  }
  relax(number, rewrite.end, model_.after(node.mode, rewrite), state, guiding, rewritten, {EditKind::Rewrite, index});
}

void RepairSearch::take_writing(NodeNumber number, const Writing& writing, Budget& budget) {
  const Node node = nodes_[number];
  budget.step();
  const bool replaces = writing.kind == EditKind::Replace;
  const StateId target = automaton().next(node.state, writing.byte, budget);
  if (target == ByteAutomaton::kDead) return;
  relax(number, node.position + replaces, model_.inserted(node.mode, writing.byte), target,
        guiding_after(node.guiding, writing.byte, budget),
        node.reached + PathCost{std::uint64_t{writing.cost} + model_.firmness(node.position), replaces, 1},
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
      case EditKind::Keep: answer.text.push_back(text_[position++]); break;
      case EditKind::Remove: ++position; break;
      case EditKind::Replace: ++position; [[fallthrough]];
      case EditKind::Insert: answer.text.push_back(static_cast<char>(step.operand)); break;
      case EditKind::Rewrite:
        answer.text += model_.rewrites[step.operand].written;
        position = model_.rewrites[step.operand].end;
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

// Half of the excess; an eighth of what is above the caller's weight.
void RepairSearch::lower_weight() {
  const std::uint32_t excess = (weight_ - kWithoutExcess) / (weight_ > given_weight_ ? 8 : 2);
  weight_ = kWithoutExcess + (excess < kLeastExcess ? 0 : excess);
  tried_from_ = expansions_;
  queue_again();
}

RepairSearch::Outcome RepairSearch::improve() {
  const Charge charge(account());
  Budget budget(limits_, cancel_, spent_seconds_);
  is_better_ = false;
  try {
    for (;;) {
      const std::uint64_t tried = expansions_ - tried_from_;
      is_guided_try_ = is_guided_try_ && !is_better_;
      const bool is_tried = !is_guided_try_ && weight_ > kWithoutExcess && tried > kExpansionsOfATry + 2 * text_.size();
      if (is_better_ || is_tried) lower_weight();
      if (is_guided_try_ && tried > kExpansionsOfAGuidedTry) go_on_blindly();
      if (is_better_) {
        spent_seconds_ = budget.spent_seconds();
        return Outcome::Better;
      }
      if (least_refused_ < best_.cost.cost) {  // the over-approximation proves no more than that
        if (weight_ != kWithoutExcess) {
          weight_ = kWithoutExcess;
          queue_again();
        }
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
  return is_by_price ? has_no_better(node) : has_no_better(node, model_.rewrites[entry.rewrite]);
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

}  // namespace tokamata
