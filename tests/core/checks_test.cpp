// Checks (common/check.hpp): one that fails ends the program with its text, and a mask that contradicts itself is not
// made.

#if !defined(_WIN32)

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <string>

#include "common/check.hpp"
#include "composition/mask.hpp"
#include "test.hpp"

namespace {

using tokamata::MaskBits;
using tokamata::Words;

struct Ending {
  bool is_aborted;
  std::string said;
};

// What becomes of a process of its own that does the task.
Ending ending_of(const std::function<void()>& task) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    task();
    _exit(0);
  }
  close(ends[1]);
  Ending ending{false, {}};
  char buffer[256];
  for (ssize_t count; (count = read(ends[0], buffer, sizeof buffer)) > 0;)
    ending.said.append(buffer, static_cast<std::size_t>(count));
  close(ends[0]);
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  ending.is_aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  return ending;
}

bool fails_with(const std::string& what, const std::function<void()>& task) {
  const Ending ending = ending_of(task);
  return ending.is_aborted && ending.said.find("check failed: " + what) != std::string::npos;
}

TEST(a_failed_check_ends_the_program_with_its_text) {
  int evaluated = 0;
  TOKAMATA_CHECK(++evaluated == 1, "a condition is evaluated once");
  CHECK_EQUAL(evaluated, 1);
  CHECK(fails_with("two is one (two == 1)", [] {
    const int two = 2;
    TOKAMATA_CHECK(two == 1, "two is one");
  }));
  const Ending good = ending_of([] { TOKAMATA_CHECK(true, "nothing is wrong"); });
  CHECK(!good.is_aborted && good.said.empty());
}

TEST(a_mask_that_contradicts_itself_is_not_made) {
  const auto base = std::make_shared<const Words>(Words{1, 2, 3});
  CHECK(MaskBits(base, {{0, 5}, {2, 4}}, 3).contains(2));
  CHECK(fails_with("the words of a mask that differ", [&] { MaskBits(base, {{2, 5}, {2, 4}}, 3); }));
  CHECK(fails_with("the words of a mask that differ", [&] { MaskBits(base, {{3, 5}}, 3); }));
  CHECK(fails_with("the base of a mask is a row of its size", [&] { MaskBits(base, {}, 4); }));
  CHECK(fails_with("a token is within its set of bits", [&] { tokamata::has_bit(*base, 96); }));
}

TEST(strictly_sorted_is_sorted_and_unique) {
  using tokamata::is_strictly_sorted;
  CHECK(is_strictly_sorted(std::vector<int>{}) && is_strictly_sorted(std::vector<int>{3}) &&
        is_strictly_sorted(std::vector<int>{1, 3}));
  CHECK(!is_strictly_sorted(std::vector<int>{1, 1}) && !is_strictly_sorted(std::vector<int>{1, 3, 2}));
}

}  // namespace

#endif
