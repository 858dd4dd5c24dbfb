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

#include "bindings/errors.hpp"
#include "bindings/parts.hpp"
#include "bindings/repair_parts.hpp"
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

// 24 bytes for each edge: from, to, the kind and the operand of the step, the number of its set of bytes, the cost.
struct EdgeRecord {
  std::uint32_t from, to, step, bytes;
  std::uint64_t cost;
};
static_assert(sizeof(EdgeRecord) == 24);

nb::bytes bytes_of(const std::vector<std::uint32_t>& numbers) {
  return nb::bytes(numbers.data(), numbers.size() * sizeof(std::uint32_t));
}

nb::bytes bytes_of(const std::vector<RepairGraph::Edge>& edges) {
  std::vector<EdgeRecord> records;
  records.reserve(edges.size());
  for (const auto& [from, to, step, cost, bytes] : edges)
    records.push_back({from, to, step.operand * kKinds + static_cast<std::uint32_t>(step.kind), bytes, cost});
  return nb::bytes(records.data(), records.size() * sizeof(EdgeRecord));
}

// The bytes of each set.
nb::list bytes_of(const std::vector<ByteSet>& sets) {
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

Rewrites rewrites_of(const nb::list& given) {
  Rewrites made;
  for (const auto& [begin, end, written, cost, within, then] : nb::cast<std::vector<GivenRewrite>>(given)) {
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

nb::tuple item(const Rewrites& self, std::size_t index) {
  if (index >= self.all.size()) throw nb::index_error();
  const auto& [begin, end, written, cost, within, then] = self.all[index];
  return nb::make_tuple(begin, end, nb::bytes(written.data(), written.size()), cost, within, then, self.numbers[index]);
}

using GivenInstruction = std::tuple<std::uint8_t, std::uint32_t, std::uint32_t, std::uint32_t>;
using GivenTemplate = std::tuple<nb::bytes, bool, nb::bytes, EditCost>;
using GivenMeaning = std::variant<std::monostate, GivenTemplate, EditCost>;
using GivenPattern =
    std::tuple<std::uint32_t, std::vector<GivenInstruction>, nb::bytes, nb::bytes, bool, ModeSet, Mode, GivenMeaning>;

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
  std::vector<BytePatterns::Pattern> patterns;
  std::vector<ReachablePatterns::Modes> modes;
  std::vector<std::uint32_t> numbers;
  std::vector<BoundPatterns::Meaning> meanings;
  for (const auto& [number, program, first, before, begins_text, within, then, meaning] : given) {
    BytePatterns::Pattern pattern{{}, byte_set_of(first), byte_set_of(before), begins_text};
    for (const auto& [op, a, b, c] : program) pattern.program.push_back({static_cast<BytePatterns::Op>(op), a, b, c});
    if (then != Rewrite::kByWritten && then >= kMostModes) throw nb::value_error("a pattern that leads to no mode");
    patterns.push_back(std::move(pattern));
    modes.push_back({within, then});
    numbers.push_back(number);
    meanings.push_back(meaning_of(meaning));
  }
  std::vector<ByteSet> sets;
  for (const nb::bytes& one : given_sets) sets.push_back(byte_set_of(one));
  return {
      {BytePatterns(std::move(patterns), std::move(sets)), std::move(modes)}, std::move(numbers), std::move(meanings)};
}

// The rewrites and the doubts that patterns stand for; of other patterns the number, begin and end.
nb::tuple found(const BoundPatterns& self, std::string_view text, const EditMachine& machine, ModeSet led,
                std::size_t most, const Limits& limits, std::shared_ptr<CancelToken> cancel) {
  struct Place {
    std::uint32_t number, begin, end;
  };
  Rewrites rewrites;
  Doubts doubts;
  std::vector<Place> others;
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
        others.push_back({number, begin, end});
      }
    }
  });
  nb::list listed;
  for (const auto& [number, begin, end] : others) listed.append(nb::make_tuple(number, begin, end));
  return nb::make_tuple(std::move(rewrites), std::move(doubts), std::move(listed));
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
nb::list edits_of(const BoundEdits& self) {
  static constexpr const char* kNames[] = {"keep", "rewrite", "remove", "insert", "replace"};
  nb::list edits;
  visit_steps(self, [&](const EditStep& step, Mode mode, std::size_t position, std::size_t end,
                        std::string_view written, bool is_edit) {
    if (!is_edit) return;
    edits.append(nb::make_tuple(kNames[static_cast<std::size_t>(step.kind)], position, end,
                                nb::bytes(written.data(), written.size()),
                                step.kind == EditKind::Rewrite ? step.operand : 0, mode));
  });
  return edits;
}

}  // namespace

