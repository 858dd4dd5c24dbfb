// Several callers of one pattern: states are made once, and the limits of one never stop another.

#include "choices.hpp"
#include "engine.hpp"

namespace {

using namespace oracle;
using tokamata::CancelToken;
using tokamata::Constraint;
using tokamata::LimitExceeded;
using tokamata::Limits;
using tokamata::Matcher;
using tokamata::TokenId;

// Each text of a's and b's has states of its own: which of the last 16 letters were an a.
TreePtr growing() {
  const TreePtr letter = one_of({{'a', 'b'}});
  return sequence({star(letter), text("a"), repeat(letter, 16, 16)});
}

Limits of_states(std::size_t states) {
  Limits limits;
  limits.states = states;
  return limits;
}

std::shared_ptr<Constraint> caller(const std::shared_ptr<Constraint>& other, const Limits& limits = {},
                                   std::shared_ptr<const CancelToken> cancel = nullptr) {
  return std::make_shared<Constraint>(other->shared(), limits, std::move(cancel));
}

// How many of `count` letters are taken before a limit is passed.
unsigned written(Matcher& matcher, unsigned count, unsigned seed) {
  Choices choices(seed);
  const std::size_t before = matcher.tokens().size();
  for (unsigned i = 0; i < count; ++i) try {
      CHECK(matcher.advance({choices.one_in(2) ? 'a' : std::uint32_t{'b'}}));
    } catch (const LimitExceeded&) {
      CHECK_EQUAL(matcher.tokens().size(), before + i);
      return i;
    }
  return count;
}

constexpr std::uint32_t kHole = 259;  // a token without text, after the stop token
const Tokens& letters() {
  static const Tokens tokens = [] {
    Tokens made = engine::with_all_bytes({"ab", "ba"});
    made.bytes.emplace_back(std::nullopt);
    CHECK_EQUAL(made.width++, kHole);
    return made;
  }();
  return tokens;
}

TEST(states_are_made_once_for_all_callers) {
  const auto first = engine::compile(growing(), letters());
  Matcher one(first);
  CHECK_EQUAL(written(one, 100, 1), 100u);
  const auto mask = one.mask();
  const std::size_t states = first->state_count(), bytes = first->memory_bytes();
  const auto second = caller(first);
  Matcher other(second);
  CHECK_EQUAL(written(other, 100, 1), 100u);
  CHECK(other.mask() == mask);
  CHECK_EQUAL(first->state_count(), states);
  CHECK_EQUAL(second->state_count(), states);
  CHECK_EQUAL(second->memory_bytes(), bytes);
}

TEST(what_others_have_made_is_no_failure) {
  // In both orders: who allows more comes first, or last.
  for (const bool large_first : {true, false}) {
    const auto first = engine::compile(growing(), letters(), of_states(large_first ? 10'000 : 300));
    const auto second = caller(first, of_states(large_first ? 300 : 10'000));
    const auto& large = large_first ? first : second;
    const auto& small = large_first ? second : first;
    Matcher begun(small), grown(large);
    CHECK_EQUAL(written(begun, 20, 5), 20u);
    CHECK_EQUAL(written(grown, 1000, 1), 1000u);
    const std::size_t states = large->state_count();
    CHECK(states > 900);
    const auto mask = grown.mask();

    // The small one has as much room as if it were alone, in texts that had begun and in new ones.
    const auto alone = engine::compile(growing(), letters(), of_states(300));
    Matcher same(alone), twin(small);
    CHECK_EQUAL(written(same, 20, 5), 20u);
    CHECK_EQUAL(written(begun, 60, 6), 60u);
    CHECK_EQUAL(written(same, 60, 6), 60u);
    CHECK(begun.tokens() == same.tokens());
    CHECK(begun.mask()->bits.row() == same.mask()->bits.row());
    CHECK_EQUAL(written(twin, 60, 7), 60u);
    CHECK(small->state_count() <= 301);
    CHECK(&small->states() != &large->states());
    CHECK(&twin.states() == &begun.states());
    CHECK(twin.fork()->tokens() == twin.tokens());

    // Its own work stops it, and leaves the other one alone.
    Matcher long_text(small);
    const unsigned length = written(long_text, 1000, 3);
    CHECK(length < 300);
    const LimitExceeded error = CHECK_THROWS(LimitExceeded, {
      Choices choices(4);
      for (unsigned i = 0; i < 1000; ++i) (void)long_text.advance({choices.one_in(2) ? 'a' : std::uint32_t{'b'}});
    });
    CHECK_EQUAL(error.bound, 300.0);
    CHECK(large->state_count() < states + 50);  // what was made until there were too many
    CHECK(grown.mask() == mask);
    CHECK_EQUAL(written(grown, 1000, 2), 1000u);
  }
}

TEST(callers_with_the_same_limits_do_not_fill_them_together) {
  const auto first = engine::compile(growing(), letters(), of_states(300));
  std::vector<std::shared_ptr<Constraint>> callers = {first};
  for (unsigned i = 0; i < 4; ++i) callers.push_back(caller(first, of_states(300)));
  std::vector<std::unique_ptr<Matcher>> matchers;
  for (std::size_t i = 0; i < callers.size(); ++i) {
    matchers.push_back(std::make_unique<Matcher>(callers[i]));
    CHECK_EQUAL(written(*matchers.back(), 150, static_cast<unsigned>(i)), 150u);
  }
  for (std::size_t i = 0; i < callers.size(); ++i) {
    CHECK(callers[i]->state_count() <= 301);  // with the dead state
    Matcher alone(engine::compile(growing(), letters()));
    CHECK_EQUAL(written(alone, 150, static_cast<unsigned>(i)), 150u);
    CHECK(alone.mask()->bits.row() == matchers[i]->mask()->bits.row());
  }
}

TEST(memory_is_that_of_each_caller) {
  const auto first = engine::compile(growing(), letters());
  Matcher grown(first);
  CHECK_EQUAL(written(grown, 3000, 1), 3000u);
  Limits limits;
  limits.memory_bytes = first->memory_bytes() / 2;
  const auto second = caller(first, limits);
  Matcher matcher(second);
  CHECK_EQUAL(written(matcher, 300, 8), 300u);
  CHECK(second->memory_bytes() <= limits.memory_bytes);
  CHECK(written(matcher, 100'000, 9) < 100'000u);
}

TEST(whole_automata_are_within_the_limits_of_a_caller) {
  const TreePtr letter = one_of({{'a', 'b'}});
  const auto first = engine::compile(sequence({star(letter), text("a"), repeat(letter, 6, 6)}), letters());
  const tokamata::ClosedForm whole = first->closed_form();
  CHECK_EQUAL(whole.accepting.size(), 128u);
  CHECK_EQUAL(caller(first, of_states(1000))->closed_form().accepting.size(), 128u);
  CHECK_EQUAL(caller(first, of_states(130))->closed_form().accepting.size(), 128u);
  const LimitExceeded error = CHECK_THROWS(LimitExceeded, caller(first, of_states(100))->closed_form());
  CHECK_EQUAL(error.bound, 100.0);
}

TEST(stops_lengths_and_contexts_go_along) {
  const auto first = engine::compile(growing(), letters());
  const auto second = caller(first, of_states(200));
  Matcher matcher(second);
  matcher.set_stops({TokenId{kHole}});
  matcher.set_least(40);
  CHECK_EQUAL(written(matcher, 30, 1), 30u);
  Matcher grown(first);
  CHECK_EQUAL(written(grown, 1000, 2), 1000u);
  CHECK_EQUAL(written(matcher, 9, 3), 9u);
  CHECK(!matcher.is_accepting());
  CHECK(&matcher.states() != &grown.states());
  for (unsigned i = 0; i < 20; ++i) CHECK(matcher.advance({'a'}));
  CHECK(matcher.is_accepting());
  CHECK(matcher.mask()->bits.contains(kHole));
  CHECK(matcher.advance({kHole}));
  CHECK(matcher.is_finished());
}

TEST(a_token_cancels_its_caller_alone) {
  const auto token = std::make_shared<CancelToken>();
  const auto first = engine::compile(growing(), letters(), {}, token);
  const auto second = caller(first);
  Matcher one(first), other(second);
  CHECK_EQUAL(written(one, 300, 1), 300u);
  token->cancel();
  CHECK_THROWS(tokamata::Cancelled,
               for (unsigned i = 0; i < 10'000; ++i)(void) one.advance({i % 3 ? 'a' : std::uint32_t{'b'}}));
  CHECK_EQUAL(written(other, 1000, 2), 1000u);
}

}  // namespace
