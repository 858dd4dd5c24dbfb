// JSON values as rules, under the sanitizers: what is right is judged in Python, beside oracles
// (tests/patterns/json_schema); here no mask may lie about a step, and no order of operations may break anything.

#include "amounts.hpp"
#include "expression/expression_rules.hpp"
#include "random_values.hpp"
#include "small_limits.hpp"
#include "walk.hpp"

namespace {

using namespace engine;

std::shared_ptr<Constraint> compiled(const ExpressionPtr& grammar, const std::shared_ptr<const Vocabulary>& vocabulary,
                                     const Limits& limits) {
  return std::make_shared<Constraint>(grammar, vocabulary, nullptr, TokenAutomaton::ControlTokens(), limits, nullptr);
}

// Null where the set has no value, or where the constraint is refused.
std::shared_ptr<Constraint> compiled_if_some(const ExpressionPtr& grammar,
                                             const std::shared_ptr<const Vocabulary>& vocabulary,
                                             const Limits& limits) {
  try {
    const auto constraint = compiled(grammar, vocabulary, limits);
    return Matcher(constraint).mask()->set_bits == 0 ? nullptr : constraint;
  } catch (const EmptyConstraint&) {
    return nullptr;
  } catch (const std::invalid_argument&) {
    return nullptr;
  } catch (const LimitExceeded&) {
    return nullptr;
  }
}

std::string text_of(const oracle::Tokens& tokens, const std::vector<std::uint32_t>& ids) {
  std::string text;
  for (const std::uint32_t id : ids) text += tokens.bytes[id].value_or("");
  return text;
}

// Walks tokens that masks have, and asks of every token whether a step says the same; whether a text was ended.
bool compare_with_steps(const std::shared_ptr<Constraint>& constraint, const oracle::Tokens& tokens, Choices& choices,
                        unsigned steps) {
  Matcher matcher(constraint);
  std::vector<std::uint32_t> ids;
  const test::Note note([&] { return "after " + text_of(tokens, ids); });
  try {
    for (unsigned step = 0; step < steps; ++step) {
      const std::vector<bool> bits = bits_of(*matcher.mask(), tokens.width);
      std::vector<std::uint32_t> open;
      for (std::uint32_t id = 0; id < tokens.width; ++id) {
        if (tokens.is_stop(id)) {
          CHECK_EQUAL(bits[id], matcher.is_accepting());
          continue;
        }
        const std::unique_ptr<Matcher> other = matcher.fork();
        const bool taken = other->advance({id});
        if (taken != bits[id])
          test::fail(__FILE__, __LINE__,
                     "token " + std::to_string(id) + (taken ? " is taken" : " is not taken") + ", unlike its bit");
        if (bits[id]) open.push_back(id);
      }
      if (open.empty()) {
        CHECK(matcher.is_accepting());
        return true;
      }
      ids.push_back(choices.of(open));
      CHECK(matcher.advance({ids.back()}));
    }
  } catch (const LimitExceeded&) {
    return false;
  }
  return false;
}

// A rule that refers to itself around values, whose own brackets it uses too.
ExpressionPtr within_rules(const ExpressionPtr& values, Choices& choices) {
  const ExpressionPtr rule = Expression::reference(0);
  const auto text = [](const char* bytes) { return Expression::literal(bytes); };
  const ExpressionPtr more =
      Expression::repetition(Expression::concatenation({text(","), rule}), 0, tokamata::kUnbounded, -1);
  const ExpressionPtr optional = Expression::repetition(values, 0, 1, -1);
  const ExpressionPtr body = choices.of<ExpressionPtr>({
      Expression::unite({values, Expression::concatenation({text("["), rule, more, text("]")})}),
      Expression::unite({Expression::concatenation({text("a"), values}),
                         Expression::concatenation({text("{"), rule, text("}"), optional})}),
      Expression::concatenation(
          {values, Expression::repetition(Expression::concatenation({text(":"), rule}), 0, 1, -1)}),
  });
  return Expression::grammar(std::make_shared<tokamata::ExpressionRuleSet>(std::vector{body}, rule));
}

// Of values that are nearly always some; `make` gets the number of the case.
template <class Make>
void compare_many(std::uint64_t first_seed, Make&& make) {
  const oracle::Tokens tokens = RandomValues::tokens();
  const auto vocabulary = vocabulary_of(tokens);
  const Limits limits{.states = 200'000, .memory_bytes = 200'000'000, .seconds = 20};
  std::size_t walked = 0;
  const std::uint64_t count = test::drawn(300);
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    Choices choices(first_seed + seed);
    RandomValues values(choices);
    const auto constraint = compiled_if_some(make(seed, values), vocabulary, limits);
    if (!constraint) continue;
    ++walked;
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    compare_with_steps(constraint, tokens, choices, 30);
  }
  CHECK(4 * walked > 3 * count);
}

}  // namespace

