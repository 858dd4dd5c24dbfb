// The parts by themselves: UTF-8 automata, normal forms, the trie, loops, the vocabulary.

#include <set>

#include "amounts.hpp"
#include "common/token_set.hpp"
#include "composition/loops.hpp"
#include "composition/mask.hpp"
#include "engine.hpp"
#include "expression/arena.hpp"
#include "generate.hpp"

namespace {

using namespace oracle;
using tokamata::Arena;
using tokamata::ByteSet;
using tokamata::CodePointAutomaton;
using tokamata::ExpressionId;
using tokamata::Kind;
using tokamata::NodeId;
using tokamata::Pool;
using tokamata::TokenTrie;

// ---- UTF-8 ------------------------------------------------------------------------------------

std::optional<std::uint32_t> run(const CodePointAutomaton& automaton, const std::string& bytes) {
  std::uint32_t state = automaton.start();
  for (const char byte : bytes) {
    const auto value = static_cast<std::uint8_t>(byte);
    const auto* const found = std::find_if(automaton.begin(state), automaton.end(state),
                                           [&](const auto& t) { return t.low <= value && value <= t.high; });
    if (found == automaton.end(state)) return std::nullopt;
    state = found->target;
  }
  return state;
}

CodePointAutomaton automaton_of(const std::vector<Range>& ranges) {
  std::vector<tokamata::CodePointRange> converted;
  for (const auto& [low, high] : ranges) converted.push_back({low, high});
  return CodePointAutomaton(converted);
}

// Every code point there is, in a set with borders everywhere.
TEST(utf8_every_code_point) {
  const std::vector<Range> odd = {
      {0, 0},           {'a', 'z'},        {0x7F, 0x80},       {0x7FF, 0x800},     {0x1234, 0x5678},
      {0xD000, 0xE0FF}, {0xFFFF, 0x10000}, {0x12345, 0x12345}, {0x3FFFF, 0x54321}, {0x10FFFF, 0x10FFFF}};
  for (const auto& ranges : {odd, std::vector<Range>{{0, 0x10FFFF}}}) {
    const CodePointAutomaton automaton = automaton_of(ranges);
    for (std::uint32_t code_point = 0; code_point <= 0x10FFFF; code_point += code_point % 7 == 0 ? 1 : 2) {
      const bool member = meets(ranges, {code_point, code_point});
      const std::optional<std::uint32_t> reached = run(automaton, encoded(code_point));
      if (reached.has_value() != member || (reached && *reached != CodePointAutomaton::kFinal))
        test::fail(__FILE__, __LINE__, "code point " + std::to_string(code_point));
    }
  }
}

// Overlong forms, surrogates, numbers past the last, stray bytes: every string of up to three bytes
// from a set with all the borders, and those of four that begin F0 to F4.
TEST(utf8_what_is_no_encoding_is_refused) {
  const CodePointAutomaton automaton = automaton_of({{0, 0x10FFFF}});
  const std::vector<unsigned> bytes = {0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF,
                                       0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF7, 0xFF};
  const auto visit = [&](auto&& self, const std::string& prefix) -> void {
    for (const unsigned byte : bytes) {
      const std::string text = prefix + static_cast<char>(byte);
      const auto possible = code_points_with_prefix(text);
      const bool expected = possible && meets({{0, 0x10FFFF}}, *possible);
      const std::optional<std::uint32_t> reached = run(automaton, text);
      const test::Note note([&] { return escaped(text); });
      CHECK_EQUAL(reached.has_value(), expected);
      if (!reached) continue;
      CHECK_EQUAL(*reached == CodePointAutomaton::kFinal, is_whole_code_point(text));
      if (*reached != CodePointAutomaton::kFinal) self(self, text);
    }
  };
  visit(visit, "");
}

TEST(utf8_equal_sets_have_equal_automata) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Choices choices(seed);
    std::vector<Range> ranges = generate::ranges(choices);
    std::vector<Range> other = ranges;
    // Written differently: split, doubled, in another order, with surrogates added.
    for (const auto& [low, high] : ranges)
      if (low < high) {
        const std::uint32_t middle = low + choices.below(high - low);
        other.emplace_back(low, middle);
        other.emplace_back(middle + 1, high);
      }
    other.emplace_back(0xD800, 0xDFFF);
    std::reverse(other.begin(), other.end());
    const CodePointAutomaton a = automaton_of(ranges), b = automaton_of(other);
    CHECK(a == b);
    CHECK_EQUAL(a.hash(), b.hash());
    CHECK_EQUAL(a.empty(), !meets(ranges, {0, 0x10FFFF}));
    for (unsigned byte = 0; byte < 256; ++byte) {  // full blocks
      const auto block = code_points_with_prefix(std::string(1, static_cast<char>(byte)));
      bool full = block && meets({{0, 0x10FFFF}}, *block);
      if (full)
        for (std::uint32_t c = block->first; c <= block->second && full; c += 1 + (block->second - block->first) / 9999)
          full = (c >= 0xD800 && c <= 0xDFFF) || meets(ranges, {c, c});
      // A sample of the block only: what the core calls full must be; what it does not must miss one.
      if (a.full_blocks().contains(static_cast<std::uint8_t>(byte))) CHECK(full);
      if (block && block->second - block->first < 9999)
        CHECK_EQUAL(a.full_blocks().contains(static_cast<std::uint8_t>(byte)), full);
    }
  }
  CHECK(!(automaton_of({{'a', 'b'}}) == automaton_of({{'a', 'c'}})));
  CHECK(automaton_of({{0xD800, 0xDFFF}, {0x110000, 0xFFFFFFFF}, {9, 3}}).empty());
}

