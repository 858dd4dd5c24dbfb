// How texts stand in JSON strings: random trees with every operator, judged by undoing the spelling and asking
// matching.hpp about the value.  Python compares with json.dumps and json.loads (test_json_spelling.py).

#include "json/json_spelling.hpp"

#include "amounts.hpp"
#include "engine.hpp"
#include "expression/byte_automaton.hpp"
#include "generate.hpp"
#include "oracle/matching.hpp"

namespace {

using namespace oracle;
using tokamata::Expression;
using tokamata::ExpressionPtr;
using tokamata::json::spelled_in_json;

// The value of a spelling over the letters of these tests; nothing where it is none.
std::optional<std::string> value_of(std::string_view spelling, bool any) {
  std::string value;
  while (!spelling.empty()) {
    const auto take = [&](std::string_view text) {
      if (!spelling.starts_with(text)) return false;
      spelling.remove_prefix(text.size());
      return true;
    };
    if (take("\\\"")) value += '"';
    else if (take("\\\\")) value += '\\';
    else if (take("\\n")) value += '\n';
    else if (any && (take("\\u000a") || take("\\u000A"))) value += '\n';
    else if (any && (take("\\u006e") || take("\\u006E"))) value += 'n';
    else if (spelling[0] == '"' || spelling[0] == '\\' || spelling[0] == '\n') return std::nullopt;
    else value += spelling[0], spelling.remove_prefix(1);
  }
  return value;
}

class Recognizer {
 public:
  explicit Recognizer(const ExpressionPtr& expression)
      : automaton_(*expression, {}, tokamata::ByteSet::range(0, 255), 4, {}, nullptr) {}
  bool matches(const std::string& bytes) {
    tokamata::StateId state = automaton_.start();
    for (const char byte : bytes) state = automaton_.next(state, static_cast<std::uint8_t>(byte), budget_);
    return automaton_.accepting(state);
  }

 private:
  tokamata::Budget budget_{{}, nullptr, 0};
  tokamata::ByteAutomaton automaton_;
};

std::vector<std::string> texts_of(const std::vector<std::string>& pieces, std::size_t longest) {
  std::vector<std::string> all = {""};
  for (std::size_t begin = 0, end = 1, length = 0; length < longest; ++length, begin = end, end = all.size())
    for (std::size_t i = begin; i < end; ++i)
      for (const std::string& piece : pieces) all.push_back(all[i] + piece);
  return all;
}

TEST(random_trees_are_spelled) {
  const std::vector<std::string> spellings = texts_of({"\\", "\"", "n", "a", "\n", "\\n", "\\u000a", "\\u006E"}, 4);
  const std::vector<TreePtr> leaves = {text("a"),
                                       text("n"),
                                       text("\""),
                                       text("\\"),
                                       text("\n"),
                                       any(),
                                       everything(),
                                       text("\\n"),
                                       one_of({{'\\', 'n'}}),
                                       one_of({{0, '!'}, {'o', 0x10FFFF}}),
                                       at_beginning(),
                                       at_end(),
                                       strings({"", "a\\", "\n\"", "n"}),
                                       substrings("\\n\"a\n")};
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Choices choices(seed);
    const auto grown = [&](auto&& self, std::uint32_t size) -> TreePtr {
      if (size <= 1) return choices.of(leaves);
      if (size == 2 || choices.one_in(2)) {
        const TreePtr body = self(self, size - 1);
        return choices.of(std::vector<TreePtr>{star(body), optional(body), repeat(body, 1, 2), repeat(body, 2, 3),
                                               no(body), ahead(body), not_ahead(body), behind(body), not_behind(body),
                                               scope(body)});
      }
      const std::uint32_t left = 1 + choices.below(size - 2);
      const TreePtr a = self(self, left), b = self(self, size - 1 - left);
      return choices.of(std::vector<TreePtr>{sequence({a, b}), choice({a, b}), both({a, b})});
    };
    const TreePtr tree = grown(grown, choices.between(1, 7));
    const test::Note note([&] { return "seed " + std::to_string(seed) + ", pattern " + oracle::shown(tree); });
    for (const bool any_spelling : {false, true}) {
      Recognizer engine(spelled_in_json(engine::expression_of(tree), any_spelling));
      for (const std::string& spelling : spellings) {
        if (!choices.one_in(3)) continue;
        const test::Note more(
            [&] { return "spelling '" + escaped(spelling) + "'" + (any_spelling ? " any" : " plain"); });
        const std::optional<std::string> value = value_of(spelling, any_spelling);
        CHECK_EQUAL(engine.matches(spelling), value && Matching(*value).matches(tree));
      }
    }
  }
}

