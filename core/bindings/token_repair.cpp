// Repairs of token sequences, for Python.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "bindings/errors.hpp"
#include "bindings/parts.hpp"
#include "repair/token_search.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {

namespace {

template <class Number>
using Given = nb::ndarray<const Number, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Number>
std::span<const Number> span_of(const Given<Number>& given) {
  return {given.data(), given.shape(0)};
}

TokenPrices prices_of(EditCost insert, EditCost remove, std::optional<EditCost> replace) { return {insert, remove, replace.value_or(kNoEdit)}; }

// The edits: kind, index of the token that is read or stands after it, the token written.
nb::list edits_of(const std::vector<EditStep>& steps) {
  nb::list edits;
  std::size_t index = 0;
  for (const auto& [kind, token] : steps) {
    if (kind == EditKind::Remove) edits.append(nb::make_tuple("remove", index, nb::none()));
    if (kind == EditKind::Insert) edits.append(nb::make_tuple("insert", index, token));
    if (kind == EditKind::Replace) edits.append(nb::make_tuple("replace", index, token));
    index += kind != EditKind::Insert;
  }
  return edits;
}

}  // namespace

void bind_token_repair(nb::module_& m) {
  nb::class_<TokenEdges>(m, "TokenEdges")
      .def("__init__",
           [](TokenEdges* self, const Given<std::uint8_t>& accepting, const Given<std::int32_t>& class_of_token,
              const Given<std::int64_t>& offsets, const Given<std::int32_t>& classes, const Given<std::int32_t>& targets,
              const Limits& limits, std::shared_ptr<CancelToken> cancel, nb::object pattern) {
             without_interpreter({std::move(pattern), false}, [&] {
               Budget budget(limits, std::move(cancel), 0);
               return new (self) TokenEdges(span_of(accepting), span_of(class_of_token), span_of(offsets), span_of(classes), span_of(targets), budget);
             });
           },
           "accepting"_a, "class_of_token"_a, "row_offsets"_a, "classes"_a, "targets"_a, "limits"_a, "cancel"_a.none(), "pattern"_a)
      .def("accepts",
           [](const TokenEdges& self, const std::vector<std::uint32_t>& tokens) {
             std::uint32_t state = 0;
             for (const std::uint32_t token : tokens) {
               const std::optional<std::uint32_t> target = self.target(state, token);
               if (!target) return false;
               state = *target;
             }
             return self.accepting(state);
           },
           "tokens"_a)
      .def("nearest",
           [](const TokenEdges& self, const std::vector<std::uint32_t>& tokens, EditCost insert, EditCost remove, std::optional<EditCost> replace,
              const Limits& limits, std::shared_ptr<CancelToken> cancel, nb::object pattern) {
             const NearestTokens found = without_interpreter({std::move(pattern), false}, [&] {
               return nearest_tokens(self, tokens, prices_of(insert, remove, replace), limits, std::move(cancel));
             });
             return nb::make_tuple(edits_of(found.steps), found.cost, found.lower_bound, found.expansions);
           },
           "tokens"_a, "insert"_a, "remove"_a, "replace"_a.none(), "limits"_a, "cancel"_a.none(), "pattern"_a)
      .def("least_cost",
           [](const TokenEdges& self, const std::vector<std::uint32_t>& tokens, EditCost insert, EditCost remove, std::optional<EditCost> replace,
              const Limits& limits, std::shared_ptr<CancelToken> cancel, nb::object pattern) {
             return without_interpreter({std::move(pattern), false}, [&] {
               Budget budget(limits, std::move(cancel), 0);
               return least_cost(self, tokens, prices_of(insert, remove, replace), budget);
             });
           },
           "tokens"_a, "insert"_a, "remove"_a, "replace"_a.none(), "limits"_a, "cancel"_a.none(), "pattern"_a);
}

}  // namespace tokamata