// ---- normal forms -----------------------------------------------------------------------------

struct Forms {
  Arena arena{ByteSet::range(0, 255), 8, 500};
  tokamata::Budget budget{{}, nullptr, 0};

  ExpressionId operator()(const TreePtr& tree) { return arena.add(*engine::expression_of(tree), budget); }
  ExpressionId after(ExpressionId expression, const std::string& text) {
    for (const char byte : text)
      expression = arena.derivatives().derivative(expression, static_cast<std::uint8_t>(byte), budget);
    return expression;
  }
  std::size_t alternatives(ExpressionId expression) const { return arena.pool().alternatives(expression).size(); }
};

TEST(equal_ways_of_writing_are_one_form) {
  Forms form;
  const TreePtr a = text("a"), b = text("b"), c = text("c");
  CHECK_EQUAL(form(choice({a, b})).value, form(choice({b, a})).value);
  CHECK_EQUAL(form(choice({a, choice({b, c})})).value, form(choice({choice({c, a}), b, a})).value);
  CHECK_EQUAL(form(sequence({sequence({a, b}), c})).value, form(sequence({a, sequence({b, text(""), c})})).value);
  CHECK_EQUAL(form(text("abc")).value, form(sequence({a, b, c})).value);
  CHECK_EQUAL(form(one_of({{'a', 'b'}})).value, form(choice({a, b})).value);
  CHECK_EQUAL(form(repeat(repeat(a, 1, 5), 2, 3)).value, form(repeat(a, 2, 15)).value);
  CHECK_EQUAL(form(repeat(repeat(a, 0, 5), 2, 3)).value, form(repeat(a, 0, 15)).value);
  CHECK_EQUAL(form(repeat(repeat(a, 1, kUnbounded), 2, 3)).value, form(repeat(a, 2, kUnbounded)).value);
  CHECK(form(repeat(repeat(a, 2, 5), 2, 3)).value != form(repeat(a, 4, 15)).value);
  CHECK(form(repeat(repeat(a, 2, 2), 0, 3)).value != form(repeat(a, 0, 6)).value);
  CHECK_EQUAL(form(repeat(a, 1, 1)).value, form(a).value);
  CHECK_EQUAL(form(repeat(a, 0, 0)).value, Pool::kEpsilon.value);
  CHECK_EQUAL(form(repeat(nothing(), 0, 9)).value, Pool::kEpsilon.value);
  CHECK_EQUAL(form(repeat(nothing(), 1, 9)).value, Pool::kEmpty.value);
  CHECK_EQUAL(form(sequence({a, nothing(), b})).value, Pool::kEmpty.value);
  CHECK_EQUAL(form(one_of({{0xD800, 0xDFFF}})).value, Pool::kEmpty.value);
  CHECK_EQUAL(form(choice({})).value, Pool::kEmpty.value);
  CHECK_EQUAL(form(sequence({})).value, Pool::kEpsilon.value);
}

