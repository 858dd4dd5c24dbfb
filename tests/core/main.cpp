// Runs the cases whose suite or name is given, or all:  core_tests [suite|name]...
#include <algorithm>
#include <chrono>
#include <iomanip>

#include "test.hpp"

int main(int argc, char** argv) {
  const std::vector<std::string> wanted(argv + 1, argv + argc);
  unsigned passed = 0, failed = 0;
  for (const test::Case& one : test::cases()) {
    if (!wanted.empty() && std::ranges::find(wanted, one.suite) == wanted.end() &&
        std::ranges::find(wanted, one.name) == wanted.end())
      continue;
    std::string fault;
    const auto start = std::chrono::steady_clock::now();
    try {
      one.run();
    } catch (const test::Failure& failure) {
      fault = failure.what();
    } catch (const std::exception& error) {
      fault = std::string("an exception: ") + error.what();
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::cout << (fault.empty() ? "ok      " : "FAILED  ") << std::fixed << std::setprecision(2) << seconds << " s  "
              << one.suite << "." << one.name << "\n";
    if (!fault.empty()) std::cout << "  " << fault << "\n";
    std::cout << std::flush;
    ++(fault.empty() ? passed : failed);
  }
  std::cout << passed << " passed, " << failed << " failed\n";
  return failed == 0 && passed > 0 ? 0 : 1;
}
