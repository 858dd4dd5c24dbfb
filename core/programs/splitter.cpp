#include "programs/splitter.hpp"

#include <algorithm>

#include "common/hash.hpp"
#include "expression/expression.hpp"

namespace tokamata {

using Op = Instruction::Op;

// ---- threads at one position --------------------------------------------------------------------

std::size_t Splitter::ConfigurationHash::operator()(const Configuration& at) const {
  return mix(mix(at.pc + 1, at.state.value), at.counts.value);
}

// All that threads reach without reading a byte, best first, each configuration once.
class Splitter::Closure {
 public:
  Closure(Splitter& splitter, std::vector<Thread>& threads, std::size_t position, Looks* looks, Budget& budget)
      : splitter_(splitter), threads_(threads), position_(position), looks_(looks), budget_(budget) {}

  // A thread at the beginning of an instruction.
  void add(const Thread& first) {
    push(first);
    follow_all();
  }

  // Threads in one part, which they began together: one, or several where control tokens or edges may be passed.
  void add_in_part(std::vector<Thread> group) {
    in_part(std::move(group));
    follow_all();
  }

 private:
  struct Pending {
    Thread thread;
    bool is_followed = false;  // it stays in its part, and all that comes before it has been added
  };

  static constexpr std::size_t kFew = 12;

  void follow_all() {
    while (!pending_.empty()) {
      const auto [thread, is_followed] = pending_.back();
      pending_.pop_back();
      if (is_followed) threads_.push_back(thread);
      else if (is_new(thread.at)) follow(thread);
    }
  }

  // Whether no better thread allows whatever follows from here.
  bool is_new(Configuration at) {
    budget_.step();
    const TurnCounts::Comparable counts = splitter_.counts_.comparable(at.counts);
    at.counts = counts.group;
    if (seen_.size() < kFew) {
      const auto known = std::ranges::find(seen_, at, [](const auto& pair) { return pair.first; });
      if (known != seen_.end()) return is_fewer(counts.turns, known->second);
      seen_.emplace_back(at, counts.turns);
      if (seen_.size() == kFew) seen_many_.insert(seen_.begin(), seen_.end());
      return true;
    }
    const auto [known, is_first] = seen_many_.try_emplace(at, counts.turns);
    return is_first || is_fewer(counts.turns, known->second);
  }

  static bool is_fewer(Count turns, Count& fewest) {
    if (turns >= fewest) return false;
    fewest = turns;
    return true;
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
    const Instruction& one = splitter_.instruction(thread);
    const Thread next = moved(thread, thread.at.pc + 1);
    switch (one.op) {
      case Op::Part: return begin_part(thread, one);
      case Op::Fork: {
        const Thread jumped = moved(thread, one.target);
        return one.lazy ? push(jumped, next) : push(next, jumped);
      }
      case Op::Jump: return push(moved(thread, one.target));
      case Op::Mark: return push(at_border(next, one.number));
      case Op::Enter: return push(with_counts(next, splitter_.counts_.push({thread.at.counts})));
      case Op::Loop: return at_loop(thread, one);
      case Op::Again: return again(thread, one);
      case Op::Leave: return push(with_counts(next, splitter_.counts_.innermost(thread.at.counts).outer));
      case Op::Look:
        if (holds(thread.at.pc) != one.negated) push(moved(thread, one.target));
        return;
      case Op::Accept: threads_.push_back(thread); return;
      default: throw std::logic_error("an instruction that a splitter does not know");
    }
  }

  void begin_part(Thread thread, const Instruction& one) {
    thread.at.state = splitter_.starts_[one.number];
    thread.begun = position_;
    if (thread.at.state != ByteAutomaton::kDead) in_part({thread});
  }

