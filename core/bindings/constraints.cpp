// What is compiled of a pattern, for Python.

#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>

#include "bindings/arrays.hpp"
#include "bindings/bound_constraint.hpp"
#include "bindings/errors.hpp"
#include "bindings/parts.hpp"
#include "expression/expression.hpp"
#include "matching/kept_masks.hpp"
#include "matching/prepare.hpp"
#include "matching/progress.hpp"
#include "repair/token_places.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {

namespace {

// What callers of a pattern share.
struct BoundStates {
  std::shared_ptr<SharedConstraint> states;

  explicit BoundStates(std::shared_ptr<SharedConstraint> made) : states(std::move(made)) {}
  BoundStates(BoundStates&&) = default;
  ~BoundStates() {
    if (!states) return;
    const Released released;  // much may have to be given back
    states.reset();
  }
};

// Everyone gets an array of their own: its shape and dtype can be set, though its bits cannot.
nb::object own_view(const nb::object& array) {
  static PyObject* const name = PyUnicode_InternFromString("view");
  PyObject* const arguments[1] = {array.ptr()};
  PyObject* const result = PyObject_VectorcallMethod(name, arguments, 1, nullptr);
  if (!result) throw nb::python_error();
  return nb::steal(result);
}

nb::typed<nb::tuple, NumberArray<std::uint8_t>, NumberArray<std::int32_t>, NumberArray<std::int64_t>,
          NumberArray<std::int32_t>, NumberArray<std::int32_t>>
make_closed_form(BoundConstraint& bound) {
  ClosedForm form = without_interpreter(bound.shown, [&] { return bound.constraint->closed_form(); });
  return nb::make_tuple(to_array(std::move(form.accepting)), to_array(std::move(form.class_of_token)),
                        to_array(std::move(form.offsets)), to_array(std::move(form.classes)),
                        to_array(std::move(form.targets)));
}

// For the repairs of token sequences: states of their own, since those of the constraint may go while a search waits.
std::shared_ptr<KeptTokenPlaces> token_places(const BoundConstraint& bound) {
  const ConstraintSource& source = *bound.constraint->shared()->source();
  return std::make_shared<KeptTokenPlaces>(std::make_shared<const TokenPattern>(TokenPattern{
      source.pattern, source.vocabulary, source.start_vocabulary, source.control_tokens, source.tokenization}));
}

nb::typed<nb::tuple, std::size_t, bool, double> prepared(BoundConstraint& bound, double seconds,
                                                         const std::shared_ptr<CancelToken>& cancel) {
  const Preparation report =
      without_interpreter(bound.shown, [&] { return prepare(*bound.constraint, seconds, cancel); });
  return nb::make_tuple(report.masks, report.is_finished, report.seconds);
}

nb::bytes kept_masks(BoundConstraint& bound, const std::shared_ptr<CancelToken>& cancel) {
  const std::string bytes =
      without_interpreter(bound.shown, [&] { return KeptMasks(*bound.constraint).bytes(cancel); });
  return nb::bytes(bytes.data(), bytes.size());
}

// The caller holds `bytes`, which do not change.
std::optional<std::size_t> read_masks(BoundConstraint& bound, const nb::bytes& bytes, double seconds,
                                      const std::shared_ptr<CancelToken>& cancel) {
  const std::string_view view(bytes.c_str(), bytes.size());
  return without_interpreter(bound.shown, [&] { return KeptMasks(*bound.constraint).read(view, seconds, cancel); });
}

nb::typed<nb::tuple, std::int64_t, NumberArray<std::int64_t>> progressed(
    BoundConstraint& bound, const nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>& ids,
    const std::vector<std::size_t>& ends) {
  const std::int64_t width = bound.constraint->vocabulary().width();
  std::vector<TokenId> tokens;
  for (std::size_t i = 0; i < ids.shape(0); ++i) {
    if (ids(i) < 0 || ids(i) >= width) throw nb::value_error("a token id outside the vocabulary");
    tokens.push_back({static_cast<std::uint32_t>(ids(i))});
  }
  if (!std::ranges::is_sorted(ends) || (ends.empty() ? 0 : ends.back()) != tokens.size())
    throw nb::value_error("rows that do not cover the ids");
  Progress found = without_interpreter(bound.shown, [&] { return progress(bound.constraint, tokens, ends); });
  return nb::make_tuple(found.at_start, to_array(std::move(found.needed)));
}

// The texts in which a thought has ended, its end tag, the most tokens, those to reserve, and a typical answer.
using BoundThought = std::tuple<ExpressionPtr, nb::bytes, std::optional<TokenCount>, TokenCount, nb::bytes>;

BoundStates compile(const ExpressionPtr& expression, std::shared_ptr<Vocabulary> vocabulary,
                    std::shared_ptr<Vocabulary> start_vocabulary,
                    const std::map<std::string, std::vector<std::uint32_t>>& control_tokens, const Limits& limits,
                    const std::shared_ptr<CancelToken>& cancel, const std::optional<nb::str>& pattern, bool is_pattern,
                    std::shared_ptr<Tokenization> tokenization, const std::optional<BoundThought>& thought) {
  const Shown shown{object_of(pattern), is_pattern};
  ConstraintSource source{expression, std::move(vocabulary), std::move(start_vocabulary)};
  for (const auto& [name, tokens] : control_tokens) {
    std::vector<TokenId>& known = source.control_tokens[name];
    for (const std::uint32_t token : tokens) known.push_back(TokenId{token});
  }
  if (thought) {
    const auto& [ended, end, most, answer, typical] = *thought;
    source.thought = ThoughtPlan{ended,  std::string(end.c_str(), end.size()),         most.value_or(kNoTokens),
                                 answer, std::string(typical.c_str(), typical.size()), tokenization != nullptr};
  }
  source.tokenization = std::move(tokenization);
  return BoundStates(without_interpreter(shown, [&] {
    return std::make_shared<SharedConstraint>(std::make_shared<const ConstraintSource>(std::move(source)), limits,
                                              cancel);
  }));
}

}  // namespace

