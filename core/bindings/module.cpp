// The engine for Python: conversion, the interpreter's lock, and errors.  No decision is made here.
//
// The interpreter's lock is released around everything that may work or wait.  What is known
// already is answered without (the members of Matcher named try_), since releasing it would cost
// more than the answer.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <map>

#include "bindings/arrays.hpp"
#include "bindings/errors.hpp"
#include "bindings/parts.hpp"
#include "matching/batch.hpp"
#include "matching/kept_masks.hpp"
#include "matching/matcher.hpp"
#include "matching/prepare.hpp"
#include "matching/progress.hpp"
#include "repair/token_places.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace tokamata;

namespace {

// ---- vocabulary -------------------------------------------------------------------------------

std::shared_ptr<Vocabulary> make_vocabulary(const nb::typed<nb::list, std::optional<nb::bytes>>& tokens,
                                            std::vector<std::uint32_t> stop, std::uint32_t width) {
  std::vector<std::string_view> views;
  views.reserve(tokens.size());
  for (const nb::handle token : tokens) {
    if (token.is_none()) {
      views.emplace_back();
    } else if (PyBytes_CheckExact(token.ptr())) {
      views.emplace_back(PyBytes_AS_STRING(token.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(token.ptr())));
    } else {
      throw nb::type_error("tokens must be bytes or None");
    }
  }
  // `tokens` is referenced by the caller, so that the views live; but it must not change, and so
  // the interpreter's lock is kept.
  return std::make_shared<Vocabulary>(views, std::move(stop), width);
}

// ---- masks ------------------------------------------------------------------------------------

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

// A constraint of one caller, what it came from, and the views of its masks that were
// handed out and can be handed out again.
struct BoundConstraint {
  std::shared_ptr<Constraint> constraint;
  Shown shown;
  // A mask, which the view holds, and its view.
  struct View {
    const Mask* mask = nullptr;
    nb::object view = {};
  };
  std::map<std::uint64_t, View> views = {};  // by serial, of masks that are kept as rows; some may be of former states
  // Of one mask of few words: its row is a copy that Limits do not count, of a hundred times the memory.
  View copied = {};

  BoundConstraint(std::shared_ptr<Constraint> made, Shown about)
      : constraint(std::move(made)), shown(std::move(about)) {}
  BoundConstraint(BoundConstraint&&) = default;
  ~BoundConstraint() {
    if (!constraint) return;
    const Released released;  // much may have to be given back
    constraint.reset();
  }

  nb::object view(const MaskPtr& mask) {
    const bool is_kept = mask->serial != Mask::kNoSerial;
    if (mask.get() == copied.mask) return view_of(copied.view);
    if (const auto known = views.find(mask->serial); known != views.end() && known->second.mask == mask.get())
      return view_of(known->second.view);
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
    const nb::object own = view_of(view);
    if (!is_kept) return own;
    (is_row ? views[mask->serial] : copied) = {mask.get(), std::move(view)};
    return own;
  }

