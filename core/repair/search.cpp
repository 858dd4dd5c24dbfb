#include "repair/search.hpp"

#include <algorithm>
#include <new>
#include <queue>
#include <unordered_map>

namespace tokamata {

namespace {

constexpr std::uint32_t kWithoutExcess = 100;  // a weight of 1, in hundredths
constexpr std::uint32_t kLeastExcess = 25;
// Where a search with excess finds nothing in so many steps, and two for each byte, its best attempt is a bad one.
constexpr std::uint64_t kExpansionsOfATry = 2000;
// An unread byte counts as this share of the cheapest edit at a weight of 2, so that an attempt is followed until it costs an
// edit more than one that is some dozen bytes behind.
constexpr std::uint64_t kBytesForAnEdit = 12;
constexpr std::size_t kLongestText = std::size_t{1} << 28;

EditCost least_above_zero(const EditMachine& machine) {
  EditCost least = kNoEdit;
  for (const ModeCosts& mode : machine.costs)
    for (const ByteCosts* const costs : {&mode.insert, &mode.remove})
      for (const EditCost cost : *costs)
        if (cost > 0) least = std::min(least, cost);
  return least;
}

}  // namespace

RepairSearch::RepairSearch(std::shared_ptr<KeptAutomata> automata, std::string text, EditModel model, std::uint32_t weight,
                           const Limits& limits, std::shared_ptr<const CancelToken> cancel)
    : BorrowedAutomaton(std::move(automata), limits, cancel), text_(std::move(text)), model_(std::move(model)), weight_(weight), given_weight_(weight), limits_(limits), cancel_(std::move(cancel)),
      estimate_(model_, text_.size()) {
  check_model();
  std::ranges::stable_sort(model_.rewrites, {}, &Rewrite::begin);
  first_rewrite_.assign(text_.size() + 2, 0);
  for (const Rewrite& rewrite : model_.rewrites) ++first_rewrite_[rewrite.begin + 1];
  for (std::size_t at = 1; at < first_rewrite_.size(); ++at) first_rewrite_[at] += first_rewrite_[at - 1];
  const EditCost cheapest = least_above_zero(*model_.machine);
  cheapest_ = cheapest == kNoEdit ? 1 : cheapest;

  Budget budget(limits_, cancel_, age_seconds());
  write_anew(budget);
  begin(over_approximation(automaton(), automaton().start(), budget), ByteAutomaton::kDead);
  spent_seconds_ = budget.spent_seconds();
  end_charging();
}

namespace {

ExpressionId approximated(ByteAutomaton& automaton, StateId state, Budget& budget) {
  Arena& arena = automaton.arena();
  std::vector<ExpressionId> alternatives;
  for (const Approximation& one : arena.approximations(automaton.expression(state), budget)) alternatives.push_back(one.expression);
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
  relax(kNoNode, 0, kStartMode, start, guiding, {}, {EditKind::Keep, 0});
}

void RepairSearch::check_model() const {
  if (text_.size() > kLongestText) throw BadEditModel("the text is longer than 2^28 bytes");
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
  for (std::size_t position = 0; position < text_.size(); ++position) {
    best_.cost.cost += std::uint64_t{model_.costs(kStartMode).remove[static_cast<std::uint8_t>(text_[position])]} + model_.firmness(position);
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

// A text of a state.  Each byte lowers the length that the state knows of some text, as far as there is such a byte; where
// there is none, a search finds the nearest state that knows less (composition/closing_texts.hpp does the same for tokens).
std::optional<std::string> RepairSearch::some_text(StateId start, Budget& budget) {
  std::string text;
  for (StateId at = start; !automaton().accepting(at);) {
    if (at == ByteAutomaton::kDead || !descend(at, text, budget)) return std::nullopt;
  }
  return text;
}

bool RepairSearch::descend(StateId& at, std::string& text, Budget& budget) {
  struct Open {
    std::uint64_t estimate, length;
    StateId state;
    bool operator<(const Open& other) const {  // the best on top; of equals the longest
      return estimate != other.estimate ? estimate > other.estimate : length < other.length;
    }
  };
  struct Arrival {
    StateId from;
    std::uint8_t byte;
  };
  const StateId begin = at;
  const std::uint32_t least = automaton().node(begin).spelled;
  std::unordered_map<std::uint32_t, Arrival> arrivals;
  std::priority_queue<Open> open;
  open.push({0, 0, begin});
  while (!open.empty()) {
    const Open best = open.top();
    open.pop();
    const ByteSet readable = automaton().may_read(best.state, budget);
    for (const Writing& writing : writings_at(Where::End, kStartMode, best.state)) {
      if (!readable.contains(writing.byte)) continue;
      budget.step();
      const StateId target = automaton().next(best.state, writing.byte, budget);
      if (target == ByteAutomaton::kDead || target == begin) continue;
      if (!arrivals.try_emplace(target.value, Arrival{best.state, writing.byte}).second) continue;
      const ExpressionNode node = automaton().node(target);
      if (!automaton().accepting(target) && (node.spelled >= least || node.constrained)) {
        // A name that is kept has one length at every byte; its over-approximation knows how far its end is.
        const bool is_exact = !is_approximated(automaton(), target);
        const std::uint64_t left = (is_exact ? automaton().node(target) : automaton().arena().node(approximated(automaton(), target, budget))).spelled;
        open.push({best.length + 1 + left, best.length + 1, target});
        continue;
      }
      const std::size_t before = text.size();
      for (StateId step = target; step != begin; step = arrivals.at(step.value).from)
        text.push_back(static_cast<char>(arrivals.at(step.value).byte));
      std::reverse(text.begin() + static_cast<std::ptrdiff_t>(before), text.end());
      at = target;
      return true;
    }
  }
  return false;
}

// The insertions and replacements in a mode, the cheapest first: of each class of bytes the cheapest that leads to each mode,
// or every byte.
std::vector<RepairSearch::Writing> RepairSearch::writings(Mode mode, Where where, bool each_byte) const {
  std::vector<Writing> all;
  const auto add = [&](const ByteCosts& costs, EditKind kind) {
    const std::vector<std::uint8_t>& classes = automaton().byte_classes();
    for (std::size_t number = 0; number < classes.size(); ++number) {
      const unsigned end = number + 1 < classes.size() ? classes[number + 1] : 256;
      const std::size_t first = all.size();
      for (unsigned value = classes[number]; value < end; ++value) {
        const Writing one{costs[value], kind, static_cast<std::uint8_t>(value)};
        if (one.cost == kNoEdit) continue;
        const auto alike = std::find_if(all.begin() + static_cast<std::ptrdiff_t>(each_byte ? all.size() : first), all.end(), [&](const Writing& other) {
          return model_.inserted(mode, other.byte) == model_.inserted(mode, one.byte);
        });
        if (alike == all.end())
          all.push_back(one);
        else if (one.cost < alike->cost)
          *alike = one;
      }
    }
  };
  const ModeCosts& costs = model_.costs(mode);
  add(where == Where::End ? costs.append : where == Where::Begin ? costs.prepend : costs.insert, EditKind::Insert);
  if (where != Where::End) add(costs.replace, EditKind::Replace);
  std::ranges::sort(all);
  return all;
}

const std::vector<RepairSearch::Writing>& RepairSearch::writings_at(Where where, Mode mode, StateId state) const {
  const bool each_byte = automaton().node(state).by_byte;
  std::optional<std::vector<Writing>>& known = writings_[(mode * 3u + static_cast<std::size_t>(where)) * 2 + each_byte];
  if (!known) known = writings(mode, where, each_byte);
  return *known;
}

const std::vector<RepairSearch::Writing>& RepairSearch::writings_of(const Node& node) const {
  const Where where = node.position == text_.size() ? Where::End : node.position == 0 ? Where::Begin : Where::Within;
  return writings_at(where, node.mode, node.state);
}

// No answer through the edges that the node has left costs less.
PathCost RepairSearch::bound_of(const Node& node) const {
  PathCost bound = node.reached;
  bound.cost += node.estimate.cost;
  bound.written += node.estimate.written;
  if (node.next != kFirst) {
    const std::uint64_t next = node.reached.cost + writings_of(node)[node.next - 1].cost + model_.firmness(node.position);
    if (next >= bound.cost) bound = {next, node.reached.lost, node.reached.written + std::max(node.estimate.written, 1u)};
  }
  return bound;
}

// Its order in the queue, by the cost of its bound.
std::uint64_t RepairSearch::key_of(const Node& node, std::uint64_t cost) const {
  const std::uint64_t unread = text_.size() - node.position;
  const std::uint64_t pull = std::max<std::uint64_t>(cheapest_ / kBytesForAnEdit, 1);
  return cost + unread * pull * (weight_ - kWithoutExcess) / kWithoutExcess;
}

// If it can lead to a better answer.
void RepairSearch::push(NodeNumber number) {
  const Node& node = nodes_[number];
  const PathCost bound = bound_of(node);
  if (is_hopeless(bound)) return;
  queue_.push({key_of(node, bound.cost), static_cast<std::uint32_t>(text_.size() - node.position), number, node.version});
}

// A way to a node, whose number is made where it is new.
void RepairSearch::relax(NodeNumber from, std::uint32_t position, Mode mode, StateId state, StateId guiding, PathCost reached, EditStep step) {
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
      if (reached == node.reached && node.from == from && node.step.kind == step.kind) node.step.operand = std::min(node.step.operand, step.operand);
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
    if (const std::uint64_t left = guide_->least_left(position, mode, guiding); left > estimate.cost) estimate = {left, 0};
  if (is_hopeless({reached.cost + estimate.cost, reached.lost, reached.written + estimate.written})) return;
  const auto number = static_cast<NodeNumber>(nodes_.size());
  nodes_.push_back({position, state, mode, reached, estimate, from, step, guiding});
  node_index_.add(number, hash);
  push(number);
}

void RepairSearch::expand(NodeNumber number, Budget& budget) {
  ++expansions_;
  if (nodes_[number].next == kFirst)
    expand_first(number, budget);
  else
    expand_writings(number, budget);
}

// What removes, rewrites or keeps bytes of the text; and an answer, if the text ends here.  The queue prefers the latest of
// equal nodes, so that what is to come first is made last.
void RepairSearch::expand_first(NodeNumber number, Budget& budget) {
  const Node node = nodes_[number];
  if (node.position == text_.size()) {
    if (automaton().accepting(node.state) && node.reached < best_.cost) take_answer(number, budget);
  } else {
    const auto byte = static_cast<std::uint8_t>(text_[node.position]);
    PathCost reached = node.reached;
    reached.cost += std::uint64_t{model_.costs(node.mode).remove[byte]} + model_.firmness(node.position);
    ++reached.lost;
    relax(number, node.position + 1, node.mode, node.state, node.guiding, reached, {EditKind::Remove, 0});
  }
  expand_rewrites(number, budget);
  if (node.position < text_.size()) {
    const auto byte = static_cast<std::uint8_t>(text_[node.position]);
    if (const std::uint64_t keeping = model_.keeping(node.mode, node.position, byte); keeping != kNoEdit) {
      PathCost kept = node.reached;
      kept.cost += keeping;
      relax(number, node.position + 1, model_.after(node.mode, byte), automaton().next(node.state, byte, budget),
            guiding_after(node.guiding, byte, budget), kept, {EditKind::Keep, 0});
    }
  }
  Node& after = nodes_[number];
  after.next = writings_of(after).empty() ? kDone : 1;
  if (after.next != kDone) push(number);
}

void RepairSearch::expand_rewrites(NodeNumber number, Budget& budget) {
  const Node node = nodes_[number];
  for (std::uint32_t index = first_rewrite_[node.position + 1]; index-- > first_rewrite_[node.position];) {
    const Rewrite& rewrite = model_.rewrites[index];
    if (!rewrite.may_be_taken(node.mode)) continue;
    PathCost rewritten = node.reached;
    rewritten.cost += rewrite.cost;
    rewritten.lost += rewrite.end - rewrite.begin;
    rewritten.written += static_cast<std::uint32_t>(rewrite.written.size());
    if (is_hopeless(rewritten)) continue;
    StateId state = node.state, guiding = node.guiding;
    for (const char written : rewrite.written) {
      state = automaton().next(state, static_cast<std::uint8_t>(written), budget);
      guiding = guiding_after(guiding, static_cast<std::uint8_t>(written), budget);
    }
    relax(number, rewrite.end, model_.after(node.mode, rewrite), state, guiding, rewritten, {EditKind::Rewrite, index});
  }
}

// The insertions and replacements of one price.
void RepairSearch::expand_writings(NodeNumber number, Budget& budget) {
  const Node node = nodes_[number];
  const std::vector<Writing>& all = writings_of(node);
  const ByteSet readable = automaton().may_read(node.state, budget);
  const EditCost price = all[node.next - 1].cost;
  std::uint32_t end = node.next - 1;
  while (end < all.size() && all[end].cost == price) ++end;
  for (std::uint32_t index = end; index-- > node.next - 1;) {
    const Writing& writing = all[index];
    if (!readable.contains(writing.byte)) continue;
    budget.step();
    const bool replaces = writing.kind == EditKind::Replace;
    PathCost reached = node.reached;
    reached.cost += std::uint64_t{writing.cost} + model_.firmness(node.position);
    reached.lost += replaces;
    ++reached.written;
    const StateId target = automaton().next(node.state, writing.byte, budget);
    if (target == ByteAutomaton::kDead) continue;
    relax(number, node.position + replaces, model_.inserted(node.mode, writing.byte), target, guiding_after(node.guiding, writing.byte, budget), reached,
          {writing.kind, writing.byte});
  }
  Node& after = nodes_[number];
  if (after.version != node.version) return;  // reached more cheaply by one of these: queued anew
  after.next = end == all.size() ? kDone : end + 1;
  if (after.next != kDone) push(number);
}

// An answer, unless the pattern refuses what its over-approximation accepts.
void RepairSearch::take_answer(NodeNumber number, Budget& budget) {
  Answer answer;
  answer.cost = nodes_[number].reached;
  for (NodeNumber at = number; nodes_[at].from != kNoNode; at = nodes_[at].from) answer.steps.push_back(nodes_[at].step);
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
        expand(entry.node, budget);
      } catch (...) {
        // Where a limit is passed, its edges are made again; there is room for the entry, which was in the queue before.
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
  if (node.version != entry.version || node.next == kDone) return true;
  return entry.key >= best_.cost.cost && is_hopeless(bound_of(node));  // no key is below the cost of the bound
}

// With another weight, and without what cannot lead to a better answer.
void RepairSearch::queue_again() {
  queue_.rebuild([this](const Entry& entry) { return is_stale(entry); },
                 [this](Entry& entry) { entry.key = key_of(nodes_[entry.node], bound_of(nodes_[entry.node]).cost); });
}

RepairSearch::Proof RepairSearch::proof() const {
  const std::uint64_t bound = open_bound();
  return proven_.bound > bound ? proven_ : Proof{bound, reached(bound), is_exact()};
}

std::uint64_t RepairSearch::open_bound() const {
  std::uint64_t least = std::min(best_.cost.cost, least_refused_);
  queue_.visit([&](const Entry& entry) {
    if (const Node& node = nodes_[entry.node]; node.version == entry.version && node.next != kDone)
      least = std::min(least, bound_of(node).cost);
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
