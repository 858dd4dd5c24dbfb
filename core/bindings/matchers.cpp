// Matchers for Python.

#include "bindings/bound_matcher.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/parts.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {

namespace {

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

nb::bytes to_bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }

TokenList to_list(const std::vector<TokenId>& tokens) {
  nb::list list;
  for (const TokenId token : tokens) list.append(token.value);
  return list;
}

}  // namespace

BoundMatcher::BoundMatcher(nb::object constraint, const std::vector<std::uint32_t>& context,
                           const std::vector<std::uint32_t>& written, const std::vector<std::uint32_t>& canonical,
                           const std::optional<std::vector<std::uint32_t>>& stops, TokenCount least)
    : owner_(std::move(constraint)), bound_(nb::cast<BoundConstraint*>(owner_)), matcher_(work([&] {
        const auto ids = [](const std::vector<std::uint32_t>& numbers) {
          std::vector<TokenId> tokens;
          for (const std::uint32_t token : numbers) tokens.push_back({token});
          return tokens;
        };
        auto made = std::make_unique<Matcher>(bound_->constraint, ids(context), ids(written), ids(canonical));
        if (stops) made->set_stops(ids(*stops));
        if (least > 0) made->set_least(least);
        return made;
      })) {}

BoundMatcher::BoundMatcher(const BoundMatcher& other)
    : owner_(other.owner_), bound_(other.bound_), matcher_(work([&other] { return other.matcher_->fork(); })) {}

std::vector<TokenId> BoundMatcher::drafted(const nb::handle tokens) const {
  const std::int64_t width = bound_->constraint->vocabulary().width();
  std::vector<TokenId> ids;
  for (const std::int64_t token : token_numbers(tokens))
    ids.push_back({token < 0 || token >= width ? ~std::uint32_t{0} : static_cast<std::uint32_t>(token)});
  return ids;
}

bool BoundMatcher::fill_mask(const nb::handle row, const nb::handle budget, const nb::handle count_stop,
                             const nb::handle deadline_seconds, const nb::handle on_deadline) {
  const bool counts = checked_flag("count_stop", count_stop);
  const Deadline deadline = checked_deadline(deadline_seconds);
  const bool takes_some = checked_on_deadline(on_deadline) == OnDeadline::Some;
  const MadeMask made =
      budget.is_none() ? current_mask(deadline, takes_some) : mask_within(budget, counts, deadline, takes_some);
  copy_into(row, *made.mask);
  return made.is_whole;
}

TokenList BoundMatcher::shortest_completion(const nb::handle deadline_seconds) {
  const Deadline deadline = checked_deadline(deadline_seconds);
  return to_list(work([&] { return matcher_->shortest_completion(deadline); }));
}

Counts BoundMatcher::mask_work(const nb::handle deadline_seconds) {
  const Deadline deadline = checked_deadline(deadline_seconds);
  return to_dict(work([&] { return matcher_->mask_work(deadline); }));
}

bool BoundMatcher::advance(std::int64_t token) {
  const TokenId id = checked(token);
  if (const std::optional<bool> known = matcher_->try_advance(id)) return *known;
  return work([&] { return matcher_->advance(id); });
}

bool BoundMatcher::advance_all(const nb::handle tokens) {
  std::vector<TokenId> ids;
  for (const std::int64_t token : token_numbers(tokens)) ids.push_back(checked(token));
  return work([&] { return matcher_->advance_all(ids); });
}

std::size_t BoundMatcher::validate(const nb::handle tokens) {
  const std::vector<TokenId> ids = drafted(tokens);
  return work([&] { return matcher_->validate(ids); });
}