  // Everyone gets an array of their own: its shape and dtype can be set, though its bits cannot.
  static nb::object view_of(const nb::object& array) {
    static PyObject* const name = PyUnicode_InternFromString("view");
    PyObject* const arguments[1] = {array.ptr()};
    PyObject* const result = PyObject_VectorcallMethod(name, arguments, 1, nullptr);
    if (!result) throw nb::python_error();
    return nb::steal(result);
  }
};

[[noreturn]] void refuse_row(const std::string& what, std::size_t words) {
  raise("MaskError", nb::make_tuple("fill_mask needs one row of a mask, a writable contiguous int32 array of " +
                                    std::to_string(words) + " words; " + what +
                                    ". Make masks with allocate_mask() and pass mask[i]."));
}

void copy_into(const nb::handle row, const Mask& mask) {
  const std::size_t words = mask.bits.size();
  Py_buffer buffer;
  if (PyObject_CheckBuffer(row.ptr())) {
    if (PyObject_GetBuffer(row.ptr(), &buffer, PyBUF_RECORDS) != 0) {
      PyErr_Clear();
      refuse_row("this one is read-only", words);
    }
    std::string fault;
    const std::string_view format = buffer.format ? buffer.format : "B";
    if (buffer.itemsize != 4 || (format != "i" && format != "l")) fault = "this one has another dtype";
    else if (buffer.ndim != 1) fault = "this one has " + std::to_string(buffer.ndim) + " dimensions";
    else if (static_cast<std::size_t>(buffer.shape[0]) != words)
      fault = "this one has " + std::to_string(buffer.shape[0]);
    else if (words > 1 && buffer.strides[0] != 4) fault = "this one is not contiguous";
    else mask.bits.write(static_cast<std::uint32_t*>(buffer.buf));
    PyBuffer_Release(&buffer);
    if (!fault.empty()) refuse_row(fault, words);
    return;
  }
  nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> tensor;
  if (!nb::try_cast(nb::borrow(row), tensor, /*convert=*/false)) refuse_row("this is no such array", words);
  if (tensor.shape(0) != words) refuse_row("this one has " + std::to_string(tensor.shape(0)), words);
  mask.bits.write(reinterpret_cast<std::uint32_t*>(tensor.data()));
}

// ---- matcher ----------------------------------------------------------------------------------

TokenCount checked_budget(const nb::handle tokens) {
  const WholeNumber budget = checked_whole("budget", tokens, "a whole number of tokens, or None");
  if (budget.overflow < 0 || (budget.overflow == 0 && budget.value < 1))
    raise("BudgetError", nb::make_tuple(budget.number));
  return budget.overflow > 0 ? TokenCount{1} << 62 : static_cast<TokenCount>(budget.value);
}

Deadline checked_deadline(const nb::handle given) {
  if (given.is_none()) return {};
  const nb::object seconds =
      nb::module_::import_("tokamata.calls.arguments").attr("checked_number")("deadline_seconds", given, 0);
  return Deadline::after(nb::cast<double>(nb::float_(seconds)));
}

// The items of an argument; an error of its own iterator passes.
nb::tuple items_of(const char* name, const nb::handle given, const char* expected) {
  nb::object all = nb::steal(PySequence_Tuple(given.ptr()));
  if (!all.is_valid()) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
    PyErr_Clear();
    raise_argument(name, given, expected);
  }
  return nb::borrow<nb::tuple>(all);
}

// A sequence of whole numbers; what has more than 64 bits becomes the least of them.
std::vector<std::int64_t> whole_numbers(const char* name, const nb::handle given, const char* expected) {
  std::vector<std::int64_t> numbers;
  for (const nb::handle one : items_of(name, given, expected)) {
    const WholeNumber number = checked_whole(name, one, expected);
    numbers.push_back(number.overflow != 0 ? std::numeric_limits<std::int64_t>::min() : number.value);
  }
  return numbers;
}
std::vector<std::int64_t> token_numbers(const nb::handle given) {
  return whole_numbers("tokens", given, "a sequence of token ids");
}

// Counts by name; `masks` by maker.
using Counts = nb::typed<nb::dict, nb::str, nb::any>;
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

using TokenList = nb::typed<nb::list, std::uint32_t>;

class BoundMatcher {
  template <class Task>
  auto work(Task&& task) {
    return without_interpreter(bound_->shown, task);
  }

 public:
  BoundMatcher(nb::object constraint, const std::vector<std::uint32_t>& context,
               const std::optional<std::vector<std::uint32_t>>& stops, TokenCount least)
      : owner_(std::move(constraint)), bound_(nb::cast<BoundConstraint*>(owner_)), matcher_(work([&] {
          const auto ids = [](const std::vector<std::uint32_t>& numbers) {
            std::vector<TokenId> tokens;
            for (const std::uint32_t token : numbers) tokens.push_back({token});
            return tokens;
          };
          auto made = std::make_unique<Matcher>(bound_->constraint, ids(context));
          if (stops) made->set_stops(ids(*stops));
          if (least > 0) made->set_least(least);
          return made;
        })) {}
  BoundMatcher(const BoundMatcher& other)
      : owner_(other.owner_), bound_(other.bound_), matcher_(work([&other] { return other.matcher_->fork(); })) {}