TEST(counts_that_touch_are_joined_and_smaller_ones_dropped) {
  Forms form;
  const TreePtr a = text("a"), b = text("b");
  const auto counted = [&](std::uint64_t minimum, std::uint64_t maximum) {
    return sequence({repeat(a, minimum, maximum), b});
  };
  CHECK_EQUAL(form(choice({counted(0, 3), counted(0, 5)})).value, form(counted(0, 5)).value);
  CHECK_EQUAL(form(choice({counted(2, 3), counted(4, 5)})).value, form(counted(2, 5)).value);
  CHECK_EQUAL(form(choice({counted(2, 3), counted(4, kUnbounded)})).value, form(counted(2, kUnbounded)).value);
  CHECK_EQUAL(form.alternatives(form(choice({counted(2, 3), counted(5, 6)}))), 2u);
  CHECK_EQUAL(form(choice({text(""), repeat(a, 1, 7)})).value, form(repeat(a, 0, 7)).value);
}

TEST(nested_bounds_keep_at_most_two_alternatives) {
  Forms form;
  const TreePtr a = text("a"), b = text("b");
  const ExpressionId start = form(repeat(sequence({repeat(a, 0, 1000), optional(b)}), 0, 1000));
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Choices choices(seed);
    ExpressionId state = start;
    for (unsigned step = 0; step < 400 && state != Pool::kEmpty; ++step) {
      CHECK(form.alternatives(state) <= 2);
      state = form.after(state, choices.one_in(3) ? "b" : "a");
    }
  }
  // As many letters as nested bounds allow leave one alternative behind.
  ExpressionId state = form(repeat(repeat(repeat(a, 1, 1000), 1, 1000), 1, 1000));
  for (unsigned step = 0; step < 100; ++step) state = form.after(state, "a");
  CHECK_EQUAL(form.alternatives(state), 1u);
}

TEST(rows_of_optional_parts_are_one_alternative) {
  Forms form;
  const ExpressionId start = form(sequence({sequence(std::vector<TreePtr>(50, optional(text("a")))), text("b")}));
  CHECK_EQUAL(form.alternatives(form.after(start, "aaa")), 1u);
}

// The state after a text accepts what the oracle says, and is empty when nothing can follow.
TEST(derivatives_are_those_of_the_language) {
  std::vector<TreePtr> trees;
  const TreePtr a = text("a"), b = text("b");
  for (std::uint64_t minimum = 0; minimum < 4; ++minimum)
    for (std::uint64_t maximum = std::max<std::uint64_t>(minimum, 1); maximum < 5; ++maximum)
      for (const TreePtr& body : {repeat(a, 1, 3), repeat(a, 0, 2), repeat(a, 2, 3), repeat(a, 2, 2),
                                  sequence({repeat(a, 0, 3), optional(b)}), choice({a, text("aa"), text("aba")}),
                                  sequence({optional(a), repeat(b, 1, 2), optional(a)})}) {
        trees.push_back(repeat(body, minimum, maximum));
        trees.push_back(sequence({repeat(body, minimum, maximum), b}));
        trees.push_back(star(sequence({a, repeat(body, minimum, kUnbounded)})));
      }
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Choices choices(seed);
    trees.push_back(generate::tree(choices, 8, {6, 150, true}));
  }
  // States of many alternatives, which follow each other's parts and meet the same parts before
  // different ends.
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Choices choices(seed);
    const auto letter = [&] { return text(std::string(1, static_cast<char>('a' + choices.below(2)))); };
    const auto some = [&](auto&& self, std::uint32_t depth) -> TreePtr {
      if (depth == 0) return letter();
      std::vector<TreePtr> items;
      for (std::uint32_t count = choices.between(2, 3); count > 0; --count) {
        const TreePtr item = self(self, depth - 1);
        items.push_back(choices.one_in(3) ? item : repeat(item, 0, choices.between(1, 3)));
      }
      return choices.one_in(3) ? choice(items) : sequence(items);
    };
    trees.push_back(sequence({some(some, 3), letter(), some(some, 1)}));
  }
  for (std::size_t i = 0; i < trees.size(); ++i) try {
      if (generate::unrolled_size(trees[i]) > 2000) continue;
      const test::Note note([&] { return "pattern " + shown(trees[i]); });
      Language language(trees[i], 900);
      Forms form;
      const ExpressionId start = form(trees[i]);
      Choices choices(i);
      for (unsigned round = 0; round < 6; ++round) {
        std::string letters = generate::text(choices, trees[i]).substr(0, 20);
        for (unsigned k = choices.below(8); k > 0; --k) letters.push_back(static_cast<char>('a' + choices.below(2)));
        ExpressionId state = start;
        int expected = language.start();
        std::string read;
        const test::Note more([&] { return "text " + escaped(read); });
        for (std::size_t k = 0;; ++k) {
          CHECK_EQUAL(state == Pool::kEmpty, expected == Language::kDead);
          if (expected == Language::kDead) break;
          CHECK_EQUAL(form.arena.pool().node(state).nullable, language.accepts(expected));
          if (k == letters.size()) break;
          state = form.after(state, letters.substr(k, 1));
          expected = language.next(expected, static_cast<unsigned char>(letters[k]));
          read.push_back(letters[k]);
        }
      }
    } catch (const TooLarge&) {
    }
}

