// Tables of JSON values made by chance, with every kind of node in them, and tokens that go with JSON.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "choices.hpp"
#include "engine.hpp"
#include "json/json_rule_set.hpp"

namespace engine {

class RandomValues {
 public:
  using Table = json::ValueTable;
  using Node = json::ValueNode;

  explicit RandomValues(Choices& choices) : choices_(choices) {}

  // A rule set of some values in some style.
  ExpressionPtr grammar() {
    table_ = std::make_shared<Table>();
    open_ = {table_->reserve()};
    const Node root = node(4);
    table_->define(open_[0], root);
    return written(
        root, {static_cast<json::Whitespace>(choices_.below(3)), static_cast<json::PropertyOrder>(choices_.below(2)),
               static_cast<json::Spelling>(choices_.below(2))});
  }

  // Lists of strings of a pattern with many turns, and of some characters at most; few patterns have none.
  ExpressionPtr bounded_string() {
    table_ = std::make_shared<Table>();
    std::vector<Node> all{both(json::kString, Table::String{table_->language(pattern(3))}),
                          table_->add(Table::StringLength{choices_.below(3), choices_.between(3, 24)})};
    if (choices_.one_in(3))
      all.push_back(table_->add(Table::Negation{table_->add(Table::String{table_->language(pattern(2))})}));
    return strings(std::move(all), static_cast<json::Spelling>(choices_.below(2)));
  }

  // Lists of strings of a pattern of so many characters at most.
  ExpressionPtr bounded_string(const ExpressionPtr& texts, Count most) {
    table_ = std::make_shared<Table>();
    return strings(
        {both(json::kString, Table::String{table_->language(texts)}), table_->add(Table::StringLength{0, most})},
        json::Spelling::Plain);
  }

  // Lists of strings that are none of some others; of a pattern besides, or of some characters at most.
  ExpressionPtr strings_without_some() {
    table_ = std::make_shared<Table>();
    std::vector<std::string> texts;
    for (std::uint32_t i = choices_.between(2, 8); i > 0; --i) {
      texts.emplace_back();
      for (std::uint32_t k = choices_.below(4); k > 0; --k)
        texts.back() += choices_.of<std::string>({"a", "b", "ab", "abab", "\xC3\xA9", " ", "\"", "\n", "1"});
    }
    const auto automaton = tokamata::StringAutomaton::of_strings({texts.begin(), texts.end()});
    const Node others = table_->add(Table::String{table_->language(Expression::strings(automaton))});
    std::vector<Node> all{table_->add(Table::Types{json::kString}), table_->add(Table::Negation{others})};
    if (choices_.one_in(3)) all.push_back(table_->add(Table::String{table_->language(pattern(2))}));
    if (choices_.one_in(3)) all.push_back(table_->add(Table::StringLength{choices_.below(2), choices_.between(1, 12)}));
    return strings(std::move(all), choices_.one_in(4) ? json::Spelling::Any : json::Spelling::Plain);
  }

  // Objects whose names are none of some.
  ExpressionPtr objects_without_some() {
    table_ = std::make_shared<Table>();
    std::vector<Node> all{table_->add(Table::Types{json::kObject})};
    for (std::uint32_t i = choices_.between(2, 4); i > 0; --i)
      all.push_back(table_->add(Table::Property{name(), leaf()}));
    if (choices_.one_in(2)) all.push_back(table_->add(Table::Matching{language(), leaf()}));
    return written(table_->add(Table::AllOf{std::move(all)}),
                   {static_cast<json::Whitespace>(choices_.below(3)),
                    static_cast<json::PropertyOrder>(choices_.below(2)), json::Spelling::Plain});
  }

  // Values of which a state keeps what was written: elements that must differ, names that are not declared.
  ExpressionPtr kept_values() {
    table_ = std::make_shared<Table>();
    const Node differ = both(json::kArray, Table::Unique{});
    const Node objects = both(json::kObject, Table::Others{{name()}, {}, choices_.one_in(2) ? differ : leaf()});
    return written(
        table_->add(Table::AllOf{{choices_.one_in(2) ? differ : objects,
                                  table_->add(Table::Items{{}, choices_.of<Node>({Table::kAny, differ, objects})})}}),
        {static_cast<json::Whitespace>(choices_.below(3)), static_cast<json::PropertyOrder>(choices_.below(2)),
         json::Spelling::Plain});
  }

