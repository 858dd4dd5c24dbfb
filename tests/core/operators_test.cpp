// Every small pattern with every operator: which byte strings it accepts, and all its masks.
//
// Patterns: trees over a, b, [ab] and everything, with concatenation, union, intersection, repetition,
// complement, lookaround as the front ends say it and as it is, and scopes.  A tree of n nodes has size n.
// Three judges: matching.hpp looks at every string of up to six letters and decides by the definitions;
// language.hpp makes an automaton, which knows masks; the core.  The first judges the second too.

#include "amounts.hpp"
#include "engine.hpp"
#include "expression/byte_automaton.hpp"
#include "generate.hpp"
#include "oracle/matching.hpp"

namespace {

using namespace oracle;

// All strings over the letters, shortest first.
std::vector<std::string> all_strings(const std::string& letters, std::size_t longest) {
  std::vector<std::string> all = {""};
  for (std::size_t i = 0; all[i].size() < longest; ++i)
    for (const char letter : letters) all.push_back(all[i] + letter);
  return all;
}

std::vector<TreePtr> trees_of_one_part(const TreePtr& body) {
  return {star(body),         repeat(body, 1, kUnbounded),
          optional(body),     repeat(body, 1, 2),
          repeat(body, 2, 3), no(body),
          ahead(body),        not_ahead(body),
          behind(body),       not_behind(body),
          ahead_rest(body),   behind_prefix(body),
          scope(body)};
}

// By size, from 1 on.
std::vector<std::vector<TreePtr>> small_trees(std::size_t largest) {
  std::vector<std::vector<TreePtr>> of_size(largest + 1);
  of_size[1] = {text("a"), text("b"), one_of({{'a', 'b'}}), everything()};
  for (std::size_t size = 2; size <= largest; ++size) {
    std::vector<TreePtr>& out = of_size[size];
    for (const TreePtr& body : of_size[size - 1])
      for (const TreePtr& tree : trees_of_one_part(body)) out.push_back(tree);
    for (std::size_t left = 1; left + 1 < size; ++left)
      for (const TreePtr& a : of_size[left])
        for (const TreePtr& b : of_size[size - 1 - left])
          for (const TreePtr& tree : {sequence({a, b}), choice({a, b}), both({a, b})}) out.push_back(tree);
  }
  return of_size;
}

// The byte automaton of the core by itself.
class Engine {
 public:
  explicit Engine(const TreePtr& tree)
      : automaton_(*engine::expression_of(tree), {}, tokamata::ByteSet::range(0, 255), 4, {}, nullptr) {}

  bool matches(const std::string& bytes) {
    tokamata::StateId state = automaton_.start();
    for (const char byte : bytes) state = automaton_.next(state, static_cast<std::uint8_t>(byte), budget_);
    return automaton_.accepting(state);
  }

