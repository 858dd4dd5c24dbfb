#include "repair/kept_automata.hpp"

#include "repair/idle.hpp"
#include "repair/search.hpp"

namespace tokamata {

namespace {

// Never destroyed: threads may still work when the process ends.
Idle<KeptAutomaton, KeptAutomata>& idle() {
  static auto& of_all_patterns = *new Idle<KeptAutomaton, KeptAutomata>(KeptAutomata::kMostIdleBytes);
  return of_all_patterns;
}

}  // namespace

KeptAutomata::~KeptAutomata() { idle().drop(this); }

std::unique_ptr<KeptAutomaton> KeptAutomata::borrow(const Limits& limits,
                                                    const std::shared_ptr<const CancelToken>& cancel) {
  std::unique_ptr<KeptAutomaton> kept = idle().take(this);
  if (kept && kept->fits(limits)) return kept;
  kept.reset();
  return std::make_unique<KeptAutomaton>(*pattern_, limits, cancel);
}

void KeptAutomata::give_back(std::unique_ptr<KeptAutomaton> borrowed) noexcept {
  try {
    idle().put(this, std::move(borrowed));
  } catch (const std::bad_alloc&) {
    // It goes instead: nothing but time is lost.
  }
}

std::size_t KeptAutomata::idle_bytes() { return idle().bytes(); }

namespace {

// Reads a text from a state; nothing, or where it is refused.
std::optional<std::size_t> refused_from(StateId state, const BorrowedAutomaton& borrowed, std::string_view text,
                                        const Limits& limits, Budget& budget) {
  constexpr std::size_t kBetween = 256;  // bytes, each of which may make a few states
  ByteAutomaton& automaton = borrowed.automaton();
  for (std::size_t at = 0; at < text.size(); ++at) {
    budget.step();
    if (at % kBetween == 0 &&
        (borrowed.account().bytes() >= limits.memory_bytes / 2 || automaton.state_count() >= limits.states / 2)) {
      StateId* const in_use[] = {&state};
      borrowed.kept().keep_only(in_use);
    }
    state = automaton.next(state, static_cast<std::uint8_t>(text[at]), budget);
    if (state == ByteAutomaton::kDead) return at;
  }
  return automaton.accepting(state) ? std::nullopt : std::optional(text.size());
}

}  // namespace

std::optional<std::size_t> refused_at(const std::shared_ptr<KeptAutomata>& automata, std::string_view text,
                                      const Limits& limits, const std::shared_ptr<const CancelToken>& cancel) {
  Budget budget(limits, cancel, 0);
  const BorrowedAutomaton borrowed(automata, limits, cancel);
  return refused_from(borrowed.automaton().start(), borrowed, text, limits, budget);
}

bool is_accepted(const std::shared_ptr<KeptAutomata>& automata, std::string_view text, const Limits& limits,
                 const std::shared_ptr<const CancelToken>& cancel) {
  Budget budget(limits, cancel, 0);
  const BorrowedAutomaton borrowed(automata, limits, cancel);
  const StateId relaxed = borrowed.kept().relaxed_start(budget), start = borrowed.automaton().start();
  if (relaxed != start && refused_from(relaxed, borrowed, text, limits, budget)) return false;
  return !refused_from(borrowed.automaton().start(), borrowed, text, limits, budget);
}

StateId KeptAutomaton::relaxed_start(Budget& budget) {
  if (!relaxed_start_) relaxed_start_ = over_approximation(automaton_, automaton_.start(), budget);
  return *relaxed_start_;
}

}  // namespace tokamata
