// Random patterns over code points of one to four bytes, random vocabularies, random walks, all
// compared with the oracle.  A failure prints the seed:
// TOKAMATA_SEED=17 runs the case of that seed alone; TOKAMATA_CASES=100000 runs more of them.

#include <cstdlib>

#include "amounts.hpp"
#include "generate.hpp"
#include "walk.hpp"

namespace {

using namespace oracle;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value ? std::strtoull(value, nullptr, 10) : otherwise;
}

// Runs `one(seed)` for many seeds.  Cases too large for the oracle are left out, and must be few.
template <class One>
void for_seeds(std::uint64_t count, One one) {
  count = test::drawn(count);
  std::uint64_t first = 1;
  if (std::getenv("TOKAMATA_SEED")) first = from_environment("TOKAMATA_SEED", 1), count = 1;
  std::uint64_t left_out = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const test::Note note([&] { return "TOKAMATA_SEED=" + std::to_string(seed); });
    try {
      one(seed);
    } catch (const TooLarge&) {
      ++left_out;
    }
  }
  const test::Note note([&] { return std::to_string(left_out) + " left out"; });
  CHECK(4 * left_out <= count);
}

struct RandomCase {
  Choices choices;
  TreePtr tree;
  Tokens tokens;
  Language language;
  TokenGraph graph;

  RandomCase(std::uint64_t seed, std::uint32_t largest_tree, const generate::Bounds& bounds = {})
      : choices(seed),
        tree(generate::tree(choices, choices.between(1, largest_tree), bounds)),
        tokens(generate::tokens(choices, tree)),
        language(tree, 300),
        graph(language, tokens, 200) {}

  std::string shown() const { return "pattern " + oracle::shown(tree) + "\n    " + oracle::shown(tokens); }
  std::shared_ptr<tokamata::Constraint> compile(const tokamata::Limits& limits = {}) const {
    return engine::compile_like(graph, engine::expression_of(tree), engine::vocabulary_of(tokens),
                                engine::start_vocabulary_of(tokens), engine::controls_of(tokens), limits);
  }
};

generate::Bounds with_operators(std::uint64_t seed) {
  generate::Bounds bounds;
  bounds.largest_count = 5;
  bounds.has_operators = true;
  bounds.has_controls = seed % 4 == 1;
  bounds.has_edges = seed % 4 == 2;
  return bounds;
}

// Masks, questions, all tokens, forced text and tokens, at every state that tokens reach.
void check_every_state(const RandomCase& one, bool explain) {
  const test::Note note([&] { return one.shown(); });
  if (one.graph.size() > 60) return;
  const auto constraint = one.compile();
  if (constraint) engine::check_everywhere(constraint, one.graph, one.tokens, explain);
}

void walk(RandomCase& one) {
  const test::Note note([&] { return one.shown(); });
  const auto constraint = one.compile();
  if (!constraint) return;
  engine::Walk::Setup setup;
  setup.graph = &one.graph;
  engine::Walk(one.choices, constraint, nullptr, one.tokens, setup).run();
}

TEST(every_state_of_random_patterns) {
  for_seeds(500, [](std::uint64_t seed) { check_every_state({seed, 9}, seed % 4 == 0); });
}

TEST(random_walks) {
  for_seeds(800, [](std::uint64_t seed) {
    RandomCase one(seed + 1'000'000, 12);
    walk(one);
  });
}

