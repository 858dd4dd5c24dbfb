// Sets of JSON values for Python: conversion only.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <set>

#include "bindings/parts.hpp"
#include "expression/expression.hpp"
#include "json/canonical_value.hpp"
#include "json/json_rule_set.hpp"
#include "json/leaves.hpp"
#include "json/tagged_members.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {

namespace {

using json::ValueNode;
using json::ValueTable;

using NodeList = nb::typed<nb::list, std::uint32_t>;

// A table under way, and what was handed out of it.
struct TableBuilder {
  std::shared_ptr<ValueTable> table = std::make_shared<ValueTable>();
  std::set<std::string> strings = {};  // that are constants, or stand within one
  bool names_null = false;             // whether null is named as a type or a constant

  std::uint32_t add(ValueTable::Node node) { return table->add(std::move(node)).value; }
  ValueNode node(std::uint32_t number) const {
    if (number >= table->size()) throw nb::index_error("no such node");
    return {number};
  }
  std::vector<ValueNode> nodes(const NodeList& numbers) const {
    std::vector<ValueNode> found;
    found.reserve(numbers.size());
    for (const nb::handle number : numbers) found.push_back(node(nb::cast<std::uint32_t>(number)));
    return found;
  }
};

std::string utf8(nb::handle text);

// Of a value that canonical_of has taken: that bounds its depth.
void note_strings(TableBuilder& builder, nb::handle value) {
  if (PyUnicode_Check(value.ptr())) builder.strings.insert(utf8(value));
  builder.names_null |= value.is_none();
  if (PyList_Check(value.ptr()))
    for (const nb::handle part : nb::borrow<nb::list>(value)) note_strings(builder, part);
  if (PyDict_Check(value.ptr()))
    for (const auto [name, part] : nb::borrow<nb::dict>(value)) note_strings(builder, part);
}

std::string utf8(nb::handle text) {
  Py_ssize_t length = 0;
  const char* const data = PyUnicode_AsUTF8AndSize(text.ptr(), &length);
  if (!data) throw nb::python_error();
  return {data, static_cast<std::size_t>(length)};
}

// A value that json.loads gives, as canonical text.
std::string canonical_of(nb::handle value, unsigned depth) {
  constexpr unsigned kDeepest = 500;
  if (depth > kDeepest) throw nb::value_error("a constant is nested more than 500 deep");
  if (value.is_none()) return "null";
  if (PyBool_Check(value.ptr())) return value.ptr() == Py_True ? "true" : "false";
  if (PyUnicode_Check(value.ptr())) return '"' + json::spelled_string(utf8(value)) + '"';
  const auto joined = [](char open, std::vector<std::string> parts, char close) {
    std::string text(1, open);
    for (std::size_t i = 0; i < parts.size(); ++i) text += (i ? "," : "") + parts[i];
    return text + close;
  };
  if (PyList_Check(value.ptr())) {
    std::vector<std::string> parts;
    for (const nb::handle part : nb::borrow<nb::list>(value)) parts.push_back(canonical_of(part, depth + 1));
    return joined('[', std::move(parts), ']');
  }
  if (PyDict_Check(value.ptr())) {
    std::vector<std::string> parts;
    for (const auto [name, part] : nb::borrow<nb::dict>(value))
      parts.push_back('"' + json::spelled_string(utf8(name)) + "\":" + canonical_of(part, depth + 1));
    std::ranges::sort(parts);
    return joined('{', std::move(parts), '}');
  }
  return json::canonical_value(utf8(PyFloat_Check(value.ptr()) ? nb::repr(value) : nb::str(value)));  // a number
}

std::uint32_t add_constants(TableBuilder& builder, const nb::typed<nb::list, nb::any>& given) {
  constexpr std::size_t kMostListed = 1000;  // that schemas distinguish one by one
  std::vector<std::string> texts;
  std::vector<ValueNode> ways;
  for (const nb::handle value : given) {
    if (PyUnicode_Check(value.ptr())) texts.push_back(utf8(value));
    else ways.push_back(json::add_constant(canonical_of(value, 0), *builder.table));
    note_strings(builder, value);
  }
  if (!texts.empty()) {
    std::vector<std::string_view> views(texts.begin(), texts.end());
    ValueTable::Values values;
    if (texts.size() <= kMostListed)
      for (const std::string& text : texts) values.push_back('"' + json::spelled_string(text) + '"');
    const json::LanguageId language =
        builder.table->language(Expression::strings(StringAutomaton::of_strings(std::move(views))));
    ways.push_back(builder.table->add(ValueTable::AllOf{
        {builder.table->add(ValueTable::String{language}), builder.table->add(ValueTable::Types{json::kString})}}));
    if (!values.empty()) builder.table->note_values(ways.back(), std::move(values));
  }
  return ways.size() == 1 ? ways[0].value : builder.add(ValueTable::AnyOf{std::move(ways)});
}

std::uint32_t add_range(TableBuilder& builder, std::optional<std::string> minimum,
                        std::optional<std::string> exclusive_minimum, std::optional<std::string> maximum,
                        std::optional<std::string> exclusive_maximum, std::optional<std::string> multiple_of) {
  std::vector<ValueNode> parts;
  const auto part = [&](json::NumberRange range) {
    json::number_texts(range, false, false, json::Spelling::Any);  // throws where they are not numbers, or too long
    parts.push_back(builder.table->add(ValueTable::Number{std::move(range)}));
  };
  json::NumberRange range;
  range.multiple_of = std::move(multiple_of);
  range.exclusive_minimum = !minimum && exclusive_minimum;
  range.exclusive_maximum = !maximum && exclusive_maximum;
  if (minimum && exclusive_minimum) part({.minimum = exclusive_minimum, .exclusive_minimum = true});
  if (maximum && exclusive_maximum) part({.maximum = exclusive_maximum, .exclusive_maximum = true});
  range.minimum = minimum ? std::move(minimum) : std::move(exclusive_minimum);
  range.maximum = maximum ? std::move(maximum) : std::move(exclusive_maximum);
  if (range.minimum || range.maximum || range.multiple_of) part(std::move(range));
  return parts.size() == 1 ? parts[0].value : builder.add(ValueTable::AllOf{std::move(parts)});
}

template <class Style>
Style one_of_names(const std::string& given, std::initializer_list<std::pair<const char*, Style>> names) {
  for (const auto& [name, value] : names)
    if (given == name) return value;
  throw nb::value_error("no such style");
}

}  // namespace