TEST(automata_of_strings_stay_deterministic_and_in_order) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Choices choices(seed);
    const std::vector<std::string> letters = {"a", "n", "\"", "\\", "\n", "/", "\x0b", "é", "漢", "字", "😀", "😁"};
    std::vector<std::string> all;
    for (unsigned i = 0; i < 8; ++i) {
      all.emplace_back();
      for (unsigned length = choices.below(6); length > 0; --length) all.back() += choices.of(letters);
    }
    tokamata::Budget budget{{}, nullptr, 0};
    const auto given = seed % 2 ? tokamata::StringAutomaton::of_strings({all.begin(), all.end()})
                                : tokamata::StringAutomaton::of_substrings(all[0] + all[1] + all[2], budget);
    for (const bool any_spelling : {false, true}) {
      const auto spelled = spelled_in_json(*given, any_spelling);
      for (std::uint32_t state = 0; state < spelled->state_count(); ++state) {
        unsigned previous = 0;
        CHECK(spelled->accepting(state) || !spelled->transitions(state).empty());
        for (const auto& [byte, target] : spelled->transitions(state)) {
          CHECK(byte >= previous);
          previous = byte + 1u;
          CHECK(target > state && target < spelled->state_count());
        }
      }
    }
  }
}

TEST(rows_of_spelled_classes_are_one_repetition) {
  tokamata::Arena arena{tokamata::ByteSet::range(0, 255), 8, 500};
  tokamata::Budget budget{{}, nullptr, 0};
  const auto form = [&](const TreePtr& tree) {
    return arena.add(*spelled_in_json(engine::expression_of(tree), true), budget).value;
  };
  const TreePtr dot = any();
  CHECK_EQUAL(form(sequence({dot, dot, repeat(dot, 0, 262142), star(dot)})),
              form(repeat(dot, 2, tokamata::kUnbounded)));
}

