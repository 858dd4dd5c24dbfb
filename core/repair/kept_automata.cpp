#include "repair/kept_automata.hpp"

#include <list>
#include <mutex>

#include "common/mutex.hpp"

namespace tokamata {

namespace {

// All that are idle, the latest first.  What goes is destroyed outside of the lock.
class Idle {
 public:
  static Idle& of_all_patterns() {
    static Idle& idle = *new Idle;  // never destroyed: threads may still work when the process ends
    return idle;
  }

  std::unique_ptr<KeptAutomaton> take(const KeptAutomata* owner) {
    const std::scoped_lock lock(mutex_);
    for (auto at = entries_.begin(); at != entries_.end(); ++at) {
      if (at->owner != owner) continue;
      std::unique_ptr<KeptAutomaton> taken = std::move(at->automaton);
      bytes_ -= at->bytes;
      entries_.erase(at);
      return taken;
    }
    return nullptr;
  }

  void put(const KeptAutomata* owner, std::unique_ptr<KeptAutomaton> automaton) {
    const std::size_t bytes = automaton->account().bytes();
    if (bytes > KeptAutomata::kMostIdleBytes) return;
    std::list<Entry> added, gone;
    added.push_back({owner, bytes, std::move(automaton)});
    const std::scoped_lock lock(mutex_);
    entries_.splice(entries_.begin(), added);
    bytes_ += bytes;
    while (bytes_ > KeptAutomata::kMostIdleBytes) {
      bytes_ -= entries_.back().bytes;
      gone.splice(gone.begin(), entries_, std::prev(entries_.end()));
    }
  }

  void drop(const KeptAutomata* owner) {
    while (take(owner)) {
    }
  }

  std::size_t bytes() {
    const std::scoped_lock lock(mutex_);
    return bytes_;
  }

 private:
  struct Entry {
    const KeptAutomata* owner;
    std::size_t bytes;
    std::unique_ptr<KeptAutomaton> automaton;
  };

  Mutex mutex_;
  std::list<Entry> entries_;
  std::size_t bytes_ = 0;
};

}  // namespace

KeptAutomata::~KeptAutomata() { Idle::of_all_patterns().drop(this); }

std::unique_ptr<KeptAutomaton> KeptAutomata::borrow(const Limits& limits, const std::shared_ptr<const CancelToken>& cancel) {
  std::unique_ptr<KeptAutomaton> kept = Idle::of_all_patterns().take(this);
  if (kept && kept->fits(limits)) return kept;
  kept.reset();
  return std::make_unique<KeptAutomaton>(*pattern_, limits, cancel);
}

void KeptAutomata::give_back(std::unique_ptr<KeptAutomaton> borrowed) noexcept {
  try {
    Idle::of_all_patterns().put(this, std::move(borrowed));
  } catch (const std::bad_alloc&) {
    // It goes instead: nothing but time is lost.
  }
}

std::size_t KeptAutomata::idle_bytes() { return Idle::of_all_patterns().bytes(); }

std::optional<std::size_t> refused_at(const std::shared_ptr<KeptAutomata>& automata, std::string_view text, const Limits& limits,
                                      const std::shared_ptr<const CancelToken>& cancel) {
  constexpr std::size_t kBetween = 256;  // bytes, each of which may make a few states
  Budget budget(limits, cancel, 0);
  const BorrowedAutomaton borrowed(automata, limits, cancel);
  ByteAutomaton& automaton = borrowed.automaton();
  StateId state = automaton.start();
  for (std::size_t at = 0; at < text.size(); ++at) {
    budget.step();
    if (at % kBetween == 0 && (borrowed.account().bytes() >= limits.memory_bytes / 2 || automaton.state_count() >= limits.states / 2)) {
      StateId* const in_use[] = {&state};
      borrowed.kept().keep_only(in_use);
    }
    state = automaton.next(state, static_cast<std::uint8_t>(text[at]), budget);
    if (state == ByteAutomaton::kDead) return at;
  }
  return automaton.accepting(state) ? std::nullopt : std::optional(text.size());
}

}  // namespace tokamata