 private:
  tokamata::Budget budget_{{}, nullptr, 0};
  tokamata::ByteAutomaton automaton_;
};

void check_strings(const TreePtr& tree, const std::vector<std::string>& strings) {
  const test::Note note([&] { return "pattern " + shown(tree); });
  Engine engine(tree);
  for (const std::string& one : strings) {
    const test::Note more([&] { return "text '" + escaped(one) + "'"; });
    CHECK_EQUAL(engine.matches(one), Matching(one).matches(tree));
  }
}

TEST(every_small_tree_accepts_what_it_denotes) {
  const auto trees = small_trees(4);
  const std::vector<std::string> short_ones = all_strings("ab", 4), long_ones = all_strings("ab", 6),
                                 three = all_strings("abc", 4);
  std::size_t place = 0;
  for (std::size_t size = 1; size <= 4; ++size)
    for (const TreePtr& tree : trees[size]) {
      if (size < 4 || test::all_of_them()) {
        check_strings(tree, long_ones);
        check_strings(tree, three);
      } else if (++place % test::one_in(3) == 0) {
        check_strings(tree, short_ones);
      }
    }
}

// The shape of what goes wrong in practice: a lookaround beside something that reads, in a loop.
TEST(lookaround_in_loops_accepts_what_it_denotes) {
  const auto trees = small_trees(2);
  const std::vector<std::string> strings = all_strings("ab", 6);
  std::vector<TreePtr> looks;
  for (std::size_t size = 1; size <= 2; ++size)
    for (const TreePtr& body : trees[size])
      for (const TreePtr& look : {ahead(body), not_ahead(body), behind(body), not_behind(body)}) looks.push_back(look);
  std::size_t place = 0;
  for (const TreePtr& look : looks)
    for (const TreePtr& letter : trees[1])
      for (const TreePtr& other : {text("b"), text("ab"), ahead(text("a")), not_behind(text("a"))})
        for (const auto& [minimum, maximum] :
             {std::pair{0ul, kUnbounded}, {1ul, kUnbounded}, {2ul, 3ul}, {2ul, kUnbounded}, {3ul, 3ul}})
          if (++place % test::one_in(13) == 0) {
            check_strings(repeat(choice({sequence({letter, look}), other}), minimum, maximum), strings);
            check_strings(repeat(sequence({look, choice({letter, other})}), minimum, maximum), strings);
            check_strings(sequence({text("a"), repeat(choice({look, other}), minimum, maximum), text("b")}), strings);
          }
}

TEST(random_trees_accept_what_they_denote) {
  const std::vector<std::string> strings = all_strings("ab", 5);
  const std::uint64_t count = test::drawn(1500);
  const std::vector<TreePtr> leaves = {text("a"),  text("b"), one_of({{'a', 'b'}}), everything(),
                                       text("ab"), text(""),  at_beginning(),       at_end()};
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    Choices choices(seed);
    const auto grown = [&](auto&& self, std::uint32_t size) -> TreePtr {
      if (size <= 1) return choices.of(leaves);
      if (size == 2 || choices.one_in(2)) return choices.of(trees_of_one_part(self(self, size - 1)));
      const std::uint32_t left = choices.between(1, size - 2);
      const TreePtr a = self(self, left), b = self(self, size - 1 - left);
      return choices.of(std::vector<TreePtr>{sequence({a, b}), sequence({a, b}), choice({a, b}), both({a, b})});
    };
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    check_strings(grown(grown, choices.between(5, 12)), strings);
  }
}

// Code points, explicit automata, counts: what the letters a and b do not show.
TEST(random_texts_of_random_trees) {
  generate::Bounds bounds;
  bounds.largest_count = 6;
  bounds.has_operators = true;
  for (std::uint64_t seed = 1; seed <= test::drawn(1500); ++seed) {
    Choices choices(seed);
    const TreePtr tree = generate::tree(choices, choices.between(2, 12), bounds);
    const test::Note note([&] { return "seed " + std::to_string(seed) + ", pattern " + shown(tree); });
    Engine engine(tree);
    for (unsigned round = 0; round < 12; ++round) {
      std::string bytes = generate::text(choices, tree).substr(0, 24);
      if (choices.one_in(3)) bytes += generate::literal(choices, 0, 2);
      if (!bytes.empty() && choices.one_in(3)) bytes.erase(choices.below(static_cast<std::uint32_t>(bytes.size())), 1);
      if (!bytes.empty() && choices.one_in(6))
        bytes[choices.below(static_cast<std::uint32_t>(bytes.size()))] = static_cast<char>(choices.below(256));
      const test::Note more([&] { return "text '" + escaped(bytes) + "'"; });
      CHECK_EQUAL(engine.matches(bytes), Matching(bytes).matches(tree));
    }
  }
}

// ---- the judges, judged -----------------------------------------------------------------------

