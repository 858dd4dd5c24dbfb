// Rules that are listed (core/expression/expression_rules.hpp), against Earley's algorithm.

#include "random_rules.hpp"
#include "walk.hpp"

namespace {

using namespace engine;
using Problem = RuleSetError::Problem;

ExpressionPtr text(const char* bytes) { return Expression::literal(bytes); }
ExpressionPtr rule(std::uint32_t number) { return Expression::reference(number); }
ExpressionPtr digits() {
  return Expression::terminal(Expression::repetition(Expression::code_points({{'0', '9'}}), 1, kUnbounded, -1));
}

ExpressionPtr grammar_of(const std::vector<ExpressionPtr>& bodies, const ExpressionPtr& start) {
  return Expression::grammar(std::make_shared<ExpressionRuleSet>(bodies, start));
}

// T(1, T(2), T(3)): a number, and trees.
ExpressionPtr trees() {
  return grammar_of(
      {Expression::concatenation(
          {text("T("), digits(),
           Expression::repetition(Expression::concatenation({text(", "), rule(0)}), 0, kUnbounded, -1), text(")")})},
      rule(0));
}

std::shared_ptr<Constraint> compiled(const ExpressionPtr& expression, const oracle::Tokens& tokens,
                                     const Limits& limits = {}) {
  return std::make_shared<Constraint>(expression, vocabulary_of(tokens), nullptr, TokenAutomaton::ControlTokens(),
                                      limits, nullptr);
}

bool accepts(const std::shared_ptr<Constraint>& constraint, std::string_view bytes) {
  Matcher matcher(constraint);
  for (const char byte : bytes)
    if (!matcher.advance({static_cast<std::uint8_t>(byte)})) return false;
  return matcher.is_accepting();
}

Problem problem_of(const std::vector<ExpressionPtr>& bodies, std::uint32_t at) {
  const RuleSetError error = CHECK_THROWS(RuleSetError, grammar_of(bodies, rule(0)));
  CHECK_EQUAL(error.rule, at);
  return error.problem;
}

// Masks and steps beside the oracle, down one random text.  False where a limit stopped it.
bool walk_beside(Choices& choices, const std::shared_ptr<Constraint>& constraint, const RandomRules& rules,
                 const oracle::ContextFree& grammar, const oracle::Tokens& tokens, unsigned steps) {
  Matcher matcher(constraint);
  oracle::ContextFree::Reading reading(grammar, rules.start());
  std::string before;
  const test::Note note([&] { return "after " + oracle::escaped(before); });
  try {
    for (unsigned step = 0; step < steps; ++step) {
      std::vector<bool> expected(tokens.width, false);
      std::vector<std::uint32_t> open;
      for (std::uint32_t id = 0; id < tokens.width; ++id) {
        if (tokens.is_stop(id)) {
          expected[id] = reading.accepts();
          continue;
        }
        oracle::ContextFree::Reading further = reading;
        expected[id] = further.read(*tokens.bytes[id]);
        if (expected[id]) open.push_back(id);
      }
      CHECK_EQUAL(matcher.is_accepting(), reading.accepts());
      check_bits(bits_of(*matcher.mask(), tokens.width), expected);
      for (const std::uint32_t id : open) CHECK(matcher.fork()->advance({id}));
      for (unsigned i = 0; i < 20; ++i) {
        const std::uint32_t id = choices.below(tokens.width);
        if (!tokens.is_stop(id)) CHECK_EQUAL(matcher.fork()->advance({id}), expected[id]);
      }
      if (open.empty()) return true;
      const std::uint32_t id = choices.of(open);
      CHECK(matcher.advance({id}));
      CHECK(reading.read(*tokens.bytes[id]));
      before += *tokens.bytes[id];
    }
  } catch (const LimitExceeded&) {
    return false;
  }
  return true;
}

}  // namespace

