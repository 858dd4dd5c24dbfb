// Expressions for Python: what front ends make patterns of.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/errors.hpp"
#include "bindings/parts.hpp"
#include "expression/expression.hpp"
#include "expression/expression_rules.hpp"
#include "expression/shortest_text.hpp"
#include "json/json_spelling.hpp"
#include "json/number_set.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {

namespace {

// A shortest text of the expression, None where it has none.
std::optional<nb::bytes> find_shortest_text(const ExpressionPtr& expression, const Limits& limits,
                                            std::shared_ptr<CancelToken> cancel, const std::optional<nb::str>& pattern,
                                            bool is_pattern) {
  const std::optional<std::string> text = without_interpreter({object_of(pattern), is_pattern}, [&] {
    const ByteSet every_byte = ByteSet::range(0, 0xFF);
    MemoryAccount account;
    const Charge charge(account);
    ByteAutomaton automaton(*expression, {}, every_byte, 1, limits, cancel);
    Budget budget(limits, cancel, 0);
    return shortest_text(automaton, budget);
  });
  if (!text) return std::nullopt;
  return nb::bytes(text->data(), text->size());
}

// Views of the strings, which live as long as the list does and does not change.
ExpressionPtr make_strings(const nb::typed<nb::list, nb::str>& strings) {
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
  nb::class_<Expression>(m, "Expression", R"doc(A pattern in the engine: an immutable tree.)doc")
      .def_prop_ro("depth", &Expression::depth, R"doc(How deep the tree nests.)doc")
      .def_prop_ro(
          "control_tokens",
          [](const Expression& e) {
            return std::vector<std::string>(e.control_tokens().begin(), e.control_tokens().end());
          },
          R"doc(The names of the control tokens in it.)doc")
      .def_prop_ro("sees_edges", &Expression::sees_edges, R"doc(Whether it contains a :func:`one_token`.)doc")
      .def_prop_ro("has_rules", &Expression::has_rules,
                   R"doc(Whether rules are in it, so that its texts need not be a regular set.)doc");
  m.def("empty", [] { return Expression::empty(); }, R"doc(No text at all.)doc");
  m.def("epsilon", [] { return Expression::literal(""); }, R"doc(The empty text.)doc");
  m.def(
      "literal", [](const nb::bytes& data) { return Expression::literal(std::string(data.c_str(), data.size())); },
      "data"_a, R"doc(Exactly these bytes.)doc");
  m.def(
      "code_points",
      [](const std::vector<std::pair<std::uint32_t, std::uint32_t>>& ranges) {
        std::vector<CodePointRange> converted;
        converted.reserve(ranges.size());
        for (const auto& [low, high] : ranges) converted.push_back({low, high});
        return Expression::code_points(std::move(converted));
      },
      "ranges"_a, R"doc(One code point of the inclusive ranges, in UTF-8; surrogates are dropped.)doc");
  m.def(
      "concat", [](std::vector<ExpressionPtr> items) { return Expression::concatenation(std::move(items)); }, "items"_a,
      R"doc(The items in sequence.)doc");
  m.def(
      "union", [](std::vector<ExpressionPtr> items) { return Expression::unite(std::move(items)); }, "items"_a,
      R"doc(Any one of them.)doc");
  m.def(
      "repeat",
      [](ExpressionPtr body, Count minimum, std::optional<Count> maximum, std::int64_t position) {
        return Expression::repetition(std::move(body), minimum, maximum.value_or(kUnbounded), position);
      },
      "body"_a, "minimum"_a, "maximum"_a.none(), "position"_a = -1,
      R"doc(``body``, ``minimum`` to ``maximum`` times; ``None`` means no bound.

``position`` is its offset in the pattern, for errors, or -1.)doc");
  m.def("text", &Expression::text, R"doc(Every valid UTF-8 text.)doc");
  m.def("anything", &Expression::everything,
        R"doc(Every sequence of bytes and control tokens: what lookarounds leave open.)doc");
  m.def(
      "intersect", [](std::vector<ExpressionPtr> items) { return Expression::intersection(std::move(items)); },
      "items"_a, R"doc(The texts of all of them.)doc");
  m.def("complement", &Expression::complement, "body"_a,
        R"doc(Every sequence of :func:`anything` that is not in ``body``.)doc");
  m.def("look_ahead", &Expression::look_ahead, "rest"_a,
        R"doc(Matches the empty text where the rest of the scope is in ``rest``.)doc");
  m.def("look_behind", &Expression::look_behind, "prefix"_a,
        R"doc(Matches the empty text where the text since the beginning of the scope is in ``prefix``.)doc");
  m.def("scope", &Expression::scope, "body"_a, R"doc(``body``, whose lookarounds see only its own text.)doc");
  m.def("strings", &make_strings, "strings"_a, R"doc(One of these strings.)doc");
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
      "text"_a, "limits"_a, "cancel"_a.none(),
      R"doc(Any substring of ``text``, including the empty one; made within the limits.)doc");
  m.def("until", &Expression::until, "phrase"_a, nb::call_guard<Released>(),
        R"doc(Text that ends with ``phrase``, which appears nowhere in it before.)doc");
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
      "integral"_a, "digits_only"_a, "spelling"_a,
      R"doc(The JSON numbers with a value within the bounds, a multiple, and an integer if ``integral``.

Bounds and ``multiple_of`` are decimals in JSON's syntax; values are compared exactly.

Args:
    minimum: the least value; ``None`` means no bound.
    exclusive_minimum: whether the minimum itself is excluded.
    maximum: likewise.
    exclusive_maximum: likewise.
    multiple_of: greater than zero.
    integral: the value is an integer; ``1.0`` and ``1e2`` are.
    digits_only: written as an optional minus and digits alone, and so integral.
    spelling: ``"any"``: every spelling that JSON allows, with exponents of at most four digits;
        ``"plain"``: that of ``json.dumps`` for integers and floats; ``"natural"``: see
        ``core/json/number_set.hpp``.

Raises:
    ValueError: not a JSON number, more than 400 significant digits (18 of ``multiple_of``), or an
        exponent of more than four digits.)doc");
  m.def(
      "spelled_in_json",
      [](const ExpressionPtr& expression, bool any_spelling) {
        const Released released;
        return json::spelled_in_json(expression, any_spelling);
      },
      "expression"_a, "any_spelling"_a,
      R"doc(The texts of ``expression``, spelled as between the quotes of a JSON string.

As ``json.dumps(ensure_ascii=False)`` writes them, or in any spelling that JSON allows: ``\/``,
``\u00E9``, pairs of surrogates, but no lone ones.  Algorithm: ``core/expression/json_spelling.hpp``.

Raises:
    ValueError: the expression has control tokens or token edges.)doc");
  m.def("control_token", &Expression::control_token, "name"_a, R"doc(The control token of that name.)doc");
  m.def(
      "one_token",
      [](const std::vector<std::pair<std::uint8_t, std::uint8_t>>& ranges) {
        return Expression::one_token(byte_set_of(ranges));
      },
      "ranges"_a, R"doc(One text token, from edge to edge, whose bytes are all in the inclusive ranges.)doc");
  nb::exception<RuleSetError>(m, "RuleSetError", PyExc_ValueError).doc() =
      "Expressions that are not a valid set of rules; the message says which of them, and why.";
  m.def("terminal", &Expression::terminal, "body"_a,
        R"doc(``body``, a regular set of texts that is handled as one unit in rules: a string, a number.

It has the texts of ``body``; its segment of a vocabulary is computed once, whatever follows it.)doc");
  m.def("reference", &Expression::reference, "rule"_a,
        R"doc(A text of a rule, by its number; only within :func:`rules`.)doc");
  m.def(
      "rules",
      [](const std::vector<ExpressionPtr>& bodies, const ExpressionPtr& start) {
        return guarded({nb::none(), false}, [&] {
          const Released released;
          return Expression::grammar(std::make_shared<ExpressionRuleSet>(bodies, start));
        });
      },
      "bodies"_a, "start"_a,
      R"doc(The texts of ``start``, which like ``bodies`` may refer to rules: number i is ``bodies[i]``.

Algorithm: ``core/expression/expression_rules.hpp``.

Raises:
    RuleSetError: a rule accepts the empty text, is left recursive, or contains control tokens or token
        edges; a reference names no rule, or is within a complement, an intersection, a lookaround or a
        terminal.)doc");
  m.def("shortest_text", &find_shortest_text, "expression"_a, "limits"_a, "cancel"_a.none(), "pattern"_a.none(),
        "is_pattern"_a, R"doc(A shortest text of the expression; ``None`` if it has none.)doc");
}

}  // namespace tokamata
