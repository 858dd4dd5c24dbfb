// How a text splits into the parts of a pattern: which part of it each part of the pattern has read.
//
// Problem: a constraint made of others, such as `text_until("</think>") + json_schema(s)`, has a value made of theirs.
// So the text is to be cut where they meet.  There may be several cuts (`[a-z]* + [a-z]*`); the program says which one
// is preferred.  While the text is still being written, people want each part as soon as its borders are certain.
//
// Example: `[a-z]* + [a-z0-9]*` on "ab1": each thread is a part and a state of its automaton, best one first.
//
//   read        threads, best first                  borders that are certain
//   (nothing)   part 0 from 0;  part 1 from 0        part 0 begins at 0
//   "a"         part 0 from 0;  part 1 from 1;  …    part 0 begins at 0
//   "ab1"       part 1 from 2;  …                    part 0 is "ab", part 1 begins at 2
//
// Method: the Pike VM (Pike 1987; Cox, "Regular Expression Matching: the Virtual Machine Approach", 2009).  What it
// reads is not bytes but states of the byte automaton: a part of any size is one thread for each of its states.  Of two
// threads in one configuration the first wins, since what follows is the same for both.  The same holds where they
// differ in the turns done of a repetition and the first has done fewer, but enough: the maximum leaves it more.  A
// border is certain where all threads share it: the marks of a thread are a list that shares its beginning with others,
// and what is certain is what all have in common.  Control tokens and edges of tokens are not in a text, so a thread
// may pass one anywhere; threads that began a part together then stand for one part, and leave it together.
//
// Cost: for each byte one step of each thread, and of one thread alone a transition.  There are as many threads as
// parts and states that overlap: one or two mostly, at worst all that the pattern has.  A lookahead reads on from where
// it is asked, once for each position, so that one which reads to the end makes the whole quadratic; a lookbehind is
// answered for all positions at once.  What is certain is found in the logarithm of the borders.  States and borders
// that no text under way needs are given up.
//
// Not taken: backtracking, as `re` has it, is exponential; reading each part from each position is cubic; a reversed
// automaton for what may follow needs the end of the text, which has not been written yet.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/memory_account.hpp"
#include "common/mutex.hpp"
#include "expression/byte_automaton.hpp"
#include "programs/program.hpp"
#include "programs/turn_counts.hpp"

namespace tokamata {

// A program whose leaves are languages.
struct SplitProgram {
  std::vector<ExpressionPtr> leaves;
  Program code;
};

using NotedId = Id<struct NotedTag>;  // a border in the lists of a Splitter

class Splitter : public std::enable_shared_from_this<Splitter>, private Accounted {
 public:
  // A position that was noted.
  struct Border {
    std::uint32_t mark;
    std::size_t position;
    friend bool operator==(const Border&, const Border&) = default;
  };

  class Split;

  Splitter(SplitProgram program, const Limits& limits, std::shared_ptr<const CancelToken> cancel);

  // The borders of the preferred split, in the order of the text; none where the text has no split.
  struct Whole {
    std::optional<std::vector<Border>> borders;
    std::size_t reached;  // so many bytes some text begins with
  };
  Whole split(std::string_view text);

  // Splits a text that comes piece by piece.  The program must have no Look: that may ask for what is to come.
  std::unique_ptr<Split> begin();

  ~Splitter() { begin_charging(); }

  std::size_t memory_bytes() const { return account_.bytes(); }

 private:
  friend class Split;

  // Where a thread is: what follows is the same for all that are there.
  struct Configuration {
    std::uint32_t pc;
    StateId state{};  // of a Part
    CountsId counts = TurnCounts::kNone;
    friend bool operator==(const Configuration&, const Configuration&) = default;
  };
  struct ConfigurationHash {
    std::size_t operator()(const Configuration& at) const;
  };
  struct Thread {
    Configuration at;
    NotedId borders;        // the last one
    std::size_t begun = 0;  // where the part that it is in began
  };
  // A border in the list of a thread; lists share their beginnings.  `jump` leads further back, so that the way to any
  // earlier one takes logarithmic time (Myers, "An applicative random-access stack", 1983).
  struct Noted {
    Border border;
    NotedId before;  // kNoBorder: none
    NotedId jump;
    std::uint32_t count;  // of this one and all before it
  };
  // A text under way: the threads at the end of what was read, best first; each is in a Part, or at Accept.
  struct Run {
    std::vector<Thread> threads;
    std::size_t position = 0;
  };
  // The text as a whole, for lookarounds, and what was found out about it.
  struct Looks {
    std::string_view text;
    std::unordered_map<std::uint64_t, bool> ahead;                // by program and position
    std::unordered_map<std::uint32_t, std::vector<bool>> behind;  // by program
  };
  class Closure;