// Each byte of a class has the derivative of the first, and a byte of none has none.
TEST(bytes_of_a_class_have_one_derivative) {
  for (std::uint64_t seed = 1; seed <= test::drawn(400); ++seed) {
    Choices choices(seed);
    const TreePtr tree = generate::tree(choices, choices.between(2, 9), {6, 150, true, true});
    if (generate::unrolled_size(tree) > 2000) continue;
    const test::Note note([&] { return "pattern " + shown(tree); });
    Forms form;
    ExpressionId state = form(tree);
    for (unsigned round = 0; round < 6 && state != Pool::kEmpty; ++round) {
      const tokamata::FirstBytes classes = form.arena.derivatives().first_byte_classes(state);
      const ByteSet representatives = classes.representatives();
      std::vector<ExpressionId> live;
      ExpressionId of_class = Pool::kEmpty;
      bool is_new = true;
      for (unsigned value = 0; value < 256; ++value) {
        const auto byte = static_cast<std::uint8_t>(value);
        is_new = is_new || classes.borders.contains(byte);
        const ExpressionId target = form.arena.derivatives().derivative(state, byte, form.budget);
        if (target != Pool::kEmpty) live.push_back(target);
        CHECK(classes.bytes.contains(byte) || target == Pool::kEmpty);
        CHECK(!representatives.contains(byte) || classes.bytes.contains(byte));
        if (!classes.bytes.contains(byte)) continue;
        CHECK_EQUAL(representatives.contains(byte), is_new);
        if (is_new) of_class = target;
        CHECK_EQUAL(target.value, of_class.value);
        is_new = false;
      }
      state = live.empty() ? Pool::kEmpty : live[choices.below(static_cast<std::uint32_t>(live.size()))];
    }
  }
}

// ax is followed first, since q seems to end it; behind axy and bx is the same, which bx reaches by fewer bytes.
TEST(what_is_met_again_after_fewer_bytes_is_followed_again) {
  Forms form;
  const TreePtr end = text("tttt"), by_ax = sequence({text("ax"), choice({sequence({text("y"), end}), text("q")})});
  const ExpressionId state = form(both({choice({by_ax, sequence({text("bx"), end})}), no(text("axq"))}));
  CHECK_EQUAL(form.arena.derivatives().some_text(state, form.budget).value_or(""), "bxtttt");
}

// Whatever was searched before, a text found is a shortest one.
TEST(texts_found_are_shortest) {
  for (std::uint64_t seed = 1; seed <= test::drawn(300); ++seed) try {
      Choices choices(seed);
      const TreePtr tree = both(
          {generate::tree(choices, 7, {4, 100, true, true}), generate::tree(choices, 7, {4, 100, true}), star(any())});
      if (generate::unrolled_size(tree) > 500) continue;
      const test::Note note([&] { return "pattern " + shown(tree); });
      Forms form;
      std::vector<ExpressionId> states{form(tree)};
      for (std::size_t i = 0; i < states.size() && states.size() < 40; ++i)
        for (const unsigned letter : {0x62u, 0x61u, 0xC3u, 0xA9u, 0x63u})
          if (const ExpressionId next = form.after(states[i], std::string(1, static_cast<char>(letter)));
              next != Pool::kEmpty && std::ranges::find(states, next) == states.end())
            states.push_back(next);
      for (const ExpressionId state : states) {
        std::optional<std::size_t> least;  // breadth first, by all bytes
        std::vector<ExpressionId> level{state}, met{state};
        for (std::size_t length = 0; !least && !level.empty(); ++length) {
          std::vector<ExpressionId> next;
          for (const ExpressionId at : level) {
            if (form.arena.pool().node(at).nullable) least = length;
            for (unsigned value = 0; value < 256; ++value) {
              const ExpressionId target =
                  form.arena.derivatives().derivative(at, static_cast<std::uint8_t>(value), form.budget);
              if (target == Pool::kEmpty || std::ranges::find(met, target) != met.end()) continue;
              met.push_back(target);
              next.push_back(target);
            }
          }
          if (met.size() > 400) throw TooLarge{};
          level = std::move(next);
        }
        const std::optional<std::string> found = form.arena.derivatives().some_text(state, form.budget);
        CHECK_EQUAL(found.has_value(), least.has_value());
        if (!found) continue;
        CHECK_EQUAL(found->size(), *least);
        CHECK(form.arena.pool().node(form.after(state, *found)).nullable);
      }
    } catch (const TooLarge&) {
    }
}