nb::object BoundConstraint::view(const MaskPtr& mask) {
  const bool is_kept = mask->serial != Mask::kNoSerial;
  if (mask.get() == copied.mask) return own_view(copied.view);
  if (const auto known = views.find(mask->serial); known != views.end() && known->second.mask == mask.get())
    return own_view(known->second.view);
  const std::uint64_t oldest = constraint->oldest_serial();
  while (!views.empty() && views.begin()->first < oldest) views.erase(views.begin());
  const bool is_row = mask->bits.data() != nullptr;
  struct Held {
    MaskPtr mask;
    Words row;  // of a mask that is not kept as one
  };
  auto held = std::make_unique<Held>(Held{mask, is_row ? Words() : mask->bits.row()});
  const void* words = is_row ? mask->bits.data() : held->row.data();
  const std::size_t shape[1] = {mask->bits.size()};
  const nb::capsule capsule(held.release(), [](void* one) noexcept { delete static_cast<Held*>(one); });
  nb::object view = nb::cast(nb::ndarray<nb::numpy, const std::int32_t, nb::ndim<1>>(words, 1, shape, capsule));
  const nb::object own = own_view(view);
  if (!is_kept) return own;
  (is_row ? views[mask->serial] : copied) = {mask.get(), std::move(view)};
  return own;
}

Counts to_dict(const MaskWork& work) {
  nb::dict masks;
  for (std::size_t maker = 0; maker < work.masks.size(); ++maker)
    masks[nb::str(MaskWork::kMakers[maker].data(), MaskWork::kMakers[maker].size())] = work.masks[maker];
  nb::dict all;
  all["masks"] = masks;
  all["known"] = work.known;
  all["alike"] = work.alike;
  all["segments_found"] = work.segments_found;
  all["segments_made"] = work.segments_made;
  all["states"] = work.states;
  all["nodes"] = work.nodes;
  all["alternatives"] = work.alternatives;
  all["unverified"] = work.unverified;
  all["seconds"] = work.seconds;
  all["segment_seconds"] = work.segment_seconds;
  all["unverified_seconds"] = work.unverified_seconds;
  return all;
}