// With so little memory, or so few states, that things are given up all the time.
TEST(random_walks_in_little_memory) {
  std::size_t walks = 0, refusals = 0, stopped_when_compiled = 0;
  for_seeds(400, [&](std::uint64_t seed) {
    RandomCase one(seed + 2'000'000, 12, seed % 2 ? with_operators(seed / 2) : generate::Bounds());
    const test::Note note([&] { return one.shown(); });
    const auto reference = one.compile();
    if (!reference) return;
    tokamata::Limits limits;
    if (one.choices.one_in(2)) limits.memory_bytes = reference->memory_bytes() + one.choices.below(30'000);
    else limits.states = reference->state_count() + one.choices.below(20);
    try {
      engine::Walk::Setup setup;
      setup.graph = &one.graph;
      const test::Note more([&] {
        return "memory_bytes " + std::to_string(limits.memory_bytes) + ", states " + std::to_string(limits.states);
      });
      engine::Walk walk(one.choices, one.compile(limits), reference, one.tokens, setup);
      walk.run();
      ++walks;
      refusals += walk.refusals();
    } catch (const tokamata::LimitExceeded&) {
      ++stopped_when_compiled;
    }
  });
  if (walks > 50) CHECK(refusals > walks / 100);  // the limits are small enough to matter
  CHECK(stopped_when_compiled <= walks);
}

// The same with intersections, complements, lookaround, scopes, explicit automata, control tokens, and the
// edges of tokens.
TEST(every_state_with_every_operator) {
  for_seeds(200,
            [](std::uint64_t seed) { check_every_state({seed + 5'000'000, 9, with_operators(seed)}, seed % 3 == 0); });
}

TEST(random_walks_with_every_operator) {
  for_seeds(200, [](std::uint64_t seed) {
    RandomCase one(seed + 6'000'000, 10, with_operators(seed));
    walk(one);
  });
}

// Masks do not depend on the order in which states were visited: two engines, two orders.
TEST(the_order_of_visits_does_not_matter) {
  for_seeds(400, [](std::uint64_t seed) {
    RandomCase one(seed + 3'000'000, 10);
    const test::Note note([&] { return one.shown(); });
    const auto first = one.compile();
    if (!first) return;
    const auto second = one.compile();
    // Paths to every node, shortest first; the first engine takes them forwards, the second backwards.
    std::vector<std::pair<int, std::vector<std::uint32_t>>> paths = {{0, {}}};
    std::vector<bool> seen(one.graph.size(), false);
    seen[0] = true;
    for (std::size_t i = 0; i < paths.size(); ++i)
      for (std::uint32_t id = 0; id < one.tokens.bytes.size(); ++id)
        if (const auto target = one.graph.step(paths[i].first, id);
            target && !seen[static_cast<std::size_t>(*target)]) {
          seen[static_cast<std::size_t>(*target)] = true;
          auto path = paths[i].second;
          path.push_back(id);
          paths.emplace_back(*target, std::move(path));
        }
    std::vector<tokamata::MaskPtr> forwards(paths.size());
    for (std::size_t i = 0; i < paths.size(); ++i) {
      tokamata::Matcher matcher(first);
      for (std::uint32_t id : paths[i].second) CHECK(matcher.advance({id}));
      forwards[i] = matcher.mask();
    }
    for (std::size_t i = paths.size(); i-- > 0;) {
      tokamata::Matcher matcher(second);
      for (std::uint32_t id : paths[i].second) CHECK(matcher.advance({id}));
      CHECK(matcher.mask()->bits.row() == forwards[i]->bits.row());
      engine::check_bits(engine::bits_of(*forwards[i], one.tokens.width), one.graph.mask(paths[i].first));
    }
  });
}

// Bounds past the reach of a token: those that the oracle can unroll, and those whose masks must
// be the same as long as no bound is near.
TEST(counts_past_the_reach_of_a_token) {
  for_seeds(150, [](std::uint64_t seed) {
    Choices choices(seed + 4'000'000);
    const std::vector<TreePtr> parts = {
        text("a"), text("b"),  one_of({{'a', 'b'}}),        one_of({{'a', 'a'}, {0xE8, 0xE9}}),
        text("é"), text("ab"), one_of({{0x1F600, 0x1F601}})};
    const auto part = [&] { return choices.of(parts); };
    std::vector<TreePtr> items;
    for (std::uint32_t i = choices.between(1, 2); i > 0; --i) {
      const std::uint32_t maximum = choices.between(5, 40);
      const TreePtr body = choices.one_in(4) ? sequence({part(), repeat(part(), 0, choices.between(1, 9))}) : part();
      items.push_back(repeat(body, choices.one_in(2) ? 0 : choices.below(maximum + 1), maximum));
      if (choices.one_in(2)) items.push_back(part());
    }
    const TreePtr tree = choices.one_in(4) ? repeat(choice(items), 1, 2) : sequence(items);
    std::vector<std::string> bytes = {"a", "b", "\xC3", "\xA8", "\xA9", "\xF0", "\x9F", "\x98", "\x80", "\x81"};
    for (unsigned i = 0; i < 8; ++i) {
      const std::string from = generate::text(choices, tree);
      bytes.push_back(from.substr(choices.below(static_cast<std::uint32_t>(from.size()) + 1), choices.between(2, 4)));
    }
    const Tokens tokens = engine::plain(bytes);
    const test::Note note([&] { return "pattern " + shown(tree) + "; " + shown(tokens); });
    Language language(tree, 1500);
    const TokenGraph graph(language, tokens, 1500);
    const auto constraint =
        engine::compile_like(graph, engine::expression_of(tree), engine::vocabulary_of(tokens), nullptr);
    if (!constraint) return;
    engine::Walk::Setup setup;
    setup.graph = &graph;
    setup.operations = 120;
    engine::Walk(choices, constraint, nullptr, tokens, setup).run();
  });
}

// Bounds on both sides of the reach of a token, four bytes, before and after a bound far beyond it.
TEST(counts_around_the_reach_of_a_token) {
  std::vector<std::string> strings = {""};
  for (std::size_t i = 0; strings[i].size() < 4; ++i)
    for (const char letter : {'a', 'b'}) strings.push_back(strings[i] + letter);
  strings.erase(strings.begin());
  const Tokens tokens = engine::plain(strings);
  const auto vocabulary = engine::vocabulary_of(tokens);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> near,
      far = {{0, 40}, {4, 40}, {5, 40}, {40, 40}, {3, kUnbounded}};
  for (std::uint64_t minimum = 0; minimum <= 6; ++minimum)
    for (std::uint64_t maximum = std::max<std::uint64_t>(minimum, 2); maximum <= 6; ++maximum)
      near.emplace_back(minimum, maximum);
  std::uint64_t seed = 0;
  for (const auto& [low, high] : near)
    for (const auto& [far_low, far_high] : far)
      for (unsigned shape = 0; shape < 5; ++shape) {
        const TreePtr first = repeat(shape % 2 ? one_of({{'a', 'b'}}) : text("a"), low, high);
        const TreePtr second = repeat(text("b"), far_low, far_high);
        const TreePtr tree = shape < 2   ? sequence({first, second})
                             : shape < 4 ? sequence({second, first, text("a")})
                                         : repeat(sequence({text("a"), second}), low, high);
        const test::Note note([&] { return "pattern " + shown(tree) + "; " + shown(tokens); });
        Language language(tree);
        const TokenGraph graph(language, tokens);
        const auto constraint = engine::compile_like(graph, engine::expression_of(tree), vocabulary, nullptr);
        CHECK(constraint);
        Choices choices(++seed);
        engine::Walk::Setup setup;
        setup.graph = &graph;
        setup.explain = false;
        setup.operations = 25;
        engine::Walk(choices, constraint, nullptr, tokens, setup).run();
      }
}

TEST(a_bound_too_far_to_see_is_no_bound) {
  const Tokens tokens = engine::with_all_bytes({"aa", "aaa", "aaaa", "ab", "a!", "!", "é", "aé"});
  for (const auto& body : {text("a"), one_of({{'a', 'c'}}), one_of({{0, 0x20}, {0x22, 0x10FFFF}}), text("ab"),
                           sequence({text("a"), optional(text("b"))})}) {
    const TreePtr end = text("!");
    tokamata::Matcher million(engine::compile(sequence({repeat(body, 3, 1'000'000), end}), tokens));
    tokamata::Matcher unbounded(engine::compile(sequence({repeat(body, 3, kUnbounded), end}), tokens));
    Choices choices(7);
    for (unsigned step = 0; step < 300; ++step) {
      const auto mask = million.mask();
      CHECK(mask->bits.row() == unbounded.mask()->bits.row());
      std::uint32_t id = choices.below(tokens.width);
      while (!mask->bits.contains(id) || tokens.bytes[id].value_or("!").ends_with('!')) id = (id + 1) % tokens.width;
      CHECK(million.advance({id}));
      CHECK(unbounded.advance({id}));
    }
    // Three hundred steps, a handful of masks.
    CHECK(million.mask()->serial < 40);
  }
}

}  // namespace