BoundMatcher::Explained BoundMatcher::explain(std::int64_t token) {
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

void BoundMatcher::rollback(std::int64_t count) {
  if (count < 0 || !work([&] { return matcher_->rollback(static_cast<std::size_t>(count)); }))
    raise("RollbackError", nb::make_tuple("cannot roll back " + std::to_string(count) +
                                          " tokens: " + std::to_string(matcher_->advanced()) + " were advanced"));
}

bool BoundMatcher::is_accepting() {
  return work([&] { return matcher_->is_accepting(); });
}

bool BoundMatcher::is_finished() {
  return work([&] { return matcher_->is_finished(); });
}

nb::bytes BoundMatcher::text() {
  return to_bytes(work([&] { return matcher_->text(); }));
}

nb::bytes BoundMatcher::forced_text() {
  return to_bytes(work([&] { return matcher_->forced_text(); }));
}

TokenList BoundMatcher::tokens() {
  return to_list(work([&] { return matcher_->tokens(); }));
}

TokenList BoundMatcher::forced_tokens() {
  return to_list(work([&] { return matcher_->forced_tokens(); }));
}

std::string BoundMatcher::show() {
  return work([&] { return matcher_->show(); });
}

TokenId BoundMatcher::checked(std::int64_t token) const {
  const std::uint32_t width = bound_->constraint->vocabulary().width();
  if (token < 0 || token >= static_cast<std::int64_t>(width))
    raise("TokenIdError", nb::make_tuple("token id " + std::to_string(token) +
                                         " is outside the vocabulary, whose width is " + std::to_string(width)));
  return {static_cast<std::uint32_t>(token)};
}

MadeMask BoundMatcher::current_mask(const Deadline& deadline, bool takes_some) {
  if (MaskPtr known = matcher_->try_mask()) return {std::move(known), true};
  return work([&]() -> MadeMask {
    if (takes_some) return matcher_->some_mask(std::nullopt, false, deadline);
    return {matcher_->mask(deadline), true};
  });
}

MadeMask BoundMatcher::mask_within(const nb::handle budget, bool count_stop, const Deadline& deadline,
                                   bool takes_some) {
  const TokenCount left = checked_budget(budget);
  if (MaskPtr known = matcher_->try_mask_within(left, count_stop); known && known->set_bits)
    return {std::move(known), true};
  return without_interpreter({bound_->shown.text, bound_->shown.is_pattern, left}, [&]() -> MadeMask {
    if (takes_some) return matcher_->some_mask(left, count_stop, deadline);
    return {matcher_->mask_within(left, count_stop, deadline), true};
  });
}

void bind_matchers(nb::module_& m) {
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
             const std::vector<std::uint32_t>& written, const std::vector<std::uint32_t>& canonical,
             const std::optional<std::vector<std::uint32_t>>& stops,
             TokenCount least) { new (self) BoundMatcher(nb::borrow(c), context, written, canonical, stops, least); },
          "constraint"_a, "context"_a, "written"_a, "canonical"_a, "stops"_a.none(), "least"_a)
      .def(
          "fill_mask", &BoundMatcher::fill_mask, "row"_a.none(), "budget"_a.none() = nb::none(),
          "count_stop"_a.none() = false, "deadline_seconds"_a.none() = nb::none(), "on_deadline"_a.none() = "error",
          nb::sig("def fill_mask(self, row: typing.Any, budget: int | None=None, count_stop: bool=False, "
                  "deadline_seconds: float | None=None, on_deadline: typing.Literal['error', 'some']='error') -> bool"),
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
    on_deadline: at the deadline, ``"error"`` raises ``LimitExceeded``; ``"some"`` fills the row with
        the tokens of the mask that are known by then: those that were verified, and the first one of
        a text that completes this one.  Such a row is never empty, and generation goes on with it.
        The next call goes on with the work where it stands; in the end the row is the mask.

Returns:
    Whether the row is the whole mask; ``False`` only with ``on_deadline="some"``.

Raises:
    BudgetError: no accepted text can be finished within the budget, or it is 0 or less; the row is
        unchanged.
    MaskError: ``row`` has another dtype, length or layout.
    LimitExceeded, Cancelled: the work was stopped.)doc")
      .def("shortest_completion", &BoundMatcher::shortest_completion, "deadline_seconds"_a.none() = nb::none(),
           nb::sig("def shortest_completion(self, deadline_seconds: float | None=None) -> list[int]"),
           R"doc(A shortest sequence of tokens after which the text is accepted, without a stop token.

Empty if the text is accepted already.  Regular patterns: no sequence is shorter.  Method:
breadth-first search over the states that tokens lead to; results are memoized.

JSON and recursive types: the search begins with the tokens of a short text that closes the state, so
it succeeds at any depth; branch and bound then searches for fewer.  It ends early after 131,072 token
classes or 32,768 new states, with the shortest sequence found so far.  Algorithm:
``core/composition/rule_completions.hpp``, and ``core/canonical/canonical_rule_budgets.hpp`` for
canonical tokens, of which it follows a sample.

Args:
    deadline_seconds: when the search ends.  By then the tokens of a short text that the pattern knows
        are returned if that took no longer; otherwise ``LimitExceeded`` is raised.

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

}  // namespace tokamata