// Products of bounds near the end of 64 bits are kept apart, and nothing wraps.
TEST(bounds_of_any_size) {
  const Tokens tokens = engine::with_all_bytes({"aa"});
  const std::uint64_t huge = std::uint64_t{1} << 62;
  for (const std::uint64_t maximum : {huge, kUnbounded - 1, kUnbounded})
    for (const std::uint64_t minimum : {std::uint64_t{0}, std::uint64_t{1}, huge}) {
      const TreePtr tree = sequence({repeat(repeat(repeat(text("a"), 1, huge), 1, huge), minimum, maximum), text("b")});
      tokamata::Matcher matcher(engine::compile(tree, tokens));
      for (unsigned step = 0; step < 20; ++step) {
        const auto mask = matcher.mask();
        CHECK(mask->bits.contains('a'));
        CHECK_EQUAL(mask->bits.contains('b'), minimum != huge && (minimum != 1 || step != 0));
        CHECK(matcher.advance({'a'}));
        if (minimum == huge) CHECK(!matcher.is_accepting());
      }
    }
}

// ---- the trie ---------------------------------------------------------------------------------

// The drawing in token_trie.hpp.
TEST(trie_is_laid_out_as_drawn) {
  const std::vector<std::string_view> tokens = {"a", "ab", "abc", "b"};
  const TokenTrie trie(tokens);
  CHECK_EQUAL(trie.node_count(), 5u);
  CHECK_EQUAL(trie.longest(), 3u);
  const std::vector<std::uint32_t> order(trie.order().begin(), trie.order().end());
  CHECK(order == (std::vector<std::uint32_t>{0, 1, 2, 3}));
  const auto children = [&](std::uint32_t node) {
    return std::pair(trie.children_begin({node}), trie.children_end({node}));
  };
  CHECK(children(0) == std::pair(1u, 3u));
  CHECK(children(1) == std::pair(3u, 4u));
  CHECK(children(2) == std::pair(4u, 4u));
  CHECK(children(3) == std::pair(4u, 5u));
  CHECK(children(4) == std::pair(5u, 5u));
  CHECK_EQUAL(trie.byte({1}), 'a');
  CHECK_EQUAL(trie.byte({2}), 'b');
  CHECK_EQUAL(trie.byte({3}), 'b');
  CHECK_EQUAL(trie.byte({4}), 'c');
  CHECK_EQUAL(trie.node({1}).tokens_begin, 0u);
  CHECK_EQUAL(trie.node({1}).tokens_end, 3u);
  CHECK_EQUAL(trie.own_end({1}), 1u);
  CHECK_EQUAL(trie.node({3}).tokens_begin, 1u);
  CHECK_EQUAL(trie.node({3}).tokens_end, 3u);
  CHECK_EQUAL(trie.own_end({3}), 2u);
  CHECK_EQUAL(trie.node({1}).height, 2u);
  CHECK(trie.below(trie.node({1})) == (ByteSet::range('b', 'c')));
}

