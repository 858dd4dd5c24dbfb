// The search for repairs, and the check of what it proves, for Python.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>

#include "bindings/arrays.hpp"
#include "bindings/errors.hpp"
#include "bindings/parts.hpp"
#include "bindings/programs.hpp"
#include "bindings/repair_parts.hpp"
#include "expression/expression.hpp"
#include "repair/certificate.hpp"
#include "repair/search.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {

namespace {

// Begin, end, what is written, the cost, the modes in which it may be taken, and the mode that it leads to.
using GivenRewrite = std::tuple<std::uint32_t, std::uint32_t, nb::bytes, EditCost, ModeSet, Mode>;
// A position, the cost of keeping its byte, the modes that this holds in, and the number of the pattern.
using GivenDoubt = std::tuple<std::uint32_t, EditCost, ModeSet, std::uint32_t>;
using GivenFirm = std::vector<std::pair<std::uint32_t, EditCost>>;
using MachinePtr = std::shared_ptr<EditMachine>;

// `after` and `inserted` have 256 bytes for each mode, and `costs` six tables of 256 costs.
EditMachine machine_of(const nb::bytes& after, const nb::bytes& inserted, const nb::bytes& costs) {
  EditMachine machine;
  const std::size_t modes = after.size() / 256;
  if (modes == 0 || modes > kMostModes || after.size() != modes * 256 || inserted.size() != modes * 256 ||
      costs.size() != modes * sizeof(ModeCosts))
    throw nb::value_error(
        "a machine has from 1 to 16 modes, each with 256 bytes that lead on and six tables of costs by byte");
  machine.after.resize(modes);
  machine.inserted.resize(modes);
  machine.costs.resize(modes);
  std::memcpy(machine.after.data(), after.c_str(), after.size());
  std::memcpy(machine.inserted.data(), inserted.c_str(), inserted.size());
  std::memcpy(machine.costs.data(), costs.c_str(), costs.size());
  for (const EditMachine::Next* const next : {&machine.after, &machine.inserted})
    for (const auto& one : *next)
      if (*std::ranges::max_element(one) >= modes) throw nb::value_error("a byte leads to a mode that does not exist");
  return machine;
}

// Doubts about the bytes of one text, by position; of one position by number.
struct Doubts {
  struct One {
    std::uint32_t position, number;  // of the pattern
    EditCost cost;
    ModeSet within;
  };
  std::vector<One> all;

