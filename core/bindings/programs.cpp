// Programs for Python, and splitters: how a text splits into the parts of a constraint.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <string_view>
#include <tuple>

#include "bindings/errors.hpp"
#include "bindings/parts.hpp"
#include "bindings/programs.hpp"
#include "expression/expression.hpp"
#include "programs/splitter.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {

namespace {

using Op = Instruction::Op;

constexpr std::array<std::pair<std::string_view, Op>, 19> kOperations{{{"accept", Op::Accept},
                                                                       {"read", Op::Read},
                                                                       {"run", Op::Run},
                                                                       {"part", Op::Part},
                                                                       {"fork", Op::Fork},
                                                                       {"jump", Op::Jump},
                                                                       {"mark", Op::Mark},
                                                                       {"enter", Op::Enter},
                                                                       {"loop", Op::Loop},
                                                                       {"again", Op::Again},
                                                                       {"leave", Op::Leave},
                                                                       {"look", Op::Look},
                                                                       {"text_start", Op::TextStart},
                                                                       {"text_end", Op::TextEnd},
                                                                       {"last_line_end", Op::LastLineEnd},
                                                                       {"line_start", Op::LineStart},
                                                                       {"line_end", Op::LineEnd},
                                                                       {"boundary", Op::Boundary},
                                                                       {"not_boundary", Op::NotBoundary}}};

Instruction instruction_of(const GivenInstruction& given) {
  Instruction one;
  const auto name = nb::cast<std::string>(given[0]);
  const auto known =
      std::ranges::find(kOperations, std::string_view(name), [](const auto& pair) { return pair.first; });
  if (known == kOperations.end()) throw nb::value_error("no such instruction");
  one.op = known->second;
  one.number = nb::cast<std::uint32_t>(given[1]);
  one.target = nb::cast<std::uint32_t>(given[2]);
  one.low = nb::cast<Count>(given[3]);
  one.high = given[4].is_none() ? kUnbounded : nb::cast<Count>(given[4]);
  const auto flags = nb::cast<std::string>(given[5]);
  one.lazy = flags.find("lazy") != std::string::npos;
  one.behind = flags.find("behind") != std::string::npos;
  one.negated = flags.find("negated") != std::string::npos;
  one.drops_empty = flags.find("drops_empty") != std::string::npos;
  return one;
}

std::string_view view(const nb::bytes& data) { return {data.c_str(), data.size()}; }

using Borders = nb::typed<nb::list, nb::typed<nb::tuple, std::uint32_t, std::size_t>>;  // marks and positions

Borders borders_as_pairs(const std::vector<Splitter::Border>& borders) {
  nb::list pairs;
  for (const auto& [mark, position] : borders) pairs.append(nb::make_tuple(mark, position));
  return pairs;
}

std::optional<Borders> optional_borders(const std::optional<std::vector<Splitter::Border>>& borders) {
  return borders ? std::optional(borders_as_pairs(*borders)) : std::nullopt;
}

// A splitter, and what its errors show.
struct BoundSplitter {
  std::shared_ptr<Splitter> splitter;
  nb::object pattern;
};

struct BoundSplit {
  std::unique_ptr<Splitter::Split> split;
  nb::object pattern;
};

// Each call waits until no other split of the splitter works.
template <class Task>
auto asked(const BoundSplit& self, Task&& task) {
  return without_interpreter({self.pattern, false}, task);
}

}  // namespace

Program program_of(const std::vector<GivenInstruction>& code) {
  Program program;
  for (const GivenInstruction& one : code) program.push_back(instruction_of(one));
  return program;
}

void bind_programs(nb::module_& m) {
  nb::class_<BoundSplit>(m, "Split", R"doc(The split of a text that arrives piece by piece.)doc")
      .def(
          "fork",
          [](const BoundSplit& self) {
            return BoundSplit{asked(self, [&] { return self.split->fork(); }), self.pattern};
          },
          R"doc(A second one at the same position.)doc")
      .def(
          "feed", [](BoundSplit& self, const nb::bytes& data) { asked(self, [&] { self.split->feed(view(data)); }); },
          "data"_a, R"doc(Reads more bytes.  A call that raises LimitExceeded or Cancelled changes nothing.)doc")
      .def(
          "certain",
          [](const BoundSplit& self, std::uint32_t skip) {
            return borders_as_pairs(asked(self, [&] { return self.split->certain(skip); }));
          },
          "skip"_a,
          R"doc(The marks that all continuations have in common, with positions, except the first ``skip``.)doc")
      .def_prop_ro(
          "bound", [](const BoundSplit& self) { return asked(self, [&] { return self.split->bound(); }); },
          R"doc(The position up to which all continuations assign the text to the current part.)doc")
      .def(
          "end",
          [](const BoundSplit& self) { return optional_borders(asked(self, [&] { return self.split->end(); })); },
          R"doc(All marks if the text ends here; ``None`` if it cannot.)doc");
  nb::class_<BoundSplitter>(
      m, "Splitter", R"doc(Splits texts into the parts of a program; ``core/programs/splitter.hpp`` has the algorithm.

Args:
    leaves: the expressions that the program's parts read.
    code: the instructions, as ``tokamata.patterns.regex.program`` makes them.
    limits, cancel: for each call.
    pattern: the pattern that errors show.

Raises:
    ValueError: the program refers to a leaf or an instruction that does not exist.
    LimitExceeded, Cancelled: the work was stopped.)doc")
      .def(
          "__init__",
          [](BoundSplitter* self, std::vector<ExpressionPtr> leaves, const std::vector<GivenInstruction>& code,
             const Limits& limits, std::shared_ptr<CancelToken> cancel, nb::str pattern) {
            SplitProgram program{std::move(leaves), program_of(code)};
            auto splitter = without_interpreter({pattern, false}, [&] {
              return std::make_shared<Splitter>(std::move(program), limits, std::move(cancel));
            });
            new (self) BoundSplitter{std::move(splitter), std::move(pattern)};
          },
          "leaves"_a, "code"_a, "limits"_a, "cancel"_a.none(), "pattern"_a)
      .def(
          "split",
          [](const BoundSplitter& self,
             const nb::bytes& text) -> nb::typed<nb::tuple, std::optional<Borders>, std::size_t> {
            const Splitter::Whole whole =
                without_interpreter({self.pattern, false}, [&] { return self.splitter->split(view(text)); });
            return nb::make_tuple(optional_borders(whole.borders), whole.reached);
          },
          "text"_a,
          R"doc(The marks of the preferred split with their positions, or ``None`` without a split; and the length
of the longest prefix that some accepted text has too.

Raises:
    LimitExceeded, Cancelled: the work was stopped.)doc")
      .def(
          "begin",
          [](const BoundSplitter& self) {
            return BoundSplit{without_interpreter({self.pattern, false}, [&] { return self.splitter->begin(); }),
                              self.pattern};
          },
          R"doc(Begins to split a text that arrives piece by piece.)doc")
      .def_prop_ro(
          "memory_bytes", [](const BoundSplitter& self) { return self.splitter->memory_bytes(); },
          R"doc(How many bytes of expressions, transitions and borders are held now.)doc");
}

}  // namespace tokamata
