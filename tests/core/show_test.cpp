// What expressions, tokens and segments look like to a person.

#include <string>

#include "engine.hpp"
#include "expression/expression_rules.hpp"
#include "expression/show.hpp"
#include "json/json_rule_set.hpp"
#include "json/show.hpp"
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

TEST(listed_rules_show_their_bodies) {
  const ExpressionPtr tree = E::reference(0);
  const ExpressionPtr body = E::concatenation({E::literal("("), E::repetition(tree, 0, 3, 0), E::literal(")")});
  const ExpressionPtr pattern = E::grammar(std::make_shared<ExpressionRuleSet>(std::vector{body}, tree));
  CHECK_EQUAL(shown(pattern), "$0\n$0: (·($0){0,3}·)");
}

// An object with an integer `a`, and any `b`.
class Schema {
 public:
  json::ValueNode object() {
    return all({type(json::kObject), property("a", all({type(json::kNumber), table_->add(Table::Integral{})})),
                property("b", Table::kAny), table_->add(Table::Has{table_->name("a")})});
  }
  json::ValueNode array_of(json::ValueNode element) {
    return all({type(json::kArray), table_->add(Table::Items{{}, element}), table_->add(Table::ArrayLength{1, 3})});
  }
  json::ValueNode type(json::Type type) { return table_->add(Table::Types{type}); }
  json::ValueNode all(std::vector<json::ValueNode> items) { return table_->add(Table::AllOf{std::move(items)}); }
  json::ValueNode property(const std::string& name, json::ValueNode value) {
    return table_->add(Table::Property{table_->name(name), value});
  }

  std::string set(json::ValueNode node) const {
    json::SetFormulas formulas(table_, json::Spelling::Natural);
    return json::show(formulas, formulas.set_of(node));
  }
  std::string rules(json::ValueNode root, std::string_view read) const {
    const json::Style style{json::Whitespace::Compact, json::PropertyOrder::Schema, json::Spelling::Plain};
    return shown(E::grammar(std::make_shared<json::JsonRuleSet>(table_, root, style)), read);
  }

  using Table = json::ValueTable;
  std::shared_ptr<Table> table_ = std::make_shared<Table>();
};

TEST(sets_of_values_show_what_is_said_of_each_type) {
  Schema schema;
  using Table = json::ValueTable;
  Table& table = *schema.table_;
  json::NumberRange range;
  range.minimum = "2";
  range.multiple_of = "0.5";
  range.exclusive_minimum = true;
  CHECK_EQUAL(schema.set(Table::kAny), "any");
  CHECK_EQUAL(schema.set(table.add(Table::Types{json::kNull | json::kString})), "null or string");
  CHECK_EQUAL(schema.set(table.add(Table::Number{range})), "number(2!.., multiple of 0.5)");
  CHECK_EQUAL(schema.set(table.add(Table::String{table.language(E::repetition(letters('a', 'z'), 0, kUnbounded, 0))})),
              "texts([a-z]*)");
  CHECK_EQUAL(schema.set(table.add(Table::Negation{table.add(Table::StringLength{2, 5})})), "not(length(2..5))");
  CHECK_EQUAL(schema.set(schema.object()), "all(object, \"a\": all(number, integer), \"b\": any, has \"a\")");
  CHECK_EQUAL(
      schema.set(schema.array_of(schema.object())),
      "all(array, items(rest all(object, \"a\": all(number, integer), \"b\": any, has \"a\")), elements(1..3))");
}

TEST(rules_of_json_show_what_may_follow) {
  Schema schema;
  const json::ValueNode object = schema.object();
  CHECK_EQUAL(schema.rules(object, "{\""), "$2\n$2: name: \"a\" after 0 bytes");
  CHECK(schema.rules(object, "{\"a\":1").ends_with(": members: any"));
  CHECK(schema.rules(schema.array_of(object), "[")
            .ends_with(": elements: all(items(rest all(object, \"a\": all(number, integer), \"b\": any, has \"a\")), "
                       "elements(1..3))"));
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
