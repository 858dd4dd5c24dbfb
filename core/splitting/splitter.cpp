#include "splitting/splitter.hpp"

#include <algorithm>

#include "common/hash.hpp"

namespace tokamata {

using Op = SplitInstruction::Op;

void SplitProgram::check() const {
  const auto refuse = [](const char* why) { throw std::invalid_argument(std::string("a program that splits texts: ") + why); };
  if (code.empty() || code.back().op != Op::Accept) refuse("it does not end with Accept");
  for (const SplitInstruction& one : code) {
    const bool jumps = one.op == Op::Fork || one.op == Op::Jump || one.op == Op::Loop || one.op == Op::Again || one.op == Op::Look;
    if (jumps && one.target >= code.size()) refuse("a target is past its end");
    if (one.op == Op::Part && one.number >= leaves.size()) refuse("there is no such leaf");
    if (one.op == Op::Again && code[one.target].op != Op::Loop) refuse("Again leads to no Loop");
    if (one.op == Op::Loop && one.low > one.high) refuse("a repetition has its minimum above its maximum");
  }
}

// ---- turns of repetitions -----------------------------------------------------------------------

std::size_t TurnCounts::Hash::operator()(const Entry& entry) const {
  return mix(mix(entry.turns + 1, entry.outer), entry.is_empty);
}

std::uint32_t TurnCounts::intern(const Entry& entry) {
  const auto [place, is_new] = known_.try_emplace(entry, static_cast<std::uint32_t>(entries_.size()));
  if (is_new) entries_.push_back(entry);
  return place->second;
}

// Where the innermost turn has read something, so have those around it.
std::uint32_t TurnCounts::with_text(std::uint32_t counts) {
  if (counts == kNone || !entries_[counts].is_empty) return counts;
  std::vector<std::uint32_t> chain;
  for (; counts != kNone && entries_[counts].is_empty; counts = entries_[counts].outer) chain.push_back(counts);
  for (auto inner = chain.rbegin(); inner != chain.rend(); ++inner) counts = push(counts, entries_[*inner].turns, false);
  return counts;
}

// ---- threads at one position --------------------------------------------------------------------

std::size_t Splitter::ConfigurationHash::operator()(const Configuration& at) const {
  return mix(mix(at.pc + 1, at.state.value), at.counts);
}

// All that threads reach without reading a byte, best first, each configuration once.
class Splitter::Closure {
 public:
  Closure(Splitter& splitter, std::vector<Thread>& threads, std::size_t position, Looks* looks, Budget& budget)
      : splitter_(splitter), threads_(threads), position_(position), looks_(looks), budget_(budget) {}

  void add(const Thread& first) {
    pending_.push_back({first});
    while (!pending_.empty()) {
      const auto [thread, is_followed] = pending_.back();
      pending_.pop_back();
      if (is_followed) {
        threads_.push_back(thread);
      } else if (is_new(thread.at)) {
        budget_.step();
        follow(thread);
      }
    }
  }

 private:
  struct Pending {
    Thread thread;
    bool is_followed = false;  // it stays in its part, and all that comes before it has been added
  };

  static constexpr std::size_t kFew = 12;

  bool is_new(const Configuration& at) {
    if (seen_.size() < kFew) {
      if (std::ranges::find(seen_, at) != seen_.end()) return false;
      seen_.push_back(at);
      if (seen_.size() == kFew) seen_many_.insert(seen_.begin(), seen_.end());
      return true;
    }
    return seen_many_.insert(at).second;
  }

  // The thread as if it stood at another instruction.
  static Thread moved(Thread thread, std::uint32_t pc) {
    thread.at.pc = pc;
    thread.at.state = {};
    return thread;
  }

  void push(const Thread& thread) { pending_.push_back({thread}); }
  void push(const Thread& better, const Thread& worse) {
    push(worse);
    push(better);
  }

  void follow(const Thread& thread) {
    const SplitInstruction& one = splitter_.instruction(thread);
    const Thread next = moved(thread, thread.at.pc + 1);
    switch (one.op) {
      case Op::Part:
        return in_part(thread, one);
      case Op::Fork:
        return push(next, moved(thread, one.target));
      case Op::Jump:
        return push(moved(thread, one.target));
      case Op::Mark:
        return push(noted(next, one.number));
      case Op::Enter:
        return push(with_turns(next, splitter_.counts_.push(thread.at.counts, 0, false)));
      case Op::Loop:
        return at_loop(thread, one);
      case Op::Again:
        return again(thread, one);
      case Op::Leave:
        return push(with_turns(next, splitter_.counts_.outer(thread.at.counts)));
      case Op::Look:
        if (holds(one) != one.negated) push(next);
        return;
      case Op::Accept:
        threads_.push_back(thread);
    }
  }