  static constexpr NotedId kNoBorder{0};
  static constexpr std::size_t kFewBorders = 1024;

  Run started(std::uint32_t pc, std::size_t position, Looks* looks, Budget& budget);
  void read(Run& run, std::string_view data, Looks* looks, Budget& budget);
  void read_all(Run& run, std::string_view data, Looks* looks, Budget& budget);
  void read_byte(Run& run, std::uint8_t byte, Looks* looks, Budget& budget);
  void step(const Run& run, std::uint8_t byte, Closure& closure, Budget& budget);
  std::size_t read_alone(Run& run, std::string_view data, Budget& budget);
  bool follows(std::uint32_t program, std::size_t position, Looks& looks, Budget& budget);
  const std::vector<bool>& ends(std::uint32_t program, Looks& looks, Budget& budget);

  const Instruction& instruction(const Thread& thread) const { return program_.code[thread.at.pc]; }
  static bool knows(Instruction::Op op);
  bool accepts(const Run& run) const;
  std::optional<std::vector<Border>> accepted(const Run& run) const;
  std::vector<Border> borders_to(NotedId last, std::uint32_t skip) const;
  NotedId note(Border border, NotedId before);
  NotedId ancestor(NotedId border, std::uint32_t count) const;
  NotedId common(const Run& run) const;
  const Noted& noted(NotedId border) const { return borders_[border.value]; }
  std::unique_ptr<Split> split_of(Run run);
  void make_room(Run& under_way);
  void give_up_states(const std::vector<Run*>& runs);
  void give_up_borders(const std::vector<Run*>& runs);
  Budget budget();
  std::unique_lock<Mutex> locked() const;

  SplitProgram program_;
  Limits limits_;
  std::shared_ptr<const CancelToken> cancel_;
  mutable Mutex mutex_{[this] { return weak_from_this().lock(); }};
  std::optional<ByteAutomaton> automaton_;
  counted::vector<StateId> starts_;  // by leaf
  bool sees_edges_ = false;
  TurnCounts counts_;
  counted::vector<Noted> borders_;          // each after the one before it
  std::size_t most_borders_ = kFewBorders;  // with more, those that no thread has are given up
  // Texts under way, whose states are in use.  Those of destroyed splits stay until the next sweep, so that a
  // destructor never waits for the lock.
  std::vector<std::weak_ptr<Run>> runs_;
  std::size_t next_sweep_ = 16;
};

// A text that comes piece by piece.  Calls of one splitter's splits wait for each other.
class Splitter::Split {
 public:
  Split(const Split&) = delete;
  Split& operator=(const Split&) = delete;

  // A second one at the same position.
  std::unique_ptr<Split> fork() const;
  // Reads on.  Where it throws, nothing has changed.
  void feed(std::string_view data);
  // The borders that every continuation has, but for the first `skip` of them.
  std::vector<Border> certain(std::uint32_t skip) const;
  // Where the first border may be that is not certain: what is before it belongs to the part that is under way.
  std::size_t bound() const;
  // The borders of the preferred split if the text ends here; none where it has none.
  std::optional<std::vector<Border>> end() const;

 private:
  friend class Splitter;
  Split(std::shared_ptr<Splitter> splitter, Run run)
      : splitter_(std::move(splitter)), run_(std::make_shared<Run>(std::move(run))) {}

  std::shared_ptr<Splitter> splitter_;
  std::shared_ptr<Run> run_;
};

}  // namespace tokamata
