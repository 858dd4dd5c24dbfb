// What expressions, tokens and segments look like to a person.

#include <string>

#include "engine.hpp"
#include "expression/show.hpp"
#include "vocabulary/show.hpp"

namespace {

using namespace engine;
using E = Expression;

std::string shown(const ExpressionPtr& pattern, std::string_view read = "") {
  ByteAutomaton automaton(*pattern, {}, ByteSet::range(0x00, 0xFF), 4, {}, nullptr);
  Budget budget({}, nullptr, 0);
  StateId state = automaton.start();
  for (const char byte : read) state = automaton.next(state, static_cast<std::uint8_t>(byte), budget);
  return show(automaton.arena(), automaton.expression(state));
}

ExpressionPtr letters(char low, char high) {
  return E::code_points({{static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(high)}});
}

TEST(expressions_show_their_structure) {
  CHECK_EQUAL(shown(E::literal("ab\n")), "a·b·\\n");
  CHECK_EQUAL(shown(E::literal("ab\n"), "ab"), "\\n");
  CHECK_EQUAL(shown(E::literal("ab"), "x"), "∅");
  CHECK_EQUAL(shown(E::literal("ab"), "ab"), "ε");
  CHECK_EQUAL(shown(E::repetition(letters('a', 'c'), 2, 5, 0)), "[a-c]{2,5}");
  CHECK_EQUAL(shown(E::repetition(letters('a', 'c'), 2, 5, 0), "a"), "[a-c]{1,4}");
  CHECK_EQUAL(shown(E::repetition(E::literal("ab"), 0, kUnbounded, 0)), "(a·b)*");
  CHECK_EQUAL(shown(E::control_token("<end>")), "<<end>>");
  CHECK_EQUAL(shown(E::strings(StringAutomaton::of_strings({"yes", "no", ""}))), "strings(ε | no | yes)");
  CHECK_EQUAL(shown(E::look_ahead(E::literal("a"))), "(?=a)");
}

TEST(long_expressions_are_cut) {
  ByteAutomaton automaton(*E::literal(std::string(100, 'x')), {}, ByteSet::range(0x00, 0xFF), 4, {}, nullptr);
  const std::string text = show(automaton.arena(), automaton.expression(automaton.start()), 10);
  CHECK(text.size() < 20 && text.ends_with("…"));
}

TEST(bytes_show_as_ranges) {
  CHECK_EQUAL(show(ByteSet::range('a', 'b') | ByteSet::range(0xC3, 0xC3)), "[ab\\xc3]");
  CHECK_EQUAL(show(std::string_view("a\"\\\n\x01é")), "\"a\\\"\\\\\\n\\x01é\"");
}

TEST(segments_show_what_stays_and_what_remains) {
  const auto vocabulary = vocabulary_of(plain({"a", "b\"", "\":", "\",x"}));
  Segment segment;
  segment.inside.listed = {0};
  segment.remainders = TokenTrie(std::vector<std::string_view>{":", ",x"});
  CHECK_EQUAL(show(segment, *vocabulary), "inside 1 tokens: \"a\"; remainders of 2 tokens: \",x\" \":\"");
}

}  // namespace