  std::vector<GivenDoubt> listed() const {
    std::vector<GivenDoubt> list;
    for (const auto& [position, number, cost, within] : all) list.emplace_back(position, cost, within, number);
    return list;
  }
  // The number of the pattern of the dearest one; of equal ones that of the first.
  std::optional<std::uint32_t> dearest(std::uint32_t position, Mode mode) const {
    const One* found = nullptr;
    for (auto one = std::ranges::lower_bound(all, position, {}, &One::position);
         one != all.end() && one->position == position; ++one)
      if (((one->within >> mode) & 1) && (!found || one->cost > found->cost)) found = &*one;
    return found ? std::optional(found->number) : std::nullopt;
  }
};

// With more of them.
void add_doubts(Doubts& to, const std::vector<GivenDoubt>& given) {
  for (const auto& [position, cost, within, number] : given) to.all.push_back({position, number, cost, within});
  std::ranges::stable_sort(to.all, {}, [](const Doubts::One& one) { return std::pair(one.position, one.number); });
}

// By mode and position.
std::vector<std::vector<EditCost>> by_mode(const Doubts& doubts, std::size_t modes, std::size_t length) {
  std::vector<std::vector<EditCost>> all;
  if (doubts.all.empty()) return all;
  if (doubts.all.back().position >= length) throw nb::value_error("a doubt beyond the text");
  all.resize(modes);
  for (const auto& [position, number, cost, within] : doubts.all) {
    for (std::size_t mode = 0; mode < modes; ++mode) {
      if (!((within >> mode) & 1)) continue;
      if (all[mode].empty()) all[mode].assign(length, 0);
      all[mode][position] = std::max(all[mode][position], cost);
    }
  }
  return all;
}

std::vector<EditCost> firm_of(const GivenFirm& given, std::size_t length) {
  std::vector<EditCost> all;
  if (!given.empty()) all.assign(length, 0);
  for (const auto& [position, cost] : given) {
    if (position >= length) throw nb::value_error("a firm byte beyond the text");
    all[position] += cost;
  }
  return all;
}

std::shared_ptr<const EditModel> model_of(const MachinePtr& machine, const std::vector<Rewrite>& rewrites,
                                          const Doubts& doubts, const GivenFirm& firm, std::size_t length) {
  return shared_model({machine, rewrites, by_mode(doubts, machine->costs.size(), length), firm_of(firm, length)});
}

// 16 bytes for each node: whence, the kind and the operand of the step, the cost.
struct Record {
  std::uint32_t from, step;
  std::uint64_t cost;
};
constexpr std::uint32_t kKinds = 8;

nb::bytes bytes_of(const std::vector<RepairSearch::Reached>& reached) {
  PyObject* const made = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(reached.size() * sizeof(Record)));
  if (!made) throw nb::python_error();
  char* place = PyBytes_AS_STRING(made);
  for (const auto& [from, step, cost] : reached) {
    const Record record{from, step.operand * kKinds + static_cast<std::uint32_t>(step.kind), cost};
    std::memcpy(place, &record, sizeof record);
    place += sizeof record;
  }
  return nb::steal<nb::bytes>(made);
}

std::vector<RepairSearch::Reached> reached_of(const nb::bytes& data) {
  std::vector<RepairSearch::Reached> reached(data.size() / sizeof(Record));
  for (std::size_t number = 0; number < reached.size(); ++number) {
    Record record;
    std::memcpy(&record, data.c_str() + number * sizeof record, sizeof record);
    reached[number] = {record.from, {static_cast<EditKind>(record.step % kKinds), record.step / kKinds}, record.cost};
  }
  return reached;
}

// The edges of a graph, a column for each of their fields.
struct EdgeColumns {
  std::vector<std::uint32_t> from, to, operand, bytes;
  std::vector<std::uint8_t> kind;
  std::vector<std::uint64_t> cost;

  explicit EdgeColumns(const std::vector<RepairGraph::Edge>& edges) {
    for (auto* const column : {&from, &to, &operand, &bytes}) column->reserve(edges.size());
    kind.reserve(edges.size());
    cost.reserve(edges.size());
    for (const RepairGraph::Edge& edge : edges) {
      from.push_back(edge.from);
      to.push_back(edge.to);
      kind.push_back(static_cast<std::uint8_t>(edge.step.kind));
      operand.push_back(edge.step.operand);
      bytes.push_back(edge.bytes);
      cost.push_back(edge.cost);
    }
  }
};

// The bytes of each set.
nb::typed<nb::list, nb::bytes> bytes_of(const std::vector<ByteSet>& sets) {
  nb::list made;
  for (const ByteSet& set : sets) {
    std::string bytes;
    for (unsigned byte = set.next_member(0); byte < 256; byte = set.next_member(byte + 1))
      bytes.push_back(static_cast<char>(byte));
    made.append(nb::bytes(bytes.data(), bytes.size()));
  }
  return made;
}

// Rewrites of one text, by position; of one position by number.
struct Rewrites {
  std::vector<Rewrite> all;
  std::vector<std::uint32_t> numbers;  // of each, that of its pattern
};

using GivenNumbered = std::tuple<std::uint32_t, std::uint32_t, nb::bytes, EditCost, ModeSet, Mode, std::uint32_t>;

Rewrites rewrites_of(const std::vector<GivenRewrite>& given) {
  Rewrites made;
  for (const auto& [begin, end, written, cost, within, then] : given) {
    made.all.push_back({begin, end, std::string(written.c_str(), written.size()), cost, within, then});
    made.numbers.push_back(0);
  }
  return made;
}

