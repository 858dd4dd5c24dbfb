// Expressions for Python: what front ends make patterns of.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/errors.hpp"
#include "bindings/parts.hpp"
#include "expression/expression_rules.hpp"
#include "expression/shortest_text.hpp"
#include "json/json_spelling.hpp"
#include "json/number_set.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {

namespace {

// A shortest text of the expression, None where it has none.
nb::object find_shortest_text(const ExpressionPtr& expression, const Limits& limits,
                              std::shared_ptr<CancelToken> cancel, nb::object pattern, bool is_pattern) {
  const std::optional<std::string> text = without_interpreter({std::move(pattern), is_pattern}, [&] {
    const ByteSet every_byte = ByteSet::range(0, 0xFF);
    MemoryAccount account;
    const Charge charge(account);
    ByteAutomaton automaton(*expression, {}, every_byte, 1, limits, cancel);
    Budget budget(limits, cancel, 0);
    return shortest_text(automaton, budget);
  });
  return text ? nb::object(nb::bytes(text->data(), text->size())) : nb::none();
}

// Views of the strings, which live as long as the list does and does not change.
ExpressionPtr make_strings(const nb::list& strings) {
  std::vector<std::string_view> views;
  views.reserve(strings.size());
  for (const nb::handle string : strings) {
    Py_ssize_t length = 0;
    const char* const data = PyUnicode_Check(string.ptr()) ? PyUnicode_AsUTF8AndSize(string.ptr(), &length) : nullptr;
    if (!data) {
      if (PyErr_Occurred()) throw nb::python_error();
      throw nb::type_error("strings must be str");
    }
    views.emplace_back(data, static_cast<std::size_t>(length));
  }
  return Expression::strings(StringAutomaton::of_strings(std::move(views)));
}

ByteSet byte_set_of(const std::vector<std::pair<std::uint8_t, std::uint8_t>>& ranges) {
  ByteSet set;
  for (const auto& [low, high] : ranges)
    if (low <= high) set |= ByteSet::range(low, high);
  return set;
}

}  // namespace

void bind_expressions(nb::module_& m) {
  nb::class_<Expression>(m, "Expression")
      .def_prop_ro("depth", &Expression::depth)
      .def_prop_ro("control_tokens",
                   [](const Expression& e) {
                     return std::vector<std::string>(e.control_tokens().begin(), e.control_tokens().end());
                   })
      .def_prop_ro("sees_edges", &Expression::sees_edges)
      .def_prop_ro("has_rules", &Expression::has_rules);
  m.def("empty", [] { return Expression::empty(); });
  m.def("epsilon", [] { return Expression::literal(""); });
  m.def(
      "literal", [](const nb::bytes& data) { return Expression::literal(std::string(data.c_str(), data.size())); },
      "data"_a);
  m.def(
      "code_points",
      [](const std::vector<std::pair<std::uint32_t, std::uint32_t>>& ranges) {
        std::vector<CodePointRange> converted;
        converted.reserve(ranges.size());
        for (const auto& [low, high] : ranges) converted.push_back({low, high});
        return Expression::code_points(std::move(converted));
      },
      "ranges"_a);
  m.def(
      "concat", [](std::vector<ExpressionPtr> items) { return Expression::concatenation(std::move(items)); },
      "items"_a);
  m.def("union", [](std::vector<ExpressionPtr> items) { return Expression::unite(std::move(items)); }, "items"_a);
  m.def(
      "repeat",
      [](ExpressionPtr body, Count minimum, std::optional<Count> maximum, std::int64_t position) {
        return Expression::repetition(std::move(body), minimum, maximum.value_or(kUnbounded), position);
      },
      "body"_a, "minimum"_a, "maximum"_a.none(), "position"_a = -1);
  m.def("text", &Expression::text);
  m.def("anything", &Expression::everything);
  m.def(
      "intersect", [](std::vector<ExpressionPtr> items) { return Expression::intersection(std::move(items)); },
      "items"_a);
  m.def("complement", &Expression::complement, "body"_a);
  m.def("look_ahead", &Expression::look_ahead, "rest"_a);
  m.def("look_behind", &Expression::look_behind, "prefix"_a);
  m.def("scope", &Expression::scope, "body"_a);
  m.def("strings", &make_strings, "strings"_a);
  m.def(
      "substrings",
      [](const nb::str& text, const Limits& limits, std::shared_ptr<CancelToken> cancel) {
        Py_ssize_t length = 0;
        const char* const data = PyUnicode_AsUTF8AndSize(text.ptr(), &length);
        if (!data) throw nb::python_error();
        return without_interpreter({nb::none(), false}, [&] {
          Budget budget(limits, std::move(cancel), 0);  // memory is checked beforehand
          return Expression::strings(StringAutomaton::of_substrings({data, static_cast<std::size_t>(length)}, budget));
        });
      },
      "text"_a, "limits"_a, "cancel"_a.none());
  m.def("until", &Expression::until, "phrase"_a, nb::call_guard<Released>());
  m.def(
      "numbers",
      [](std::optional<std::string> minimum, bool exclusive_minimum, std::optional<std::string> maximum,
         bool exclusive_maximum, std::optional<std::string> multiple_of, bool integral, bool digits_only,
         const std::string& spelling) {
        return Expression::language(std::make_shared<const json::NumberSet>(json::NumberSet::Description{
            std::move(minimum), std::move(maximum), std::move(multiple_of), exclusive_minimum, exclusive_maximum,
            integral, digits_only, spelling_named(spelling)}));
      },
      "minimum"_a.none(), "exclusive_minimum"_a, "maximum"_a.none(), "exclusive_maximum"_a, "multiple_of"_a.none(),
      "integral"_a, "digits_only"_a, "spelling"_a);
  m.def(
      "spelled_in_json",
      [](const ExpressionPtr& expression, bool any_spelling) {
        const Released released;
        return json::spelled_in_json(expression, any_spelling);
      },
      "expression"_a, "any_spelling"_a);
  m.def("control_token", &Expression::control_token, "name"_a);
  m.def(
      "one_token",
      [](const std::vector<std::pair<std::uint8_t, std::uint8_t>>& ranges) {
        return Expression::one_token(byte_set_of(ranges));
      },
      "ranges"_a);
  nb::exception<RuleSetError>(m, "RuleSetError", PyExc_ValueError);
  m.def("terminal", &Expression::terminal, "body"_a);
  m.def("reference", &Expression::reference, "rule"_a);
  m.def(
      "rules",
      [](const std::vector<ExpressionPtr>& bodies, const ExpressionPtr& start) {
        return guarded({nb::none(), false}, [&] {
          const Released released;
          return Expression::grammar(std::make_shared<ExpressionRuleSet>(bodies, start));
        });
      },
      "bodies"_a, "start"_a);
  m.def("shortest_text", &find_shortest_text, "expression"_a, "limits"_a, "cancel"_a.none(), "pattern"_a.none(),
        "is_pattern"_a);
}

}  // namespace tokamata
