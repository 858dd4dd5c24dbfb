#include "composition/factored_mask.hpp"

namespace tokamata {

namespace {

constexpr unsigned kWide = 16;  // bytes of a class; narrower ones are walked in no time

void append(std::string& key, std::uint64_t value) { key.append(reinterpret_cast<const char*>(&value), sizeof value); }

// The loop over a wide class of code points that an alternative begins with, if it does.
std::optional<ClassLoop> class_loop(const Arena& arena, ExpressionId alternative) {
  const auto [head, tail] = arena.pool().split(alternative);
  const bool is_repetition = arena.pool().node(head).kind == Kind::Repetition;
  ClassLoop loop{head, tail, {}, {}, {}, is_repetition ? arena.pool().node(head).maximum : 1};
  const ExpressionNode& body =
      is_repetition ? arena.pool().node(arena.pool().node(head).body()) : arena.pool().node(head);
  if (body.kind == Kind::Bytes) {
    const ByteSet& set = arena.leaves().byte_set(body);
    if (set.size() < kWide || !set.is_subset_of(ByteSet::range(0x00, 0x7F))) return std::nullopt;
    for (unsigned low = set.next_member(0), end; low < 256; low = set.next_member(end)) {
      end = set.next_non_member(low);
      append(loop.key, (std::uint64_t{low} << 32) | end);
    }
    loop.first = loop.whole = set;
    return loop;
  }
  if (body.kind != Kind::CodePoints || body.state() != arena.leaves().automaton(body).start()) return std::nullopt;
  // Equal sets of code points have equal automata.
  const CodePointAutomaton& automaton = arena.leaves().automaton(body);
  loop.whole = automaton.full_blocks();
  for (auto t = automaton.begin(body.state()); t != automaton.end(body.state()); ++t)
    loop.first |= ByteSet::range(t->low, t->high);
  for (std::uint32_t state = 1; state < automaton.state_count(); ++state) {
    append(loop.key, ~std::uint64_t{0});
    for (auto t = automaton.begin(state); t != automaton.end(state); ++t)
      append(loop.key, (std::uint64_t{t->target} << 16) | (std::uint64_t{t->low} << 8) | t->high);
  }
  return loop;
}

}  // namespace

Factors factors_of(Arena& arena, ExpressionId expression) {
  constexpr std::size_t kMostAlternatives = 8;  // so many are taken apart; the others stay whole
  Factors factors;
  const auto given = arena.pool().alternatives(expression);
  std::vector<ExpressionId> open(given.begin(), given.end());
  while (!open.empty()) {
    const ExpressionId alternative = open.back();
    open.pop_back();
    if (std::optional<ClassLoop> loop = class_loop(arena, alternative)) {
      factors.loops.push_back(std::move(*loop));
      continue;
    }
    const auto [first, tail] = arena.pool().split(alternative);
    const ExpressionNode head = arena.pool().node(first);  // a copy: nodes move when the arena grows
    if (tail != Pool::kEpsilon && head.kind == Kind::Repetition && head.minimum == 0 &&
        open.size() + factors.others.size() < kMostAlternatives) {
      factors.others.push_back(arena.forms().concatenate(arena.forms().repeat(head.body(), 1, head.maximum), tail));
      const auto rest = arena.pool().alternatives(tail);
      open.insert(open.end(), rest.begin(), rest.end());
    } else {
      factors.others.push_back(alternative);
    }
  }
  return factors;
}

LeavingWalk::LeavingWalk(Arena& arena, const ClassLoop& loop)
    : first_of_tail(arena.analyses().first_bytes(loop.tail)), counts_rounds(false) {
  if (!first_of_tail.intersects(loop.first)) {
    worth_walking = first_of_tail;
    return;
  }
  worth_walking = arena.analyses().first_bytes_within(loop.tail).without(loop.whole);
  counts_rounds = loop.rounds != kUnbounded;
}

}  // namespace tokamata
