// Repairs of token sequences, for Python.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/errors.hpp"
#include "bindings/parts.hpp"
#include "bindings/repair_parts.hpp"
#include "repair/token_search.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {

namespace {

// Costs by type of token, and the type of each token; no bytes: all are of the first.
TokenPrices prices_of(std::vector<EditCost> insert, std::vector<EditCost> remove,
                      const std::vector<std::optional<EditCost>>& replace, const nb::bytes& types) {
  TokenPrices prices{std::move(insert), std::move(remove), {}};
  for (const std::optional<EditCost>& cost : replace) prices.replace.push_back(cost.value_or(kNoEdit));
  prices.types.assign(types.c_str(), types.c_str() + types.size());
  const std::size_t count = prices.types.empty() ? 1 : std::size_t{*std::ranges::max_element(prices.types)} + 1;
  if (prices.insert.size() < count || prices.remove.size() != prices.insert.size() ||
      prices.replace.size() != prices.insert.size())
    throw nb::value_error("each type of token has three costs");
  return prices;
}

// The edits: kind, index of the token that is read or stands after it, the token written.
nb::typed<nb::list, nb::typed<nb::tuple, nb::any, std::size_t, std::optional<std::uint32_t>>> edits_of(
    const std::vector<EditStep>& steps) {
  nb::list edits;
  std::size_t index = 0;
  for (const auto& [kind, token] : steps) {
    if (kind == EditKind::Remove) edits.append(nb::make_tuple(name_of(kind), index, nb::none()));
    if (kind == EditKind::Insert || kind == EditKind::Replace)
      edits.append(nb::make_tuple(name_of(kind), index, token));
    index += kind != EditKind::Insert;
  }
  return edits;
}

// A search, and what its errors show.
struct BoundTokenSearch {
  std::shared_ptr<TokenRepairSearch> search;
  nb::object pattern;
};

// A task with places of their own account, within limits.
template <class Task>
auto with_places(const std::shared_ptr<KeptTokenPlaces>& kept, const Limits& limits,
                 std::shared_ptr<CancelToken> cancel, nb::object pattern, Task&& task) {
  return without_interpreter({std::move(pattern), false}, [&] {
    const BorrowedTokenPlaces borrowed(kept, limits, cancel);
    Budget budget(borrowed.limits_beyond(limits), std::move(cancel), 0);
    return task(borrowed.places(), budget);
  });
}

}  // namespace

