// Runs a libFuzzer target without libFuzzer: on files, or on random bytes for a while.
//
//   core_fuzz FILE...
//   core_fuzz --seconds 60 --seed 1 [--artifacts DIRECTORY]
//
// Every input depends on the seed and its number alone.  It is written to DIRECTORY/input before it
// is run, where a directory is given, so that what crashes stays behind.

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

int run_files(int count, char** names) {
  for (int i = 0; i < count; ++i) {
    std::ifstream file(names[i], std::ios::binary);
    if (!file) {
      std::cerr << "cannot read " << names[i] << "\n";
      return 2;
    }
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    std::cout << names[i] << ": " << bytes.size() << " bytes" << std::endl;
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]).substr(0, 2) != "--") return run_files(argc - 1, argv + 1);
  std::map<std::string, std::string> options = {
      {"--seconds", "60"}, {"--seed", "1"}, {"--first", "0"}, {"--artifacts", ""}};
  for (int i = 1; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
  const double seconds = std::stod(options["--seconds"]);
  const std::uint64_t seed = std::stoull(options["--seed"]);

  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  double reported = 0;
  std::uint64_t number = std::stoull(options["--first"]);
  std::uint64_t executions = 0;
  for (; elapsed() < seconds; ++number, ++executions) {
    std::seed_seq source{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                         static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32)};
    std::mt19937 random(source);
    std::vector<std::uint8_t> bytes(16 + random() % 1000);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    if (!options["--artifacts"].empty()) {
      std::ofstream file(options["--artifacts"] + "/input", std::ios::binary);
      file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
    const double before = elapsed();
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    if (elapsed() - before > 10) std::cout << "slow: --seed " << seed << " --first " << number << std::endl;
    if (elapsed() - reported > 30) {
      reported = elapsed();
      std::cout << executions << " executions, " << static_cast<int>(reported) << " s" << std::endl;
    }
  }
  std::cout << executions << " executions in " << elapsed() << " s, seed " << seed << "; nothing failed" << std::endl;
}