  // A thread whose state is the dead one is about to begin the part.
  void in_part(Thread thread, const SplitInstruction& one) {
    ByteAutomaton& automaton = *splitter_.automaton_;
    if (thread.at.state == ByteAutomaton::kDead) return pass(thread, splitter_.starts_[one.number]);
    for (std::uint32_t token = 0; token < automaton.control_tokens().size(); ++token)
      pass(thread, automaton.next(thread.at.state, Symbol::control(token), budget_));
    if (splitter_.sees_edges_) pass(thread, automaton.next(thread.at.state, Symbol::edge(), budget_));
    const bool goes_on = automaton.expression(thread.at.state) != Arena::kEpsilon;
    const bool ends = automaton.accepting(thread.at.state);
    if (goes_on && !(ends && one.lazy)) threads_.push_back(thread);
    if (goes_on && ends && one.lazy) pending_.push_back({thread, true});
    if (ends) push(moved(thread, thread.at.pc + 1));
  }

  // By a symbol that is not in the text; what it leads to comes after what is reached without.
  void pass(Thread thread, StateId state) {
    if (state == ByteAutomaton::kDead) return;
    thread.at.state = state;
    push(thread);
  }

  void at_loop(const Thread& thread, const SplitInstruction& one) {
    TurnCounts& counts = splitter_.counts_;
    const Count turns = counts.turns(thread.at.counts);
    const Thread turn =
        with_turns(moved(thread, thread.at.pc + 1), counts.push(counts.outer(thread.at.counts), turns, true));
    const Thread left = moved(thread, one.target);
    if (turns < one.low)
      push(turn);
    else if (turns >= one.high)
      push(left);
    else if (one.lazy)
      push(left, turn);
    else
      push(turn, left);
  }

  // A turn that read nothing ends the repetition: any that are still owed can read nothing too.
  void again(const Thread& thread, const SplitInstruction& one) {
    TurnCounts& counts = splitter_.counts_;
    const SplitInstruction& loop = splitter_.program_.code[one.target];
    if (counts.is_empty(thread.at.counts)) return push(moved(thread, loop.target));
    const Count most = loop.high == kUnbounded ? loop.low : loop.high;  // past the minimum, an open end needs no count
    const Count turns = std::min(counts.turns(thread.at.counts) + 1, most);
    push(with_turns(moved(thread, one.target), counts.push(counts.outer(thread.at.counts), turns, false)));
  }

  bool holds(const SplitInstruction& look) {
    if (!looks_) throw std::logic_error("a lookaround asks for text that is still to come");
    return look.behind ? bool(splitter_.ends(look.target, *looks_, budget_)[position_])
                       : splitter_.follows(look.target, position_, *looks_, budget_);
  }

  static Thread with_turns(Thread thread, std::uint32_t counts) {
    thread.at.counts = counts;
    return thread;
  }

  Thread noted(Thread thread, std::uint32_t mark) {
    std::vector<Noted>& borders = splitter_.borders_;
    borders.push_back({{mark, position_}, thread.borders, borders[thread.borders].count + 1});
    thread.borders = static_cast<std::uint32_t>(borders.size() - 1);
    return thread;
  }