  // A text of the part is as long as any thread of the group allows: so the one that leaves comes after all that stay.
  void in_part(std::vector<Thread> group) {
    ByteAutomaton& automaton = *splitter_.automaton_;
    const Instruction& one = splitter_.instruction(group.front());
    const Thread left = moved(group.front(), group.front().at.pc + 1);
    bool ends = false;
    std::vector<Thread> staying;
    for (std::size_t i = 0; i < group.size(); ++i) {  // which grows
      const Thread thread = group[i];
      if (thread.at.state == ByteAutomaton::kDead || !is_new(thread.at)) continue;
      pass_what_is_no_text(thread, group);
      ends |= automaton.accepting(thread.at.state);
      if (automaton.expression(thread.at.state) != Pool::kEpsilon) staying.push_back(thread);
    }
    if (ends && one.lazy)
      for (auto thread = staying.rbegin(); thread != staying.rend(); ++thread) pending_.push_back({*thread, true});
    else threads_.insert(threads_.end(), staying.begin(), staying.end());
    if (ends) push(left);
  }

  // Control tokens and edges of tokens may be anywhere.
  void pass_what_is_no_text(Thread thread, std::vector<Thread>& group) {
    ByteAutomaton& automaton = *splitter_.automaton_;
    const StateId from = thread.at.state;
    const auto pass = [&](Symbol symbol) {
      thread.at.state = automaton.next(from, symbol, budget_);
      group.push_back(thread);
    };
    for (std::uint32_t token = 0; token < automaton.control_tokens().size(); ++token) pass(Symbol::control(token));
    if (splitter_.sees_edges_) pass(Symbol::edge());
  }

  void at_loop(const Thread& thread, const Instruction& one) {
    TurnCounts& counts = splitter_.counts_;
    TurnCounts::Entry entry = counts.innermost(thread.at.counts);
    entry.is_empty = true;
    entry.is_free = entry.turns >= one.low;
    const Thread turn = with_counts(moved(thread, thread.at.pc + 1), counts.push(entry));
    const Thread left = moved(thread, one.target);
    if (entry.turns < one.low) push(turn);
    else if (entry.turns >= one.high) push(left);
    else if (one.lazy) push(left, turn);
    else push(turn, left);
  }

  void again(const Thread& thread, const Instruction& one) {
    TurnCounts& counts = splitter_.counts_;
    const Instruction& loop = splitter_.program_.code[one.target];
    TurnCounts::Entry entry = counts.innermost(thread.at.counts);
    if (entry.is_empty && entry.turns >= loop.low) {
      if (!one.drops_empty) push(moved(thread, loop.target));
      return;
    }
    // past the minimum, an open end needs no count
    const Count most = loop.high == kUnbounded ? loop.low : loop.high;
    entry.turns = std::min(entry.turns + 1, most);
    entry.is_empty = false;
    entry.is_free = entry.turns >= loop.low;
    push(with_counts(moved(thread, one.target), counts.push(entry)));
  }

  bool holds(std::uint32_t look) {
    if (!looks_) throw std::logic_error("a lookaround asks for text that is still to come");
    return splitter_.program_.code[look].behind ? bool(splitter_.ends(look + 1, *looks_, budget_)[position_])
                                                : splitter_.follows(look + 1, position_, *looks_, budget_);
  }

  static Thread with_counts(Thread thread, CountsId counts) {
    thread.at.counts = counts;
    return thread;
  }

  Thread at_border(Thread thread, std::uint32_t mark) {
    thread.borders = splitter_.note({mark, position_}, thread.borders);
    return thread;
  }

