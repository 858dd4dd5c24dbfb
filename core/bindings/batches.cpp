// Masks of several matchers at once, for Python.

#include "matching/batch.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/arrays.hpp"
#include "bindings/bound_matcher.hpp"
#include "bindings/parts.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {

namespace {

std::vector<std::optional<TokenCount>> checked_budgets(const nb::handle given, std::size_t count) {
  std::vector<std::optional<TokenCount>> budgets;
  if (given.is_none()) return budgets;
  const std::string expected = "a number of tokens or None for each of the " + std::to_string(count) + " matchers";
  const nb::tuple values = items_of("budgets", given, expected.c_str());
  if (nb::len(values) != count) raise_argument("budgets", given, expected.c_str());
  for (const nb::handle value : values)
    budgets.push_back(value.is_none() ? std::nullopt : std::optional(checked_budget(value)));
  return budgets;
}

// Matchers of one vocabulary, and the rows of a mask for them.
struct Batch {
  nb::tuple owners;  // which keeps the matchers
  std::vector<const BoundMatcher*> bound;
  std::vector<Matcher*> matchers;

  explicit Batch(const nb::handle given) : owners(items_of("matchers", given, "a sequence of Matchers")) {
    for (const nb::handle owner : owners) {
      if (!nb::isinstance<BoundMatcher>(owner)) raise_argument("matchers", owner, "a sequence of Matchers");
      bound.push_back(nb::cast<const BoundMatcher*>(owner));
      matchers.push_back(&bound.back()->matcher());
    }
    for (std::size_t i = 1; i < bound.size(); ++i)
      if (&matchers[i]->constraint()->vocabulary() != &vocabulary())
        raise("MaskError", nb::make_tuple("matcher " + std::to_string(i) +
                                          " of the batch has another vocabulary than matcher 0; "
                                          "make one batch for each vocabulary"));
  }
  const Vocabulary& vocabulary() const { return matchers[0]->constraint()->vocabulary(); }

  // The first of at least so many rows.
  std::uint32_t* rows_of(const nb::handle mask, std::size_t count, const char* caller) const {
    const std::string needed = std::string(caller) + " needs a writable contiguous int32 array of at least " +
                               std::to_string(count) + " rows of " + std::to_string(vocabulary().words()) + " words";
    nb::ndarray<std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> rows;
    if (!nb::try_cast(nb::borrow(mask), rows, /*convert=*/false))
      raise("MaskError", nb::make_tuple(needed + "; this is no such array. Make one with allocate_mask()."));
    if (rows.shape(0) < count || rows.shape(1) != vocabulary().words())
      raise("MaskError", nb::make_tuple(needed + "; this one has " + std::to_string(rows.shape(0)) + " of " +
                                        std::to_string(rows.shape(1)) + ". Make one with allocate_mask()."));
    return reinterpret_cast<std::uint32_t*>(rows.data());
  }

