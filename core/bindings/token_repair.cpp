// Repairs of token sequences, for Python.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/errors.hpp"
#include "bindings/parts.hpp"
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
  nb::class_<KeptTokenPlaces>(m, "TokenPlaces")
      .def(
          "accepts",
          [](const std::shared_ptr<KeptTokenPlaces>& self, const std::vector<std::uint32_t>& tokens,
             const Limits& limits, std::shared_ptr<CancelToken> cancel, nb::object pattern) {
            return with_places(self, limits, std::move(cancel), std::move(pattern),
                               [&](TokenPlaces& places, Budget& budget) { return places.accepts(tokens, budget); });
          },
          "tokens"_a, "limits"_a, "cancel"_a.none(), "pattern"_a)
      .def(
          "flaw_of_bound",
          [](const std::shared_ptr<KeptTokenPlaces>& self, const std::vector<std::uint32_t>& tokens,
             std::vector<EditCost> insert, std::vector<EditCost> remove,
             const std::vector<std::optional<EditCost>>& replace, const nb::bytes& types, std::uint64_t bound,
             bool is_relaxed, const Limits& limits, std::shared_ptr<CancelToken> cancel, nb::object pattern) {
            const TokenPrices prices = prices_of(std::move(insert), std::move(remove), replace, types);
            return with_places(self, limits, std::move(cancel), std::move(pattern),
                               [&](TokenPlaces& places, Budget& budget) {
                                 return flaw_of_token_bound(places, tokens, prices, bound, is_relaxed, budget);
                               });
          },
          "tokens"_a, "insert"_a, "remove"_a, "replace"_a, "types"_a, "bound"_a, "is_relaxed"_a, "limits"_a,
          "cancel"_a.none(), "pattern"_a);
  nb::class_<BoundTokenSearch>(m, "TokenRepairSearch")
      .def(
          "__init__",
          [](BoundTokenSearch* self, std::shared_ptr<KeptTokenPlaces> places, const Limits& making,
             std::vector<std::uint32_t> tokens, std::vector<EditCost> insert, std::vector<EditCost> remove,
             const std::vector<std::optional<EditCost>>& replace, const nb::bytes& types, std::uint32_t weight,
             const Limits& limits, std::shared_ptr<CancelToken> cancel, nb::object pattern) {
            TokenPrices prices = prices_of(std::move(insert), std::move(remove), replace, types);
            auto search = without_interpreter({pattern, false}, [&] {
              return std::make_shared<TokenRepairSearch>(std::move(places), making, std::move(tokens),
                                                         std::move(prices), weight, limits, std::move(cancel));
            });
            new (self) BoundTokenSearch{std::move(search), std::move(pattern)};
          },
          "places"_a, "making"_a, "tokens"_a, "insert"_a, "remove"_a, "replace"_a, "types"_a, "weight"_a, "limits"_a,
          "cancel"_a.none(), "pattern"_a)
      .def("improve",
           [](const BoundTokenSearch& self) {
             switch (without_interpreter({self.pattern, false}, [&] { return self.search->improve(); })) {
               case TokenRepairSearch::Outcome::Better: return "better";
               case TokenRepairSearch::Outcome::Ended: return "ended";
               default: return "stopped";
             }
           })
      .def_prop_ro("edits", [](const BoundTokenSearch& self) { return edits_of(self.search->best().steps); })
      .def_prop_ro("cost", [](const BoundTokenSearch& self) { return self.search->best().cost.cost; })
      .def_prop_ro("lower_bound", [](const BoundTokenSearch& self) { return self.search->lower_bound(); })
      .def_prop_ro("is_bound_relaxed", [](const BoundTokenSearch& self) { return self.search->is_bound_relaxed(); })
      .def_prop_ro("expansions", [](const BoundTokenSearch& self) { return self.search->expansions(); });
}

}  // namespace tokamata
