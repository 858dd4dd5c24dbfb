// What strangers may send: patterns that explode, limits that stop them, and memory that comes back.
//
// The bounds on time are generous, since the machine may be busy; those on memory count what was
// really allocated (allocations.hpp), not what the engine says that it holds.

#include <chrono>
#include <cstdlib>

#include "allocations.hpp"
#include "engine.hpp"
#include "generate.hpp"

namespace {

using namespace oracle;
using tokamata::LimitExceeded;
using tokamata::Limits;
using tokamata::Matcher;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// What is allocated at most while this lives, beyond what was allocated before.
class MemoryMeter {
 public:
  MemoryMeter() : before_(allocations::bytes) { allocations::most_bytes = before_; }
  std::size_t most() const { return allocations::most_bytes - before_; }
  std::size_t now() const { return allocations::bytes - before_; }

 private:
  std::size_t before_;
};

struct Attack {
  const char* name;
  TreePtr tree;
};

// (a|aa|aaa|...)
TreePtr runs_of(const char* letter, unsigned count) {
  std::vector<TreePtr> items;
  std::string run;
  for (unsigned i = 0; i < count; ++i) items.push_back(text(run += letter));
  return choice(items);
}

TreePtr many(const TreePtr& item, unsigned count) { return sequence(std::vector<TreePtr>(count, item)); }

TreePtr doubled(TreePtr tree, unsigned times) {  // ((t t)(t t))…, written out
  for (unsigned i = 0; i < times; ++i) tree = sequence({optional(tree), optional(tree)});
  return tree;
}

std::vector<Attack> attacks() {
  const TreePtr a = text("a"), b = text("b"), letter = one_of({{'a', 'b'}}), pair = sequence({letter, letter});
  std::vector<Attack> all = {
      // Counts within the reach of a token, and nothing that may be repeated letter by letter: every
      // token must be walked, and nearly every one ends in a state of its own.
      {"([ab][ab]|[ab]{3})*a([ab][ab]){18}",
       sequence({star(choice({pair, sequence({letter, letter, letter})})), a, repeat(pair, 18, 18)})},
      {"([ab][ab]|[ab]{3})*(a([ab][ab]){15}|b([ab][ab]){16})*a",
       sequence({star(choice({pair, sequence({letter, letter, letter})})),
                 star(choice({sequence({a, repeat(pair, 15, 15)}), sequence({b, repeat(pair, 16, 16)})})), a})},
      {"(.*a.{1000})", sequence({star(any()), a, repeat(any(), 1000, 1000)})},
      {".*a.{1000}b.{1000}", sequence({star(any()), a, repeat(any(), 1000, 1000), b, repeat(any(), 1000, 1000)})},
      {"((a{1,1000}){1,1000}){1,1000}", repeat(repeat(repeat(a, 1, 1000), 1, 1000), 1, 1000)},
      {"((a{2,1000}b?){2,1000}){2,1000}",
       repeat(sequence({repeat(sequence({repeat(a, 2, 1000), optional(b)}), 2, 1000)}), 2, 1000)},
      {"(([ab]{3,1000}a){5,1000}b){7,1000}",
       repeat(sequence({repeat(sequence({repeat(letter, 3, 1000), a}), 5, 1000), b}), 7, 1000)},
      {"(a|aa|...){500,1000}", repeat(runs_of("a", 60), 500, 1000)},
      {"(aa|aaaaa|...){300}", sequence({repeat(choice({text("aa"), text("aaaaa"), text("aaaaaaa")}), 300, 300), b})},
      {"a?a?...aa...", sequence({many(optional(a), 700), many(a, 700)})},
      {"(a?{2,3}b?{2,3}){900,}",
       repeat(sequence({repeat(optional(a), 2, 3), repeat(optional(b), 2, 3)}), 900, kUnbounded)},
      {"((a*)*b*)*", star(sequence({star(star(a)), star(b)}))},
      {"nested optional pairs", doubled(a, 9)},
      {"(.{0,300}a.{0,300}b){300}", repeat(sequence({repeat(any(), 0, 300), a, repeat(any(), 0, 300), b}), 300, 300)},
  };
  std::vector<TreePtr> words;  // that end alike, before a long row of parts that may be skipped
  for (std::uint32_t i = 0; i < 2000; ++i) words.push_back(sequence({a, repeat(text(encoded(0x4E00 + i)), 0, 5)}));
  all.push_back(
      {"(aw{0,5}|ax{0,5}|...)(a?b?)...", sequence({choice(words), many(optional(a), 4000), many(optional(b), 4000)})});
  std::vector<TreePtr> blocks;  // [ab]*a[ab]{i}, for all i at once
  for (unsigned i = 0; i < 40; ++i) blocks.push_back(sequence({star(letter), a, repeat(letter, i, i)}));
  all.push_back({"[ab]*a[ab]{i} for all i", choice(blocks)});
  return all;
}

// Every string of nine letters a and b is a token, so that a mask meets a thousand states, and one
// token is long, so that counts up to 40 matter.
Tokens attack_tokens() {
  std::vector<std::string> more = {"aa", "ab", "ba", "aaaa", "abab", "bbbb", "é", std::string(40, 'a')};
  for (unsigned bits = 0; bits < 512; ++bits) {
    std::string token;
    for (unsigned i = 0; i < 9; ++i) token.push_back((bits >> i) & 1 ? 'a' : 'b');
    more.push_back(token);
  }
  return engine::with_all_bytes(more);
}

// Compile, first mask and a hundred steps with random letters.  Returns how far it got.
struct Outcome {
  std::string limit;  // what was exceeded, or nothing
  unsigned steps = 0;
  double seconds = 0;
  std::size_t most_bytes = 0, held_bytes = 0;
};

Outcome run(const Attack& attack, const Tokens& tokens, const Limits& limits) {
  Outcome outcome;
  const auto vocabulary = engine::vocabulary_of(tokens);
  const auto pattern = engine::expression_of(attack.tree);
  const MemoryMeter meter;
  const auto start = Clock::now();
  std::shared_ptr<tokamata::Constraint> constraint;
  Choices choices(3);
  try {
    constraint = std::make_shared<tokamata::Constraint>(pattern, vocabulary, nullptr,
                                                        tokamata::TokenAutomaton::ControlTokens(), limits, nullptr);
    Matcher matcher(constraint);
    (void)matcher.mask();
    for (; outcome.steps < 100; ++outcome.steps) {
      std::vector<std::uint32_t> before;
      for (const auto token : matcher.tokens()) before.push_back(token.value);
      try {
        const auto mask = matcher.mask();
        if (mask->open_tokens == 0) break;
        std::uint32_t id = choices.one_in(4) ? 'a' : choices.one_in(3) ? 'b' : choices.below(tokens.width);
        while (!mask->bits.contains(id) || tokens.is_stop(id)) id = (id + 1) % tokens.width;
        CHECK(matcher.advance({id}));
      } catch (const LimitExceeded&) {
        // Unchanged, and usable: what was advanced is still there and can be taken back.
        std::vector<std::uint32_t> after;
        for (const auto token : matcher.tokens()) after.push_back(token.value);
        CHECK(after == before);
        CHECK(matcher.fork()->tokens() == matcher.tokens());
        CHECK(matcher.rollback(before.size()));
        CHECK(matcher.tokens().empty());
        if (limits.seconds > 1000) CHECK(matcher.mask()->set_bits > 0);
        throw;
      }
    }
  } catch (const LimitExceeded& error) {
    outcome.limit = error.limit;
  }
  outcome.seconds = seconds_since(start);
  outcome.most_bytes = meter.most();
  outcome.held_bytes = constraint ? constraint->memory_bytes() : 0;
  return outcome;
}

std::string shown(const Attack& attack, const Outcome& outcome) {
  return std::string(attack.name) + ": " + (outcome.limit.empty() ? "no limit" : outcome.limit) + " after " +
         std::to_string(outcome.steps) + " steps, " + std::to_string(outcome.seconds) + " s, at most " +
         std::to_string(outcome.most_bytes) + " bytes, holds " + std::to_string(outcome.held_bytes);
}

// ---- limits -----------------------------------------------------------------------------------

// From the third time on twice the time, and so on, up to two milliseconds; then as at first.
TEST(masks_that_stay_unfinished_get_more_time) {
  using tokamata::Deadline, tokamata::UnfinishedMasks;
  const Deadline deadline{Deadline::Clock::now(), 0.0002};
  const auto more = [&](const UnfinishedMasks& masks, std::uint64_t place) {
    return std::chrono::round<std::chrono::microseconds>(masks.extended(place, deadline).at - deadline.at).count();
  };
  UnfinishedMasks masks;
  std::vector<std::int64_t> found;
  for (int i = 0; i < 20; ++i) {
    found.push_back(more(masks, 7));
    masks.note_unfinished(7);
    CHECK(more(masks, 8) == 0);
  }
  CHECK(found == std::vector<std::int64_t>({0, 0, 200, 600, 1400, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  masks.note_whole(7);
  CHECK(more(masks, 7) == 0);
  masks.note_unfinished(7);
  masks.note_unfinished(7);
  CHECK(more(masks, 7) == 200);
  const Deadline long_one{deadline.at, 0.05};
  CHECK(masks.extended(7, long_one).at == long_one.at);
}

TEST(explosions_stop_at_the_number_of_states) {
  const Tokens tokens = attack_tokens();
  unsigned stopped = 0;
  for (const Attack& attack : attacks()) {
    Limits limits;
    limits.states = 300;
    limits.seconds = 60;
    const Outcome outcome = run(attack, tokens, limits);
    const test::Note note([&] { return shown(attack, outcome); });
    CHECK(outcome.limit.empty() || outcome.limit == "states");
    stopped += !outcome.limit.empty();
  }
  CHECK(stopped >= 2);
}

TEST(explosions_stop_at_the_memory_asked_for) {
  const Tokens tokens = attack_tokens();
  for (const Attack& attack : attacks()) {
    Limits limits;
    limits.memory_bytes = 1 << 20;
    limits.seconds = 60;
    const Outcome outcome = run(attack, tokens, limits);
    const test::Note note([&] { return shown(attack, outcome); });
    if (std::getenv("TOKAMATA_VERBOSE")) std::cout << shown(attack, outcome) << "\n";
    CHECK(outcome.limit.empty() || outcome.limit == "memory_bytes" || outcome.limit == "seconds");
    // A vector that grows holds its old and its new place, collecting holds old and new, and
    // memory is looked at now and then.
    CHECK(outcome.most_bytes <= 4 * limits.memory_bytes);
    // What matchers hold cannot be given up, and tables grow by doubling.
    CHECK(outcome.held_bytes <= limits.memory_bytes + limits.memory_bytes / 10);
  }
}

TEST(explosions_stop_in_the_time_asked_for) {
  const Tokens tokens = attack_tokens();
  for (const Attack& attack : attacks()) {
    Limits limits;
    limits.seconds = 0.15;
    limits.memory_bytes = std::size_t{256} << 20;
    const Outcome outcome = run(attack, tokens, limits);
    const test::Note note([&] { return shown(attack, outcome); });
    if (std::getenv("TOKAMATA_VERBOSE")) std::cout << shown(attack, outcome) << "\n";
    CHECK(outcome.limit.empty() || outcome.limit == "seconds");
    CHECK(outcome.seconds < 3);
  }
}

// What one derivative holds for a moment counts too: n optional parts make states of n alternatives,
// each of which could be read to its end.
TEST(many_optional_parts_cost_no_square) {
  const Tokens tokens = engine::with_all_bytes({"aa"});
  Limits limits;
  limits.memory_bytes = 3 << 20;
  limits.seconds = 60;
  for (const Attack& attack : {Attack{"a?a?a?...b", sequence({many(optional(text("a")), 4000), text("b")})},
                               Attack{"nested pairs of 2048", doubled(text("a"), 11)}}) {
    const Outcome outcome = run(attack, tokens, limits);
    const test::Note note([&] { return shown(attack, outcome); });
    CHECK(outcome.most_bytes <= 3 * limits.memory_bytes);
    CHECK_EQUAL(outcome.limit, std::string());
  }
}

TEST(nesting_past_the_limit_is_refused) {
  TreePtr deep = text("a");
  for (unsigned i = 0; i < 300; ++i)
    deep = i % 2 ? choice({deep, text("b")}) : repeat(sequence({deep, text("c")}), 2, 9);
  const Tokens tokens = engine::plain({"a", "b", "c"});
  Limits limits;
  limits.depth = 100;
  const LimitExceeded error = CHECK_THROWS(LimitExceeded, engine::compile(deep, tokens, limits));
  CHECK_EQUAL(error.limit, std::string("depth"));
  CHECK_EQUAL(error.bound, 100.0);
  limits.depth = 1900;
  Matcher matcher(engine::compile(deep, tokens, limits));
  CHECK(matcher.mask()->open_tokens > 0);

  // Of what nests deeper than a stack bears nothing is kept, and reading it is refused with the reader's own bound.
  auto bottom = engine::expression_of(text("a"));
  for (unsigned i = 0; i < 100'000; ++i) bottom = tokamata::Expression::repetition(bottom, 2, 3, -1);
  CHECK(std::holds_alternative<tokamata::Expression::TooDeep>(bottom->node()));
  for (const std::uint32_t depth : {100u, 5'000u}) {
    limits.depth = depth;
    const LimitExceeded refused = CHECK_THROWS(
        LimitExceeded, tokamata::Constraint(bottom, engine::vocabulary_of(tokens), engine::start_vocabulary_of(tokens),
                                            engine::controls_of(tokens), limits, nullptr));
    CHECK_EQUAL(refused.bound, depth == 100 ? 100.0 : double{tokamata::Expression::kMaximumDepth});
  }
}

// After a refusal: the tokens are the same; the mask that was there is there still, and so are those
// of the tokens before; a fork can take another way.
void go_on_after(const Limits& limits, const std::string& name, double bound) {
  const Tokens tokens = engine::with_all_bytes({"aa", "bab", std::string(32, 'a')});
  const TreePtr letter = one_of({{'a', 'b'}}), pair = sequence({letter, letter});
  const TreePtr tree =
      choice({sequence({star(text("c")), text("d")}),
              sequence({star(choice({pair, sequence({pair, letter})})), text("a"), repeat(pair, 15, 15)})});
  const auto constraint = engine::compile(tree, tokens, limits);
  Matcher matcher(constraint);
  const auto first = matcher.mask();
  std::vector<std::vector<std::uint32_t>> masks = {first->bits.row()};
  bool stopped = false;
  Choices choices(5);
  while (!stopped) try {
      CHECK(masks.size() < 20'000);
      CHECK(matcher.advance({static_cast<std::uint32_t>(choices.one_in(2) ? 'a' : 'b')}));
      masks.push_back(matcher.mask()->bits.row());
    } catch (const LimitExceeded& error) {
      CHECK_EQUAL(error.limit, name);
      CHECK_EQUAL(error.bound, bound);
      if (name == "states") CHECK_EQUAL(error.position, 0);
      stopped = true;
    }
  const std::size_t length = matcher.tokens().size();
  CHECK(length + 1 >= masks.size());  // it was the mask or the step that did not fit
  auto fork = matcher.fork();
  CHECK(fork->tokens() == matcher.tokens());
  CHECK(matcher.rollback(length + 1 - masks.size()));
  CHECK(matcher.mask()->bits.row() == masks.back());
  // With its memory full of texts under way, an engine gives up masks, and may lack the room to make
  // them again before some of the texts are gone.
  if (name == "memory_bytes") {
    fork.reset();
    CHECK(matcher.rollback(masks.size() / 2));
    masks.resize(masks.size() - masks.size() / 2);
  }
  for (std::size_t i = masks.size(); i-- > 0;) {
    CHECK(matcher.mask()->bits.row() == masks[i]);
    if (i > 0) CHECK(matcher.rollback(1));
  }
  CHECK(first->bits.row() == masks[0]);
  if (!fork) fork = matcher.fork();
  CHECK(fork->rollback(fork->tokens().size()));
  for (unsigned i = 0; i < 500; ++i) {
    CHECK(fork->advance({'c'}));
    if (i % 50 == 0) (void)fork->mask();
  }
  CHECK(fork->advance({'d'}));
  CHECK(fork->is_finished());
}

TEST(a_matcher_goes_on_after_too_many_states) {
  Limits limits;
  limits.states = 200;
  go_on_after(limits, "states", 200);
}

TEST(a_matcher_goes_on_after_too_much_memory) {
  Limits limits;
  limits.memory_bytes = 400'000;
  go_on_after(limits, "memory_bytes", 400'000);
}

TEST(time_that_is_used_up_leaves_the_memo) {
  const Tokens tokens = attack_tokens();
  Limits limits;
  limits.seconds = 0.2;
  limits.memory_bytes = std::size_t{256} << 20;
  const auto constraint = engine::compile(attacks()[0].tree, tokens, limits);
  Matcher matcher(constraint);
  Choices choices(9);
  std::vector<tokamata::MaskPtr> masks = {matcher.mask()};
  CHECK_THROWS(
      LimitExceeded, for (unsigned i = 0; i < 100'000; ++i) {
        (void)matcher.advance({static_cast<std::uint32_t>(choices.one_in(2) ? 'a' : 'b')});
        masks.push_back(matcher.mask());
      });
  CHECK(matcher.rollback(matcher.tokens().size() + 1 - masks.size()));
  const auto fork = matcher.fork();
  CHECK(fork->mask() == masks.back());
  for (std::size_t i = masks.size(); i-- > 0;) {
    CHECK(matcher.mask() == masks[i]);
    CHECK(matcher.rollback(i > 0));
  }
  Matcher fresh(constraint);  // has an account of its own
  CHECK(fresh.mask() == masks[0]);
  CHECK(fresh.advance({'a'}));
}

TEST(masks_come_back_within_the_memory) {
  std::vector<std::string> wide;
  for (unsigned i = 0; i < 20'000; ++i) wide.push_back((i % 2 == 0 ? "x" : "y") + std::to_string(i / 2));
  // a mask of every other token has no row to share: it takes 2.5 kB
  const Tokens tokens = engine::with_all_bytes(wide);
  const std::vector<TreePtr> parts(300, sequence({text("x"), repeat(one_of({{'0', '9'}}), 1, 5)}));
  const TreePtr tree = sequence(parts);
  const auto unlimited = engine::compile(tree, tokens);
  Matcher all(unlimited);
  std::string whole;
  for (std::size_t i = 0; i < parts.size(); ++i) whole += "x7";
  std::vector<std::vector<std::uint32_t>> masks;
  for (const char byte : whole) {
    masks.push_back(all.mask()->bits.row());
    CHECK(all.advance({static_cast<unsigned char>(byte)}));
  }
  Limits limits;
  limits.memory_bytes = unlimited->memory_bytes() / 2;
  const auto limited = engine::compile(tree, tokens, limits);
  Matcher some(limited);
  const auto held = some.mask();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    CHECK(some.mask()->bits.row() == masks[i]);
    CHECK(some.advance({static_cast<unsigned char>(whole[i])}));
    CHECK(limited->memory_bytes() <= limits.memory_bytes);
  }
  CHECK(limited->oldest_serial() > 0);  // some were given up
  CHECK(held->bits.row() == masks[0]);
  CHECK(some.rollback(whole.size()));
  CHECK(some.mask()->bits.row() == masks[0]);
}

}  // namespace