// With more of them.
void add(Rewrites& to, const std::vector<GivenNumbered>& given) {
  const auto number_of = [](const GivenNumbered& one) { return std::get<6>(one); };
  std::vector<std::uint32_t> order(given.size());
  for (std::uint32_t index = 0; index < order.size(); ++index) order[index] = index;
  std::ranges::stable_sort(
      order, {}, [&](std::uint32_t index) { return std::pair(std::get<0>(given[index]), number_of(given[index])); });
  Rewrites merged;
  merged.all.reserve(to.all.size() + given.size());
  merged.numbers.reserve(to.all.size() + given.size());
  std::size_t at = 0;
  const auto take = [&] {
    merged.all.push_back(std::move(to.all[at]));
    merged.numbers.push_back(to.numbers[at++]);
  };
  for (const std::uint32_t index : order) {
    const auto& [begin, end, written, cost, within, then, number] = given[index];
    while (at < to.all.size() && std::pair(to.all[at].begin, to.numbers[at]) <= std::pair(begin, number)) take();
    merged.all.push_back({begin, end, std::string(written.c_str(), written.size()), cost, within, then});
    merged.numbers.push_back(number);
  }
  while (at < to.all.size()) take();
  to = std::move(merged);
}

GivenNumbered item(const Rewrites& self, std::size_t index) {
  if (index >= self.all.size()) throw nb::index_error();
  const auto& [begin, end, written, cost, within, then] = self.all[index];
  return {begin, end, nb::bytes(written.data(), written.size()), cost, within, then, self.numbers[index]};
}

using GivenTemplate = std::tuple<nb::bytes, bool, nb::bytes, EditCost>;
using GivenMeaning = std::variant<std::monostate, GivenTemplate, EditCost>;
using GivenPattern = std::tuple<std::uint32_t, std::vector<GivenInstruction>, ModeSet, Mode, GivenMeaning>;

ByteSet byte_set_of(const nb::bytes& given) {
  if (given.size() != 32) throw nb::value_error("a set of bytes has 32 bytes");
  ByteSet set;
  for (unsigned byte = 0; byte < 256; ++byte)
    if ((static_cast<std::uint8_t>(given.c_str()[byte / 8]) >> (byte % 8)) & 1)
      set.add(static_cast<std::uint8_t>(byte));
  return set;
}

BoundPatterns::Meaning meaning_of(const GivenMeaning& given) {
  if (const auto* const rewrite = std::get_if<GivenTemplate>(&given)) {
    const auto& [before, repeats, after, cost] = *rewrite;
    return Template{std::string(before.c_str(), before.size()), repeats, std::string(after.c_str(), after.size()),
                    cost};
  }
  if (const auto* const doubt = std::get_if<EditCost>(&given)) return *doubt;
  return {};
}

BoundPatterns patterns_of(const std::vector<GivenPattern>& given, const std::vector<nb::bytes>& given_sets) {
  std::vector<Program> patterns;
  std::vector<ReachablePatterns::Modes> modes;
  std::vector<std::uint32_t> numbers;
  std::vector<BoundPatterns::Meaning> meanings;
  for (const auto& [number, code, within, then, meaning] : given) {
    if (then != Rewrite::kByWritten && then >= kMostModes) throw nb::value_error("a pattern that leads to no mode");
    patterns.push_back(program_of(code));
    modes.push_back({within, then});
    numbers.push_back(number);
    meanings.push_back(meaning_of(meaning));
  }
  std::vector<ByteSet> sets;
  for (const nb::bytes& one : given_sets) sets.push_back(byte_set_of(one));
  return {{BytePatterns(patterns, std::move(sets)), std::move(modes)}, std::move(numbers), std::move(meanings)};
}

// The rewrites and the doubts that patterns stand for; of other patterns the number, begin and end.
using FoundPlace = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

