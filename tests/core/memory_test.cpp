// What a constraint says that it holds is what was allocated for it (common/memory_account.hpp), counted by operator
// new.
//
// A vocabulary of its own for each constraint, so that all segments are made for it.  What the pattern holds is no part
// of it but for sets of strings, which are charged to each who keeps them: there the pattern is made and gone
// meanwhile.

#include "allocations.hpp"
#include "amounts.hpp"
#include "choices.hpp"
#include "engine.hpp"
#include "random_values.hpp"

namespace {

using namespace engine;
using oracle::TreePtr;

constexpr std::size_t kLarge = 1 << 16;  // smaller ones are not measured

class Measured {
 public:
  Measured() : before_(allocations::block_bytes) {}
  // True where it is large.
  bool check(const std::string& name, std::size_t reported) const {
    const std::size_t allocated = allocations::block_bytes - before_;
    const test::Note note(
        [&] { return name + ": reported " + std::to_string(reported) + ", allocated " + std::to_string(allocated); });
    if (std::max(reported, allocated) < kLarge) return false;
    CHECK(10 * reported <= 13 * allocated);
    CHECK(10 * allocated <= 13 * reported);
    return true;
  }

 private:
  std::size_t before_;
};

// Some tokens that the masks allow; the text goes on from its start where it can go no further.
void draw(const std::shared_ptr<Constraint>& constraint, Choices& choices, unsigned steps) {
  Matcher matcher(constraint);
  for (unsigned step = 0; step < steps; ++step) {
    std::vector<std::uint32_t> open;
    for_each_bit(matcher.mask()->bits.row(), [&](std::uint32_t token) {
      if (!constraint->vocabulary().is_stop({token})) open.push_back(token);
    });
    if (open.empty()) {
      matcher.rollback(matcher.tokens().size());
      continue;
    }
    CHECK(matcher.advance({choices.of(open)}));
  }
}

std::shared_ptr<Constraint> constraint_of(const ExpressionPtr& pattern,
                                          const std::shared_ptr<const Vocabulary>& vocabulary) {
  const Limits limits{.states = 200'000, .memory_bytes = 200'000'000, .seconds = 60};
  return std::make_shared<Constraint>(pattern, vocabulary, nullptr, TokenAutomaton::ControlTokens(), limits, nullptr);
}

std::vector<std::string> numbered_words(unsigned count) {
  std::vector<std::string> words;
  for (unsigned i = 0; i < count; ++i) words.push_back((i % 2 == 0 ? "x" : "y") + std::to_string(i / 2));
  return words;
}

}  // namespace

TEST(memory_of_patterns_is_what_was_allocated) {
  using namespace oracle;
  const TreePtr a = text("a"), b = text("b"), letter = one_of({{'a', 'b'}}), digit = one_of({{'0', '9'}});
  const std::vector<std::pair<std::string, TreePtr>> trees = {
      {"many parts", sequence(std::vector<TreePtr>(300, sequence({text("x"), repeat(digit, 1, 5)})))},
      {"many states", sequence({star(letter), a, repeat(letter, 12, 12)})},
      {"counts", sequence({star(any()), a, repeat(any(), 300, 300), b})},
      {"nested counts", repeat(sequence({repeat(sequence({repeat(letter, 3, 100), a}), 5, 100), b}), 7, 100)},
      {"optional parts", sequence(std::vector<TreePtr>(700, sequence({optional(a), optional(b)})))},
  };
  const Tokens tokens = with_all_bytes(numbered_words(4'000));
  unsigned large = 0;
  for (const auto& [name, tree] : trees) {
    const auto vocabulary = vocabulary_of(tokens);
    const ExpressionPtr pattern = expression_of(tree);
    Choices choices(1);
    const Measured measured;
    const auto constraint = constraint_of(pattern, vocabulary);
    draw(constraint, choices, 200);
    large += measured.check(name, constraint->memory_bytes());
  }
  CHECK(large >= 3);  // the others are small, since states with counts share their masks
}

TEST(memory_of_many_strings_is_what_was_allocated) {
  const std::vector<std::string> words = numbered_words(20'000);
  const oracle::Tokens tokens = with_all_bytes({"x1", "y1", "00"});
  const auto vocabulary = vocabulary_of(tokens);
  Choices choices(2);
  const Measured measured;
  const auto constraint =
      constraint_of(Expression::strings(StringAutomaton::of_strings({words.begin(), words.end()})), vocabulary);
  CHECK(measured.check("strings", constraint->memory_bytes()));
  draw(constraint, choices, 300);
  CHECK(measured.check("strings that were walked", constraint->memory_bytes()));
}

TEST(memory_of_json_is_what_was_allocated) {
  const oracle::Tokens tokens = RandomValues::tokens();
  unsigned large = 0;
  const std::uint64_t count = test::drawn(60);
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    Choices choices(700 + seed);
    const ExpressionPtr pattern = RandomValues(choices).grammar();
    const auto vocabulary = vocabulary_of(tokens);
    const Measured measured;
    try {
      const auto constraint = constraint_of(pattern, vocabulary);
      draw(constraint, choices, 300);
      large += measured.check("seed " + std::to_string(seed), constraint->memory_bytes());
    } catch (const EmptyConstraint&) {
    }
  }
  CHECK(4 * large > count);
}