// Every node against its definition: a prefix of tokens, in the order of bytes.
TEST(trie_of_random_tokens) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Choices choices(seed);
    std::vector<std::string> tokens;
    for (std::uint32_t count = choices.below(60); count > 0; --count) {
      std::string token;
      for (std::uint32_t length = choices.below(6); length > 0; --length)
        token.push_back(static_cast<char>(choices.of(std::vector<std::uint32_t>{'a', 'b', 0xFF, 0x80, 0xC3, 0xE2, 0})));
      tokens.insert(tokens.end(), choices.one_in(8) ? 20 : 1, token);  // more duplicates than a node counts
    }
    const std::vector<std::string_view> views(tokens.begin(), tokens.end());
    const TokenTrie trie(views);
    std::set<std::string> prefixes = {""};
    for (const std::string& token : tokens)
      for (std::size_t length = 1; length <= token.size(); ++length) prefixes.insert(token.substr(0, length));
    CHECK_EQUAL(trie.node_count(), prefixes.size());
    std::size_t seen = 0;
    const auto visit = [&](auto&& self, NodeId node, const std::string& prefix) -> void {
      ++seen;
      CHECK(prefixes.contains(prefix));
      std::vector<std::uint32_t> below, own, expected_below, expected_own;
      const auto order = trie.order();
      for (std::uint32_t i = trie.node(node).tokens_begin; i < trie.node(node).tokens_end; ++i)
        (i < trie.own_end(node) ? own : below).push_back(order[i]);
      for (std::uint32_t id = 0; id < tokens.size(); ++id)
        if (!tokens[id].empty() && tokens[id].starts_with(prefix))
          (tokens[id] == prefix ? expected_own : expected_below).push_back(id);
      std::ranges::stable_sort(expected_below, [&](auto x, auto y) { return views[x] < views[y]; });
      CHECK(own == expected_own);
      CHECK(below == expected_below);
      int previous = -1;
      for (std::uint32_t child = trie.children_begin(node); child < trie.children_end(node); ++child) {
        CHECK(trie.byte({child}) > previous);
        previous = trie.byte({child});
        self(self, {child}, prefix + static_cast<char>(trie.byte({child})));
      }
    };
    visit(visit, TokenTrie::root(), "");
    CHECK_EQUAL(seen, prefixes.size());
  }
}

TEST(trie_says_what_is_below_in_code_points) {
  const std::vector<std::string_view> tokens = {"aéb", "a\x80", "c\xC3", "d\xFF", "e😀", "\xA9x"};
  const TokenTrie trie(tokens);
  const auto node = [&](std::string_view path) {
    NodeId at = TokenTrie::root();
    for (const char byte : path) {
      std::uint32_t child = trie.children_begin(at);
      while (trie.byte({child}) != static_cast<std::uint8_t>(byte)) ++child;
      at = {child};
    }
    return trie.node(at);
  };
  const auto set = [](std::initializer_list<unsigned> bytes) {
    ByteSet result;
    for (const unsigned byte : bytes) result.add(static_cast<std::uint8_t>(byte));
    return result;
  };
  CHECK(trie.below(node("a")) == set({0xC3, 'b', TokenTrie::kIrregular}));  // the stray byte of a\x80
  CHECK(trie.below(node("a\xC3")) == set({'b'}));
  CHECK_EQUAL(node("a\xC3").height, 1u);
  CHECK_EQUAL(node("a").height, 2u);
  CHECK(trie.below(node("c")) == set({0xC3}));
  CHECK(trie.below(node("d")) == set({TokenTrie::kIrregular}));
  CHECK(trie.below(node("e")) == set({0xF0}));
  CHECK(trie.below(node("\xA9")) == set({'x'}));
}

// ---- loops ------------------------------------------------------------------------------------

TEST(loops_are_found) {
  Forms form;
  const auto loops = [&](const TreePtr& tree, bool whole_leads = true) {
    return tokamata::loops_of(form.arena, form(tree), whole_leads);
  };
  const TreePtr letters = one_of({{'a', 'z'}}), dot = any();
  // [a-z]{0,9}x|\d+
  const auto two =
      loops(choice({sequence({repeat(letters, 0, 9), text("X")}), repeat(one_of({{'0', '9'}}), 1, kUnbounded)}));
  CHECK_EQUAL(two.size(), 2u);
  for (const auto& loop : two) CHECK_EQUAL(loop.rounds, loop.bytes.contains('a') ? 9u : tokamata::kUnbounded);
  const auto all = loops(star(dot));
  CHECK_EQUAL(all.size(), 1u);
  CHECK_EQUAL(all[0].bytes.size(), 128u + 30 + 16 + 5);
  CHECK_EQUAL(loops(star(dot), false)[0].bytes.size(), 128u);
  CHECK(loops(letters).empty());
  CHECK(loops(star(text("ab"))).empty());
  CHECK(loops(star(sequence({text("a"), optional(text("b"))}))).at(0).bytes == ByteSet::range('a', 'a'));
  // Thousands of alternatives have few loops.
  std::vector<TreePtr> many;
  for (std::uint32_t i = 0; i < 2000; ++i)
    many.push_back(sequence({repeat(one_of({{'a' + i % 20, 'a' + i % 20}}), 0, i + 1), text("!" + std::to_string(i))}));
  CHECK(loops(choice(many)).size() <= 16);
}

