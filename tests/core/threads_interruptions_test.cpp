// Calls that are interrupted from outside, and locks around a fork.

#include "common/interruption.hpp"
#include "common/mutex.hpp"
#include "matching/batch.hpp"
#include "threads.hpp"

#if __has_include(<sys/wait.h>) && !defined(__SANITIZE_THREAD__)  // which does not follow a fork of several threads
#include <sys/wait.h>
#include <unistd.h>
#define TOKAMATA_CAN_FORK
#endif

namespace {

using namespace threads;
using tokamata::Fork;
using tokamata::HeldBySelf;
using tokamata::Interrupted;
using tokamata::Interruption;
using tokamata::Mutex;
using tokamata::Orphaned;

// Interrupts at the check of a number.
class AtCheck final : public Interruption {
 public:
  explicit AtCheck(unsigned number) : left_(number) {}
  void check(Clock::time_point) override {
    if (left_-- == 0) throw Interrupted();
  }

 private:
  unsigned left_;
};

// Nearly every token ends in a state of its own.
std::shared_ptr<Constraint> laborious(unsigned count) {
  const TreePtr letter = one_of({{'a', 'b'}}), pair = sequence({letter, letter});
  const TreePtr tree =
      sequence({star(choice({pair, sequence({pair, letter})})), text("a"), repeat(pair, count, count)});
  std::vector<std::string> more;
  for (unsigned bits = 0; bits < 512; ++bits) {
    std::string token;
    for (unsigned i = 0; i < 9; ++i) token.push_back((bits >> i) & 1 ? 'a' : 'b');
    more.push_back(token);
  }
  return engine::compile(tree, engine::with_all_bytes(more));
}

TEST(an_interrupted_call_leaves_the_matcher_as_it_was) {
  const auto constraint = laborious(15);
  const Words expected = Matcher(laborious(15)).mask()->bits.row();
  Matcher matcher(constraint);
  unsigned interrupted = 0;
  while (true) {
    AtCheck at_check(interrupted % 7);
    const Interruption::Set set(&at_check);
    try {
      CHECK(matcher.mask()->bits.row() == expected);
      break;
    } catch (const Interrupted&) {
      CHECK(matcher.tokens().empty());
      CHECK(++interrupted < 10'000);
    }
  }
  CHECK(interrupted > 0);
  CHECK(Interruption::current() == nullptr);
}

TEST(a_batch_ends_on_all_its_threads_when_its_caller_is_interrupted) {
  std::vector<std::unique_ptr<Matcher>> own;
  std::vector<Matcher*> matchers;
  std::vector<Words> rows, expected;
  std::vector<std::uint32_t*> places;
  for (unsigned i = 0; i < 4; ++i) {
    expected.push_back(Matcher(laborious(10 + i)).mask()->bits.row());
    own.push_back(std::make_unique<Matcher>(laborious(10 + i)));
    matchers.push_back(own.back().get());
    rows.emplace_back(own.back()->constraint()->vocabulary().words());
  }
  for (Words& row : rows) places.push_back(row.data());
  for (const unsigned workers : {1u, 3u}) {
    AtCheck at_check(1);
    const Interruption::Set set(&at_check);
    CHECK_THROWS(Interrupted, (void)fill_masks(matchers, places, workers, {}, {}));
  }
  for (const std::exception_ptr& error : fill_masks(matchers, places, 3, {}, {})) CHECK(!error);
  for (unsigned i = 0; i < 4; ++i) CHECK(rows[i] == expected[i]);
}

TEST(who_waits_for_a_mutex_is_interrupted) {
  Mutex mutex;
  std::latch is_held(1), may_end(1);
  std::jthread holder([&] {
    const std::lock_guard lock(mutex);
    is_held.count_down();
    may_end.wait();
  });
  is_held.wait();
  {
    AtCheck at_check(2);
    const Interruption::Set set(&at_check);
    CHECK_THROWS(Interrupted, mutex.lock_interruptibly());
  }
  CHECK(!mutex.try_lock());
  CHECK(!mutex.try_lock_until(Mutex::Clock::now() + std::chrono::milliseconds(1)));
  may_end.count_down();
  mutex.lock_interruptibly();
  mutex.unlock();
}

TEST(nobody_waits_for_himself) {
  Mutex mutex;
  mutex.lock();
  CHECK_THROWS(HeldBySelf, mutex.lock());
  CHECK_THROWS(HeldBySelf, mutex.lock_interruptibly());
  CHECK_THROWS(HeldBySelf, (void)mutex.try_lock_until(Mutex::Clock::now()));
  CHECK(!mutex.try_lock());
  mutex.unlock();
  CHECK(mutex.try_lock());
  mutex.unlock();
}

TEST(a_fork_that_is_given_up_leaves_all_mutexes_as_they_were) {
  Mutex free, held;
  held.lock();
  Fork::prepare();
  Fork::in_parent();
  CHECK(free.try_lock());
  free.unlock();
  CHECK_THROWS(HeldBySelf, held.lock());
  held.unlock();
}

#ifdef TOKAMATA_CAN_FORK

// Whether a task returns true in a forked process.
bool holds_in_child(const std::function<bool()>& task) {
  Fork::prepare();
  const pid_t child = fork();
  if (child == 0) {
    Fork::in_child();
    bool holds = false;
    try {
      holds = task();
    } catch (...) {
    }
    _exit(holds ? 0 : 1);
  }
  Fork::in_parent();
  int status = -1;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  return status == 0;
}

TEST(what_another_thread_holds_is_orphaned_in_a_forked_process_and_kept) {
  struct Owner : std::enable_shared_from_this<Owner> {
    explicit Owner(bool& gone) : is_gone(gone) {}
    ~Owner() { is_gone = true; }
    bool& is_gone;
    Mutex mutex{[this] { return weak_from_this().lock(); }};
  };
  bool is_gone = false, other_is_gone = false;
  auto owner = std::make_shared<Owner>(is_gone), other = std::make_shared<Owner>(other_is_gone);
  std::latch is_held(1), may_end(1);
  std::jthread holder([&] {
    const std::lock_guard lock(owner->mutex);
    is_held.count_down();
    may_end.wait();
  });
  is_held.wait();
  CHECK(holds_in_child([&] {
    try {
      owner->mutex.lock();
      return false;
    } catch (const Orphaned&) {
    }
    if (owner->mutex.try_lock() || !other->mutex.try_lock()) return false;
    other->mutex.unlock();
    owner.reset();
    other.reset();
    Mutex later;
    later.lock();
    later.unlock();
    return !is_gone && other_is_gone && holds_in_child([] { return true; });
  }));
  may_end.count_down();
  holder.join();
  owner->mutex.lock();
  owner->mutex.unlock();
}

TEST(threads_that_come_and_go_with_their_mutexes_while_the_process_forks) {
  std::atomic<bool> is_over{false};
  Mutex shared;
  std::vector<std::jthread> workers;
  for (unsigned i = 0; i < 3; ++i)
    workers.emplace_back([&] {
      while (!is_over) {
        const std::lock_guard lock(shared);
        Mutex own;
        own.lock();
        own.unlock();
      }
    });
  for (unsigned i = 0; i < 20; ++i)
    CHECK(holds_in_child([&] {
      try {
        const std::lock_guard lock(shared);
      } catch (const Orphaned&) {
      }
      return true;
    }));
  is_over = true;
}

#endif

}  // namespace
