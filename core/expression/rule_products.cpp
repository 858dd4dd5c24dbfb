#include "expression/rule_products.hpp"

#include <algorithm>

#include "common/memoized.hpp"
#include "expression/parts.hpp"

namespace tokamata {

namespace {

std::uint64_t pair_of(ExpressionId one, ExpressionId other) { return (std::uint64_t{one.value} << 32) | other.value; }

bool sees_around(const ExpressionNode& n) {
  return n.open || n.behind || n.edges || n.commits || n.waits || n.by_byte || n.unverified;
}

}  // namespace

// One call.
class RuleProducts::Measuring {
 public:
  Measuring(RuleProducts& known, Arena& arena, Budget& budget) : known_(known), arena_(arena), budget_(budget) {}

  std::optional<std::uint32_t> length(ExpressionId expression, unsigned depth);

 private:
  static constexpr unsigned kDeepest = 100;  // of what is nested in a state, besides stacks
  struct TooDeep {};

  bool is_listed(ExpressionId expression);
  bool is_regular(ExpressionId expression);
  std::uint32_t distance(ExpressionId expression, ExpressionId state);
  bool measure(ExpressionId rest, ExpressionId state, std::vector<std::pair<ExpressionId, ExpressionId>>& open);
  Ends ends(ExpressionId expression, ExpressionId state);
  Ends after(ExpressionId expression, const Ends& befores);
  Ends of_leaf(ExpressionId leaf, ExpressionId state);
  Ends of_rule(ExpressionId rule, ExpressionId state);
  Ends of_repetition(const ExpressionNode& n, ExpressionId state);
  void solve();
  static bool add(Ends& ends, ExpressionId state, std::uint32_t length);
  static bool add_all(Ends& ends, const Ends& others);

