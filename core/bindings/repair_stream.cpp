// The repair of a text that still arrives, for Python.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/repair_parts.hpp"
#include "programs/streamed_patterns.hpp"
#include "repair/stream_search.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {

namespace {

using GivenRewriteOfStream = std::tuple<std::uint32_t, std::uint32_t, nb::bytes, EditCost, ModeSet, Mode>;
using GivenOpen = std::tuple<std::uint32_t, EditCost, ModeSet>;

struct BoundStream {
  nb::object patterns_owner;
  const BoundPatterns* patterns;
  std::vector<EditCost> prices;  // of the rewrites of each pattern, by its number
  Limits limits;
  std::shared_ptr<CancelToken> cancel;
  nb::object pattern;
  double pattern_seconds = 0;
  std::string text;  // for the patterns
  StreamedPatterns matches;
  std::unique_ptr<StreamSearch> search;
};

// More of the text; the matches of patterns without a template that have become certain: number, begin, end.
nb::typed<nb::list, nb::typed<nb::tuple, std::uint32_t, std::uint32_t, std::uint32_t>> feed_stream(
    BoundStream& self, const nb::bytes& given) {
  const std::string_view bytes(given.c_str(), given.size());
  std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> others;
  searching(self.pattern, [&] {
    self.text += bytes;
    self.search->feed(bytes);
    Budget budget(self.limits, self.cancel, self.pattern_seconds);
    for (const auto& [pattern, begin, end] : self.matches.feed(self.text, budget)) {
      const BoundPatterns::Meaning& meaning = self.patterns->meanings[pattern];
      const auto& [within, then] = self.patterns->reachable.modes(pattern);
      if (const auto* const made = std::get_if<Template>(&meaning))
        self.search->add({begin, end, made->written(std::string_view(self.text).substr(begin, end - begin)), made->cost,
                          within, then});
      else if (const auto* const cost = std::get_if<EditCost>(&meaning)) self.search->add_doubt(begin, *cost, within);
      else others.emplace_back(self.patterns->numbers[pattern], begin, end);
    }
    self.pattern_seconds = budget.spent_seconds();
  });
  nb::list found;
  for (const auto& [number, begin, end] : others) found.append(nb::make_tuple(number, begin, end));
  return found;
}

// `open_rewrites`: where rewrites of words and finders may still begin, and what they would cost.
nb::bytes advance_stream(BoundStream& self, const std::vector<GivenRewriteOfStream>& rewrites,
                         const std::vector<std::pair<std::uint32_t, EditCost>>& firm,
                         const std::vector<GivenOpen>& open_rewrites, std::size_t settled, std::size_t withheld) {
  std::vector<Rewrite> made;
  for (const auto& [begin, end, written, cost, within, then] : rewrites) {
    if (begin > end || end > self.text.size()) throw nb::value_error("a rewrite of bytes outside of the text");
    made.push_back({begin, end, std::string(written.c_str(), written.size()), cost, within, then});
  }
  for (const auto& [position, cost] : firm)
    if (position >= self.text.size()) throw nb::value_error("a firm byte beyond the text");
  const std::string decided = searching(self.pattern, [&] {
    for (const auto& [position, cost] : firm) self.search->add_firm(position, cost);
    for (Rewrite& rewrite : made) self.search->add(std::move(rewrite));
    std::size_t certain = std::min(settled, self.text.size());
    std::vector<StreamSearch::OpenRewrite> open;
    for (const auto& [pattern, position] : self.matches.open(self.search->decided_until())) {
      if (std::holds_alternative<EditCost>(self.patterns->meanings[pattern]))
        certain = std::min<std::size_t>(certain, position);
      else
        open.push_back(
            {position, self.prices[self.patterns->numbers[pattern]], self.patterns->reachable.modes(pattern).within});
    }
    for (const auto& [position, cost, within] : open_rewrites) open.push_back({position, cost, within});
    return self.search->advance(certain, std::move(open), withheld);
  });
  return nb::bytes(decided.data(), decided.size());
}

}  // namespace

