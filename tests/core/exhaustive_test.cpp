// Every small pattern with every small vocabulary, at every state that tokens reach.
//
// Patterns: trees over a, b, [ab], concatenation, union, *, ?, +, {0,2}, {1,2}, {2,3}.  A tree of n
// nodes has size n: there are 3, 18, 126, 972, 7992 of sizes 1 to 5.
// Vocabularies: the sets of up to four tokens of length 1 to 3 over a and b, 1471 of them.
// Patterns and vocabularies are closed under exchange of the letters, so that one vocabulary of
// each pair that it exchanges is enough.
// The product of all would take hours; what runs is every vocabulary with every pattern up to
// size 2 and half of those of size 3, and every pattern with a family of vocabularies.  With
// TOKAMATA_EXHAUSTIVE=1 in the environment, nothing is left out up to size 3.

#include "amounts.hpp"
#include "engine.hpp"

namespace {

using namespace oracle;

struct Patterns {
  std::vector<std::vector<TreePtr>> of_size;  // from 1 on

  explicit Patterns(std::size_t largest) : of_size(largest + 1) {
    of_size[1] = {text("a"), text("b"), one_of({{'a', 'b'}})};
    for (std::size_t size = 2; size <= largest; ++size) {
      std::vector<TreePtr>& out = of_size[size];
      for (const TreePtr& body : of_size[size - 1])
        for (const auto& [minimum, maximum] : std::initializer_list<std::pair<std::uint64_t, std::uint64_t>>{
                 {0, kUnbounded}, {1, kUnbounded}, {0, 1}, {0, 2}, {1, 2}, {2, 3}})
          out.push_back(repeat(body, minimum, maximum));
      for (std::size_t left = 1; left + 1 < size; ++left)
        for (const TreePtr& a : of_size[left])
          for (const TreePtr& b : of_size[size - 1 - left]) {
            out.push_back(sequence({a, b}));
            out.push_back(choice({a, b}));
          }
    }
  }
};

struct VocabularyCase {
  Tokens tokens;
  std::shared_ptr<const tokamata::Vocabulary> vocabulary;
};

VocabularyCase prepared(const std::vector<std::string>& bytes) {
  const Tokens tokens = engine::plain(bytes);
  return {tokens, engine::vocabulary_of(tokens)};
}

std::vector<VocabularyCase> all_vocabularies() {
  std::vector<std::string> pool;
  for (const char* a : {"a", "b"}) {
    pool.emplace_back(a);
    for (const char* b : {"a", "b"}) {
      pool.push_back(std::string(a) + b);
      for (const char* c : {"a", "b"}) pool.push_back(std::string(a) + b + c);
    }
  }
  std::ranges::sort(pool);
  const auto exchanged = [](std::vector<std::string> tokens) {
    for (std::string& token : tokens)
      for (char& letter : token) letter = letter == 'a' ? 'b' : 'a';
    std::ranges::sort(tokens);
    return tokens;
  };
  std::vector<VocabularyCase> all;
  std::vector<std::string> chosen;
  const auto choose = [&](auto&& self, std::size_t from) -> void {
    if (chosen <= exchanged(chosen)) all.push_back(prepared(chosen));
    if (chosen.size() == 4) return;
    for (std::size_t i = from; i < pool.size(); ++i) {
      chosen.push_back(pool[i]);
      self(self, i + 1);
      chosen.pop_back();
    }
  };
  choose(choose, 0);
  return all;
}

void compare(const TreePtr& tree, Language& language, const tokamata::ExpressionPtr& pattern,
             const VocabularyCase& prepared) {
  const test::Note note([&] { return "pattern " + shown(tree) + "; " + shown(prepared.tokens); });
  const TokenGraph graph(language, prepared.tokens);
  const auto constraint = engine::compile_like(graph, pattern, prepared.vocabulary, nullptr);
  if (constraint) engine::check_everywhere(constraint, graph, prepared.tokens, false);
}

TEST(every_vocabulary_with_small_patterns) {
  const Patterns patterns(3);
  const std::vector<VocabularyCase> vocabularies = all_vocabularies();
  CHECK(vocabularies.size() > 700);
  std::size_t place = 0;
  for (std::size_t size = 1; size <= 3; ++size)
    for (const TreePtr& tree : patterns.of_size[size]) {
      Language language(tree);
      const auto pattern = engine::expression_of(tree);
      for (const VocabularyCase& one : vocabularies)
        if (size < 3 || place++ % test::one_in(2) == 0) compare(tree, language, pattern, one);
    }
}

TEST(every_pattern_with_a_family_of_vocabularies) {
  const Patterns patterns(5);
  CHECK_EQUAL(patterns.of_size[5].size(), 7992u);
  const std::vector<VocabularyCase> family = {
      prepared({"a", "b"}),        prepared({"a", "b", "ab", "aba"}), prepared({"aa", "b", "bab"}),
      prepared({"ab", "ba", "a"}), prepared({"aa", "aaa", "bb"}),     prepared({"abb", "aa", "b", "ba"}),
  };
  std::size_t place = 0;
  for (std::size_t size = 1; size <= 5; ++size)
    for (const TreePtr& tree : patterns.of_size[size]) {
      Language language(tree);
      const auto pattern = engine::expression_of(tree);
      for (std::size_t i = 0; i < family.size(); ++i)
        // The largest meet three vocabularies each, in turn, and fewer under sanitizers; all the others meet all.
        if (size < 5 || (place + i) % test::one_in(2) == 0) compare(tree, language, pattern, family[i]);
      ++place;
    }
}

// The leaves that the enumeration leaves out: nothing, and the empty text, in every place.
TEST(nothing_and_the_empty_text_everywhere) {
  const Patterns patterns(2);
  const std::vector<VocabularyCase> family = {prepared({}), prepared({"a"}), prepared({"ab", "b"}),
                                              prepared({"a", "b", "ab"})};
  std::vector<TreePtr> trees = {nothing(), text(""), one_of({}), one_of({{0xD800, 0xDFFF}})};
  for (const TreePtr& special : std::vector<TreePtr>(trees))
    for (std::size_t size = 1; size <= 2; ++size)
      for (const TreePtr& other : patterns.of_size[size]) {
        for (const TreePtr& pair : {sequence({special, other}), sequence({other, special}), choice({special, other}),
                                    choice({other, special})}) {
          trees.push_back(pair);
          trees.push_back(repeat(pair, 0, 2));
          trees.push_back(repeat(pair, 2, kUnbounded));
          trees.push_back(sequence({pair, other}));
        }
        trees.push_back(repeat(special, 0, 3));
        trees.push_back(repeat(special, 2, 3));
        trees.push_back(repeat(other, 0, 0));
      }
  for (const TreePtr& tree : trees) {
    Language language(tree);
    const auto pattern = engine::expression_of(tree);
    for (const VocabularyCase& one : family) compare(tree, language, pattern, one);
  }
}

}  // namespace
