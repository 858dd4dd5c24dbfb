// Searches for token edges of canonical tokenization, for Python.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "bindings/arrays.hpp"
#include "bindings/errors.hpp"
#include "bindings/parts.hpp"
#include "canonical/edge_search.hpp"
#include "canonical/seam_search.hpp"
#include "common/memory_account.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {

namespace {

std::shared_ptr<EdgeAutomaton> make_edge_automaton(const nb::typed<nb::dict, nb::str, nb::any>& tables) {
  EdgeTables edges;
  const auto classes = to_vector<std::uint8_t>(tables, "classes");
  if (classes.size() != edges.classes.size()) throw nb::value_error("classes are not those of 256 bytes");
  std::ranges::copy(classes, edges.classes.begin());
  edges.class_count = nb::cast<std::uint32_t>(tables["class_count"]);
  edges.offsets = to_vector<std::uint32_t>(tables, "offsets");
  edges.targets = to_vector<std::uint32_t>(tables, "targets");
  edges.edge_offsets = to_vector<std::uint32_t>(tables, "edge_offsets");
  edges.edge_targets = to_vector<std::uint32_t>(tables, "edge_targets");
  edges.accepting = to_vector<std::uint8_t>(tables, "accepting");
  edges.wide = to_vector<std::uint8_t>(tables, "wide");
  edges.starts = to_vector<std::uint32_t>(tables, "starts");
  return std::make_shared<EdgeAutomaton>(std::move(edges));
}

std::optional<nb::bytes> shortest(const std::shared_ptr<EdgeSearch>& search,
                                  const std::shared_ptr<EdgeAutomaton>& automaton, Before before, const Limits& limits,
                                  std::shared_ptr<CancelToken> cancel, const nb::str& shown) {
  const std::optional<std::string> text = without_interpreter({shown, false}, [&] {
    MemoryAccount account;
    const Charge charge(account);
    Budget budget(limits, std::move(cancel), 0);
    return search->shortest(*automaton, before, limits.states, budget);
  });
  if (!text) return std::nullopt;
  return nb::bytes(text->data(), text->size());
}

std::optional<std::vector<std::uint32_t>> tokens_of(const std::shared_ptr<EdgeSearch>& search, const nb::bytes& text,
                                                    Before before, const Limits& limits,
                                                    std::shared_ptr<CancelToken> cancel, const nb::str& shown) {
  const std::string_view bytes(text.c_str(), text.size());
  return without_interpreter({shown, false}, [&] {
    MemoryAccount account;
    const Charge charge(account);
    Budget budget(limits, std::move(cancel), 0);
    return search->tokens_of(bytes, before, limits.states, budget);
  });
}

using FoundSeams = nb::typed<nb::tuple, nb::bytes, std::vector<std::uint32_t>>;
FoundSeams found_seams(const SeamText& found) {
  return nb::make_tuple(nb::bytes(found.text.data(), found.text.size()), found.seams);
}
std::optional<FoundSeams> found_seams(const std::optional<SeamText>& found) {
  return found ? std::optional(found_seams(*found)) : std::nullopt;
}

nb::typed<nb::tuple, nb::typed<nb::list, FoundSeams>, std::optional<FoundSeams>, std::optional<FoundSeams>> seam_texts(
    const std::shared_ptr<Tokenization>& tokenization, const std::shared_ptr<EdgeAutomaton>& parts, Before before,
    std::size_t most_texts, const Limits& limits, std::shared_ptr<CancelToken> cancel, const nb::str& shown) {
  const SeamTexts found = without_interpreter({shown, false}, [&] {
    MemoryAccount account;
    const Charge charge(account);
    Budget budget(limits, std::move(cancel), 0);
    return texts_with_seams(*tokenization, *parts, before, most_texts, limits.states, budget);
  });
  nb::list different;
  for (const SeamText& text : found.different) different.append(found_seams(text));
  return nb::make_tuple(different, found_seams(found.joined), found_seams(found.unstable));
}

}  // namespace

void bind_token_edges(nb::module_& m) {
  nb::enum_<Before>(m, "Before", "What stands before a text.")
      .value("NOTHING", Before::Nothing)
      .value("ADDED_TOKEN", Before::AddedToken)
      .value("CONTROL_TOKEN", Before::ControlToken);
  nb::class_<EdgeAutomaton>(m, "EdgeAutomaton",
                            R"doc(An automaton over bytes and token edges; see ``core/canonical/edge_automaton.hpp``.

Args:
    tables: ``classes`` (``uint8[256]``) and ``class_count``; ``offsets`` and ``targets`` by state and
        class, ``edge_offsets`` and ``edge_targets`` by state (``uint32``); ``accepting`` and ``wide``
        (``uint8``) by state; ``starts`` (``uint32``).

Raises:
    ValueError: the tables contradict each other.)doc")
      .def(nb::new_(&make_edge_automaton), "tables"_a)
      .def_prop_ro("states", &EdgeAutomaton::count);
  nb::class_<EdgeSearch>(m, "EdgeSearch",
                         R"doc(Searches for texts by the token edges of their canonical tokenization.

See ``core/canonical/edge_search.hpp``.)doc")
      .def(nb::new_([](std::shared_ptr<Tokenization> tokenization, bool has_hidden_space) {
             return std::make_shared<EdgeSearch>(std::move(tokenization), has_hidden_space);
           }),
           "tokenization"_a, "has_hidden_space"_a)
      .def("shortest", &shortest, "automaton"_a, "before"_a, "limits"_a, "cancel"_a.none(), "pattern"_a,
           R"doc(A shortest text whose canonical tokenization the automaton accepts, in UTF-8.

Returns:
    ``None`` if there is no such text: this is a proof.

Raises:
    LimitExceeded: a limit was met before an answer was found.
    Cancelled: ``cancel`` was cancelled.)doc")
      .def("tokens_of", &tokens_of, "text"_a, "before"_a, "limits"_a, "cancel"_a.none(), "pattern"_a,
           R"doc(The canonical tokenization of a text in UTF-8.

Returns:
    ``None`` if the tokenizer cannot write the text, or its normalizer changes it.

Raises:
    LimitExceeded, Cancelled: as for ``shortest``.)doc");
  m.def("seam_texts", &seam_texts, "tokenization"_a, "parts"_a, "before"_a, "most_texts"_a, "limits"_a,
        "cancel"_a.none(), "pattern"_a,
        R"doc(Texts in parts whose tokens may differ from those of the parts; see ``core/canonical/seam_search.hpp``.

Args:
    tokenization: the tokenizer.
    parts: an automaton whose edges are the seams between the parts.
    before: what stands before the first part.
    most_texts: at most so many different ones are given.

Returns:
    Texts in which pre-tokens of the parts end elsewhere, the shortest first; one in which a pre-token
    goes on over a seam; one whose normalizer or added tokens join parts.  Each has the offsets of its
    seams.

Raises:
    LimitExceeded, Cancelled: as for ``EdgeSearch.shortest``.)doc");
}

}  // namespace tokamata
