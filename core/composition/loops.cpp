#include "composition/loops.hpp"

#include <algorithm>

namespace tokamata {

namespace {

constexpr ByteSet kAscii = ByteSet::range(0x00, 0x7F);

// First bytes of the code points that the expression accepts as texts of their own.
ByteSet whole_code_points(const Arena& arena, ExpressionId expression, bool whole_leads) {
  const ExpressionNode& n = arena.pool().node(expression);
  switch (n.kind) {
    case Kind::Bytes: return arena.leaves().byte_set(n) & kAscii;
    case Kind::CodePoints: {
      const CodePointAutomaton& automaton = arena.leaves().automaton(n);
      if (n.state() != automaton.start()) return {};
      return whole_leads ? automaton.full_blocks() : automaton.full_blocks() & kAscii;
    }
    case Kind::Union: {
      ByteSet set;
      for (ExpressionId item : arena.pool().items(n)) set |= whole_code_points(arena, item, whole_leads);
      return set;
    }
    case Kind::Concatenation: {
      ByteSet set;
      if (arena.pool().node(n.tail()).nullable) set |= whole_code_points(arena, n.head(), whole_leads);
      // Down one tail at most: a chain of optional parts is not worth a walk of its length.
      if (arena.pool().node(n.head()).nullable && arena.pool().node(n.tail()).kind != Kind::Concatenation)
        set |= whole_code_points(arena, n.tail(), whole_leads);
      return set;
    }
    case Kind::Repetition: return n.minimum <= 1 ? whole_code_points(arena, n.body(), whole_leads) : ByteSet();
    default: return {};
  }
}

// A state of thousands of alternatives may have as many loops; the walk asks them all at every edge.
constexpr std::size_t kMostLoops = 16;

void add_loop(const Loop& loop, std::vector<Loop>& loops) {
  const auto within = [](const Loop& small, const Loop& large) {
    return small.rounds <= large.rounds && small.bytes.is_subset_of(large.bytes);
  };
  if (std::ranges::any_of(loops, [&](const Loop& known) { return within(loop, known); })) return;
  std::erase_if(loops, [&](const Loop& known) { return within(known, loop); });
  if (loops.size() < kMostLoops) loops.push_back(loop);
}

// As many code points as the phrase still has, whichever they are; any number of those that do not go on with it.
void add_loops_of_phrase(const PhraseSearch& search, std::uint32_t position, bool whole_leads,
                         std::vector<Loop>& loops) {
  constexpr std::uint32_t kLongestCounted = 1024;  // bytes: longer than tokens are; what is left out costs time alone
  if (!search.begun(position).empty()) return;
  const ByteSet leads = whole_leads ? kAscii | ByteSet::range(0xC2, 0xF4) : kAscii;
  add_loop({leads, search.code_points_left(position, kLongestCounted)}, loops);
  add_loop({leads.without(search.going_on(position)), kUnbounded}, loops);
}

void add_loops(Arena& arena, ExpressionId expression, bool whole_leads, std::vector<Loop>& loops) {
  for (const ExpressionId alternative : arena.pool().alternatives(expression)) {
    const auto [first, tail] = arena.pool().split(alternative);
    if (arena.pool().node(tail).spellable_by_bytes() && arena.string_bounds().characters_but_for_some(first))
      add_loop({whole_code_points(arena, arena.forms().characters().spelling().character, whole_leads), kUnbounded},
               loops);
    if (!arena.pool().node(alternative).spellable_by_bytes()) continue;
    const ExpressionNode& head = arena.pool().node(first);
    if (head.kind == Kind::Until)
      add_loops_of_phrase(arena.leaves().phrase_search(head), head.state(), whole_leads, loops);
    if (head.kind == Kind::Terminal) add_loops(arena, head.body(), whole_leads, loops);
    if (head.kind != Kind::Repetition || !arena.pool().node(head.body()).spellable_by_bytes()) continue;
    const ByteSet bytes = whole_code_points(arena, head.body(), whole_leads);
    if (!bytes.empty()) add_loop({bytes, head.maximum}, loops);
  }
}

}  // namespace

std::vector<Loop> loops_of(Arena& arena, ExpressionId expression, bool whole_leads) {
  std::vector<Loop> loops;
  add_loops(arena, expression, whole_leads, loops);
  return loops;
}

namespace {

// Whether every way to end a code point of which `missing` bytes are still to come leads to `goal`.
// The first of these lies between `low` and `high`; the others may be any continuation.
bool all_lead_to(ByteAutomaton& automaton, StateId state, StateId goal, unsigned missing, std::uint8_t low,
                 std::uint8_t high, Budget& budget) {
  if (missing == 0) return state == goal;
  StateId previous = ByteAutomaton::kDead;  // which leads nowhere, and so never to the goal
  for (unsigned byte = low; byte <= high; ++byte) {
    const StateId next = automaton.next(state, static_cast<std::uint8_t>(byte), budget);
    if (next == ByteAutomaton::kDead) return false;
    if (next != previous && !all_lead_to(automaton, next, goal, missing - 1, 0x80, 0xBF, budget)) return false;
    previous = next;
  }
  return true;
}

// Whether the state may stand inside a code point as well as between two: after the first byte of one it
// takes another character.  Only OneToken reads bytes and not code points; Everything stands beside texts
// (expression.hpp).
bool reads_bytes(ByteAutomaton& automaton, StateId state, Budget& budget) {
  StateId previous = ByteAutomaton::kDead;
  for (unsigned lead = 0xC2; lead <= 0xF4; ++lead) {
    const StateId next = automaton.next(state, static_cast<std::uint8_t>(lead), budget);
    if (next == previous || next == ByteAutomaton::kDead) continue;
    for (unsigned byte = 0; byte < 0x80; ++byte)
      if (automaton.next(next, static_cast<std::uint8_t>(byte), budget) != ByteAutomaton::kDead) return true;
    previous = next;
  }
  return false;
}

}  // namespace

std::vector<Loop> stable_loops(ByteAutomaton& automaton, StateId state, bool whole_leads, Budget& budget) {
  if (automaton.arena().pool().strings_within(automaton.node(state))) return {};  // no text of finitely many leads back
  ByteSet stable;
  for (unsigned value = 0; value < 0x80; ++value) {
    const auto byte = static_cast<std::uint8_t>(value);
    if (automaton.next(state, byte, budget) == state) stable.add(byte);
  }
  if (whole_leads) {
    for (unsigned value = 0xC2; value <= 0xF4; ++value) {
      const auto lead = static_cast<std::uint8_t>(value);
      const unsigned missing = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
      const std::uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
      const std::uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
      const StateId next = automaton.next(state, lead, budget);
      if (next != ByteAutomaton::kDead && all_lead_to(automaton, next, state, missing, low, high, budget))
        stable.add(lead);
    }
  }
  if (stable.empty() || (automaton.node(state).edges && reads_bytes(automaton, state, budget))) return {};
  return {{stable, kUnbounded}};
}

}  // namespace tokamata