  Splitter& splitter_;
  std::vector<Thread>& threads_;
  std::size_t position_;
  Looks* looks_;
  Budget& budget_;
  std::vector<Pending> pending_;                       // the best last
  std::vector<std::pair<Configuration, Count>> seen_;  // with the fewest turns
  std::unordered_map<Configuration, Count, ConfigurationHash> seen_many_;
};

// ---- reading ------------------------------------------------------------------------------------

Splitter::Splitter(SplitProgram program, const Limits& limits, std::shared_ptr<const CancelToken> cancel)
    : program_(std::move(program)),
      limits_(limits),
      cancel_(std::move(cancel)),
      borders_{{{0, 0}, kNoBorder, kNoBorder, 0}} {
  check(program_.code, {&Splitter::knows, 0, program_.leaves.size()});
  const ExpressionPtr all = Expression::unite(program_.leaves);  // so that one automaton knows the bytes of all
  sees_edges_ = all->sees_edges();
  automaton_.emplace(*all, LeafForms::Aliases{}, ByteSet::range(0, 0xFF), 1, limits_, cancel_);
  Budget left = budget();
  Arena& arena = automaton_->arena();
  for (const ExpressionPtr& leaf : program_.leaves)
    starts_.push_back(
        automaton_->state_of(arena.derivatives().derivative(arena.add(*leaf, left), Symbol::edge(), left), left));
  end_charging();
}

bool Splitter::knows(Op op) { return op != Op::Read && op != Op::Run && op < Op::TextStart; }

Budget Splitter::budget() { return Budget(limits_, cancel_, 0); }

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
  const auto began_together = [](const Thread& one, const Thread& other) {
    return one.at.pc == other.at.pc && one.at.counts == other.at.counts && one.borders == other.borders &&
           one.begun == other.begun;
  };
  for (auto first = run.threads.begin(); first != run.threads.end();) {
    auto next =
        std::find_if_not(first, run.threads.end(), [&](const Thread& one) { return began_together(*first, one); });
    if (instruction(*first).op == Op::Part) {  // at Accept, the text has ended
      std::vector<Thread> group(first, next);
      for (Thread& thread : group) {
        budget.step();
        thread.at.state = automaton_->next(thread.at.state, byte, budget);
        thread.at.counts = counts_.with_text(thread.at.counts);
      }
      closure.add_in_part(std::move(group));
    }
    first = next;
  }
}