TEST(rules_that_are_none_are_refused) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    Choices choices(seed);
    const RandomRules rules(choices);
    try {
      (void)rules.expression();
      CHECK(!rules.has_empty_rule());
      CHECK(!rules.has_left_recursion());
    } catch (const RuleSetError& error) {
      CHECK(error.problem == Problem::Empty || error.problem == Problem::LeftRecursive);
      CHECK_EQUAL(error.problem == Problem::Empty, rules.has_empty_rule());
      CHECK(error.problem == Problem::Empty || rules.has_left_recursion());
    }
  }
}

TEST(masks_of_rules_are_what_the_grammar_says) {
  oracle::Tokens tokens = with_all_bytes(RandomRules::words());
  const Limits limits{.states = 200'000, .memory_bytes = 400'000'000, .seconds = 20};
  std::size_t walked = 0, stopped = 0;
  for (std::uint64_t seed = 0; seed < 700; ++seed) {
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    Choices choices(seed);
    RandomRules rules(choices);
    if (rules.has_empty_rule() || rules.has_left_recursion()) continue;
    oracle::ContextFree::Bytes all;
    all.fill(true);
    rules.grammar().keep_productive(all);
    std::shared_ptr<Constraint> constraint;
    try {
      constraint = compiled(rules.expression(), tokens, limits);
    } catch (const EmptyConstraint&) {
      CHECK(!rules.grammar().has_texts(rules.start()));
      continue;
    }
    CHECK(rules.grammar().has_texts(rules.start()));
    ++walked;
    stopped += !walk_beside(choices, constraint, rules, rules.grammar(), tokens, 8);
  }
  CHECK(walked > 250);
  CHECK_EQUAL(stopped, 0u);
}

// What a vocabulary without some bytes can spell: here all tokens of several bytes are made of those that there are.
TEST(masks_of_rules_where_bytes_are_missing) {
  const Limits limits{.states = 2'000, .memory_bytes = 100'000'000, .seconds = 5};
  std::size_t walked = 0, stopped = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    Choices choices(seed + 10'000);
    RandomRules rules(choices);
    if (rules.has_empty_rule() || rules.has_left_recursion()) continue;
    oracle::ContextFree::Bytes available{};
    std::vector<std::string> words;
    for (const char byte : std::string("ab(),\xC3\xA9"))
      if (!choices.one_in(5)) {
        available[static_cast<std::uint8_t>(byte)] = true;
        words.emplace_back(1, byte);
      }
    for (const std::string& word : RandomRules::words())
      if (word.size() > 1 &&
          std::ranges::all_of(word, [&](char byte) { return available[static_cast<std::uint8_t>(byte)]; }))
        words.push_back(word);
    const oracle::Tokens tokens = plain(words);
    rules.grammar().keep_productive(available);
    if (!rules.grammar().has_texts(rules.start())) continue;
    const auto constraint = compiled(rules.expression(), tokens, limits);
    ++walked;
    stopped += !walk_beside(choices, constraint, rules, rules.grammar(), tokens, 6);
  }
  CHECK(walked > 80);
  CHECK(stopped < walked / 4);  // whether a text of rules can be ended in tokens may be without end to search for
}

TEST(rules_under_operations_in_any_order) {
  const oracle::Tokens tokens = with_all_bytes(RandomRules::words());
  std::size_t walked = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    Choices choices(seed + 2'000'000);
    const RandomRules rules(choices);
    if (rules.has_empty_rule() || rules.has_left_recursion()) continue;
    const auto attempt = [&](const Limits& limits) -> std::shared_ptr<Constraint> {
      try {
        return compiled(rules.expression(), tokens, limits);
      } catch (const EmptyConstraint&) {
        return nullptr;
      } catch (const LimitExceeded&) {
        return nullptr;
      }
    };
    const auto reference = attempt({.states = 200'000, .memory_bytes = 200'000'000, .seconds = 20});
    Walk::Setup setup;
    setup.limits = {.memory_bytes = 100'000 + 20'000 * choices.below(20), .seconds = 20};
    setup.explain = false;
    setup.operations = 30;
    const auto constraint = attempt(setup.limits);
    if (!reference || !constraint) continue;
    ++walked;
    Walk(choices, constraint, reference, tokens, setup).run();
  }
  CHECK(walked > 80);
}

TEST(rules_refuse_what_they_cannot_mean) {
  const auto with = [](const ExpressionPtr& part) { return std::vector{Expression::concatenation({text("a"), part})}; };
  CHECK(problem_of(with(rule(1)), 0) == Problem::UnknownRule);
  CHECK(problem_of(with(Expression::intersection({rule(0), text("a")})), 0) == Problem::Misplaced);
  CHECK(problem_of(with(Expression::intersection({rule(0), Expression::complement(text("a"))})), 0) ==
        Problem::Misplaced);
  CHECK(problem_of(with(Expression::complement(rule(0))), 0) == Problem::Misplaced);
  CHECK(problem_of(with(Expression::look_ahead(rule(0))), 0) == Problem::Misplaced);
  CHECK(problem_of(with(Expression::terminal(rule(0))), 0) == Problem::Misplaced);
  CHECK(problem_of(with(Expression::control_token("end")), 0) == Problem::NotText);
  CHECK(problem_of(with(Expression::one_token(ByteSet::range('a', 'z'))), 0) == Problem::NotText);
  CHECK(problem_of(with(Expression::complement(text("b"))), 0) == Problem::NotText);
  CHECK(problem_of(with(Expression::intersection({trees(), text("T(1)")})), 0) == Problem::NotText);
  CHECK(problem_of(with(Expression::look_ahead(text("b"))), 0) == Problem::Open);
  CHECK(problem_of({text("")}, 0) == Problem::Empty);
  CHECK(problem_of({text("a"), Expression::repetition(rule(0), 0, 1, -1)}, 1) == Problem::Empty);
  CHECK(problem_of({Expression::unite({rule(0), text("a")})}, 0) == Problem::LeftRecursive);
  const ExpressionPtr skipped = Expression::repetition(text("b"), 0, kUnbounded, -1);
  CHECK(problem_of({Expression::concatenation({skipped, rule(1)}), Expression::concatenation({rule(0), text("a")})},
                   0) == Problem::LeftRecursive);
  (void)CHECK_THROWS(std::invalid_argument, compiled(rule(0), with_all_bytes({})));  // of no set
}

TEST(rules_that_never_end_are_left_out) {
  const oracle::Tokens tokens = with_all_bytes({});
  const ExpressionPtr endless = Expression::concatenation({text("a"), rule(0)});
  (void)CHECK_THROWS(EmptyConstraint, compiled(grammar_of({endless}, rule(0)), tokens));
  const auto constraint = compiled(
      grammar_of({endless, Expression::unite({rule(0), text("ab"), Expression::concatenation({text("ac"), rule(0)})})},
                 rule(1)),
      tokens);
  CHECK(accepts(constraint, "ab"));
  Matcher matcher(constraint);
  CHECK(matcher.advance({'a'}));
  CHECK_EQUAL(matcher.mask()->set_bits, 1u);
}

TEST(a_start_may_be_empty) {
  const auto constraint = compiled(
      grammar_of(
          {Expression::concatenation({text("("), Expression::repetition(rule(0), 0, kUnbounded, -1), text(")")})},
          Expression::repetition(rule(0), 0, kUnbounded, -1)),
      with_all_bytes({}));
  for (const char* good : {"", "()", "()(())", "((()())())"}) CHECK(accepts(constraint, good));
  for (const char* bad : {"(", ")", "())", "(()"}) CHECK(!accepts(constraint, bad));
}

// A set within another one: its rules become rules of that, also where they are named several times.
TEST(sets_of_rules_stand_in_rules) {
  const ExpressionPtr inner =
      grammar_of({Expression::unite({Expression::concatenation({text("<"), rule(0), text(">")}), rule(1)}), trees()},
                 Expression::unite({rule(0), text("")}));
  const ExpressionPtr some = Expression::concatenation({text("="), inner});
  const ExpressionPtr list =
      Expression::concatenation({text("("), rule(0), Expression::repetition(some, 0, kUnbounded, -1), text(")")});
  const auto constraint =
      compiled(grammar_of({Expression::unite({list, some, trees()})}, Expression::concatenation({rule(0), inner})),
               with_all_bytes({}));
  for (const char* const accepted : {"T(1)", "=", "=<<T(1)>>", "((T(1, T(2))==<T(3)>=))", "(=)T(1)", "=<T(1)><T(2)>"})
    CHECK(accepts(constraint, accepted));
  for (const char* const refused : {"", "<T(1)>", "=<>", "(T(1)<T(2)>)", "(=<(=)>)", "=<T(1>"})
    CHECK(!accepts(constraint, refused));
}

// Of an optional sequence, its texts but the empty one.
TEST(the_empty_text_is_left_out_of_rules) {
  const auto optional = [](const ExpressionPtr& part) { return Expression::repetition(part, 0, 1, -1); };
  const ExpressionPtr whole = Expression::concatenation(
      {optional(rule(0)), optional(text("a")), Expression::repetition(optional(text("b")), 2, 3, -1)});
  const ExpressionPtr some = Expression::intersection({whole, Expression::complement(text(""))});
  const auto constraint = compiled(
      grammar_of({Expression::concatenation({text("("), some, text(")")})}, Expression::unite({rule(0), some})),
      with_all_bytes({}));
  for (const char* const accepted : {"a", "b", "abbb", "(a)", "((b)a)", "(a)abb", "((bbb))bb"})
    CHECK(accepts(constraint, accepted));
  for (const char* const refused : {"", "()", "(())", "bbbb", "aa", "(a)(a)", "((a)())"})
    CHECK(!accepts(constraint, refused));
}

// As deep as the text goes: nothing is done by recursion.
TEST(rules_nest_without_end) {
  constexpr unsigned kDepth = 20'000;
  const oracle::Tokens tokens = with_all_bytes({"T(1, ", "))))"});
  Matcher matcher(compiled(trees(), tokens));
  for (unsigned i = 0; i < kDepth; ++i) {
    CHECK(matcher.advance({256}));
    if (i % 1000 == 0) CHECK_EQUAL(matcher.mask()->set_bits, 2u);  // T and T(1,
  }
  for (const char byte : std::string("T(1)")) CHECK(matcher.advance({static_cast<std::uint8_t>(byte)}));
  for (unsigned i = 0; i < kDepth / 4; ++i) CHECK(matcher.advance({257}));
  CHECK(matcher.is_finished());
  CHECK(matcher.rollback(kDepth / 4));
  CHECK(matcher.mask()->set_bits > 2);
}

// 2^n readings of n brackets, and three stacks.
TEST(readings_of_an_ambiguous_text_share_their_stacks) {
  const ExpressionPtr more = Expression::concatenation({text(","), rule(0)});
  const auto list = [&](Count most) {
    return Expression::concatenation({text("("), rule(0), Expression::repetition(more, 0, most, -1), text(")")});
  };
  const ExpressionPtr twice = Expression::concatenation({text("("), rule(0), text(","), rule(1), text(")")});
  const auto constraint = compiled(
      grammar_of(
          {Expression::unite({list(2), list(kUnbounded), twice, text("a")}), Expression::unite({list(1), rule(0)})},
          rule(0)),
      with_all_bytes({"((((((((((((((((", "a,a", "))))))))"}), {.states = 100'000, .memory_bytes = 50'000'000});
  Matcher matcher(constraint);
  for (unsigned i = 0; i < 100; ++i) {
    CHECK(matcher.advance({256}));
    if (i % 10 == 0) CHECK_EQUAL(matcher.mask()->set_bits, 4u);
  }
  CHECK(matcher.advance({'a'}));
  for (unsigned i = 0; i < 800; ++i) {
    for (const char byte : std::string(i % 2 ? ")" : ",a)")) CHECK(matcher.advance({static_cast<std::uint8_t>(byte)}));
  }
  CHECK(matcher.mask()->set_bits > 0);
}

// The same where the rules stand in a choice.
TEST(readings_of_choices_share_their_stacks) {
  const ExpressionPtr any = Expression::unite({rule(0), rule(1)});
  const auto list = [&](const char* end) {
    return Expression::concatenation(
        {text("("), any, Expression::repetition(Expression::concatenation({text(","), any}), 0, kUnbounded, -1),
         text(end)});
  };
  const auto constraint =
      compiled(grammar_of({Expression::unite({list(")"), text("a")}), list("b)")}, any),
               with_all_bytes({"((((((((((((((((", "),"}), {.states = 100'000, .memory_bytes = 50'000'000});
  Matcher matcher(constraint);
  for (unsigned i = 0; i < 50; ++i) {
    CHECK(matcher.advance({256}));
    CHECK_EQUAL(matcher.mask()->set_bits, 3u);
  }
  CHECK(matcher.advance({'a'}));
  for (unsigned i = 0; i < 800; ++i)
    for (const char byte : std::string(i % 2 ? ")" : ",(ab),ab)"))
      CHECK(matcher.advance({static_cast<std::uint8_t>(byte)}));
  CHECK(matcher.is_finished());
}

// And where lists of them may be empty.
TEST(readings_of_optional_choices_share_their_stacks) {
  const ExpressionPtr any = Expression::unite({rule(0), rule(1)});
  const ExpressionPtr some = Expression::concatenation(
      {any, Expression::repetition(Expression::concatenation({text(","), any}), 0, kUnbounded, -1)});
  const auto list = [&](const char* end) {
    return Expression::concatenation({text("("), Expression::unite({some, text("")}), text(end)});
  };
  const auto run = [&](const char* end) {
    return Expression::concatenation({text("("), Expression::repetition(any, 0, kUnbounded, -1), text(end)});
  };
  for (const auto& kind : {std::pair(list(")"), list("b)")), std::pair(run(")"), run("b)"))}) {
    const auto constraint =
        compiled(grammar_of({kind.first, kind.second}, any), with_all_bytes({"((((((((((((((((", "),"}),
                 {.states = 20'000, .memory_bytes = 20'000'000});
    Matcher matcher(constraint);
    for (unsigned i = 0; i < 50; ++i) {
      CHECK(matcher.advance({256}));
      CHECK(matcher.mask()->set_bits >= 4);
    }
    for (unsigned i = 0; i < 800; ++i)
      for (const char byte : std::string(i % 2 ? ")" : "b)")) CHECK(matcher.advance({static_cast<std::uint8_t>(byte)}));
    CHECK(matcher.is_finished());
  }
}

// Rules that begin with each other a hundred thousand deep, in the order that asks for most.
TEST(rules_may_begin_with_rules) {
  constexpr std::uint32_t kRules = 100'000;
  std::vector<ExpressionPtr> bodies;
  for (std::uint32_t i = 0; i + 1 < kRules; ++i) bodies.push_back(rule(i + 1));
  bodies.push_back(Expression::unite({text("a"), Expression::concatenation({text("("), rule(0), text(")")})}));
  const auto constraint = compiled(grammar_of(bodies, rule(0)), with_all_bytes({"((("}));
  CHECK(accepts(constraint, "a"));
  CHECK(accepts(constraint, "((a))"));
  CHECK(!accepts(constraint, "(a"));
}

// Within a regular language: after each bracket there is another state, and none of them has a text.
TEST(rules_within_a_regular_language_end) {
  const ExpressionPtr nested =
      grammar_of({Expression::unite({Expression::concatenation({text("("), rule(0), text(")")}), text("x")})}, rule(0));
  const auto many = [](const char* bytes) { return Expression::repetition(text(bytes), 0, kUnbounded, -1); };
  const auto all = [](std::vector<ExpressionPtr> items) { return Expression::concatenation(std::move(items)); };
  const ExpressionPtr even = all({many("(("), text("x"), many(")")}), opened = all({many("("), text("x")}),
                      none = all({many("("), text("y")});
  const auto within = [&](const ExpressionPtr& regular) {
    return compiled(Expression::intersection({nested, regular}), with_all_bytes({"((", "(x", "x)"}),
                    {.states = 50'000});
  };
  CHECK(accepts(within(even), "((x))"));
  CHECK(!accepts(within(even), "(x)"));
  CHECK(accepts(within(opened), "x"));
  CHECK_EQUAL(Matcher(within(opened)).mask()->set_bits, 1u);
  CHECK_THROWS(EmptyConstraint, within(none));
  CHECK_THROWS(EmptyConstraint, within(Expression::complement(all({many("("), text("x"), many(")")}))));
  Matcher deep(within(even));
  for (unsigned i = 0; i < 3'000; ++i) CHECK(deep.advance({'('}));
  CHECK(deep.advance({'x'}));
  for (unsigned i = 0; i < 3'000; ++i) CHECK(deep.advance({')'}));
  CHECK(deep.is_accepting());
}

// As long as the shortest text that both accept, by each text in the order of lengths.
TEST(lengths_within_a_regular_language) {
  constexpr std::size_t kLongest = 9;
  std::size_t compared = 0, without = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    Choices choices(seed + 3'000'000);
    const RandomRules rules(choices);
    if (rules.has_empty_rule() || rules.has_left_recursion()) continue;
    const ExpressionPtr expression = rules.expression();
    const auto letters = Expression::code_points({{'(', ')'}, {',', ','}, {'a', 'b'}});
    const Count least = choices.below(5), most = least + choices.below(3);
    const ExpressionPtr regular =
        Expression::concatenation({Expression::repetition(letters, least, most, -1),
                                   Expression::repetition(text(choices.one_in(2) ? ")" : "a"), 0, kUnbounded, -1)});
    const auto automaton_of = [](const ExpressionPtr& pattern) {
      return std::make_unique<ByteAutomaton>(*pattern, LeafForms::Aliases{}, ByteSet::range(0, 0xFF), 1,
                                             Limits{.states = 20'000}, nullptr);
    };
    const auto of_both = automaton_of(Expression::intersection({expression, regular})),
               of_one = automaton_of(expression), of_other = automaton_of(regular);
    ByteAutomaton &both = *of_both, &alone = *of_one, &beside = *of_other;
    Budget budget({.states = 20'000}, nullptr, 0);
    const auto length = both.text_length(both.start(), budget);
    if (!length) continue;
    // All strings of the letters that the regular language has, the shortest first: no other expression is asked.
    std::optional<std::size_t> shortest;
    std::vector<std::pair<StateId, StateId>> layer{{alone.start(), beside.start()}};
    for (std::size_t size = 0; size <= kLongest && !shortest && !layer.empty(); ++size) {
      std::vector<std::pair<StateId, StateId>> next;
      for (const auto& [one, other] : layer) {
        if (alone.accepting(one) && beside.accepting(other)) shortest = size;
        for (const char letter : std::string("(),ab")) {
          const auto byte = static_cast<std::uint8_t>(letter);
          const std::pair after{alone.next(one, byte, budget), beside.next(other, byte, budget)};
          if (after.first != ByteAutomaton::kDead && after.second != ByteAutomaton::kDead) next.push_back(after);
        }
      }
      std::ranges::sort(next);
      next.erase(std::unique(next.begin(), next.end()), next.end());
      layer = std::move(next);
    }
    if (shortest) CHECK_EQUAL(*length, *shortest);
    if (!shortest) CHECK(*length > kLongest);
    ++(*length == kNoLength ? without : compared);
  }
  CHECK(compared > 10);
  CHECK(without > 10);
}