void bind_constraints(nb::module_& m) {
  nb::class_<BoundStates>(
      m, "SharedConstraint",
      R"doc(What is compiled once, for all callers.  A caller's limits and cancel token are not kept.)doc",
      nb::is_weak_referenceable())
      .def(nb::new_(&compile), "expression"_a, "vocabulary"_a, "start_vocabulary"_a.none(), "control_tokens"_a,
           "limits"_a, "cancel"_a.none(), "pattern"_a.none(), "is_pattern"_a, "tokenization"_a.none(),
           "thought"_a.none() = nb::none(),
           R"doc(``thought``: the texts in which it has ended; its end tag; the most tokens that it may have; those
that are reserved for the answer, or 0; a typical answer.)doc")
      .def_prop_ro("compile_seconds", [](const BoundStates& s) { return s.states->compile_seconds(); })
      .def_prop_ro("states", [](const BoundStates& s) { return s.states->state_count(); })
      .def_prop_ro("memory_bytes", [](const BoundStates& s) { return s.states->memory_bytes(); });

  nb::class_<BoundConstraint>(m, "Constraint")
      .def(nb::new_([](const BoundStates& shared, const Limits& limits, std::shared_ptr<CancelToken> cancel,
                       const std::optional<nb::str>& pattern, bool is_pattern, double spent_seconds) {
             return BoundConstraint(
                 std::make_shared<Constraint>(shared.states, limits, std::move(cancel), spent_seconds),
                 {object_of(pattern), is_pattern});
           }),
           "shared"_a, "limits"_a, "cancel"_a.none(), "pattern"_a.none(), "is_pattern"_a, "spent_seconds"_a,
           R"doc(One caller's: with limits, a cancel token, and a pattern for errors.

``spent_seconds``: the time that compiling took this caller; 0 where another one had compiled it.)doc")
      .def("closed_form", &make_closed_form,
           R"doc(``accepting: uint8[S]``, ``class_of_token: int32[width]``, ``row_offsets: int64[S + 1]``,
``classes: int32[E]`` and ``targets: int32[E]``; state 0 is the start.)doc")
      .def("token_places", &token_places,
           R"doc(For repairs of token sequences: states of their own, made from the same.)doc")
      .def("prepare", &prepared, "seconds"_a, "cancel"_a.none(),
           R"doc(The number of masks, whether all work was done, and the time in seconds.)doc")
      .def("kept_masks", &kept_masks, "cancel"_a.none(),
           R"doc(The masks that are kept now, with the bytes that lead to their states.)doc")
      .def("read_masks", &read_masks, "bytes"_a, "seconds"_a, "cancel"_a.none(),
           R"doc(Takes masks over; the number of states that got one, or ``None`` where the bytes are damaged.)doc")
      .def("progress", &progressed, "ids"_a, "ends"_a,
           R"doc(Tokens needed at the start, and after each token: -1 once one was refused, -2 after a stop token.

Args:
    ids: ``int64[tokens]``, the rows one after another, each id within the vocabulary.
    ends: where each row ends; the last one at the number of tokens.

Raises:
    ValueError: the arguments are not as above.
    LimitExceeded, Cancelled: the work was stopped.)doc")
      .def(
          "mask_work",
          [](BoundConstraint& c) {
            return to_dict(without_interpreter(c.shown, [&] { return c.constraint->states().mask_work(); }));
          },
          R"doc(What was done for all masks so far, counted by name; ``masks`` by maker.)doc")
      .def_prop_ro("states", [](BoundConstraint& c) { return c.constraint->state_count(); })
      .def_prop_ro("memory_bytes", [](BoundConstraint& c) { return c.constraint->memory_bytes(); });
}

}  // namespace tokamata