  MaskPtr current_mask(const Deadline& deadline = {}) {
    if (MaskPtr known = matcher_->try_mask()) return known;
    return work([&] { return matcher_->mask(deadline); });
  }
  void fill_mask(const nb::handle row, const nb::handle tokens, const nb::handle count_stop,
                 const nb::handle deadline_seconds) {
    const bool counts = checked_flag("count_stop", count_stop);
    const Deadline deadline = checked_deadline(deadline_seconds);
    copy_into(row, tokens.is_none() ? *current_mask(deadline) : *mask_within(tokens, counts, deadline));
  }
  MaskPtr mask_within(const nb::handle tokens, bool count_stop, const Deadline& deadline) {
    const TokenCount left = checked_budget(tokens);
    if (MaskPtr known = matcher_->try_mask_within(left, count_stop); known && known->set_bits) return known;
    return without_interpreter({bound_->shown.text, bound_->shown.is_pattern, left},
                               [&] { return matcher_->mask_within(left, count_stop, deadline); });
  }
  TokenList shortest_completion() {
    return to_list(work([&] { return matcher_->shortest_completion(); }));
  }
  nb::object mask() { return bound_->view(current_mask()); }

  bool advance(std::int64_t token) {
    const TokenId id = checked(token);
    if (const std::optional<bool> known = matcher_->try_advance(id)) return *known;
    return work([&] { return matcher_->advance(id); });
  }
  bool advance_all(const nb::handle tokens) {
    std::vector<TokenId> ids;
    for (const std::int64_t token : token_numbers(tokens)) ids.push_back(checked(token));
    return work([&] { return matcher_->advance_all(ids); });
  }
  std::size_t validate(const nb::handle tokens) {
    const std::vector<TokenId> ids = drafted(tokens);
    return work([&] { return matcher_->validate(ids); });
  }
  nb::typed<nb::tuple, Verdict, std::size_t, nb::typed<nb::list, unsigned>, TokenList, nb::typed<nb::list, nb::str>>
  explain(std::int64_t token) {
    const TokenId id = checked(token);
    const Explanation explanation = work([&] { return matcher_->explain(id); });
    nb::list expected;
    for (unsigned byte = 0; byte < 256; ++byte)
      if (explanation.expected.contains(static_cast<std::uint8_t>(byte))) expected.append(byte);
    nb::list awaited;
    for (const std::string& string : explanation.awaited) awaited.append(nb::str(string.data(), string.size()));
    return nb::make_tuple(explanation.verdict, explanation.offset, expected, to_list(explanation.expected_tokens),
                          awaited);
  }
  void rollback(std::int64_t count) {
    if (count < 0 || !work([&] { return matcher_->rollback(static_cast<std::size_t>(count)); }))
      raise("RollbackError", nb::make_tuple("cannot roll back " + std::to_string(count) + " tokens: " +
                                            std::to_string(matcher_->tokens().size()) + " were advanced"));
  }
  Matcher& matcher() const { return *matcher_; }
  const Shown& shown() const { return bound_->shown; }

  // The ids that a draft names; one that is outside of the vocabulary is allowed nowhere.
  std::vector<TokenId> drafted(const nb::handle tokens) const {
    const std::int64_t width = bound_->constraint->vocabulary().width();
    std::vector<TokenId> ids;
    for (const std::int64_t token : token_numbers(tokens))
      ids.push_back({token < 0 || token >= width ? ~std::uint32_t{0} : static_cast<std::uint32_t>(token)});
    return ids;
  }