void bind_token_repair(nb::module_& m) {
  nb::class_<KeptTokenPlaces>(m, "TokenPlaces",
                              R"doc(Where token sequences of a constraint may stand, as repairs search them; see
``core/repair/token_places.hpp``.  :meth:`Constraint.token_places` makes them.)doc")
      .def(
          "accepts",
          [](const std::shared_ptr<KeptTokenPlaces>& self, const std::vector<std::uint32_t>& tokens,
             const Limits& limits, std::shared_ptr<CancelToken> cancel, nb::str pattern) {
            return with_places(self, limits, std::move(cancel), std::move(pattern),
                               [&](TokenPlaces& places, Budget& budget) { return places.accepts(tokens, budget); });
          },
          "tokens"_a, "limits"_a, "cancel"_a.none(), "pattern"_a,
          R"doc(Whether the constraint accepts a sequence without stop tokens.

Raises:
    LimitExceeded, Cancelled: the work was stopped.)doc")
      .def(
          "flaw_of_bound",
          [](const std::shared_ptr<KeptTokenPlaces>& self, const std::vector<std::uint32_t>& tokens,
             std::vector<EditCost> insert, std::vector<EditCost> remove,
             const std::vector<std::optional<EditCost>>& replace, const nb::bytes& types, std::uint64_t bound,
             bool is_relaxed, const Limits& limits, std::shared_ptr<CancelToken> cancel, nb::str pattern) {
            const TokenPrices prices = prices_of(std::move(insert), std::move(remove), replace, types);
            return with_places(self, limits, std::move(cancel), std::move(pattern),
                               [&](TokenPlaces& places, Budget& budget) {
                                 return flaw_of_token_bound(places, tokens, prices, bound, is_relaxed, budget);
                               });
          },
          "tokens"_a, "insert"_a, "remove"_a, "replace"_a, "types"_a, "bound"_a, "is_relaxed"_a, "limits"_a,
          "cancel"_a.none(), "pattern"_a,
          R"doc(What is wrong with the claim that no repair costs less than ``bound``; empty where it holds.

Args:
    tokens: the sequence that is repaired, without stop tokens at its end.
    insert, remove, replace, types: as :class:`TokenRepairSearch` has them.
    is_relaxed: whether it is claimed of a set that includes the accepted sequences.

Raises:
    LimitExceeded, Cancelled: the work was stopped.)doc");
  nb::class_<BoundTokenSearch>(
      m, "TokenRepairSearch",
      R"doc(The search for the cheapest repair of a token sequence; ``core/repair/token_search.hpp`` has it.

Args:
    places: of the constraint.
    making: limits on what is made before the search, if no repair has made it.
    tokens: the sequence, without stop tokens at its end.
    insert, remove, replace: costs, by type of token; ``None``: such tokens are not replaced.
    types: the type of each id; empty: all are of type 0.
    weight: in hundredths, at least 100.
    limits, cancel: of the search as a whole.
    pattern: the pattern that errors show.

Raises:
    ValueError: a type has no costs.
    LimitExceeded, Cancelled: the work was stopped before there was an answer.)doc")
      .def(
          "__init__",
          [](BoundTokenSearch* self, std::shared_ptr<KeptTokenPlaces> places, const Limits& making,
             std::vector<std::uint32_t> tokens, std::vector<EditCost> insert, std::vector<EditCost> remove,
             const std::vector<std::optional<EditCost>>& replace, const nb::bytes& types, std::uint32_t weight,
             const Limits& limits, std::shared_ptr<CancelToken> cancel, nb::str pattern) {
            TokenPrices prices = prices_of(std::move(insert), std::move(remove), replace, types);
            auto search = without_interpreter({pattern, false}, [&] {
              return std::make_shared<TokenRepairSearch>(std::move(places), making, std::move(tokens),
                                                         std::move(prices), weight, limits, std::move(cancel));
            });
            new (self) BoundTokenSearch{std::move(search), std::move(pattern)};
          },
          "places"_a, "making"_a, "tokens"_a, "insert"_a, "remove"_a, "replace"_a, "types"_a, "weight"_a, "limits"_a,
          "cancel"_a.none(), "pattern"_a)
      .def(
          "improve",
          [](const BoundTokenSearch& self) {
            switch (without_interpreter({self.pattern, false}, [&] { return self.search->improve(); })) {
              case TokenRepairSearch::Outcome::Better: return "better";
              case TokenRepairSearch::Outcome::Ended: return "ended";
              default: return "stopped";
            }
          },
          R"doc(``"better"``: there is a better answer; ``"ended"``: there is none to be found; ``"stopped"``: a
limit was reached.)doc")
      .def_prop_ro(
          "edits", [](const BoundTokenSearch& self) { return edits_of(self.search->best().steps); },
          R"doc(Those of the best answer so far: a name, an index, and the token written.)doc")
      .def_prop_ro(
          "cost", [](const BoundTokenSearch& self) { return self.search->best().cost.cost; },
          R"doc(Of the best answer so far.)doc")
      .def_prop_ro(
          "lower_bound", [](const BoundTokenSearch& self) { return self.search->lower_bound(); },
          R"doc(No answer costs less.)doc")
      .def_prop_ro(
          "is_bound_relaxed", [](const BoundTokenSearch& self) { return self.search->is_bound_relaxed(); },
          R"doc(Whether that is proven of a set that includes the accepted sequences.)doc")
      .def_prop_ro(
          "expansions", [](const BoundTokenSearch& self) { return self.search->expansions(); },
          R"doc(How many nodes were expanded.)doc");
}

}  // namespace tokamata