  // The error of the first matcher that has one; of several, it says which.
  void raise_first(const std::vector<std::exception_ptr>& errors,
                   const std::vector<std::optional<TokenCount>>& budgets) const {
    for (std::size_t i = 0; i < errors.size(); ++i) {
      if (!errors[i]) continue;
      Shown shown = bound[i]->shown();
      if (!budgets.empty() && budgets[i]) shown.budget = *budgets[i];
      try {
        guarded(shown, [&] { std::rethrow_exception(errors[i]); });
      } catch (nb::python_error& error) {
        if (errors.size() > 1) error.value().attr("item") = "matcher " + std::to_string(i);
        throw;
      }
    }
  }
};

// Whether each row is whole.
NumberArray<std::uint8_t> fill_batch(const nb::handle given, const nb::handle mask, unsigned threads,
                                     const nb::handle given_budgets, const nb::handle deadline_seconds,
                                     const nb::handle given_on_deadline) {
  const Deadline deadline = checked_deadline(deadline_seconds);
  const OnDeadline on_deadline = checked_on_deadline(given_on_deadline);
  const Batch batch(given);
  std::vector<std::uint8_t> is_whole(batch.bound.size());
  if (batch.bound.empty()) return to_array(std::move(is_whole));
  std::uint32_t* const rows = batch.rows_of(mask, batch.bound.size(), "fill_masks");
  const std::vector<std::optional<TokenCount>> budgets = checked_budgets(given_budgets, batch.bound.size());
  std::vector<std::uint32_t*> places;
  for (std::size_t i = 0; i < batch.bound.size(); ++i) places.push_back(rows + i * batch.vocabulary().words());
  const std::vector<std::exception_ptr> errors = without_interpreter(batch.bound[0]->shown(), [&] {
    return fill_masks(batch.matchers, places, threads, budgets, deadline, on_deadline, is_whole);
  });
  batch.raise_first(errors, budgets);
  return to_array(std::move(is_whole));
}

std::vector<std::uint32_t> checked_parents(const nb::handle given, std::size_t count) {
  std::vector<std::uint32_t> parents;
  if (given.is_none()) return parents;
  const std::string expected =
      "for each of the " + std::to_string(count) + " nodes the number of an earlier one, or -1";
  for (const std::int64_t parent : whole_numbers("parents", given, expected.c_str())) {
    if (parent < -1 || parent >= static_cast<std::int64_t>(parents.size()))
      raise_argument("parents", given, expected.c_str());
    parents.push_back(parent < 0 ? Draft::kNoNode : static_cast<std::uint32_t>(parent));
  }
  if (parents.size() != count) raise_argument("parents", given, expected.c_str());
  return parents;
}

// `drafts` and `parents` have an entry for each matcher.  Result: by matcher, whether each node is legal; and whether each
// row is whole.
nb::typed<nb::tuple, nb::typed<nb::list, NumberArray<std::uint8_t>>, NumberArray<std::uint8_t>> fill_drafts(
    const nb::handle given, const nb::handle mask, const nb::list& drafts, const nb::list& parents, unsigned threads,
    const nb::handle given_budgets, bool count_stop, const nb::handle deadline_seconds,
    const nb::handle given_on_deadline) {
  const Deadline deadline = checked_deadline(deadline_seconds);
  const OnDeadline on_deadline = checked_on_deadline(given_on_deadline);
  const Batch batch(given);
  const std::size_t count = batch.bound.size();
  nb::list found;
  std::vector<std::uint8_t> is_whole;
  if (count == 0) return nb::make_tuple(found, to_array(std::move(is_whole)));
  const std::vector<std::optional<TokenCount>> budgets = checked_budgets(given_budgets, count);
  std::vector<std::vector<TokenId>> tokens;
  std::vector<std::vector<std::uint32_t>> trees;
  std::size_t row_count = 0;
  for (std::size_t i = 0; i < count; ++i) {
    tokens.push_back(batch.bound[i]->drafted(drafts[i]));
    trees.push_back(checked_parents(parents[i], tokens.back().size()));
    row_count += tokens.back().size() + 1;
  }
  std::uint32_t* rows = batch.rows_of(mask, row_count, "fill_draft_masks");
  std::vector<DraftRows> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back({{tokens[i], trees[i]}, budgets.empty() ? std::nullopt : budgets[i], rows});
    rows += (tokens[i].size() + 1) * batch.vocabulary().words();
  }
  const std::vector<std::exception_ptr> errors = without_interpreter(batch.bound[0]->shown(), [&] {
    return fill_draft_masks(batch.matchers, all, threads, count_stop, deadline, on_deadline);
  });
  batch.raise_first(errors, budgets);
  for (const DraftRows& one : all) {
    found.append(to_array(std::vector<std::uint8_t>(one.legal.begin(), one.legal.end())));
    is_whole.insert(is_whole.end(), one.whole.begin(), one.whole.end());
  }
  return nb::make_tuple(found, to_array(std::move(is_whole)));
}

}  // namespace

void bind_batches(nb::module_& m) {
  m.def("fill_masks", &fill_batch, "matchers"_a.none(), "mask"_a.none(), "threads"_a, "budgets"_a.none() = nb::none(),
        "deadline_seconds"_a.none() = nb::none(), "on_deadline"_a.none() = "error",
        nb::sig("def fill_masks(matchers: collections.abc.Sequence[Matcher], mask: typing.Any, threads: int, budgets: "
                "collections.abc.Sequence[int | None] | None=None, deadline_seconds: float | None=None, on_deadline: "
                "typing.Literal['error', 'some']='error') -> numpy.typing.NDArray[numpy.uint8]"),
        R"doc(Row ``i`` of ``mask`` becomes the mask of ``matchers[i]``, within ``budgets[i]``.

Returns whether each row is whole.)doc");

  m.def(
      "fill_draft_masks", &fill_drafts, "matchers"_a.none(), "mask"_a.none(), "drafts"_a, "parents"_a, "threads"_a,
      "budgets"_a.none(), "count_stop"_a, "deadline_seconds"_a.none(), "on_deadline"_a.none(),
      nb::sig("def fill_draft_masks(matchers: collections.abc.Sequence[Matcher], mask: typing.Any, drafts: "
              "list[collections.abc.Sequence[int]], parents: list[collections.abc.Sequence[int] | None], threads: "
              "int, budgets: collections.abc.Sequence[int | None] | None, count_stop: bool, deadline_seconds: float "
              "| None, on_deadline: typing.Literal['error', 'some']) -> tuple[list[numpy.typing.NDArray[numpy.uint8]], "
              "numpy.typing.NDArray[numpy.uint8]]"),
      R"doc(The rows of all drafts, one after another.

Returns which tokens are legal, and whether each row is whole.)doc");
}

}  // namespace tokamata
