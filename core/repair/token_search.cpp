#include "repair/token_search.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "common/sort_unique.hpp"
#include "common/within.hpp"

namespace tokamata {

namespace {

// Where a search with excess finds nothing in so many steps, and two for each token, its best attempt is a bad one.
constexpr std::uint64_t kExpansionsOfATokenTry = 1000;
// An unread token counts as this share of the cheapest edit at a weight of 2.
constexpr std::uint64_t kTokensForAnEdit = 8;
constexpr std::uint64_t kKeysOfACost = kTokensForAnEdit * SearchWeight::kOne;  // keys are whole numbers

}  // namespace

TokenRepairSearch::TokenRepairSearch(std::shared_ptr<KeptTokenPlaces> places, const Limits& making,
                                     std::vector<std::uint32_t> tokens, TokenPrices prices, std::uint32_t weight,
                                     const Limits& limits, std::shared_ptr<const CancelToken> cancel)
    : BorrowedTokenPlaces(std::move(places), making, cancel),
      places_(BorrowedTokenPlaces::places()),
      tokens_(std::move(tokens)),
      prices_(std::move(prices)),
      weight_(weight),
      limits_(limits_beyond(limits)),
      cancel_(std::move(cancel)) {
  Budget budget(limits_, cancel_, 0);
  places_.set_types(prices_.types);
  for (const auto* costs : {&prices_.insert, &prices_.replace})
    for (const EditCost cost : *costs)
      if (cost != kNoEdit) each_price_.push_back(cost);
  sort_unique(each_price_);
  least_insert_ = *std::ranges::min_element(prices_.insert);
  cheapest_ = kNoEdit;
  for (const auto* costs : {&prices_.insert, &prices_.remove, &prices_.replace})
    for (const EditCost cost : *costs)
      if (cost > 0) cheapest_ = std::min(cheapest_, cost);
  if (cheapest_ == kNoEdit) cheapest_ = 1;
  answer_at_once(budget);
  spent_seconds_ = budget.spent_seconds();
  end_charging();
}

// ---- answers ----------------------------------------------------------------------------------

PathCost TokenRepairSearch::price(EditStep step, std::size_t position) const {
  switch (step.kind) {
    case EditKind::Keep: return {0, 0, 1};
    case EditKind::Remove: return {prices_.remove[type_at(position)], 1, 0};
    case EditKind::Insert: return {prices_.insert[places_.type(step.operand)], 0, 1};
    default: return {prices_.replace[places_.type(step.operand)], 1, 1};
  }
}

TokenRepairSearch::Answer TokenRepairSearch::answer_of(std::vector<EditStep> steps) const {
  Answer answer;
  std::size_t position = 0;
  for (const EditStep& step : steps) {
    answer.cost = answer.cost + price(step, position);
    position += step.kind != EditKind::Insert;
  }
  answer.steps = std::move(steps);
  return answer;
}

// The first answers: all tokens are removed, and others written; or those after the longest beginning that is allowed.
void TokenRepairSearch::answer_at_once(Budget& budget) {
  const auto answer_after = [&](std::size_t kept, const std::vector<std::uint32_t>& ending) {
    std::vector<EditStep> steps;
    for (std::size_t at = 0; at < tokens_.size(); ++at)
      steps.push_back(at < kept ? EditStep{EditKind::Keep, tokens_[at]} : EditStep{EditKind::Remove, 0});
    for (const std::uint32_t token : ending) steps.push_back({EditKind::Insert, token});
    return answer_of(std::move(steps));
  };
  best_ = answer_after(0, places_.whole_text());
  try {
    Place place = places_.exact_start();
    std::size_t kept = 0;
    for (; kept < tokens_.size(); ++kept) {
      budget.step();
      const Place next = places_.after(place, tokens_[kept], budget);
      if (next == TokenPlaces::kNone) break;
      place = next;
    }
    if (kept == 0) return;
    Answer longest =
        answer_after(kept, places_.accepting(place) ? std::vector<std::uint32_t>() : places_.ending(place, budget));
    if (longest.cost < best_.cost) best_ = std::move(longest);
  } catch (const LimitExceeded&) {  // the first one stays
  }
}

// ---- nodes ------------------------------------------------------------------------------------

void TokenRepairSearch::begin(Place start, Budget& budget) {
  end_.reset();
  least_refused_ = least_missing_ = kNever;
  nodes_.clear();
  queue_.clear();
  relax(kNoNode, {0, start}, {}, {EditKind::Keep, 0}, budget);
}

// What was proven in relaxed places holds.
void TokenRepairSearch::begin_exactly(bool along_guide, Budget& budget) {
  if (!is_exact_) lower_bound_ = std::max(lower_bound_, least_refused_);
  if (!along_guide) guide_.reset();
  is_exact_ = true;
  weight_.begin(expansions_);
  if (along_guide) weight_.drop_excess();
  ties_ = 0;
  begin(places_.exact_start(), budget);
}

// No repair costs less than the refused one, so that one of that cost comes to each of its nodes at the least cost.
// The edges of such repairs lead to a greater cost or a later position, so that the latest nodes come first.
void TokenRepairSearch::make_guide(Budget& budget) {
  std::vector<NodeNumber> order;
  for (NodeNumber number = 0; number < nodes_.size(); ++number)
    if (nodes_[number].reached.cost + nodes_[number].estimate.cost <= least_refused_) order.push_back(number);
  std::ranges::sort(order, [&](NodeNumber one, NodeNumber other) {
    const Node &a = nodes_[one], &b = nodes_[other];
    return a.reached.cost != b.reached.cost ? a.reached.cost > b.reached.cost : a.at.position > b.at.position;
  });
  Guide made;
  for (const NodeNumber number : order) {
    const Node node = nodes_[number];
    bool leads = is_end(node) && node.reached.cost == least_refused_;
    visit_edges(node, budget, [&](const At& at, EditStep step) {
      budget.step();
      if (leads) return;
      const auto target = nodes_.find(at);
      leads = target && nodes_[*target].is_cheapest &&
              nodes_[*target].reached.cost == node.reached.cost + price(step, node.at.position).cost;
    });
    if (!leads) continue;
    nodes_[number].is_cheapest = true;
    made.add({node.at, node.reached.cost});
  }
  guide_ = std::move(made);
}

bool TokenRepairSearch::is_along_guide(const At& at, std::uint64_t cost) const {
  const auto stop = guide_->find({at.position, places_.relaxed(at.place)});
  return stop && (*guide_)[*stop].cost == cost;
}

PathCost TokenRepairSearch::estimate(const At& at, Place kept) const {
  const std::uint64_t left = tokens_.size() - at.position, least = places_.least(at.place);
  PathCost bound{least > left ? (least - left) * least_insert_ : 0, 0, static_cast<std::uint32_t>(least)};
  std::uint64_t edit = 0;
  if (left == 0) {
    if (!places_.accepting(at.place)) edit = least_insert_;
  } else if (kept == TokenPlaces::kNone) {
    edit = std::min(each_price_.front(), prices_.remove[type_at(at.position)]);
  }
  bound.cost = std::max(bound.cost, edit);
  return bound;
}

// No answer through the edges that the node has left costs less.
PathCost TokenRepairSearch::bound_of(const Node& node) const {
  PathCost bound = node.reached + node.estimate;
  if (node.next != kFirst) {
    const std::uint64_t next = node.reached.cost + each_price_[node.next - 1u];
    if (next >= bound.cost)
      bound = {next, node.reached.lost, node.reached.written + std::max(node.estimate.written, 1u)};
  }
  return bound;
}

std::uint64_t TokenRepairSearch::key_of(const Node& node, std::uint64_t cost) const {
  const std::uint64_t unread = tokens_.size() - node.at.position;
  return cost * kKeysOfACost + unread * cheapest_ * weight_.excess();
}

void TokenRepairSearch::push(NodeNumber number) {
  const Node& node = nodes_[number];
  const PathCost bound = bound_of(node);
  if (is_hopeless(bound)) return;
  queue_.push(
      {key_of(node, bound.cost), static_cast<std::uint32_t>(tokens_.size() - node.at.position), number, node.version});
}

void TokenRepairSearch::relax(NodeNumber from, const At& at, PathCost reached, EditStep step, Budget& budget) {
  if (is_hopeless(reached) || (guide_ && !is_along_guide(at, reached.cost))) return;
  queue_.reserve_one();  // before anything changes, so that no node is ever missing in the queue
  if (const auto known = nodes_.find(at)) {
    Node& node = nodes_[*known];
    if (reached >= node.reached) return;
    node.reached = reached;
    node.from = from;
    node.step = step;
    node.next = kFirst;
    ++node.version;
    push(*known);
    return;
  }
  const bool is_within = at.position < tokens_.size();
  const Place kept = is_within ? places_.after(at.place, tokens_[at.position], budget) : TokenPlaces::kNone;
  const PathCost left = estimate(at, kept);
  if (!is_hopeless(reached + left)) push(nodes_.add({at, kept, reached, left, from, step}));
}

// Where the edges of a node lead: visit(At, step).
template <class Visit>
void TokenRepairSearch::visit_first(const Node& node, Visit&& visit) const {
  if (node.at.position == tokens_.size()) return;
  visit(At{node.at.position + 1, node.at.place}, EditStep{EditKind::Remove, 0});
  if (node.kept != TokenPlaces::kNone)
    visit(At{node.at.position + 1, node.kept}, EditStep{EditKind::Keep, tokens_[node.at.position]});
}
template <class Visit>
void TokenRepairSearch::visit_priced(const Node& node, EditCost wanted, Budget& budget, Visit&& visit) {
  for (const auto& [target, token, type] : places_.row(node.at.place, budget).edges) {
    if (prices_.insert[type] == wanted) visit(At{node.at.position, target}, EditStep{EditKind::Insert, token});
    if (prices_.replace[type] == wanted && node.at.position < tokens_.size() && token != tokens_[node.at.position])
      visit(At{node.at.position + 1, target}, EditStep{EditKind::Replace, token});
  }
}

void TokenRepairSearch::expand(NodeNumber number, Budget& budget) {
  ++expansions_;
  const Node node = nodes_[number];
  const auto follow = [&](const At& at, EditStep step) {
    budget.step();
    relax(number, at, node.reached + price(step, node.at.position), step, budget);
  };
  if (node.next == kFirst) {
    if (is_end(node)) reach_end(number, budget);
    visit_first(node, follow);
  } else {
    const EditCost price = each_price_[node.next - 1u];
    visit_priced(node, price, budget, follow);
    if (!places_.row(node.at.place, budget).is_whole)
      least_missing_ = std::min(least_missing_, node.reached.cost + price);
  }
  Node& after = nodes_[number];
  if (after.version != node.version) return;  // reached more cheaply by one of these
  after.next = node.next == each_price_.size() ? kDone : static_cast<std::uint16_t>(node.next + 1);
  if (after.next != kDone) push(number);
}

// Nothing where the constraint refuses what is accepted in relaxed places.
std::optional<std::vector<EditStep>> TokenRepairSearch::accepted_steps_to(NodeNumber number, Budget& budget) {
  std::vector<EditStep> steps = steps_to(number);
  if (is_exact_ || !places_.is_relaxed()) return steps;
  std::vector<std::uint32_t> written;
  for (const EditStep& step : steps)
    if (step.kind != EditKind::Remove) written.push_back(step.operand);
  if (places_.accepts(written, budget)) return steps;
  return std::nullopt;
}

void TokenRepairSearch::reach_end(NodeNumber number, Budget& budget) {
  if (nodes_[number].reached > best_.cost) return;
  std::optional<std::vector<EditStep>> steps = accepted_steps_to(number, budget);
  if (!steps) {
    least_refused_ = std::min(least_refused_, nodes_[number].reached.cost);
    return;
  }
  end_ = number;
  if (nodes_[number].reached == best_.cost) return;
  best_ = answer_of(*std::move(steps));
  is_better_ = true;
}

std::vector<EditStep> TokenRepairSearch::steps_to(NodeNumber number) const {
  std::vector<EditStep> steps;
  for (; nodes_[number].from != kNoNode; number = nodes_[number].from) steps.push_back(nodes_[number].step);
  std::ranges::reverse(steps);
  return steps;
}

// ---- the search -------------------------------------------------------------------------------

bool TokenRepairSearch::is_stale(const Entry& entry) const {
  const Node& node = nodes_[entry.node];
  return node.version != entry.version || node.next == kDone || is_hopeless(bound_of(node));
}

void TokenRepairSearch::queue_again() {
  queue_.rebuild([this](const Entry& entry) { return is_stale(entry); },
                 [this](Entry& entry) { entry.key = key_of(nodes_[entry.node], bound_of(nodes_[entry.node]).cost); });
}

std::uint64_t TokenRepairSearch::open_bound() const {
  if (guide_) return lower_bound_;  // what is not along it may cost as little
  std::uint64_t least = std::min({best_.cost.cost, least_refused_, least_missing_});
  queue_.visit([&](const Entry& entry) {
    if (const Node& node = nodes_[entry.node]; node.version == entry.version && node.next != kDone)
      least = std::min(least, bound_of(node).cost);
  });
  return nodes_.empty() ? 0 : least;
}

void TokenRepairSearch::note_bound() {
  const std::uint64_t bound = open_bound();
  if (bound > lower_bound_ || (bound == lower_bound_ && !is_exact_)) is_bound_relaxed_ = !is_exact_;
  lower_bound_ = std::max(lower_bound_, bound);
}

// Whether no open node is below the best cost; the weight is 1.
bool TokenRepairSearch::is_proven() const {
  return queue_.empty() || queue_.top().key >= best_.cost.cost * kKeysOfACost;
}

TokenRepairSearch::Outcome TokenRepairSearch::improve() {
  const Charge charge(places_.account());
  Budget budget(limits_, cancel_, spent_seconds_);
  const Undo spend([&] { spent_seconds_ = budget.spent_seconds(); });
  is_better_ = false;
  try {
    if (nodes_.empty()) begin(places_.relaxed_start(), budget);
    while (!is_over_) {
      if (is_better_ || weight_.is_tried(expansions_, kExpansionsOfATokenTry + 2 * tokens_.size())) {
        weight_.lower(expansions_);
        queue_again();
      }
      if (is_better_) {
        note_bound();
        return Outcome::Better;
      }
      if (least_refused_ < best_.cost.cost) {  // relaxed places prove no more than that
        if (weight_.drop_excess()) queue_again();
        const std::uint64_t refused = least_refused_ * kKeysOfACost;
        if (queue_.empty() || queue_.top().key > refused || (queue_.top().key == refused && ++ties_ > kMostForAGuide)) {
          if (least_insert_ > 0) make_guide(budget);
          begin_exactly(guide_.has_value(), budget);
          continue;
        }
      }
      if (guide_ && queue_.empty() && best_.cost.cost > lower_bound_) {  // all that is along it is refused, too
        begin_exactly(false, budget);
        continue;
      }
      if (queue_.empty() || (weight_.excess() == 0 && is_proven() && ++ties_ > kMostTies)) break;
      budget.step();
      const Entry entry = queue_.pop();
      if (is_stale(entry)) continue;
      try {
        expand(entry.node, budget);
      } catch (...) {
        // There is room for the entry, which was in the queue before.
        if (nodes_[entry.node].version == entry.version) queue_.push(entry);
        throw;
      }
    }
    if (!is_over_) {
      note_bound();
      is_over_ = true;
      if (queue_.empty() && end_) choose_among_equals(budget);
    }
  } catch (const LimitExceeded&) {
    note_bound();
    return Outcome::Stopped;
  } catch (const std::bad_alloc&) {
    note_bound();
    return Outcome::Stopped;
  }
  return Outcome::Ended;
}

// ---- equal costs ------------------------------------------------------------------------------

// The edges of a node that were made.
template <class Visit>
void TokenRepairSearch::visit_edges(const Node& node, Budget& budget, Visit&& visit) {
  if (node.next > kFirst) visit_first(node, visit);
  for (std::size_t price = 0; price < each_price_.size() && price + 1u < node.next; ++price)
    visit_priced(node, each_price_[price], budget, visit);
}

// Those that are on a cheapest path, to nodes that are.
template <class Visit>
void TokenRepairSearch::visit_cheapest(NodeNumber number, Budget& budget, Visit&& visit) {
  const Node node = nodes_[number];
  const auto tight = [&](const At& at, EditStep step) {
    budget.step();
    const auto target = nodes_.find(at);
    if (target && nodes_[*target].is_cheapest &&
        nodes_[*target].reached == node.reached + price(step, node.at.position))
      visit(*target, step);
  };
  visit_edges(node, budget, tight);
}

// Every edge raises one of the three parts of a cost, so that the latest nodes come first.
void TokenRepairSearch::mark_cheapest(Budget& budget) {
  std::vector<NodeNumber> order;
  for (NodeNumber number = 0; number < nodes_.size(); ++number)
    if (nodes_[number].next > kFirst && nodes_[number].reached + nodes_[number].estimate <= best_.cost)
      order.push_back(number);
  if (order.size() > kMostTies) return;
  std::ranges::sort(order,
                    [&](NodeNumber one, NodeNumber other) { return nodes_[one].reached > nodes_[other].reached; });
  for (const NodeNumber number : order) {
    Node& node = nodes_[number];
    node.is_cheapest = is_end(node) && node.reached == best_.cost;
    if (!node.is_cheapest)
      visit_cheapest(number, budget, [&](NodeNumber, EditStep) { nodes_[number].is_cheapest = true; });
  }
}

// Of the cheapest paths, the one that writes the first ids.
void TokenRepairSearch::choose_among_equals(Budget& budget) {
  mark_cheapest(budget);
  if (!nodes_[0].is_cheapest) return;
  std::vector<NodeNumber> now{0}, next;
  while (true) {
    for (std::size_t at = 0; at < now.size(); ++at) {  // the list grows by removals, which write nothing
      if (is_end(nodes_[now[at]])) {
        if (std::optional<std::vector<EditStep>> steps = accepted_steps_to(now[at], budget))
          best_ = answer_of(*std::move(steps));
        return;
      }
      visit_cheapest(now[at], budget, [&](NodeNumber target, EditStep step) {
        if (step.kind == EditKind::Remove) take(now, now[at], target, step);
      });
    }
    std::uint32_t least = TokenPlaces::kNone;
    for (const NodeNumber number : now)
      visit_cheapest(number, budget, [&](NodeNumber, EditStep step) {
        if (step.kind != EditKind::Remove) least = std::min(least, step.operand);
      });
    next.clear();
    for (const NodeNumber number : now)
      visit_cheapest(number, budget, [&](NodeNumber target, EditStep step) {
        if (step.kind != EditKind::Remove && step.operand == least) take(next, number, target, step);
      });
    now.swap(next);
  }
}

// The first that leads to a node decides by which edits it is reached.
void TokenRepairSearch::take(std::vector<NodeNumber>& list, NodeNumber from, NodeNumber target, EditStep step) {
  if (std::exchange(nodes_[target].is_taken, true)) return;
  nodes_[target].from = from;
  nodes_[target].step = step;
  list.push_back(target);
}

}  // namespace tokamata