void bind_repair(nb::module_& m) {
  nb::class_<EditMachine>(m, "EditMachine")
      .def(
          "__init__",
          [](EditMachine* self, const nb::bytes& after, const nb::bytes& inserted, const nb::bytes& costs) {
            new (self) EditMachine(machine_of(after, inserted, costs));
          },
          "after"_a, "inserted"_a, "costs"_a);
  nb::class_<Rewrites>(m, "Rewrites")
      .def(
          "__init__", [](Rewrites* self, const nb::list& given) { new (self) Rewrites(rewrites_of(given)); },
          "rewrites"_a)
      .def("__len__", [](const Rewrites& self) { return self.all.size(); })
      .def("__getitem__", &item, "index"_a)
      .def("add", &add, "rewrites"_a);
  nb::implicitly_convertible<nb::list, Rewrites>();
  nb::class_<Doubts>(m, "Doubts")
      .def(
          "__init__",
          [](Doubts* self, const nb::list& given) {
            new (self) Doubts;
            add_doubts(*self, nb::cast<std::vector<GivenDoubt>>(given));
          },
          "doubts"_a)
      .def("__len__", [](const Doubts& self) { return self.all.size(); })
      .def("all", &Doubts::listed)
      .def("add", &add_doubts, "doubts"_a)
      .def("dearest", &Doubts::dearest, "position"_a, "mode"_a);
  nb::implicitly_convertible<nb::list, Doubts>();
  nb::class_<BoundPatterns>(m, "BytePatterns")
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
          "text"_a, "machine"_a, "led"_a, "most"_a, "limits"_a, "cancel"_a.none());
  nb::class_<KeptAutomata>(m, "KeptAutomata")
      .def(
          "__init__", [](KeptAutomata* self, const ExpressionPtr& expression) { new (self) KeptAutomata(expression); },
          "expression"_a)
      .def(
          "refused_at",
          [](std::shared_ptr<KeptAutomata> self, const nb::bytes& text, const Limits& limits,
             std::shared_ptr<CancelToken> cancel, const nb::object& pattern) {
            const std::string_view bytes(text.c_str(), text.size());
            return searching(pattern, [&] { return refused_at(self, bytes, limits, std::move(cancel)); });
          },
          "text"_a, "limits"_a, "cancel"_a.none(), "pattern"_a)
      .def(
          "accepts",
          [](std::shared_ptr<KeptAutomata> self, const nb::bytes& text, const Limits& limits,
             std::shared_ptr<CancelToken> cancel, const nb::object& pattern) {
            const std::string_view bytes(text.c_str(), text.size());
            return searching(pattern, [&] { return is_accepted(self, bytes, limits, std::move(cancel)); });
          },
          "text"_a, "limits"_a, "cancel"_a.none(), "pattern"_a)
      .def_static("idle_bytes", &KeptAutomata::idle_bytes);
  nb::class_<BoundEdits>(m, "RepairEdits").def("__len__", &edit_count).def("all", &edits_of);
  nb::class_<BoundSearch>(m, "RepairSearch")
      .def(
          "__init__",
          [](BoundSearch* self, std::shared_ptr<KeptAutomata> automata, const nb::bytes& text,
             const MachinePtr& machine, const Rewrites& rewrites, const Doubts& doubts, const GivenFirm& firm,
             std::uint32_t weight, const Limits& limits, std::shared_ptr<CancelToken> cancel, nb::object pattern) {
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
      .def("improve",
           [](const BoundSearch& self) {
             switch (searching(self.pattern, [&] { return self.search->improve(); })) {
               case RepairSearch::Outcome::Better: return "better";
               case RepairSearch::Outcome::Optimal: return "optimal";
               default: return "stopped";
             }
           })
      .def_prop_ro("text",
                   [](const BoundSearch& self) {
                     const std::string& text = self.search->best().text;
                     return nb::bytes(text.data(), text.size());
                   })
      .def_prop_ro("cost", [](const BoundSearch& self) { return self.search->best().cost.cost; })
      .def_prop_ro("edits", [](const BoundSearch& self) { return BoundEdits{self.given, self.search->best()}; })
      .def_prop_ro("lower_bound", [](const BoundSearch& self) { return self.search->lower_bound(); })
      .def_prop_ro("expansions", [](const BoundSearch& self) { return self.search->expansions(); })
      .def_prop_ro("memory_bytes", [](const BoundSearch& self) { return self.search->memory_bytes(); })
      .def("proof",
           [](const BoundSearch& self) {
             const RepairSearch::Proof proof = [&] {
               const Released released;
               return self.search->proof();
             }();
             return nb::make_tuple(proof.bound, bytes_of(proof.reached), proof.is_exact);
           })
      .def(
          "graph",
          [](const BoundSearch& self, std::uint64_t bound, bool is_exact, const nb::bytes& bytes,
             const Limits& limits) {
            const std::string kinds(bytes.c_str(), bytes.size());
            const RepairGraph graph =
                searching(self.pattern, [&] { return self.search->graph(bound, is_exact, kinds, limits); });
            return nb::make_tuple(bytes_of(graph.positions), nb::bytes(graph.modes.data(), graph.modes.size()),
                                  bytes_of(graph.ends), bytes_of(graph.edges), bytes_of(graph.byte_sets),
                                  graph.is_whole);
          },
          "bound"_a, "is_exact"_a, "bytes"_a, "limits"_a);
  m.def(
      "flaw_of_bound",
      [](const ExpressionPtr& expression, const nb::bytes& text, const MachinePtr& machine, const Rewrites& rewrites,
         const Doubts& doubts, const GivenFirm& firm, std::uint64_t bound, const nb::bytes& reached, bool is_exact,
         const Limits& limits, std::shared_ptr<CancelToken> cancel, const nb::object& pattern) {
        const std::shared_ptr<const EditModel> model = model_of(machine, rewrites.all, doubts, firm, text.size());
        const std::string bytes(text.c_str(), text.size());
        const RepairSearch::Proof proof{bound, reached_of(reached), is_exact};
        return searching(pattern,
                         [&] { return flaw_of_bound(*expression, bytes, *model, proof, limits, std::move(cancel)); });
      },
      "expression"_a, "text"_a, "machine"_a, "rewrites"_a, "doubts"_a, "firm"_a, "bound"_a, "reached"_a, "is_exact"_a,
      "limits"_a, "cancel"_a.none(), "pattern"_a);
}

}  // namespace tokamata
