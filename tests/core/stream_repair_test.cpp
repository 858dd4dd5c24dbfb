// What a search decides of a text that still arrives, against the judge of whole texts.

#include "amounts.hpp"
#include "random_repairs.hpp"
#include "repair/stream_search.hpp"
#include "test.hpp"

namespace {

using namespace repairs;

// A whole text, and how it arrives.
struct Arrival {
  ExpressionPtr pattern;
  std::string text;
  EditModel model;
  EditCost slack;
};

Arrival random_arrival(Choices& choices) {
  Arrival arrival{random_pattern(choices), random_bytes(choices), {}, static_cast<EditCost>(choices.below(4))};
  arrival.text += random_bytes(choices);
  arrival.model = random_model(choices, arrival.text.size());
  return arrival;
}

// Tells a search what holds of the text up to some position: the next piece, rewrites that end in it, doubts and firm
// bytes.  Returns the rewrites whose ends have not arrived.
std::vector<StreamSearch::OpenRewrite> feed_until(StreamSearch& search, const Arrival& arrival, std::size_t from,
                                                  std::size_t until) {
  search.feed(std::string_view(arrival.text).substr(from, until - from));
  std::vector<StreamSearch::OpenRewrite> open;
  for (const Rewrite& rewrite : arrival.model.rewrites) {
    const bool is_known_before = from > 0 && rewrite.end <= from, is_known = rewrite.end <= until;
    if (is_known && !is_known_before) search.add(rewrite);
    if (!is_known && rewrite.begin < until) open.push_back({rewrite.begin, rewrite.cost, rewrite.within});
  }
  for (auto position = static_cast<std::uint32_t>(from); position < until; ++position) {
    for (std::size_t mode = 0; mode < arrival.model.doubts.size(); ++mode)
      if (!arrival.model.doubts[mode].empty())
        search.add_doubt(position, arrival.model.doubts[mode][position], static_cast<ModeSet>(1u << mode));
    search.add_firm(position, arrival.model.firmness(position));
  }
  return open;
}

// However a text is cut: what was decided begins a cheapest repair of the whole text, if that costs no more than the
// bound; and the repair costs no less than was said.
TEST(what_is_decided_begins_a_cheapest_repair) {
  std::size_t decided_ones = 0, edited_ones = 0;
  for (std::uint64_t seed = 1; seed <= test::drawn(1500); ++seed) {
    Choices choices(seed + 150'000);
    const Arrival arrival = random_arrival(choices);
    const test::Note note([&] { return "seed " + std::to_string(seed); });
    Limits limits;
    limits.states = 3000;
    std::optional<std::uint64_t> expected;
    try {
      expected = judged(*arrival.pattern, arrival.text, arrival.model);
    } catch (const LimitExceeded&) {
      continue;
    }
    if (!expected) continue;
    StreamSearch search(std::make_shared<KeptAutomata>(arrival.pattern), arrival.model.machine, arrival.slack, limits,
                        nullptr);
    std::string decided;
    for (std::size_t at = 0; at < arrival.text.size();) {
      const std::size_t until = std::min<std::size_t>(at + choices.between(1, 3), arrival.text.size());
      const std::vector<StreamSearch::OpenRewrite> open = feed_until(search, arrival, at, until);
      at = until;
      const std::string more = search.advance(until, open, until);
      CHECK(search.decided_until() <= until);
      if (search.cost() != StreamSearch::kNoCost) CHECK(search.cost() <= *expected);
      decided += more;
      if (more.empty() || search.decided_bound() == StreamSearch::kNoCost || *expected > search.decided_bound()) {
        if (!more.empty()) break;  // of this repair nothing was said, so nothing holds of what comes later
        continue;
      }
      const ExpressionPtr begun = Expression::intersection(
          {arrival.pattern, Expression::concatenation({Expression::literal(decided), Expression::everything()})});
      CHECK(judged(*begun, arrival.text, arrival.model) == expected);
      ++decided_ones;
      edited_ones += arrival.text.compare(0, decided.size(), decided) != 0;
    }
  }
  CHECK(decided_ones > 50);
  CHECK(edited_ones > 10);
}

// Where a limit is passed, the text is followed no longer, and nothing fails.
TEST(a_search_that_passes_a_limit_decides_nothing) {
  const ExpressionPtr pattern = Expression::repetition(Expression::literal("ab"), 0, kUnbounded, 0);
  EditMachine machine;
  machine.costs.emplace_back();
  for (ByteCosts* costs : {&machine.costs[0].prepend, &machine.costs[0].insert, &machine.costs[0].append,
                           &machine.costs[0].remove, &machine.costs[0].replace})
    costs->fill(1);
  for (EditMachine::Next* const next : {&machine.after, &machine.inserted}) next->emplace_back();
  Limits limits;
  limits.memory_bytes = 200'000;
  StreamSearch search(std::make_shared<KeptAutomata>(pattern), std::make_shared<const EditMachine>(machine), 2, limits,
                      nullptr);
  for (std::size_t fed = 0; fed < 100'000 && search.follows(); fed += 100) {
    search.feed(std::string(100, 'b'));
    search.advance(0, {}, 0);  // nothing is settled, so all of it is held
  }
  CHECK(!search.follows());
  search.feed("ab");
  CHECK(search.advance(100, {}, 100).empty());
  CHECK(search.undecided().empty());
  CHECK_EQUAL(search.cost(), StreamSearch::kNoCost);
}

}  // namespace