json::Spelling spelling_named(const std::string& name) {
  using json::Spelling;
  return one_of_names<Spelling>(name,
                                {{"plain", Spelling::Plain}, {"natural", Spelling::Natural}, {"any", Spelling::Any}});
}

namespace {

json::Style style_named(const std::string& property_order, const std::string& whitespace, const std::string& spelling,
                        std::optional<std::uint32_t> most_blanks) {
  using namespace json;
  return {
      one_of_names<Whitespace>(
          whitespace, {{"compact", Whitespace::Compact}, {"natural", Whitespace::Natural}, {"any", Whitespace::Any}}),
      one_of_names<PropertyOrder>(property_order, {{"schema", PropertyOrder::Schema}, {"any", PropertyOrder::Any}}),
      spelling_named(spelling), most_blanks.value_or(~std::uint32_t{0})};
}

ExpressionPtr json_texts(const TableBuilder& builder, std::uint32_t root, const std::string& property_order,
                         const std::string& whitespace, const std::string& spelling,
                         std::optional<std::uint32_t> most_blanks, ExpressionPtr within) {
  using namespace json;
  const Style style = style_named(property_order, whitespace, spelling, most_blanks);
  return Expression::grammar(std::make_shared<JsonRuleSet>(std::make_shared<const ValueTable>(*builder.table),
                                                           builder.node(root), style, nullptr, std::move(within)));
}

// The members of the root between tags; `pieces` are those of json/tag_style.hpp.
ExpressionPtr tagged_texts(const TableBuilder& builder, std::uint32_t root, const std::string& property_order,
                           const std::string& whitespace, const std::string& spelling,
                           std::optional<std::uint32_t> most_blanks,
                           const nb::typed<nb::dict, nb::str, nb::any>& pieces) {
  using namespace json;
  const auto table = std::make_shared<ValueTable>(*builder.table);
  const auto expression = [&](const char* name) { return nb::cast<ExpressionPtr>(pieces[name]); };
  const auto optional_expression = [&](const char* name) {
    return pieces[name].is_none() ? nullptr : expression(name);
  };
  auto tags = std::make_shared<TagStyle>();
  tags->opening = expression("opening");
  tags->name_end = nb::cast<std::uint8_t>(pieces["name_end"]);
  // Without attributes that say so, what is empty is text, and what begins with an element is an array.
  const bool is_marked = nb::cast<bool>(pieces["is_marked"]);
  const auto distinguished = [&](ValueTable::Node node) {
    return is_marked ? ValueTable::kAny : table->add(std::move(node));
  };
  const ValueNode some_elements = distinguished(ValueTable::ArrayLength{1, kNoMaximum}),
                  some_members = distinguished(ValueTable::PropertyCount{1, kNoMaximum});
  const ValueNode no_item =
      distinguished(ValueTable::Property{table->name(std::string(TaggedMembers::kElement)), ValueTable::kNone});
  const ValueNode no_elements = distinguished(ValueTable::AllOf{{some_members, no_item}});
  for (const nb::handle given : nb::cast<nb::list>(pieces["types"])) {
    const auto type = nb::cast<nb::tuple>(given);
    const auto form =
        one_of_names<TagStyle::Form>(nb::cast<std::string>(type[1]), {{"text", TagStyle::Form::Text},
                                                                      {"json", TagStyle::Form::Json},
                                                                      {"members", TagStyle::Form::Members},
                                                                      {"elements", TagStyle::Form::Elements}});
    const auto mask = nb::cast<std::uint8_t>(type[0]);
    TagStyle::Type made{mask,
                        form,
                        nb::cast<ExpressionPtr>(type[2]),
                        type[3].is_none() ? nullptr : nb::cast<ExpressionPtr>(type[3]),
                        table->add(ValueTable::Types{mask}),
                        ValueTable::kAny,
                        ValueTable::kAny};
    if (form == TagStyle::Form::Elements) made.values_beside_text = some_elements;
    if (form == TagStyle::Form::Members)
      made.values_beside_text = some_members, made.values_beside_elements = no_elements;
    tags->types.push_back(std::move(made));
  }
  tags->after_name = nb::cast<std::string>(pieces["after_name"]);
  tags->closing = expression("closing");
  tags->named_closing = optional_expression("named_closing");
  tags->strings = expression("strings");
  tags->closed_strings = expression("closed_strings");
  tags->trimmed = optional_expression("trimmed");
  tags->misread = nb::cast<std::vector<std::pair<std::uint8_t, ExpressionPtr>>>(pieces["misread"]);
  tags->between = expression("between");
  tags->before = expression("before");
  tags->after = expression("after");
  tags->names = expression("names");
  for (const auto [name, written] : nb::cast<nb::dict>(pieces["written_names"]))
    tags->written_names.emplace(utf8(name), utf8(written));
  const Style style = style_named(property_order, whitespace, spelling, most_blanks);
  return Expression::grammar(
      std::make_shared<JsonRuleSet>(table, builder.node(root), style, std::move(tags), optional_expression("within")));
}

Count maximum_of(std::optional<Count> maximum) { return maximum.value_or(json::kNoMaximum); }

}  // namespace