std::tuple<Rewrites, Doubts, std::vector<FoundPlace>> found(const BoundPatterns& self, std::string_view text,
                                                            const EditMachine& machine, ModeSet led, std::size_t most,
                                                            const Limits& limits, std::shared_ptr<CancelToken> cancel) {
  Rewrites rewrites;
  Doubts doubts;
  std::vector<FoundPlace> others;
  guarded({nb::none(), false}, [&] {
    const Released released;
    Budget budget(limits, std::move(cancel), 0);
    const std::vector<BytePatterns::Found> all = self.reachable.found(text, machine, led, most, budget);
    rewrites.all.reserve(all.size());
    rewrites.numbers.reserve(all.size());
    for (const auto& [pattern, begin, end] : all) {
      const BoundPatterns::Meaning& meaning = self.meanings[pattern];
      const auto& [within, then] = self.reachable.modes(pattern);
      const std::uint32_t number = self.numbers[pattern];
      if (const auto* const made = std::get_if<Template>(&meaning)) {
        rewrites.all.push_back({begin, end, made->written(text.substr(begin, end - begin)), made->cost, within, then});
        rewrites.numbers.push_back(number);
      } else if (const auto* const cost = std::get_if<EditCost>(&meaning)) {
        doubts.all.push_back({begin, number, *cost, within});
      } else {
        others.emplace_back(number, begin, end);
      }
    }
  });
  return {std::move(rewrites), std::move(doubts), std::move(others)};
}

// What the edits of a text may be; the rewrites are in the order in which they were given.
using GivenEdits = EditModel;

// A search, and what its errors show.
struct BoundSearch {
  std::shared_ptr<RepairSearch> search;
  std::shared_ptr<const GivenEdits> given;
  nb::object pattern;
};

// The edits of an answer.  As objects of Python they take fifty times the memory and most of the time, so these are
// made when they are read.
struct BoundEdits {
  std::shared_ptr<const GivenEdits> given;
  RepairSearch::Answer answer;
};

// Whether a byte was kept at a price.
bool is_paid(const GivenEdits& given, EditKind kind, Mode mode, std::size_t position, std::uint8_t byte) {
  return kind == EditKind::Keep && given.keeping(mode, position, byte) > 0;
}

// The position in the broken text after a step.
std::size_t position_after(const GivenEdits& given, const EditStep& step, std::size_t position) {
  return step.kind == EditKind::Rewrite ? given.rewrites[step.operand].end : position + (step.kind != EditKind::Insert);
}

// Calls `visit` with each step, the mode and the position before it, the position after it, the bytes that it writes,
// and whether it is an edit.
template <class Visit>
void visit_steps(const BoundEdits& self, Visit&& visit) {
  std::size_t position = 0, written_bytes = 0;
  Mode mode = kStartMode;
  for (const EditStep& step : self.answer.steps) {
    const auto [kind, operand] = step;
    const std::size_t end = position_after(*self.given, step, position);
    const std::size_t length =
        kind == EditKind::Rewrite ? self.given->rewrites[operand].written.size() : kind != EditKind::Remove;
    const auto written = std::string_view(self.answer.text).substr(written_bytes, length);
    const bool is_edit =
        kind != EditKind::Keep || is_paid(*self.given, kind, mode, position, static_cast<std::uint8_t>(written[0]));
    visit(step, mode, position, end, written, is_edit);
    if (kind == EditKind::Rewrite) mode = self.given->after(mode, self.given->rewrites[operand]);
    else if (kind == EditKind::Keep) mode = self.given->after(mode, static_cast<std::uint8_t>(written[0]));
    else if (kind != EditKind::Remove) mode = self.given->inserted(mode, static_cast<std::uint8_t>(written[0]));
    written_bytes += length;
    position = end;
  }
}

