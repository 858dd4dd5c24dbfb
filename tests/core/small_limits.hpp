// Limits far too small for a text, of rules that keep what was written: an answer is the right one, or an error
// that changes nothing.  Under the sanitizers, what was freed too soon or half made is a failure.
//
// A walk is written down under wide limits.  It is followed again with 1/40, 2/40, ... of the memory that it took,
// or of the states.  A question may then find memory full at any point of its work.
#pragma once

#include "random_values.hpp"
#include "walk.hpp"

namespace engine {

struct Recorded {
  ExpressionPtr grammar;
  std::shared_ptr<const Vocabulary> vocabulary;
  std::vector<TokenId> tokens;
  std::vector<Words> masks;  // before each token
  std::size_t memory_bytes = 0, states = 0;

  std::shared_ptr<Constraint> compile(const Limits& limits) const {
    return std::make_shared<Constraint>(grammar, vocabulary, nullptr, TokenAutomaton::ControlTokens(), limits, nullptr);
  }
};

// Many tokens end a string: of elements that must differ, and of names, each of them is judged by itself.
inline oracle::Tokens wide_tokens_of_json() {
  oracle::Tokens tokens = RandomValues::tokens();
  tokens.bytes.resize(tokens.width);
  for (char first = 'a'; first <= 'z'; ++first)
    for (char second = 'a'; second <= 'z'; ++second)
      for (const char* end : {"", "\"", "\",", "\", \"", "\":"})
        tokens.bytes.push_back(std::string{first, second} + end);
  tokens.width = static_cast<std::uint32_t>(tokens.bytes.size());
  return tokens;
}

inline Recorded recorded(std::uint64_t seed, unsigned steps) {
  const oracle::Tokens tokens = wide_tokens_of_json();
  const std::uint32_t signs_end = RandomValues::tokens().width;
  Choices choices(seed);
  Recorded found;
  found.grammar = RandomValues(choices).kept_values();
  found.vocabulary = vocabulary_of(tokens);
  const auto constraint = found.compile(Limits{.seconds = 60});
  Matcher matcher(constraint);
  while (found.tokens.size() < steps) {
    const std::vector<bool> bits = bits_of(*matcher.mask(), tokens.width);
    std::vector<std::uint32_t> open, signs;
    for (std::uint32_t id = 0; id < tokens.width; ++id) {
      if (!bits[id] || tokens.is_stop(id)) continue;
      open.push_back(id);
      if (id >= 256 && id < signs_end) signs.push_back(id);
    }
    if (open.empty()) break;
    found.masks.push_back(matcher.mask()->bits.row());
    found.tokens.push_back({choices.of(signs.empty() || choices.one_in(2) ? open : signs)});
    CHECK(matcher.advance(found.tokens.back()));
  }
  found.memory_bytes = constraint->memory_bytes();
  found.states = constraint->state_count();
  return found;
}

// One in `count` of them, one after the other; which, `number` says.
inline std::vector<Limits> small_limits(const Recorded& recorded, std::uint64_t count = 1, std::uint64_t number = 0) {
  std::vector<Limits> all;
  for (std::size_t share = 1 + number % count; share <= 40; share += count) {
    all.push_back({.memory_bytes = std::max<std::size_t>(1, recorded.memory_bytes * share / 40), .seconds = 60});
    all.push_back({.states = std::max<std::size_t>(1, recorded.states * share / 40), .seconds = 60});
  }
  return all;
}

// Whether the matcher came to the end of the walk.
inline bool follow(const std::shared_ptr<Constraint>& constraint, const Recorded& recorded) {
  Matcher matcher(constraint);
  const auto asked = [&](const auto& question) {
    for (unsigned attempt = 0; attempt < 2; ++attempt) {
      const std::vector<TokenId> before = matcher.tokens();
      try {
        question();
        return true;
      } catch (const LimitExceeded& error) {
        CHECK(error.limit == "memory_bytes" || error.limit == "states");
        CHECK(matcher.tokens() == before);
      }
    }
    return false;
  };
  for (std::size_t i = 0; i < recorded.tokens.size(); ++i) {
    const test::Note note([&] { return "token " + std::to_string(i); });
    if (!asked([&] { CHECK(matcher.mask()->bits.row() == recorded.masks[i]); }) ||
        !asked([&] { CHECK(matcher.advance(recorded.tokens[i])); })) {
      CHECK(matcher.rollback(i));
      (void)asked([&] { CHECK(matcher.mask()->bits.row() == recorded.masks[0]); });
      return false;
    }
  }
  return true;
}

}  // namespace engine