// ---- the vocabulary ---------------------------------------------------------------------------

TEST(vocabulary_knows_its_tokens) {
  Tokens tokens;
  tokens.bytes = {"a", std::nullopt, "", "bc", "a", "d"};
  tokens.stop = {5, 9, 5};
  tokens.width = 70;
  const auto vocabulary = engine::vocabulary_of(tokens);
  CHECK_EQUAL(vocabulary->bytes({3}), "bc");
  CHECK_EQUAL(vocabulary->bytes({5}), "");  // a stop token is not text
  CHECK_EQUAL(vocabulary->bytes({69}), "");
  CHECK(vocabulary->is_stop({9}) && vocabulary->is_stop({5}) && !vocabulary->is_stop({0}));
  CHECK_EQUAL(vocabulary->words(), 3u);
  CHECK(vocabulary->single_bytes() == ByteSet::range('a', 'a'));
  CHECK(vocabulary->text_words() == (std::vector<std::uint32_t>{0b011001, 0, 0}));
  tokens.width = 5;
  CHECK_THROWS(std::invalid_argument, engine::vocabulary_of(tokens));
  tokens.width = 9;
  CHECK_THROWS(std::invalid_argument, engine::vocabulary_of(tokens));
}

// ---- sets of tokens ---------------------------------------------------------------------------

TEST(few_tokens_are_listed_and_many_are_bits) {
  constexpr std::size_t kWords = 40;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Choices choices(seed);
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    std::set<std::uint32_t> expected;
    for (std::uint32_t count = choices.below(choices.one_in(2) ? 8 : 200); count > 0; --count)
      expected.insert(choices.below(32 * kWords));
    tokamata::Words row;
    if (choices.one_in(4)) {
      row.assign(kWords, 0);
      tokamata::set_bit(row, 77);
    }
    tokamata::TokenSet set = tokamata::TokenSet::of({expected.begin(), expected.end()}, kWords, row);
    CHECK_EQUAL(set.is_listed(), row.empty() && expected.size() <= tokamata::TokenSet::most_listed(kWords));
    if (!row.empty()) expected.insert(77);
    const tokamata::TokenSet copy = set;
    const auto check = [&] {
      std::set<std::uint32_t> found;
      set.for_each([&](std::uint32_t token) { found.insert(token); });
      CHECK(found == expected);
      const tokamata::Words all = set.row(kWords);
      for (std::uint32_t token = 0; token < 32 * kWords; ++token)
        CHECK_EQUAL(tokamata::has_bit(all, token), expected.contains(token));
    };
    check();
    tokamata::Words gone(kWords, 0);
    for (std::uint32_t token = 0; token < 32 * kWords; token += choices.between(1, 5)) {
      tokamata::set_bit(gone, token);
      expected.erase(token);
    }
    set.remove(gone);
    check();
    CHECK(copy == tokamata::TokenSet::of(copy.listed, kWords, copy.bits ? *copy.bits : tokamata::Words()));
  }
}

// ---- masks ------------------------------------------------------------------------------------

TEST(few_words_are_those_that_are_not_zero) {
  tokamata::Words row(40, 0);
  for (const std::uint32_t token : {3u, 77u, 78u}) tokamata::set_bit(row, token);
  tokamata::MaskBits bits = tokamata::MaskBits::few_of(row);
  bits.remove(3);
  CHECK_EQUAL(bits.first(), 77u);
  bits.remove(77);
  CHECK_EQUAL(bits.first(), 78u);
  CHECK_EQUAL(bits.count(), std::size_t{1});
  bits.set(3);
  CHECK_EQUAL(bits.first(), 3u);
}

}  // namespace