std::size_t edit_count(const BoundEdits& self) {
  std::size_t count = 0;
  visit_steps(self, [&](auto&&, auto&&, auto&&, auto&&, auto&&, bool is_edit) { count += is_edit; });
  return count;
}

// The edits: kind, begin and end of what was read, what was written, the number of the rewrite, and the mode.  A byte
// that is kept at a price is one of them.
using EditTuple = nb::typed<nb::tuple, nb::str, std::size_t, std::size_t, nb::bytes, std::uint32_t, Mode>;

nb::typed<nb::list, EditTuple> edits_of(const BoundEdits& self) {
  nb::list edits;
  visit_steps(self, [&](const EditStep& step, Mode mode, std::size_t position, std::size_t end,
                        std::string_view written, bool is_edit) {
    if (!is_edit) return;
    edits.append(nb::make_tuple(name_of(step.kind), position, end, nb::bytes(written.data(), written.size()),
                                step.kind == EditKind::Rewrite ? step.operand : 0, mode));
  });
  return edits;
}

// Nodes: positions, modes, ends; edges: from, to, kind, operand, the number of the set of bytes, cost; the sets of
// bytes; whether the bound has left out nothing.
using BoundGraph =
    nb::typed<nb::tuple, NumberArray<std::uint32_t>, nb::bytes, NumberArray<std::uint32_t>, NumberArray<std::uint32_t>,
              NumberArray<std::uint32_t>, NumberArray<std::uint8_t>, NumberArray<std::uint32_t>,
              NumberArray<std::uint32_t>, NumberArray<std::uint64_t>, nb::typed<nb::list, nb::bytes>, bool>;

}  // namespace