  // Objects whose members stand between tags, <a>…</> or <a>…</a>: with attributes that name the type of a value or
  // without, arrays and objects as JSON or between tags too.
  ExpressionPtr tagged() {
    using tokamata::kUnbounded;
    using Form = json::TagStyle::Form;
    table_ = std::make_shared<Table>();
    open_ = {table_->reserve()};
    const Node values = node(3);
    table_->define(open_[0], values);
    const Node root = table_->add(Table::AnyOf{{values, both(json::kObject, Table::Property{name(), open_[0]})}});
    const bool is_marked = choices_.one_in(2), is_nested = choices_.one_in(2), repeats_name = choices_.one_in(3);
    const auto text = [](std::string bytes) { return Expression::literal(std::move(bytes)); };
    auto tags = std::make_shared<json::TagStyle>();
    tags->opening = text("<");
    tags->name_end = '>';
    const Node some_elements = table_->add(Table::ArrayLength{1, json::kNoMaximum}),
               some_members = table_->add(Table::PropertyCount{1, json::kNoMaximum});
    const auto add = [&](std::uint8_t mask, Form form, const std::string& mark) {
      tags->types.push_back({mask, form, text(is_marked ? mark : ""),
                             is_nested ? text("<item>" + (is_marked ? mark : "")) : nullptr,
                             table_->add(Table::Types{mask}), Table::kAny, Table::kAny});
      if (is_marked || (form != Form::Members && form != Form::Elements)) return;
      tags->types.back().values_beside_text = form == Form::Members ? some_members : some_elements;
      const Node no_item = table_->add(Table::Property{table_->name("item"), Table::kNone});
      if (form == Form::Members)
        tags->types.back().values_beside_elements = table_->add(Table::AllOf{{some_members, no_item}});
    };
    constexpr std::uint8_t kSimple = json::kNull | json::kFalse | json::kTrue | json::kNumber;
    add(json::kString, Form::Text, "s");
    add(is_nested ? kSimple : kSimple | json::kArray | json::kObject, Form::Json, "j");
    if (is_nested) add(json::kArray, Form::Elements, "l"), add(json::kObject, Form::Members, "d");
    tags->closing = text(repeats_name ? "</" : "</>");
    tags->after_name = repeats_name ? ">" : "";
    const ExpressionPtr anything = Expression::everything();
    tags->strings = Expression::intersection(
        {Expression::text(), Expression::complement(Expression::concatenation({anything, text("</"), anything}))});
    tags->closed_strings = Expression::concatenation({tags->strings, tags->closing});
    tags->trimmed = choices_.one_in(2) ? text("\n") : nullptr;
    const ExpressionPtr begins_json = Expression::code_points(
        {{'\t', '\n'}, {' ', ' '}, {'-', '-'}, {'0', '9'}, {'[', '['}, {'f', 'f'}, {'n', 'n'}, {'t', 't'}, {'{', '{'}});
    if (!is_marked)
      tags->misread.emplace_back(static_cast<std::uint8_t>(json::kAllTypes & ~json::kString),
                                 Expression::concatenation({begins_json, Expression::text()}));
    tags->between = Expression::repetition(text("\n"), 0, choices_.below(2), -1);
    tags->before = tags->after = text("");
    tags->names = Expression::repetition(Expression::code_points({{'a', 'c'}, {0xE9, 0xE9}}), 1, kUnbounded, -1);
    for (const char* written : {"a", "b", "ab", "\xC3\xA9"}) tags->written_names.emplace(written, written);
    const json::Style style{static_cast<json::Whitespace>(choices_.below(3)),
                            static_cast<json::PropertyOrder>(choices_.below(2)),
                            static_cast<json::Spelling>(choices_.below(2))};
    return Expression::grammar(std::make_shared<json::JsonRuleSet>(table_, root, style, std::move(tags)));
  }

  // Some go a long way within a string.
  static oracle::Tokens tokens() {
    return with_all_bytes({"abababab",
                           "a\xC3\xA9 ba ",
                           "  a  a",
                           "\\n\\n\\n",
                           "bbb",
                           "b\\\"a\"",
                           "{\"",
                           "\":",
                           "\": ",
                           "\",",
                           "\", \"",
                           "\"}",
                           "{}",
                           "[]",
                           "[[",
                           "],",
                           "]}",
                           "}}",
                           "a\"",
                           "ab",
                           "b\":",
                           "\"a",
                           "\"a\":",
                           "\"a\": \"",
                           "true",
                           "null",
                           "fal",
                           "12",
                           ".5",
                           "-1",
                           "1,",
                           "1, ",
                           "0]",
                           "\n ",
                           ",\n",
                           "\n  \"",
                           "{\n",
                           "\\u00",
                           "\\\"",
                           "\xC3\xA9",
                           "\xC3",
                           "\xA9"
                           "a",
                           "\"\xC3",
                           "<a>",
                           "</",
                           "</>",
                           "</><",
                           "</a>",
                           "a</",
                           "<b>\"",
                           "<ab>1</"});
  }