bool Splitter::accepts(const Run& run) const {
  return std::ranges::any_of(run.threads,
                             [this](const Thread& thread) { return instruction(thread).op == Op::Accept; });
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

std::unique_lock<Mutex> Splitter::locked() const {
  mutex_.lock_interruptibly();
  return {mutex_, std::adopt_lock};
}

Splitter::Whole Splitter::split(std::string_view text) {
  const auto lock = locked();
  const Charge charge(account_);
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

// Gives up what no text under way needs, before it fills the limits.
void Splitter::make_room(Run& under_way) {
  std::vector<Run*> runs{&under_way};
  std::vector<std::shared_ptr<Run>> kept;  // so that none goes meanwhile
  for (const std::weak_ptr<Run>& known : runs_)
    if (std::shared_ptr<Run> one = known.lock()) {
      runs.push_back(one.get());
      kept.push_back(std::move(one));
    }
  if (account_.bytes() >= limits_.memory_bytes / 2 || automaton_->state_count() >= limits_.states / 2)
    give_up_states(runs);
  if (borders_.size() >= most_borders_) give_up_borders(runs);
}

void Splitter::give_up_states(const std::vector<Run*>& runs) {
  std::vector<StateId*> in_use;
  for (StateId& start : starts_) in_use.push_back(&start);
  for (Run* run : runs)
    for (Thread& thread : run->threads) in_use.push_back(&thread.at.state);
  automaton_->keep_only(in_use);
}

// Cost: linear, and only when there are twice as many as were kept the last time.
void Splitter::give_up_borders(const std::vector<Run*>& runs) {
  std::vector<bool> is_kept(borders_.size());
  is_kept[kNoBorder.value] = true;
  for (const Run* run : runs)
    for (const Thread& thread : run->threads)
      for (NotedId border = thread.borders; !is_kept[border.value]; border = noted(border).before)
        is_kept[border.value] = true;
  std::vector<NotedId> moved(borders_.size());
  counted::vector<Noted> kept;
  for (std::size_t i = 0; i < borders_.size(); ++i) {
    if (!is_kept[i]) continue;
    moved[i] = {static_cast<std::uint32_t>(kept.size())};
    Noted one = borders_[i];
    one.before = moved[one.before.value];
    one.jump = moved[one.jump.value];
    kept.push_back(one);
  }
  borders_ = std::move(kept);
  for (Run* run : runs)
    for (Thread& thread : run->threads) thread.borders = moved[thread.borders.value];
  most_borders_ = std::max(kFewBorders, 2 * borders_.size());
}

// ---- borders ------------------------------------------------------------------------------------

std::vector<Splitter::Border> Splitter::borders_to(NotedId last, std::uint32_t skip) const {
  std::vector<Border> borders;
  for (; noted(last).count > skip; last = noted(last).before) borders.push_back(noted(last).border);
  std::ranges::reverse(borders);
  return borders;
}

std::optional<std::vector<Splitter::Border>> Splitter::accepted(const Run& run) const {
  for (const Thread& thread : run.threads)
    if (instruction(thread).op == Op::Accept) return borders_to(thread.borders, 0);
  return std::nullopt;
}

NotedId Splitter::note(Border border, NotedId before) {
  const Noted& last = noted(before);
  const Noted& far = noted(last.jump);
  const bool are_alike = last.count - far.count == far.count - noted(far.jump).count;
  borders_.push_back({border, before, are_alike ? far.jump : before, last.count + 1});
  return {static_cast<std::uint32_t>(borders_.size() - 1)};
}

// The border with this count in the list that ends with `border`.
NotedId Splitter::ancestor(NotedId border, std::uint32_t count) const {
  while (noted(border).count > count) {
    const Noted& one = noted(border);
    border = noted(one.jump).count >= count ? one.jump : one.before;
  }
  return border;
}

// The last border that all threads have in common.
NotedId Splitter::common(const Run& run) const {
  if (run.threads.empty()) return kNoBorder;
  NotedId shared = run.threads.front().borders;
  for (const Thread& thread : run.threads) {
    NotedId other = ancestor(thread.borders, noted(shared).count);
    shared = ancestor(shared, noted(other).count);
    while (shared != other) {  // which have the same count, and so have their jumps
      const bool is_further = noted(shared).jump == noted(other).jump;
      shared = is_further ? noted(shared).before : noted(shared).jump;
      other = is_further ? noted(other).before : noted(other).jump;
    }
  }
  return shared;
}

// ---- a text that comes piece by piece -------------------------------------------------------------

std::unique_ptr<Splitter::Split> Splitter::begin() {
  const auto lock = locked();
  const Charge charge(account_);
  Budget left = budget();
  return split_of(started(0, 0, nullptr, left));
}

// The lock is held from when the run is made until the split is known: make_room changes the states of those it knows.
std::unique_ptr<Splitter::Split> Splitter::split_of(Run run) {
  std::unique_ptr<Split> split(new Split(shared_from_this(), std::move(run)));
  if (runs_.size() >= next_sweep_) {
    std::erase_if(runs_, [](const std::weak_ptr<Run>& known) { return known.expired(); });
    next_sweep_ = 2 * runs_.size() + 16;
  }
  runs_.push_back(split->run_);
  return split;
}

std::unique_ptr<Splitter::Split> Splitter::Split::fork() const {
  const auto lock = splitter_->locked();
  return splitter_->split_of(*run_);
}

void Splitter::Split::feed(std::string_view data) {
  const auto lock = splitter_->locked();
  const Charge charge(splitter_->account_);
  Budget left = splitter_->budget();
  Run run = *run_;
  splitter_->read_all(run, data, nullptr, left);
  *run_ = std::move(run);
}

std::vector<Splitter::Border> Splitter::Split::certain(std::uint32_t skip) const {
  const auto lock = splitter_->locked();
  return splitter_->borders_to(splitter_->common(*run_), skip);
}

std::size_t Splitter::Split::bound() const {
  const auto lock = splitter_->locked();
  const std::uint32_t known = splitter_->noted(splitter_->common(*run_)).count;
  std::size_t bound = run_->position;
  for (const Thread& thread : run_->threads) {
    if (splitter_->noted(thread.borders).count == known) continue;
    const NotedId next = splitter_->ancestor(thread.borders, known + 1);
    bound = std::min(bound, splitter_->noted(next).border.position);
  }
  return bound;
}

std::optional<std::vector<Splitter::Border>> Splitter::Split::end() const {
  const auto lock = splitter_->locked();
  return splitter_->accepted(*run_);
}

}  // namespace tokamata