void bind_repair(nb::module_& m) {
  m.attr("NO_EDIT") = kNoEdit;
  m.attr("MOST_MODES") = kMostModes;
  m.attr("ALL_MODES") = kAllModes;
  m.attr("BY_WRITTEN") = Rewrite::kByWritten;
  nb::enum_<EditKind>(m, "EditKind", nb::is_arithmetic(), "What an edge of a search for repairs does.")
      .value("KEEP", EditKind::Keep)
      .value("REWRITE", EditKind::Rewrite)
      .value("REMOVE", EditKind::Remove)
      .value("INSERT", EditKind::Insert)
      .value("REPLACE", EditKind::Replace);
  nb::enum_<GraphBytes>(m, "GraphBytes", nb::is_arithmetic(),
                        "Which insertions and replacements a graph has at a position.")
      .value("CHEAPEST", GraphBytes::Cheapest, "The cheapest between two nodes.")
      .value("ALL", GraphBytes::All, "Every byte, but none that leads from a node to itself.")
      .value("ALL_WITH_LOOPS", GraphBytes::AllWithLoops, "Every byte.");
  nb::class_<EditMachine>(
      m, "EditMachine",
      R"doc(The transducer of edits: its modes and the costs of single bytes; ``core/repair/edit_model.hpp``.

Args:
    after: for each mode 256 bytes: the mode that each byte leads to that is kept or rewritten to.
    inserted: the same for each byte that is inserted or replaces another.
    costs: for each mode six tables by byte, as ``uint32``: to prepend, insert, append, remove, replace
        and keep one; 2^32 - 1: never.

Raises:
    ValueError: there are no modes, or more than 16, or a byte leads to none of them.)doc")
      .def(
          "__init__",
          [](EditMachine* self, const nb::bytes& after, const nb::bytes& inserted, const nb::bytes& costs) {
            new (self) EditMachine(machine_of(after, inserted, costs));
          },
          "after"_a, "inserted"_a, "costs"_a);
  nb::class_<Rewrites>(
      m, "Rewrites",
      R"doc(The rewrites that a text admits, by position; those of one position by the number of their pattern.

Args:
    rewrites: begin, end, what is written, the cost, the modes in which it may be taken as bits, and the
        mode that it leads to; 255: the one that the written bytes lead to.)doc")
      .def(
          "__init__",
          [](Rewrites* self, const std::vector<GivenRewrite>& given) { new (self) Rewrites(rewrites_of(given)); },
          "rewrites"_a)
      .def("__len__", [](const Rewrites& self) { return self.all.size(); })
      .def("__getitem__", &item, "index"_a, R"doc(The same, and the number of the pattern.)doc")
      .def("add", &add, "rewrites"_a, R"doc(Adds more, at their places.)doc");
  nb::class_<Doubts>(
      m, "Doubts",
      R"doc(Bytes of a text that cost something to keep, by position; those of one position by their numbers.

Args:
    doubts: the position, the cost, the modes where it holds as bits, and a number, such as that of the
        pattern.)doc")
      .def(
          "__init__",
          [](Doubts* self, const std::vector<GivenDoubt>& given) {
            new (self) Doubts;
            add_doubts(*self, given);
          },
          "doubts"_a)
      .def("__len__", [](const Doubts& self) { return self.all.size(); })
      .def("all", &Doubts::listed, R"doc(The same, in their order.)doc")
      .def("add", &add_doubts, "doubts"_a, R"doc(Adds more, at their positions.)doc")
      .def("dearest", &Doubts::dearest, "position"_a, "mode"_a,
           R"doc(The number of the dearest doubt about a byte in a mode; of equal ones the first.)doc");
  nb::class_<BoundPatterns>(
      m, "BytePatterns",
      R"doc(Patterns of bytes, all found in one pass; ``core/repair/byte_patterns.hpp`` has the algorithm.

Args:
    patterns: of each a number of its own, ascending; the program; sets of the bytes that it begins with
        and that may stand before it; whether it may begin the text; the modes where its matches count, as
        bits, and the mode that they lead to; and what a match means.  The template of a rewrite: two
        texts, whether what was found stands between them, and the cost.  A doubt: its cost.
    sets: sets of bytes, each in 32 bytes.)doc")
      .def(
          "__init__",
          [](BoundPatterns* self, const std::vector<GivenPattern>& patterns, const std::vector<nb::bytes>& sets) {
            new (self) BoundPatterns(patterns_of(patterns, sets));
          },
          "patterns"_a, "sets"_a)
      .def(
          "found",
          [](const BoundPatterns& self, const nb::bytes& text, const EditMachine& machine, ModeSet led,
             std::size_t most, const Limits& limits, std::shared_ptr<CancelToken> cancel) {
            return found(self, {text.c_str(), text.size()}, machine, led, most, limits, std::move(cancel));
          },
          "text"_a, "machine"_a, "led"_a, "most"_a, "limits"_a, "cancel"_a.none(),
          R"doc(The rewrites that a text admits, the doubts about it; of other patterns number, begin and end.

Patterns of modes that no edit leads to are left out; ``led``: modes that other rewrites lead to.

Raises:
    LimitExceeded, Cancelled: the work was stopped, or there are more than ``most``.)doc");
  nb::class_<KeptAutomata>(
      m, "KeptAutomata",
      R"doc(The byte automata of a pattern, kept between repairs; see ``core/repair/kept_automata.hpp``.

Args:
    expression: the texts that are accepted.)doc")
      .def(
          "__init__", [](KeptAutomata* self, const ExpressionPtr& expression) { new (self) KeptAutomata(expression); },
          "expression"_a)
      .def(
          "refused_at",
          [](std::shared_ptr<KeptAutomata> self, const nb::bytes& text, const Limits& limits,
             std::shared_ptr<CancelToken> cancel, nb::str pattern) {
            const std::string_view bytes(text.c_str(), text.size());
            return searching(pattern, [&] { return refused_at(self, bytes, limits, std::move(cancel)); });
          },
          "text"_a, "limits"_a, "cancel"_a.none(), "pattern"_a,
          R"doc(``None`` if the pattern accepts a text; otherwise how many bytes some text of it may begin with.

Raises:
    LimitExceeded, Cancelled: the work was stopped.)doc")
      .def(
          "accepts",
          [](std::shared_ptr<KeptAutomata> self, const nb::bytes& text, const Limits& limits,
             std::shared_ptr<CancelToken> cancel, nb::str pattern) {
            const std::string_view bytes(text.c_str(), text.size());
            return searching(pattern, [&] { return is_accepted(self, bytes, limits, std::move(cancel)); });
          },
          "text"_a, "limits"_a, "cancel"_a.none(), "pattern"_a,
          R"doc(Whether the pattern accepts a text; sooner than by ``refused_at`` if it does not.

Raises:
    LimitExceeded, Cancelled: the work was stopped.)doc")
      .def_static("idle_bytes", &KeptAutomata::idle_bytes,
                  R"doc(What the automata of all patterns take that no search uses now.)doc");
  nb::class_<BoundEdits>(m, "RepairEdits",
                         R"doc(The edits of an answer, which take memory and time when they are made.)doc")
      .def("__len__", &edit_count)
      .def("all", &edits_of,
           R"doc(Each edit: kind, begin, end, what is written, the number of the rewrite, the mode before it.

``"keep"``: of a byte that is in doubt, or that its mode has a price for.)doc");
  nb::class_<BoundSearch>(
      m, "RepairSearch",
      R"doc(The search for the cheapest repair of a text; ``core/repair/search.hpp`` has the algorithm.

Args:
    automata: of the texts that are accepted.
    text: the broken text.
    machine: modes, and the costs of single bytes.
    rewrites: as :class:`Rewrites`, in the order of their beginnings.
    doubts: as :class:`Doubts`.
    firm: positions of bytes that cost more to remove or replace, or to insert one before, and how much.
    weight: in hundredths, at least 100.
    limits, cancel: of the search as a whole.
    pattern: the pattern that errors show.

Raises:
    EmptyConstraintError: no text is accepted.
    ValueError: the costs or the rewrites are not as above.
    LimitExceeded, Cancelled: the work was stopped before there was an answer.)doc")
      .def(
          "__init__",
          [](BoundSearch* self, std::shared_ptr<KeptAutomata> automata, const nb::bytes& text,
             const MachinePtr& machine, const Rewrites& rewrites, const Doubts& doubts, const GivenFirm& firm,
             std::uint32_t weight, const Limits& limits, std::shared_ptr<CancelToken> cancel, nb::str pattern) {
            std::shared_ptr<const EditModel> given = model_of(machine, rewrites.all, doubts, firm, text.size());
            std::string bytes(text.c_str(), text.size());
            auto search = searching(pattern, [&] {
              return std::make_shared<RepairSearch>(std::move(automata), std::move(bytes), given, weight, limits,
                                                    std::move(cancel));
            });
            new (self) BoundSearch{std::move(search), std::move(given), std::move(pattern)};
          },
          "automata"_a, "text"_a, "machine"_a, "rewrites"_a, "doubts"_a, "firm"_a, "weight"_a, "limits"_a,
          "cancel"_a.none(), "pattern"_a)
      .def(
          "improve",
          [](const BoundSearch& self) {
            switch (searching(self.pattern, [&] { return self.search->improve(); })) {
              case RepairSearch::Outcome::Better: return "better";
              case RepairSearch::Outcome::Optimal: return "optimal";
              default: return "stopped";
            }
          },
          R"doc(``"better"``: there is a better answer; ``"optimal"``: there is none; ``"stopped"``: a
limit was reached.)doc")
      .def_prop_ro(
          "text",
          [](const BoundSearch& self) {
            const std::string& text = self.search->best().text;
            return nb::bytes(text.data(), text.size());
          },
          R"doc(The best text so far.)doc")
      .def_prop_ro(
          "cost", [](const BoundSearch& self) { return self.search->best().cost.cost; }, R"doc(Its cost.)doc")
      .def_prop_ro(
          "edits", [](const BoundSearch& self) { return BoundEdits{self.given, self.search->best()}; },
          R"doc(The edits of the best answer so far.)doc")
      .def_prop_ro(
          "lower_bound", [](const BoundSearch& self) { return self.search->lower_bound(); },
          R"doc(No answer costs less.)doc")
      .def_prop_ro(
          "expansions", [](const BoundSearch& self) { return self.search->expansions(); },
          R"doc(How many nodes were expanded.)doc")
      .def_prop_ro(
          "memory_bytes", [](const BoundSearch& self) { return self.search->memory_bytes(); },
          R"doc(How many bytes of states and nodes are held now.)doc")
      .def(
          "proof",
          [](const BoundSearch& self) -> std::tuple<std::uint64_t, nb::bytes, bool> {
            const RepairSearch::Proof proof = [&] {
              const Released released;
              return self.search->proof();
            }();
            return {proof.bound, bytes_of(proof.reached), proof.is_exact};
          },
          R"doc(The lower bound, what proves it, and whether its nodes are of the pattern itself.)doc")
      .def(
          "graph",
          [](const BoundSearch& self, std::uint64_t bound, bool is_exact, const nb::bytes& bytes,
             const Limits& limits) -> BoundGraph {
            const std::string kinds(bytes.c_str(), bytes.size());
            RepairGraph graph =
                searching(self.pattern, [&] { return self.search->graph(bound, is_exact, kinds, limits); });
            EdgeColumns edges(graph.edges);
            return nb::make_tuple(
                to_array(std::move(graph.positions)), nb::bytes(graph.modes.data(), graph.modes.size()),
                to_array(std::move(graph.ends)), to_array(std::move(edges.from)), to_array(std::move(edges.to)),
                to_array(std::move(edges.kind)), to_array(std::move(edges.operand)), to_array(std::move(edges.bytes)),
                to_array(std::move(edges.cost)), bytes_of(graph.byte_sets), graph.is_whole);
          },
          "bound"_a, "is_exact"_a, "bytes"_a, "limits"_a,
          R"doc(All repairs that cost no more than a bound, as a graph; ``core/repair/graph.hpp`` has the details.

The position of each node (``uint32``) and its mode (``uint8``); the numbers of the end nodes
(``uint32``); the edges, 24 bytes each: from, to, 8 · operand + kind, the number of a set of bytes
(``uint32``), the cost (``uint64``), in the order of the machine; the sets of bytes, of which set 0 is
empty and stands for the operand alone; and whether the bound has left out nothing.  The start is
node 0.

Args:
    bound: the most that a repair costs.
    is_exact: of the pattern; otherwise of its over-approximation.
    bytes: of each position its :class:`GraphBytes`; ``CHEAPEST`` past its end.
    limits: of this call.

Raises:
    LimitExceeded, Cancelled: the work was stopped.)doc");
  m.def(
      "flaw_of_bound",
      [](const ExpressionPtr& expression, const nb::bytes& text, const MachinePtr& machine, const Rewrites& rewrites,
         const Doubts& doubts, const GivenFirm& firm, std::uint64_t bound, const nb::bytes& reached, bool is_exact,
         const Limits& limits, std::shared_ptr<CancelToken> cancel, nb::str pattern) {
        const std::shared_ptr<const EditModel> model = model_of(machine, rewrites.all, doubts, firm, text.size());
        const std::string bytes(text.c_str(), text.size());
        const RepairSearch::Proof proof{bound, reached_of(reached), is_exact};
        return searching(pattern,
                         [&] { return flaw_of_bound(*expression, bytes, *model, proof, limits, std::move(cancel)); });
      },
      "expression"_a, "text"_a, "machine"_a, "rewrites"_a, "doubts"_a, "firm"_a, "bound"_a, "reached"_a, "is_exact"_a,
      "limits"_a, "cancel"_a.none(), "pattern"_a,
      R"doc(What is wrong with the proof of a bound; ``""`` if it holds.)doc");
}

}  // namespace tokamata
