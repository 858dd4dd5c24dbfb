#include "composition/factored_mask.hpp"

namespace tokamata {

namespace {

constexpr unsigned kWide = 16;  // bytes of a class; narrower ones are walked in no time

void append(std::string& key, std::uint64_t value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

std::optional<ClassLoop> class_loop(const Arena& arena, ExpressionId alternative) {
  const ExpressionNode& n = arena.node(alternative);
  const bool is_pair = n.kind == Kind::Concatenation;
  const ExpressionId head = is_pair ? n.head() : alternative;
  const ExpressionNode& repetition = arena.node(head);
  if (repetition.kind != Kind::Repetition) return std::nullopt;
  ClassLoop loop{head, is_pair ? n.tail() : Arena::kEpsilon, {}, {}, repetition.maximum};
  const ExpressionNode& body = arena.node(repetition.body());
  if (body.kind == Kind::Bytes) {
    const ByteSet& set = arena.byte_set(body);
    if (set.size() < kWide || !set.is_subset_of(ByteSet::range(0x00, 0x7F))) return std::nullopt;
    for (unsigned low = set.next_member(0), end; low < 256; low = set.next_member(end)) {
      end = set.next_non_member(low);
      append(loop.key, (std::uint64_t{low} << 32) | end);
    }
    loop.whole = set;
    return loop;
  }
  if (body.kind != Kind::CodePoints || body.second != arena.automaton(body).start()) return std::nullopt;
  // Equal sets of code points have equal automata.
  const CodePointAutomaton& automaton = arena.automaton(body);
  loop.whole = automaton.full_blocks();
  for (std::uint32_t state = 1; state < automaton.state_count(); ++state) {
    append(loop.key, ~std::uint64_t{0});
    for (auto t = automaton.begin(state); t != automaton.end(state); ++t)
      append(loop.key, (std::uint64_t{t->target} << 16) | (std::uint64_t{t->low} << 8) | t->high);
  }
  return loop;
}

}  // namespace tokamata