  Splitter& splitter_;
  std::vector<Thread>& threads_;
  std::size_t position_;
  Looks* looks_;
  Budget& budget_;
  std::vector<Pending> pending_;  // the best last
  std::vector<Configuration> seen_;
  std::unordered_set<Configuration, ConfigurationHash> seen_many_;
};

// ---- reading ------------------------------------------------------------------------------------

Splitter::Splitter(SplitProgram program, const Limits& limits, std::shared_ptr<const CancelToken> cancel)
    : program_(std::move(program)), limits_(limits), cancel_(std::move(cancel)), borders_{{{0, 0}, kNoBorder, 0}} {
  program_.check();
  const ExpressionPtr all = Expression::unite(program_.leaves);  // so that one automaton knows the bytes of all
  sees_edges_ = all->sees_edges();
  automaton_.emplace(*all, Arena::Aliases{}, ByteSet::range(0, 0xFF), 1, limits_, cancel_);
  Budget left = budget();
  Arena& arena = automaton_->arena();
  for (const ExpressionPtr& leaf : program_.leaves)
    starts_.push_back(automaton_->state_of(arena.derivative(arena.add(*leaf, left), Symbol::edge(), left), left));
}

Budget Splitter::budget() {
  return Budget(limits_, cancel_, 0, [this] { return memory_bytes(); });
}

std::size_t Splitter::memory_bytes() const {
  return automaton_->memory_bytes() + counts_.memory_bytes() + borders_.capacity() * sizeof(Noted);
}

Splitter::Run Splitter::started(std::uint32_t pc, std::size_t position, Looks* looks, Budget& budget) {
  Run run{{}, position};
  Closure(*this, run.threads, position, looks, budget).add({{pc}, kNoBorder});
  return run;
}

void Splitter::read(Run& run, std::string_view data, Looks* looks, Budget& budget) {
  while (!data.empty() && !run.threads.empty()) {
    std::size_t length = read_alone(run, data, budget);
    if (length == 0) {
      read_byte(run, static_cast<std::uint8_t>(data.front()), looks, budget);
      length = 1;
    }
    data.remove_prefix(length);
  }
}

// While one thread is alone in a part that cannot end here, it is an automaton.  Returns how much it read.
std::size_t Splitter::read_alone(Run& run, std::string_view data, Budget& budget) {
  if (run.threads.size() != 1 || sees_edges_ || !automaton_->control_tokens().empty()) return 0;
  Thread& thread = run.threads.front();
  if (instruction(thread).op != Op::Part) return 0;
  std::size_t length = 0;
  for (const char byte : data) {
    const StateId state = automaton_->next(thread.at.state, static_cast<std::uint8_t>(byte), budget);
    if (state == ByteAutomaton::kDead || automaton_->accepting(state)) break;
    thread.at.state = state;
    ++length;
  }
  if (length > 0) thread.at.counts = counts_.with_text(thread.at.counts);
  run.position += length;
  return length;
}

void Splitter::read_byte(Run& run, std::uint8_t byte, Looks* looks, Budget& budget) {
  std::vector<Thread> threads;
  Closure closure(*this, threads, run.position + 1, looks, budget);
  step(run, byte, closure, budget);
  run.threads = std::move(threads);
  ++run.position;
}

void Splitter::step(const Run& run, std::uint8_t byte, Closure& closure, Budget& budget) {
  for (Thread thread : run.threads) {
    budget.step();
    if (instruction(thread).op != Op::Part) continue;  // its text has ended
    thread.at.state = automaton_->next(thread.at.state, byte, budget);
    if (thread.at.state == ByteAutomaton::kDead) continue;
    thread.at.counts = counts_.with_text(thread.at.counts);
    closure.add(thread);
  }
}

bool Splitter::accepts(const Run& run) const {
  return std::ranges::any_of(run.threads, [this](const Thread& thread) { return instruction(thread).op == Op::Accept; });
}

// Whether the program accepts some text that begins at a position.
bool Splitter::follows(std::uint32_t program, std::size_t position, Looks& looks, Budget& budget) {
  const std::uint64_t question = (std::uint64_t{program} << 40) | position;
  if (const auto known = looks.ahead.find(question); known != looks.ahead.end()) return known->second;
  Run run = started(program, position, &looks, budget);
  while (!accepts(run) && !run.threads.empty() && run.position < looks.text.size())
    read_byte(run, static_cast<std::uint8_t>(looks.text[run.position]), &looks, budget);
  const bool found = accepts(run);
  looks.ahead.emplace(question, found);
  return found;
}

// By position, whether the program accepts some text that ends there.
const std::vector<bool>& Splitter::ends(std::uint32_t program, Looks& looks, Budget& budget) {
  if (const auto known = looks.behind.find(program); known != looks.behind.end()) return known->second;
  std::vector<bool> found;
  Run run;
  for (std::size_t position = 0;; ++position) {
    std::vector<Thread> threads;
    Closure closure(*this, threads, position, &looks, budget);
    if (position > 0) step(run, static_cast<std::uint8_t>(looks.text[position - 1]), closure, budget);
    closure.add({{program}, kNoBorder});  // one that begins here
    run.threads = std::move(threads);
    found.push_back(accepts(run));
    if (position == looks.text.size()) break;
  }
  return looks.behind.emplace(program, std::move(found)).first->second;
}

Splitter::Whole Splitter::split(std::string_view text) {
  const std::lock_guard lock(mutex_);
  Budget left = budget();
  Looks looks{text, {}, {}};
  Run run = started(0, 0, &looks, left);
  read_all(run, text, &looks, left);
  if (!run.threads.empty()) return {accepted(run), text.size()};
  return {std::nullopt, run.position == 0 ? 0 : run.position - 1};
}

void Splitter::read_all(Run& run, std::string_view data, Looks* looks, Budget& budget) {
  constexpr std::size_t kBetween = 4096;
  for (; !data.empty() && !run.threads.empty(); data.remove_prefix(std::min(data.size(), kBetween))) {
    make_room(run);
    read(run, data.substr(0, kBetween), looks, budget);
  }
}

// Gives up states that no split is in, before they fill the limits.
void Splitter::make_room(Run& under_way) {
  if (automaton_->memory_bytes() < limits_.memory_bytes / 2 && automaton_->state_count() < limits_.states / 2) return;
  std::vector<StateId*> in_use;
  const auto use = [&](Run& run) {
    for (Thread& thread : run.threads) in_use.push_back(&thread.at.state);
  };
  for (StateId& start : starts_) in_use.push_back(&start);
  for (Split* split : splits_) use(split->run_);
  use(under_way);
  automaton_->keep_only(in_use);
}

// ---- borders ------------------------------------------------------------------------------------

std::vector<Splitter::Border> Splitter::borders_to(std::uint32_t last, std::uint32_t skip) const {
  std::vector<Border> borders;
  for (; borders_[last].count > skip; last = borders_[last].before) borders.push_back(borders_[last].border);
  std::ranges::reverse(borders);
  return borders;
}

std::optional<std::vector<Splitter::Border>> Splitter::accepted(const Run& run) const {
  for (const Thread& thread : run.threads)
    if (instruction(thread).op == Op::Accept) return borders_to(thread.borders, 0);
  return std::nullopt;
}

// The last border that all threads have in common.
std::uint32_t Splitter::common(const Run& run) const {
  if (run.threads.empty()) return kNoBorder;
  std::uint32_t shared = run.threads.front().borders;
  for (const Thread& thread : run.threads) {
    std::uint32_t other = thread.borders;
    while (shared != other) {
      std::uint32_t& longer = borders_[shared].count >= borders_[other].count ? shared : other;
      longer = borders_[longer].before;
    }
  }
  return shared;
}

// ---- a text that comes piece by piece -------------------------------------------------------------

std::unique_ptr<Splitter::Split> Splitter::begin() {
  Run run;
  {
    const std::lock_guard lock(mutex_);
    Budget left = budget();
    run = started(0, 0, nullptr, left);
  }
  return std::unique_ptr<Split>(new Split(shared_from_this(), std::move(run)));
}

Splitter::Split::Split(std::shared_ptr<Splitter> splitter, Run run) : splitter_(std::move(splitter)), run_(std::move(run)) {
  const std::lock_guard lock(splitter_->mutex_);
  splitter_->splits_.insert(this);
}

Splitter::Split::~Split() {
  const std::lock_guard lock(splitter_->mutex_);
  splitter_->splits_.erase(this);
}

std::unique_ptr<Splitter::Split> Splitter::Split::fork() const {
  Run run;
  {
    const std::lock_guard lock(splitter_->mutex_);  // make_room changes the states of all
    run = run_;
  }
  return std::unique_ptr<Split>(new Split(splitter_, std::move(run)));
}

void Splitter::Split::feed(std::string_view data) {
  const std::lock_guard lock(splitter_->mutex_);
  Budget left = splitter_->budget();
  Run run = run_;
  splitter_->read_all(run, data, nullptr, left);
  run_ = std::move(run);
}

std::vector<Splitter::Border> Splitter::Split::certain(std::uint32_t skip) const {
  const std::lock_guard lock(splitter_->mutex_);
  return splitter_->borders_to(splitter_->common(run_), skip);
}

std::size_t Splitter::Split::bound() const {
  const std::lock_guard lock(splitter_->mutex_);
  const std::vector<Noted>& borders = splitter_->borders_;
  const std::uint32_t known = borders[splitter_->common(run_)].count;
  std::size_t bound = run_.position;
  for (const Thread& thread : run_.threads) {
    std::uint32_t last = thread.borders;
    if (borders[last].count == known) continue;
    while (borders[last].count > known + 1) last = borders[last].before;
    bound = std::min(bound, borders[last].border.position);
  }
  return bound;
}

std::optional<std::vector<Splitter::Border>> Splitter::Split::end() const {
  const std::lock_guard lock(splitter_->mutex_);
  return splitter_->accepted(run_);
}

}  // namespace tokamata