void bind_json(nb::module_& m) {
  using B = TableBuilder;
  using N = std::uint32_t;
  nb::enum_<json::Type>(m, "JsonType", nb::is_flag(), "Types of JSON values, as bits.")
      .value("NULL", json::kNull)
      .value("FALSE", json::kFalse)
      .value("TRUE", json::kTrue)
      .value("NUMBER", json::kNumber)
      .value("STRING", json::kString)
      .value("ARRAY", json::kArray)
      .value("OBJECT", json::kObject);
  nb::class_<B>(m, "ValueTable", R"doc(Sets of JSON values, as nodes that refer to each other.

Members are as in ``tokamata.patterns.json_schema.table``.  Nodes are numbers; an unknown number raises
``IndexError``.  ``core/json/`` defines the table and its texts.)doc")
      .def(nb::init<>())
      .def("any_value", [](B&) { return ValueTable::kAny.value; })
      .def("no_value", [](B&) { return ValueTable::kNone.value; })
      .def(
          "all_of", [](B& b, const NodeList& nodes) { return b.add(ValueTable::AllOf{b.nodes(nodes)}); }, "nodes"_a)
      .def(
          "any_of", [](B& b, const NodeList& nodes) { return b.add(ValueTable::AnyOf{b.nodes(nodes)}); }, "nodes"_a)
      .def(
          "one_of", [](B& b, const NodeList& nodes) { return b.add(ValueTable::OneOf{b.nodes(nodes)}); }, "nodes"_a)
      .def(
          "negate", [](B& b, N node) { return b.add(ValueTable::Negation{b.node(node)}); }, "node"_a)
      .def(
          "types",
          [](B& b, unsigned mask) {
            b.names_null |= (mask & json::kNull) != 0;
            return b.add(ValueTable::Types{static_cast<std::uint8_t>(mask)});
          },
          "mask"_a)
      .def("integral", [](B& b) { return b.add(ValueTable::Integral{}); })
      .def("number_range", &add_range, "minimum"_a.none(), "exclusive_minimum"_a.none(), "maximum"_a.none(),
           "exclusive_maximum"_a.none(), "multiple_of"_a.none(),
           R"doc(Raises ValueError if a bound is not a number, or has too many digits for exact comparison.)doc")
      .def(
          "string",
          [](B& b, ExpressionPtr language) {
            return b.add(ValueTable::String{b.table->language(std::move(language))});
          },
          "language"_a)
      .def(
          "string_length",
          [](B& b, Count minimum, std::optional<Count> maximum) {
            return b.add(ValueTable::StringLength{minimum, maximum_of(maximum)});
          },
          "minimum"_a, "maximum"_a.none())
      .def(
          "items",
          [](B& b, const NodeList& prefix, N rest) { return b.add(ValueTable::Items{b.nodes(prefix), b.node(rest)}); },
          "prefix"_a, "rest"_a)
      .def(
          "array_length",
          [](B& b, Count minimum, std::optional<Count> maximum) {
            return b.add(ValueTable::ArrayLength{minimum, maximum_of(maximum)});
          },
          "minimum"_a, "maximum"_a.none())
      .def(
          "contains",
          [](B& b, N node, Count minimum, std::optional<Count> maximum) {
            return b.add(ValueTable::Contains{b.node(node), minimum, maximum_of(maximum)});
          },
          "node"_a, "minimum"_a, "maximum"_a.none())
      .def("unique", [](B& b) { return b.add(ValueTable::Unique{}); })
      .def(
          "property",
          [](B& b, const nb::str& name, N node) {
            return b.add(ValueTable::Property{b.table->name(utf8(name)), b.node(node)});
          },
          "name"_a, "node"_a)
      .def(
          "matching",
          [](B& b, ExpressionPtr language, N node) {
            return b.add(ValueTable::Matching{b.table->language(std::move(language)), b.node(node)});
          },
          "language"_a, "node"_a)
      .def(
          "others",
          [](B& b, const nb::typed<nb::list, nb::str>& names, const std::vector<ExpressionPtr>& languages, N node) {
            ValueTable::Others others{{}, {}, b.node(node)};
            for (const nb::handle name : names) others.names.push_back(b.table->name(utf8(name)));
            for (const ExpressionPtr& language : languages) others.languages.push_back(b.table->language(language));
            return b.add(std::move(others));
          },
          "names"_a, "languages"_a, "node"_a)
      .def(
          "has", [](B& b, const nb::str& name) { return b.add(ValueTable::Has{b.table->name(utf8(name))}); }, "name"_a)
      .def(
          "property_count",
          [](B& b, Count minimum, std::optional<Count> maximum) {
            return b.add(ValueTable::PropertyCount{minimum, maximum_of(maximum)});
          },
          "minimum"_a, "maximum"_a.none())
      .def(
          "nested",
          [](B& b, Count depth, std::optional<Count> most_inside) {
            return b.add(ValueTable::Nested{depth, maximum_of(most_inside)});
          },
          "depth"_a, "most_inside"_a.none())
      .def(
          "constant",
          [](B& b, const nb::any& value) {
            const std::uint32_t node = json::add_constant(canonical_of(value, 0), *b.table).value;
            note_strings(b, value);
            return node;
          },
          "value"_a.none())
      .def("constants", &add_constants, "values"_a)
      .def("reserve", [](B& b) { return b.table->reserve().value; })
      .def(
          "define", [](B& b, N number, N node) { b.table->define(b.node(number), b.node(node)); }, "number"_a, "node"_a)
      .def(
          "include",
          [](B& b, const B& other, N root) {
            b.strings.insert(other.strings.begin(), other.strings.end());
            return b.table->include(*other.table, other.node(root)).value;
          },
          "other"_a, "root"_a,
          R"doc(Copies the nodes of another table; returns the number of its ``root`` in this one.)doc")
      .def(
          "words",
          [](const B& b) {
            std::vector<std::string> names;
            for (std::uint32_t name = 0; name < b.table->name_count(); ++name) names.push_back(b.table->text({name}));
            return std::tuple(names, std::vector<std::string>(b.strings.begin(), b.strings.end()), b.names_null);
          },
          R"doc(The names of members, and the strings that are constants, or stand within one.)doc")
      .def("texts", &json_texts, "root"_a, "property_order"_a, "whitespace"_a, "spelling"_a,
           "most_blanks"_a.none() = nb::none(), "within"_a.none() = nb::none(),
           R"doc(The JSON texts of the values of a node, in a style; with no more than so many blanks, one after the
other; ``within``: the spellings of strings and names.)doc")
      .def("tagged_texts", &tagged_texts, "root"_a, "property_order"_a, "whitespace"_a, "spelling"_a,
           "most_blanks"_a.none(), "pieces"_a,
           R"doc(The objects of a node, their members between tags; ``pieces``: json/tag_style.hpp.)doc");
}

}  // namespace tokamata