TEST(the_automaton_of_the_oracle_agrees_with_the_definitions) {
  const auto trees = small_trees(3);
  const std::vector<std::string> strings = all_strings("ab", 4);
  std::size_t left_out = 0, done = 0;
  const auto compare = [&](const TreePtr& tree, const std::vector<std::string>& texts) {
    try {
      const test::Note note([&] { return "pattern " + shown(tree); });
      Language language(tree, 300);
      ++done;
      for (const std::string& one : texts) CHECK_EQUAL(language.matches(one), Matching(one).matches(tree));
    } catch (const TooLarge&) {
      ++left_out;
    }
  };
  std::size_t place = 0;
  for (std::size_t size = 1; size <= 3; ++size)
    for (const TreePtr& tree : trees[size])
      if (size < 3 || ++place % test::one_in(3) == 0) compare(tree, strings);
  generate::Bounds bounds;
  bounds.largest_count = 4;
  bounds.has_operators = true;
  for (std::uint64_t seed = 1; seed <= test::drawn(150); ++seed) {
    Choices choices(seed);
    const TreePtr tree = generate::tree(choices, choices.between(2, 9), bounds);
    std::vector<std::string> texts;
    for (unsigned round = 0; round < 10; ++round) {
      std::string bytes = generate::text(choices, tree).substr(0, 20);
      if (!bytes.empty() && choices.one_in(4))
        bytes[choices.below(static_cast<std::uint32_t>(bytes.size()))] = static_cast<char>(choices.below(256));
      texts.push_back(bytes);
    }
    compare(tree, texts);
  }
  CHECK(8 * left_out < done);
}

// ---- masks ------------------------------------------------------------------------------------

struct Prepared {
  Tokens tokens;
  std::shared_ptr<const tokamata::Vocabulary> vocabulary;
};

std::vector<Prepared> vocabularies() {
  std::vector<Prepared> all;
  for (const std::vector<std::string>& bytes : std::vector<std::vector<std::string>>{
           {"a", "b"}, {"a", "b", "ab", "aba", "bb"}, {"aa", "b", "bab"}, {"ab", "ba", "a"}, {"aa", "aaa", "bb"}}) {
    const Tokens tokens = engine::plain(bytes);
    all.push_back({tokens, engine::vocabulary_of(tokens)});
  }
  const Tokens bytes = engine::with_all_bytes({"ab", "aab", "\xC3\xA9", "a", "bb"});
  all.push_back({bytes, engine::vocabulary_of(bytes)});
  Tokens odd = engine::plain({"a", "b", "ba", "c", "ab", "ab"});  // several stop tokens, a text token among them
  odd.width += 3;
  odd.stop = {3, odd.width - 1};
  all.push_back({odd, engine::vocabulary_of(odd)});
  return all;
}

TEST(every_mask_of_every_small_tree) {
  const auto trees = small_trees(4);
  const std::vector<Prepared> all = vocabularies();
  std::size_t place = 0, left_out = 0;
  for (std::size_t size = 1; size <= 4; ++size) {
    const std::uint64_t stride = size < 3 ? 1 : test::one_in(size == 3 ? 1 : 61);
    for (const TreePtr& tree : trees[size]) {
      ++place;
      if (place % stride != 0) continue;
      const test::Note note([&] { return "pattern " + shown(tree); });
      try {
        // What is complemented is a set of texts beside others (expression.hpp).
        const TreePtr text = oracle::both({oracle::star(oracle::any()), tree});
        Language language(text, 200);
        const auto pattern = engine::expression_of(text);
        for (std::size_t i = 0; i < all.size(); ++i) {
          // The larger trees meet some vocabularies each, in turn: all bytes are many tokens.
          if (size >= 3 && (place / stride + i) % 3 != 0 && !test::all_of_them()) continue;
          const test::Note more([&] { return oracle::shown(all[i].tokens); });
          const TokenGraph graph(language, all[i].tokens);
          const auto constraint = engine::compile_like(graph, pattern, all[i].vocabulary, nullptr);
          if (constraint)
            engine::check_everywhere(constraint, graph, all[i].tokens, size < 3 && (place + i) % test::one_in(1) == 0);
        }
      } catch (const TooLarge&) {
        ++left_out;
      }
    }
  }
  CHECK(left_out < place / 10);
}

}  // namespace