TEST(json_masks_are_what_steps_say) {
  const oracle::Tokens tokens = RandomValues::tokens();
  const auto vocabulary = vocabulary_of(tokens);
  const Limits limits{.states = 200'000, .memory_bytes = 200'000'000, .seconds = 20};
  std::size_t walked = 0, ended = 0;
  const std::uint64_t count = test::drawn(400);
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    Choices choices(seed);
    const ExpressionPtr grammar = RandomValues(choices).grammar();
    const auto constraint = compiled_if_some(grammar, vocabulary, limits);
    if (!constraint) continue;
    ++walked;
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    ended += compare_with_steps(constraint, tokens, choices, 12);
  }
  CHECK(2 * walked > count);
  CHECK(20 * ended > count);
}

// Members between tags (json/tag_style.hpp), whatever the tags say.
TEST(json_masks_of_members_between_tags) {
  const oracle::Tokens tokens = RandomValues::tokens();
  const auto vocabulary = vocabulary_of(tokens);
  const Limits limits{.states = 200'000, .memory_bytes = 200'000'000, .seconds = 20};
  std::size_t walked = 0;
  const std::uint64_t count = test::drawn(120);
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    Choices choices(6'000'000 + seed);
    const auto constraint = compiled_if_some(RandomValues(choices).tagged(), vocabulary, limits);
    if (!constraint) continue;
    ++walked;
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    compare_with_steps(constraint, tokens, choices, 25);
  }
  CHECK(3 * walked > count);
}

// Bounds of strings that no token comes near to, and those that some do (expression/string_bounds.hpp).
TEST(json_masks_of_bounded_patterns) {
  compare_many(2'000'000, [](std::uint64_t, RandomValues& values) { return values.bounded_string(); });
}

// Strings but some: what tokens do that end one of these, or lie on the way of one (composition/segments.cpp).
TEST(json_masks_of_strings_without_some) {
  compare_many(3'000'000, [](std::uint64_t seed, RandomValues& values) {
    return seed % 2 ? values.strings_without_some() : values.objects_without_some();
  });
}

TEST(json_masks_within_rules) {
  const oracle::Tokens tokens = RandomValues::tokens();
  const auto vocabulary = vocabulary_of(tokens);
  const Limits limits{.states = 200'000, .memory_bytes = 200'000'000, .seconds = 20};
  std::size_t walked = 0;
  const std::uint64_t count = test::drawn(400);
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    Choices choices(5'000'000 + seed);
    const ExpressionPtr grammar = within_rules(RandomValues(choices).grammar(), choices);
    const auto constraint = compiled_if_some(grammar, vocabulary, limits);
    if (!constraint) continue;
    ++walked;
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    compare_with_steps(constraint, tokens, choices, 15);
  }
  CHECK(2 * walked > count);
}

// (ab)*b{k}: behind abababab there must be room for k more.
TEST(json_masks_near_a_bound) {
  const oracle::Tokens tokens = RandomValues::tokens();
  const auto vocabulary = vocabulary_of(tokens);
  for (Count behind = 0; behind < 6; ++behind)
    for (Count most = 8; most < 20; ++most) {
      const test::Note note([&] { return std::to_string(behind) + " behind, of " + std::to_string(most); });
      Choices choices(behind + 100 * most);
      const ExpressionPtr texts =
          Expression::concatenation({Expression::repetition(Expression::literal("ab"), 0, tokamata::kUnbounded, 0),
                                     Expression::repetition(Expression::literal("b"), behind, behind, 0)});
      compare_with_steps(compiled(RandomValues(choices).bounded_string(texts, most), vocabulary, Limits{}), tokens,
                         choices, 20);
    }
}

