// Fuzzes the core: bytes become a pattern, a vocabulary, limits and a sequence of operations.
//
// What must hold is in tests/core/walk.hpp.  Small cases are compared with the oracle too, all
// others with a second engine without limits.
//
//   with libFuzzer, coverage-guided (clang):
//     clang++ -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
//         -Icore -Itests/core fuzz/core_fuzz.cpp core/[cemv]*/*.cpp -o core_fuzz && ./core_fuzz corpus/
//   without, from random bytes (fuzz/standalone_main.cpp):
//     core_fuzz --seconds 60 --seed 1        or        core_fuzz FILE...

#include <cstdlib>
#include <iostream>

#include "generate.hpp"
#include "walk.hpp"

namespace {

using engine::Walk;
using tokamata::LimitExceeded;
using tokamata::Limits;

Limits limits(Choices& choices) {
  Limits result;
  if (choices.one_in(2)) result.memory_bytes = 2'000 + choices.below(60'000);
  if (choices.one_in(3)) result.states = choices.between(1, 200);
  if (choices.one_in(5)) result.depth = choices.below(8);
  result.seconds = 1;
  return result;
}

// Literals that are no UTF-8: outside the contract, but nothing may crash.  Bits and advance must
// agree even there.
oracle::TreePtr with_odd_bytes(Choices& choices, const oracle::TreePtr& tree) {
  std::string bytes;
  for (std::uint32_t count = choices.between(1, 3); count > 0; --count)
    bytes.push_back(static_cast<char>(choices.below(256)));
  const oracle::TreePtr odd = oracle::text(bytes);
  return choices.one_in(2) ? oracle::sequence({odd, tree}) : oracle::star(oracle::choice({tree, odd}));
}

// Limits that a case is run under when it has no others, so that none takes long.
Limits generous() {
  Limits result;
  result.memory_bytes = std::size_t{4} << 20;
  result.states = 5'000;
  result.seconds = 1;
  return result;
}

void run_case(Choices& choices) {
  // Small ones meet the oracle.  The others have bounds of any size, which only engines compare.
  const bool small = choices.one_in(2);
  generate::Bounds bounds;
  if (!small) bounds = {100'000, ~std::uint64_t{0}, true};
  oracle::TreePtr tree = generate::tree(choices, choices.between(1, small ? 8 : 24), bounds);
  const oracle::Tokens tokens = generate::tokens(choices, tree);
  if (!small && choices.one_in(8)) tree = with_odd_bytes(choices, tree);
  const test::Note note([&] { return "pattern " + oracle::shown(tree) + "\n    " + oracle::shown(tokens); });

  std::optional<oracle::Language> language;
  std::optional<oracle::TokenGraph> graph;
  if (small) try {
      language.emplace(tree, 120);
      graph.emplace(*language, tokens, 60);
    } catch (const oracle::TooLarge&) {
      graph.reset();
    }

  const auto pattern = engine::expression_of(tree);
  const auto vocabulary = engine::vocabulary_of(tokens);
  const auto start_vocabulary = engine::start_vocabulary_of(tokens);
  const auto compiled = [&](const Limits& under) -> std::shared_ptr<tokamata::Constraint> {
    try {
      if (graph) return engine::compile_like(*graph, pattern, vocabulary, start_vocabulary, {}, under);
      return std::make_shared<tokamata::Constraint>(pattern, vocabulary, start_vocabulary,
                                                    tokamata::TokenAutomaton::ControlTokens(), under, nullptr);
    } catch (const LimitExceeded&) {
    } catch (const tokamata::EmptyConstraint&) {
    } catch (const tokamata::Unspellable&) {
    }
    return nullptr;
  };
  Walk::Setup setup;
  setup.limits = limits(choices);
  setup.graph = graph ? &*graph : nullptr;
  const test::Note more([&] {
    return "limits: memory_bytes " + std::to_string(setup.limits.memory_bytes) + ", states " +
           std::to_string(setup.limits.states) + ", depth " + std::to_string(setup.limits.depth);
  });
  const auto constraint = compiled(setup.limits);
  if (constraint) Walk(choices, constraint, compiled(generous()), tokens, setup).run();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(std::span(data, size));
  try {
    run_case(choices);
  } catch (const oracle::TooLarge&) {  // found out on the way
  } catch (const test::Failure& failure) {
    std::cerr << failure.what() << std::endl;
    std::abort();
  }
  return 0;
}
