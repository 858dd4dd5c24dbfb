#include "composition/rests.hpp"

namespace tokamata {

void Rests::clear() {
  rests_.assign(2, {Pool::kEpsilon, kNothing, Rest::kNoFork, true, Pool::kEpsilon});  // kNothing, kExit
  ids_.clear();
  forks_.clear();
}

RestId Rests::put(ExpressionId first, RestId next) {
  if (first == Pool::kEpsilon) return next;
  const RestId made{static_cast<std::uint32_t>(rests_.size())};
  const auto [known, is_new] = ids_.insert((std::uint64_t{first.value} << 32) | next.value, made);
  if (is_new) rests_.push_back({first, next});
  return known;
}

void Rests::add(std::uint32_t fork, RestId rest) {
  Fork& to = forks_[fork];
  if (to.first) to.others.push_back(rest);
  else to.first = rest;
}

RestId Rests::put_fork(std::uint32_t fork) {
  rests_.push_back({Pool::kEpsilon, kNothing, fork});
  return {static_cast<std::uint32_t>(rests_.size() - 1)};
}

const Rest& Rests::measured(RestId rest) {
  if (!rests_[rest.value].is_measured)
    compute_along(
        rest, [this](RestId at) { return rests_[at.value].is_measured; },
        [this](RestId at) { measure(rests_[at.value]); });
  return rests_[rest.value];
}

void Rests::measure(Rest& at) {
  if (!at.is_fork()) {
    const ExpressionNode& n = arena_.pool().node(at.first);
    const Rest& next = rests_[at.next.value];
    at.spelled = n.spelled + next.spelled;
    at.begins = beginnings_.of(at.first);
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
}

// Whether it is unverified at the front, without applying a choice that stands there.
bool Rests::is_unverified(ExpressionId expression) const {
  const ExpressionNode& n = arena_.pool().node(expression);
  if (n.unverified || !n.commits) return n.unverified;
  if (n.kind == Kind::Union)
    return std::ranges::any_of(arena_.pool().items(n), [this](ExpressionId item) { return is_unverified(item); });
  if (n.kind == Kind::Concatenation) return is_unverified(n.head()) || is_unverified(n.tail());
  return n.kind == Kind::Commit && n.choice() == Rules::kUnverified;
}

ExpressionId Rests::joined(ExpressionId first, RestId rest) {
  compute_along(
      rest, [this](RestId at) { return rests_[at.value].joined.has_value(); },
      [this](RestId id) {
        Rest& at = rests_[id.value];
        if (!at.is_fork()) {
          at.joined = arena_.forms().concatenate(at.first, *rests_[at.next.value].joined);
          return;
        }
        Fork& fork = forks_[at.fork];
        fork.is_closed = true;
        std::vector<ExpressionId> alternatives;
        fork.for_each([&](RestId next) { alternatives.push_back(*rests_[next.value].joined); });
        at.joined = arena_.forms().unite(alternatives);
      });
  return arena_.forms().concatenate(first, *rests_[rest.value].joined);
}

}  // namespace tokamata