// A mailbox: a bounded part within a bounded whole.  Bounds on all characters but one that no text has are kept and
// searched; bounds on all characters are dropped where they leave room (Arena::without_bounds).  Both are one language.
TEST(json_masks_of_bounds_within_bounds) {
  const oracle::Tokens tokens = RandomValues::tokens();
  const Limits limits{.states = 200'000, .memory_bytes = 200'000'000, .seconds = 20};
  const auto some = [](std::vector<tokamata::CodePointRange> ranges) {
    return Expression::code_points(std::move(ranges));
  };
  const auto many = [](const ExpressionPtr& body, Count least) {
    return Expression::repetition(body, least, tokamata::kUnbounded, 0);
  };
  const ExpressionPtr a = some({{'a', 'a'}}), odd = some({{' ', '"'}, {0xE9, 0xE9}}), ab = Expression::literal("ab");
  std::size_t walked = 0;
  const std::uint64_t count = test::drawn(150);
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    Choices choices(4'000'000 + seed);
    const auto part = [&] {
      return choices.of<ExpressionPtr>(
          {many(a, 1), many(ab, 1), many(odd, 0), many(Expression::unite({odd, ab}), 1),
           Expression::concatenation({many(some({{'a', 'b'}}), 0), Expression::literal("bb")}),
           Expression::unite({many(a, 1), Expression::concatenation(
                                              {Expression::literal("\""), many(odd, 0), Expression::literal("ba")})})});
    };
    const ExpressionPtr local = part(), host = part();
    const Count short_least = choices.below(2), short_most = choices.between(2, 9), least = choices.below(3),
                most = choices.between(3, 24);
    const Count whole_most = choices.between(3, 24);
    const auto made = [&](const ExpressionPtr& any) {
      const ExpressionPtr within = Expression::concatenation(
          {Expression::intersection({local, Expression::repetition(any, short_least, short_most, 0)}),
           Expression::literal("b"), host});
      return RandomValues(choices).bounded_string(
          Expression::intersection({within, Expression::repetition(any, least, most, 0)}), whole_most);
    };
    const auto fast = compiled_if_some(made(some({{0, 0x10FFFF}})), vocabulary_of(tokens), limits);
    const auto slow = compiled_if_some(made(some({{0, 0x10FFFE}})), vocabulary_of(tokens), limits);
    CHECK_EQUAL(fast == nullptr, slow == nullptr);
    if (!fast) continue;
    Matcher fast_matcher(fast), slow_matcher(slow);
    for (unsigned step = 0; step < 24; ++step) {
      const std::vector<bool> bits = bits_of(*fast_matcher.mask(), tokens.width);
      if (bits != bits_of(*slow_matcher.mask(), tokens.width))
        test::fail(__FILE__, __LINE__, "masks differ at step " + std::to_string(step));
      std::vector<std::uint32_t> open;
      for (std::uint32_t id = 0; id < tokens.width; ++id)
        if (bits[id] && !tokens.is_stop(id)) open.push_back(id);
      if (open.empty()) break;
      const std::uint32_t id = choices.of(open);
      CHECK(fast_matcher.advance({id}) && slow_matcher.advance({id}));
      ++walked;
    }
  }
  CHECK(walked > 3 * count);
}

TEST(json_operations_in_any_order) {
  const oracle::Tokens tokens = RandomValues::tokens();
  const auto vocabulary = vocabulary_of(tokens);
  for (std::uint64_t seed = 0; seed < test::drawn(150); ++seed) {
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    Choices choices(seed + 1'000'000);
    const ExpressionPtr values = seed % 3 ? RandomValues(choices).grammar() : RandomValues(choices).tagged();
    const ExpressionPtr grammar = seed % 2 && seed % 3 ? within_rules(values, choices) : values;
    const Limits ample{.states = 200'000, .memory_bytes = 200'000'000, .seconds = 20};
    const auto reference = compiled_if_some(grammar, vocabulary, ample);
    if (!reference) continue;
    Walk::Setup setup;
    setup.limits = {.memory_bytes = 1'500'000 + 100'000 * choices.below(20), .seconds = 20};
    setup.explain = false;
    setup.operations = 30;
    const auto constraint = compiled_if_some(grammar, vocabulary, setup.limits);
    if (!constraint) continue;
    Walk(choices, constraint, reference, tokens, setup).run();
  }
}

// The vocabulary is shared, so that what one constraint left there half made would be another's wrong mask.
TEST(json_masks_under_small_limits) {
  std::size_t ended = 0, stopped = 0;
  for (std::uint64_t seed = 0; seed < test::drawn(24); ++seed) {
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    const Recorded walk = recorded(seed, 30);
    for (const Limits& limits : small_limits(walk)) {
      try {
        ++(follow(walk.compile(limits), walk) ? ended : stopped);
      } catch (const LimitExceeded&) {
        ++stopped;
      }
    }
    CHECK(follow(walk.compile(Limits{.seconds = 60}), walk));
  }
  CHECK(ended > 0);
  CHECK(stopped > 0);
}