  bool is_accepting() {
    return work([&] { return matcher_->is_accepting(); });
  }
  bool is_finished() {
    return work([&] { return matcher_->is_finished(); });
  }
  nb::bytes text() {
    return to_bytes(work([&] { return matcher_->text(); }));
  }
  nb::bytes forced_text() {
    return to_bytes(work([&] { return matcher_->forced_text(); }));
  }
  TokenList tokens() {
    return to_list(work([&] { return matcher_->tokens(); }));
  }
  TokenList forced_tokens() {
    return to_list(work([&] { return matcher_->forced_tokens(); }));
  }
  std::string show() {
    return work([&] { return matcher_->show(); });
  }
  Counts mask_work(const nb::handle deadline_seconds) {
    const Deadline deadline = checked_deadline(deadline_seconds);
    return to_dict(work([&] { return matcher_->mask_work(deadline); }));
  }

 private:
  TokenId checked(std::int64_t token) const {
    const std::uint32_t width = bound_->constraint->vocabulary().width();
    if (token < 0 || token >= static_cast<std::int64_t>(width))
      raise("TokenIdError", nb::make_tuple("token id " + std::to_string(token) +
                                           " is outside the vocabulary, whose width is " + std::to_string(width)));
    return {static_cast<std::uint32_t>(token)};
  }
  // More tokens than anyone writes are as good as any number; there is no budget of none.
  static nb::bytes to_bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }
  static TokenList to_list(const std::vector<TokenId>& tokens) {
    nb::list list;
    for (const TokenId token : tokens) list.append(token.value);
    return list;
  }

  nb::object owner_;
  BoundConstraint* bound_;
  std::unique_ptr<Matcher> matcher_;
};

// ---- the closed form ---------------------------------------------------------------------------

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

// What is no int of 64 bits comes to the second of two overloads: integers of numpy, larger ones, all else.
std::int64_t unusual_token(const nb::handle token) {
  const WholeNumber id = checked_whole("token", token, "a token id, a whole number");
  if (id.overflow != 0)
    raise("TokenIdError", nb::make_tuple("the token id is outside the vocabulary: it has more than 64 bits"));
  return id.value;
}
std::int64_t unusual_count(const nb::handle given) {
  const WholeNumber count = checked_whole("count", given, "a whole number of tokens");
  if (count.overflow != 0)
    raise("RollbackError", nb::make_tuple("cannot roll back so many tokens: the number has more than 64 bits"));
  return count.value;
}

// ---- batches ----------------------------------------------------------------------------------

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