 private:
  Node node(unsigned depth) {
    if (depth == 0 || choices_.one_in(6)) return leaf();
    const auto values = [&](std::uint32_t least, std::uint32_t most) {
      std::vector<Node> found;
      for (std::uint32_t i = choices_.between(least, most); i > 0; --i) found.push_back(node(depth - 1));
      return found;
    };
    switch (choices_.below(13)) {
      case 0: return table_->add(Table::AllOf{values(1, 3)});
      case 1: return table_->add(Table::AnyOf{values(1, 3)});
      case 2: return table_->add(Table::OneOf{values(1, 2)});
      case 3: return table_->add(Table::Negation{node(depth - 1)});
      case 4: return both(json::kArray, Table::Items{values(0, 2), node(depth - 1)});
      case 5: return both(json::kArray, Table::Contains{node(depth - 1), choices_.below(2), count()});
      case 6: return both(json::kArray, Table::Unique{});
      case 7:
        return table_->add(Table::AllOf{
            {both(json::kObject, Table::Property{name(), node(depth - 1)}), table_->add(Table::Has{name()})}});
      case 8: return both(json::kObject, Table::Matching{language(), node(depth - 1)});
      case 9: return both(json::kObject, Table::Others{{name()}, {language()}, node(depth - 1)});
      case 10: return table_->add(Table::Property{name(), node(depth - 1)});
      case 11: return table_->add(Table::Items{{}, open_[0]});
      default: return table_->add(Table::Property{name(), open_[0]});
    }
  }

  Node leaf() {
    switch (choices_.below(9)) {
      case 0: return Table::kAny;
      case 1: return table_->add(Table::Types{static_cast<std::uint8_t>(choices_.between(1, json::kAllTypes))});
      case 2: return table_->add(Table::Integral{});
      case 3:
        return table_->add(
            Table::Number{{.minimum = "-1.5", .maximum = "12", .multiple_of = {}, .exclusive_maximum = true}});
      case 4: return both(json::kString, Table::String{language()});
      case 5: return both(json::kString, Table::StringLength{choices_.below(2), count()});
      case 6: return both(json::kArray, Table::ArrayLength{choices_.below(2), count()});
      case 7: return both(json::kObject, Table::PropertyCount{choices_.below(2), count()});
      default: return both(json::kNumber, Table::Number{{.minimum = {}, .maximum = "3", .multiple_of = "0.5"}});
    }
  }

  // Lists of them, so that there are rules behind each.
  ExpressionPtr strings(std::vector<Node> all, json::Spelling spelling) {
    const Node root = both(json::kArray, Table::Items{{}, table_->add(Table::AllOf{std::move(all)})});
    return written(root, {json::Whitespace::Natural, json::PropertyOrder::Schema, spelling});
  }

  ExpressionPtr written(Node root, json::Style style) const {
    return Expression::grammar(std::make_shared<json::JsonRuleSet>(table_, root, style));
  }

  // Of values of a type alone.
  Node both(std::uint8_t type, Table::Node statement) {
    return table_->add(Table::AllOf{{table_->add(Table::Types{type}), table_->add(std::move(statement))}});
  }
  Count count() { return choices_.one_in(3) ? json::kNoMaximum : choices_.between(1, 3); }
  json::NameId name() { return table_->name(choices_.of<std::string>({"a", "b", "ab", "\xC3\xA9"})); }
  ExpressionPtr pattern(unsigned depth) {
    if (depth == 0 || choices_.one_in(4)) {
      return Expression::code_points(choices_.of<std::vector<CodePointRange>>({{{'a', 'a'}},
                                                                               {{'a', 'b'}, {0xE9, 0xE9}},
                                                                               {{0, 0x10FFFF}},
                                                                               {{' ', ' '}, {'\n', '\n'}},
                                                                               {{'"', '"'}},
                                                                               {{'0', '~'}},
                                                                               {{1, 3}, {'\\', '\\'}}}));
    }
    switch (choices_.below(3)) {
      case 0: return Expression::concatenation({pattern(depth - 1), pattern(depth - 1)});
      case 1: return Expression::unite({pattern(depth - 1), pattern(depth - 1)});
      default:
        return Expression::repetition(pattern(depth - 1), choices_.below(2),
                                      choices_.one_in(2) ? tokamata::kUnbounded : choices_.between(1, 9), 0);
    }
  }
  json::LanguageId language() {
    const ExpressionPtr letters = Expression::code_points({{'a', 'b'}, {0xE9, 0xE9}});
    return table_->language(Expression::repetition(letters, choices_.below(2), count(), 0));
  }

  Choices& choices_;
  std::shared_ptr<Table> table_;
  std::vector<Node> open_;
};

}  // namespace engine