  RuleProducts& known_;
  Arena& arena_;
  Budget& budget_;
  std::optional<std::uint32_t> current_;  // the summary that is being computed
  unsigned depth_ = 0;
};

std::optional<std::uint32_t> RuleProducts::length(ExpressionId expression, Arena& arena, Budget& budget) {
  return Measuring(*this, arena, budget).length(expression, 0);
}

void RuleProducts::forget() {
  release(index_);
  release(summaries_);
  release(queue_);
  release(leaf_ends_);
  release(distances_);
  release(listed_);
  release(regular_);
}

// ---- states of texts --------------------------------------------------------------------------

std::optional<std::uint32_t> RuleProducts::Measuring::length(ExpressionId expression, unsigned depth) {
  const ExpressionNode n = arena_.pool().node(expression);
  if (expression == Pool::kEmpty) return kNoLength;
  if (sees_around(n) || depth == kDeepest) return std::nullopt;
  if (n.nullable) return 0;
  if (!n.constrained) return n.shortest;
  switch (n.kind) {
    case Kind::Union: {
      std::uint32_t least = kNoLength;
      const std::vector<ExpressionId> items(arena_.pool().items(n).begin(), arena_.pool().items(n).end());
      for (const ExpressionId item : items) {
        const auto one = length(item, depth + 1);
        if (!one) return std::nullopt;
        least = std::min(least, *one);
      }
      return least;
    }
    case Kind::Concatenation: {
      const auto head = length(n.head(), depth + 1);
      const auto tail = head ? length(n.tail(), depth + 1) : std::nullopt;
      return tail ? std::optional(capped_sum(*head, *tail)) : std::nullopt;
    }
    case Kind::Intersection: {
      std::optional<ExpressionId> of_rules;
      std::vector<ExpressionId> others;
      for (const ExpressionId item : arena_.pool().items(n)) {
        if (is_regular(item)) others.push_back(item);
        else if (of_rules) return std::nullopt;
        else of_rules = item;
      }
      if (!of_rules || !is_listed(*of_rules)) return std::nullopt;
      try {
        return distance(*of_rules, arena_.forms().intersect(others));
      } catch (const TooDeep&) {
        return std::nullopt;
      }
    }
    default: return std::nullopt;
  }
}

// Whether it is made of listed rules and regular parts.
bool RuleProducts::Measuring::is_listed(ExpressionId expression) {
  std::vector<ExpressionId> open{expression}, met;
  bool is_one = true;
  while (!open.empty() && is_one) {
    const ExpressionId at = open.back();
    open.pop_back();
    if (const auto [known, is_new] = known_.listed_.try_emplace(at.value, true); !is_new) {
      is_one = known->second;
      continue;
    }
    met.push_back(at);
    budget_.step();
    const ExpressionNode& n = arena_.pool().node(at);
    if (!n.rules) {
      is_one = is_regular(at);
      continue;
    }
    switch (n.kind) {
      case Kind::Rule: is_one = arena_.rule_sets().of(n).is_listed(); break;
      case Kind::Concatenation: open.insert(open.end(), {n.head(), n.tail()}); break;
      case Kind::Repetition: open.push_back(n.body()); break;
      case Kind::Union: open.insert(open.end(), arena_.pool().items(n).begin(), arena_.pool().items(n).end()); break;
      default: is_one = false;
    }
  }
  if (!is_one)
    for (const ExpressionId one : met) known_.listed_.erase(one.value);  // some of them may be
  return is_one;
}

// Whether there is no rule in it, within intersections and complements too.
bool RuleProducts::Measuring::is_regular(ExpressionId expression) {
  std::vector<ExpressionId> open{expression}, met;
  bool is_one = true;
  while (!open.empty() && is_one) {
    const ExpressionId at = open.back();
    open.pop_back();
    if (const auto [known, is_new] = known_.regular_.try_emplace(at.value, true); !is_new) {
      is_one = known->second;
      continue;
    }
    met.push_back(at);
    budget_.step();
    const Kind kind = arena_.pool().node(at).kind;
    is_one = kind != Kind::Rule && kind != Kind::Commit && kind != Kind::Unverified;
    append_parts(arena_.pool(), at, open);
  }
  if (!is_one)
    for (const ExpressionId one : met) known_.regular_.erase(one.value);  // some of them may be
  return is_one;
}

// From the rests of a stack that are furthest back, so that a deep stack needs none here.
std::uint32_t RuleProducts::Measuring::distance(ExpressionId expression, ExpressionId state) {
  std::vector<std::pair<ExpressionId, ExpressionId>> open{{expression, state}};
  while (!open.empty()) {
    const auto [rest, at] = open.back();
    if (known_.distances_.contains(pair_of(rest, at)) || measure(rest, at, open)) open.pop_back();
  }
  return known_.distances_.at(pair_of(expression, state));
}

// Whether it is known now; otherwise what is missing was added to `open`.
bool RuleProducts::Measuring::measure(ExpressionId rest, ExpressionId state,
                                      std::vector<std::pair<ExpressionId, ExpressionId>>& open) {
  budget_.step();
  const std::size_t before = open.size();
  std::uint32_t least = kNoLength;
  const auto take = [&](ExpressionId part, ExpressionId from, std::uint32_t length) {
    if (const auto known = known_.distances_.find(pair_of(part, from)); known != known_.distances_.end())
      least = std::min(least, capped_sum(length, known->second));
    else open.emplace_back(part, from);
  };
  const ExpressionNode n = arena_.pool().node(rest);
  if (n.kind == Kind::Concatenation) {
    for (const End& end : ends(n.head(), state)) take(n.tail(), end.state, end.length);
  } else if (n.kind == Kind::Union) {
    const std::vector<ExpressionId> items(arena_.pool().items(n).begin(), arena_.pool().items(n).end());
    for (const ExpressionId item : items) take(item, state, 0);
  } else {
    for (const End& end : ends(rest, state))
      if (arena_.pool().node(end.state).nullable) least = std::min(least, end.length);
  }
  if (open.size() > before) return false;
  known_.distances_.emplace(pair_of(rest, state), least);
  return true;
}

// ---- ends -------------------------------------------------------------------------------------

// Whether it is new, or shorter.
bool RuleProducts::Measuring::add(Ends& ends, ExpressionId state, std::uint32_t length) {
  const auto place = std::ranges::lower_bound(ends, state.value, {}, [](const End& end) { return end.state.value; });
  if (place == ends.end() || place->state != state) {
    ends.insert(place, {state, length});
    return true;
  }
  if (place->length <= length) return false;
  place->length = length;
  return true;
}

bool RuleProducts::Measuring::add_all(Ends& ends, const Ends& others) {
  bool is_better = false;
  for (const End& end : others) is_better |= add(ends, end.state, end.length);
  return is_better;
}

RuleProducts::Ends RuleProducts::Measuring::after(ExpressionId expression, const Ends& befores) {
  Ends found;
  for (const End& before : befores)
    for (const End& end : ends(expression, before.state)) add(found, end.state, capped_sum(before.length, end.length));
  return found;
}

RuleProducts::Ends RuleProducts::Measuring::ends(ExpressionId expression, ExpressionId state) {
  const ExpressionNode n = arena_.pool().node(expression);
  if (!n.rules) return of_leaf(expression, state);
  if (n.kind == Kind::Rule) return of_rule(expression, state);
  if (++depth_ > kDeepest) throw TooDeep();
  budget_.step();
  Ends found;
  if (n.kind == Kind::Repetition) {
    found = of_repetition(n, state);
  } else if (n.kind == Kind::Union) {
    const std::vector<ExpressionId> items(arena_.pool().items(n).begin(), arena_.pool().items(n).end());
    for (const ExpressionId item : items) add_all(found, ends(item, state));
  } else {
    TOKAMATA_CHECK(n.kind == Kind::Concatenation, "bodies of listed rules have no other parts with rules");
    found = {{state, 0}};
    ExpressionId rest = expression;
    for (ExpressionNode at = n; at.kind == Kind::Concatenation; at = arena_.pool().node(rest)) {
      found = after(at.head(), found);
      rest = at.tail();
    }
    found = after(rest, found);
  }
  --depth_;
  return found;
}

// Both automata, breadth first.
RuleProducts::Ends RuleProducts::Measuring::of_leaf(ExpressionId leaf, ExpressionId state) {
  const std::uint64_t key = pair_of(leaf, state);
  if (const auto known = known_.leaf_ends_.find(key); known != known_.leaf_ends_.end())
    return {known->second.begin(), known->second.end()};
  Ends found;
  struct Open {
    ExpressionId leaf, state;
    std::uint32_t length;
  };
  std::vector<Open> open{{leaf, state, 0}};
  std::unordered_set<std::uint64_t> met{key};
  for (std::size_t next = 0; next < open.size(); ++next) {
    const Open at = open[next];
    if (arena_.pool().node(at.leaf).nullable) add(found, at.state, at.length);
    const FirstBytes of_leaf = arena_.derivatives().first_byte_classes(at.leaf),
                     of_state = arena_.derivatives().first_byte_classes(at.state);
    const ByteSet bytes =
        FirstBytes{of_leaf.bytes & of_state.bytes, of_leaf.borders | of_state.borders}.representatives();
    for (unsigned value = bytes.next_member(0); value < 256; value = bytes.next_member(value + 1)) {
      budget_.step();
      const auto byte = static_cast<std::uint8_t>(value);
      const ExpressionId after_leaf = arena_.derivatives().derivative(at.leaf, byte, budget_);
      if (after_leaf == Pool::kEmpty) continue;
      const ExpressionId after_state = arena_.derivatives().derivative(at.state, byte, budget_);
      if (after_state == Pool::kEmpty || !met.insert(pair_of(after_leaf, after_state)).second) continue;
      open.push_back({after_leaf, after_state, capped_sum(at.length, 1)});
    }
  }
  known_.leaf_ends_.emplace(key, counted::vector<End>(found.begin(), found.end()));
  return found;
}

RuleProducts::Ends RuleProducts::Measuring::of_repetition(const ExpressionNode& n, ExpressionId state) {
  Ends found{{state, 0}};
  for (Count round = 0; round < n.minimum && !found.empty(); ++round) {
    budget_.step();
    found = after(n.body(), found);
  }
  // One round more lengthens nothing; where it adds nothing, no later one does.
  for (Count round = n.minimum; round < n.maximum; ++round) {
    budget_.step();
    if (!add_all(found, after(n.body(), found))) break;
  }
  return found;
}

// While summaries are computed, those that are met are not final.
RuleProducts::Ends RuleProducts::Measuring::of_rule(ExpressionId rule, ExpressionId state) {
  const auto [place, is_new] =
      known_.index_.try_emplace(pair_of(rule, state), static_cast<std::uint32_t>(known_.summaries_.size()));
  const std::uint32_t number = place->second;
  if (is_new) {
    known_.queue_.push_back(number);
    known_.summaries_.push_back({.rule = rule, .state = state, .ends = {}, .users = {}});
  }
  if (!current_) solve();
  else if (auto& users = known_.summaries_[number].users; std::ranges::find(users, *current_) == users.end())
    users.push_back(*current_);
  const counted::vector<End>& found = known_.summaries_[number].ends;
  return {found.begin(), found.end()};
}

void RuleProducts::Measuring::solve() {
  const unsigned depth = std::exchange(depth_, 0);
  while (!known_.queue_.empty()) {
    const std::uint32_t number = known_.queue_.front();
    current_ = number;
    const ExpressionId rule = known_.summaries_[number].rule, state = known_.summaries_[number].state;
    known_.summaries_[number].is_queued = false;
    const ExpressionNode n = arena_.pool().node(rule);
    const std::optional<ExpressionId> body = arena_.rule_sets().of(n).unfolded(n.rule(), budget_);
    TOKAMATA_CHECK(body.has_value(), "a listed rule has a body");
    const Ends found = ends(*body, state);
    Summary& summary = known_.summaries_[number];
    const bool is_changed = !std::ranges::equal(
        found, summary.ends, [](const End& a, const End& b) { return a.state == b.state && a.length == b.length; });
    if (is_changed) {
      summary.ends.assign(found.begin(), found.end());
      for (const std::uint32_t user : summary.users) {
        if (std::exchange(known_.summaries_[user].is_queued, true)) continue;
        known_.queue_.push_back(user);
      }
    }
    known_.queue_.pop_front();  // last: where a limit stops it, it is computed again
  }
  current_.reset();
  depth_ = depth;
}

}  // namespace tokamata