// A count beside what is of characters says nothing (expression/characters.hpp), and is kept beside everything else.
TEST(counts_of_characters_are_dropped_where_they_say_nothing) {
  const std::vector<TreePtr> leaves = {text("a"),
                                       text("\\n"),
                                       text("\\u000a"),
                                       text("\\u006e"),
                                       text("\\"),
                                       text("\""),
                                       text("\n"),
                                       any(),
                                       one_of({{'a', 0x10FFFF}}),
                                       one_of({{'#', 'Z'}}),
                                       one_of({{0, '!'}}),
                                       text("\\ud83d\\ude00")};
  std::size_t dropped = 0, endless = 0;
  const std::uint64_t count = test::drawn(600);
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    Choices choices(seed);
    const auto grown = [&](auto&& self, std::uint32_t size) -> TreePtr {
      if (size <= 1) return choices.of(leaves);
      if (size == 2 || choices.one_in(3))
        return repeat(self(self, size - 1), choices.below(2),
                      choices.one_in(2) ? oracle::kUnbounded : 1 + choices.below(3));
      const std::uint32_t left = 1 + choices.below(size - 2);
      const TreePtr a = self(self, left), b = self(self, size - 1 - left);
      return choices.one_in(2) ? sequence({a, b}) : choice({a, b});
    };
    const TreePtr tree = grown(grown, choices.between(1, 5));
    const bool any_spelling = choices.one_in(2), is_spelled = choices.one_in(2);
    const test::Note note([&] {
      return "seed " + std::to_string(seed) + ", pattern " + oracle::shown(tree) + (any_spelling ? ", any" : ", plain");
    });
    tokamata::Arena arena{tokamata::ByteSet::range(0, 255), 8, 500};
    tokamata::Budget budget{{}, nullptr, 0};
    const ExpressionPtr character = spelled_in_json(engine::expression_of(any()), any_spelling);
    const auto counted = arena.add(*character, budget);
    arena.derivatives().note_character(counted, budget);
    const auto all = arena.add(*Expression::repetition(character, 0, tokamata::kUnbounded, 0), budget);
    const ExpressionPtr given = engine::expression_of(tree);
    const auto texts = arena.add(is_spelled ? *spelled_in_json(given, any_spelling) : *given, budget);
    std::vector<tokamata::ExpressionId> both{all, texts}, outside{texts, arena.forms().complement(all)};
    const bool is_dropped = arena.forms().intersect(both) == texts;
    dropped += is_dropped;
    const bool is_count =
        arena.pool().node(texts).kind == tokamata::Kind::Repetition && arena.pool().node(texts).body() == counted;
    if (is_spelled && !any_spelling && !is_count) CHECK(is_dropped);
    if (is_dropped) CHECK(!arena.derivatives().some_text(arena.forms().intersect(outside), budget));

    // What is left of all characters without these texts: where it is said to live for ever, it does.
    std::vector<tokamata::ExpressionId> left{all, arena.forms().complement(texts)};
    tokamata::ExpressionId rest = arena.forms().intersect(left);
    if (!arena.string_bounds().characters_but_for_some(rest)) continue;
    ++endless;
    for (unsigned step = 0; step < 8; ++step) {
      CHECK(arena.derivatives().some_text(rest, budget).has_value());
      const std::string read = choices.of<std::string>({"a", "n", "#", "~", "\xC3\xA9", "\\n", "\\\\"});
      for (const char byte : read) rest = arena.derivatives().derivative(rest, static_cast<std::uint8_t>(byte), budget);
    }
  }
  CHECK(6 * dropped < 5 * count);
  CHECK(12 * endless > count);
}

// However little a call may do, the next one goes on where it was stopped, and in the end all is spelled and added.
TEST(a_spelling_goes_on_where_it_was_stopped) {
  using tokamata::Arena, tokamata::Budget, tokamata::Deadline, tokamata::LimitExceeded;
  std::vector<TreePtr> words;
  for (int i = 0; i < 300; ++i) words.push_back(sequence({star(text("a" + std::to_string(i))), text("n")}));
  const ExpressionPtr texts = engine::expression_of(choice(words));
  tokamata::json::JsonSpelling spelling(texts, true);
  Arena arena(tokamata::ByteSet::range(0, 255), 4, 1000);
  Arena::Added added;
  const auto finish = [&](Budget& budget) { return arena.add(*spelling.whole(budget), budget, added); };
  std::size_t calls = 0;
  std::optional<tokamata::ExpressionId> found;
  while (!found) {
    ++calls;  // and so some call gets far enough
    Budget budget({}, nullptr, 0, Deadline::after(1e-6 * static_cast<double>(calls)));
    try {
      found = finish(budget);
    } catch (const LimitExceeded& error) {
      CHECK(error.limit == "deadline_seconds");
    }
  }
  CHECK(calls > 3);
  Budget budget({}, nullptr, 0);
  CHECK(*found == arena.add(*spelled_in_json(texts, true), budget));
}

TEST(what_is_no_text_is_not_spelled) {
  for (const TreePtr& tree :
       {control("<a>"), one_token({{0, 255}}), text("\xc3"), text("\xe9z"), text("\xf4\x90\x80\x80")})
    CHECK_THROWS(std::invalid_argument, spelled_in_json(engine::expression_of(star(tree)), true));
}

}  // namespace