void bind_repair_stream(nb::module_& m) {
  nb::class_<BoundStream>(
      m, "StreamSearch",
      R"doc(The search that follows a text while it arrives; ``core/repair/stream_search.hpp`` has the algorithm.

Args:
    automata: of the texts that are accepted.
    machine: modes, and the costs of single bytes.
    patterns: of rewrites and doubts.
    prices: by number of a pattern: its cost as a rewrite.
    slack: what a repair may cost more than the cheapest one and count nevertheless.
    limits, cancel: of the stream as a whole.
    pattern: the pattern that errors show.

Raises:
    EmptyConstraintError: it is seen at once that no text is accepted.
    ValueError: a pattern has no price.
    LimitExceeded, Cancelled: the work was stopped.)doc")
      .def(
          "__init__",
          [](BoundStream* self, std::shared_ptr<KeptAutomata> automata, const std::shared_ptr<EditMachine>& machine,
             nb::handle_t<BoundPatterns> patterns, std::vector<EditCost> prices, EditCost slack, const Limits& limits,
             std::shared_ptr<CancelToken> cancel, nb::str pattern) {
            const auto* const given = nb::inst_ptr<BoundPatterns>(patterns);
            for (const std::uint32_t number : given->numbers)
              if (number >= prices.size()) throw nb::value_error("a pattern without a price");
            auto search = searching(pattern, [&] {
              return std::make_unique<StreamSearch>(std::move(automata), machine, slack, limits, cancel);
            });
            new (self) BoundStream{nb::borrow(patterns),
                                   given,
                                   std::move(prices),
                                   limits,
                                   std::move(cancel),
                                   std::move(pattern),
                                   0,
                                   {},
                                   StreamedPatterns(given->reachable.patterns()),
                                   std::move(search)};
          },
          "automata"_a, "machine"_a, "patterns"_a, "prices"_a, "slack"_a, "limits"_a, "cancel"_a.none(), "pattern"_a)
      .def("feed", &feed_stream, "bytes"_a,
           R"doc(More of the text; of patterns without a template, the matches that are certain: number, begin, end.

Raises:
    LimitExceeded, Cancelled: the work was stopped; nothing more may be fed.)doc")
      .def("advance", &advance_stream, "rewrites"_a, "firm"_a, "open_rewrites"_a, "settled"_a, "withheld"_a,
           R"doc(Searches on; returns what more is decided of the repaired text.

Args:
    rewrites, firm: what is known since the last call.
    open_rewrites: positions where rewrites may turn out to begin, their costs and modes.
    settled: the position up to which firm bytes are known.
    withheld: the position from which nothing is to be decided.

Raises:
    ValueError: a position is beyond the text.
    Cancelled: the work was stopped.)doc")
      .def(
          "undecided",
          [](BoundStream& self) {
            const std::string text = searching(self.pattern, [&] { return self.search->undecided(); });
            return nb::bytes(text.data(), text.size());
          },
          R"doc(The cheapest repair of the text so far, after what is decided.

Raises:
    LimitExceeded, Cancelled: the work was stopped.)doc")
      .def_prop_ro(
          "follows", [](const BoundStream& self) { return self.search->follows(); },
          R"doc(Whether no limit has ended the search.)doc")
      .def_prop_ro(
          "decided_until", [](const BoundStream& self) { return self.search->decided_until(); },
          R"doc(How much of the text the decided part of the repaired text has read.)doc")
      .def_prop_ro(
          "cost",
          [](const BoundStream& self) -> std::optional<std::uint64_t> {
            const std::uint64_t cost = self.search->cost();
            return cost == StreamSearch::kNoCost ? std::nullopt : std::optional(cost);
          },
          R"doc(What the cheapest repair of what is settled costs at least; ``None``: no cheap one is known.)doc")
      .def_prop_ro(
          "bound",
          [](const BoundStream& self) -> std::optional<std::uint64_t> {
            const std::uint64_t bound = self.search->decided_bound();
            return bound == StreamSearch::kNoCost ? std::nullopt : std::optional(bound);
          },
          R"doc(What a whole repair may cost for which all holds that is decided; ``None`` where ``cost`` is.)doc")
      .def_prop_ro(
          "expansions", [](const BoundStream& self) { return self.search->expansions(); },
          R"doc(How many nodes were expanded.)doc")
      .def_prop_ro(
          "memory_bytes", [](const BoundStream& self) { return self.search->memory_bytes(); },
          R"doc(What the search holds, and the automaton that it has borrowed.)doc");
}

}  // namespace tokamata