void fill_batch(const nb::handle given, const nb::handle mask, unsigned threads, const nb::handle given_budgets,
                const nb::handle deadline_seconds) {
  const Deadline deadline = checked_deadline(deadline_seconds);
  const Batch batch(given);
  if (batch.bound.empty()) return;
  std::uint32_t* const rows = batch.rows_of(mask, batch.bound.size(), "fill_masks");
  const std::vector<std::optional<TokenCount>> budgets = checked_budgets(given_budgets, batch.bound.size());
  std::vector<std::uint32_t*> places;
  for (std::size_t i = 0; i < batch.bound.size(); ++i) places.push_back(rows + i * batch.vocabulary().words());
  const std::vector<std::exception_ptr> errors = without_interpreter(
      batch.bound[0]->shown(), [&] { return fill_masks(batch.matchers, places, threads, budgets, deadline); });
  batch.raise_first(errors, budgets);
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

// `drafts` and `parents` have an entry for each matcher.  Result: by matcher, whether each node is legal.
nb::typed<nb::list, NumberArray<std::uint8_t>> fill_drafts(const nb::handle given, const nb::handle mask,
                                                           const nb::list& drafts, const nb::list& parents,
                                                           unsigned threads, const nb::handle given_budgets,
                                                           bool count_stop, const nb::handle deadline_seconds) {
  const Deadline deadline = checked_deadline(deadline_seconds);
  const Batch batch(given);
  const std::size_t count = batch.bound.size();
  nb::list found;
  if (count == 0) return found;
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
  const std::vector<std::exception_ptr> errors = without_interpreter(
      batch.bound[0]->shown(), [&] { return fill_draft_masks(batch.matchers, all, threads, count_stop, deadline); });
  batch.raise_first(errors, budgets);
  for (const DraftRows& one : all)
    found.append(to_array(std::vector<std::uint8_t>(one.legal.begin(), one.legal.end())));
  return found;
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

NB_MODULE(_core, m) {
  m.doc() = "The engine (C++): this module only converts arguments and results; core/ has the algorithms.";
  // Nanobind's notes on what is left at the end of a process blame these bindings.  But what they hold of Python's are
  // texts, arrays and each other, never in a circle, so that it goes when its holders go; and where another package
  // keeps its callers alive to the end (an import of torch within a function does, and an error of pydantic's that it
  // has caught), the notes are about what those callers hold.  Tests turn them on where nothing else is imported.
  nb::set_leak_warnings(false);
  m.def(
      "report_leaks", [] { nb::set_leak_warnings(true); },
      R"doc(At the end of the process, nanobind reports its objects that are still alive; for tests.)doc");
  m.def(
      "steps_of_thread", [] { return Budget::steps_of_thread(); },
      R"doc(The steps of work that all calls of this thread have taken, the same in every run; for tests.)doc");

  watch_interpreter();
  bind_expressions(m);
  bind_json(m);
  bind_programs(m);
  bind_repair(m);
  bind_repair_outline(m);
  bind_repair_stream(m);
  bind_token_repair(m);

  nb::class_<CancelToken>(m, "CancelToken", "Stops work under way, from any thread.")
      .def(nb::init<>())
      .def("cancel", &CancelToken::cancel,
           "Makes all work that was given this token raise tokamata.Cancelled, now and later.")
      .def_prop_ro("cancelled", &CancelToken::cancelled, "Whether cancel() was called.");

  nb::class_<Limits>(m, "Limits")
      .def(
          "__init__",
          [](Limits* self, std::size_t states, std::size_t memory_bytes, double seconds, std::uint32_t depth) {
            new (self) Limits{states, memory_bytes, seconds, depth};
          },
          "states"_a, "memory_bytes"_a, "seconds"_a, "depth"_a);

  nb::class_<Vocabulary>(m, "Vocabulary")
      .def(nb::new_(&make_vocabulary), "tokens"_a, "stop"_a, "width"_a)
      .def_prop_ro(
          "content",
          [](const Vocabulary& v) {
            const std::string bytes = v.content();
            return nb::bytes(bytes.data(), bytes.size());
          },
          R"doc(The bytes that identify the tokens, for the names of derived files.)doc")
      .def(
          "use_segment_files",
          [](Vocabulary& v, const std::string& folder, double least_seconds, std::uint64_t most_written) {
            v.use_segment_files(std::make_unique<SegmentFiles>(
                std::filesystem::path(std::u8string(folder.begin(), folder.end())), v.text_words(),
                v.trie().node_count(), SegmentFiles::Duration(least_seconds), most_written));
          },
          "folder"_a, "least_seconds"_a, "most_written"_a, nb::call_guard<Released>(),
          R"doc(Keeps segments of this vocabulary in a folder, and uses those that are there.

Must be called before anything is compiled for the vocabulary.

Args:
    folder: only for this vocabulary and this version of the engine; created by the first write.
    least_seconds: a segment that took less is not written.
    most_written: the number of bytes that this object may write.)doc")
      .def_prop_ro("trie_nodes", [](const Vocabulary& v) { return v.trie().node_count(); })
      .def_prop_ro("trie_bytes", [](const Vocabulary& v) { return v.trie().memory_bytes(); })
      .def_prop_ro("longest", [](const Vocabulary& v) { return v.trie().longest(); });

  bind_tokenization(m);

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

  m.def("fill_masks", &fill_batch, "matchers"_a.none(), "mask"_a.none(), "threads"_a, "budgets"_a.none() = nb::none(),
        "deadline_seconds"_a.none() = nb::none(),
        nb::sig("def fill_masks(matchers: collections.abc.Sequence[Matcher], mask: typing.Any, threads: int, budgets: "
                "collections.abc.Sequence[int | None] | None=None, deadline_seconds: float | None=None) -> None"),
        R"doc(Row ``i`` of ``mask`` becomes the mask of ``matchers[i]``, within ``budgets[i]``.)doc");

  m.def("fill_draft_masks", &fill_drafts, "matchers"_a.none(), "mask"_a.none(), "drafts"_a, "parents"_a, "threads"_a,
        "budgets"_a.none(), "count_stop"_a, "deadline_seconds"_a.none(),
        nb::sig("def fill_draft_masks(matchers: collections.abc.Sequence[Matcher], mask: typing.Any, drafts: "
                "list[collections.abc.Sequence[int]], parents: list[collections.abc.Sequence[int] | None], threads: "
                "int, budgets: collections.abc.Sequence[int | None] | None, count_stop: bool, deadline_seconds: float "
                "| None) -> list[numpy.typing.NDArray[numpy.uint8]]"),
        R"doc(The rows of all drafts, one after another; the result says which tokens are legal.)doc");

  using enum Verdict;
  nb::enum_<Verdict>(m, "Verdict", "Why a token is refused; or that it is allowed.")
      .value("ALLOWED", Allowed)
      .value("PADDING", Padding)
      .value("NOT_TEXT", NotText)
      .value("STOP_TOO_SOON", StopTooSoon)
      .value("AFTER_STOP", AfterStop)
      .value("BYTE", Byte)
      .value("UNSPELLABLE", Unspellable)
      .value("NEVER_MADE", NeverMade)
      .value("MERGE", Merge)
      .value("PRE_TOKEN", PreToken)
      .value("NORMALIZER", Normalizer)
      .value("ADDED_TOKEN", AddedToken)
      .value("DEAD_END", DeadEnd)
      .value("TOO_SHORT", TooShort)
      .value("TOO_MUCH_THOUGHT", TooMuchThought);

  nb::class_<BoundMatcher>(m, "Matcher")
      .def(nb::init<const BoundMatcher&>(), "origin"_a)
      .def(
          "__init__",
          [](BoundMatcher* self, nb::handle_t<BoundConstraint> c, const std::vector<std::uint32_t>& context,
             const std::optional<std::vector<std::uint32_t>>& stops,
             TokenCount least) { new (self) BoundMatcher(nb::borrow(c), context, stops, least); },
          "constraint"_a, "context"_a, "stops"_a.none(), "least"_a)
      .def("fill_mask", &BoundMatcher::fill_mask, "row"_a.none(), "budget"_a.none() = nb::none(),
           "count_stop"_a.none() = false, "deadline_seconds"_a.none() = nb::none(),
           nb::sig("def fill_mask(self, row: typing.Any, budget: int | None=None, count_stop: bool=False, "
                   "deadline_seconds: float | None=None) -> None"),
           R"doc(Copies the mask into the caller's row.

With a budget of ``n`` tokens, it contains exactly the tokens after which at most ``n - 1`` more
tokens lead to an accepted text, and the stop tokens if the text is accepted.  ``advance`` ignores
budgets.  Distances in tokens are exact; algorithm: ``core/composition/completions.hpp``.

For JSON and recursive types the mask may lack some of these tokens: it contains those after which a
short closing text fits.  A budget of ``len(shortest_completion())`` tokens always suffices.

Args:
    row: ``int32[ceil(width / 32)]``, contiguous and writable: a row of ``allocate_mask``, or a
        CPU tensor of the same shape and dtype.
    budget: the number of tokens that may still be written; ``None`` means no bound.
    count_stop: whether the budget includes the stop token.
    deadline_seconds: when the call ends, also while it waits for another thread; ``None``: with
        ``Limits.seconds`` alone.  What was made until then is kept.
        A known mask needs no time, unless another thread works on the constraint.

Raises:
    BudgetError: no accepted text can be finished within the budget, or it is 0 or less; the row is
        unchanged.
    MaskError: ``row`` has another dtype, length or layout.
    LimitExceeded, Cancelled: the work was stopped.)doc")
      .def("shortest_completion", &BoundMatcher::shortest_completion,
           R"doc(A shortest sequence of tokens after which the text is accepted, without a stop token.

Empty if the text is accepted already.  Regular patterns: no sequence is shorter.  Method:
breadth-first search over the states that tokens lead to; results are memoized.

JSON and recursive types: the search begins with the tokens of a short text that closes the state, so
it succeeds at any depth; branch and bound then searches for fewer.  It ends early after 131,072 token
classes or 32,768 new states, with the shortest sequence found so far.  Algorithm:
``core/composition/rule_completions.hpp``, and ``core/canonical/canonical_rule_budgets.hpp`` for
canonical tokens, of which it follows a sample.

Raises:
    LimitExceeded, Cancelled: the work was stopped.)doc")
      .def_prop_ro("mask", &BoundMatcher::mask,
                   nb::for_getter(nb::sig("def mask(self) -> numpy.typing.NDArray[numpy.int32]")),
                   R"doc(The mask as a read-only view of the memo: ``int32[ceil(width / 32)]``, no copy.

Its bits never change, even after the matcher and the memo are gone.)doc")
      .def("advance", &BoundMatcher::advance, "token"_a, R"doc(Takes a token; ``False`` refuses it and changes nothing.

Raises:
    TokenIdError: ``token`` is outside the width of the vocabulary.
    LimitExceeded, Cancelled: the work was stopped.)doc")
      .def(
          "advance", [](BoundMatcher& m, nb::handle token) { return m.advance(unusual_token(token)); },
          "token"_a.none())
      .def("advance_all", &BoundMatcher::advance_all, "tokens"_a.none(),
           nb::sig("def advance_all(self, tokens: collections.abc.Sequence[int]) -> bool"),
           R"doc(Takes a run of tokens, or none of them: ``False`` refuses the run and changes nothing.

Raises:
    TokenIdError: a token is outside the width of the vocabulary.
    LimitExceeded, Cancelled: the work was stopped.)doc")
      .def("validate", &BoundMatcher::validate, "tokens"_a.none(),
           nb::sig("def validate(self, tokens: collections.abc.Sequence[int]) -> int"),
           R"doc(How many of the tokens are allowed, one after another; the state does not change.

Stop tokens count where the text is accepted; after one only stop tokens are allowed.  An id outside
of the vocabulary, such as -1, is allowed nowhere.

Raises:
    LimitExceeded, Cancelled: the work was stopped.)doc")
      .def("rollback", &BoundMatcher::rollback, "count"_a,
           R"doc(Takes back the last ``count`` tokens, stop tokens included.

Raises:
    RollbackError: the text has fewer tokens; nothing has changed.)doc")
      .def(
          "rollback", [](BoundMatcher& m, nb::handle count) { m.rollback(unusual_count(count)); }, "count"_a.none())
      .def_prop_ro("is_accepting", &BoundMatcher::is_accepting,
                   R"doc(Whether the constraint accepts the text so far, and it has ``min_tokens``.)doc")
      .def_prop_ro("is_finished", &BoundMatcher::is_finished,
                   R"doc(Whether a stop token was taken, or the text is accepted and nothing can follow.)doc")
      .def_prop_ro("tokens", &BoundMatcher::tokens, R"doc(The tokens so far, stop tokens included.)doc")
      .def_prop_ro("text", &BoundMatcher::text,
                   R"doc(The bytes of the tokens so far, without stop tokens; it may end inside a code point.)doc")
      .def("forced_text", &BoundMatcher::forced_text,
           R"doc(The longest common prefix of all continuations, in bytes; it may end inside a code point.)doc")
      .def("forced_tokens", &BoundMatcher::forced_tokens,
           R"doc(The next tokens, as long as the mask has a single bit and that is not a stop token's.)doc")
      .def("_show", &BoundMatcher::show,
           R"doc(Where the text stands: the state as an expression, and the hypotheses of the tokenizer.)doc")
      .def("_mask_work", &BoundMatcher::mask_work, "deadline_seconds"_a.none() = nb::none(),
           nb::sig("def _mask_work(self, deadline_seconds: float | None=None) -> dict[str, typing.Any]"))
      .def("_explain", &BoundMatcher::explain, "token"_a)
      .def(
          "_explain", [](BoundMatcher& m, nb::handle token) { return m.explain(unusual_token(token)); },
          "token"_a.none());
}
